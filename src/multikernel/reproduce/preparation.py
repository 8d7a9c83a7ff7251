"""What is done to features before any kernel: scaling, then centring, by the training rows or by all.

    interval    each feature to [0, 1]              signed    each feature to [-1, 1]
    standard    mean 0, deviation 1                 raw       as it comes

A feature that does not vary on the rows that count is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from multikernel.typing import Array


@dataclass(frozen=True)
class Preparation:
    """Scaling and centring.

    Parameters
    ----------
    scaling : "interval", "signed", "standard" or "raw"
    centring : "features", each less its mean; "examples", each row less the mean of its own features; or "none"
    rows : "training" or "all", by which rows features are scaled and centred
    constant : bool, whether a feature that is 1 everywhere is added in the end
    """

    scaling: Literal["interval", "signed", "standard", "raw"] = "interval"
    centring: Literal["features", "examples", "none"] = "none"
    rows: Literal["training", "all"] = "training"
    constant: bool = False

    def __call__(self, X: Array, train: Array | slice = slice(None)) -> Array:
        """All rows, prepared by the training rows or by all."""
        by = X if self.rows == "all" else X[train]
        used = np.ptp(by, axis=0) > 0
        X, by = X[:, used], by[:, used]
        shift, spread = self._scales(by)
        Z = (X - shift) / spread
        if self.centring == "features":
            Z = Z - ((by - shift) / spread).mean(axis=0)
        if self.centring == "examples":
            Z = Z - Z.mean(axis=1, keepdims=True)
        return np.column_stack([Z, np.ones(len(Z))]) if self.constant else Z

    def _scales(self, by: Array) -> tuple[Array, Array]:
        low, width = by.min(axis=0), np.ptp(by, axis=0)
        if self.scaling == "raw":
            return np.zeros_like(low), np.ones_like(low)
        if self.scaling == "standard":
            return by.mean(axis=0), by.std(axis=0)
        return (low, width) if self.scaling == "interval" else (low + 0.5 * width, 0.5 * width)
