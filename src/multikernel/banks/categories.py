"""Samples with columns of categories as columns of numbers, in which two categories have distance 1.

A column of K categories becomes K + 1 columns, of which one holds 2^(-1/q) and the others 0: the sum of |x - z|^q over
these is 0 for the same category and 1 for two different ones. The last column is for categories that the training
sample does not have, which differ from all of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.kernels.samples import dense
from multikernel.kernels.table import Table, as_table


@dataclass(frozen=True, eq=False)
class Columns:
    """How samples become columns of numbers.

    Parameters
    ----------
    p : int, features of the samples
    strings : int array (s,), the features that are categories
    levels : the categories of each of these, as tuples of strings, sorted
    degree : 2 or 1, q
    """

    p: int
    strings: Array
    levels: tuple[tuple[str, ...], ...]
    degree: int

    @classmethod
    def of(cls, X: Any, degree: int) -> Columns:
        """For a training sample: a table with strings, an array or a CSR matrix."""
        table = as_table(X)
        if table is None:
            return cls(int(X.shape[1]), np.arange(0), (), degree)
        return cls(table.shape[1], table.strings, tuple(tuple(sorted(set(c))) for c in table.texts.T), degree)

    @property
    def features(self) -> Array:
        """The feature that each column of numbers comes from: first the numbers, then the categories."""
        numbers = np.setdiff1d(np.arange(self.p), self.strings)
        return np.concatenate([numbers, np.repeat(self.strings, [len(levels) + 1 for levels in self.levels])]).astype(
            int
        )

    def numbers(self, X: Any) -> Array:
        """Samples as an array of double precision."""
        if not len(self.strings):
            return np.array(dense(X), dtype=np.float64)
        table = as_table(X)
        if table is None or not np.array_equal(table.strings, self.strings):
            raise ValueError(f"samples need strings in columns {', '.join(map(str, self.strings))}, as in training")
        parts = [np.delete(table.numbers, self.strings, axis=1)]
        return np.hstack(parts + [self._indicators(table, k) for k in range(len(self.strings))]).astype(np.float64)

    def _indicators(self, table: Table, k: int) -> Array:
        number = {level: i for i, level in enumerate(self.levels[k])}
        place = [number.get(text, len(number)) for text in table.texts[:, k]]
        return 0.5 ** (1.0 / self.degree) * np.eye(len(number) + 1)[place]
