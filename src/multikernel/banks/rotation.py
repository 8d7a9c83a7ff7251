"""Orthonormal coordinates of samples, of which few are needed.

A squared loss does not change when samples are rotated. Let Q'Q = I, where the columns of Q span the targets Y and the
columns of every kernel. Then tr C'K_k C and |Y - K_k C|^2 at coefficients Q C are those of the kernels Q'K_k Q and the
targets Q'Y at C. Kernels of q features and t targets need only q + t coordinates for any number of samples. If samples
are in groups (folds), each group has separate coordinates, so that a sum over a group is a sum over its coordinates.
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
    """Groups of samples, as int arrays, and the basis Q of the coordinates of each group."""

    groups: tuple[Array, ...]
    bases: tuple[Array, ...]

    @classmethod
    def of(cls, columns: Array, groups: Sequence[Array]) -> Rotation | None:
        """Coordinates of these columns (n, c) in every group; None where they would exceed half of the samples."""
        n, c = columns.shape
        if 2 * c * len(groups) > n:
            return None
        bases = [linalg.qr(columns[rows], mode="economic", check_finite=False)[0] for rows in groups]
        return cls(tuple(groups), tuple(bases))

    @property
    def sizes(self) -> list[int]:
        """The number of coordinates of each group."""
        return [Q.shape[1] for Q in self.bases]

    def coordinates(self, A: Array) -> Array:
        """Q'A for A of shape (n, t), with the groups one below the other."""
        A = A.astype(np.float64, copy=False)
        return np.concatenate([product(Q.T, A[rows]) for rows, Q in zip(self.groups, self.bases, strict=True)])

    def samples(self, C: Array) -> Array:
        """Q C for coordinates C of shape (c, t)."""
        out = np.empty((sum(map(len, self.groups)), C.shape[1]))
        coordinates = np.split(C, np.cumsum(self.sizes)[:-1])
        for rows, Q, coordinates_of_group in zip(self.groups, self.bases, coordinates, strict=True):
            out[rows] = product(Q, coordinates_of_group)
        return out
