"""Categories as columns of zeros and ones.

A category that the training sample does not have becomes zeros only, and a warning names it. Missing cells are one more
category where the training sample has missing cells in that column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._arrays import is_sparse
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.kernels.encoding import Encoding
from multikernel.kernels.features import Features
from multikernel.tables.table import Table
from multikernel.tuning import ONE_HOT_DENSE


@dataclass(repr=False)
class OneHot(Encoding):
    """A column for each category of each column: 1 where a sample has it, else 0.

    Parameters
    ----------
    levels : for each column the categories of the training sample, None among them where cells are missing; None until
        they are learned
    names : the names of the columns, for messages
    """

    levels: tuple[tuple[str | float | None, ...], ...] | None = None
    names: tuple[str, ...] = ()

    def resolve(self, features: Features) -> OneHot:
        return replace(self, names=tuple(map(features.name, range(features.n))))

    def learned(self, X: Any) -> OneHot:
        if self.levels is not None:
            return self
        return replace(self, levels=tuple(_sorted(set(column)) for column in _columns(X)))

    def __call__(self, X: Any) -> Any:
        assert self.levels is not None
        starts = np.cumsum([0, *map(len, self.levels)])
        width = int(starts[-1])
        n = X.shape[0]
        rows = []
        columns = []
        for j, (cells, levels) in enumerate(zip(_columns(X), self.levels, strict=True)):
            number = {level: i for i, level in enumerate(levels)}
            level_numbers = np.array([number.get(cell, -1) for cell in cells], dtype=int)
            if (level_numbers < 0).any():
                self._warn_of_unknown(j, cells[int(np.argmax(level_numbers < 0))])
            rows.append(np.flatnonzero(level_numbers >= 0))
            columns.append(starts[j] + level_numbers[level_numbers >= 0])
        ones = sparse.csr_array(
            (np.ones(sum(map(len, rows))), (np.concatenate(rows), np.concatenate(columns))), shape=(n, width)
        )
        if self.sparse:
            return ones
        return ones.toarray()

    @property
    def sources(self) -> tuple[int, ...]:
        return tuple(j for j, levels in enumerate(self.levels or ()) for _ in levels)

    @property
    def sparse(self) -> bool:
        return self.levels is not None and sum(map(len, self.levels)) > ONE_HOT_DENSE

    def _warn_of_unknown(self, j: int, cell: Any) -> None:
        name = self.names[j] if self.names else f"column {j}"
        kind = "missing cells"
        if cell is not None:
            kind = f"categories, {abbreviated(cell)} for one,"
        warn_user(f"{name} of X has {kind} that the training sample does not have: they count as no category at all")

    def __repr__(self) -> str:
        if self.levels is None:
            return "OneHot()"
        return f"OneHot(<{len(self.levels)} columns>)"


def _columns(X: Any) -> list[list[Any]]:
    """The cells of each column: strings or numbers, None where missing."""
    if isinstance(X, Table):
        texts = dict(zip(X.strings.tolist(), X.texts.T, strict=True))
        return [_texts(texts[j]) if j in texts else _numbers(X.numbers[:, j]) for j in range(X.shape[1])]
    if is_sparse(X):
        X = X.toarray()
    return [_numbers(column) for column in X.T]


def _texts(column: Array) -> list[Any]:
    """Strings; None for a missing cell, and for one with blanks only."""
    return [None if cell is None or not cell.strip() else cell for cell in column]


def _numbers(column: Array) -> list[Any]:
    return [None if cell != cell else cell for cell in column.astype(float).tolist()]


def _sorted(levels: set[Any]) -> tuple[Any, ...]:
    present = sorted(level for level in levels if level is not None)
    if None in levels:
        return (*present, None)
    return tuple(present)
