"""The score of every target, split over the kernels whose sum the prediction is.

The prediction of a target y is f = b + f_1 + ... + f_m, with a constant b and a function of each kernel. Written with
z = y - b, g = f - b, and sums over samples with weights, of which S = sum_i s_i (y_i - mean(y))^2,

    R2 = 1 - |y - f|^2 / S = R2(b) + sum_k (2 z'f_k - f_k'g) / S,          R2(b) = 1 - |z|^2 / S.

The term of k is its part of R2 by the product measure. It is also the Shapley value of the game in which kernels enter
the prediction one after the other, in any order: what two kernels explain together is halved between them, and a kernel
whose function makes predictions worse has a negative part. R2(b) <= 0 is the score of the constant, zero where the mean
of y is that of the training targets. It belongs to no kernel, and is divided among all in proportion to |f_k|^2: a
kernel whose function is zero gets no part of it.

Columns without penalty add a function h to b, which may explain much. Their score R2(b + h) is then given to no kernel,
and the parts sum to R2 - R2(b + h).

The correlation of y and f is already a sum over the kernels:

    corr(y, f) = sum_k cov(y, f_k) / (sd(y) sd(f)).

Dupre la Tour, Eickenberg, Nunez-Elizalde and Gallant, "Feature-space selection with banded ridge regression",
NeuroImage 264, 2022, for the product measure with several targets; Hoffman, "The paired-comparison assessment of
relative importance", Psychological Bulletin 57, 1960, and Pratt, "Dividing the indivisible", 1987, for the measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_array

from multikernel._arrays import host
from multikernel._floats import ROUNDING
from multikernel._linalg import as_columns
from multikernel._rules import Choice
from multikernel._typing import Array
from multikernel.banks.threads import slices
from multikernel.estimators.checks import check_target
from multikernel.estimators.parameters import checked_weights
from multikernel.estimators.target_columns import TargetColumns
from multikernel.sources.rows import aligned
from multikernel.tuning import BUFFER_VALUES

SplitScoring = Literal["r2", "correlation"]
_SCORINGS = Choice(("r2", "correlation"))
_FEWEST_TARGETS = 16  # blocks of rows are small enough that contributions to this many targets fit into memory


@dataclass(frozen=True, eq=False)
class Part:
    """What kernels add to the predictions of some targets at some samples.

    Parameters
    ----------
    rows, targets : slices of the samples and of the targets
    values : array (rows, kernels, targets)
    """

    rows: slice
    targets: slice
    values: Array


def parts_of(model: Any, X: Any) -> Iterator[Part]:
    """The contributions of a model's kernels at samples X, in blocks of limited size."""
    m, start = model.weights_.shape[-1], 0
    for bank in model.banks(X, m * _FEWEST_TARGETS):
        rows = slice(start, start + bank.shape[0])
        for targets in slices(np.size(model.intercept_), max(1, BUFFER_VALUES // max(1, m * bank.shape[0]))):
            yield Part(rows, targets, model.predictor_.contributions(bank, targets))
        start = rows.stop


@dataclass(frozen=True, eq=False)
class SplitSums:
    """Weighted sums over samples, from which the parts of scores are computed; blocks of samples are added in place.

    Parameters
    ----------
    Y : array (n, t), or an object that returns blocks of it as ``Y[rows, targets]``
    intercept, mean : arrays (t,), b and the mean of the targets
    fixed : array (n, t), h of the columns without penalty; None where there are none
    weight : array (n,)
    with_target, with_rest, with_sum, squares : arrays (m, t), sums of f_k (y - mean), f_k (y - b - h), f_k g and f_k^2
    spread, errors, bias, predicted : arrays (t,), sums of (y - mean)^2, (y - f)^2, f - mean and (f - mean)^2
    """

    Y: Any
    intercept: Array
    mean: Array
    fixed: Array | None
    weight: Array
    with_target: Array
    with_rest: Array
    with_sum: Array
    squares: Array
    spread: Array
    errors: Array
    bias: Array
    predicted: Array

    @classmethod
    def of(cls, Y: Any, intercept: Array, mean: Array, fixed: Array | None, weight: Array, m: int) -> SplitSums:
        """The sums over no samples."""
        return cls(Y, intercept, mean, fixed, weight, *np.zeros((4, m, len(mean))), *np.zeros((4, len(mean))))

    def add(self, block: Part) -> None:
        """Add the terms of some samples and targets."""
        rows, targets, values = block.rows, block.targets, block.values
        s = self.weight[rows]
        g = values.sum(axis=1)
        y = self.Y[rows, targets] - self.mean[targets]
        without_kernels = (self.intercept - self.mean)[targets]
        if self.fixed is not None:
            without_kernels = without_kernels + self.fixed[rows, targets]
        f = g + without_kernels
        self.with_target[:, targets] += np.einsum("it,ikt->kt", s[:, None] * y, values)
        self.with_rest[:, targets] += np.einsum("it,ikt->kt", s[:, None] * (y - without_kernels), values)
        self.with_sum[:, targets] += np.einsum("it,ikt->kt", s[:, None] * g, values)
        self.squares[:, targets] += np.einsum("i,ikt,ikt->kt", s, values, values)
        self.spread[targets] += s @ y**2
        self.errors[targets] += s @ (y - f) ** 2
        self.bias[targets] += s @ f
        self.predicted[targets] += s @ f**2

    def r2(self, varies: Array) -> Array:
        """The parts of R2 of the targets that vary."""
        parts = _over(2.0 * self.with_rest - self.with_sum, self.spread, varies)
        if self.fixed is not None:
            return parts
        scores = np.where(varies, 1.0, 0.0) - _over(self.errors, self.spread, varies)
        squares_of_target = self.squares.sum(axis=0)
        positive = squares_of_target > 0
        share = np.where(positive, _over(self.squares, squares_of_target, positive), 1.0 / len(self.squares))
        return parts + (scores - parts.sum(axis=0)) * share

    def correlations(self, varies: Array) -> Array:
        """The parts of the correlations of the targets that vary with predictions that do."""
        variance = np.maximum(self.predicted - self.bias**2 / self.weight.sum(), 0.0)
        variance[variance <= ROUNDING * self.predicted] = 0.0
        return _over(self.with_target, np.sqrt(self.spread) * np.sqrt(variance), varies)


def split_scores(
    model: Any,
    X: Any,
    Y: Any,
    blocks: Iterable[Part],
    scoring: SplitScoring,
    sample_weight: Any = None,
    fixed: Array | None = None,
) -> Array:
    """The score of each target of a fitted model, split over its kernels: shape (kernels, targets).

    Parameters
    ----------
    model : a fitted regressor with an ``intercept_``
    X, Y : as its ``score`` takes them, with finite numbers in Y; a memory map, or a data set of HDF5 or zarr, is read
        in parts
    blocks : what kernels add to the predictions for X, every sample and target once, samples in order
    scoring : "r2" or "correlation"
    sample_weight : array (n,) or None
    fixed : array (n, t), what columns without penalty add to the predictions; None where there are none

    Raises
    ------
    ValueError : where Y is not of the model's targets or of X's samples, or holds anything but finite numbers
    """
    name = f"{type(model).__name__}: score_split"
    _SCORINGS.check(scoring, f"{name}: scoring")
    Y, sample_weight = aligned(X, Y=Y, sample_weight=sample_weight)
    Y = _checked(Y)
    intercept = np.atleast_1d(model.intercept_)
    if Y.shape[1] != len(intercept):
        raise ValueError(f"{name}: Y has {Y.shape[1]} targets, and the model has {len(intercept)}")
    weight = checked_weights(sample_weight, len(Y))
    weights_of_samples = np.ones(len(Y)) if weight is None else weight
    mean, varies = _means(Y, weights_of_samples)
    sums = SplitSums.of(Y, intercept, mean, fixed, weights_of_samples, np.shape(model.weights_)[-1])
    done = 0
    for block in blocks:
        done = block.rows.stop
        if done > len(Y):
            break
        sums.add(block)
    if done != len(Y):
        raise ValueError(f"{name}: Y has {len(Y)} rows, and X has {'more' if done > len(Y) else done}")
    if scoring == "r2":
        return sums.r2(varies)
    return sums.correlations(varies)


def _checked(Y: Any) -> Any:
    """Targets (n, t) of finite numbers: an array, or columns that are checked as they are read."""
    columns = TargetColumns.of(Y, "Y")
    if columns is not None:
        return columns
    check_target(Y)
    return as_columns(check_array(host(Y), ensure_2d=False, input_name="Y", dtype=(np.float64, np.float32)))


def _means(Y: Any, weight: Array) -> tuple[Array, Array]:
    """The mean of each target and whether it varies: shapes (t,)."""
    t = Y.shape[1]
    mean = np.empty(t)
    varies = np.empty(t, dtype=bool)
    for columns in slices(t, max(1, BUFFER_VALUES // len(Y))):
        values = Y[:, columns]
        mean[columns] = weight @ values / weight.sum()
        varies[columns] = np.ptp(values if weight.all() else values[weight > 0], axis=0) > 0
    return mean, varies


def _over(values: Array, unit: Array, defined: Array) -> Array:
    """Values divided by the unit of each target; zero where the quotient is not defined, or the unit is zero."""
    return np.divide(values, unit, out=np.zeros(values.shape), where=defined & (unit > 0))
