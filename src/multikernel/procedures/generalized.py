"""Generalised multiple kernel learning (Varma and Babu 2009): any differentiable kernel of the weights.

    min_{theta in D}  J(K(theta)) + r(theta),        J the value of a machine

The value has a gradient wherever the machine's solution is unique, so the problem is solved by projected quasi-Newton
steps, each with one machine. Where K is linear in theta the interior point method over weights and machine is faster.
Ridge regression with a large alpha or several targets, which is not a support program, has a separate iteration. Where
the problem is convex in powers of the weights, as with the square of a sum in a ball of norm 2, there are bounds and a
duality gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from multikernel._floats import EPS
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.banks.threads import one_blas_thread
from multikernel.combinations import Linear, ProductOfRBF, ScaledProfile
from multikernel.domains import NormBall, Orthant, as_separable
from multikernel.machines import DualSolution, RidgeMachine, SupportMachine
from multikernel.machines.ridge.centred import CentredTargets
from multikernel.observer import Observer, silent
from multikernel.optimizers import Optimizer
from multikernel.optimizers.quasi_newton import QuasiNewton
from multikernel.optimizers.ridge.interpolated import Interpolated
from multikernel.problem import Problem
from multikernel.procedures.base import Start, Weights, outcome
from multikernel.procedures.hidden_convexity import HiddenConvexProblem, hidden_convex, proved
from multikernel.procedures.ridge_program import RidgeSupport
from multikernel.procedures.ridge_terms import solved_by_terms, unexplained
from multikernel.procedures.support_mkl import support_mkl


def generalized_mkl(
    problem: Problem,
    tol: float = 1e-4,
    max_iter: int = 1000,
    starts: Sequence[Start] = (),
    observe: Observer = silent,
) -> tuple[Weights, DualSolution]:
    """The weights with their certificate, and the machine's solution at them.

    Parameters
    ----------
    problem : Problem; for a product of Gaussians and for a scaled profile its bank has distances
    tol : float, the relative duality gap to reach where a bound is known, else the relative stationarity
    max_iter : int, machines, or Newton steps of the interior point method, at most from each start
    starts : the points to begin with, ``central_start`` by default; the best result is returned
    observe : called after each step or machine

    Raises
    ------
    ValueError : for starts, a target or weights of samples that are not of the problem
    """
    problem.domain.check(problem.size)
    begins = [replace(start, weights=problem.feasible(start.weights)) for start in starts]
    with one_blas_thread(problem.bank.shape[0]):
        if isinstance(problem.machine, RidgeMachine):

            def solve(
                inner: Problem, inner_tol: float, begin: Array | None, observer: Observer
            ) -> tuple[Weights, DualSolution]:
                idle = unexplained(inner)
                return idle or _solved(
                    inner, inner_tol, max_iter, begins if begin is None else [Start(begin)], observer
                )

            weights, dual = solved_by_terms(problem, solve, tol, observe)
        else:
            weights, dual = _solved(problem, tol, max_iter, begins, observe)
    if weights.converged and weights.values.any() and _are_rounding(problem, weights):
        weights = replace(weights, values=np.zeros_like(weights.values))
    if weights.converged and weights.objective and not weights.values.any():
        warn_user(
            "generalised MKL: the penalty outweighs what the kernels explain, so every weight is 0 and the predictor "
            "is constant; lower the penalty, or give the losses more weight (a larger C, a smaller alpha)."
        )
    return weights, dual


def _are_rounding(problem: Problem, weights: Weights) -> bool:
    """Whether weights are zero up to rounding: far below the central ones, and no better than zero weights."""
    if (weights.values > EPS * central_start(problem)).any():
        return False
    zeros = np.zeros_like(weights.values)
    value = weights.objective
    return value is not None and problem.domain.contains(zeros) and problem.evaluate(zeros).upper < value


def _solved(
    problem: Problem, tol: float, max_iter: int, starts: Sequence[Start], observe: Observer
) -> tuple[Weights, DualSolution]:
    """Solve by the interior point method if possible; else by machines, with the best result of all starts."""
    central = central_start(problem)
    begins = list(starts) or [Start(central)]
    if is_program(problem):
        return sum_of_kernels(problem, tol, max_iter, begins[0], observe)
    optimizer: Optimizer = QuasiNewton(tol=tol, max_iter=max_iter, typical=central)
    if interpolates(problem):
        optimizer = Interpolated(tol=tol, max_iter=max_iter)
    if hidden_convex(problem) and not problem.linear:
        return outcome(proved(HiddenConvexProblem.of(problem), optimizer, begins[0].weights, observe))
    results = [optimizer.minimise(problem, begin.weights, begin.variables, observe) for begin in begins]
    weights, dual = outcome(min(results, key=lambda result: result.evaluation.upper))
    return replace(weights, n_iter=sum(result.n_iter for result in results)), dual


def central_start(problem: Problem) -> Array:
    """Weights that prefer no kernel, for kernels of any sizes.

    Each kernel contributes equally to a sum of mean self-value 1, or to a sum of squared distances of mean 1. The
    central point of the domain is used in a ball, where a sum of kernels has its optimum on the boundary, and for
    combinations that have not one parameter for each kernel.
    """
    bank = problem.bank
    inside = isinstance(problem.combination, ProductOfRBF | ScaledProfile)
    if (problem.domain.constrained and not inside) or problem.size != len(bank):
        return problem.start()
    if problem.sample_weight is None:
        s = np.ones(bank.shape[0])
    else:
        s = problem.sample_weight
    share = s / s.sum()
    sizes = bank.quad(share) if inside else bank.diagonal() @ share
    nonzero = sizes > 0
    if not nonzero.any():
        return problem.start()
    shares = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=nonzero)
    return problem.domain.feasible(shares / int(nonzero.sum()))


def is_program(problem: Problem) -> bool:
    """Whether the interior point method can solve the problem: a sum of kernels, a support program, a separable domain.

    Ridge regression of one target is such a program where alpha is not large.
    """
    if isinstance(problem.machine, RidgeMachine):
        is_support_program = problem.target.ndim == 1 and not problem.machine.reduced
    else:
        is_support_program = isinstance(problem.machine, SupportMachine)
    return is_support_program and isinstance(problem.combination, Linear) and as_separable(problem.domain) is not None


def interpolates(problem: Problem) -> bool:
    """Whether each step of the interpolated iteration at least halves the error: ridge regression, a sum of kernels.

    The domain must be a ball of norm >= 2, or have a squared penalty. The sizes of the kernels do not matter.
    """
    domain = problem.domain
    is_ridge_of_sum = isinstance(problem.machine, RidgeMachine) and problem.linear
    return is_ridge_of_sum and isinstance(domain, NormBall | Orthant) and domain.norm >= 2


def sum_of_kernels(
    problem: Problem, tol: float, max_iter: int, start: Start, observe: Observer
) -> tuple[Weights, DualSolution]:
    """A sum of kernels, by the interior point method; ridge regression as a support program of centred targets."""
    machine = problem.machine
    if not isinstance(machine, RidgeMachine):
        return support_mkl(problem, tol, max_iter, start, observe)
    targets = CentredTargets.of(problem.target, machine.fit_intercept, problem.sample_weight)
    centred = replace(problem, machine=RidgeSupport(alpha=machine.alpha), target=targets.target)
    weights, dual = support_mkl(centred, tol, max_iter, start, observe)
    return weights, replace(dual, intercept=targets.intercept)
