"""What is likely to make a fit predict badly, said once in one sentence with the cause and the mend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.banks import KernelBank

_UNSEEN = 0.01  # of all squared distances: what half of the features may make up without being seen
_UNEQUAL = 100.0  # kernels whose sizes differ by more are of very different size
_ALL = 0.999  # of the weight
_CONSTANT = 1e-10  # of the largest entry: a column that varies less is a constant
_CENTRED = 0.01  # of the mean length: what the mean of centred samples is shorter than
_TELLING = 0.45  # correlation of a class with the logarithm of the samples' lengths
_MANY = 10_000  # kernels beyond which nobody looks at their sizes


def advise_on_features(name: str, X: Any, names: Sequence[Any] | None, reach: float) -> None:
    """Say where default kernels will see few of the features, or none of them as they should.

    Parameters
    ----------
    name : of the estimator
    X : samples, of which an array of numbers is looked at
    names : of the features
    reach : float, by how much the spread of the features may be more or less than the 1 that the kernels are made for
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        spread = X.std(axis=0)
        used = np.flatnonzero(spread > _CONSTANT * np.abs(X).max(axis=0, initial=0.0))
        shares = np.sort(spread[used] ** 2)
    if not len(used) or not np.isfinite(shares).all():
        return
    if len(used) > 1 and shares[: len(used) // 2].sum() < _UNSEEN * shares.sum():
        small, large = (used[int(pick(spread[used]))] for pick in (np.argmin, np.argmax))
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


def advise_on_lengths(name: str, X: Any, labels: Array) -> None:
    """Say where the lengths of centred samples tell classes apart, and default kernels see directions only.

    Parameters
    ----------
    name : of the estimator
    X : samples, of which an array of numbers is looked at
    labels : array (n,)
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return
    lengths = np.linalg.norm(X, axis=1)
    if not (np.isfinite(lengths).all() and lengths.min() > 0.0 and np.ptp(lengths) > _CONSTANT * lengths.max()):
        return
    if np.linalg.norm(X.mean(axis=0)) > _CENTRED * lengths.mean():
        return
    z = np.log(lengths)
    z = (z - z.mean()) / z.std()
    classes, index = np.unique(labels, return_inverse=True)
    share = np.bincount(index) / len(labels)
    alike = np.abs(np.bincount(index, z) / len(labels)) / np.sqrt(np.maximum(share * (1.0 - share), _CONSTANT))
    k = int(alike.argmax())
    if alike[k] > _TELLING:
        warn_user(
            f"{name}: the lengths of samples tell class {classes[k]!s} from the others (correlation {alike[k]:.2f}), "
            "and the default kernels see the directions of samples only; give kernels.rbf_grid(), or do not centre "
            "the features where zero means something",
            PredictionWarning,
        )


def advise_on_sizes(name: str, bank: KernelBank, weights: Array, kernel_names: Sequence[Any]) -> None:
    """Say where the largest of kernels of very different size got all the weight.

    Parameters
    ----------
    name : of the estimator
    bank : square KernelBank
    weights : array (problems, m)
    kernel_names : of the kernels
    """
    m = len(bank)
    if not 1 < m <= _MANY or weights.shape[1] != m or bank.of_distances:
        return
    shares = weights.max(axis=0) / max(float(weights.max()), np.finfo(float).tiny)
    first = int(shares.argmax())
    if shares.sum() - shares[first] > 1.0 - _ALL:
        return
    sizes = bank.traces() / bank.shape[0]
    some = sizes[sizes > 0]
    if len(some) > 1 and sizes[first] == some.max() > _UNEQUAL * np.median(some):
        warn_user(
            f"{name}: kernels of very different size: all the weight is on kernel {kernel_names[first]}, whose mean "
            f"self-value {sizes[first]:.2g} is {sizes[first] / np.median(some):.2g} times that of most others; size "
            "decides here as much as use, so normalise the kernels first (kernel.normalized())",
            PredictionWarning,
        )


def advise_on_constant(name: str, coef: Array, target: Array, numbers: Mapping[str, Any]) -> None:
    """Say where all coefficients of the predictor are zero, though the target is not constant.

    Parameters
    ----------
    name : of the estimator
    coef : array of all coefficients
    target : array (n,) or (n, t), or labels
    numbers : the regularisation
    """
    if coef.any() or (target == target[:1]).all():
        return
    given = ", ".join(f"{key}={value:.3g}" for key, value in numbers.items() if not isinstance(value, str))
    cause = "every residual is smaller than epsilon" if "epsilon" in numbers else "the kernels explain nothing of it"
    warn_user(
        f"{name}: the predictor is constant: at {given or 'these parameters'} {cause}; give smaller values, or 'auto'",
        PredictionWarning,
    )


def _named(names: Sequence[Any] | None, column: int) -> str:
    return f"feature {column}" if names is None else repr(names[column])
