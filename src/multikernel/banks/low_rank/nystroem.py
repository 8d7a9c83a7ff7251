"""Nystroem's approximation of a kernel by its values against landmarks.

With landmarks Z, C = k(X, Z) and W = k(Z, Z) the approximate kernel is C W^+ C', the kernel of the features projected
on the span of the landmarks. K - C W^+ C' is positive semi-definite, and zero where the landmarks span all samples. The
features are C U l^{-1/2} with W = U diag(l) U', without eigenvalues that are rounding errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from multikernel._arrays import like, zeros
from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel.banks.array_bank import ArrayBank
from multikernel.banks.base import KernelBank
from multikernel.banks.low_rank.feature_map import FeatureMap
from multikernel.banks.low_rank.space import space
from multikernel.banks.threads import n_threads, one_blas_thread, over_rows, slices
from multikernel.tuning import BUFFER_VALUES, PRODUCT_ROWS


@dataclass(frozen=True, eq=False)
class Nystroem(FeatureMap):
    """Several kernels with the same landmarks.

    Parameters
    ----------
    reference : KernelBank with the landmarks as columns and no rows
    roots : for each kernel U l^{-1/2}, shape (landmarks, features)
    rows : int array, the positions of the landmarks in a bank that is approximated; None where samples are given
    """

    reference: KernelBank
    roots: tuple[Array, ...]
    rows: Array | None = None

    @classmethod
    def of(cls, landmarks: KernelBank, reference: KernelBank | None = None, rows: Array | None = None) -> Nystroem:
        """The map of a square bank of the landmarks; ``reference`` evaluates samples if the bank itself should not."""
        with one_blas_thread(landmarks.shape[0]):
            roots = tuple(_inverse_root(W) for W in landmarks.tiles(slice(None)))
        return cls(landmarks.reference() if reference is None else reference, roots, rows)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(root.shape[1] for root in self.roots)

    def __call__(self, X: Any, dtype: Any = np.float64) -> Array:
        return self.of_values(self.reference.cross(X), dtype)

    def _features(self, X: Any) -> Array:
        return self(X)

    def of_values(self, bank: KernelBank, dtype: Any = np.float64) -> Array:
        """The features of the rows of a bank whose columns are the landmarks."""
        ends = np.cumsum(self.sizes)
        if isinstance(bank, ArrayBank):
            F = zeros(bank.Z, (bank.shape[0], sum(self.sizes)))
            for rows in slices(bank.shape[0], max(1, BUFFER_VALUES // max(1, bank.shape[1]))):
                for C, root, end in zip(bank.matrices_of(rows), self.roots, ends.tolist(), strict=True):
                    F[rows, end - root.shape[1] : end] = C @ like(C, root)
            return F
        F = space(bank.shape[0], sum(self.sizes), dtype)

        def fill_rows(rows: slice) -> None:
            for C, root, end in zip(bank.tiles(rows), self.roots, ends, strict=True):
                F[rows, end - root.shape[1] : end] = C.astype(np.float64, copy=False) @ root

        height = max(PRODUCT_ROWS, -(-len(F) // n_threads()))
        with one_blas_thread(0):
            over_rows(fill_rows, len(F), max(1, min(height, BUFFER_VALUES // max(1, bank.shape[1]))))
        return F

    def select(self, chosen: Sequence[int]) -> Nystroem:
        index = np.asarray(chosen, dtype=int)
        return replace(self, reference=self.reference.select(index), roots=tuple(self.roots[k] for k in index))


def _inverse_root(W: Array) -> Array:
    """R with R R' = W^+, for a symmetric positive semi-definite W; with one column of zeros if W is zero."""
    W = np.asarray(W, dtype=np.float64)
    values, vectors = linalg.eigh(0.5 * (W + W.T), driver="evd", check_finite=False)
    significant = values > SINGULAR * max(float(values.max(initial=0.0)), 0.0)
    if not significant.any():
        return np.zeros((len(W), 1))
    return np.ascontiguousarray(vectors[:, significant] / np.sqrt(values[significant]))
