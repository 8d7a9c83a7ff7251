"""Parameters as a user gives them, checked with one sentence for each mistake."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._typing import Array


def check_positive(owner: object, **values: float) -> None:
    """ValueError for a value that is not a finite number > 0."""
    for name, value in values.items():
        if not (value > 0 and np.isfinite(value)):
            raise ValueError(f"{type(owner).__name__}: {name} must be a finite number > 0, got {value}")


def check_counts(owner: object, **values: int) -> None:
    """ValueError for a value below 1."""
    for name, value in values.items():
        if not value >= 1:
            raise ValueError(f"{type(owner).__name__}: {name} must be at least 1, got {value}")


def check_choice(owner: object, known: tuple[str, ...], **values: str) -> None:
    """ValueError for a value that is not one of the names."""
    for name, value in values.items():
        if value not in known:
            names = ", ".join(map(repr, known[:-1])) + f" or {known[-1]!r}" if len(known) > 1 else repr(known[0])
            raise ValueError(f"{type(owner).__name__}: {name} must be {names}, got {value!r}")


def checked_weights(sample_weight: Any, n: int) -> Array | None:
    """Weights of n samples; None where all are 1.

    Raises
    ------
    ValueError : for a wrong shape, a negative number, a NaN or infinity, and where every weight is zero
    """
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=float)
    if weight.shape != (n,) or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise ValueError(
            f"sample_weight must be {n} finite numbers >= 0, and not every weight zero; got shape {weight.shape}"
        )
    return weight
