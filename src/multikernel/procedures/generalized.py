"""Generalised multiple kernel learning (Varma and Babu 2009): any differentiable kernel of the weights.

    min_{theta in D}  J(K(theta)) + r(theta),        J the value of a machine

The value has a gradient wherever the machine's solution is unique, so projected quasi-Newton steps solve the problem,
each with one machine. Where K is linear in theta the interior point method over weights and machine is faster.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks.threads import one_blas_thread
from multikernel.combinations import ProductOfRBF
from multikernel.machines import DualSolution, RidgeMachine, SupportMachine
from multikernel.optimizers.base import Observer
from multikernel.optimizers.quasi_newton import QuasiNewton
from multikernel.problem import Problem
from multikernel.procedures.base import Weights
from multikernel.procedures.ridge_program import RidgeSupport
from multikernel.procedures.support_mkl import outcome, support_mkl


def generalized_mkl(
    problem: Problem,
    tol: float = 1e-4,
    max_iter: int = 1000,
    starts: Sequence[Array] = (),
    warm: Any = None,
    observe: Observer | None = None,
) -> tuple[Weights, DualSolution]:
    """The weights with their certificate, and the machine's solution at them.

    Parameters
    ----------
    problem : Problem; for a product of Gaussians its bank holds squared distances
    tol : float, the relative duality gap to reach where K is linear in the weights, else the relative stationarity
    max_iter : int, machines, or Newton steps of the interior point method, at most from each start
    starts : arrays (m,), where to begin, ``central_start`` by default; the best point reached is returned
    warm : what the first machine may start from
    observe : called with an ``Event`` after each machine of the quasi-Newton method
    """
    problem.domain.check(problem.size)
    central = central_start(problem)
    begins = [problem.domain.feasible(start) for start in starts] or [central]
    with one_blas_thread(problem.bank.shape[0]):
        if problem.linear and is_program(problem):
            weights, dual = _linear(problem, problem.machine, tol, max_iter, begins[0])
        else:
            optimizer = QuasiNewton(tol=tol, max_iter=max_iter, typical=central)
            results = [optimizer.minimise(problem, begin, warm, observe) for begin in begins]
            weights, dual = outcome(min(results, key=lambda result: result.evaluation.upper))
            weights = replace(weights, n_iter=sum(result.n_iter for result in results))
    if not weights.values.any():
        warnings.warn(
            "generalised MKL: the penalty outweighs what the kernels explain, so every weight is 0 and the predictor "
            "is constant; lower the penalty, or give the losses more weight (a larger C, a smaller alpha).",
            stacklevel=2,
        )
    return (weights if problem.linear else replace(weights, gap=None, stationarity=weights.gap)), dual


def central_start(problem: Problem) -> Array:
    """Weights that prefer no kernel, whatever the kernels' sizes.

    Each has the same part in a sum of mean self-value 1, or in a sum of squared distances of mean 1. In a ball a sum
    of kernels starts at the domain's own central point, on the boundary, where the optimum is.
    """
    bank, product = problem.bank, isinstance(problem.combination, ProductOfRBF)
    if problem.domain.constrained and not product:
        return problem.start()
    n = bank.shape[0]
    sizes = bank.quad(np.full(n, 1.0 / n)) if product else bank.diagonal().mean(axis=1)
    used = sizes > 0
    if not used.any():
        return problem.start()
    parts = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=used)
    return problem.domain.feasible(parts / int(used.sum()))


def is_program(problem: Problem) -> bool:
    """Whether the machine is a support program of the interior point method: ridge regression of one target is."""
    machine = problem.machine
    if isinstance(machine, RidgeMachine):
        return machine.sample_weight is None and problem.target.ndim == 1
    return isinstance(machine, SupportMachine)


def _linear(problem: Problem, machine: Any, tol: float, max_iter: int, start: Array) -> tuple[Weights, DualSolution]:
    """A sum of kernels, by the interior point method."""
    bank, domain, target = problem.bank, problem.domain, problem.target
    if not isinstance(machine, RidgeMachine):
        return support_mkl(bank, replace(machine, tol=tol), domain, target, max_iter, start)
    mean = float(target.mean()) if machine.fit_intercept else 0.0
    weights, dual = support_mkl(
        bank, RidgeSupport(alpha=machine.alpha, tol=tol), domain, target - mean, max_iter, start
    )
    return weights, replace(dual, intercept=mean)
