"""Every number that a command prints is in its JSON; linear methods are as good as least squares; paths tell more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from csv_tables import Invoke, write_table
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score

import multikernel as mk
from cases import one_in

_NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")


def _told(value: Any) -> Iterator[float]:
    """The numbers of a JSON document, how many there are in a list, and the mean and the deviation of a list."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _told(name)
            yield from _told(each)
    elif isinstance(value, list):
        yield len(value)
        for each in value:
            yield from _told(each)
        if len(value) > 1 and all(isinstance(each, float) for each in value):
            yield from (float(np.mean(value)), float(np.std(value, ddof=1)))
    elif isinstance(value, str):
        yield from map(float, _NUMBER.findall(value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def _is_one_of(text: str, numbers: list[float]) -> bool:
    """Whether the text is one of the numbers, rounded as it is written."""
    mantissa, _, power = text.partition("e")
    step = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    return any(abs(number - float(text)) <= 0.5001 * step for number in numbers)


def _linear(n: int = 60) -> np.ndarray:
    """Features far from 0, of very different sizes, and a linear target."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4)) * [1.0, 20.0, 0.1, 5.0] + [100.0, -300.0, 7.0, 0.0]
    y = X @ [1.0, 0.05, 10.0, 0.0] + rng.normal(size=n)
    table = np.column_stack([X, y]).round(4)
    Path("t.csv").write_text("\n".join(["a,b,c,d,y", *(",".join(map(str, row)) for row in table.tolist())]) + "\n")
    return table


@pytest.mark.parametrize(
    ("words", "timed"),
    one_in(
        3,
        [
            (("fit", "--method", "linearrls2", "--force"), 0),
            (("fit", "--method", "ridgecv", "--force", "--time", "a"), 0),
            (("path", "--method", "linearrls2", "--count", "4"), 0),
            (
                (
                    "values",
                    "--method",
                    "linearrls2",
                    "--set",
                    "alpha=0.1",
                    "--folds",
                    "2",
                    "--source",
                    "u=a,b",
                    "--source",
                    "v=c,d",
                ),
                0,
            ),
            (("compare", "--folds", "3", "--only", "average of kernels"), 1),
            (("bench", "--method", "average", "--method", "linearrls2", "--repeat", "1"), 2),
        ],
    ),
)
def test_every_printed_number_is_in_the_json(invoke: Invoke, words: tuple[str, ...], timed: int) -> None:
    _linear(40)
    shared = (words[0], "t.csv", "--target", "y", *words[1:])
    printed, found = invoke(*shared), invoke(*shared, "--json")
    assert printed.exit_code == found.exit_code == 0, printed.output + found.output
    told = list(_told(json.loads(found.stdout)))
    missing = [text for text in _NUMBER.findall(printed.stdout) if not _is_one_of(text, told)]
    assert len(missing) <= timed  # seconds are those of another run


def test_what_a_classifier_prints_is_in_the_json(invoke: Invoke) -> None:
    path = write_table(Path("c.csv"), "word", 45)
    shared = ("fit", path, "--target", "target", "--method", "rls2", "--alpha", "0.1", "--kernels", "linear", "--force")
    printed, found = invoke(*shared), invoke(*shared, "--json")
    told = list(_told(json.loads(found.stdout)))
    assert [text for text in _NUMBER.findall(printed.stdout) if not _is_one_of(text, told)] == []
    said, told = (
        invoke("predict", "model.mk", path),
        invoke("predict", "model.mk", path, "--json"),
    )
    columns = json.loads(told.stdout)["decision"]
    lines = [line.split(",")[1:] for line in said.stdout.splitlines()[1:]]
    np.testing.assert_array_equal(np.array(lines, dtype=float), np.column_stack(list(columns.values())))


@pytest.mark.parametrize(
    "words",
    one_in(
        3,
        [
            ["linearrls2"],
            ["average", "--kernels", "linear"],
            ["ridgecv", "--kernels", "features"],
            ["rls2", "--kernels", "linear"],
            ["l1mkl", "--C", "10", "--kernels", "linear"],
        ],
    ),
)
def test_linear_methods_are_as_good_as_least_squares(invoke: Invoke, words: list[str]) -> None:
    table = _linear()
    folds = KFold(5, shuffle=True, random_state=0)
    squares = cross_val_score(LinearRegression(), table[:, :4], table[:, 4], cv=folds).mean()
    done = invoke("fit", "t.csv", "--target", "y", "--json", "--method", *words)
    assert np.mean(json.loads(done.stdout)["score_folds"]) > squares - 0.05


def test_a_path_has_freedom_criteria_and_coefficients(invoke: Invoke) -> None:
    table = _linear()
    words = ("path", "t.csv", "--target", "y", "--method", "linearrls2", "--count", "5", "--folds", "2")
    told = json.loads(invoke(*words, "--json", "--report", "path.html").stdout)
    X = (table[:, :4] - table[:, :4].mean(axis=0)) / table[:, :4].std(axis=0)
    y = table[:, 4]
    assert [step["value"] for step in told["steps"]] == pytest.approx(np.geomspace(1e-6, 100.0, 5).tolist())
    assert told["feature_names"] == ["a", "b", "c", "d"]
    own = [mk.LinearRLS2Regressor(alpha=step["value"]).fit(X, y) for step in told["steps"]]
    residuals = np.array([((y - model.predict(X)) ** 2).sum() for model in own])
    freedom = np.array([model.degrees_of_freedom_ for model in own]) + 1.0  # and the intercept
    gcv = residuals / len(y) / (1.0 - freedom / len(y)) ** 2
    least = int(gcv.argmin())
    noise = residuals[least] / (len(y) - freedom[least])
    for step, model, r, d, g in zip(told["steps"], own, residuals, freedom, gcv, strict=True):
        assert step["coefficients"] == pytest.approx(model.coef_.tolist(), abs=1e-6)
        expected = (d - 1.0, g, r / noise + 2.0 * d, r / noise + d * np.log(len(y)))
        found = [step[name] for name in ("degrees_of_freedom", "gcv", "aic", "bic")]
        assert found == pytest.approx(expected, rel=1e-5)
    page = Path("path.html").read_text()
    for title in (
        "Coefficients along the path",
        "Degrees of freedom along the path",
        "Errors with and without held-out",
    ):
        assert title in page
    both = invoke(*words, "--values", "1,2")
    assert "--values lists the values, and --count says how many" in both.stderr
