"""Scores on a fold with some of the sources.

An estimator of this package binds the kernels of all sources once to a fold's training samples, and they learn from
these alone; a set of sources is then a set of kernels of that bank. Any other estimator is fitted to samples that
consist of these sources.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from multikernel._arrays import part_of
from multikernel._folds import Fold
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.scores import Scorer, quick_scorer
from multikernel.estimators.several import stored
from multikernel.estimators.steps import Steps
from multikernel.inspection.source_parts import (
    ColumnParts,
    KernelParts,
    Parts,
    ViewParts,
    sources_of_views,
    with_moved_kernels,
)


def last_step(estimator: Any) -> Any:
    """The estimator, or the last step of a pipeline."""
    if not isinstance(estimator, Pipeline):
        return estimator
    return estimator.steps[-1][1]


def takes_bank(estimator: Any) -> bool:
    """Whether an estimator, or the last step of a pipeline, is fitted to a bank whose kernels can be left out."""
    model = last_step(estimator)
    return isinstance(model, KernelEstimator) and model.kernels_can_be_left_out


@dataclass(frozen=True, eq=False)
class Setting:
    """The estimator, the data and the scoring.

    Parameters
    ----------
    estimator : as the user gave it
    parts : the samples
    sources : int arrays, for each source the numbers of its parts, or of its kernels with ``by_kernels``
    by_kernels : whether the sources are the kernels of groups of columns
    y : array (n,) or (n, t)
    groups : array (n,), or None
    scoring : as in scikit-learn
    """

    estimator: Any
    parts: Parts
    sources: Sequence[Array]
    by_kernels: bool
    y: Array
    groups: Array | None
    scoring: Any

    def fits(self, fold: Fold) -> FoldFits:
        """The fits on a fold: on one bank where the estimator takes a bank whose kernels are those of the sources."""
        if takes_bank(self.estimator) and (self.by_kernels or not isinstance(self.parts, ColumnParts)):
            return BankFits.of(self, *fold)
        return SampleFits(self, *fold)

    def constant_score(self, fold: Fold) -> float:
        """The score on a fold without sources: by the prior of the classes or the mean of the training targets."""
        train, test = fold
        none = np.zeros((len(self.y), 1))
        if is_classifier(self.estimator):
            model = DummyClassifier(strategy="prior")
        else:
            model = DummyRegressor()
        model.fit(none[train], self.y[train])
        return float(check_scoring(model, self.scoring)(model, none[test], self.y[test]))


class FoldFits(ABC):
    """The fits on a fold, to some of the sources."""

    @abstractmethod
    def score(self, sources: Sequence[int], moved: int | None = None, order: Array | None = None) -> float:
        """The held-out score with some of the sources.

        Parameters
        ----------
        sources : one or more sources by number, in ascending order
        moved : a source that sample i has from sample ``order[i]``, in training and test samples; None for none
        order : int array (n,), which maps training samples to training samples, and test samples to test samples
        """


@dataclass(frozen=True, eq=False)
class BankFits(FoldFits):
    """Fits on the kernels of one bank.

    Parameters
    ----------
    model : the estimator, which is cloned for each fit
    scorer : function of a model, new samples and their target
    inner, outer : banks of all sources, of training and of test samples against the training samples
    kernels : int arrays, the kernels of each source
    names : the names of the kernels
    target, truth : the targets of the training and of the test samples
    train, test : int arrays, the samples
    groups : array, the groups of the training samples, or None
    """

    model: KernelEstimator
    scorer: Scorer
    inner: KernelBank
    outer: KernelBank
    kernels: Sequence[Array]
    names: Array
    target: Array
    truth: Array
    train: Array
    test: Array
    groups: Array | None

    @classmethod
    def of(cls, setting: Setting, train: Array, test: Array) -> BankFits:
        """The fits on a fold; kernels and steps learn from its training samples only."""
        y, parts = setting.y, setting.parts
        steps = Steps.of(setting.estimator, "source_values binds")
        X = parts.only(np.arange(len(parts.names)))
        learned, before = steps.applied(_safe_indexing(X, train), y[train])
        model = clone(steps.last)
        model.check_parameters()
        inner, target = model.bind(learned, y[train])
        if isinstance(parts, KernelParts):
            inner, outer = inner.compact(), parts.bank.block(test, train)
        else:
            test_samples = _safe_indexing(X, test)
            if before is not None:
                test_samples = before.transform(test_samples)
            if isinstance(parts, ViewParts):
                outer = inner.cross(test_samples)
            else:
                outer = model.against(inner, test_samples)
        kernels = setting.sources
        if isinstance(parts, ViewParts):
            of_view = sources_of_views(model.kernel_names_, parts.names)
            kernels = [
                np.sort(np.concatenate([of_view[view] for view in source_views])) for source_views in setting.sources
            ]
        scorer = quick_scorer(model, setting.scoring)
        groups = part_of(setting.groups, train)
        return cls(
            model,
            scorer,
            inner,
            stored(outer),
            kernels,
            np.asarray(model.kernel_names_),
            target,
            y[test],
            train,
            test,
            groups,
        )

    def score(self, sources: Sequence[int], moved: int | None = None, order: Array | None = None) -> float:
        inner, outer = self.inner, self.outer
        if moved is not None and order is not None:
            position = np.zeros(len(order), dtype=int)
            position[self.train] = np.arange(len(self.train))
            position[self.test] = np.arange(len(self.test))
            columns, rows = position[order[self.train]], position[order[self.test]]
            inner = with_moved_kernels(inner, self.kernels[moved], columns, columns).compact()
            outer = with_moved_kernels(outer, self.kernels[moved], rows, columns)
        chosen = np.sort(np.concatenate([self.kernels[source] for source in sources]))
        if len(chosen) < len(inner):
            inner, outer = inner.select(chosen), outer.select(chosen)
        model = clone(self.model)
        model.kernel_names_ = self.names[chosen]
        model.fit_bank(inner, self.target, exact=False, resampling=model.resampling(self.groups, self.target))
        return self.scorer(model, outer, self.truth)


@dataclass(frozen=True, eq=False)
class SampleFits(FoldFits):
    """Fits to samples of some of the sources.

    Parameters
    ----------
    setting : Setting
    train, test : int arrays, the samples
    """

    setting: Setting
    train: Array
    test: Array

    def score(self, sources: Sequence[int], moved: int | None = None, order: Array | None = None) -> float:
        setting, parts = self.setting, self.setting.parts
        if moved is not None and order is not None:
            parts = parts.moved(setting.sources[moved], order)
        X = parts.only(np.sort(np.concatenate([setting.sources[source] for source in sources])))
        model = clone(setting.estimator)
        model.fit(_safe_indexing(X, self.train), setting.y[self.train], **self._group_argument())
        scorer = check_scoring(model, setting.scoring)
        return float(scorer(model, _safe_indexing(X, self.test), setting.y[self.test]))

    def _group_argument(self) -> dict[str, Any]:
        """The groups of the training samples, under the name of the argument of ``fit``."""
        estimator, groups = self.setting.estimator, self.setting.groups
        if groups is None or not has_fit_parameter(last_step(estimator), "groups"):
            return {}
        name = "groups"
        if isinstance(estimator, Pipeline):
            name = f"{estimator.steps[-1][0]}__groups"
        return {name: groups[self.train]}
