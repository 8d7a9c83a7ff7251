"""The outer problem: its gradient by finite differences, for every machine and every combination."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import rel_entr, softmax

from cases import one_in
from multikernel import bind, kernels, precomputed
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF
from multikernel.domains import Domain, EntropySimplex, NormBall, Orthant, Simplex
from multikernel.machines import (
    EpsilonMachine,
    HingeMachine,
    Machine,
    MarginMachine,
    OneClassMachine,
    RidgeMachine,
    SquaredHingeMachine,
)
from multikernel.problem import Problem
from zoo import PROBLEMS

Array = Any
EXACT = 1e-12
MACHINES: dict[str, Machine] = {
    "hinge": HingeMachine(C=0.7, tol=EXACT),
    "hinge-no-intercept": HingeMachine(C=0.7, fit_intercept=False, tol=EXACT),
    "squared-hinge": SquaredHingeMachine(C=2.0, tol=EXACT),
    "epsilon": EpsilonMachine(C=0.7, epsilon=0.2, tol=EXACT),
    "ridge": RidgeMachine(alpha=0.5),
    "margin": MarginMachine(lam=0.2, tol=EXACT),
    "one-class": OneClassMachine(tol=EXACT),
}
COMBINATIONS: dict[str, Combination] = {
    "linear": Linear(),
    "power-2": HadamardPower(2),
    "power-3": HadamardPower(3),
    "rbf": ProductOfRBF(),
}
DOMAINS: dict[str, Domain] = {"none": Simplex(), "entropy": EntropySimplex(0.3), "orthant": Orthant(0.4)}


@cache
def samples() -> tuple[Any, Any, Array]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(24, 4))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=24) > 0, 1.0, -1.0)
    each = [kernels.RBF(0.3).on([0, 1]), kernels.RBF(0.1), kernels.Polynomial(2).normalized()]
    return bind(each, X), bind(kernels.linear_features(), X[:, :3]).distances(), y


@pytest.mark.parametrize(("machine", "combination", "domain"), one_in(5, product(MACHINES, COMBINATIONS, DOMAINS)))
def test_gradient(machine: str, combination: str, domain: str) -> None:
    bank, distances, y = samples()
    given = distances if combination == "rbf" else bank
    problem = Problem(given, COMBINATIONS[combination], MACHINES[machine], DOMAINS[domain], y)
    theta = np.array([0.5, 0.2, 0.3])
    found, step = problem.evaluate(theta), 1e-4
    assert problem.size == 3

    def value(k: int, by: float) -> float:
        return problem.evaluate(theta + by * np.eye(3)[k]).value

    slopes = [
        (8.0 * (value(k, step) - value(k, -step)) - value(k, 2.0 * step) + value(k, -2.0 * step)) / (12.0 * step)
        for k in range(3)
    ]
    size = np.abs(found.gradient).max() + abs(found.value)
    np.testing.assert_allclose(found.gradient, slopes, atol=2e-5 * size)


@pytest.mark.parametrize(
    ("name", "domain", "tol"),
    one_in(
        4,
        product(
            ["random", "low-rank", "zero"],
            [Simplex(), NormBall(2.0), NormBall(1.5, 0.5, 1.0), EntropySimplex(), Orthant(0.3)],
            [0.3, 1e-2, 1e-9],
        ),
    ),
)
def test_values_enclose_whatever_the_inner_accuracy(name: str, domain: Domain, tol: float) -> None:
    case = PROBLEMS[name]()
    outer = Problem(precomputed(case.K), Linear(), HingeMachine(C=1.0, tol=tol), domain, case.y)
    exact = Problem(precomputed(case.K), Linear(), HingeMachine(C=1.0, tol=EXACT), domain, case.y)
    rng = np.random.default_rng(0)
    points = [domain.project(rng.exponential(size=len(case.K))) for _ in range(5)]
    values = [exact.evaluate(theta).value for theta in points]
    for theta, value in zip(points, values, strict=True):
        found = outer.evaluate(theta)
        assert found.value <= value * (1.0 + 1e-9)
        assert value <= found.upper * (1.0 + 1e-9)
        assert found.bound <= min(values) * (1.0 + 1e-9)
        assert found.stationarity >= 0.0
        assert found.certificate.value >= 0.0


def test_stationarity_is_what_other_weights_gain_to_first_order() -> None:
    """With the penalty s sum t log t it is s times the divergence of theta from the best weights, exp(q / s) / sum."""
    bank, _, y = samples()
    theta = np.array([0.5, 0.2, 0.3])
    found = Problem(bank, HadamardPower(2), RidgeMachine(alpha=0.5), EntropySimplex(0.3), y).evaluate(theta)
    assert found.stationarity == pytest.approx(0.3 * rel_entr(theta, softmax(found.scores / 0.3)).sum(), rel=1e-9)
    assert found.certificate.value == pytest.approx(found.stationarity / found.upper, rel=1e-9)


def test_kernels_where_distances_are_needed_are_refused_and_the_reverse() -> None:
    bank, distances, y = samples()
    for combination in (Linear(), HadamardPower(2)):
        with pytest.raises(ValueError, match="combines kernels, and this bank holds distances"):
            Problem(distances, combination, HingeMachine(), Simplex(), y)
    with pytest.raises(ValueError, match=r"takes squared distances.*take its bank.distances\(\)"):
        Problem(bank, ProductOfRBF(), HingeMachine(), Simplex(), y)


@pytest.mark.parametrize("start", [[np.nan, 1.0, 1.0], [1.0, 1.0, np.inf], [1.0]])
def test_a_start_that_is_none_is_refused(start: list[float]) -> None:
    bank, _, y = samples()
    with pytest.raises(ValueError, match="start has"):
        Problem(bank, Linear(), HingeMachine(), Orthant(1.0), y).feasible(np.array(start))


def test_only_kernels_that_are_zero_beside_others_are_put_to_rest() -> None:
    y, theta = np.array([1.0, -1.0, 1.0]), np.array([0.4, 0.3])
    for zero, want in (([0.0, 0.0], theta), ([1.0, 0.0], [0.4, 0.0]), ([1.0, 2.0], theta)):
        bank = precomputed([size * np.eye(3) for size in zero])
        problem = Problem(bank, Linear(), RidgeMachine(alpha=1.0), Orthant(0.4), y)
        np.testing.assert_array_equal(problem.minimal(theta), want)


@pytest.mark.parametrize("strength", [0.3, 3.0])
def test_the_bound_of_reduced_values_is_below_those_of_all_weights(strength: float) -> None:
    """Reduced values are negative, so that a fraction of a plane below them may be above them."""
    bank, _, y = samples()
    problem = Problem(bank, Linear(), RidgeMachine(alpha=1.0, reduced=True), Orthant(strength, 1), y)
    rng = np.random.default_rng(0)
    evaluations = [problem.evaluate(scale * rng.exponential(size=3)) for scale in (0.1, 1.0, 10.0)]
    assert max(found.bound for found in evaluations) <= min(found.value for found in evaluations)
