"""Warnings of what is likely to make a fit predict badly: one sentence with the cause and the remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.banks import KernelBank
from multikernel.estimators.protocol import Model
from multikernel.kernels import KernelFamily
from multikernel.kernels.facts import ExplicitFeatures

# the largest ratio of sizes without a warning: 13 was measured to cost nothing, 33 up to .05 of accuracy, 60 up to .12
_UNEQUAL = 30.0

_FAR = 200.0  # ranges of the middle 90 % of a feature: one value at 100 of them costs nothing, at 300 up to .11 of R2

# the largest ratio of squared means to variances without a warning: R2 lost .12 on average at 1, .15 at 4 and .15 at
# 25, of 4 and 20 columns; columns in [0, 1], which have 3, are common
_OFF_CENTRE = 10.0


def advise_on_far_values(name: str, X: Any, names: Sequence[Any] | None, row: str = "row {}") -> None:
    """Warn where a feature has a value so far from all others that its scale may be learned for this value.

    Parameters
    ----------
    name : of the estimator
    X : samples; only arrays of numbers are examined
    names : of the features
    row : how the row with a number is called
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or len(X) < 2:
        return
    low, middle, high = np.quantile(X, [0.05, 0.5, 0.95], axis=0)
    with np.errstate(over="ignore"):
        farthest = np.abs(X - middle).max(axis=0)
    far = np.flatnonzero((high > low) & (farthest > _FAR * (high - low)))
    if len(far):
        j = int(far[0])
        i = int(np.abs(X[:, j] - middle[j]).argmax())
        warn_user(
            f"{name}: {_named(names, j)} is {X[i, j]:.3g} in {row.format(i)}, and {low[j]:.3g} to {high[j]:.3g} in "
            "nine of ten samples: its scale may be learned for that value, and the feature be lost; correct the value, "
            "clip the feature, or take its logarithm or its ranks",
            PredictionWarning,
        )


def advise_on_features(name: str, X: Any, names: Sequence[Any] | None, reach: float) -> None:
    """Warn where default kernels will depend on few of the features, or have unsuitable widths.

    Parameters
    ----------
    name : of the estimator
    X : samples; only arrays of numbers are examined
    names : of the features
    reach : float, the factor by which the spread of the features may differ from 1, which the default kernels expect
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        spread = X.std(axis=0)
        varying = np.flatnonzero(spread > SINGULAR * np.abs(X).max(axis=0, initial=0.0))
        shares = np.sort(spread[varying] ** 2)
    if not len(varying) or not np.isfinite(shares).all():
        return
    # half of the features make up less than 1/100 of all squared distances
    if len(varying) > 1 and shares[: len(varying) // 2].sum() < 0.01 * shares.sum():
        small, large = (varying[int(pick(spread[varying]))] for pick in (np.argmin, np.argmax))
        warn_user(
            f"{name}: features of very different scale: {_named(names, large)} varies by {spread[large]:.2g} and "
            f"{_named(names, small)} by {spread[small]:.2g}, so that the default kernels hardly see half of the "
            "features; put a StandardScaler before, or use a LearnedScales estimator",
            PredictionWarning,
        )
        return
    typical = float(np.sqrt(shares.mean()))
    if not 1.0 / reach <= typical <= reach:
        warn_user(
            f"{name}: the features vary by about {typical:.2g}, and the widths of the default kernels are made for "
            "about 1; put a StandardScaler before, or give kernels of other widths",
            PredictionWarning,
        )


def advise_on_means(name: str, X: Any, family: KernelFamily) -> None:
    """Warn where all kernels are linear, the losses squared, and the columns' means large relative to their spread.

    The intercept is then the mean of the target, and no kernel has a constant: the learned function w'x cannot become
    w'(x - mean), so one direction of the columns is lost.

    Parameters
    ----------
    name : of the estimator, which has squared losses and an intercept
    X : samples; only arrays of numbers are examined
    family : of its kernels
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or len(family) > X.shape[1]:
        return
    if not all(any(isinstance(fact, ExplicitFeatures) for fact in kernel.facts()) for kernel in family):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = float(np.sum(X.mean(axis=0) ** 2) / np.sum(X.var(axis=0)))
    if np.isfinite(ratio) and ratio > _OFF_CENTRE:
        warn_user(
            f"{name}: linear kernels of columns whose means are {np.sqrt(ratio):.2g} times their standard deviations, "
            "and no kernel that has a constant: a direction of the columns is lost; centre the kernels "
            "(kernel.centered()), or put a StandardScaler before",
            PredictionWarning,
        )


def advise_on_lengths(name: str, X: Any, labels: Array) -> None:
    """Warn where the lengths of centred samples separate classes, while default kernels depend on directions only.

    Parameters
    ----------
    name : of the estimator
    X : samples; only arrays of numbers are examined
    labels : array (n,)
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return
    lengths = np.linalg.norm(X, axis=1)
    if not (np.isfinite(lengths).all() and lengths.min() > 0.0 and np.ptp(lengths) > SINGULAR * lengths.max()):
        return
    if np.linalg.norm(X.mean(axis=0)) > 0.01 * lengths.mean():  # the samples are not centred
        return
    z = np.log(lengths)
    z = (z - z.mean()) / z.std()
    classes, index = np.unique(labels, return_inverse=True)
    share = np.bincount(index) / len(labels)
    correlations = np.abs(np.bincount(index, z) / len(labels)) / np.sqrt(np.maximum(share * (1.0 - share), SINGULAR))
    k = int(correlations.argmax())
    if correlations[k] > 0.45:
        warn_user(
            f"{name}: the lengths of samples separate class {classes[k]!s} from the others (correlation "
            f"{correlations[k]:.2f}), and the default kernels see the directions of samples only; give "
            "kernels.rbf_grid(), or do not centre the features where zero means something",
            PredictionWarning,
        )


def advise_on_sizes_of(model: Model, bank: KernelBank) -> None:
    """Warn of kernels of very different size, unless they are the default kernels on the user's samples.

    A model that did not bind the kernels itself, that of a fold for instance, has no names for them and does not warn.
    """
    names = getattr(model, "base_kernel_names_", getattr(model, "kernel_names_", None))
    compared = model._method.sizes(model, bank)
    if compared is not None and names is not None and (model.kernels is not None or model._samples_bound is None):
        advise_on_sizes(type(model).__name__, compared, names)


def advise_on_sizes(name: str, bank: KernelBank, kernel_names: Sequence[Any]) -> None:
    """Warn where kernels are of very different size: the larger a kernel is, the more it counts, useful or not.

    The size of a kernel is its mean centred self-value, the mean squared distance of the samples from their mean in its
    feature space. The mean self-values have to differ, too, because only these change when kernels are normalised.

    Parameters
    ----------
    name : of the estimator
    bank : square KernelBank
    kernel_names : of the kernels
    """
    n, m = bank.shape[0], len(bank)
    if not 1 < m <= 10_000 or bank.of_distances:  # sizes of more kernels are not worth checking
        return
    self_values = bank.traces() / n
    positive = self_values[self_values > 0.0]
    if not len(positive) or positive.max() <= _UNEQUAL * positive.min():
        return
    sizes = self_values - bank.quad(np.full(n, 1.0 / n))
    varying = np.flatnonzero(sizes > SINGULAR * self_values)
    if not len(varying):
        return
    large, small = (int(varying[pick(sizes[varying])]) for pick in (np.argmax, np.argmin))
    if min(sizes[large] / sizes[small], self_values[large] / self_values[small]) > _UNEQUAL:
        warn_user(
            f"{name}: kernels of very different size: the mean self-value about the mean of the samples is "
            f"{sizes[large]:.2g} for kernel {kernel_names[large]} and {sizes[small]:.2g} for kernel "
            f"{kernel_names[small]}, and the larger a kernel the more it counts, whether it helps or not; normalise "
            "them first (kernel.normalized(); for kernels of single features a StandardScaler before)",
            PredictionWarning,
        )


def advise_on_constant(name: str, coef: Array, target: Array, numbers: Mapping[str, Any]) -> None:
    """Warn where all coefficients of the predictor are zero, though the target is not constant.

    Parameters
    ----------
    name : of the estimator
    coef : array of all coefficients
    target : array (n,) or (n, t), or labels
    numbers : the regularisation
    """
    if coef.any() or not isinstance(target, np.ndarray) or (target == target[:1]).all():
        return
    settings = ", ".join(f"{key}={value:.3g}" for key, value in numbers.items() if not isinstance(value, str))
    cause = "the kernels explain nothing of it"
    if "epsilon" in numbers:
        cause = "every residual is smaller than epsilon"
    warn_user(
        f"{name}: the predictor is constant: at {settings or 'these parameters'} {cause}; give smaller values, or "
        "'auto'",
        PredictionWarning,
    )


def _named(names: Sequence[Any] | None, column: int) -> str:
    if names is None:
        return f"feature {column}"
    return repr(names[column])
