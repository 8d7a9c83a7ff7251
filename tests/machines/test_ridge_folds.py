"""Ridge regression on the folds of one matrix against a fit for each fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from multikernel.banks import DenseGram, FactorGram
from multikernel.machines import RidgeMachine
from multikernel.machines.ridge.folds import solve_folds

Array = Any
ALPHAS = [1e-3, 10.0, 0.1, *np.geomspace(1e-2, 1.0, 7)]


def problem(n: int = 60, t: int | None = None) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 1e3 + 0.1 * rng.normal(size=n)
    return np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2)), y if t is None else np.column_stack([y, *X.T])[:, :t]


def trains(splitter: Any, n: int) -> list[Array]:
    return [train for train, _ in splitter.split(np.empty((n, 1)))]


@pytest.mark.parametrize("t", [None, 1, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "splitter", [KFold(6), KFold(10, shuffle=True, random_state=0), ShuffleSplit(8, random_state=0)]
)
def test_every_fold_and_alpha_is_a_fit(t: int | None, intercept: bool, splitter: Any) -> None:
    K, y = problem(t=t)
    rows = trains(splitter, len(K))
    held = solve_folds(DenseGram(K), y, ALPHAS, rows, intercept)
    assert held is not None
    for train, fold in zip(rows, held, strict=True):
        for alpha, found in zip(ALPHAS, fold, strict=True):
            want = RidgeMachine(alpha, intercept).solve(DenseGram(K[np.ix_(train, train)]), y[train])
            scale = np.abs(want.coef).max()
            np.testing.assert_allclose(found.solution.coef, want.coef, atol=1e-9 * scale)
            np.testing.assert_allclose(found.solution.intercept, want.intercept, rtol=1e-13)
            assert found.solution.value == pytest.approx(want.value, rel=1e-9)
            assert 0.0 <= found.solution.gap <= 1e-13
            np.testing.assert_allclose(found.values, K[:, train] @ want.coef + want.intercept, atol=1e-9 * scale)
            assert found.values.shape == y.shape


def test_folds_in_an_order_of_their_own() -> None:
    K, y = problem()
    rows = [np.random.default_rng(f).permutation(len(K))[:50] for f in range(6)]
    held = solve_folds(DenseGram(K), y, [0.5] * 10, rows)
    assert held is not None
    want = RidgeMachine(0.5).solve(DenseGram(K[np.ix_(rows[2], rows[2])]), y[rows[2]])
    np.testing.assert_allclose(held[2][0].solution.coef, want.coef, rtol=1e-7)


def test_where_single_folds_are_better() -> None:
    K, y = problem()
    assert solve_folds(DenseGram(K), y, ALPHAS, trains(KFold(2), len(K))) is None, "two halves are cheaper"
    assert solve_folds(DenseGram(K), y, ALPHAS[:5], trains(KFold(5), len(K))) is None, "blocks of a fifth cost too much"
    assert solve_folds(DenseGram(K), y, ALPHAS[:2], trains(KFold(6), len(K))) is None, "few factorisations are cheaper"
    X = np.random.default_rng(0).normal(size=(60, 2))
    rows = trains(KFold(6), len(K))
    assert solve_folds(FactorGram(X, np.ones(2), X), y, ALPHAS, rows) is None, "features are cheaper"
    whole = [np.arange(60), *rows]
    assert solve_folds(DenseGram(K), y, ALPHAS, whole) is None, "a fold that leaves no sample out"
    assert solve_folds(DenseGram(K), y, [1.0] * 9 + [1e-15], rows) is None, "an alpha within rounding"


def test_the_matrix_is_left_alone() -> None:
    K, y = problem()
    copy = K.copy()
    solve_folds(DenseGram(K), y, ALPHAS, trains(KFold(6), len(K)))
    np.testing.assert_array_equal(K, copy)
