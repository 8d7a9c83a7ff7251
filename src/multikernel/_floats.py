"""Arithmetic of numbers near the limits of their precision, where results or intermediate values may overflow."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from multikernel._typing import Array

EPS = float(np.finfo(float).eps)  # the distance from 1 to the next number
TINY = float(np.finfo(float).tiny)  # the smallest normal number

# The rounding error of a difference that should be zero, relative to the numbers that are subtracted: 45 EPS. A sum of
# n terms errs by up to n EPS of their sizes, a pairwise one by log2(n) EPS (Higham 2002, section 4.2).
ROUNDING = 1e-14
# The same for an eigenvalue, a pivot or a quadratic form, relative to the largest of the matrix: algorithms for n x n
# matrices err by up to n EPS (Higham 2002, theorem 10.3), which is 1e-12 for 4500 samples.
SINGULAR = 1e-12

# Transformations that a compiler may apply to the sums of a loop (``fastmath``): they change rounding only. No stopping
# test is computed in such a loop.
REORDERED = {"reassoc", "contract", "nsz"}


def positive_product(*factors: float) -> float:
    """The product of finite numbers > 0, kept between the smallest normal and the largest number.

    Examples
    --------
    >>> positive_product(1e200, 1e200, 1e-300)
    1e+100
    """
    mantissas_and_exponents = [math.frexp(factor) for factor in factors]
    mantissa, exponent = math.frexp(math.prod(fraction for fraction, _ in mantissas_and_exponents))
    exponent += sum(exponent_of_factor for _, exponent_of_factor in mantissas_and_exponents)
    if exponent > sys.float_info.max_exp:
        return sys.float_info.max
    return max(math.ldexp(mantissa, exponent), sys.float_info.min)


def positive_power(base: float, exponent: float) -> float:
    """base^exponent for a base > 0, kept between the smallest normal and the largest number."""
    logarithm = exponent * math.log2(base)
    if abs(logarithm) >= sys.float_info.max_exp - 2:
        if logarithm > 0:
            return sys.float_info.max
        return sys.float_info.min
    return float(base**exponent)


def size_of(values: Array) -> float:
    """The root of the mean square, without overflow or underflow of the squares; 0 for no values."""
    peak = float(np.abs(values).max(initial=0.0))
    if 0.0 < peak < np.inf:
        return peak * float(np.sqrt(np.mean((values / peak) ** 2)))
    return peak


def all_finite(values: Array) -> bool:
    """Whether no number is NaN or infinite: the sum shows it without a temporary array, unless it overflows.

    Examples
    --------
    >>> all_finite(np.array([1e308, 1e308])), all_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def in_precision(values: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers in another precision, infinite where they are beyond its range."""
    with np.errstate(over="ignore"):
        return values.astype(dtype, copy=False)
