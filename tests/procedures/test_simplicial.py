"""Simplicial decomposition with the machine of several classes: a conic solver, bounds that hold, any machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import joint_reference as ref
from cases import one_in
from multikernel import bind, kernels
from multikernel.combinations import Linear
from multikernel.domains import NormBall, Orthant, Simplex
from multikernel.machines import CrammerSingerMachine, HingeMachine, RidgeMachine
from multikernel.optimizers import LevelMethod, QuasiNewton
from multikernel.problem import Problem
from multikernel.procedures import SimplicialDecomposition

Array = Any
RNG = np.random.default_rng(3)
X = RNG.normal(size=(36, 3))
Y = np.argmax(X + 0.5 * RNG.normal(size=(36, 3)), axis=1)
SIGNS = np.where(Y[:, None] == np.arange(3), 1.0, -1.0)
BANK = bind([kernels.RBF(1.0).on([j]) for j in range(3)] + [kernels.RBF(0.1), kernels.Linear()], X)
WEIGHT = np.linspace(0.5, 2.0, 36)


@pytest.mark.crossed
@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize(("C", "intercept"), [(0.1, True), (5.0, False), (200.0, True)])
def test_several_classes_at_once(C: float, intercept: bool, p: float) -> None:
    domain = Simplex() if p == 1.0 else NormBall(p)
    problem = Problem(BANK, Linear(), CrammerSingerMachine(C=C, fit_intercept=intercept), domain, SIGNS, WEIGHT)
    found = SimplicialDecomposition(tol=1e-6).minimise(problem)
    assert found.converged
    assert found.certificate.kind == "duality gap"
    K = BANK.matrices()
    known = ref.joint(K, Y, C * WEIGHT, intercept, p)
    assert known.upper - known.lower <= 1e-3 * known.upper
    assert found.bound <= known.upper
    assert found.evaluation.upper >= known.lower
    combined = np.einsum("k,kij->ij", found.theta, K)
    dual = found.evaluation.dual
    assert found.evaluation.upper <= ref.primal(combined, Y, C * WEIGHT, dual.coef, dual.intercept) * (1 + 1e-9)
    assert found.n_iter <= 30


@pytest.mark.parametrize("most", one_in(3, [1, 2, 4]))
def test_a_bound_holds_wherever_the_run_ends(most: int) -> None:
    problem = Problem(BANK, Linear(), CrammerSingerMachine(C=5.0), Simplex(), SIGNS)
    best = SimplicialDecomposition(tol=1e-8).minimise(problem).evaluation.upper
    found = SimplicialDecomposition(tol=1e-8, max_iter=most).minimise(problem)
    assert found.n_iter == most
    assert found.bound <= best <= found.evaluation.upper * (1 + 1e-12)


@pytest.mark.parametrize(
    ("machine", "target"),
    [(HingeMachine(C=5.0), SIGNS[:, 0]), (RidgeMachine(alpha=0.3), X[:, 1] ** 2), (RidgeMachine(alpha=0.3), SIGNS)],
)
def test_any_machine(machine: Any, target: Array) -> None:
    problem = Problem(BANK, Linear(), machine, Simplex(), target)
    found = SimplicialDecomposition(tol=1e-6).minimise(problem)
    other = LevelMethod(tol=1e-6).minimise(problem)
    assert found.converged
    assert found.bound <= other.evaluation.upper
    assert other.bound <= found.evaluation.upper


def test_other_optimizers_solve_it() -> None:
    problem = Problem(BANK, Linear(), CrammerSingerMachine(C=5.0), Simplex(), SIGNS)
    found = SimplicialDecomposition(tol=1e-6).minimise(problem)
    for optimizer in (LevelMethod(tol=1e-3), QuasiNewton(tol=1e-3)):
        other = optimizer.minimise(problem)
        assert other.converged
        assert other.evaluation.upper == pytest.approx(found.evaluation.upper, rel=2e-3)


def test_weights_that_only_a_penalty_bounds_are_refused() -> None:
    problem = Problem(BANK, Linear(), CrammerSingerMachine(), Orthant(0.5, 2), SIGNS)
    with pytest.raises(TypeError, match="ProjectedGradient and QuasiNewton work"):
        SimplicialDecomposition().minimise(problem)
