"""Comparisons with messages about what differs, and by how much."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.testing.assertions import require


def close(label: str, actual: Any, expected: Array, tol: float, size: Any = None) -> None:
    """Require that two arrays differ by rounding only.

    Parameters
    ----------
    label : what is compared, for the message
    actual, expected : arrays
    tol : float, the part of the size that counts as rounding
    size : array or float, the size of the terms whose sum is compared; None is the size of ``expected``

    Raises
    ------
    AssertionError : where the shapes differ, or an entry by more than ``tol`` times the largest size (or 1e-3)
    """
    actual = np.asarray(actual)
    expected = np.asarray(expected)
    require(actual.shape == expected.shape, f"{label}: has shape {actual.shape}, expected {expected.shape}")
    error = float(np.abs(actual - expected).max(initial=0.0))
    largest = float(np.max(np.abs(expected) if size is None else size, initial=0.0))
    bound = tol * max(largest, 1e-3)
    require(error <= bound, f"{label}: an entry is off by {error:.3g}, and rounding explains {bound:.3g}")
