"""Two-layer least squares: the table of prostate comes out to its last digit; a lambda that ties is near the best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from multikernel.datasets import Dataset
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.published import published as every_number
from multikernel.reproduce.rls2 import benchmark, prostate
from multikernel.reproduce.verdict import Mark, mark_of


@pytest.mark.parametrize("method", prostate.METHODS)
def test_coefficients_of_prostate_are_the_printed_ones(published: Callable[[str], Dataset], method: str) -> None:
    published("prostate")
    found = prostate.EXPERIMENT.measure(
        next(cell for cell in prostate.EXPERIMENT.cells(False) if (cell["step"], cell["method"]) == ("fit", method)),
        DataSource(),
        {},
    )
    rows = [r for r in every_number() if r.data == "Prostate" and r.method == method and r.metric in found]
    assert len(rows) >= 11
    for row in rows:
        assert mark_of(row, prostate._table_number([found[row.metric]]), "neither") is Mark.WITHIN, (
            row,
            found[row.metric],
        )


@pytest.mark.study
def test_the_rule_of_one_standard_error_chooses_from_the_errors_of_the_folds(
    published: Callable[[str], Dataset],
) -> None:
    published("prostate")
    cell = next(cell for cell in prostate.EXPERIMENT.cells(False) if cell["step"] == "folds")
    found = prostate.EXPERIMENT.measure(cell, DataSource(), {})
    error = np.array(found["error"])
    simplest = np.logspace(4, -4, 50).tolist().index(found["chosen"])
    limit = error.min() + found["standard error"][error.argmin()]
    assert error[simplest] <= limit
    assert (error[:simplest] > limit).all()
    X, y, train = prostate._data(DataSource())
    b = np.array([found[f"coefficient {name}"] for name in prostate.FEATURES])
    predicted = X[~train] @ b + y[train].mean()
    assert found["test MSE"] == pytest.approx(np.mean((predicted - y[~train]) ** 2))
    assert found["variables"] == np.count_nonzero(b)


def test_the_published_point_is_one_of_twenty_values_and_of_no_other_number_up_to_38(
    published: Callable[[str], Dataset],
) -> None:
    published("prostate")
    X, y, train = prostate._data(DataSource())
    grids = {count: np.logspace(4, -4, count) for count in range(2, 39)}
    near = sorted({float(v) for grid in grids.values() for v in grid if 0.075 < v < 0.105}, reverse=True)
    coefs, _ = prostate._coefficient_path(X[train], y[train], near)
    printed = {r.metric: r.value for r in every_number() if r.data == "Prostate" and r.method == "RLS2"}
    column = np.array([float(printed[f"coefficient {name}"] or 0.0) for name in prostate.FEATURES])
    alike = {alpha for alpha, b in zip(near, coefs, strict=True) if np.abs(b - column).max() <= 5e-4}
    assert [count for count, grid in grids.items() if alike & set(grid.tolist())] == [20]


def test_kernels_at_the_best_lambda_and_at_one_that_ties() -> None:
    def measured(*rows: list[float]) -> list[dict[str, Any]]:
        return [{"performance": np.array(row), "kernels": [1, 4, 9, 30]} for row in rows]

    found = measured([0.2, 0.79, 0.8, 0.6], [0.4, 0.9, 0.89, 0.7], [0.3, 0.84, 0.86, 0.6])
    assert benchmark._at_best("kernels", 1.0)(found).value == 9
    assert benchmark._at_a_tie("kernels", 1.0, 2.0)(found).value == 4
    assert benchmark._at_a_tie("kernels", 1.0, 40.0)(found).value == 9
    always_better = measured([0.2, 0.79, 0.8, 0.6], [0.4, 0.89, 0.9, 0.7])  # by less than the splits deviate
    assert benchmark._at_a_tie("kernels", 1.0, 2.0)(always_better).value == 9


def test_the_best_lambda_ties_with_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """With thirty values the chance of each may be below one in twenty."""
    monkeypatch.setattr(benchmark, "LIKELY", 2.0)
    found = [{"performance": np.array([0.2, 0.8, 0.6]), "kernels": [1, 4, 9]}]
    assert benchmark._at_a_tie("kernels", 1.0, 9.0)(found).value == 4


def test_the_chance_of_a_lambda_with_other_splits() -> None:
    """Of 400 splits the means differ by one standard error; two such means differ by root two times as much."""
    differences = np.random.default_rng(1).normal(size=400)
    differences = (differences - differences.mean()) / differences.std() + 1 / 20
    chances = benchmark._chances(np.column_stack([np.zeros(400), differences]))
    assert chances.sum() == pytest.approx(1.0)
    assert chances[0] == pytest.approx(stats.norm.sf(1 / np.sqrt(2)), abs=0.03)


def test_of_equal_means_the_last_is_the_best() -> None:
    assert benchmark._best(np.array([[1.0, 3.0, 3.0, 2.0], [5.0, 1.0, 1.0, 1.0]])).tolist() == [2, 0]
