"""Domains of weights as a conic solver sees them, and points of them drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

import reference as ref
from multikernel.domains import Domain, Ellipsoid, EntropySimplex, NormBall, Orthant, Product, Simplex

Array = Any


@dataclass(frozen=True)
class DomainCase:
    """How to make a domain for m kernels, its constraints and its penalty, and some of its points."""

    make: Callable[[int], Domain]
    constraints: Callable[[Any, int], list[Any]]  # of a variable, besides d >= 0
    points: Callable[[Any, int], Array]  # of a generator: one feasible point
    penalty: Callable[[Any], Any] = lambda d: 0.0


def _shares(total: float) -> Callable[[Any, int], Array]:
    """Weights with that sum; some of them are zero, now and then all but one."""

    def draw(rng: Any, m: int) -> Array:
        d = rng.dirichlet(np.full(m, 0.5)) * (rng.random(m) < rng.random())
        return total * (d / d.sum() if d.any() else np.eye(m)[rng.integers(m)])

    return draw


def centre(m: int) -> Array:
    """Centre of a ball: different in every entry, one of them zero."""
    return np.arange(m) / 2.0


def _in_ball(norm: float, radius: float, center: Callable[[int], Array]) -> Callable[[Any, int], Array]:
    def draw(rng: Any, m: int) -> Array:
        delta = rng.normal(size=m) * (rng.random(m) < 0.8)
        delta /= max(np.linalg.norm(delta, norm), 1e-12)
        return np.maximum(center(m) + radius * rng.choice([0.3, 1.0]) * delta, 0.0)

    return draw


def ball(norm: float, radius: float = 1.5, center: Callable[[int], Array] = np.zeros) -> DomainCase:
    return DomainCase(
        lambda m: NormBall(norm, radius, center(m)),
        lambda d, m: [cp.pnorm(d - center(m), norm) <= radius],
        _in_ball(norm, radius, center),
    )


def slanted(m: int, along: float) -> Array:
    """The shape of an ellipsoid; below 0 its first two weights cannot be large together."""
    S = np.diag(1.0 + np.arange(m))
    S[0, 1:2] = S[1:2, 0] = along
    return S


def ellipsoid(along: float, center: Callable[[int], Array]) -> DomainCase:
    def length(m: int) -> Array:
        return np.linalg.inv(np.linalg.cholesky(slanted(m, along)))

    def draw(rng: Any, m: int) -> Array:
        d = np.maximum(center(m) + rng.choice([0.5, 2.0]) * rng.normal(size=m), 0.0)
        return center(m) + (d - center(m)) / max(np.linalg.norm(length(m) @ (d - center(m))), 1.0)

    return DomainCase(
        lambda m: Ellipsoid(slanted(m, along), center(m)),
        lambda d, m: [cp.norm(length(m) @ (d - center(m))) <= 1.0],
        draw,
    )


def _two(first: DomainCase, second: DomainCase) -> DomainCase:
    """The first weight in one domain, the others in another."""
    return DomainCase(
        lambda m: Product((first.make(1), second.make(m - 1)), (1, m - 1)) if m > 1 else first.make(1),
        lambda d, m: first.constraints(d[:1], 1) + (second.constraints(d[1:], m - 1) if m > 1 else []),
        lambda rng, m: np.concatenate([first.points(rng, 1), *([second.points(rng, m - 1)] if m > 1 else [])]),
    )


DOMAINS: dict[str, DomainCase] = {
    "ellipsoid-slanted": ellipsoid(-1.2, np.zeros),
    "ellipsoid-centre": ellipsoid(-1.2, centre),
    "simplex": DomainCase(lambda m: Simplex(), lambda d, m: [cp.sum(d) == 1.0], _shares(1.0)),
    "simplex-total": DomainCase(lambda m: Simplex(2.5), lambda d, m: [cp.sum(d) == 2.5], _shares(2.5)),
    "ball-1": ball(1.0),
    "ball-1.25": ball(1.25),
    "ball-1.5": ball(1.5),
    "ball-2": ball(2.0),
    "ball-4": ball(4.0),
    "ball-1-centre": ball(1.0, center=centre),
    "ball-1.5-centre": ball(1.5, center=centre),
    "ball-2-centre": ball(2.0, center=centre),
    "ball-3-centre": ball(3.0, center=centre),
    "ball-2-ones": ball(2.0, center=np.ones),
    "ball-point": ball(2.0, radius=0.0, center=centre),
    "orthant-1": DomainCase(
        lambda m: Orthant(0.7, 1), lambda d, m: [], lambda rng, m: rng.exponential(size=m), lambda d: 0.7 * cp.sum(d)
    ),
    "orthant-2": DomainCase(
        lambda m: Orthant(0.7, 2),
        lambda d, m: [],
        lambda rng, m: rng.exponential(size=m),
        lambda d: 0.7 * cp.sum_squares(d),
    ),
    "product": _two(ball(2.0), ball(1.5)),
    "product-centre": _two(ball(2.0, center=np.ones), ball(3.0, center=centre)),
    "entropy": DomainCase(
        lambda m: EntropySimplex(0.4),
        lambda d, m: [cp.sum(d) == 1.0],
        _shares(1.0),
        lambda d: -0.4 * cp.sum(cp.entr(d)),
    ),
}
BALLS = [name for name in DOMAINS if name.startswith("ball")]


def nearest(case: DomainCase, z: Array) -> Array:
    """The projection by Clarabel."""
    d = cp.Variable(len(z), nonneg=True)
    ref.conic(cp.Problem(cp.Minimize(cp.sum_squares(d - z)), case.constraints(d, len(z))))
    return np.maximum(d.value, 0.0)


def support(case: DomainCase, q: Array) -> float:
    """max d'q - r(d) by Clarabel."""
    d = cp.Variable(len(q), nonneg=True)
    return ref.conic(cp.Problem(cp.Maximize(d @ q - case.penalty(d)), case.constraints(d, len(q))))


def least_blocks(case: DomainCase, norms: Array) -> float:
    """min sum_k c_k^2 / d_k by Clarabel."""
    d = cp.Variable(len(norms), nonneg=True)
    value = cp.sum(cp.multiply(norms**2, cp.inv_pos(d)))
    return ref.conic(cp.Problem(cp.Minimize(value), case.constraints(d, len(norms))))
