"""Squared losses in few coordinates of the samples: the answers are those of the matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel import bind, kernels
from multikernel.banks import KernelBank, precomputed
from multikernel.procedures.ridge_cv import ridge_cv
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.held_out import HeldOutError
from multikernel.procedures.rls2 import rls2

N = 80
X = np.random.default_rng(0).normal(size=(N, 4)) + 1.0
Y = np.column_stack([X[:, 0] - X[:, 1], X[:, 2] ** 2]) + np.random.default_rng(1).normal(size=(N, 2))


def features() -> KernelBank:
    return bind(kernels.linear_features(), X)


def matrices() -> KernelBank:
    return precomputed(features().matrices())


@pytest.mark.parametrize("mode", ["certified", "paper"])
@pytest.mark.parametrize("target", [Y[:, 0], Y])
@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_two_layers(mode: str, target: np.ndarray, alpha: float) -> None:
    def solved(bank: KernelBank) -> Any:
        return rls2(bank, target, alpha, 1.0 / bank.traces(), mode=mode, tol=1e-10)

    (few, dual), (known, other) = solved(features()), solved(matrices())
    assert few.objective == pytest.approx(known.objective, rel=1e-9)
    np.testing.assert_allclose(few.values, known.values, atol=1e-6)
    np.testing.assert_allclose(dual.coef, other.coef, atol=1e-5 * np.abs(other.coef).max())
    np.testing.assert_allclose(dual.intercept, other.intercept, rtol=1e-12)


@pytest.mark.parametrize("cv", [2, 5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_held_out_errors(cv: int, fit_intercept: bool) -> None:
    folds = Folds.of(cv, N, Y)
    bank = features()
    few, known = HeldOutError.of(bank, Y, folds, fit_intercept), HeldOutError(bank, Y, folds, fit_intercept)
    v = np.array([0.3, 0.0, 2.0, 1e-3])
    here, there = few.at(v), known.at(v)
    assert here is not None
    assert there is not None
    assert len(here.evaluation.H) == cv * (4 + 2 + 1)
    np.testing.assert_allclose(here.errors, there.errors, rtol=1e-9)
    np.testing.assert_allclose(few.gradient(here), known.gradient(there), rtol=1e-7, atol=1e-9)
    mine, other = few.model(here), known.model(there)
    np.testing.assert_allclose(mine.slope, other.slope, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(mine.curvature, other.curvature, rtol=1e-7, atol=1e-9)
    assert few.constant() == pytest.approx(known.constant(), rel=1e-12)
    np.testing.assert_allclose(few.diagonals, known.diagonals, rtol=1e-12)


def test_weights_by_held_out_errors() -> None:
    folds, target = Folds.of(5, N, Y[:, :1]), Y[:, :1]
    few, known = (ridge_cv(bank, target, folds, tol=1e-8) for bank in (features(), matrices()))
    assert few.objective == pytest.approx(known.objective, rel=1e-6)


def test_folds_of_single_samples_have_no_fewer_coordinates() -> None:
    assert features().rotation(Y, [np.array([i]) for i in range(N)]) is None
