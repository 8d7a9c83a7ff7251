"""Machines on a matrix of few features: as good as on the stored matrix, and true by definition of their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel.banks import DenseGram, FactorGram
from multikernel.machines import (
    EpsilonMachine,
    HingeMachine,
    MarginMachine,
    OneClassMachine,
    SquaredHingeMachine,
    SupportMachine,
)
from multikernel.machines.support import settled

N = 1000
FEATURES = 6
DATA = np.random.default_rng(0).normal(size=(N, FEATURES))
DATA[:, 2] = 0.9 * DATA[:, 1] + 0.1 * DATA[:, 2]
TARGET = DATA[:, 0] - 0.6 * DATA[:, 1] + 0.7 * np.random.default_rng(1).normal(size=N) - 0.3
LABELS = np.where(TARGET > 0.0, 1.0, -1.0)
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0, 1e-3, 10.0])


def few(X: Any = DATA) -> FactorGram:
    return FactorGram(X, WEIGHTS, X)


def stored(X: Any = DATA) -> DenseGram:
    return DenseGram((X * WEIGHTS) @ X.T)


MACHINES = [
    (HingeMachine(C=1e-3), LABELS),
    (HingeMachine(C=1.0), LABELS),
    (HingeMachine(C=1.0, fit_intercept=False), LABELS),
    (SquaredHingeMachine(C=10.0), LABELS),
    (EpsilonMachine(C=0.5, epsilon=0.2), TARGET),
    (EpsilonMachine(C=0.5, epsilon=0.2, fit_intercept=False), TARGET),
]


@pytest.mark.parametrize(("machine", "target"), MACHINES)
def test_few_features_give_the_solution_of_the_stored_matrix(machine: SupportMachine, target: np.ndarray) -> None:
    machine = machine.with_tolerance(1e-9)
    found, known = machine.solve(few(), target), machine.solve(stored(), target)
    assert found.gap <= 1e-9
    assert found.value == pytest.approx(known.value, rel=1e-8)
    np.testing.assert_allclose(
        few().multiply(found.coef) + found.intercept, stored().multiply(known.coef) + known.intercept, atol=1e-4
    )
    assert np.count_nonzero(found.coef) <= np.count_nonzero(known.coef) + 2  # the end is exact: zeros are zero


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_gap_is_that_of_the_hinge_losses(C: float, intercept: bool) -> None:
    found = HingeMachine(C=C, fit_intercept=intercept, tol=1e-7).solve(few(), LABELS)
    K, a = stored().K, LABELS * found.coef
    assert found.converged
    assert (a >= 0.0).all()
    assert (a <= C).all()
    if intercept:
        assert abs(found.coef.sum()) <= 1e-12 * np.abs(found.coef).sum()
    norm = float(found.coef @ K @ found.coef)
    primal = 0.5 * norm + C * np.maximum(0.0, 1.0 - LABELS * (K @ found.coef + found.intercept)).sum()
    assert primal - (a.sum() - 0.5 * norm) <= (found.gap + 1e-9) * primal


def test_weights_of_samples_and_a_start_are_used() -> None:
    weight = np.random.default_rng(2).uniform(0.1, 3.0, size=N)
    machine = HingeMachine(C=1.0, tol=1e-9)
    found, known = (machine.solve(gram, LABELS, None, weight) for gram in (few(), stored()))
    assert found.value == pytest.approx(known.value, rel=1e-8)
    again = machine.solve(few(), LABELS, found.warm, weight)
    assert again.n_iter == 0  # it settles at once
    assert again.value == pytest.approx(found.value, rel=1e-8)


def test_ties_on_the_margin_are_no_obstacle() -> None:
    X = np.round(DATA)
    found, known = (HingeMachine(C=1.0, tol=1e-8).solve(gram, LABELS) for gram in (few(X), stored(X)))
    assert found.converged
    assert found.value == pytest.approx(known.value, rel=1e-7)


def test_a_one_class_region_far_from_the_origin() -> None:
    X = DATA + 3.0
    found, known = (OneClassMachine(nu=0.2, tol=1e-8).solve(gram, np.zeros(N)) for gram in (few(X), stored(X)))
    assert found.value == pytest.approx(known.value, rel=1e-7)
    assert found.warm.sum() == pytest.approx(1.0, rel=1e-12)
    alone = OneClassMachine(nu=1.0).solve(few(X), np.zeros(N))  # there is one feasible point
    np.testing.assert_allclose(alone.warm, 1.0 / N)


@pytest.mark.parametrize("lam", [1e-4, 1e-2, 0.5, 1.0])
def test_the_margin_between_hulls(lam: float) -> None:
    found, known = (MarginMachine(lam=lam, tol=1e-8).solve(gram, LABELS) for gram in (few(), stored()))
    assert found.converged
    assert found.value == pytest.approx(known.value, rel=1e-7)


def test_the_hard_margin_of_classes_that_are_apart_and_of_some_that_meet() -> None:
    apart = np.abs(DATA[:, 0] - DATA[:, 1]) > 0.05
    X, y = DATA[apart], np.where(DATA[apart, 0] > DATA[apart, 1], 1.0, -1.0)
    found, known = (MarginMachine(lam=0.0, tol=1e-8).solve(gram, y) for gram in (few(X), stored(X)))
    assert found.converged
    assert found.value == pytest.approx(known.value, rel=1e-7)
    meeting = MarginMachine(lam=0.0).solve(few(), LABELS)
    assert meeting.converged
    assert 0.0 <= -meeting.value <= 1e-10


def test_targets_that_ask_for_nothing_get_coefficients_of_zero() -> None:
    found = EpsilonMachine(C=1.0, epsilon=10.0).solve(few(), TARGET)
    assert found.converged
    assert not found.coef.any()


@pytest.mark.parametrize(("free", "features"), [(4, 9), (6, 6), (9, 4)])
@pytest.mark.parametrize("equality", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_last_equations_are_solved(
    free: int, features: int, equality: bool, ridge: float, rng: np.random.Generator
) -> None:
    """Whether the variables between their bounds are more or fewer than the features."""
    G = rng.normal(size=(free, features))
    change = rng.normal(size=free)
    r = G @ (G.T @ change) + ridge * change + 0.7 * equality
    total = float(change.sum())
    x = settled._change(G, r, np.full(free, ridge), total, equality)
    left = r - G @ (G.T @ x) - ridge * x
    if equality:
        np.testing.assert_allclose(x.sum(), total, atol=1e-12)
        left = left - left.mean()
    np.testing.assert_allclose(left, 0.0, atol=1e-12)
