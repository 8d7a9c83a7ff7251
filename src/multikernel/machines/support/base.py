"""Support vector machines: the solution of the quadratic program that they share.

Pairwise and Newton steps alternate (``ascent``) until the certificate is small enough: the difference of primal and
dual value, with a fresh gradient and the intercept that makes the primal smallest, relative to the primal. On a matrix
that is not stored the program is solved on a working set of samples (``working_samples``).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from multikernel._arrays import part_of
from multikernel._parameters import Count, Positive
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.banks import FactorGram, Gram
from multikernel.banks.factor_gram import few_features
from multikernel.certificate import FINEST_GAP, NO_PROGRESS
from multikernel.machines.base import DualSolution, Machine, check_gram, out_of_time
from multikernel.machines.sample_blocks import BlockMethods, over_blocks
from multikernel.machines.support.ascent import ascent
from multikernel.machines.support.certified import certified, roots, solution, value_floor, violations, within_rounding
from multikernel.machines.support.factored import FactoredProgram
from multikernel.machines.support.many import ManySamples
from multikernel.machines.support.program import SupportProgram
from multikernel.machines.working_samples import (
    TOLERATED,
    Certified,
    first_samples,
    largest_block,
    on_working_samples,
)
from multikernel.tuning import SYSTEM_VALUES

# n q^2: if it is larger, passes over q features are tried before systems of them. With 4,000 to 40,000 samples and 200
# features passes took a third to a thirtieth of the time with C up to 1, and as long with C = 100 and a gap of 1e-6.
_SYSTEM = 1e8
_REFINED = 1e-6  # gap of a last solution, relative to the gap of the problem


@dataclass(frozen=True, kw_only=True)
class SupportMachine(Machine):
    """A machine whose inner problem is a ``SupportProgram``.

    Parameters
    ----------
    tol : float, the relative duality gap to reach
    max_iter : int, how many pairwise steps and Newton steps at most
    """

    tol: Positive = 1e-3
    max_iter: Count = 10_000_000

    @abstractmethod
    def program(self, target: Array, sample_weight: Array | None = None) -> SupportProgram:
        """The program for a target of shape (n,), with weights of the samples' losses.

        Raises
        ------
        ValueError : for a target or weights that the machine cannot take
        """

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        """Solve for a target of shape (n,); ``warm`` has the program's variables at an earlier solution."""
        return self.solve_program(gram, self.program(target, sample_weight), warm)

    def with_tolerance(self, tol: float) -> Self:
        return replace(self, tol=tol)

    def solve_program(self, gram: Gram, program: SupportProgram, warm: Array | None = None) -> DualSolution:
        """Solve a program returned by ``program``, from variables (N,); those of another shape are not used."""
        check_gram(gram, program.n)
        if not gram.stored and program.total == 0.0:  # few samples may not reach a sum that is not zero
            return self._on_working_samples(gram, program, warm)
        many = self._many_samples(gram, program)
        if many is not None:
            return many.solve(warm, self.max_iter)
        root = gram.root
        if root is not None:
            return FactoredProgram(program, root, self.tol).solve(warm, self.max_iter)
        return self._on_matrix(gram.dense(), program, warm)

    def _on_matrix(self, K: Array, program: SupportProgram, warm: Array | None) -> DualSolution:
        """Solve on a stored matrix, by rounds of pairwise and Newton steps."""
        K = np.ascontiguousarray(K, dtype=np.float32 if K.dtype == np.float32 else np.float64)
        b = program.sign * program.feasible(warm)
        sizes = roots(np.diagonal(K))
        floor = value_floor(program, sizes)
        current, gradient = certified(K, program, b, sizes, self.tol)
        if current.converged:
            return current
        best = current
        stalled = 0  # rounds in a row without progress
        buffer = np.empty(min(len(b) ** 2, SYSTEM_VALUES))
        while not best.converged and current.n_iter < self.max_iter and not out_of_time(program.n):
            remaining = self.max_iter - current.n_iter
            b, steps = ascent(K, program, b, gradient, sizes, floor / program.scale, self.tol, remaining, buffer)
            current, gradient = certified(K, program, b, sizes, self.tol, current.n_iter + steps, current.history)
            stalled = 0 if current.gap < NO_PROGRESS * best.gap else stalled + 1
            if current.gap <= best.gap:
                best = current
            best = replace(best, n_iter=current.n_iter, history=current.history)
            if stalled > 0 and within_rounding(K, program, current, gradient):
                return replace(best, converged=True)
            if steps == 0 or stalled == 5:
                return best
        return best

    def _many_samples(self, gram: Gram, program: SupportProgram) -> ManySamples | None:
        """The program on features for which a system would cost more than passes; None for another matrix."""
        if not isinstance(gram, FactorGram) or not gram.by_rows:
            return None
        n_weighted = float(np.count_nonzero(gram.weights))
        if not few_features(int(n_weighted), program.n) or program.n * n_weighted * n_weighted < _SYSTEM:
            return None
        return ManySamples(program, gram.F, gram.weights, gram.diagonal(), self.tol)

    def refined(self, gram: Gram, program: SupportProgram, start: Array, tol: float) -> DualSolution:
        """An accurate solution from nearly optimal variables, for a problem that needs a gap of ``tol``.

        The error of the kernels' scores is the square root of the machine's gap, so a far smaller gap is required.
        Rounding may make it unreachable: the number of steps is limited, and a gap of ``tol`` counts as converged.
        """
        machine = replace(self, tol=max(_REFINED * tol, FINEST_GAP), max_iter=min(self.max_iter, 1000 * len(start)))
        solution = machine.solve_program(gram, program, start)
        return replace(solution, converged=solution.converged or solution.gap <= tol)

    def polished(self, gram: Gram, program: SupportProgram, start: Array, tol: float) -> DualSolution:
        """The former name of ``refined``."""
        warn_user("machine.polished is now machine.refined", FutureWarning)
        return self.refined(gram, program, start, tol)

    def _on_working_samples(self, gram: Gram, program: SupportProgram, warm: Array | None) -> DualSolution:
        """Solve without the samples whose variables are zero and would not gain by rising."""
        sizes = roots(gram.diagonal())
        start = None
        if warm is not None and warm.shape == program.upper.shape:
            start = program.feasible(warm)

        def inner(gram_of_rows: Gram, rows: Array, a: Array | None, tol: float, steps: int) -> tuple[Array, int]:
            variables = program.variables(rows)
            machine = replace(self, tol=tol, max_iter=steps)
            solution_of_rows = machine.solve_program(gram_of_rows, program.restricted(rows), part_of(a, variables))
            all_variables = np.zeros(len(program.sign))
            all_variables[variables] = solution_of_rows.warm
            return all_variables, solution_of_rows.n_iter

        def certify(rows: Array, a: Array) -> Certified:
            f = gram.multiply(program.coef(a))
            over_all = solution(program, a, f, sizes, self.tol)
            outside = np.ones(program.n, dtype=bool)
            outside[rows] = False
            allowed = TOLERATED * self.tol * abs(over_all.value) / program.scale
            variables = program.restricted(rows).best_intercept(f[rows])  # with which no sample of the set has to move
            return Certified(over_all, violations(program, f + variables, outside, allowed))

        size = largest_block(gram)
        support = None if start is None else program.coef(start)
        if start is not None and support is not None and np.count_nonzero(support) > size:
            return over_blocks(gram, self._of_blocks(program, sizes), start, size, self.tol, self.max_iter)
        first = first_samples(program.sign[: program.n], support, size)
        found = on_working_samples(gram, first, start, inner, certify, self.tol, self.max_iter)
        if found.converged or size >= program.n:
            return found
        methods = self._of_blocks(program, sizes)
        return over_blocks(gram, methods, found.warm, size, self.tol, self.max_iter, found.n_iter, found.history)

    def _of_blocks(self, program: SupportProgram, sizes: Array) -> BlockMethods:
        """The program on blocks of samples; ``sizes`` are the roots of K_ii."""

        def certify(a: Array, f: Array) -> DualSolution:
            return solution(program, a, f, sizes, self.tol)

        def distance(current: DualSolution, f: Array) -> Array:
            return program.gap_terms(current.warm, f, current.intercept)

        def improve(K: Gram, rows: Array, a: Array, f: Array, tol: float, steps: int) -> tuple[Array, int]:
            index = program.variables(rows)
            block = program.of_block(rows, a, f[rows] - K.multiply_sparse(program.coef(a)[rows]))
            solved = replace(self, tol=tol, max_iter=steps).solve_program(K, block, a[index])
            improved = a.copy()
            improved[index] = solved.warm
            return improved, solved.n_iter

        return BlockMethods(program.coef, certify, distance, improve)


def weights_of_samples(weight: Array | None, n: int) -> Array:
    """Weights of the samples' losses, shape (n,), None meaning 1; ValueError where they are not finite and > 0."""
    if weight is None:
        return np.ones(n)
    weights = np.asarray(weight, dtype=float)
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"sample weights must be {n} finite numbers > 0, one for each sample; leave out the others")
    return weights
