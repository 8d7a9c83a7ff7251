"""Where to begin: never at zero weights, where a power of a sum has no gradient, nor with some of them zero.

A problem that is not convex in any powers of its weights has local minima that are not global ones, in some per cent of
cases: the solution for a lower degree, the neighbourhoods of the single kernels and random weights are further starts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from multikernel.combinations import TiedAndFree
from multikernel.domains import NormBall
from multikernel.kernels.base import Array
from multikernel.problem import Problem
from multikernel.procedures.generalized import central_start

_INSIDE = 1e-3  # of the central weights in every start
_FEW = 10  # kernels up to which each has a start of its own


def central(problem: Problem) -> Array:
    """Weights that prefer no kernel, and no product that has a weight of its own."""
    theta = central_start(problem)
    if not isinstance(problem.combination, TiedAndFree) or len(theta) == problem.size:
        return theta
    diagonal = problem.bank.diagonal()
    sizes = np.array([diagonal[list(product)].prod(axis=0).mean() for product in problem.combination.free])
    parts = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    return np.concatenate([theta, parts / problem.size])


def inside(problem: Problem, theta: Array) -> Array:
    """The weights, moved a little to the central ones."""
    return problem.domain.feasible((1.0 - _INSIDE) * theta + _INSIDE * central(problem))


def further_starts(problem: Problem, rng: np.random.RandomState) -> Iterator[Array]:
    """Starts without end: near the single kernels where these are few, then random ones."""
    middle = central(problem)
    low = problem.domain.offset(problem.size)
    if problem.size <= _FEW:
        for k in range(problem.size):
            single = low.copy()
            single[k] += _reach(problem, middle - low, k)
            yield inside(problem, single)
    while True:
        yield inside(problem, problem.domain.feasible(low + (middle - low) * rng.exponential(size=problem.size)))


def _reach(problem: Problem, delta: Array, k: int) -> float:
    """How far a single weight is from its offset where it stands for all."""
    return problem.domain.radius if isinstance(problem.domain, NormBall) else float(delta[k]) * problem.size
