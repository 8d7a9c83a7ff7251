"""A support vector machine with learned weights as a saddle problem, and its feasible pairs.

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
from multikernel.procedures.base import Weights, within
from multikernel.procedures.interior import Saddle


@dataclass(frozen=True, eq=False)
class SupportPair:
    """Weights and a machine's solution, both feasible, which enclose the optimum.

    Parameters
    ----------
    weights : array (m,)
    dual : the machine's solution at the weights, or near it
    f : array (n,), function values of the machine without the intercept
    value : float, the value of the machine plus the penalty
    upper, bound : float, values that enclose the optimum
    witness : array (N,), the variables that prove the bound
    scores : array (m,), b'K_k b of all kernels at the solution
    floor : float, a value that counts as zero
    """

    weights: Array
    dual: DualSolution
    f: Array
    value: float
    upper: float
    bound: float
    witness: Array
    scores: Array
    floor: float

    @property
    def certificate(self) -> Certificate:
        """The relative duality gap."""
        return Certificate.gap(self.upper, self.bound, self.floor)

    def better(self, other: SupportPair | None) -> SupportPair:
        """The pair with the smaller gap."""
        if other is None or self.certificate.value < other.certificate.value:
            return self
        return other

    def joined(self, other: SupportPair | None) -> SupportPair:
        """The pair of the lower upper value, with the higher bound of the two."""
        if other is None:
            return self
        low = self if self.upper < other.upper else other
        high = self if self.bound > other.bound else other
        return replace(low, bound=high.bound, witness=high.witness)

    def answer(self, tol: float, history: list[float]) -> tuple[Weights, DualSolution]:
        """The weights and the machine; ``history`` has the gaps of earlier steps."""
        weights = Weights(
            values=self.weights,
            objective=self.upper,
            certificate=self.certificate,
            converged=self.certificate.reached(tol),
            n_iter=len(history),
            history=(*history, self.certificate.value),
            witness=None if self.witness is self.dual.warm else self.witness,
            bound=self.bound,
        )
        return weights, within(weights, self.dual)


@dataclass(frozen=True, eq=False)
class SupportSaddle:
    """The problem on all samples, the machine of its program, and the relative duality gap to reach."""

    saddle: Saddle
    machine: SupportMachine
    tol: float

    @classmethod
    def of(cls, problem: Problem, tol: float) -> SupportSaddle:
        """The problem as a saddle problem; TypeError where it is none."""
        machine = need_program("support_mkl", problem)
        domain = need_separable("support_mkl", problem)
        program = machine.program(problem.target, problem.sample_weight)
        return cls(Saddle(problem.bank, program, domain), machine, tol)

    def of_machine(self, weights: Array, a: Array, rough: float | None = None) -> SupportPair:
        """The machine's solution at these weights, from these variables on: refined, or only to a ``rough`` gap."""
        weights = self.saddle.domain.feasible(weights)
        gram = self.saddle.bank.combine(weights)
        if rough is None:
            dual = self.machine.refined(gram, self.saddle.program, a, self.tol)
        else:
            dual = replace(self.machine, tol=rough).solve_program(gram, self.saddle.program, a)
        f = gram.multiply(dual.coef)
        scores = self.saddle.bank.quad(dual.coef)
        return self.pair(weights, roots(gram.diagonal()), dual, f, scores)

    def at(self, weights: Array, a: Array, n_iter: int = 0, witness: Array | None = None) -> SupportPair:
        """The pair of these weights and variables, after changes that make both feasible: no machine is solved.

        ``witness`` are other variables, which may prove a higher bound.
        """
        bank = self.saddle.bank
        program = self.saddle.program
        weights = self.saddle.domain.feasible(weights)
        points = [self._feasible(point) for point in (a, witness) if point is not None]
        coefs = np.stack([program.coef(point) for point in points], axis=1)
        if weights.all():
            products = bank.apply(coefs)  # one pass for both, and on the columns of the support
            f = weights @ products[:, :, 0]
            sizes = roots(weights @ bank.diagonal())
            scores = np.einsum("knt,nt->tk", products, coefs)
        else:
            gram = bank.combine(weights)
            f = gram.multiply(coefs[:, 0])
            scores = bank.quads(coefs).T
            sizes = roots(gram.diagonal())
        pair = self.pair(weights, sizes, solution(program, points[0], f, sizes, self.tol, n_iter), f, scores[0])
        if witness is None:
            return pair
        return self.proved(pair, points[1], scores[1], sizes)

    def pair(self, weights: Array, sizes: Array, dual: DualSolution, f: Array, scores: Array) -> SupportPair:
        """The solution at these weights, with f = sum_k weights_k K_k coef and the scores of all kernels.

        ``sizes`` are the roots of the combined kernel's self-values.
        """
        program = self.saddle.program
        penalty = self.saddle.domain.penalty(weights)
        excess = max(program.gap(dual.warm, f, dual.intercept), 0.0)
        excess += program.hidden(dual.warm, f, dual.intercept, sizes)
        # a machine's value is lower than that of its variables by a rounding error bound; no bound is above that value
        primal = max(program.dual(dual.warm, float(dual.coef @ f)) + excess, dual.upper)
        value = dual.value + penalty
        bound = self.saddle.bound(dual.warm, scores)
        return SupportPair(
            weights=weights,
            dual=replace(dual, upper=primal),
            f=f,
            value=value,
            upper=primal + penalty,
            bound=min(bound, value),
            witness=dual.warm,
            scores=scores,
            floor=self.saddle.floor,
        )

    def proved(self, pair: SupportPair, a: Array, scores: Array, sizes: Array) -> SupportPair:
        """The pair with the bound that other feasible variables and their scores prove, if it is higher."""
        bound = self.saddle.bound(a, scores) - self.saddle.program.rounding(a, sizes)
        if bound > pair.bound:
            return replace(pair, bound=bound, witness=a)
        return pair

    def _feasible(self, a: Array) -> Array:
        return feasible(self.saddle.program, np.clip(a, 0.0, self.saddle.program.upper))
