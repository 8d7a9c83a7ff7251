"""Comparisons whose failure says what differs, and by how much."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.testing.assertions import require


def close(what: str, got: Any, want: Array, tol: float, size: Any = None) -> None:
    """Require that two arrays differ by rounding only.

    Parameters
    ----------
    what : what is compared, for the message
    got, want : arrays
    tol : float, the part of the size that counts as rounding
    size : array or float, how large the terms are whose sum is compared; None is the size of ``want``

    Raises
    ------
    AssertionError : where the shapes differ, or an entry by more than ``tol`` times the largest size (or 1e-3)
    """
    got = np.asarray(got)
    want = np.asarray(want)
    require(got.shape == want.shape, f"{what}: has shape {got.shape}, expected {want.shape}")
    error = float(np.abs(got - want).max(initial=0.0))
    largest = float(np.max(np.abs(want) if size is None else size, initial=0.0))
    bound = tol * max(largest, 1e-3)
    require(error <= bound, f"{what}: an entry is off by {error:.3g}, and rounding explains {bound:.3g}")
