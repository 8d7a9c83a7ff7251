"""Weights of samples, as ``fit`` is given them."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._typing import Array


def checked_weights(sample_weight: Any, n: int) -> Array | None:
    """Weights of n samples; None where all are 1."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=float)
    if weight.shape != (n,) or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise ValueError(
            f"sample_weight must be {n} finite numbers >= 0, and not every weight zero; got shape {weight.shape}"
        )
    return weight
