"""Samples of several sources: without some of the sources, or with the rows of one moved against the others.

A source consists of parts of the samples: of views, kernels of a bank, or columns of a table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from multikernel._arrays import is_sparse
from multikernel._rules import abbreviated, shortened
from multikernel._typing import Array
from multikernel.banks import KernelBank, precomputed
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.rows import BankRows
from multikernel.kernels import Features, KernelFamily
from multikernel.kernels.views import Restricted
from multikernel.sources.views import Views, is_views, views
from multikernel.tables.cells import column_names, is_frame

Sources = dict[str, Array]  # the parts of each source, by number


class Parts(ABC):
    """Samples that consist of parts, each of which can be left out."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of samples."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the parts."""

    @abstractmethod
    def only(self, numbers: Array) -> Any:
        """The samples with the parts of these numbers only, in a form that ``fit`` takes."""

    @abstractmethod
    def moved(self, numbers: Array, order: Array) -> Parts:
        """The same samples, where sample i has the parts of these numbers from sample ``order[i]``."""


@dataclass(frozen=True, eq=False)
class ViewParts(Parts):
    """Each view is a part.

    Parameters
    ----------
    views : Views of all samples
    """

    views: Views

    @property
    def n(self) -> int:
        return len(self.views)

    @property
    def names(self) -> tuple[str, ...]:
        return self.views.names

    def only(self, numbers: Array) -> Views:
        names = tuple(self.names[k] for k in numbers)
        features = tuple(name for name in self.views.features if name in names)
        return replace(self.views, names=names, parts=tuple(self.views.parts[k] for k in numbers), features=features)

    def moved(self, numbers: Array, order: Array) -> ViewParts:
        changed = [_reordered(part, order) if k in numbers else part for k, part in enumerate(self.views.parts)]
        return ViewParts(replace(self.views, parts=tuple(changed)))


@dataclass(frozen=True, eq=False)
class KernelParts(Parts):
    """Each kernel of a bank is a part.

    Parameters
    ----------
    bank : square KernelBank
    """

    bank: KernelBank

    @property
    def n(self) -> int:
        return self.bank.shape[0]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.bank.names or (f"kernel {k}" for k in range(len(self.bank))))

    def only(self, numbers: Array) -> KernelBank:
        if len(numbers) == len(self.bank):
            return self.bank
        return self.bank.select(numbers)

    def moved(self, numbers: Array, order: Array) -> KernelParts:
        return KernelParts(with_moved_kernels(self.bank, numbers, order, order))


@dataclass(frozen=True, eq=False)
class ColumnParts(Parts):
    """Each column of a table is a part.

    Parameters
    ----------
    table : array, CSR matrix or data frame
    """

    table: Any

    @property
    def n(self) -> int:
        return int(self.table.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        names = column_names(self.table) if is_frame(self.table) else None
        return tuple(names or map(str, range(self.table.shape[1])))

    def only(self, numbers: Array) -> Any:
        if len(numbers) == self.table.shape[1]:
            return self.table
        return _safe_indexing(self.table, numbers, axis=1)

    def moved(self, numbers: Array, order: Array) -> ColumnParts:
        moved_columns = _reordered(_safe_indexing(self.table, numbers, axis=1), order)
        if hasattr(self.table, "isetitem"):  # of pandas
            table = self.table.copy()
            for position, column in enumerate(numbers):
                table.isetitem(column, moved_columns.iloc[:, position])
            return ColumnParts(table)
        if is_frame(self.table):  # of polars
            return ColumnParts(self.table.with_columns(moved_columns))
        other_numbers = np.setdiff1d(np.arange(self.table.shape[1]), numbers)
        column_order = np.argsort(np.concatenate([other_numbers, numbers]), kind="stable")
        if is_sparse(self.table):
            return ColumnParts(
                sparse.hstack([self.table[:, other_numbers], moved_columns], format="csr")[:, column_order]
            )
        return ColumnParts(np.hstack([self.table[:, other_numbers], moved_columns])[:, column_order])


def parts_of(X: Any, stacked: bool = False) -> Parts:
    """The parts of samples.

    Parameters
    ----------
    X : views, a bank, kernel matrices, or a table
    stacked : whether X holds kernel matrices in any form, because the estimator says so
    """
    if stacked:
        X = precomputed(X)
    elif is_views(X):
        X = views(X)
    if isinstance(X, BankRows):
        X = X.bank.block(X.rows, X.rows)
    if isinstance(X, KernelBank):
        return KernelParts(X)
    if isinstance(X, Views):
        return ViewParts(replace(X, parts=tuple(part for _, part in X.items()), rows=None))
    return ColumnParts(X if hasattr(X, "shape") else np.asarray(X))


def given_sources(sources: Any, parts: Parts) -> Sources:
    """The parts of each source, as named by a user.

    Raises
    ------
    ValueError : where sources is no dict, a source has no part, a part does not exist, or two sources share one or
        have one name
    """
    if not isinstance(sources, Mapping) or not sources:
        raise ValueError(
            f"source_values: sources must be a dict of the columns of each source, got {abbreviated(sources)}"
        )
    features = Features(len(parts.names), parts.names)
    numbers_of_source: Sources = {}
    owner: dict[int, str] = {}
    for name, selection in sources.items():
        try:
            if isinstance(selection, slice):
                numbers: Sequence[int] = range(features.n)[selection]
            else:
                numbers = features.index(_listed(selection))
        except (IndexError, TypeError, ValueError) as error:
            raise ValueError(f"source_values: source {str(name)!r}: {error}") from None
        if not len(numbers):
            raise ValueError(f"source_values: source {str(name)!r} is empty: name at least one of its columns")
        for number in numbers:
            if number in owner:
                raise ValueError(
                    f"source_values: {parts.names[number]!r} is in the sources {owner[number]!r} and {str(name)!r}: "
                    "give each column to one source"
                )
            owner[number] = str(name)
        if str(name) in numbers_of_source:
            raise ValueError(f"source_values: two sources have the name {str(name)!r}: give each a different name")
        numbers_of_source[str(name)] = np.array(sorted(numbers))
    return numbers_of_source


def sources_of_columns(family: KernelFamily) -> Sources | None:
    """The kernels of each group of columns of ``kernels.column_groups``; None where some kernel takes all columns."""
    try:
        kernels = list(family)
        names = [str(name) for name in family.names]
    except TypeError:  # the number of kernels depends on the samples
        return None
    groups: dict[str, list[int]] = {}
    for k, kernel in enumerate(kernels):
        if not isinstance(kernel, Restricted):
            return None
        groups.setdefault(repr(kernel.columns), []).append(k)
    named = {_name_of_group([names[k] for k in members]): np.array(members) for members in groups.values()}
    if len(named) == len(groups):
        return named
    return None


def sources_of_views(kernel_names: Sequence[str], view_names: Sequence[str]) -> list[Array]:
    """The kernels of each view, by their names in a bank of views."""
    owner = [
        max((view for view in view_names if name == view or name.startswith(f"{view}: ")), key=len)
        for name in map(str, kernel_names)
    ]
    return [np.array([k for k, view in enumerate(owner) if view == name]) for name in view_names]


def with_moved_kernels(bank: KernelBank, kernels: Array, rows: Array, columns: Array) -> KernelBank:
    """A bank in which these kernels are those between other samples, ``rows`` and ``columns``."""
    other_kernels = np.setdiff1d(np.arange(len(bank)), kernels)
    moved_bank = bank.select(kernels).block(rows, columns)
    if not len(other_kernels):
        return moved_bank
    kernel_order = np.argsort(np.concatenate([other_kernels, kernels]), kind="stable")
    return ConcatenatedBank((bank.select(other_kernels), moved_bank), kernel_order)


def _reordered(part: Any, order: Array) -> Any:
    """The samples of a part in another order; the rows of a frame keep their labels."""
    if isinstance(part, KernelBank):
        return part.block(order, order)
    reordered = _safe_indexing(part, order)
    if not hasattr(part, "set_axis"):
        return reordered
    return reordered.set_axis(part.index)


def _listed(names: Any) -> list[Any]:
    """A list of names or numbers; one of them alone becomes a list."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        return [names]
    return list(names)


def _name_of_group(names: Sequence[str]) -> str:
    """The common prefix of the names of a group's kernels: "genes" of "genes: Linear()" and "genes: RBF()"."""
    if len(names) == 1:
        return names[0]
    first, last = min(names), max(names)  # the common prefix of these two is common to all
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    common, colon, _ = first[:same].rpartition(": ")
    if colon:
        return common
    return shortened(names)
