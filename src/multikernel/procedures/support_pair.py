"""A support vector machine with learned weights as a saddle, and the feasible pairs that an interior point offers.

A pair of weights d and coefficients encloses the optimum: the primal value at the pair from above, the dual bound of
the coefficients over all kernels from below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.machines import DualSolution, SupportMachine
from multikernel.machines.support.certified import roots, solution
from multikernel.machines.support.coefficients import feasible
from multikernel.optimizers.needs import need_program, need_separable
from multikernel.problem import Problem
from multikernel.procedures.base import Weights
from multikernel.procedures.interior import Saddle


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
            warm=self.dual.warm,
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

    def of_machine(self, weights: Array, a: Array) -> SupportPair:
        """The machine's solution at these weights, from these variables on."""
        weights = self.saddle.domain.feasible(weights)
        gram = self.saddle.bank.combine(weights)
        dual = self.machine.polished(gram, self.saddle.program, a, self.tol)
        f, scores = gram.multiply(dual.coef), self.saddle.bank.quad(dual.coef)
        return self._pair(weights, roots(gram.diagonal()), dual, f, scores)

    def at(self, weights: Array, a: Array, n_iter: int = 0) -> SupportPair:
        """Weights and variables as they are, but for what makes them feasible: no machine is solved."""
        bank, program = self.saddle.bank, self.saddle.program
        weights, a = self.saddle.domain.feasible(weights), feasible(program, np.clip(a, 0.0, program.upper))
        coef = program.coef(a)
        if weights.all():
            products = bank.apply(coef[:, None])[:, :, 0]  # one pass for both, and on the columns of the support
            f, scores, sizes = weights @ products, products @ coef, roots(weights @ bank.diagonal())
        else:
            gram = bank.combine(weights)
            f, scores, sizes = gram.multiply(coef), bank.quad(coef), roots(gram.diagonal())
        return self._pair(weights, sizes, solution(program, a, f, sizes, self.tol, n_iter), f, scores)

    def _pair(self, weights: Array, sizes: Array, dual: DualSolution, f: Array, scores: Array) -> SupportPair:
        """The solution at these weights, with f = sum_k weights_k K_k coef and the scores of all kernels.

        ``sizes`` are the roots of the combined kernel's self-values.
        """
        program, penalty = self.saddle.program, self.saddle.domain.penalty(weights)
        excess = max(program.gap(dual.warm, f, dual.intercept), 0.0)
        excess += program.hidden(dual.warm, f, dual.intercept, sizes)
        # a machine that knows its rounding tells a value below that of its variables, and a bound is no better than it
        primal = max(program.dual(dual.warm, float(dual.coef @ f)) + excess, dual.upper)
        bound = min(self.saddle.bound(dual.warm, scores), dual.value + penalty)
        certificate = Certificate.gap(primal + penalty, bound, self.saddle.floor)
        return SupportPair(weights, replace(dual, upper=primal), f, dual.value + penalty, certificate)
