"""Columns without penalty: which columns of the samples these are, and how they become numbers.

Numbers, truth values and dates (in days) are a column each. Strings and categories are a column of zeros and ones for
each level of the training samples. The first level comes last: beside an intercept its column depends linearly on the
others, so it is the reference level, with which the coefficients of the others compare. A sample whose level training
did not have gets in these columns the shares of the levels among the training samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from multikernel._arrays import host, is_sparse, taken
from multikernel._rules import Rule, abbreviated, shortened
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.banks import KernelBank
from multikernel.estimators.binding import as_views, is_given
from multikernel.estimators.parameters import is_feature
from multikernel.kernels import Features
from multikernel.procedures.ridge_cv.fixed import FixedColumns
from multikernel.sources.views import Views, is_views
from multikernel.tables.cells import Cells, columns_of, is_frame
from multikernel.tables.columns import Column, type_of


@dataclass(frozen=True)
class FixedRule(Rule):
    """Columns by name or position, or views by name."""

    words = "None, or columns of X by name or position, or the name of a view; one of them or a list"

    def accepts(self, value: Any) -> bool:
        if value is None or is_feature(value):
            return True
        return isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1 and all(map(is_feature, value))


FixedParameter = Annotated[Any, FixedRule()]


def keys_of(model: Any) -> tuple[Any, ...]:
    """The columns or views that the parameter ``fixed`` names; none for None."""
    fixed = getattr(model, "fixed", None)
    if fixed is None:
        return ()
    if is_feature(fixed):
        return (fixed,)
    return tuple(fixed)


# -- hiding fixed columns from kernels ---------------------------------------------------------------------------------


def hidden_columns(model: Any, features: Features) -> tuple[int, ...]:
    """The positions of the fixed columns among those of the samples."""
    name = type(model).__name__
    try:
        index = features.index(tuple(key if isinstance(key, str) else int(key) for key in keys_of(model)))
    except ValueError as error:
        raise ValueError(f"{name}: fixed: {error}") from None
    if len(set(index)) == features.n:
        raise ValueError(f"{name}: fixed names every column of X, and the kernels need others")
    return index


def without_fixed_views(model: Any, X: Any) -> Any:
    """Views without the fixed ones; anything else unchanged."""
    keys = keys_of(model)
    if not keys or not (isinstance(X, Views) or is_views(X)):
        return X
    all_views = Views.of(X)
    if set(all_views.names) <= set(keys):
        raise ValueError(f"{type(model).__name__}: fixed names every view of X, and the kernels need others")
    penalised = [k for k, name in enumerate(all_views.names) if name not in keys]
    names = tuple(all_views.names[k] for k in penalised)
    return replace(all_views, names=names, parts=tuple(all_views.parts[k] for k in penalised))


# -- the columns of an estimator ---------------------------------------------------------------------------------------


def learned_columns(model: Any, X: Any, n: int) -> FixedColumns | None:
    """The columns without penalty of n training samples, after the intercept; the model keeps how they are made.

    Raises
    ------
    ValueError : where there are no samples, or the columns span all functions of them
    """
    if model.fixed is None:
        return None
    name = type(model).__name__
    if X is None and keys_of(model):
        raise ValueError(
            f"{name}: fixed names columns of samples, and this fit is on a bank, which holds kernels alone: search and "
            "compare with scikit-learn's GridSearchCV and cross_val_score, which give samples"
        )
    model._fixed_samples = FixedSamples.of(model, X)
    columns = FixedColumns.of(unpenalised(model, X, n))
    rank = columns.basis.shape[1]
    if rank >= n:
        raise ValueError(
            f"{name}: {rank} fixed columns that do not depend on each other, the intercept counted, leave nothing of "
            f"{n} samples: give fewer columns or more samples"
        )
    model._fixed_columns = columns
    return columns


def unpenalised(model: Any, X: Any, n: int) -> Array:
    """The intercept and the fixed columns of n samples: shape (n, c)."""
    blocks = [np.ones((n, int(model.fit_intercept)))]
    if model._fixed_samples.columns:
        blocks.append(fixed_columns(model, X))
    return np.hstack(blocks)


def fixed_columns(model: Any, X: Any) -> Array:
    """The fixed columns of samples; the model has at least one."""
    return np.asarray(model._fixed_samples.values(as_views(model, X)))


# -- columns as numbers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FixedColumn:
    """How a column of samples becomes numbers, as learned from the training samples.

    Parameters
    ----------
    name : the column's name in messages
    type : Column, the type as which its strings are read; None where it holds numbers
    levels : the categories, the reference level last
    shares : array, the share of each level among the training samples
    """

    name: str
    type: Column | None
    levels: tuple[str, ...]
    shares: Array

    @classmethod
    def of(cls, name: str, cells: Cells) -> FixedColumn:
        if cells.kind != "strings":
            return cls(name, None, (), np.empty(0))
        column = type_of(name, cells)
        if column.type in ("number", "date"):
            return cls(name, column, (), np.empty(0))
        labels, counts = np.unique(cells.values.astype(str), return_counts=True)
        shares = dict(zip(labels.tolist(), counts / counts.sum(), strict=True))
        order = [level for level in column.levels if level in shares] or labels.tolist()
        levels = tuple(order[1:] + order[:1])
        return cls(name, replace(column, type="category"), levels, np.array([shares[level] for level in levels]))

    @property
    def names(self) -> tuple[str, ...]:
        if not self.levels:
            return (self.name,)
        return tuple(f"{self.name}={level}" for level in self.levels)

    def values(self, cells: Cells, owner: str) -> Array:
        """Cells as numbers: shape (n, q).

        Raises
        ------
        ValueError : where a cell is missing, or has another type than in training
        """
        if self.type is not None:
            cells = self.type.read(cells)[0]
        elif cells.kind == "strings":
            raise ValueError(f"{owner}: the fixed column {self.name!r} held numbers in training, and holds strings now")
        absent = np.flatnonzero(cells.absent)
        if len(absent):
            samples = "sample" if len(absent) == 1 else f"{len(absent)} samples"
            raise ValueError(
                f"{owner}: the fixed column {self.name!r} is missing in row {absent[0]}: fill it in, or leave the "
                f"{samples} out"
            )
        if not self.levels:
            return np.asarray(cells.values, dtype=float)[:, None]
        texts = cells.values.astype(str)
        coded = (texts[:, None] == np.array(self.levels)).astype(float)
        unknown = ~coded.any(axis=1)
        if unknown.any():
            coded[unknown] = self.shares
            warn_user(
                f"{owner}: the fixed column {self.name!r} has levels that training did not have, "
                f"{shortened(sorted(set(map(repr, texts[unknown].tolist()))))}: nothing is known of their effects, and "
                "the mean effect over the training samples takes their place",
                PredictionWarning,
            )
        return coded


@dataclass(frozen=True, eq=False)
class FixedSamples:
    """The fixed columns, and how they become numbers, as learned from the training samples.

    Parameters
    ----------
    columns : tuple of FixedColumn
    keys : the columns as the user gave them, or the names of views
    owner : the name of the estimator's class
    """

    columns: tuple[FixedColumn, ...]
    keys: tuple[Any, ...]
    owner: str

    @classmethod
    def of(cls, model: Any, X: Any) -> FixedSamples:
        """Learn the columns from the training samples, as the user passed them."""
        owner, keys, X = type(model).__name__, keys_of(model), as_views(model, X)
        if keys and is_given(model, X) and not isinstance(X, Views):
            raise ValueError(
                f"{owner}: fixed names columns of X, and X holds kernel matrices: give a dict of views, one of them a "
                "frame or an array with these columns, and its name as fixed"
            )
        columns = tuple(FixedColumn.of(name, cells) for name, cells in _cells(owner, keys, X))
        return cls(columns, keys, owner)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for column in self.columns for name in column.names)

    def values(self, X: Any) -> Array:
        """The columns of samples or views as numbers: shape (n, c)."""
        named_cells = list(_cells(self.owner, self.keys, X))
        if [name for name, _ in named_cells] != [column.name for column in self.columns]:
            in_training = shortened([column.name for column in self.columns])
            present = shortened([name for name, _ in named_cells])
            raise ValueError(f"{self.owner}: the fixed columns were {in_training} in training, and are {present} now")
        return np.hstack(
            [column.values(cells, self.owner) for column, (_, cells) in zip(self.columns, named_cells, strict=True)]
        )


def _cells(owner: str, keys: Sequence[Any], X: Any) -> Iterator[tuple[str, Cells]]:
    """The fixed columns of samples or views, with a name for each."""
    if not keys:
        return
    if isinstance(X, Views):
        yield from _cells_of_views(owner, keys, X)
    else:
        yield from _cells_of_samples(keys, X, "")


def _cells_of_views(owner: str, keys: Sequence[Any], X: Views) -> Iterator[tuple[str, Cells]]:
    for key in keys:
        if key not in X.names:
            raise ValueError(
                f"{owner}: fixed must be the name of a view where X has several, got {abbreviated(key)}; the views are "
                f"{shortened(list(map(repr, X.names)))}"
            )
        lacking = np.flatnonzero(~X.has(key))
        if len(lacking):
            raise ValueError(
                f"{owner}: sample {lacking[0]} lacks the view {key!r}, whose columns are fixed: fill it in"
            )
        view = X.part(key)
        if isinstance(view, KernelBank):
            raise ValueError(f"{owner}: the view {key!r} is a kernel matrix, and fixed names a view with columns")
        shape = np.shape(view)
        count = shape[1] if len(shape) > 1 else 1
        yield from _cells_of_samples(range(count), view, f"{key}: ")


def _cells_of_samples(keys: Iterable[Any], X: Any, prefix: str) -> Iterator[tuple[str, Cells]]:
    """Columns of an array, a frame or a sparse matrix, with a name for each; no other columns are read."""
    if is_frame(X):
        names = list(X.columns)
        chosen = [key if isinstance(key, str) else names[int(key)] for key in keys]
        columns = X[chosen]
        labels = [str(name) for name in chosen]
    else:
        index = np.array([int(key) for key in keys], dtype=int)
        if is_sparse(X):
            columns = X.tocsr()[:, index].toarray()
        else:
            array = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
            columns = host(taken(array.reshape(-1, 1) if array.ndim == 1 else array, index, axis=1))
        labels = [f"column {j if j >= 0 else j + np.shape(X)[1]}" for j in index.tolist()]
    for label, cells in zip(labels, columns_of(columns), strict=True):
        yield prefix + label, cells
