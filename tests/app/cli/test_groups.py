"""--groups: rows of one value in a column are held out together, and the column is not learned from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from csv_tables import Invoke

import multikernel

SUBJECTS, ROWS = 30, 4


def _table(numbers: bool = False) -> Path:
    """Subjects with a place of their own, measured several times; the target is drawn for each of them."""
    rng = np.random.default_rng(0)
    place, drawn = rng.normal(size=(SUBJECTS, 2)), rng.permutation(np.arange(SUBJECTS) % 2)
    values = rng.normal(size=SUBJECTS)
    rows = ["a,b,subject,y"]
    for s in np.repeat(np.arange(SUBJECTS), ROWS):
        a, b = place[s] + 0.02 * rng.normal(size=2)
        rows.append(f"{a:.4f},{b:.4f},s{s},{f'{values[s]:.4f}' if numbers else ('ill', 'well')[drawn[s]]}")
    path = Path("t.csv")
    path.write_text("\n".join(rows) + "\n")
    return path


def test_the_automatic_estimator_holds_out_whole_groups(invoke: Invoke) -> None:
    done = invoke("fit", _table(), "--target", "y", "--groups", "subject", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["features"] == ["a", "b"]
    assert told["candidates"][-1]["error"] > 0.3
    assert any("whole groups, of 30" in sentence for sentence in told["sentences"])
    assert multikernel.load(Path("model.mk")).n_features_in_ == 2


@pytest.mark.study
def test_a_method_is_scored_and_searched_on_whole_groups(invoke: Invoke) -> None:
    given = ("fit", _table(), "--target", "y", "--method", "l1mkl", "--C", "100", "--proba", "--json", "--force")
    apart = json.loads(invoke(*given, "--leave-out", "subject").stdout)
    done = invoke(*given, "--groups", "subject")
    assert done.exit_code == 0, done.output
    together = json.loads(done.stdout)
    assert apart["features"] == together["features"] == ["a", "b"]
    assert np.mean(apart["score_folds"]) > 0.8 > np.mean(together["score_folds"])
    searched = invoke("fit", _table(), "--target", "y", "--method", "average", "--groups", "subject", "--force")
    assert searched.exit_code == 0, searched.output


def test_a_path_is_scored_on_whole_groups(invoke: Invoke) -> None:
    done = invoke(
        "path",
        _table(True),
        "--target",
        "y",
        "--groups",
        "subject",
        "--method",
        "average",
        "--values",
        "0.1,1",
        "--json",
    )
    assert done.exit_code == 0, done.output
    assert max(step["score_mean"] for step in json.loads(done.stdout)["steps"]) < 0.5


@pytest.mark.study
def test_a_comparison_is_one_on_whole_groups(invoke: Invoke) -> None:
    only = [w for name in ("average of kernels", "one Gaussian (SVC)", "random forest") for w in ("--only", name)]
    done = invoke("compare", _table(), "--target", "y", "--groups", "subject", "--folds", "3", *only, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["features"] == 2
    assert max(each["score_mean"] for each in told["methods"]) < 0.8


def test_a_column_that_groups_nothing_is_refused(invoke: Invoke) -> None:
    path = _table()
    path.write_text(path.read_text().replace(",s3,", ",,"))
    missing = invoke("fit", path, "--target", "y", "--groups", "subject")
    assert missing.exit_code == 1
    assert "subject" in missing.output
    assert "is a missing value; name its group, fill it in, or leave the row out" in missing.output
    path.write_text("a,g,y\n1,x,u\n2,x,v\n3,x,u\n4,x,v\n")
    one = invoke("fit", path, "--target", "y", "--groups", "g")
    assert one.exit_code == 1
    assert "--groups 'g' holds one value only, and a fold holds out whole groups" in one.output
    unknown = invoke("fit", path, "--target", "y", "--groups", "h")
    assert "has no column 'h'" in unknown.output
