"""Bounds of polynomial kernel learning: nothing lies below them, and they close at the optimum."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import polynomial_reference as slow
from cases import one_in
from multikernel import bind, kernels, precomputed
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF, TiedAndFree
from multikernel.domains import Domain, NormBall, Orthant, Simplex
from multikernel.kernels import RBF, Polynomial
from multikernel.machines import RidgeMachine, SquaredHingeMachine
from multikernel.problem import Problem
from multikernel.procedures.hidden_convexity import HiddenConvexProblem, hidden_convex
from multikernel.procedures.polynomial import polynomial_mkl

Array = Any
RNG = np.random.default_rng(5)
X = RNG.normal(size=(20, 4))
Y = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=20)
BANK = bind([RBF(0.3), Polynomial(2).normalized(), kernels.Linear().on([0]), RBF(1.0).on([1, 2])], X)
FREE = TiedAndFree(2, free=((0, 1), (2,)))
LISTED = TiedAndFree(((0,), (1, 1), (2, 3)))

CASES: dict[str, tuple[Combination, Domain]] = {
    "2, norm 2": (HadamardPower(2), NormBall(2.0, 1.5)),
    "2, norm 2, around 1": (HadamardPower(2), NormBall(2.0, 1.5, 1.0)),
    "2, norm 2, around points": (HadamardPower(2), NormBall(2.0, 0.5, np.array([0.0, 2.0, 0.1, 0.0]))),
    "2, norm 3": (HadamardPower(2), NormBall(3.0, 2.0)),
    "2, norm 3, around 1": (HadamardPower(2), NormBall(3.0, 2.0, 1.0)),
    "2, norm 2.2, around 1": (HadamardPower(2), NormBall(2.2, 2.0, 1.0)),
    "3, norm 3": (HadamardPower(3), NormBall(3.0, 2.0)),
    "3, norm 3, around 1": (HadamardPower(3), NormBall(3.0, 2.0, 1.0)),
    "3, norm 4.5": (HadamardPower(3), NormBall(4.5, 2.0)),
    "2, no radius": (HadamardPower(2), NormBall(2.0, 0.0, 1.0)),
    "2, penalty": (HadamardPower(2), Orthant(0.1, 2)),
    "free, norm 2": (FREE, NormBall(2.0, 1.5, 1.0)),
    "free, penalty": (FREE, Orthant(0.1, 2)),
    "listed, norm 2": (LISTED, NormBall(2.0, 1.5, 0.5)),
}
cases = pytest.mark.parametrize("case", CASES)


def problem(case: str, **changes: Any) -> HiddenConvexProblem:
    combination, domain = CASES[case]
    plain = Problem(BANK, combination, RidgeMachine(0.3), domain, Y)
    assert hidden_convex(plain)
    return HiddenConvexProblem.of(replace(plain, **changes))


FEW = ("2, norm 2, around 1", "3, norm 3", "2, penalty", "free, norm 2")


@pytest.mark.parametrize(
    ("case", "kind"),
    one_in(2, [*((case, "one target") for case in CASES), *product(FEW, ("three targets", "weighted samples"))]),
)
def test_no_weights_have_a_lower_value(case: str, kind: str) -> None:
    """The bound of every point against the values of every other."""
    changes: dict[str, Any] = {}
    if kind == "three targets":
        changes = {"target": np.column_stack([Y, X[:, 0], np.sin(X[:, 3])])}
    if kind == "weighted samples":
        changes = {"sample_weight": np.arange(20.0)}
    given = problem(case, **changes)
    points = slow.random_points(given.domain, given.size, 16, np.random.default_rng(0))
    found = [given.evaluate(theta) for theta in points]
    lowest = min(at.value for at in found)
    assert max(at.bound for at in found) <= lowest * (1.0 + 1e-10)
    for at in found[:3]:  # other tangents are bounds as well
        assert max(given.bound(at, x) for x in points) <= lowest * (1.0 + 1e-10)


@cases
def test_bound_closes_at_the_optimum(case: str) -> None:
    given = problem(case)
    weights, dual = polynomial_mkl(Problem(BANK, given.combination, given.machine, given.domain, Y), tol=1e-9)
    assert weights.converged
    assert weights.gap is not None
    assert 0.0 <= weights.gap <= 1e-9
    assert weights.stationarity is None
    at = given.evaluate(weights.values)
    assert at.bound >= at.upper * (1.0 - 1e-8)
    np.testing.assert_allclose(at.dual.coef, dual.coef, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("center", [0.0, 1.0])
def test_bound_is_that_of_the_eigenvalues_at_the_optimum(center: float) -> None:
    """Recomputed from the primal and the dual point alone, by a trust region problem."""
    K, y, alpha = BANK.matrices(), Y - Y.mean(), 0.3
    domain = NormBall(2.0, 1.5, center)
    weights, dual = polynomial_mkl(Problem(BANK, HadamardPower(2), RidgeMachine(alpha), domain, Y), tol=1e-10)
    primal = slow.value(K, y, alpha, 2, weights.values)
    bound = slow.quadratic_bound(K, y, alpha, np.full(4, center), 1.5, dual.coef)
    assert weights.objective == pytest.approx(primal, rel=1e-10)
    assert bound <= primal * (1.0 + 1e-12)
    assert bound >= primal * (1.0 - 1e-8)


def test_bound_of_the_penalty_is_that_of_the_eigenvalue() -> None:
    K, y, alpha, strength = BANK.matrices(), Y - Y.mean(), 0.3, 0.1
    weights, dual = polynomial_mkl(
        Problem(BANK, HadamardPower(2), RidgeMachine(alpha), Orthant(strength, 2), Y), tol=1e-10
    )
    primal = slow.value(K, y, alpha, 2, weights.values, strength)
    bound = slow.penalised_bound(K, y, alpha, strength, dual.coef)
    assert weights.objective == pytest.approx(primal, rel=1e-10)
    assert primal * (1.0 - 1e-5) <= bound <= primal * (1.0 + 1e-12)  # a feasible multiple: off by the root of the gap


def test_reduced_values_beside_a_penalty_have_no_bound() -> None:
    machine = RidgeMachine(0.3, reduced=True)
    given = HiddenConvexProblem.of(Problem(BANK, Linear(), machine, Orthant(0.1, 2), Y))
    assert given.evaluate(np.zeros(4)).bound < given.evaluate(np.ones(4)).upper < 0.0


def test_which_problems_are_convex_in_powers() -> None:
    """The table."""

    def known(combination: Combination, domain: Domain, machine: Any = None) -> bool:
        bank = BANK.distances() if combination == ProductOfRBF() else BANK
        return hidden_convex(Problem(bank, combination, machine or RidgeMachine(), domain, Y))

    assert all(known(HadamardPower(1), NormBall(q, 1.0, o)) for q in (1.0, 1.5, 2.0, 3.0) for o in (0.0, 1.0))
    assert known(Linear(), Orthant(1.0, 2))
    for degree in (2, 3, 4):
        for q in (1.0, 1.9, 2.0, 2.9, 3.0, 4.0):
            assert known(HadamardPower(degree), NormBall(q)) == (q >= degree)
        assert known(HadamardPower(degree), Orthant(1.0, 2)) == (degree == 2)
    assert known(FREE, NormBall(2.0))
    assert not known(FREE, NormBall(1.0))
    assert known(TiedAndFree(1, free=((0, 1),)), NormBall(1.0))
    assert not known(ProductOfRBF(), NormBall(2.0))
    assert not known(HadamardPower(2), Simplex())
    assert known(HadamardPower(2), NormBall(2.0), SquaredHingeMachine())
    assert not known(HadamardPower(2), Orthant(1.0, 2), SquaredHingeMachine())


@pytest.mark.parametrize("degree", [2, 3])
def test_value_is_convex_in_the_power_of_the_weights(degree: int) -> None:
    K, rng = BANK.matrices(), np.random.default_rng(1)
    for _ in range(100):
        left, right = rng.exponential(size=(2, 4))
        ends = [slow.value(K, Y, 0.3, degree, nu ** (1.0 / degree)) for nu in (left, right, 0.5 * (left + right))]
        assert ends[2] <= 0.5 * (ends[0] + ends[1]) * (1.0 + 1e-12)


@pytest.mark.parametrize("case", ["2, norm 2", "3, norm 3", "2, penalty", "free, norm 2"])
@pytest.mark.parametrize("tiny", [0.0, 1e-300, 1e-45])
def test_tiny_weights_have_bounds(case: str, tiny: float) -> None:
    given = problem(case)
    theta = np.where(np.arange(given.size) % 2 == 0, 0.5, tiny)
    weights, _ = polynomial_mkl(Problem(BANK, given.combination, given.machine, given.domain, Y), tol=1e-9)
    bound = given.evaluate(given.domain.feasible(theta)).bound
    assert np.isfinite(bound)
    assert bound <= weights.objective * (1.0 + 1e-10)


def test_weights_at_zero_do_not_hide_a_kernel() -> None:
    """Two kernels on different samples: without its weight the second has no gradient, and the bound knows it."""
    K = np.stack([np.diag([1.0, 1.0, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0, 1.0])])
    y = np.array([3.0, -1.0, 2.0, 1.0])
    plain = Problem(precomputed(K), HadamardPower(2), RidgeMachine(1.0, fit_intercept=False), NormBall(2.0), y)
    at = HiddenConvexProblem.of(plain).evaluate(np.array([1.0, 0.0]))
    assert at.scores[1] == 0.0
    best = slow.best_of_many(K, y, 1.0, 2, plain.domain, 5)
    assert best < 0.99 * at.value
    assert at.bound <= best
