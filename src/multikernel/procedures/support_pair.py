"""A support vector machine with learned weights as a saddle, and the feasible pairs that an interior point offers.

A pair of weights d and coefficients encloses the optimum: the primal value at the pair from above, the dual bound of
the coefficients over all kernels from below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.certificate import Certificate, relative
from multikernel.machines import DualSolution, SupportMachine
from multikernel.machines.support.certified import roots
from multikernel.optimizers.needs import need_program, need_separable
from multikernel.problem import Problem
from multikernel.procedures.base import Weights
from multikernel.procedures.interior import InteriorPoint, Saddle, WorkingSet

_POLISH = 1000  # steps for each variable that a last solution may take: rounding may keep the last digits from it


@dataclass(frozen=True, eq=False)
class SupportPair:
    """Weights and a machine's solution, both feasible; its function values f without the intercept; its value."""

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
    """The problem on all samples, the machine that its program is of, the relative duality gap to reach."""

    saddle: Saddle
    machine: SupportMachine
    tol: float

    @classmethod
    def of(cls, problem: Problem, tol: float) -> SupportSaddle:
        """The problem as a saddle; TypeError where it is none."""
        machine, domain = need_program("support_mkl", problem), need_separable("support_mkl", problem)
        program = machine.program(problem.target, problem.sample_weight)
        return cls(Saddle(problem.bank, program, domain), machine, tol)

    def of_machine(self, found: InteriorPoint) -> SupportPair:
        """The machine's solution on the active kernels."""
        weights = self.saddle.domain.feasible(np.where(found.active, found.weights, 0.0))
        working = self._working(weights)
        gram = working.work.combine(weights[working.index])
        machine = self.machine.polishing(self.tol)
        machine = replace(machine, max_iter=min(machine.max_iter, _POLISH * len(found.a)))
        dual = machine.solve_program(gram, self.saddle.program, found.a)
        return self._pair(weights, working, gram, dual, gram.multiply(dual.coef))

    def of_interior(self, found: InteriorPoint) -> SupportPair:
        """The interior point itself: no coefficient is zero."""
        working = self._working(found.weights)
        program = self.saddle.program
        coef = program.coef(found.a)
        gram = working.work.combine(found.weights[working.index])
        f = gram.multiply(coef)
        intercept = program.best_intercept(f)
        value = program.dual(found.a, float(coef @ f))
        excess = max(program.gap(found.a, f, intercept), 0.0)
        factor = np.sqrt(0.5 * program.scale) * coef
        gap = relative(excess, value + excess)
        dual = DualSolution(coef, intercept, value, value + excess, factor, gap, True, found.n_iter, found.a)
        return self._pair(found.weights, working, gram, dual, f)

    def _working(self, weights: Array) -> WorkingSet:
        return WorkingSet.of(self.saddle.bank, np.flatnonzero(weights), True)

    def _pair(self, weights: Array, working: WorkingSet, gram: Gram, dual: DualSolution, f: Array) -> SupportPair:
        """The solution at these weights, with f = sum_k weights_k K_k coef."""
        value = dual.value + self.saddle.domain.penalty(weights)
        program, sizes = self.saddle.program, roots(gram.diagonal())
        excess = max(program.gap(dual.warm, f, dual.intercept), 0.0)
        upper = value + excess + program.hidden(dual.warm, f, dual.intercept, sizes)
        scores = working.scores(dual.coef, working.work.quad(dual.coef))
        bound = self.saddle.bound(dual.warm, scores)
        return SupportPair(weights, dual, f, value, Certificate.gap(upper, bound, self.saddle.floor))
