"""``multikernel compare``: methods on a table of one's own."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from csv_tables import Invoke, write_table
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold

from cases import one_in
from multikernel.app.jobs import compare
from multikernel.banks.threads import one_openmp_thread


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few and small models; trees on one thread, since several wait for each other at every split."""
    monkeypatch.setattr(compare, "_TREES", 10)
    monkeypatch.setattr(compare, "_BOOSTING", {"max_iter": [3, 5]})
    monkeypatch.setattr(compare, "_GAMMAS", (0.1, 1.0))
    with one_openmp_thread():
        yield


@pytest.mark.parametrize(
    ("kind", "measure", "names"),
    one_in(
        2,
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
    ),
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
    assert done.stderr.startswith(f"train.csv: automatic, method 1 of {len(names)}\n")
    assert done.stderr.count("\n") == len(names)


def test_scores_are_those_of_a_fit_by_hand(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without words and gaps, what trees see is the table but for scales, which they do not notice."""
    every = compare.methods_to_compare
    monkeypatch.setattr(compare, "methods_to_compare", lambda *given: {"random forest": every(*given)["random forest"]})
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
    assert "as 6 folds need; the column 'target' allows 5: give more rows" in refused.stderr


def test_the_report_has_the_numbers_of_the_table_and_needs_nothing_from_outside(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "real", 40)
    only = ("--only", "random forest", "--only", "average of kernels")
    words = ("compare", "train.csv", "--target", "target", "--folds", 2, *only, "--report", "r.html")
    done = invoke(*words, "--json")
    assert done.exit_code == 0, done.output
    page, found = Path("r.html").read_text(), json.loads(done.stdout)
    for each in found["methods"]:
        assert f'data-method="{each["method"]}" data-mean="{each["score_mean"]}"' in page
    for outside in ("http://", "https://", "<script", "<link", "@import"):
        assert outside not in page
    assert page.count("<svg") == 2
    command = html.unescape(re.findall(r'<pre id="command">(.*?)</pre>', page)[0])
    assert shlex.split(command) == ["multikernel", *map(str, words[:6]), "--seed", "0", *only]
    assert "r.html: it exists; give another name to --report" in invoke(*words).stderr
    assert "is none of the methods; they are automatic, " in invoke(*words[:6], "--only", "magic").stderr


def test_a_path_has_a_report(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number", 40)
    options = ("--target", "target", "--method", "easymkl", "--values", "0.1,0.5", "--folds", 2, "--kernels", "hpk:3")
    done = invoke("path", "train.csv", *options, "--report", "p.html", "--json")
    assert done.exit_code == 0, done.output
    page, found = Path("p.html").read_text(), json.loads(done.stdout)
    for step in found["steps"]:
        assert f"<td>{step['score_mean']:.4f} ± " in page
    assert page.count("<svg") == 3
    assert f"is at lam = {found['best']:.3g}" in page
    refused = invoke("path", "train.csv", *options[:4], "--values", "a,b")
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert "--values 'a,b' are not numbers with commas between them" in refused.stderr


def test_a_comparison_that_is_stopped_goes_on(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(Path("train.csv"), "real", 40)
    words = (
        "compare",
        "train.csv",
        "--target",
        "target",
        "--folds",
        3,
        "--only",
        "random forest",
        "--checkpoint",
        "kept",
    )
    clones, calls = compare.clone, iter([False, False, True])

    def clone(model: object) -> object:
        if next(calls):
            raise KeyboardInterrupt
        return clones(model)

    monkeypatch.setattr(compare, "clone", clone)
    stopped = invoke(*words)
    assert stopped.exit_code == 1
    assert stopped.stderr.splitlines() == [
        "comparison: 2 of 3 parts are finished, kept in kept; the same command resumes from there",
        "error: stopped before the end",
    ]
    calls = iter([False])
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    monkeypatch.undo()
    assert "random forest" in done.stdout
