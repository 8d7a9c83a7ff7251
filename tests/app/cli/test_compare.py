"""``multikernel compare``: methods on a table of one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from csv_tables import Invoke, write_table
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold

from multikernel.app.jobs import compare


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "_TREES", 10)
    monkeypatch.setattr(compare, "_BOOSTING", {"max_iter": [3, 5]})
    monkeypatch.setattr(compare, "_GAMMAS", (0.1, 1.0))


@pytest.mark.parametrize(
    ("kind", "measure", "names"),
    [
        (
            "number",
            "accuracy",
            {
                "automatic",
                "L1MKL",
                "EasyMKL",
                "average of kernels",
                "one Gaussian (SVC)",
                "random forest",
                "gradient boosting",
            },
        ),
        (
            "real",
            "R2",
            {
                "automatic",
                "MultipleKernelRidgeCV",
                "average of kernels",
                "one Gaussian (kernel ridge)",
                "random forest",
                "gradient boosting",
            },
        ),
    ],
)
def test_every_method_gets_a_line_the_best_first(invoke: Invoke, kind: str, measure: str, names: set[str]) -> None:
    write_table(Path("train.csv"), kind, 40)
    done = invoke("compare", "train.csv", "--target", "target", "--folds", 2)
    assert done.exit_code == 0, done.output
    title, header, *lines = done.stdout.splitlines()
    assert title == f"train.csv: {measure} on 2 held-out folds, with seconds of choosing and fitting"
    assert header.split() == ["method", measure, "seconds"]
    assert {line.split("  ")[0] for line in lines} == names
    means = [float(line.split(" +- ")[0].split()[-1]) for line in lines]
    assert means == sorted(means, reverse=True)
    assert done.stderr.startswith(f"train.csv: method 1, automatic, of {len(names)}\n")
    assert done.stderr.count("\n") == len(names)


def test_scores_are_those_of_a_fit_by_hand(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without words and gaps, what trees see is the table but for scales, which they do not notice."""
    every = compare.contestants
    monkeypatch.setattr(compare, "contestants", lambda *given: {"random forest": every(*given)["random forest"]})
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (40, 2)).astype(float)
    y = X[:, 0] + 0.5 * rng.normal(size=40)
    lines = [f"{a:g},{b:g},{v:.6f}" for (a, b), v in zip(X, y, strict=True)]
    Path("t.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    done = invoke("compare", "t.csv", "--target", "y", "--folds", 3, "--seed", 4)
    assert done.exit_code == 0, done.output
    y = np.round(y, 6)
    scores = [
        RandomForestRegressor(n_estimators=10, random_state=4).fit(X[fit], y[fit]).score(X[held], y[held])
        for fit, held in KFold(3, shuffle=True, random_state=4).split(X)
    ]
    line = next(line for line in done.stdout.splitlines() if line.startswith("random forest"))
    mean, spread = (float(part.split()[-1 if i == 0 else 0]) for i, part in enumerate(line.split(" +- ")))
    assert mean == pytest.approx(np.mean(scores), abs=2e-2)
    assert spread == pytest.approx(np.std(scores, ddof=1), abs=2e-2)


def test_too_few_samples_for_the_folds_are_refused(invoke: Invoke) -> None:
    Path("train.csv").write_text("x,target\n" + "\n".join(f"{i},{'a' if i < 5 else 'b'}" for i in range(20)) + "\n")
    refused = invoke("compare", "train.csv", "--target", "target")
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert "column 'target' allows 5 folds, and 5 outer and 3 inner ones need 6; give more rows" in refused.stderr
