"""The candidates of a group on every fold: on one bank where no step learns from the samples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import r2_score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples
from threadpoolctl import threadpool_limits

from multikernel._folds import Fold
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._workers import on_threads
from multikernel.banks import KernelBank
from multikernel.estimators.binding import require_target
from multikernel.estimators.checks import checked_target
from multikernel.estimators.predictor import with_known_values
from multikernel.estimators.protocol import Fitted
from multikernel.estimators.scores import quick_scorer
from multikernel.estimators.several import in_one_pass, share_reference, stored, with_values_at
from multikernel.persistence.checkpoint import Checkpoint
from multikernel.selection.folds import folds_of
from multikernel.selection.groups import Group, SearchedGroup
from multikernel.selection.table import Scored
from multikernel.tuning import ORDER_SMALL

_ALL = "all folds"  # the one part in a checkpoint of candidates that are fitted together


@dataclass(eq=False)
class Trials:
    """Trials of groups of candidates, all on the folds of the first group, as a splitter may draw others each time.

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
            target = _target(model, X, y)
            folds = self._folds(model, target)
            checkpoint = self._checkpoint(group, X, y, folds)
            jobs = [
                partial(self._on_separate_bank, group, X, target, *fold, checkpoint, name)
                for name, fold in _named(folds)
            ]
            with blas_threads(len(target), self.n_jobs):
                done = on_threads(jobs, self.n_jobs, verbose=self.verbose)
            return SearchedGroup([scored for scored, _ in done], done[0][1], None, checkpoint)
        samples, before = group.steps.applied(X, y)
        bank, target = model.bind(samples, y)
        folds = self._folds(model, target)
        checkpoint = self._checkpoint(group, X, y, folds)
        with blas_threads(len(target), self.n_jobs):
            scores_of_folds = self._on_one_bank(group, bank, target, folds, checkpoint)
        return SearchedGroup(scores_of_folds, len(bank), (before, model, bank, target), checkpoint)

    def _folds(self, model: Any, target: Array) -> list[Fold]:
        """The folds of every group."""
        if self._drawn is None:
            self._drawn = folds_of(self.cv, model, target, self.scoring, self.groups)
        return self._drawn

    def _checkpoint(self, group: Group, X: Any, y: Any, folds: list[Fold]) -> Checkpoint:
        """The checkpoint of the folds of a group of candidates."""
        last = group.steps.last
        task = f"search of {type(last).__name__}"
        checkpoint = Checkpoint.of(
            self.checkpoint, task, last, group.steps.before, group.member_params, X, y, folds, self.scoring, self.groups
        )
        if group.steps.once and group.only_alpha:
            checkpoint.expect([_ALL])
        else:
            checkpoint.expect([name for name, _ in _named(folds)])
        return checkpoint

    def _on_one_bank(
        self, group: Group, bank: KernelBank, y: Array, folds: list[Fold], checkpoint: Checkpoint
    ) -> list[list[Scored]]:
        """The scores on folds that are blocks of a bank; all folds together where ``only_alpha`` allows it."""
        if group.only_alpha:
            return checkpoint.part(_ALL, lambda: self._scores_of_all_folds(group, bank, y, folds))

        def of_fold(name: str, train: Array, test: Array) -> list[Scored]:
            def score() -> list[Scored]:
                inner = bank.block(train, train)
                outer = bank.block(test, train)
                return self._scores_on_banks(
                    group, inner, y[train], outer, y[test], checkpoint.under(name), self._groups(train)
                )

            return checkpoint.part(name, score)

        jobs = [partial(of_fold, name, *fold) for name, fold in _named(folds)]
        return on_threads(jobs, self.n_jobs, verbose=self.verbose)

    def _on_separate_bank(
        self, group: Group, X: Any, y: Array, train: Array, test: Array, checkpoint: Checkpoint, name: str
    ) -> tuple[list[Scored], int]:
        """The scores on a fold whose steps are fitted to its training samples, and the number of kernels."""

        def score() -> tuple[list[Scored], int]:
            learned, before = group.steps.applied(_safe_indexing(X, train), y[train])
            model = group.models()[0]
            inner, target = model.bind(learned, y[train])
            held_out = before.transform(_safe_indexing(X, test))
            outer = model.against(inner, held_out)
            scored = self._scores_on_banks(
                group, inner, target, outer, y[test], checkpoint.under(name), self._groups(train)
            )
            return scored, len(inner)

        return checkpoint.part(name, score)

    def _scores_on_banks(
        self,
        group: Group,
        inner: KernelBank,
        y: Array,
        outer: KernelBank,
        truth: Array,
        checkpoint: Checkpoint,
        groups: Array | None,
    ) -> list[Scored]:
        """The scores of every candidate: fitted on one bank with warm starts, scored on another in one pass for all."""
        models, seconds = zip(*group.fitted(inner, y, checkpoint, groups), strict=True)
        share_reference(models, inner)
        if not in_one_pass(models):
            outer = stored(outer)
        scorers = self.scorers
        if self.scoring is None:
            scorers = {"score": quick_scorer(models[0], None)}
        scored = []
        for model, spent in zip(with_values_at(models, outer), seconds, strict=True):
            scores = {name: float(scorer(model, outer, truth)) for name, scorer in scorers.items()}
            scored.append(Scored(scores, spent, model.weights_))
        return scored

    def _groups(self, rows: Array) -> Array | None:
        """The groups of some of the samples."""
        if self.groups is None:
            return None
        return np.asarray(self.groups)[rows]

    def _scores_of_all_folds(self, group: Group, bank: KernelBank, y: Array, folds: list[Fold]) -> list[list[Scored]]:
        """Candidates that differ in alpha: one decomposition for all, and where possible for all folds as well."""
        models = group.models()
        start = perf_counter()
        fits = models[0].fit_folds(bank, y, [model.alpha for model in models], folds)
        seconds = (perf_counter() - start) / (len(models) * len(folds))
        scored = []
        for (train, test), fold_fits in zip(folds, fits, strict=True):
            scores = self._scores(models, bank, y, train, test, fold_fits)
            weights = [fit.weights.values for fit, _ in fold_fits]
            scored.append([Scored(s, seconds, w) for s, w in zip(scores, weights, strict=True)])
        return scored

    def _scores(
        self, models: list[Any], bank: KernelBank, y: Array, train: Array, test: Array, fits: list[tuple[Fitted, Array]]
    ) -> list[dict[str, float]]:
        """The scores of fits whose values at the test rows are known; R^2 is computed for all in one call."""
        if self.scoring is None:
            values = np.hstack([values for _, values in fits])
            truth = as_columns(y[test])
            r2_scores = r2_score(np.tile(truth, len(fits)), values, multioutput="raw_values")
            return [{"score": score} for score in r2_scores.reshape(len(fits), -1).mean(axis=1).tolist()]
        inner = bank.block(train, train)
        outer = bank.block(test, train)
        scores = []
        for model, (fitted, values) in zip(models, fits, strict=True):
            model.publish(inner, [fitted], single=True)
            scored_model = with_known_values(model, values)
            scores.append({name: float(scorer(scored_model, outer, y[test])) for name, scorer in self.scorers.items()})
        return scores


def _target(model: Any, X: Any, y: Any) -> Array:
    """The target as a bank would be bound with it: labels are a vector, and no target is zeros.

    Raises
    ------
    ValueError : where the model needs a target and there is none, or X and y have different numbers of rows
    """
    require_target(model, y)
    n = _num_samples(X)
    if y is None:
        return np.zeros(n)
    return checked_target(y, n, multi_output=not is_classifier(model))


def _named(folds: list[Fold]) -> list[tuple[str, Fold]]:
    """The folds with their names in a checkpoint."""
    return [(f"fold {number}", fold) for number, fold in enumerate(folds, 1)]


def blas_threads(n: int, n_jobs: int | None = None) -> Any:
    """A limit on BLAS threads: one for few samples, or beside threads over folds; else none."""
    return threadpool_limits(1 if n <= ORDER_SMALL or n_jobs else None, user_api="blas")
