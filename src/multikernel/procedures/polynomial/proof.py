"""Points that are optimal, and are shown to be: the bound of hidden convexity put to use.

An optimizer ends where its certificate is small or where it sees no better point. Where the gap is open then, either
the tangent is a poor one, because small weights have relative errors that the others have not; a few passes over the
kernels improve it. Or the point is stationary and not optimal, which weights at zero can make it: the way to the
tangent's maximiser, along which the value is convex in powers of the weights, leads on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.observer import Observer
from multikernel.optimizers import Optimizer, Result
from multikernel.problem import Problem
from multikernel.procedures.polynomial.bound import HiddenConvexProblem

_PASSES = 20  # over the kernels, for a better tangent
_ROUNDS = 3  # of leaving a stationary point


def proved(problem: Problem, optimizer: Optimizer, start: Array, observe: Observer) -> Result:
    """The optimizer's result; where its gap is open, with a better bound, or from a point further on."""
    result = optimizer.minimise(problem, start, None, observe)
    for _ in range(_ROUNDS):
        if result.converged or result.n_iter >= optimizer.max_iter or not isinstance(problem, HiddenConvexProblem):
            break
        bound, x = _sharpened(problem, result, optimizer.tol)
        result = _with_bound(result, bound, optimizer.tol)
        if not result.converged:
            powers = problem.combination.powers(problem.bank)
            between = (0.5 * (result.theta**powers + x**powers)) ** (1.0 / powers)
            rest = replace(optimizer, max_iter=optimizer.max_iter - result.n_iter)
            further = rest.minimise(problem, problem.domain.feasible(between), None, observe)
            result = _joined(result, further, bound, optimizer.tol)
    return result


def _sharpened(problem: HiddenConvexProblem, result: Result, tol: float) -> tuple[float, Array]:
    """The best bound over some tangents, and the last point of tangency.

    For fixed A the form is largest over the ball at a fixed point of x -> argmax x'q(x), to which the steps climb: a
    power iteration. In the weights of the result some that are small may have relative errors that are not.
    """
    at, x, bound = result.evaluation, result.theta, result.evaluation.bound
    for _ in range(_PASSES):
        q = problem.combination.pullback(problem.bank, x, at.dual.factor)
        x = problem.domain.maximiser(q)
        if not problem.domain.constrained and x.any():  # where only a penalty bounds the weights their size is open
            x = x * (np.linalg.norm(result.theta) / np.linalg.norm(x))
        bound = max(bound, problem.bound(at, x))
        if at.upper - bound <= tol * abs(at.upper):
            break
    return bound, x


def _with_bound(result: Result, bound: float, tol: float) -> Result:
    """The result with a bound that may be better than its own."""
    upper = result.evaluation.upper
    certificate = min(result.certificate, Certificate.gap(upper, bound), key=lambda each: each.value)
    history = (*result.history[:-1], certificate.value)
    return replace(result, certificate=certificate, converged=certificate.reached(tol), history=history)


def _joined(result: Result, further: Result, bound: float, tol: float) -> Result:
    """The better of two results, with the iterations of both."""
    better = min(result, further, key=lambda found: found.evaluation.upper)
    joined = replace(better, n_iter=result.n_iter + further.n_iter, history=(*result.history, *further.history))
    return _with_bound(joined, max(bound, further.evaluation.bound), tol)
