"""Support vector machines on a matrix of many samples and some features, K = F diag(w) F': F is not copied.

Passes of coordinate ascent (``_coordinates``), with an augmented Lagrangian for the equality, soon show which variables
stay at their bounds: later passes leave these out, until the values of all samples are computed again. The variables
between their bounds, and those with small slopes at a bound, form a program of few samples, which the interior point
method solves exactly (``factored.py``); the multiplier and the values of all samples then show which variables have to
be added. Programs are solved until the certificate over all samples is small enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._memory import fits
from multikernel._typing import Array
from multikernel.banks.weighted_features import WeightedFeatures
from multikernel.certificate import NO_PROGRESS
from multikernel.machines.base import DualSolution, out_of_time
from multikernel.machines.support.certified import roots, solution
from multikernel.machines.support.factored import FactoredProgram
from multikernel.machines.support.program import SupportProgram
from multikernel.tuning import BUFFER_VALUES

_PASSES = 10  # between two certificates; only the first pass is over all variables


@dataclass(frozen=True, eq=False)
class ManySamples:
    """A support program on K = F diag(weights) F'.

    Parameters
    ----------
    program : SupportProgram
    F : array (n, q) by rows
    weights : array (q,) >= 0
    diagonal : array (n,), K_ii
    tol : float, the relative duality gap to reach
    """

    program: SupportProgram
    F: Array
    weights: Array
    diagonal: Array
    tol: float

    def solve(self, start: Array | None, max_iter: int) -> DualSolution:
        """Solve, starting from variables of an earlier solution."""
        current = self._certified(self.program.feasible(start), 0, ())
        passes = 0
        while not current.converged and passes < max_iter and not out_of_time(self.program.n):
            before = current.gap
            trial = self._certified(self._passes(current, passes), current.n_iter + _PASSES, current.history)
            if trial.gap < current.gap:
                current = trial
            else:
                current = replace(current, history=trial.history)
            passes += _PASSES
            if current.gap > NO_PROGRESS * before and current.gap < 1.0:
                break
        return self._by_programs(current, max_iter)

    def _certified(self, a: Array, n_iter: int, history: tuple[float, ...]) -> DualSolution:
        """The solution at feasible variables over all samples."""
        f = self.values(self.program.coef(a))
        return solution(self.program, a, f, self.sizes, self.tol, n_iter, history)

    def values(self, b: Array) -> Array:
        """K b."""
        return self.features.multiply(b)

    @cached_property
    def features(self) -> WeightedFeatures:
        """The features, for products with K."""
        return WeightedFeatures(self.F, self.weights)

    @cached_property
    def sizes(self) -> Array:
        """The norms of the samples."""
        return roots(self.diagonal)

    # -- passes --------------------------------------------------------------------------------------------------------

    def _passes(self, start_solution: DualSolution, seed: int) -> Array:
        """Variables after some passes, which satisfy the equality."""
        from multikernel.machines.support import _coordinates

        program = self.program
        rng = np.random.default_rng(seed)
        a = start_solution.warm.copy()
        c = float(start_solution.intercept)
        size = float(self.diagonal.mean()) if program.intercept else 0.0
        curvature = self.diagonal[program.sample] + program.ridge + size
        v = self.weights * self.features.sums(program.coef(a))
        state = np.array([float(program.sign @ a) - program.total])
        first, last = self.features.blocks
        moving = np.arange(len(a))
        for _ in range(_PASSES):
            before = a[moving]
            order = self._order(moving, rng)
            _coordinates.ascend(
                self.F, self.weights, first, last, order, program.sample, program.sign, program.linear, program.upper,
                program.ridge, curvature, a, v, state, c, size,
            )  # fmt: skip
            c += size * state[0]
            after = a[moving]
            moving = moving[(after != before) | ((after > 0.0) & (after < program.upper[moving]))]
        if not program.intercept:
            return a
        return program.sign * program.balanced(program.sign * a)

    def _order(self, moving: Array, rng: np.random.Generator) -> Array:
        """The variables in random order; of features on disk, samples that are read together are consecutive."""
        order: Array = rng.permutation(moving)
        if fits(self.F.nbytes):
            return order
        block = self.program.sample[order] // max(1, BUFFER_VALUES // self.F.shape[1])
        return order[np.argsort(rng.permutation(int(block.max(initial=0)) + 1)[block], kind="stable")]

    # -- programs ------------------------------------------------------------------------------------------------------

    def _by_programs(self, start_solution: DualSolution, max_iter: int) -> DualSolution:
        """The best of several programs of the variables that may move."""
        # variables may move if their slopes are below this fraction of the largest linear term; if that does not help
        # even with twice the term, the gap is limited by rounding
        band = 0.05
        best = start_solution
        while not best.converged and band < 2.0 and best.n_iter < max_iter and not out_of_time(self.program.n):
            trial = self._program(best, band)
            band = 0.5 * band if trial.gap < NO_PROGRESS * best.gap else 4.0 * band
            if trial.gap < best.gap:
                best = trial
            else:
                best = replace(best, n_iter=trial.n_iter, history=trial.history)
        return best

    def _program(self, current: DualSolution, band: float) -> DualSolution:
        """The solution where only variables of small slopes, or between their bounds, move."""
        program = self.program
        a = current.warm
        f = self.values(program.coef(a))
        slope = program.linear - program.sign * (f + current.intercept)[program.sample] - program.ridge * a
        size = float(np.abs(program.linear).max()) or float(np.abs(slope).mean())
        near = np.abs(slope) <= band * size
        wrong = ((a > 0.0) & (slope < 0.0)) | ((a < program.upper) & (slope > 0.0))
        rows = np.flatnonzero((near | wrong).reshape(-1, program.n).any(axis=0))
        variables = program.variables(rows)
        fixed = a.copy()
        fixed[variables] = 0.0
        inner = program.restricted(rows)
        fixed_values = self.values(program.coef(fixed))[rows]
        total = program.total - float(program.sign @ fixed)
        inner = replace(inner, linear=inner.linear - inner.sign * fixed_values[inner.sample], total=total, scale=1.0)
        weighted = np.flatnonzero(self.weights)
        G = self.F[rows][:, weighted] * np.sqrt(self.weights[weighted])
        solved = FactoredProgram(inner, G, 0.1 * self.tol, exact=False).solve(a[variables], 100)
        fixed[variables] = solved.warm
        if program.intercept:
            moved = program.sign * program.balanced(program.sign * fixed)
        else:
            moved = fixed
        return self._certified(moved, current.n_iter + solved.n_iter, current.history)
