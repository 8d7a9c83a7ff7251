"""Samples as kernels see them: numbers, sparse rows of norm 1, and rows of kernel matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array


@dataclass(frozen=True, eq=False)
class Samples:
    """n samples.

    Parameters
    ----------
    plain, ranked : arrays (n, q), numbers of spread 1 as they are and by their ranks
    owner : int array (q,), the group of each column, whose columns share a scale
    view : int array (q,), the view of each column
    sparse : tuple of CSR matrices with rows of norm 1
    given : tuple of kernel matrices (n, training samples)
    rows : int array (n,), for training samples their numbers
    names : tuple of str, the column of the table that each group comes from
    """

    plain: Array
    ranked: Array
    owner: Array
    view: Array
    sparse: tuple[Any, ...]
    given: tuple[Array, ...]
    rows: Array
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, index: Array) -> Samples:
        """Some of the samples."""
        return replace(
            self,
            plain=self.plain[index],
            ranked=self.ranked[index],
            sparse=tuple(matrix[index] for matrix in self.sparse),
            given=tuple(matrix[index] for matrix in self.given),
            rows=self.rows[index],
        )

    def without_given(self) -> Samples:
        """The same without rows of kernel matrices, which training samples need no more once a model is fitted."""
        return replace(self, given=tuple(np.empty((0, 0)) for _ in self.given))
