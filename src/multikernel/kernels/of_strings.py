"""Base classes of kernels of strings, which read one column of strings and refuse all other samples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from multikernel._typing import Array
from multikernel.kernels.base import Fact, Kernel
from multikernel.kernels.facts import Costly
from multikernel.kernels.features import Features
from multikernel.tables.table import as_table


class StringKernel(Kernel):
    """A kernel whose samples are strings: a list, an array or a Series of them, or one column of a data frame."""

    def facts(self) -> tuple[Fact, ...]:
        return (Costly(),)

    def resolve(self, features: Features) -> Self:
        if features.n != 1 or not features.strings:
            raise ValueError(
                f"{self!r} compares strings, and X has {len(features.strings)} columns of strings among "
                f"{features.n}{features.in_parentheses}: pass strings, or restrict it to one column of strings by "
                ".on(column)"
            )
        features.check_complete(self)
        return self

    def _strings(self, X: Any) -> list[str]:
        table = as_table(X)
        if table is None or table.shape[1] != 1:
            if table is None:
                received = "numbers"
            else:
                received = f"a table of {table.shape[1]} columns"
            raise ValueError(
                f"{self!r} compares strings, one a sample, and got {received}; restrict it to one column of strings by "
                ".on(column)"
            )
        Features.of(table).check_complete(self)
        return table.texts[:, 0].tolist()


@dataclass(frozen=True, eq=False)
class JoinedStrings:
    """Samples concatenated in arrays, for compiled code.

    Parameters
    ----------
    starts : int array (n + 1,), the position at which each sample begins, and at last the end of all samples
    arrays : the concatenated samples, and any other arrays that the kernel needs
    """

    starts: Array
    arrays: tuple[Array, ...]


class PairKernel(StringKernel):
    """A string kernel that is computed pair by pair, in compiled code, one row of the matrix at a time."""

    @abstractmethod
    def _joined(self, strings: list[str]) -> JoinedStrings:
        """The strings as arrays; strings that are compared with each other must be joined together."""

    @abstractmethod
    def _row(self, joined: JoinedStrings, i: int, first: int, out: Array) -> None:
        """Writes k(sample i, sample j) to ``out``, for as many samples j from ``first`` on as it has entries."""

    def __call__(self, X: Any, Z: Any = None) -> Array:
        rows = self._strings(X)
        if Z is not None:
            joined = self._joined(rows + self._strings(Z))
            n = len(rows)
            K = np.zeros((n, len(joined.starts) - 1 - n))
            for i in range(n):
                self._row(joined, i, n, K[i])
            return K
        joined = self._joined(rows)
        K = np.zeros((len(rows), len(rows)))
        for i in range(len(rows)):
            self._row(joined, i, i, K[i, i:])
            K[i:, i] = K[i, i:]
        return K

    def diagonal(self, X: Any) -> Array:
        strings = self._strings(X)
        joined = self._joined(strings)
        values = np.zeros(len(strings))
        for i in range(len(strings)):
            self._row(joined, i, i, values[i : i + 1])
        return values


def characters(strings: list[str]) -> JoinedStrings:
    """The characters of all strings as code points."""
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    codes = np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    return JoinedStrings(np.concatenate([[0], np.cumsum(lengths)]), (codes,))
