"""A support vector machine with learned weights as a saddle, and the feasible pairs that an interior point offers.

A pair of weights d and coefficients encloses the optimum: the primal value at the pair from above, the dual bound of
the coefficients over all kernels from below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.certificate import Certificate, relative
from multikernel.domains import Separable
from multikernel.machines import DualSolution, SupportMachine, SupportProgram
from multikernel.optimizers.needs import need_program, need_separable
from multikernel.problem import Problem
from multikernel.procedures.base import Weights
from multikernel.procedures.interior import InteriorPoint, Saddle, WorkingSet

_POLISH = 1000  # steps for each variable that a last solution may take: rounding may keep the last digits from it


@dataclass(frozen=True, eq=False)
class SupportPair:
    """Weights and a machine's solution, both feasible.

    Parameters
    ----------
    weights : array (m,)
    dual : DualSolution
    f : array (n,), the function values without the intercept
    value : float, of the machine's solution, with the penalty of the weights
    certificate : Certificate, how far the value may be from the optimum
    """

    weights: Array
    dual: DualSolution
    f: Array
    value: float
    certificate: Certificate

    def answer(self, tol: float, history: list[float]) -> tuple[Weights, DualSolution]:
        """With the gaps of the steps that led here."""
        converged = self.certificate.reached(tol)
        weights = Weights(
            values=self.weights,
            objective=self.value,
            certificate=self.certificate,
            converged=converged,
            n_iter=len(history),
            history=(*history, self.certificate.value),
            warm=self.weights,
        )
        return weights, replace(self.dual, converged=converged)


@dataclass(frozen=True, eq=False)
class SupportSaddle:
    """The problem: kernels, machine with its program, domain.

    Parameters
    ----------
    bank : KernelBank
    machine : SupportMachine, whose program ``program`` is
    program : SupportProgram
    domain : Separable
    tol : float, the relative duality gap to reach
    """

    bank: KernelBank
    machine: SupportMachine
    program: SupportProgram
    domain: Separable
    tol: float

    @classmethod
    def of(cls, problem: Problem, tol: float) -> SupportSaddle:
        """The problem as a saddle; TypeError where it is none."""
        machine, domain = need_program("support_mkl", problem), need_separable("support_mkl", problem)
        program = machine.program(problem.target, problem.sample_weight)
        return cls(problem.bank, machine, program, domain, tol)

    @cached_property
    def saddle(self) -> Saddle:
        """As the interior point method takes it."""
        return Saddle(self.bank, self.program, self.domain)

    def of_machine(self, found: InteriorPoint) -> SupportPair:
        """The machine's solution on the active kernels."""
        weights = self.domain.feasible(np.where(found.active, found.weights, 0.0))
        working = self._working(weights)
        gram = working.work.combine(weights[working.index])
        machine = self.machine.polishing(self.tol)
        machine = replace(machine, max_iter=min(machine.max_iter, _POLISH * len(found.a)))
        dual = machine.solve_program(gram, self.program, found.a)
        return self._pair(weights, working, dual, gram.multiply(dual.coef))

    def of_interior(self, found: InteriorPoint) -> SupportPair:
        """The interior point itself: no coefficient is zero."""
        working = self._working(found.weights)
        coef = self.program.coef(found.a)
        f = working.work.combine(found.weights[working.index]).multiply(coef)
        intercept = self.program.best_intercept(f)
        value = self.program.dual(found.a, float(coef @ f))
        gap = relative(self.program.gap(found.a, f, intercept), value)
        factor = np.sqrt(0.5 * self.program.scale) * coef
        dual = DualSolution(coef, intercept, value, factor, gap, True, found.n_iter, found.a)
        return self._pair(found.weights, working, dual, f)

    def _working(self, weights: Array) -> WorkingSet:
        return WorkingSet.of(self.bank, np.flatnonzero(weights), True)

    def _pair(self, weights: Array, working: WorkingSet, dual: DualSolution, f: Array) -> SupportPair:
        """The solution at these weights, with f = sum_k weights_k K_k coef."""
        value = dual.value + self.domain.penalty(weights)
        upper = value + max(self.program.gap(dual.warm, f, dual.intercept), 0.0)
        scores = working.scores(dual.coef, working.work.quad(dual.coef))
        bound = self.saddle.bound(dual.warm, scores)
        return SupportPair(weights, dual, f, value, self.saddle.certificate(upper, bound))
