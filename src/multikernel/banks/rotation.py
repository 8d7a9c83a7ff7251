"""Samples in orthonormal coordinates, where few of these matter.

A squared loss does not change where samples are rotated: with Q'Q = I and Q of columns that span those of the targets Y
and of every kernel, tr C'K_k C and |Y - K_k C|^2 at coefficients Q C are those of the kernels Q'K_k Q and the targets
Q'Y at C. Kernels of q features and t targets need q + t coordinates, whatever the number of samples. Where samples are
in groups (folds), each group has coordinates of its own, so that a sum over a group is one over its coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from multikernel._linalg import product
from multikernel._typing import Array


@dataclass(frozen=True, eq=False)
class Rotation:
    """The groups of samples, int arrays, and for each the basis Q of its coordinates."""

    groups: tuple[Array, ...]
    bases: tuple[Array, ...]

    @classmethod
    def of(cls, columns: Array, groups: Sequence[Array]) -> Rotation | None:
        """Coordinates of these columns (n, c) in every group; None where they would be more than half the samples."""
        n, c = columns.shape
        if 2 * c * len(groups) > n:
            return None
        bases = [linalg.qr(columns[rows], mode="economic", check_finite=False)[0] for rows in groups]
        return cls(tuple(groups), tuple(bases))

    @property
    def sizes(self) -> list[int]:
        """How many coordinates each group has."""
        return [Q.shape[1] for Q in self.bases]

    def coordinates(self, A: Array) -> Array:
        """Q'A for A of shape (n, t), the groups one below the other."""
        A = A.astype(np.float64, copy=False)
        return np.concatenate([product(Q.T, A[rows]) for rows, Q in zip(self.groups, self.bases, strict=True)])

    def samples(self, C: Array) -> Array:
        """Q C for C of shape (c, t)."""
        out = np.empty((sum(map(len, self.groups)), C.shape[1]))
        parts = np.split(C, np.cumsum(self.sizes)[:-1])
        for rows, Q, part in zip(self.groups, self.bases, parts, strict=True):
            out[rows] = product(Q, part)
        return out
