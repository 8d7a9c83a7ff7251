"""Weights and a ridge for each of many targets, and the machines with these weights, one block of targets at a time.

The targets of a block are solved together (each_target.py), and only their rows of the answer are kept, so that a fit
takes the memory of the answer and of a block. Targets in memory are one block, or one for each thread, where a held-out
error reads few columns of them at a time: the matrices of the survey are then made once for all targets. Columns of a
file, and targets of which sums or coordinates are kept, are read 32 MB at a time. Targets are divided by their spread
first, so that none of them dominates the others. When a target moves to a point, its coefficients are stored from the
inverse at that point; at the end they are checked by the equations that they should solve. Where this check fails,
targets that ended at the same weights share the factor of their machine.

A target whose own weights predict it hardly better than equal weights gets equal weights (each kernel is divided by its
trace), with the ridge that is best for these. "Hardly" means by at most one standard error. Let r and r - d be the
residuals of own and of equal weights on held-out samples, and let r be uncorrelated with d, which holds where own
weights have the least error among all predictors between the two. Then the error of equal weights is larger by
g = mean d^2, with the standard error of the mean of (r - d)^2 - r^2, about 2 s sqrt(g / n) for an error s^2; and g is
at most one standard error where

    g <= 4 s^2 / n.

Of 1,000 simulated targets and three spaces with 400 samples (docs/results/targets.md), R2 of targets without signal was
-.0133, where always using own weights gave -.0160 and one ridge for each target -.0094; R2 of the other targets was
.1772, .1772 and .1221. Half a standard error gave -.0154 and .1772, one and a half -.0107 and .1763. (The standard
error from the residuals themselves gave -.0141 and .1772, from sums over folds the same.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from multikernel._floats import ROUNDING
from multikernel._typing import Array
from multikernel._workers import check_interrupted, limited, on_cluster, on_threads, seconds_left, time_is_up
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread, slices, threads_of
from multikernel.certificate import Certificate
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.machines.ridge.solved import Solved
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.ridge_cv.directions import equal_traces
from multikernel.procedures.ridge_cv.each_target import Coefficients, EachTarget, Keeper, each_target
from multikernel.procedures.ridge_cv.evidence import Evidence
from multikernel.procedures.ridge_cv.fixed import FixedColumns, FixedEffects
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.held_out import HeldOutError
from multikernel.procedures.ridge_cv.in_features import ErrorInFeatures
from multikernel.procedures.ridge_cv.own_ridges import own_ridges_of
from multikernel.procedures.ridge_cv.search import RidgeCVWeights, held_out_error, least_error
from multikernel.procedures.units import RegressionUnits, kernel_size, spread
from multikernel.tuning import BUFFER_VALUES, TILE_VALUES


@dataclass(frozen=True, eq=False)
class TargetSearch:
    """The parameters of a search for the weights of many targets.

    Parameters
    ----------
    fit_intercept : as in ``ridge_cv``
    tol, max_iter, n_init, seed : as in ``each_target``
    standard_errors : by how many standard errors a target's own weights have to be better than equal weights
    evidence : whether weights maximise the evidence of each target instead of minimising its error
    """

    fit_intercept: bool = True
    tol: float = 1e-4
    max_iter: int = 500
    n_init: int = 1
    seed: int = 0
    standard_errors: float = 1.0
    evidence: bool = False


@dataclass(frozen=True, eq=False)
class _Answer:
    """The arrays that the blocks write to, with a row or a number for each target, in the user's units.

    ``beyond`` lists, with the rows of its targets, the parts of targets that kernels do not reach, where coefficients
    lack them (``DualSolution.beyond``). ``effects`` has the coefficients of columns without penalty and their standard
    errors, both (t, c); None without such columns.
    """

    weights: Array
    alpha: Array
    objective: Array
    errors: Array
    stationarity: Array
    coef: Array
    intercept: Array
    gap: Array
    beyond: list[tuple[Array, Array]]
    effects: Array | None

    @classmethod
    def of(cls, t: int, m: int, n: int, dtype: Any, fixed: FixedColumns | None) -> _Answer:
        numbers = [np.empty(t) for _ in range(6)]
        alpha, objective, errors, stationarity, intercept, gap = numbers
        coef = np.empty((t, n), dtype=dtype)
        effects = None if fixed is None else np.empty((2, t, len(fixed.map)))
        return cls(np.empty((t, m)), alpha, objective, errors, stationarity, coef, intercept, gap, [], effects)

    def assembled(self, tol: float, ends: Sequence[EachTarget]) -> tuple[RidgeCVWeights, DualSolution]:
        """The answer of all blocks."""
        worst = float(self.stationarity.max())
        weights = RidgeCVWeights(
            values=self.weights,
            objective=self.objective,
            certificate=Certificate.stationarity(worst, 1.0),
            converged=worst <= tol,
            n_iter=max(end.n_iter for end in ends),
            history=max((end.history for end in ends), key=len),
            alpha=self.alpha,
            errors=self.errors,
            effects=None if self.effects is None else FixedEffects(self.effects[0].T, self.effects[1].T),
            stationarities=self.stationarity,
        )
        gap = float(self.gap.max())
        coef = self.coef.T
        beyond = None
        if self.beyond:
            beyond = np.zeros(self.coef.shape).T  # zeros take memory only where they are written to
            for rows, values in self.beyond:
                beyond[:, rows] = values
        converged = gap <= 0.05
        return weights, DualSolution(coef, self.intercept, 0.0, 0.0, coef, gap, converged, 1, warm=coef, beyond=beyond)


def ridge_cv_each(
    bank: KernelBank,
    Y: Any,
    folds: Folds,
    search: TargetSearch,
    n_jobs: int | None = None,
    observe: Observer = silent,
    fixed: FixedColumns | None = None,
) -> tuple[RidgeCVWeights, DualSolution]:
    """Weights of least held-out error for each target, a row each, and the machines on all samples.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    Y : array (n, t), or an object of this shape that returns columns as ``Y[:, a:b]``; coefficients are in single
        precision where Y is
    folds : Folds
    search : TargetSearch
    n_jobs : threads over blocks of targets
    observe : called after each round of a block
    fixed : columns without penalty, the intercept among them; None where there are none

    Raises
    ------
    ValueError : where no ridge makes the sum of the kernel matrices positive definite
    """
    (n, t), m = Y.shape, len(bank)
    size = kernel_size(bank)
    multiples = np.full(m, 1.0 / size)
    if fixed is not None:
        multiples[fixed.traces(bank) <= 0.0] = 0.0  # a kernel whose functions the columns explain gets no weight
    scaled = bank.scaled(multiples)
    answer = _Answer.of(t, m, n, np.float32 if Y.dtype == np.float32 else np.float64, fixed)
    jobs = threads_of(n_jobs)
    in_memory = fixed is None and not search.evidence and _in_memory(scaled, Y, folds)
    block_size = max(1, min(BUFFER_VALUES // m**2, -(-t // jobs), t if in_memory else BUFFER_VALUES // n))
    blocks = list(slices(t, -(-t // -(-t // block_size))))  # of about equal size
    progress = _JointProgress(len(blocks), search.tol, observe)

    def solve(number: int) -> EachTarget:
        columns = blocks[number]
        reserved_seconds = 0.0
        if jobs == 1 and np.isfinite(seconds_left()):
            reserved_seconds = seconds_left() * (t - columns.stop) / (t - columns.start)
        with limited(seconds_left() - reserved_seconds), one_blas_thread(n if jobs == 1 else 0):
            if in_memory:
                targets = Y[:, columns]
            else:
                targets = np.asarray(Y[:, columns], dtype=np.float64)
            block = _Block.of(scaled, targets, folds, search, fixed, in_memory)
            rows = _Rows(answer, columns, block.units, size)
            solution = block.ends(rows, progress.observer(number))
            block.write(rows, solution)
        return solution

    if jobs == 1 or on_cluster():
        ends = [solve(number) for number in range(len(blocks))]
    else:
        ends = on_threads([partial(solve, number) for number in range(len(blocks))], jobs)
    return answer.assembled(search.tol, ends)


def _in_memory(bank: KernelBank, Y: Any, folds: Folds) -> bool:
    """Whether the targets are an array, and errors are computed from it rather than from its sums or coordinates."""
    n, t = Y.shape
    if type(Y) is not np.ndarray or ErrorInFeatures.costs_less(bank, t, folds):
        return False
    return bank.n_features is None or t >= n  # with so many targets no coordinates are fewer than samples


@dataclass(frozen=True, eq=False)
class _Block:
    """Targets that are solved together; ``Z`` are their residuals after a regression on the columns without penalty.

    Weights are for targets divided by ``units``, their spread. ``held_out`` is the held-out error of ``Z`` in these
    units.
    """

    bank: KernelBank
    Y: Array
    Z: Array
    units: Array
    folds: Folds
    search: TargetSearch
    fixed: FixedColumns | None
    held_out: HeldOutError | ErrorInFeatures

    @classmethod
    def of(
        cls,
        bank: KernelBank,
        Y: Array,
        folds: Folds,
        search: TargetSearch,
        fixed: FixedColumns | None,
        in_memory: bool,
    ) -> _Block:
        Z = Y if fixed is None else fixed.rest(Y)
        tiles = slices(Z.shape[1], max(1, TILE_VALUES // len(Z)))
        units = np.array([spread(z) for tile in tiles for z in np.ascontiguousarray(Z[:, tile].T)])
        held_out: HeldOutError | ErrorInFeatures
        if in_memory:
            held_out = HeldOutError(bank, Y, folds, search.fit_intercept, units=units)
        else:
            basis = None if fixed is None else fixed.basis
            held_out = held_out_error(bank, Z / units, folds, search.fit_intercept and fixed is None, basis)
        return cls(bank, Y, Z, units, folds, search, fixed, held_out)

    def ends(self, rows: _Rows, observe: Observer) -> EachTarget:
        """The points where the targets end: own weights of each target, or equal ones."""
        search = self.search
        error: Evidence | HeldOutError | ErrorInFeatures = self.held_out
        if search.evidence:
            basis = None if self.fixed is None else self.fixed.basis
            error = Evidence.of(self.bank, self.Z / self.units, search.fit_intercept, basis, keep=True)
        if len(self.bank) > len(self.Y):
            solution = _one_by_one(error, self.held_out, search)
        else:
            tol, max_iter = search.tol, search.max_iter
            solution = each_target(error, tol, max_iter, search.n_init, search.seed, observe, keep=rows.keeper())
        without_comparison = search.standard_errors == 0.0 or search.evidence or (error.diagonals > 0.0).sum() < 2
        if without_comparison or time_is_up():
            return solution
        return self._equal_where_as_good(rows, solution)

    def _equal_where_as_good(self, rows: _Rows, solution: EachTarget) -> EachTarget:
        search, error = self.search, self.held_out
        traces = equal_traces(error.diagonals)
        largest_error = (1.0 + 4.0 * search.standard_errors**2 / error.count) * solution.errors
        keep = rows.keeper(largest_error)
        equal = own_ridges_of(error, traces, search.tol, search.max_iter, solution.on_line, keep)
        as_good = equal.errors <= largest_error
        return EachTarget(
            v=np.where(as_good[:, None], equal.v * traces, solution.v),
            errors=np.where(as_good, equal.errors, solution.errors),
            stationarity=np.where(as_good, equal.stationarity, solution.stationarity),
            n_iter=solution.n_iter + equal.n_iter,
            history=solution.history,
        )

    def write(self, rows: _Rows, solution: EachTarget) -> None:
        """Write the rows of the block; targets that ended at the same weights share one machine."""
        answer, targets = rows.answer, rows.targets
        totals = solution.v.sum(axis=1)
        totals[totals == 0.0] = 1.0
        weights = solution.v / totals[:, None]
        answer.weights[targets] = weights
        answer.alpha[targets] = rows.size / totals
        answer.objective[targets] = RegressionUnits(1.0, self.units).squared(solution.errors)
        answer.errors[targets] = answer.objective[targets]
        answer.stationarity[targets] = solution.stationarity
        accurate = self._accurate(rows, weights, totals)
        _, firsts, groups = np.unique(solution.v, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(groups.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(groups.ravel()))[:-1]
        for first, members in zip(firsts, np.split(order, ends), strict=True):
            check_interrupted()
            alpha = 1.0 / float(totals[first])
            remaining = members[~accurate[members]]
            for tile in slices(len(remaining), max(1, BUFFER_VALUES // len(self.Y))):
                self._machine(rows, remaining[tile], weights[first], alpha)
            if self.search.evidence:
                shared = self.held_out.shared(solution.v[first])
                if shared is None:
                    errors = np.full(len(members), np.nan)
                else:
                    errors = shared.errors(members)
                answer.errors[targets.start + members] = RegressionUnits(1.0, self.units[members]).squared(errors)

    def _accurate(self, rows: _Rows, weights: Array, totals: Array) -> Array:
        """Which stored coefficients solve the equations of the weights and ridges of their targets: (t,)."""
        error = self.held_out
        accurate = np.zeros(len(weights), dtype=bool)
        if self.search.evidence or not (isinstance(error, HeldOutError) and error.knows_coef) or rows.rounded:
            return accurate
        n = len(self.Y)
        tile_size = min(TILE_VALUES // n, BUFFER_VALUES // (n * weights.shape[1]))
        for tile in slices(len(weights), max(1, tile_size)):
            check_interrupted()
            index = np.arange(tile.start, tile.stop)
            targets = self.Y[:, index] / self.units[index]
            if self.search.fit_intercept:
                means = targets.mean(axis=0)
            else:
                means = np.zeros(len(index))
            coef = rows.coef(index)
            nonzero = np.flatnonzero(weights[index].any(axis=0))
            if len(nonzero):
                images = self.bank.select(nonzero).apply(coef)
            else:
                images = np.zeros((0, *coef.shape))
            values = np.einsum("tk,knt->nt", weights[index][:, nonzero], images)
            for j, t in enumerate(index):
                one = slice(j, j + 1)
                solution = Solved.of(targets[:, one] - means[j], values[:, one], 1.0 / float(totals[t]), coef[:, one])
                accurate[t] = solution.gap <= ROUNDING
                if accurate[t]:
                    rows.answer.intercept[rows.targets.start + t] = means[j] * self.units[t]
                    rows.answer.gap[rows.targets.start + t] = solution.gap
        return accurate

    def _machine(self, rows: _Rows, index: Array, weights: Array, alpha: float) -> None:
        """Write the coefficients of targets that share weights and ridge."""
        answer = rows.answer
        units = self.units[index]
        answer_rows = rows.targets.start + index
        if isinstance(self.held_out, ErrorInFeatures):
            gram = self.held_out.gram(weights)
        else:
            gram = self.bank.combine(weights)
        Y = self.Y[:, index] / units
        effects = None
        if self.fixed is not None:
            assert answer.effects is not None
            effects, values = self.fixed.effects(gram, alpha, Y, self.Z[:, index] / units)
            effects = effects.in_units(units)
            answer.effects[:, answer_rows] = effects.coef.T, effects.errors.T
            Y = Y - values
        solution = RidgeMachine(alpha, self.search.fit_intercept and self.fixed is None).solve(gram, Y)
        answer.coef[answer_rows] = solution.coef.T * (units[:, None] / rows.size)
        if solution.beyond is not None:
            answer.beyond.append((answer_rows, solution.beyond * units))
        answer.intercept[answer_rows] = solution.intercept * units
        if effects is not None and self.search.fit_intercept:
            answer.intercept[answer_rows] = effects.coef[0]
        answer.gap[answer_rows] = solution.gap


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of the answer that a block writes, for targets in these units and kernels divided by ``size``."""

    answer: _Answer
    targets: slice
    units: Array
    size: float

    @property
    def rounded(self) -> bool:
        """Whether coefficients are stored in single precision."""
        return bool(self.answer.coef.dtype == np.float32)

    def coef(self, index: Array) -> Array:
        """The coefficients that are stored for some targets of the block, in the units of the block."""
        return np.asarray(self.answer.coef[self.targets.start + index].T * (self.size / self.units[index]))

    def keeper(self, largest_error: Array | None = None) -> Keeper:
        """A function that stores the coefficients of a point, only of targets whose error there is at most this."""

        def keep(coef_of: Coefficients, index: Array, errors: Array) -> None:
            if largest_error is not None:
                index = index[errors <= largest_error[index]]
            for tile in slices(len(index), max(1, TILE_VALUES // self.answer.coef.shape[1])):
                coef = coef_of(index[tile])
                if coef is not None:
                    units = self.units[index[tile]] / self.size
                    self.answer.coef[self.targets.start + index[tile]] = coef.T * units[:, None]

        return keep


def _one_by_one(
    error: Evidence | HeldOutError | ErrorInFeatures, held_out: HeldOutError | ErrorInFeatures, search: TargetSearch
) -> EachTarget:
    """Solve each target by itself: with more kernels than samples, models are stored by residuals (model.py)."""
    ends = []
    for k in range(error.Y.shape[1]):
        error_of_target = error.of_targets([k] if error.Y[:, k].any() or not search.evidence else [])
        held_out_of_target = error_of_target if error is held_out else held_out.of_targets([k])
        ends.append(
            least_error(error_of_target, held_out_of_target, search.tol, search.max_iter, search.n_init, search.seed)
        )
    return EachTarget(
        v=np.stack([end.values / end.alpha for end in ends]),
        errors=np.array([end.objective for end in ends]),
        stationarity=np.array([np.inf if end.stationarity is None else end.stationarity for end in ends]),
        n_iter=max(end.n_iter for end in ends),
        history=max((end.history for end in ends), key=len),
    )


class _JointProgress:
    """Progress of all blocks: the geometric mean of their stationarities.

    A block that has not begun counts with the first stationarity of any block.
    """

    def __init__(self, count: int, tol: float, observe: Observer) -> None:
        self.reached = np.zeros(count)
        self.tol = tol
        self.observe = observe
        self.step = 0

    def observer(self, number: int) -> Observer:
        def report(event: Event) -> None:
            logarithm = float(np.log(max(event.certificate.value, self.tol)))
            if event.step == 1:
                self.reached[self.reached == 0.0] = logarithm  # of blocks that have not begun
            self.reached[number] = logarithm
            self.step += 1
            mean = float(np.exp(self.reached.mean()))
            self.observe(Event(self.step, Certificate.stationarity(mean, 1.0), None, event.value, event.value))

        return report
