"""EasyMKL: kernel weights from the margin between two hulls (Aiolli and Donini 2015; Donini and Aiolli 2017).

    min_g  (1 - lam) g'Y (sum_s K_s) Y g + lam |g|^2,    g a probability vector on each class          (their eq. 1)

With the solution g the weight of kernel s is the squared distance of the two hull points in its feature space,

    d_s = g'Y K_s Y g >= 0,    weights = d / sum(d).                                                    (their eq. 2)

The problem has the sum of the kernels, not their mean, so that the meaning of lam depends on the number of kernels, as
in the papers. The paper scales d to 2-norm 1; here the sum is 1, so that the sum of normalised kernels is normalised.

That is not the problem from which the paper starts, the largest margin of a kernel whose weights have 2-norm 1:

    max_{|w|_2 <= 1} min_g  (1 - lam) g'Y (sum_s w_s K_s) Y g + lam |g|^2  =  min_g  (1 - lam) |d(g)|_2 + lam |g|^2

where the quadratic program above has |d|_1. It is convex in g and concave in w, w = d / |d|_2 at its saddle point;
``max_min`` solves it to a duality gap by some five margin problems.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from multikernel._floats import SINGULAR, TINY
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.banks import Gram, KernelBank
from multikernel.certificate import Certificate, relative
from multikernel.combinations import Linear
from multikernel.domains import NormBall
from multikernel.machines import MarginMachine
from multikernel.observer import Observer, silent
from multikernel.optimizers.quasi_newton import QuasiNewton
from multikernel.problem import Problem
from multikernel.procedures.base import Weights, outcome


def easymkl(
    bank: KernelBank, y: Array, machine: MarginMachine, start: Array | None = None, total: Gram | None = None
) -> Weights:
    """The weights of EasyMKL.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    y : array (n,) of -1 and +1
    machine : MarginMachine, which holds lam
    start : array (n,), the hull vector g of an earlier run
    total : the sum of the kernels, where it is known, such as from a run with another lam

    Raises
    ------
    TypeError : for another machine
    """
    if not isinstance(machine, MarginMachine):
        raise TypeError(
            "easymkl needs a MarginMachine, whose solution is the margin between two hulls, and the machine is a "
            f"{type(machine).__name__}"
        )
    hulls = machine.solve(bank.combine(np.ones(len(bank))) if total is None else total, y, start)
    return Weights(
        values=_shares(bank, hulls.coef),
        objective=-hulls.value,
        certificate=Certificate("duality gap", hulls.gap),
        converged=hulls.converged,
        n_iter=hulls.n_iter,
        history=hulls.history,
        variables=hulls.warm,
        bound=-hulls.upper,
    )


def max_min(
    bank: KernelBank, y: Array, machine: MarginMachine, start: Array | None = None, observe: Observer = silent
) -> Weights:
    """The weights of 2-norm 1 whose kernel has the largest margin, scaled to sum 1.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    y : array (n,) of -1 and +1
    machine : MarginMachine, which holds lam, the relative gap to reach, and the steps of each margin problem
    start : array (n,), the hull vector g of an earlier run
    observe : called after each margin problem
    """
    quick = easymkl(bank, y, machine, start)
    hulls = cast(Array, quick.variables)
    if machine.lam == 0.0 and _meet(bank, bank.quad(y * hulls)):
        return quick  # the margin is 0 for all weights
    # where the requested gap is below rounding, more steps in a margin problem change nothing
    inner_machine = replace(machine, max_iter=min(machine.max_iter, 1000 * len(y)))
    problem = Problem(bank, Linear(), inner_machine, NormBall(2.0), y)
    first = quick.values / float(np.linalg.norm(quick.values))
    weights, dual = outcome(QuasiNewton(tol=machine.tol, max_iter=300).minimise(problem, first, hulls, observe))
    if machine.lam == 1.0:
        shares = quick.values
    else:
        shares = weights.values / float(weights.values.sum())
    assert weights.bound is not None
    assert weights.objective is not None
    # a maximum: no margin is negative, and the bound is above
    margin = max(-weights.objective, 0.0)
    bound = -weights.bound
    gap = Certificate("duality gap", relative(bound - margin, margin))
    converged = gap.reached(machine.tol)
    return replace(
        weights,
        values=shares,
        objective=margin,
        certificate=gap,
        converged=converged,
        variables=dual.warm,
        bound=bound,
    )


def _shares(bank: KernelBank, coef: Array) -> Array:
    """d / sum(d) for the hull points of the coefficients Y g; equal weights, with a warning, where the hulls meet."""
    distances = np.maximum(bank.quad(coef), 0.0)
    if _meet(bank, distances):
        warn_user(
            "EasyMKL: the hulls of the two classes meet in every kernel, so the margin does not depend on the weights; "
            "uniform weights are used. A larger lam keeps the hulls apart."
        )
        distances = np.ones(len(bank))
    return np.asarray(distances / distances.sum())


def _meet(bank: KernelBank, distances: Array) -> bool:
    """Whether the distance of the hulls is not larger than rounding of the self-values."""
    size = max(float(bank.diagonal().mean(axis=1).sum()), TINY)
    return not float(distances.sum()) > SINGULAR * size
