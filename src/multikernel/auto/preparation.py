"""From a table to samples, and what to say about it: which columns are used as what, what is filled in, left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.auto.columns import Column, typed
from multikernel.auto.dates import Dates, as_dates
from multikernel.auto.encoders import Categories, Encoder, Numbers, number_cells
from multikernel.auto.samples import Samples
from multikernel.auto.table import Table, read
from multikernel.auto.text import Text, unit_rows

_SHOWN = 5  # names that a sentence lists
_LEFT_OUT = {
    "constant": "has one value only",
    "missing": "has no value at all",
    "identifier": "names its row: almost no value occurs twice",
}


@dataclass(frozen=True, eq=False)
class Preparation:
    """How tables become samples.

    Parameters
    ----------
    columns : tuple of Column, all of the training table
    encoders : tuple, one for each column: an Encoder, a Text, or None for a column that is left out
    sparse : tuple of str, names of sparse views
    sizes : tuple of arrays, for each sparse view the largest absolute value of each column
    given : tuple of str, names of views that are kernel matrices
    norms : tuple of float, the mean diagonal of each of these
    n : int, training samples
    """

    columns: tuple[Column, ...]
    encoders: tuple[Any, ...]
    sparse: tuple[str, ...]
    sizes: tuple[Array, ...]
    given: tuple[str, ...]
    norms: tuple[float, ...]
    n: int

    @classmethod
    def of(cls, table: Table) -> Preparation:
        """What a training table tells.

        Raises
        ------
        ValueError : where no column is left to learn from
        """
        columns = typed(table.columns, table.views)
        found = cls(
            columns,
            tuple(_encoder(column, table.columns[column.name]) for column in columns),
            tuple(table.sparse),
            tuple(_largest(matrix) for matrix in table.sparse.values()),
            tuple(table.given),
            tuple(float(np.trace(K)) / len(K) or 1.0 for K in table.given.values()),
            table.n,
        )
        return found

    @property
    def empty(self) -> bool:
        """Whether nothing is left to learn from."""
        return not (any(encoder is not None for encoder in self.encoders) or self.sparse or self.given)

    def read(self, X: Any) -> Table:
        """The table of new samples, with the columns and views of training.

        Raises
        ------
        ValueError : where one is missing, or has another form
        """
        table = read(X, self.given)
        missing = [column.name for column in self.columns if column.name not in table.columns]
        missing += [name for name in self.sparse if name not in table.sparse]
        missing += [name for name in self.given if name not in table.given]
        if missing:
            raise ValueError(f"X lacks what training had: {shortened(missing)}")
        for name, sizes in zip(self.sparse, self.sizes, strict=True):
            if table.sparse[name].shape[1] != len(sizes):
                raise ValueError(f"X has {table.sparse[name].shape[1]} features, and training had {len(sizes)} of them")
        for name in self.given:
            if table.given[name].ndim != 2 or table.given[name].shape[1] != self.n:
                raise ValueError(
                    f"view {name!r} is a kernel matrix: new samples need a row each with {self.n} entries, one for "
                    f"each training sample, got shape {table.given[name].shape}"
                )
        return table

    def samples(self, table: Table) -> Samples:
        """Samples as kernels see them."""
        plain, ranked, texts = [np.empty((table.n, 0))], [np.empty((table.n, 0))], []
        owners: list[int] = []
        views: list[int] = []
        groups: list[str] = []
        names = list(dict.fromkeys(column.view for column in self.columns))
        for column, encoder in zip(self.columns, self.encoders, strict=True):
            cells = table.columns[column.name]
            if isinstance(encoder, Text):
                texts.append(encoder.encode(_objects(cells)))
            elif isinstance(encoder, Encoder):
                for parts, part in zip((plain, ranked), encoder.encode(_as(encoder, cells)), strict=True):
                    parts.append(part)
                owners += [len(groups) + owner for owner in encoder.owners]
                views += [names.index(column.view)] * len(encoder.owners)
                groups += [column.name] * (max(encoder.owners) + 1)
        matrices = [
            unit_rows(table.sparse[name].multiply(1.0 / sizes).tocsr())
            for name, sizes in zip(self.sparse, self.sizes, strict=True)
        ]
        given = [table.given[name] / norm for name, norm in zip(self.given, self.norms, strict=True)]
        return Samples(
            np.hstack(plain),
            np.hstack(ranked),
            np.array(owners, dtype=int),
            np.array(views, dtype=int),
            (*texts, *matrices),
            tuple(given),
            np.arange(table.n),
            tuple(groups),
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sparse parts and the kernel matrices of samples."""
        texts = [
            column.name for column, each in zip(self.columns, self.encoders, strict=True) if isinstance(each, Text)
        ]
        return (*texts, *self.sparse, *self.given)

    def unknown(self, table: Table) -> list[str]:
        """A sentence for each column with categories that training did not meet."""
        said = []
        for column, encoder in zip(self.columns, self.encoders, strict=True):
            if isinstance(encoder, Categories):
                new = sorted(encoder.unknown(_objects(table.columns[column.name])))
                if new:
                    said.append(f"column {column.name!r} has categories that training did not have: {shortened(new)}")
        return said

    def sentences(self) -> list[str]:
        """What was made of the columns."""
        return [*self._used(), *self._filled(), *self._left_out()]

    def _used(self) -> list[str]:
        ways = {
            "number": "scaled to mean 0 and spread 1, and also taken by {their} ranks",
            "category": "one indicator for each level",
            "date": "the day, and month and day of the week where these vary",
            "text": "words and pairs of words, weighed by how rare they are",
        }
        said = []
        used = sorted((c for c, e in zip(self.columns, self.encoders, strict=True) if e is not None), key=_kind)
        for kind, columns in groupby(used, _kind):
            names = [column.name for column in columns]
            plural = {"category": "categories", "text": "texts"}.get(kind, f"{kind}s")
            what = f"{len(names)} {kind if len(names) == 1 else plural}"
            their = "its" if len(names) == 1 else "their"
            said.append(f"{what} ({shortened(names)}): {ways[kind].format(their=their)}.")
        if self.sparse:
            said.append(f"Sparse features ({shortened(self.sparse)}): scaled by their largest value, rows to norm 1.")
        if self.given:
            said.append(f"Kernel matrices ({shortened(self.given)}): taken as they are, mean self-value 1.")
        return said

    def _filled(self) -> list[str]:
        pairs = list(zip(self.columns, self.encoders, strict=True))
        numbers = [c.name for c, e in pairs if isinstance(e, Numbers | Dates) and len(e.owners) > 1 and _gaps(e)]
        levels = [c.name for c, e in pairs if isinstance(e, Categories) and e.gaps]
        said = []
        if numbers:
            said.append(f"Missing cells of {shortened(numbers)}: the median, and a column that says where they were.")
        if levels:
            said.append(f"Missing cells of {shortened(levels)}: a category of their own.")
        return said

    def _left_out(self) -> list[str]:
        return [
            f"Column {column.name!r} is left out: it {_LEFT_OUT[column.kind]}."
            for column in self.columns
            if column.kind in _LEFT_OUT
        ][: 2 * _SHOWN]


def _kind(column: Column) -> str:
    return column.kind


def _gaps(encoder: Numbers | Dates) -> bool:
    return encoder.gaps if isinstance(encoder, Numbers) else encoder.parts[0].gaps


def shortened(names: Sequence[str]) -> str:
    """The first of several names."""
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _encoder(column: Column, cells: Array) -> Any:
    match column.kind:
        case "number":
            return Numbers.of(number_cells(cells))
        case "category":
            return Categories.of(_objects(cells))
        case "date":
            return Dates.of(as_dates(cells))
        case "text":
            return Text.of(cells)
        case _:
            return None


def _as(encoder: Encoder, cells: Array) -> Array:
    """Cells in the form that the encoder of the training column takes."""
    if isinstance(encoder, Numbers):
        return number_cells(cells)
    return as_dates(cells) if isinstance(encoder, Dates) else _objects(cells)


def _objects(cells: Array) -> Array:
    """Cells as strings, None where missing; a number as a category is written as training wrote it."""
    if cells.dtype.kind == "f":
        return np.array([None if np.isnan(cell) else f"{cell:g}" for cell in cells], dtype=object)
    return cells.astype(object)


def _largest(matrix: Any) -> Array:
    sizes = np.asarray(np.abs(matrix).max(axis=0).todense()).ravel()
    return np.where(sizes > 0, sizes, 1.0)
