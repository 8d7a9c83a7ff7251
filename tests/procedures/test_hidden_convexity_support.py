"""The square of a sum of kernels with a support vector machine, in a ball of norm 2: certified over all weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

import multikernel as mk
from multikernel import bind, kernels
from multikernel.combinations import HadamardPower
from multikernel.domains import NormBall
from multikernel.machines import EpsilonMachine, HingeMachine, SquaredHingeMachine
from multikernel.problem import Problem
from multikernel.procedures.generalized import generalized_mkl
from multikernel.procedures.hidden_convexity import HiddenConvexProblem

Array = Any
RNG = np.random.default_rng(7)
X = RNG.normal(size=(40, 3))
SIGNS = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=40) > 0, 1.0, -1.0)
REAL = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=40)
FAMILY = [kernels.Linear().on([0]), kernels.Linear().on([1]), kernels.RBF(0.3)]
BANK = bind(FAMILY, X)
MACHINES = {
    "squared hinge": (SquaredHingeMachine(C=2.0), SIGNS),
    "hinge": (HingeMachine(C=2.0), SIGNS),
    "epsilon": (EpsilonMachine(C=2.0, epsilon=0.1), REAL),
}


def value(machine: Any, target: Array, K: Array) -> float:
    """J(K) by scikit-learn's own solver of the dual problem."""
    if isinstance(machine, EpsilonMachine):
        a = SVR(kernel="precomputed", C=machine.C, epsilon=machine.epsilon, tol=1e-10).fit(K, target)
        c = np.zeros(len(K))
        c[a.support_] = a.dual_coef_[0]
        return float(c @ target - machine.epsilon * np.abs(c).sum() - 0.5 * c @ K @ c)
    squared = isinstance(machine, SquaredHingeMachine)
    G = K + np.eye(len(K)) / machine.C if squared else K
    a = SVC(kernel="precomputed", C=1e10 if squared else machine.C, tol=1e-10).fit(G, target)
    c = np.zeros(len(K))
    c[a.support_] = a.dual_coef_[0]
    return float((2.0 if squared else 1.0) * np.abs(c).sum() - (1.0 if squared else 0.5) * c @ G @ c)


def squares(weights: Array) -> Array:
    return np.tensordot(weights, BANK.matrices(), 1) ** 2


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("offset", [0.0, 0.7])
def test_no_weights_of_the_ball_are_better(name: str, offset: float) -> None:
    machine, target = MACHINES[name]
    ball = NormBall(2, 1.3, offset)
    weights, _ = generalized_mkl(Problem(BANK, HadamardPower(2), machine, ball, target), tol=1e-6)
    assert weights.gap is not None
    assert weights.gap <= 1e-6
    assert weights.objective == pytest.approx(value(machine, target, squares(weights.values)), rel=1e-5)
    directions = np.abs(RNG.normal(size=(60, 3)))
    others = offset + 1.3 * directions / np.linalg.norm(directions, axis=1)[:, None]
    least = min(value(machine, target, squares(each)) for each in others)
    assert weights.objective <= least * (1.0 + 1e-6)


@pytest.mark.parametrize("name", MACHINES)
def test_a_bound_from_anywhere_is_below_the_optimum(name: str) -> None:
    machine, target = MACHINES[name]
    ball = NormBall(2, 1.3, 0.2)
    problem = HiddenConvexProblem.of(Problem(BANK, HadamardPower(2), machine, ball, target))
    optimum = generalized_mkl(problem, tol=1e-8)[0].objective
    assert optimum is not None
    for _ in range(10):
        at, x = (ball.project(RNG.normal(size=3) * 2.0) for _ in range(2))
        found = problem.evaluate(at)
        for bound in (found.bound, problem.bound(found, x)):
            assert bound <= optimum * (1.0 + 1e-9)


def test_the_estimators_tell_a_duality_gap() -> None:
    given = {"combination": "polynomial", "degree": 2, "norm": 2, "radius": 1.0, "offset": 0.5}
    model = mk.GMKLClassifier(FAMILY, C=2.0, **given).fit(X, SIGNS)
    assert model.duality_gap_ <= 1e-4
    assert not hasattr(model, "stationarity_")
    regressor = mk.GMKLRegressor(FAMILY, alpha=0.3, **given).fit(X, REAL)
    same = mk.PolynomialMKLRegressor(FAMILY, alpha=0.3, degree=2, norm=2, radius=1.0, offset=0.5).fit(X, REAL)
    assert regressor.duality_gap_ <= 1e-4
    assert regressor.objective_ == pytest.approx(same.objective_, rel=2e-4)
    assert hasattr(mk.GMKLClassifier(FAMILY, **(given | {"norm": 1})).fit(X, SIGNS), "stationarity_")
