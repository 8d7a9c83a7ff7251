"""From decision values to probabilities, by the values of held-out samples and their labels.

    sigmoid      p(f) = 1 / (1 + exp(-(a f + b))), a and b of the largest likelihood of the targets (n+ + 1) / (n+ + 2)
                 and 1 / (n- + 2) in place of 1 and 0, so that separable classes do not give an infinite slope
    isotonic     p(f) non-decreasing, of least squared error

Platt (1999), Probabilistic outputs for support vector machines; Zadrozny and Elkan (2002), Transforming classifier
scores into accurate multiclass probability estimates.

The value of a sample is that of a model that was not fitted to it. These models are fitted to blocks of the training
bank, and each starts from the solution on all samples. They stop early, since calibration needs only a few digits of
the values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from multikernel._arrays import part_of
from multikernel._floats import SINGULAR, TINY
from multikernel._folds import FOLDS, UNDECIDED, Fold, Resampling, complete, pairs_of
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._warnings import keeping
from multikernel._workers import time_is_up, warn_of_cut_choice
from multikernel.banks import KernelBank
from multikernel.estimators.protocol import Fitted, Learner, Model
from multikernel.numerics.line_search import MOST_NEWTON_STEPS, SHORTEST
from multikernel.persistence.checkpoint import Checkpoint

Calibration = Literal["platt", "isotonic"]


class Calibrator(ABC):
    """The probability of the label +1, by decision value."""

    @abstractmethod
    def __call__(self, values: Array) -> Array:
        """The probabilities, of the shape of the values."""


@dataclass(frozen=True)
class Sigmoid(Calibrator):
    """1 / (1 + exp(-(slope f + offset)))."""

    slope: float
    offset: float

    def __call__(self, values: Array) -> Array:
        return expit(self.slope * values + self.offset)

    @classmethod
    def of(cls, values: Array, positive: Array, weight: Array) -> Sigmoid:
        """The sigmoid of the largest likelihood, by Newton steps.

        Parameters
        ----------
        values : array (n,)
        positive : bool array (n,), which labels are +1
        weight : array (n,) > 0, how often each sample counts
        """
        below, above = float(weight[~positive].sum()), float(weight[positive].sum())
        target = np.where(positive, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
        unit = float(np.abs(values).max(initial=0.0)) or 1.0
        x = np.stack([values / unit, np.ones(len(values))])
        theta = np.array([0.0, np.log((above + 1.0) / (below + 1.0))])
        loss = _loss(theta, x, target, weight)
        for _ in range(MOST_NEWTON_STEPS):
            p = expit(theta @ x)
            curvature = (x * (weight * p * (1.0 - p))) @ x.T
            curvature += SINGULAR * max(float(np.trace(curvature)), TINY) * np.eye(2)
            step = np.linalg.solve(curvature, x @ (weight * (p - target)))
            size = 1.0
            while size > SHORTEST and not _loss(theta - size * step, x, target, weight) < loss:
                size *= 0.5
            if size <= SHORTEST:
                break
            theta = theta - size * step
            loss = _loss(theta, x, target, weight)
        return cls(float(theta[0]) / unit, float(theta[1]))


def _loss(theta: Array, x: Array, target: Array, weight: Array) -> float:
    f = theta @ x
    return float(weight @ (np.logaddexp(0.0, f) - target * f))


@dataclass(frozen=True, eq=False)
class Isotonic(Calibrator):
    """Linear between the corners of a non-decreasing function, constant beyond them.

    Parameters
    ----------
    corners : array (c,), increasing decision values
    probability : array (c,), the function there
    """

    corners: Array
    probability: Array

    def __call__(self, values: Array) -> Array:
        return np.interp(values, self.corners, self.probability)

    @classmethod
    def of(cls, values: Array, positive: Array, weight: Array) -> Isotonic:
        """The non-decreasing function of least squared error; the parameters are those of ``Sigmoid.of``."""
        regression = IsotonicRegression(y_min=0.0, y_max=1.0).fit(values, positive.astype(float), weight)
        return cls(regression.X_thresholds_, regression.y_thresholds_)


def calibrator(kind: Calibration, values: Array, positive: Array, weight: Array) -> Calibrator:
    """The calibrator of this kind; without any held-out sample every probability is one half."""
    if kind == "isotonic" and len(values):
        return Isotonic.of(values, positive, weight)
    return Sigmoid.of(values, positive, weight)


# -- held-out values ---------------------------------------------------------------------------------------------------


def calibrate(
    model: Model,
    bank: KernelBank,
    target: Array,
    fitted: Sequence[Fitted],
    sample_weight: Array | None,
    learn: Learner,
    checkpoint: Checkpoint,
    resampling: Resampling,
) -> None:
    """Set ``calibrators_``, one for each binary problem of a fitted classifier, from held-out samples.

    The parameters are those of ``held_out_values``; the held-out values are saved in the checkpoint.
    """
    values = checkpoint.part(
        "held-out values", lambda: held_out_values(model, bank, target, fitted, sample_weight, learn, resampling)
    )
    weight = np.ones(len(target)) if sample_weight is None else sample_weight
    tasks = model._method.tasks(model, target, None)
    problems = [(task.rows, signs) for task in tasks for signs in as_columns(task.target).T]
    calibrators = []
    for problem_values, (rows, signs) in zip(values.T, problems, strict=True):
        has_value = ~np.isnan(problem_values[rows])
        held_out_rows = rows[has_value]
        positive = signs[has_value] > 0
        calibrators.append(
            calibrator(model.probability, problem_values[held_out_rows], positive, weight[held_out_rows])
        )
    model.calibrators_ = tuple(calibrators)


def held_out_values(
    model: Model,
    bank: KernelBank,
    target: Array,
    fitted: Sequence[Fitted],
    sample_weight: Array | None = None,
    learn: Learner | None = None,
    resampling: Resampling = UNDECIDED,
) -> Array:
    """The values of every problem at each training sample, shape (n, problems), by a model of the other folds.

    The values are NaN at samples that every model learns from: samples of weight zero, and samples whose removal would
    leave a class empty. Where a sample is held out several times, its first value is taken.

    Parameters
    ----------
    model : a classifier, fitted
    bank : its training bank
    target : array (n,) of labels
    fitted : the solutions of its problems
    sample_weight : array (n,) >= 0
    learn : how one problem is solved; by default as the classifier's method says
    resampling : how samples are held out

    Raises
    ------
    ValueError : where groups or given folds leave no training samples of every class
    """
    labels = np.searchsorted(model.classes_, target)
    folds = _folds(resampling, labels, np.ones(len(labels)) if sample_weight is None else sample_weight)
    values = np.full((len(labels), np.size(model.intercept_)), np.nan)

    def values_of_fold(train: Array, test: Array) -> Array:
        rough = _rough_copy(model, fitted[0].numbers)
        weight = part_of(sample_weight, train)
        starts = [f.among(train) for f in fitted]
        inner_resampling = resampling.among(train)
        rough.fit_bank(
            bank.block(train, train), target[train], starts, weight, learn, exact=False, resampling=inner_resampling
        )
        return np.asarray(rough._values(bank.block(test, train)))

    for train, test in folds:
        unseen = test[np.isnan(values[test, 0])]
        if len(unseen):  # the warnings of such a model would only confuse
            values[unseen], _ = keeping(partial(values_of_fold, train, unseen))
    if time_is_up():
        warn_of_cut_choice("the models that calibrate probabilities were not learned to their end")
    return values


def _folds(resampling: Resampling, labels: Array, weight: Array) -> list[Fold]:
    """The training samples of each fold, in order, and its test samples; samples of weight zero are in neither."""
    if not resampling.decided:
        return pairs_of(stratified(labels, weight, resampling.count or FOLDS))
    weighted_rows = np.flatnonzero(weight > 0)
    folds = resampling.among(weighted_rows).folds(labels[weighted_rows], FOLDS, np.random.default_rng(0))
    folds = complete(folds, labels[weighted_rows])
    if not folds:
        raise ValueError(
            "probabilities are calibrated on held-out samples, and every fold leaves out all samples of a class: give "
            "groups or cv of which some keep samples of every class for training"
        )
    return [(weighted_rows[np.sort(train)], weighted_rows[test]) for train, test in folds]


def stratified(labels: Array, weight: Array, count: int = FOLDS) -> Array:
    """The fold of each sample, 0 to ``count`` - 1; every fold has its share of each class.

    The fold is -1 for samples of weight zero, and for a sample that is the only one of its class: these are not held
    out.
    """
    folds = np.full(len(labels), -1)
    shuffled = np.random.default_rng(0).permutation(np.flatnonzero(weight > 0))
    shuffled = shuffled[np.argsort(labels[shuffled], kind="stable")]
    shuffled = shuffled[np.bincount(labels[shuffled])[labels[shuffled]] > 1]
    folds[shuffled] = np.arange(len(shuffled)) % count
    return folds


def _rough_copy(model: Model, numbers: Mapping[str, float]) -> Model:
    """A copy of a classifier that stops at a certificate of 0.05."""
    rough = copy(model)
    rough.probability, rough.verbose, rough.tol = None, 0, max(model.tol, 5e-2)
    for name, value in numbers.items():  # chosen once, on all samples
        setattr(rough, name, value)
    return rough
