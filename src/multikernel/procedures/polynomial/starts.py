"""Starts: never with a weight of zero, at which a power of a sum may have no gradient.

A problem that is not convex in any powers of its weights may have local minima that are not global ones, and was seen
to have them in some per cent of cases. Further starts are the solution for a lower degree, points near the single
kernels, and random weights.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from multikernel._typing import Array
from multikernel.domains import NormBall, Separable
from multikernel.machines import RidgeMachine
from multikernel.optimizers.block_norm import CENTRAL_SHARE
from multikernel.problem import Problem

_SINGLE_STARTS = 10  # kernels up to which each has a start of its own
_SIZES = 10.0 ** np.arange(-2.0, 5.0)  # equal weights to try, relative to those at which K and alpha are of one size


def central(problem: Problem) -> Array:
    """The centre of the domain; where only a penalty bounds the weights, equal weights of the best of some sizes."""
    if problem.domain.constrained or not isinstance(problem.machine, RidgeMachine):
        return problem.start()
    even = np.ones(problem.size)
    self_value = float(problem.combination.gram(problem.bank, even).diagonal().mean())
    power = float(problem.combination.powers(problem.bank).max())
    if not (self_value > 0.0 and np.isfinite(power)):
        return problem.start()
    sizes = (problem.machine.alpha / self_value) ** (1.0 / power) * _SIZES
    values = [problem.evaluate(size * even).value for size in sizes]
    return float(sizes[int(np.argmin(values))]) * even


def inside(problem: Problem, theta: Array, middle: Array) -> Array:
    """The weights, moved a little to the central ones."""
    return problem.domain.feasible((1.0 - CENTRAL_SHARE) * theta + CENTRAL_SHARE * middle)


def further_starts(problem: Problem, middle: Array, rng: np.random.RandomState) -> Iterator[Array]:
    """Starts without end: near the single kernels where these are few, then random ones."""
    low = problem.domain.offset(problem.size) if isinstance(problem.domain, Separable) else np.zeros(problem.size)
    if problem.size <= _SINGLE_STARTS:
        for k in range(problem.size):
            single = low.copy()
            single[k] += _reach(problem, middle - low, k)
            yield inside(problem, single, middle)
    while True:
        scattered = low + (middle - low) * rng.exponential(size=problem.size)
        yield inside(problem, problem.domain.feasible(scattered), middle)


def _reach(problem: Problem, delta: Array, k: int) -> float:
    """How far a single weight is from its offset where it takes the place of all weights."""
    return problem.domain.radius if isinstance(problem.domain, NormBall) else float(delta[k]) * problem.size
