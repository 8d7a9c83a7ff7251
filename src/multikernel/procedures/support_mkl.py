"""Kernel weights and a support vector machine on the weighted kernel, learned together, by the way that is fastest.

    min_{d in D}  J(sum_k d_k K_k) + r(d),        J the value of a support vector machine

The interior point method finds weights and support vectors at once, on the samples that may become support vectors: at
first those that are, or nearly are, at equal weights. The machine is then solved at the weights found, on all samples,
without the kernels of weight zero; that pair has exact zeros and carries the certificate. Samples that it makes support
vectors join the next round, of which there are seldom more than two; once all samples take part the interior point
itself, if it proves more, is the answer. Where more samples take part than a factorisation should have rows, an
optimizer over machines takes over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import Certificate, relative
from multikernel.domains import Domain, NormBall, Separable, Simplex
from multikernel.machines import DualSolution, SupportMachine, SupportProgram
from multikernel.observer import Observer, silent
from multikernel.optimizers import BlockNorm, LevelMethod, Optimizer, ProjectedGradient
from multikernel.optimizers.needs import need_program, need_separable
from multikernel.problem import Problem
from multikernel.procedures.base import Weights, outcome
from multikernel.procedures.interior import InteriorPoint, Saddle, WorkingSet, interior_point

_SHARE = 0.05  # of the gap asked for: what the interior point method leaves at most
_FINEST = 1e-11
_POLISH = 1000  # steps for each variable that a last solution may take: rounding may keep the digits from it
_LARGE = 8000  # samples beyond which a factorisation costs more than the machines that an optimizer solves
_FEW_SAMPLES = 1000  # up to here all samples take part
_MOST = 0.7  # of the samples: where more would take part, all do
_ROUGH = 1e-2  # gap of the machine that chooses the first samples


def support_mkl(
    problem: Problem, tol: float = 1e-3, max_iter: int = 200, start: Array | None = None, observe: Observer = silent
) -> tuple[Weights, DualSolution]:
    """The weights with their certificate, and the machine's solution at them.

    Parameters
    ----------
    problem : Problem of a sum of kernels and a SupportMachine, over a separable domain
    tol : float > 0, the relative duality gap to reach
    max_iter : int, Newton steps at most
    start : array (m,), weights of a neighbouring problem
    observe : told of each step

    Raises
    ------
    TypeError : for a machine without a support program, and for a combination or a domain of another kind; the message
        names a way that works
    """
    pairs = _Pairs.of(problem, tol)
    problem.domain.check(len(problem.bank))
    with one_blas_thread(problem.bank.shape[0]):
        return _solved(problem, pairs, tol, max_iter, start, observe)


def _solved(
    problem: Problem, pairs: _Pairs, tol: float, max_iter: int, start: Array | None, observe: Observer
) -> tuple[Weights, DualSolution]:
    n = pairs.program.n
    # the machine's scores differ from the interior point's by the square root of its gap; digits cost a step or two
    inner = min(max(0.01 * tol**2, _FINEST), _SHARE * tol)
    rows, best = pairs.first_rows(start), None
    history: list[float] = []
    trial = len(rows) < n  # whether the samples that take part are a guess
    while True:
        if len(rows) > _LARGE:
            optimizer = _optimizer(problem.domain)(tol=tol, max_iter=max_iter)
            return outcome(optimizer.minimise(problem, start, observe=observe))
        found = pairs.interior(rows, _ROUGH if trial else inner, max_iter - len(history), start, observe)
        history += found.history
        pair = pairs.of_machine(found)
        best = pair if best is None or pair.certificate.value < best.certificate.value else best
        if best.certificate.reached(tol) or len(rows) == n or len(history) >= max_iter:
            break
        start = found.weights if found.weights.any() else start
        more = pairs.more_rows(rows, pair)
        rows = more if trial or len(more) > len(rows) else np.arange(n)
        trial = False
    if not best.certificate.reached(tol):
        best = min(best, pairs.of_interior(found), key=lambda pair: pair.certificate.value)
    return best.answer(tol, history)


def _optimizer(domain: Domain) -> type[Optimizer]:
    """The optimizer over machines that needs the fewest of them."""
    if isinstance(domain, Simplex):
        return LevelMethod
    around_zero = isinstance(domain, NormBall) and not np.any(domain.center)
    return BlockNorm if around_zero else ProjectedGradient


@dataclass(frozen=True, eq=False)
class _Pair:
    """Weights and coefficients, feasible, with their value and how far it may be from the optimum; f without b."""

    weights: Array
    dual: DualSolution
    f: Array
    value: float
    certificate: Certificate

    def answer(self, tol: float, history: list[float]) -> tuple[Weights, DualSolution]:
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
class _Pairs:
    """The samples that take part in the interior point method, and the two pairs that its result offers."""

    bank: KernelBank
    machine: SupportMachine
    program: SupportProgram
    domain: Separable
    tol: float

    @classmethod
    def of(cls, problem: Problem, tol: float) -> _Pairs:
        """The problem as a saddle; TypeError where it is none."""
        machine, domain = need_program("support_mkl", problem), need_separable("support_mkl", problem)
        program = machine.program(problem.target, problem.sample_weight)
        return cls(problem.bank, machine, program, domain, tol)

    @cached_property
    def saddle(self) -> Saddle:
        """The problem on all samples."""
        return Saddle(self.bank, self.program, self.domain)

    def first_rows(self, start: Array | None) -> Array:
        """The support vectors at a neighbour's or at equal weights, and half as many samples that are nearly so."""
        n = self.program.n
        if n <= _FEW_SAMPLES or not self.bank.local:
            return np.arange(n)
        weights = start if start is not None and start.any() else self.domain.start(len(self.bank))
        gram = self.bank.combine(weights)
        rough = replace(self.machine, tol=_ROUGH).solve_program(gram, self.program)
        return self._near(rough, gram.multiply(rough.coef))

    def more_rows(self, rows: Array, pair: _Pair) -> Array:
        """These samples and those that matter at the pair."""
        near = self._near(pair.dual, pair.f)
        return np.union1d(rows, near) if len(near) < self.program.n else near

    def _near(self, dual: DualSolution, f: Array) -> Array:
        """The samples with the largest losses to come, at least half as many again as there are support vectors."""
        n, program = self.program.n, self.program
        slack = (program.linear - program.sign * (f + dual.intercept)[program.sample]).reshape(-1, n).max(axis=0)
        slack[dual.coef != 0] = np.inf
        most = int(1.5 * np.count_nonzero(dual.coef)) + _FEW_SAMPLES // 10
        return np.arange(n) if most > _MOST * n else np.sort(np.argsort(-slack, kind="stable")[:most])

    def interior(
        self,
        rows: Array,
        tol: float,
        max_iter: int,
        start: Array | None,
        observe: Observer,
    ) -> InteriorPoint:
        """The interior point method on these samples; the others' variables are zero."""
        if len(rows) == self.program.n:
            return interior_point(self.saddle, tol, max_iter, start, observe)
        few = Saddle(self.bank.block(rows, rows).compact(), self.program.restricted(rows), self.domain)
        found = interior_point(few, tol, max_iter, start, observe)
        a = np.zeros(len(self.program.sign))
        a[self.program.variables(rows)] = found.a
        return replace(found, a=a)

    def of_machine(self, found: InteriorPoint) -> _Pair:
        """The machine's solution at the weights that are not zero."""
        weights = self.domain.feasible(np.where(found.active, found.weights, 0.0))
        working = self._working(weights)
        gram = working.work.combine(weights[working.index])
        machine = self.machine.polishing(self.tol)
        machine = replace(machine, max_iter=min(machine.max_iter, _POLISH * len(found.a)))
        dual = machine.solve_program(gram, self.program, found.a)
        return self._pair(weights, working, dual, gram.multiply(dual.coef))

    def of_interior(self, found: InteriorPoint) -> _Pair:
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

    def _pair(self, weights: Array, working: WorkingSet, dual: DualSolution, f: Array) -> _Pair:
        """The solution at these weights, with f = sum_k weights_k K_k coef."""
        value = dual.value + self.domain.penalty(weights)
        upper = value + max(self.program.gap(dual.warm, f, dual.intercept), 0.0)
        bound = self.saddle.bound(dual.warm, working.scores(dual.coef, working.work.quad(dual.coef)))
        return _Pair(weights, dual, f, value, self.saddle.certificate(upper, bound))
