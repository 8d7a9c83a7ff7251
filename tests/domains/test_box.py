"""A domain from outside the package: the two methods that a domain has to have, and the algorithms that it fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from multikernel import precomputed
from multikernel.combinations import Linear
from multikernel.domains import Domain, NormBall, Orthant, Separable, as_separable
from multikernel.machines import HingeMachine, Machine, RidgeMachine
from multikernel.optimizers import Optimizer, ProjectedGradient, QuasiNewton, Subgradient
from multikernel.problem import Problem
from multikernel.procedures import support_mkl
from multikernel.procedures.generalized import generalized_mkl, is_program
from multikernel.testing.domains import check_domain

Array = Any


@dataclass(frozen=True)
class Box(Domain):
    """0 <= d <= upper."""

    upper: float = 1.0

    def project(self, z: Array) -> Array:
        return np.clip(z, 0.0, self.upper)

    def maximiser(self, q: Array) -> Array:
        return np.where(q > 0.0, self.upper, 0.0)


@dataclass(frozen=True)
class TiltedBox(Box):
    """The box with the penalty 1'd: kernels of small scores get no weight."""

    tilt: float = 1.0

    def maximiser(self, q: Array) -> Array:
        return np.where(q > self.tilt, self.upper, 0.0)

    def penalty(self, d: Array) -> float:
        return self.tilt * float(d.sum())

    def penalty_gradient(self, d: Array) -> Array:
        return np.full(len(d), self.tilt)


def problem(machine: Machine, domain: Domain) -> tuple[Problem, Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.sign(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=30))
    K = np.stack([np.exp(-((X[:, [j]] - X[:, j]) ** 2)) for j in range(3)])
    return Problem(precomputed(K), Linear(), machine, domain, y), K, y


@pytest.mark.parametrize("m", [1, 4])
def test_it_is_a_domain(m: int) -> None:
    check_domain(Box(2.0), m)
    check_domain(TiltedBox(2.0, 0.3), m)


@pytest.mark.parametrize("optimizer", [ProjectedGradient, QuasiNewton, Subgradient])
def test_general_optimizers_solve_it(optimizer: type[Optimizer]) -> None:
    """J falls in every weight: all weights of the box are at their bound, and the value is the machine's there."""
    outer, K, y = problem(RidgeMachine(alpha=1.0), Box(2.0))
    found = optimizer(tol=1e-6, max_iter=2000).minimise(outer, start=np.array([0.1, 1.0, 0.5]))
    assert found.converged
    exact = RidgeMachine(alpha=1.0).solve(precomputed(2.0 * K.sum(axis=0)[None]).combine(np.ones(1)), y).value
    assert found.evaluation.value == pytest.approx(exact, rel=2e-6)


@pytest.mark.parametrize("optimizer", [ProjectedGradient, QuasiNewton])
def test_with_a_penalty_weights_stay_inside(optimizer: type[Optimizer]) -> None:
    """Where a weight is between its bounds its score is the penalty's slope; at 0 no more, at the upper no less."""
    outer, _, _ = problem(HingeMachine(C=1.0), TiltedBox(5.0, 1.5))
    found = optimizer(tol=1e-6, max_iter=2000).minimise(outer)
    d, q = found.theta, found.evaluation.scores
    assert found.converged
    assert ((d > 1e-6) & (d < 5.0 - 1e-6)).any()
    np.testing.assert_allclose(q[(d > 1e-3) & (d < 5.0 - 1e-3)], 1.5, atol=0.05)
    assert (q[d < 1e-6] <= 1.55).all()


@pytest.mark.parametrize("domain", [Box(), NormBall(2.0, 0.0, 1.0)])
def test_the_interior_point_method_says_what_works(domain: Domain) -> None:
    outer, _, _ = problem(HingeMachine(C=1.0), domain)
    with pytest.raises(TypeError, match=f"support_mkl needs .*{type(domain).__name__} is not; QuasiNewton works"):
        support_mkl(outer)
    assert not is_program(outer)
    weights, _ = generalized_mkl(outer, tol=1e-5)
    assert weights.converged
    np.testing.assert_allclose(weights.values, 1.0, atol=1e-6)


def test_which_domains_are_sums_over_the_kernels() -> None:
    assert not isinstance(Box(), Separable)
    assert as_separable(NormBall(2.0, 0.0, 1.0)) is None
    orthant = Orthant()
    assert as_separable(orthant) is orthant


# -- the suite finds what is wrong -------------------------------------------------------------------------------------


class ShortProjection(Box):
    def project(self, z: Array) -> Array:
        return 0.9 * np.clip(z, 0.0, self.upper)


class WrongMaximiser(Box):
    def maximiser(self, q: Array) -> Array:
        return np.where(q > q.mean(), self.upper, 0.0)


class LowSupport(Box):
    def support(self, q: Array) -> float:
        return 0.99 * super().support(q)


class WrongGradient(TiltedBox):
    def penalty_gradient(self, d: Array) -> Array:
        return 1.01 * super().penalty_gradient(d)


class WrongUpdate(Box):
    def block_update(self, norms: Array) -> Array:
        return np.full(len(norms), 0.5 * self.upper)


class WrongCurvature(NormBall):
    def constraint(self, delta: Array) -> Any:
        value, slope, curvature = super().constraint(delta)
        return value, slope, 2.0 * curvature


class OtherSet(NormBall):
    def constraint(self, delta: Array) -> Any:
        return tuple(0.5 * part for part in super().constraint(delta))


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (ShortProjection(), "moves feasible weights|not contained"),
        (WrongMaximiser(), "exceeds the support"),
        (LowSupport(), "does not attain"),
        (WrongGradient(), "penalty_gradient is wrong"),
        (WrongUpdate(), "better than the block update"),
        (WrongCurvature(3.0), "second derivative"),
        (OtherSet(2.0), "is not contained where|not active|beyond the constraint"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_wrong_domain_is_found(wrong: Domain, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_domain(wrong, 4)
