"""Weights and a ridge for each of many targets, and the machines that they belong to, some targets at a time.

A block of targets, solved together (each_target.py), leaves its rows of the answer and nothing else, so that a fit
takes the memory of the answer and of a block. Targets in memory are one block, or one for each thread, where a held-out
error reads few columns of them at a time: the matrices of the survey are then made once for all targets. Columns of a
file, and targets of which sums or coordinates are kept, are read 32 MB at a time. Targets are divided by their spread
first, so that none of them decides for the others. Coefficients are stored where a target moves to, from the inverse
there, and are checked at the end by the equations that they solve; where they are not known so, targets that ended at
the same weights share the factor of their machine.

A target whose weights predict it hardly better than equal weights has these, with the ridge that is best for them: each
kernel is divided by its trace. "Hardly" is by one standard error. Let r and r - d be the residuals of its own and of
equal weights on held-out samples, and let these be uncorrelated with d, as they are at a least error among predictors
between the two. Then the error of equal weights is larger by g = mean d^2, with the standard error of the mean of
(r - d)^2 - r^2, about 2 s sqrt(g / n) for an error s^2; and g is at most one of these where

    g <= 4 s^2 / n.

Of 1,000 simulated targets and three spaces with 400 samples (docs/results/targets.md), R2 of targets without signal was
-.0133 for -.0160 with weights that are always their own and -.0094 with one ridge for each, R2 of the others .1772 for
.1772 and .1221. Half a standard error gave -.0154 and .1772, one and a half -.0107 and .1763. (The standard error from
the residuals themselves gave -.0141 and .1772, from sums over folds the same.)
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
    """How weights of many targets are looked for.

    Parameters
    ----------
    fit_intercept : as in ``ridge_cv``
    tol, max_iter, n_init, seed : as in ``each_target``
    standard_errors : by how many standard errors weights of its own have to predict a target better than equal weights
    evidence : whether weights have the largest evidence of each target instead of its least error
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
    """What the blocks write to, a row or a number for each target, in the user's units.

    ``beyond`` has rows with the parts of their targets that kernels do not reach, where coefficients lack them;
    ``effects`` the coefficients of columns without penalty and their standard errors, both (t, c); None without any.
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

    def found(self, tol: float, ends: Sequence[EachTarget]) -> tuple[RidgeCVWeights, DualSolution]:
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
            for rows, own in self.beyond:
                beyond[:, rows] = own
        known = gap <= 0.05
        return weights, DualSolution(coef, self.intercept, 0.0, 0.0, coef, gap, known, 1, warm=coef, beyond=beyond)


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
    Y : array (n, t), or what has this shape and gives columns as ``Y[:, a:b]``; coefficients are in single
        precision where it is
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
        multiples[fixed.traces(bank) <= 0.0] = 0.0  # a kernel whose functions the columns explain has no part
    scaled = bank.scaled(multiples)
    answer = _Answer.of(t, m, n, np.float32 if Y.dtype == np.float32 else np.float64, fixed)
    jobs = threads_of(n_jobs)
    at_once = fixed is None and not search.evidence and _few_are_read_at_a_time(scaled, Y, folds)
    most = max(1, min(BUFFER_VALUES // m**2, -(-t // jobs), t if at_once else BUFFER_VALUES // n))
    parts = list(slices(t, -(-t // -(-t // most))))  # of about equal size
    progress = _JointProgress(len(parts), search.tol, observe)

    def solve(number: int) -> EachTarget:
        part = parts[number]
        later = 0.0
        if jobs == 1 and np.isfinite(seconds_left()):
            later = seconds_left() * (t - part.stop) / (t - part.start)
        with limited(seconds_left() - later), one_blas_thread(n if jobs == 1 else 0):
            if at_once:
                targets = Y[:, part]
            else:
                targets = np.asarray(Y[:, part], dtype=np.float64)
            block = _Block.of(scaled, targets, folds, search, fixed, at_once)
            rows = _Rows(answer, part, block.units, size)
            found = block.ends(rows, progress.observer(number))
            block.write(rows, found)
        return found

    if jobs == 1 or on_cluster():
        ends = [solve(number) for number in range(len(parts))]
    else:
        ends = on_threads([partial(solve, number) for number in range(len(parts))], jobs)
    return answer.found(search.tol, ends)


def _few_are_read_at_a_time(bank: KernelBank, Y: Any, folds: Folds) -> bool:
    """Whether targets are in memory, and no sums or coordinates of them are kept."""
    n, t = Y.shape
    if type(Y) is not np.ndarray or ErrorInFeatures.costs_less(bank, t, folds):
        return False
    return bank.n_features is None or t >= n  # with so many targets no coordinates are fewer than samples


@dataclass(frozen=True, eq=False)
class _Block:
    """Targets that are solved together; ``Z`` is what columns without penalty leave of them.

    Their weights are those of the targets divided by ``units``, their spread. ``held_out`` is the held-out error of
    ``Z`` in these units.
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
        at_once: bool,
    ) -> _Block:
        Z = Y if fixed is None else fixed.rest(Y)
        few = slices(Z.shape[1], max(1, TILE_VALUES // len(Z)))
        units = np.array([spread(z) for part in few for z in np.ascontiguousarray(Z[:, part].T)])
        held_out: HeldOutError | ErrorInFeatures
        if at_once:
            held_out = HeldOutError(bank, Y, folds, search.fit_intercept, units=units)
        else:
            basis = None if fixed is None else fixed.basis
            held_out = held_out_error(bank, Z / units, folds, search.fit_intercept and fixed is None, basis)
        return cls(bank, Y, Z, units, folds, search, fixed, held_out)

    def ends(self, rows: _Rows, observe: Observer) -> EachTarget:
        """Where the targets end: at weights of their own, or at equal ones."""
        search = self.search
        error: Evidence | HeldOutError | ErrorInFeatures = self.held_out
        if search.evidence:
            basis = None if self.fixed is None else self.fixed.basis
            error = Evidence.of(self.bank, self.Z / self.units, search.fit_intercept, basis, keep=True)
        if len(self.bank) > len(self.Y):
            found = _each_alone(error, self.held_out, search)
        else:
            tol, most = search.tol, search.max_iter
            found = each_target(error, tol, most, search.n_init, search.seed, observe, keep=rows.keeper())
        simple = search.standard_errors == 0.0 or search.evidence or (error.diagonals > 0.0).sum() < 2
        if simple or time_is_up():
            return found
        return self._equal_where_own_gain_nothing(rows, found)

    def _equal_where_own_gain_nothing(self, rows: _Rows, found: EachTarget) -> EachTarget:
        search, error = self.search, self.held_out
        traces = equal_traces(error.diagonals)
        most = (1.0 + 4.0 * search.standard_errors**2 / error.count) * found.errors
        keep = rows.keeper(most)
        equal = own_ridges_of(error, traces, search.tol, search.max_iter, found.on_line, keep)
        simple = equal.errors <= most
        return EachTarget(
            v=np.where(simple[:, None], equal.v * traces, found.v),
            errors=np.where(simple, equal.errors, found.errors),
            stationarity=np.where(simple, equal.stationarity, found.stationarity),
            n_iter=found.n_iter + equal.n_iter,
            history=found.history,
        )

    def write(self, rows: _Rows, found: EachTarget) -> None:
        """The rows of the block: each of its weights has one machine, for all the targets that ended there."""
        answer, part = rows.answer, rows.part
        totals = found.v.sum(axis=1)
        totals[totals == 0.0] = 1.0
        weights = found.v / totals[:, None]
        answer.weights[part] = weights
        answer.alpha[part] = rows.size / totals
        answer.objective[part] = RegressionUnits(1.0, self.units).squared(found.errors)
        answer.errors[part] = answer.objective[part]
        answer.stationarity[part] = found.stationarity
        kept = self._kept(rows, weights, totals)
        _, places, groups = np.unique(found.v, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(groups.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(groups.ravel()))[:-1]
        for place, own in zip(places, np.split(order, ends), strict=True):
            check_interrupted()
            alpha = 1.0 / float(totals[place])
            left = own[~kept[own]]
            for some in slices(len(left), max(1, BUFFER_VALUES // len(self.Y))):
                self._machine(rows, left[some], weights[place], alpha)
            if self.search.evidence:
                shared = self.held_out.shared(found.v[place])
                if shared is None:
                    errors = np.full(len(own), np.nan)
                else:
                    errors = shared.errors(own)
                answer.errors[part.start + own] = RegressionUnits(1.0, self.units[own]).squared(errors)

    def _kept(self, rows: _Rows, weights: Array, totals: Array) -> Array:
        """Which coefficients that were kept on the way are those of the weights and ridges of their targets: (t,)."""
        error = self.held_out
        kept = np.zeros(len(weights), dtype=bool)
        if self.search.evidence or not (isinstance(error, HeldOutError) and error.knows_coef) or rows.rounded:
            return kept
        n = len(self.Y)
        at_once = min(TILE_VALUES // n, BUFFER_VALUES // (n * weights.shape[1]))
        for some in slices(len(weights), max(1, at_once)):
            check_interrupted()
            own = np.arange(some.start, some.stop)
            targets = self.Y[:, own] / self.units[own]
            if self.search.fit_intercept:
                means = targets.mean(axis=0)
            else:
                means = np.zeros(len(own))
            coef = rows.coef(own)
            used = np.flatnonzero(weights[own].any(axis=0))
            if len(used):
                images = self.bank.select(used).apply(coef)
            else:
                images = np.zeros((0, *coef.shape))
            values = np.einsum("tk,knt->nt", weights[own][:, used], images)
            for j, t in enumerate(own):
                one = slice(j, j + 1)
                found = Solved.of(targets[:, one] - means[j], values[:, one], 1.0 / float(totals[t]), coef[:, one])
                kept[t] = found.gap <= ROUNDING
                if kept[t]:
                    rows.answer.intercept[rows.part.start + t] = means[j] * self.units[t]
                    rows.answer.gap[rows.part.start + t] = found.gap
        return kept

    def _machine(self, rows: _Rows, own: Array, weights: Array, alpha: float) -> None:
        """The coefficients of the targets that share weights and ridge."""
        answer = rows.answer
        units = self.units[own]
        where = rows.part.start + own
        if isinstance(self.held_out, ErrorInFeatures):
            gram = self.held_out.gram(weights)
        else:
            gram = self.bank.combine(weights)
        Y = self.Y[:, own] / units
        effects = None
        if self.fixed is not None:
            assert answer.effects is not None
            effects, values = self.fixed.effects(gram, alpha, Y, self.Z[:, own] / units)
            effects = effects.in_units(units)
            answer.effects[:, where] = effects.coef.T, effects.errors.T
            Y = Y - values
        solution = RidgeMachine(alpha, self.search.fit_intercept and self.fixed is None).solve(gram, Y)
        answer.coef[where] = solution.coef.T * (units[:, None] / rows.size)
        if solution.beyond is not None:
            answer.beyond.append((where, solution.beyond * units))
        answer.intercept[where] = solution.intercept * units
        if effects is not None and self.search.fit_intercept:
            answer.intercept[where] = effects.coef[0]
        answer.gap[where] = solution.gap


@dataclass(frozen=True, eq=False)
class _Rows:
    """Where a block writes: some rows of the answer, of targets in these units and kernels divided by ``size``."""

    answer: _Answer
    part: slice
    units: Array
    size: float

    @property
    def rounded(self) -> bool:
        """Whether coefficients are stored in single precision."""
        return bool(self.answer.coef.dtype == np.float32)

    def coef(self, own: Array) -> Array:
        """The coefficients that are stored for some targets of the block, in its own units."""
        return np.asarray(self.answer.coef[self.part.start + own].T * (self.size / self.units[own]))

    def keeper(self, most: Array | None = None) -> Keeper:
        """What stores the coefficients of a point; only of targets whose error there is at most this."""

        def keep(coef_of: Coefficients, own: Array, errors: Array) -> None:
            if most is not None:
                own = own[errors <= most[own]]
            for some in slices(len(own), max(1, TILE_VALUES // self.answer.coef.shape[1])):
                coef = coef_of(own[some])
                if coef is not None:
                    units = self.units[own[some]] / self.size
                    self.answer.coef[self.part.start + own[some]] = coef.T * units[:, None]

        return keep


def _each_alone(
    error: Evidence | HeldOutError | ErrorInFeatures, held_out: HeldOutError | ErrorInFeatures, search: TargetSearch
) -> EachTarget:
    """The same for more kernels than samples, whose models are kept by residuals (model.py): each target by itself."""
    ends = []
    for k in range(error.Y.shape[1]):
        one = error.of_targets([k] if error.Y[:, k].any() or not search.evidence else [])
        beside = one if error is held_out else held_out.of_targets([k])
        ends.append(least_error(one, beside, search.tol, search.max_iter, search.n_init, search.seed))
    return EachTarget(
        v=np.stack([end.values / end.alpha for end in ends]),
        errors=np.array([end.objective for end in ends]),
        stationarity=np.array([np.inf if end.stationarity is None else end.stationarity for end in ends]),
        n_iter=max(end.n_iter for end in ends),
        history=max((end.history for end in ends), key=len),
    )


class _JointProgress:
    """One observer of all blocks: the geometric mean of their stationarities, those that wait counted as begun."""

    def __init__(self, count: int, tol: float, observe: Observer) -> None:
        self.reached = np.zeros(count)
        self.tol = tol
        self.observe = observe
        self.step = 0

    def observer(self, number: int) -> Observer:
        def report(event: Event) -> None:
            logarithm = float(np.log(max(event.certificate.value, self.tol)))
            if event.step == 1:
                self.reached[self.reached == 0.0] = logarithm  # the first of any block stands for those that wait
            self.reached[number] = logarithm
            self.step += 1
            mean = float(np.exp(self.reached.mean()))
            self.observe(Event(self.step, Certificate.stationarity(mean, 1.0), None, event.value, event.value))

        return report
