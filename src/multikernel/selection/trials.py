"""The candidates of a group on every fold: on one bank where no step learns from the samples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from multikernel._folds import Fold
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._workers import on_threads
from multikernel.banks import KernelBank
from multikernel.estimators.predictor import with_known_values
from multikernel.estimators.protocol import Fitted
from multikernel.estimators.scores import quick_scorer
from multikernel.estimators.several import in_one_pass, informed, share_reference, stored
from multikernel.persistence.checkpoint import Checkpoint
from multikernel.selection.folds import folds_of
from multikernel.selection.groups import Group, SearchedGroup
from multikernel.selection.table import Scored
from multikernel.tuning import ORDER_SMALL

_ALL = "all folds"  # the one part of candidates that are found together


@dataclass(eq=False)
class Trials:
    """How groups of candidates are tried: all on the folds of the first, as a splitter may draw others each time.

    Parameters
    ----------
    cv, scoring, n_jobs, verbose, checkpoint : as ``BankSearchCV`` takes them
    scorers : a scorer for each metric
    groups : array (n,), the group of each sample, or None
    """

    cv: Any
    scoring: Any
    scorers: Mapping[str, Any]
    n_jobs: int | None
    verbose: Any
    checkpoint: str | os.PathLike[str] | None
    groups: Any = None
    _drawn: list[Fold] | None = field(default=None, init=False)

    def of(self, group: Group, X: Any, y: Any) -> SearchedGroup:
        """Every candidate of a group on every fold; on one bank where no step learns from the samples."""
        model = group.models()[0]
        if not group.steps.once:
            target = np.asarray(y)
            folds = self._folds(model, target)
            kept = self._checkpoint(group, X, y, folds)
            each = [partial(self._on_own_bank, group, X, target, *fold, kept, name) for name, fold in _named(folds)]
            with blas_threads(len(target), self.n_jobs):
                done = on_threads(each, self.n_jobs, verbose=self.verbose)
            return SearchedGroup([scored for scored, _ in done], done[0][1], None, kept)
        samples, before = group.steps.applied(X, y)
        bank, target = model.bind(samples, y)
        folds = self._folds(model, target)
        kept = self._checkpoint(group, X, y, folds)
        with blas_threads(len(target), self.n_jobs):
            found = self._on_one_bank(group, bank, target, folds, kept)
        return SearchedGroup(found, len(bank), (before, model, bank, target), kept)

    def _folds(self, model: Any, target: Array) -> list[Fold]:
        """The folds of every group."""
        if self._drawn is None:
            self._drawn = folds_of(self.cv, model, target, self.scoring, self.groups)
        return self._drawn

    def _checkpoint(self, group: Group, X: Any, y: Any, folds: list[Fold]) -> Checkpoint:
        """Where the folds of a group of candidates are kept."""
        last = group.steps.last
        work = f"search of {type(last).__name__}"
        kept = Checkpoint.of(self.checkpoint, work, last, group.steps.before, group.own, X, y, folds, self.scoring)
        if group.steps.once and group.only_alpha:
            kept.expect([_ALL])
        else:
            kept.expect([name for name, _ in _named(folds)])
        return kept

    def _on_one_bank(
        self, group: Group, bank: KernelBank, y: Array, folds: list[Fold], kept: Checkpoint
    ) -> list[list[Scored]]:
        """Folds that are blocks of a bank; together where candidates differ in alpha only, and the estimator can."""
        if group.only_alpha:
            return kept.part(_ALL, lambda: self._together(group, bank, y, folds))

        def of_fold(name: str, train: Array, test: Array) -> list[Scored]:
            def score() -> list[Scored]:
                inner = bank.block(train, train)
                outer = bank.block(test, train)
                return self._scored(group, inner, y[train], outer, y[test], kept.under(name), self._groups(train))

            return kept.part(name, score)

        each = [partial(of_fold, name, *fold) for name, fold in _named(folds)]
        return on_threads(each, self.n_jobs, verbose=self.verbose)

    def _on_own_bank(
        self, group: Group, X: Any, y: Array, train: Array, test: Array, kept: Checkpoint, name: str
    ) -> tuple[list[Scored], int]:
        """A fold whose steps are fitted to its training samples, and how many kernels there are."""

        def score() -> tuple[list[Scored], int]:
            learned, before = group.steps.applied(_safe_indexing(X, train), y[train])
            model = group.models()[0]
            inner, target = model.bind(learned, y[train])
            held_out = before.transform(_safe_indexing(X, test))
            outer = model.against(inner, held_out)
            scored = self._scored(group, inner, target, outer, y[test], kept.under(name), self._groups(train))
            return scored, len(inner)

        return kept.part(name, score)

    def _scored(
        self,
        group: Group,
        inner: KernelBank,
        y: Array,
        outer: KernelBank,
        truth: Array,
        kept: Checkpoint,
        groups: Array | None,
    ) -> list[Scored]:
        """Every candidate fitted on one bank and scored on another: warm starts, then one pass for all."""
        models, seconds = zip(*group.fitted(inner, y, kept, groups), strict=True)
        share_reference(models, inner)
        if not in_one_pass(models):
            outer = stored(outer)
        scorers = self.scorers
        if self.scoring is None:
            scorers = {"score": quick_scorer(models[0], None)}
        found = []
        for model, spent in zip(informed(models, outer), seconds, strict=True):
            scores = {name: float(scorer(model, outer, truth)) for name, scorer in scorers.items()}
            found.append(Scored(scores, spent, model.weights_))
        return found

    def _groups(self, rows: Array) -> Array | None:
        """The groups of some of the samples."""
        if self.groups is None:
            return None
        return np.asarray(self.groups)[rows]

    def _together(self, group: Group, bank: KernelBank, y: Array, folds: list[Fold]) -> list[list[Scored]]:
        """Candidates that differ in alpha: one decomposition for all, and where possible for all folds as well."""
        models = group.models()
        start = perf_counter()
        fits = models[0].fit_folds(bank, y, [model.alpha for model in models], folds)
        seconds = (perf_counter() - start) / (len(models) * len(folds))
        scored = []
        for (train, test), own in zip(folds, fits, strict=True):
            scores = self._scores(models, bank, y, train, test, own)
            weights = [fit.weights.values for fit, _ in own]
            scored.append([Scored(s, seconds, w) for s, w in zip(scores, weights, strict=True)])
        return scored

    def _scores(
        self, models: list[Any], bank: KernelBank, y: Array, train: Array, test: Array, fits: list[tuple[Fitted, Array]]
    ) -> list[dict[str, float]]:
        """The scores of fits whose values at the test rows are known; R^2 is computed for all in one call."""
        if self.scoring is None:
            values = np.hstack([values for _, values in fits])
            truth = as_columns(y[test])
            each = r2_score(np.tile(truth, len(fits)), values, multioutput="raw_values")
            return [{"score": score} for score in each.reshape(len(fits), -1).mean(axis=1).tolist()]
        inner = bank.block(train, train)
        outer = bank.block(test, train)
        scores = []
        for model, (fitted, values) in zip(models, fits, strict=True):
            model.publish(inner, [fitted], single=True)
            known = with_known_values(model, values)
            scores.append({name: float(scorer(known, outer, y[test])) for name, scorer in self.scorers.items()})
        return scores


def _named(folds: list[Fold]) -> list[tuple[str, Fold]]:
    """The folds with their names in a checkpoint."""
    return [(f"fold {number}", fold) for number, fold in enumerate(folds, 1)]


def blas_threads(n: int, n_jobs: int | None = None) -> Any:
    """As many BLAS threads as pay with n samples; one beside other threads of ours."""
    return threadpool_limits(1 if n <= ORDER_SMALL or n_jobs else None, user_api="blas")
