"""Checks that arrays are kernel matrices, with errors that say where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from multikernel._arrays import host
from multikernel._floats import TINY
from multikernel._rules import shortened
from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.banks.threads import slices
from multikernel.numerics.definite import negative_eigenvalue, precision, rounding
from multikernel.tuning import TILE_ROWS


def as_array(values: Any, name: str) -> Array:
    """An array; ValueError for lists of different lengths, and for one that holds itself."""
    try:
        return np.asarray(host(values))
    except ValueError:
        raise ValueError(
            f"{name} is no table: it has rows of different lengths, or cells that are lists. Give every sample a row "
            "with as many cells as any other"
        ) from None


def refuse_fields(values: Any, name: str, instead: str) -> None:
    """ValueError for a structured array."""
    fields = getattr(getattr(values, "dtype", None), "names", None)
    if fields:
        raise ValueError(f"{name} is a structured array with the fields {shortened(fields)}; {instead}")


def real(K: Any, name: str) -> Array:
    """An array of numbers, in the precision in which it was given; ValueError for complex numbers and for strings."""
    array = as_array(K, name)
    if array.dtype.kind == "c" or _holds(array, complex):
        raise ValueError(f"{name} holds complex numbers, and kernels are real; pass the real part if that is all it is")
    check_numbers(array, name)
    return array


def numbers(values: Any, name: str) -> Array:
    """An array of doubles; ValueError where the values are anything else."""
    try:
        return np.asarray(real(values, name), dtype=float)
    except OverflowError:
        raise ValueError(
            f"{name} contains a number above 1e308, more than double precision holds: give it in larger units"
        ) from None
    except TypeError as error:
        raise ValueError(f"{name} must hold numbers ({error})") from None


def check_numbers(array: Array, name: str) -> None:
    """ValueError for dates, and for strings, also those that could be read as numbers."""
    if array.dtype.kind in "USmM" or _holds(array, str | bytes):
        kind = "dates or times" if array.dtype.kind in "mM" else "strings"
        raise ValueError(f"{name} holds {kind}, not numbers; convert them first if they mean numbers")


def _holds(array: Array, kind: Any) -> bool:
    return array.dtype.kind == "O" and any(isinstance(value, kind) for value in array.flat)


def check_finite(K: Array, name: str) -> None:
    """ValueError where K has a NaN or infinity, with its position."""
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"{name} has a NaN or infinity at row {i}, column {j}")


def check_trace(K: Array, name: str) -> None:
    """ValueError where the trace overflows."""
    with np.errstate(over="ignore"):
        if not np.isfinite(np.trace(K)):
            raise ValueError(
                f"{name} has a trace beyond double precision, with entries up to {np.abs(K).max():.3g}: divide the "
                "matrix by its largest entry"
            )


def check_values(bank: KernelBank, names: Any) -> None:
    """ValueError that names the first kernel with a value that is NaN or infinite; a pass over all kernels."""
    with np.errstate(all="ignore"):
        sums = bank.apply(np.full((bank.shape[1], 1), 1.0 / bank.shape[1]))
    _check_kernels(sums.reshape(len(bank), -1), names)


def check_self_values(bank: KernelBank, names: Any) -> None:
    """ValueError that names the first kernel with a self-value that is NaN or infinite, as after most overflows."""
    with np.errstate(all="ignore"):
        _check_kernels(bank.traces()[:, None], names)


def _check_kernels(values: Array, names: Any) -> None:
    faulty = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(faulty):
        if len(names) == len(values):
            name = str(names[faulty[0]])
        else:
            name = f"kernel {faulty[0]}"
        raise ValueError(
            f"{name} has values that are NaN or infinite on these samples: scale the features, to [-1, 1] say, or "
            "give them in double precision"
        )


def check_symmetric(K: Array, name: str) -> None:
    """ValueError where K is not symmetric, with the pair of entries that differ most."""
    tiles = slices(len(K), TILE_ROWS)  # tiles of K and of its transpose fit into the cache
    largest_difference = max((float(np.abs(K[tile] - K[:, tile].T).max(initial=0.0)) for tile in tiles), default=0.0)
    largest = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    if largest_difference > rounding(K) * largest and largest_difference > precision(K) * largest:
        difference = np.abs(K - K.T)
        i, j = np.unravel_index(difference.argmax(), K.shape)
        raise ValueError(
            f"{name} is not symmetric: entry ({i}, {j}) is {K[i, j]:.6g} and entry ({j}, {i}) is {K[j, i]:.6g}"
        )


def as_positive(K: Array, name: str, psd: float | None = None, clip: bool = False) -> tuple[Array, float]:
    """K, or if ``clip`` the nearest positive semi-definite matrix, and its relative distance from K.

    Parameters
    ----------
    K : array (n, n), symmetric
    name : str, for the message
    psd : float > 0, the share of the trace that counts as rounding; by default it follows the precision of the matrix
    clip : bool, whether a matrix with eigenvalues below minus this share is clipped; otherwise it is a ValueError
    """
    smallest = negative_eigenvalue(K, psd)
    if smallest is None:
        return K, 0.0
    if clip:
        return clipped(K)
    share = precision(K) if psd is None else psd
    raise ValueError(
        f"{name} is not positive semi-definite: its smallest eigenvalue is {smallest:.3g} (its trace is "
        f"{float(np.trace(K)):.3g}); precomputed(K, psd=...) takes more than {share:g} of the trace for rounding, and "
        "precomputed(K, clip=True) sets negative eigenvalues to zero"
    )


def clipped(K: Array) -> tuple[Array, float]:
    """The nearest positive semi-definite matrix, and its distance in the Frobenius norm relative to that of K."""
    values, vectors = linalg.eigh(K.astype(np.float64))
    negative = np.flatnonzero(values < 0)
    relative_change = float(np.linalg.norm(values[negative]) / max(float(np.linalg.norm(values)), TINY))
    negative_part = vectors[:, negative] * values[negative] @ vectors[:, negative].T
    return (K - 0.5 * (negative_part + negative_part.T)).astype(K.dtype, copy=False), relative_change
