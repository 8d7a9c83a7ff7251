"""Application of the bound of hidden convexity: an optimizer's point is proved optimal, or a better one is found.

An optimizer ends where its certificate is small or where it finds no better point. If the duality gap is still too
large then, there are two possible reasons. The tangent may be inaccurate, because small weights have larger relative
errors than the others; a few passes over the kernels improve it. Or the point is stationary without being optimal,
which is possible where weights are zero; then the value falls along the path to the tangent's maximiser, on which it is
convex in powers of the weights.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.certificate import Certificate
from multikernel.observer import Observer
from multikernel.optimizers import Optimizer, Result
from multikernel.problem import Problem
from multikernel.procedures.hidden_convexity.bound import HiddenConvexProblem


def proved(problem: Problem, optimizer: Optimizer, start: Array, observe: Observer) -> Result:
    """The optimizer's result; where its gap is too large, with a better bound, or continued from another point."""
    result = optimizer.minimise(problem, start, None, observe)
    for _ in range(3):  # continuations
        if (
            result.converged
            or time_is_up()
            or result.n_iter >= optimizer.max_iter
            or not isinstance(problem, HiddenConvexProblem)
        ):
            break
        bound, x = _sharpened(problem, result, optimizer.tol)
        result = _with_bound(result, bound, optimizer.tol)
        if not result.converged:
            powers = problem.combination.powers(problem.bank)
            between = (0.5 * (result.theta**powers + x**powers)) ** (1.0 / powers)
            continued = replace(optimizer, max_iter=optimizer.max_iter - result.n_iter)
            continuation = continued.minimise(problem, problem.domain.feasible(between), None, observe)
            result = _joined(result, continuation, optimizer.tol)
    return result


def _sharpened(problem: HiddenConvexProblem, result: Result, tol: float) -> tuple[float, Array]:
    """The best bound over 20 tangents, and the last point of tangency.

    For fixed A the form is largest over the ball at a fixed point of x -> argmax x'q(x), to which these steps converge
    like a power iteration. Errors of small weights in the start vanish on the way.
    """
    evaluation = result.evaluation
    x = result.theta
    bound = result.bound
    for _ in range(20):
        q = problem.combination.pullback(problem.bank, x, evaluation.dual.factor)
        x = problem.domain.maximiser(q)
        if not problem.domain.constrained and x.any():  # a penalty alone does not determine the size of the weights
            x = x * (np.linalg.norm(result.theta) / np.linalg.norm(x))
        bound = max(bound, problem.bound(evaluation, x))
        if Certificate.gap(evaluation.upper, bound).reached(tol):
            break
    return bound, x


def _with_bound(result: Result, bound: float, tol: float) -> Result:
    """The result with the better of its bound and another one."""
    bound = max(bound, result.bound)
    certificate = Certificate.gap(result.evaluation.upper, bound)
    history = (*result.history[:-1], certificate.value)
    return replace(result, certificate=certificate, bound=bound, converged=certificate.reached(tol), history=history)


def _joined(result: Result, continuation: Result, tol: float) -> Result:
    """The better of two results, with the better bound and the iterations of both."""
    better, other = sorted((result, continuation), key=lambda one: one.evaluation.upper)
    history = (*result.history, *continuation.history)
    return _with_bound(replace(better, n_iter=len(history), history=history), other.bound, tol)
