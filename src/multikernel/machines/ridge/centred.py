"""Targets less their means, as in least squares with an intercept.

With sample weights s the means are the weighted ones, which are the intercepts, and the problem without weights has the
targets S^{1/2} (Y - mean) and the kernel S^{1/2} K S^{1/2}; its coefficients A~ become A = S^{1/2} A~.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array


@dataclass(frozen=True, eq=False)
class CentredTargets:
    """Targets less their means, with the data to convert solutions back.

    Parameters
    ----------
    Y : array (n, t), the targets less the means
    mean : array (t,), the means, 0 where there is no intercept
    root : array (n, 1), S^{1/2}; None without weights
    single : bool, whether the target had no second axis
    """

    Y: Array
    mean: Array
    root: Array | None
    single: bool

    @classmethod
    def of(cls, target: Array, fit_intercept: bool, sample_weight: Array | None) -> CentredTargets:
        """From a target (n,), or several (n, t), and weights of the samples >= 0, or None."""
        Y = as_columns(target)
        if fit_intercept:
            mean = np.average(Y, axis=0, weights=sample_weight)
        else:
            mean = np.zeros(Y.shape[1])
        root = None if sample_weight is None else np.sqrt(sample_weight)[:, None]
        return cls(Y - mean, mean, root, target.ndim == 1)

    @property
    def weighted(self) -> Array:
        """S^{1/2} (Y - mean), shape (n, t)."""
        if self.root is None:
            return self.Y
        return self.root * self.Y

    @property
    def target(self) -> Array:
        """Y - mean, in the shape of the target that was given."""
        return self.shaped(self.Y)

    @property
    def intercept(self) -> Any:
        """The mean: a float, or an array (t,) for several targets."""
        if self.single:
            return float(self.mean[0])
        return self.mean

    def shaped(self, A: Array) -> Array:
        """An array (n, t) in the shape of the target that was given."""
        if self.single:
            return A[:, 0]
        return A

    def coefficients(self, A: Array) -> Array:
        """S^{1/2} A of an array (n, t), in the shape of the target that was given."""
        return self.shaped(A if self.root is None else self.root * A)
