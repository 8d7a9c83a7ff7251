"""Kernel weights and a support vector machine on the weighted kernel, learned together, by the way that is fastest.

    min_{d in D}  J(sum_k d_k K_k) + r(d),        J the value of a support vector machine

The interior point method finds weights and support vectors at once; the machine is then solved once more at the weights
found, without those that are zero, which gives exact zeros among the coefficients as well. That pair carries the
certificate; where it proves less than the interior point itself, the latter is returned. Beyond some thousand samples,
where a factorisation of order n costs more than many machines, an optimizer over machines takes the interior's place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from multikernel.banks import KernelBank
from multikernel.domains import Domain
from multikernel.kernels.base import Array
from multikernel.machines import DualSolution, SupportMachine, SupportProgram
from multikernel.procedures.base import Weights
from multikernel.procedures.interior import InteriorPoint, Saddle, WorkingSet, interior_point, lets_vanish

_SHARE = 0.05  # of the gap asked for: what the interior point method leaves where weights follow the scores smoothly
_INNER = 1e-6  # of the gap asked for: the machine's own gap enters the scores by its square root
_FINEST = 1e-11


def support_mkl(
    bank: KernelBank,
    machine: SupportMachine,
    domain: Domain,
    target: Array,
    max_iter: int = 200,
    start: Array | None = None,
    observe: Callable[[int, float], None] | None = None,
) -> tuple[Weights, DualSolution]:
    """The weights with their certificate, and the machine's solution at them.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    machine : its ``tol`` is the relative duality gap of the whole problem
    domain : where the weights live, with its penalty
    target : array (n,), as the machine wants it
    max_iter : int, Newton steps at most
    start : array (m,), weights of a neighbouring problem
    observe : called with the step and the relative gap reached
    """
    domain.check(len(bank))
    program = machine.program(target)
    # where weights vanish the machine's scores differ from the interior point's by the square root of its gap
    tol = max(machine.tol**2, _FINEST) if lets_vanish(domain, len(bank)) else _SHARE * machine.tol
    found = interior_point(Saddle(bank, program, domain), min(tol, _SHARE * machine.tol), max_iter, start, observe)
    pairs = _Pairs(bank, machine, program, domain)
    best = pairs.of_machine(found)
    if best.gap > machine.tol:
        best = min(best, pairs.of_interior(found), key=lambda pair: pair.gap)
    return best.answer(machine.tol, found)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Weights and coefficients, feasible, with the values that enclose the optimum."""

    weights: Array
    dual: DualSolution
    value: float
    upper: float
    bound: float

    @property
    def gap(self) -> float:
        return max(self.upper - self.bound, 0.0) / max(abs(self.upper), float(np.finfo(float).tiny))

    def answer(self, tol: float, found: InteriorPoint) -> tuple[Weights, DualSolution]:
        converged = self.gap <= tol
        weights = Weights(
            values=self.weights,
            objective=self.value,
            gap=self.gap,
            converged=converged,
            n_iter=found.n_iter,
            history=(*found.history, self.gap),
            warm=self.weights,
        )
        return weights, replace(self.dual, converged=converged)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The two pairs that an interior point offers."""

    bank: KernelBank
    machine: SupportMachine
    program: SupportProgram
    domain: Domain

    def of_machine(self, found: InteriorPoint) -> _Pair:
        """The machine's solution at the weights that are not zero."""
        weights = self.domain.feasible(np.where(found.active, found.weights, 0.0))
        working = self._working(weights)
        machine = replace(self.machine, tol=max(_INNER * self.machine.tol, 1e-3 * _FINEST))
        gram = working.work.combine(weights[working.index])
        return self._pair(weights, working, machine.solve_program(gram, self.program, found.a))

    def of_interior(self, found: InteriorPoint) -> _Pair:
        """The interior point itself: no coefficient is zero."""
        working = self._working(found.weights)
        gram = working.work.combine(found.weights[working.index])
        coef = self.program.coef(found.a)
        f = gram.multiply(coef)
        intercept = self.program.best_intercept(f)
        value = self.program.dual(found.a, float(coef @ f))
        gap = max(self.program.gap(found.a, f, intercept), 0.0) / max(abs(value), float(np.finfo(float).tiny))
        factor = np.sqrt(0.5 * self.program.scale) * coef
        dual = DualSolution(coef, intercept, value, factor, gap, True, found.n_iter, found.a)
        return self._pair(found.weights, working, dual)

    def _working(self, weights: Array) -> WorkingSet:
        return WorkingSet.of(self.bank, np.flatnonzero(weights), True)

    def _pair(self, weights: Array, working: WorkingSet, dual: DualSolution) -> _Pair:
        q = 0.5 * self.program.scale * working.forms(dual.coef, working.work.quad(dual.coef))
        penalty = self.domain.penalty(weights)
        slack = dual.gap * abs(dual.value) / max(1.0 - dual.gap, float(np.finfo(float).tiny))
        return _Pair(
            weights=weights,
            dual=dual,
            value=dual.value + penalty,
            upper=dual.value + slack + penalty,
            bound=dual.value + float(weights @ q) - self.domain.support(q),
        )
