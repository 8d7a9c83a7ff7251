"""Products with K = F diag(w) F', for dense F stored sample by sample, that read only columns with a weight.

Features in single precision are not copied, while BLAS would need a copy for a product in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.banks.threads import over_rows
from multikernel.tuning import PIECE_VALUES


@dataclass(frozen=True, eq=False)
class WeightedFeatures:
    """K = F diag(w) F', given by its factors.

    Parameters
    ----------
    F : array (n, q), contiguous by rows
    weights : array (q,)
    """

    F: Array
    weights: Array

    @cached_property
    def blocks(self) -> tuple[Array, Array]:
        """The begins and ends of the blocks of columns with a weight."""
        changes = np.diff(np.concatenate([[False], self.weights != 0.0, [False]]).astype(int))
        return np.flatnonzero(changes > 0), np.flatnonzero(changes < 0)

    def multiply(self, b: Array) -> Array:
        """K b."""
        return self.images(self.weights * self.sums(b))

    def sums(self, b: Array) -> Array:
        """F'b for the columns with a weight, zero for the others; samples with a zero in b are not read."""
        from multikernel.banks import _features

        q = self.F.shape[1]

        def sums_of_rows(rows: slice) -> Array:
            out = np.zeros(q)
            _features.sums(self.F[rows], b[rows], *self.blocks, out)
            return out

        if len(self.F):
            return np.sum(over_rows(sums_of_rows, len(self.F), self._height), axis=0)
        return np.zeros(q)

    def images(self, v: Array) -> Array:
        """F v over the columns with a weight."""
        from multikernel.banks import _features

        out = np.empty(len(self.F))
        over_rows(lambda r: _features.images(self.F[r], v, *self.blocks, out[r]), len(out), self._height)
        return out

    def diagonal(self) -> Array:
        """The diagonal of K."""
        from multikernel.banks import _features

        out = np.empty(len(self.F))
        weights = np.asarray(self.weights, dtype=float)
        over_rows(lambda r: _features.lengths(self.F[r], weights, *self.blocks, out[r]), len(out), self._height)
        return out

    @property
    def _height(self) -> int:
        return max(1, PIECE_VALUES // max(1, self.F.shape[1]))
