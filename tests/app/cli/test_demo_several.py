"""The jobs of ``multikernel demo`` that need several kernels: their data, and the numbers of the report."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from csv_tables import Invoke
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from multikernel.app.demo import results, several, study
from multikernel.app.jobs import compare
from multikernel.app.jobs.compare import methods_to_compare


def small() -> several.Job:
    """Two views, of which the second tells the class; few rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    views = {"noise": rng.normal(size=(60, 2)), "signal": rng.normal(size=(60, 2)) + 2.0 * y[:, None]}
    tables = {name: pd.DataFrame(view).add_prefix("v") for name, view in views.items()}
    return several.Job("small", "Made for a test.", "class", "classification", tables, y)


def test_the_patients_have_numbers_in_their_units_and_a_category() -> None:
    job = several.patients()
    assert job.task == "regression"
    assert len(job.y) == 442 == len(job.table)
    assert sorted(job.table["sex"].unique()) == ["one", "two"]
    assert job.table["age"].between(10, 100).all()


def test_strokes_are_the_ink_that_changes_in_each_direction_of_each_quarter() -> None:
    images = load_digits().images[:3] / 16.0
    found = several.strokes(images)
    want = np.zeros((3, 2, 2, 4))
    for n, image in enumerate(images):
        down, right = np.gradient(image)
        for i in range(8):
            for j in range(8):
                angle = np.arctan2(down[i, j], right[i, j]) % np.pi
                want[n, i // 4, j // 4, int(4 * angle / np.pi) % 4] += np.hypot(down[i, j], right[i, j])
    np.testing.assert_allclose(found, want.reshape(3, -1), atol=1e-12)


def test_views_are_given_by_name_to_what_knows_of_views() -> None:
    job = several.digits()
    models = methods_to_compare(job.task, job.table.shape[1], 0)
    rows = np.array([5, 2])
    given = job.samples_for(models["automatic"], rows)
    assert {name: view.shape[1] for name, view in given.items()} == {"pixels": 64, "strokes": 16, "profiles": 16}
    pd.testing.assert_frame_equal(
        job.samples_for(models["gradient boosting"], rows), job.table.iloc[rows].reset_index(drop=True)
    )


def test_the_report_and_the_console_tell_what_the_folds_gave(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several, "JOBS", (small,))
    monkeypatch.setattr(compare, "_BOOSTING", {"max_iter": [3, 5]})
    monkeypatch.setattr(results, "StudyPlan", partial(results.StudyPlan, lams=(0.1, 0.5)))
    monkeypatch.setattr(study, "SVC_GRID", {"C": [1.0], "gamma": [0.1]})
    monkeypatch.delenv("MULTIKERNEL_DATA", raising=False)
    out = tmp_path / "page.html"
    found: Any = json.loads(invoke("demo", "--folds", "2", "--max-degree", "1", "--out", str(out), "--json").stdout)
    [comparison] = found["comparisons"]
    job, page = small(), out.read_text()
    assert [each["method"] for each in comparison["methods"]] == [
        "automatic",
        "one Gaussian (SVC)",
        "gradient boosting",
    ]
    for method in comparison["methods"]:
        shown = re.search(f'data-contestant="{re.escape(method["method"])}" data-mean="([^"]+)"', page)
        assert shown is not None
        assert float(shown[1]) == method["score_mean"]
    svc = methods_to_compare(job.task, 4, 0)["one Gaussian (SVC)"]
    splits = StratifiedKFold(2, shuffle=True, random_state=0).split(job.y, job.y)
    want = [
        clone(svc).fit(job.table.iloc[train], job.y[train]).score(job.table.iloc[test], job.y[test])
        for train, test in splits
    ]
    assert comparison["methods"][1]["score_folds"] == pytest.approx(want)
    assert "multikernel demo --folds 2" in page
    assert 'id="small"' in page
