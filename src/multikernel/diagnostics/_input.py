"""Checks of the matrices, banks and targets that the diagnostics take; each raises ValueError for an invalid one."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._arrays import refuse_masked
from multikernel._typing import Array
from multikernel.banks import KernelBank, precomputed
from multikernel.banks.checks import as_positive, check_finite, check_symmetric

_LARGEST = 1e300  # sums of some thousands of these are still numbers


def _real(values: Any, name: str) -> Array:
    refuse_masked(values, name)
    array = np.asarray(values)
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool) or np.iscomplexobj(array):
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}")
    return array


def square(K: Any, name: str = "K") -> Array:
    """K as a square float64 array, finite or not."""
    if isinstance(K, KernelBank):
        raise ValueError(f"{name} must be one kernel matrix, got a bank of {len(K)}; take bank.matrix(k) of kernel k")
    matrix = _real(K, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"{name} must be a square kernel matrix, got shape {matrix.shape}")
    return matrix.astype(np.float64, copy=False)


def symmetric(K: Any, name: str = "K") -> Array:
    """K as a square, finite and symmetric float64 array."""
    matrix = square(K, name)
    check_finite(matrix, name)
    check_symmetric(_as_given(K, matrix), name)
    return matrix


def positive(K: Any, name: str = "K") -> Array:
    """K as a symmetric positive semi-definite float64 array."""
    matrix = symmetric(K, name)
    as_positive(_as_given(K, matrix), name)
    return matrix


def _as_given(K: Any, matrix: Array) -> Array:
    """K as the user passed it, where it has single precision: the checks then allow for more rounding."""
    if getattr(K, "dtype", None) != np.float32:
        return matrix
    return np.asarray(K)


def centered(K: Array) -> Array:
    """J K J with J = I - 11'/n: the kernel of the features minus their mean."""
    mean = K.mean(axis=0)
    C = K - mean
    C -= mean[:, None]
    C += mean.mean()
    return C


def near_one(A: Array) -> Array:
    """A times a power of two, by which its largest entry is between 1/2 and 1: exact, and sums do not overflow."""
    return np.asarray(np.ldexp(A, -int(np.frexp(np.abs(A).max())[1])))


def as_bank(K: Any) -> KernelBank:
    """A square bank: K itself, or made of one matrix, of an array (m, n, n) or of a list of matrices."""
    if isinstance(K, KernelBank):
        if not K.square:
            raise ValueError(f"the bank must be square, its matrices have shape {K.shape}")
        return K
    refuse_masked(K, "K")
    if isinstance(K, list | tuple) and len(K) > 0 and np.ndim(K[0]) > 1:
        if np.size(K[0]) == 0:
            raise ValueError(f"K must have a sample at least, got a matrix of shape {np.shape(K[0])}")
        return precomputed(list(K))
    array = np.asarray(K)
    if array.ndim == 3:
        if array.size == 0:
            raise ValueError(f"K must have a kernel and a sample at least, got shape {array.shape}")
        return precomputed(array)
    return precomputed([positive(array)])


def check_power(bank: KernelBank, weights: Array, degree: int) -> None:
    """ValueError where a power of the weighted sum of the kernels is beyond double precision."""
    largest = float(np.abs(weights) @ bank.diagonal().max(axis=1))
    if largest > _LARGEST ** (1.0 / degree):
        raise ValueError(
            f"the kernels to the power {degree} are beyond double precision, with entries up to {largest:.3g}: divide "
            "the kernels by their largest entry"
        )


def target(y: Any, n: int) -> Array:
    """y as n finite numbers."""
    values = _real(y, "y")
    if values.shape != (n,):
        raise ValueError(f"y must have one value for each of the {n} samples, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"y has a NaN or infinity at position {np.flatnonzero(~np.isfinite(values))[0]}")
    return values.astype(np.float64, copy=False)


def signs(y: Any, n: int) -> Array:
    """Labels of two classes as -1 and +1, the larger label +1."""
    refuse_masked(y, "y")
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must have one label for each of the {n} samples, got shape {labels.shape}")
    if np.issubdtype(labels.dtype, np.floating):
        target(labels, n)
    classes, member = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"y must have two classes, got {len(classes)}: {', '.join(map(str, classes[:5]))}")
    return 2.0 * member - 1.0
