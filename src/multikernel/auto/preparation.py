"""From a table to samples, with sentences about it: how columns are used, and which are filled in or left out.

Columns have the types and the encodings of kernels (tables/columns.py). Numbers are used twice: standardised, and as
normal scores of their ranks, which outliers and heavy tails do not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from multikernel._arrays import as_dense
from multikernel._rules import shortened
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.auto.completion import PreparedCompletion
from multikernel.auto.samples import PreparedSamples
from multikernel.auto.table import GivenTable, is_views, read
from multikernel.banks.checks import check_finite
from multikernel.kernels import Encoding, Features, NormalScores, OneHot, Standardize, Together
from multikernel.kernels.for_columns import encodings_of
from multikernel.sources.matrices import matrices_between
from multikernel.sources.views import Views
from multikernel.tables.cells import Cells, is_frame
from multikernel.tables.columns import Column, Declared, checked_types, type_of
from multikernel.tables.table import Table

_NUMBERS = ("number", "ordinal", "date")
_ORDERS = {"dmy": "day first, 12.03.2020 as 12 March", "mdy": "month first, 12/03/2020 as 3 December"}


@dataclass(frozen=True, eq=False)
class Preparation:
    """How tables become samples.

    Parameters
    ----------
    columns : tuple of Column, all of the training table
    views : tuple of str, the view of each of them
    plain, ranked : Together, the numbers of used columns, standardised and by their ranks; None without numbers
    levels : Together, categories as zeros and ones; None without any
    texts : tuple of Together, one for each text
    sparse : tuple of str, names of sparse views
    sizes : tuple of arrays, for each sparse view the largest absolute value of each column
    given : tuple of str, names of views that are kernel matrices
    norms : tuple of float, the mean diagonal of each of these
    n : int, training samples
    known : tuple of bool arrays (n,), which training samples have entries in each of these matrices
    rows : array (n,), the training samples among those of the views' banks; None where they were all of these
    completion : PreparedCompletion for sources that a sample lacks; None for a single source
    column_labels : dict, from names of views that are kernel matrices to the labels of their columns
    """

    columns: tuple[Column, ...]
    views: tuple[str, ...]
    plain: Together | None
    ranked: Together | None
    levels: Together | None
    texts: tuple[Together, ...]
    sparse: tuple[str, ...]
    sizes: tuple[Array, ...]
    given: tuple[str, ...]
    norms: tuple[float, ...]
    n: int
    known: tuple[Array, ...] = ()
    rows: Array | None = None
    completion: PreparedCompletion | None = None
    column_labels: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, table: GivenTable, types: Mapping[str, Declared] | None = None) -> Preparation:
        """The preparation that a training table gives, with the declared types of its columns."""
        declared = table.types | dict(checked_types(types, list(table.columns)))
        columns = tuple(type_of(name, cells, declared.get(name)) for name, cells in table.columns.items())
        for column in columns:
            if column.note:
                warn_user(column.note, PredictionWarning)
        X = _used_cells(columns, table)
        used_columns = _used(columns)
        features = replace(Features.of(X), names=tuple(column.name for column in used_columns))
        positions = {kind: [j for j, c in enumerate(used_columns) if c.type == kind] for kind in ("category", "text")}

        def learned_encodings(encodings: list[tuple[Encoding, tuple[int, ...]]]) -> Together | None:
            if encodings:
                return Together(tuple(encodings)).resolve(features).learned(X)
            return None

        texts = [
            learned_encodings([(encodings_of(used_columns[j], Standardize())[0], (j,))]) for j in positions["text"]
        ]
        preparation = cls(
            columns=columns,
            views=tuple(table.views.get(name, "") for name in table.columns),
            plain=learned_encodings(list(_of_numbers(used_columns, Standardize()))),
            ranked=learned_encodings(list(_of_numbers(used_columns, NormalScores()))),
            levels=learned_encodings([(OneHot(), tuple(positions["category"]))] if positions["category"] else []),
            texts=tuple(text for text in texts if text is not None),
            sparse=tuple(table.sparse),
            sizes=tuple(_largest_values(matrix) for matrix in table.sparse.values()),
            given=tuple(table.given),
            norms=tuple(float(np.trace(K)) / len(K) or 1.0 for K in table.given.values()),
            n=table.n,
            known=tuple(np.asarray(K.any(axis=0)) for K in table.given.values()),
            rows=table.rows,
            column_labels=table.column_labels,
        )
        sources = preparation._sources
        unseen = [name for name in sources if not table.has(name).any()]
        if unseen:
            raise ValueError(f"view {unseen[0]!r} is missing for all samples")
        if len(set(sources)) < 2:
            return preparation
        return replace(
            preparation,
            completion=PreparedCompletion.of(preparation._encoded(table), sources, preparation._presence(table)),
        )

    def read(self, X: Any) -> GivenTable:
        """The table of new samples, with the columns and views of training; columns that were left out may be missing.

        Columns without names, or with names where training had none, are taken in the order of training; scikit-learn
        has warned of this.

        Raises
        ------
        ValueError : where one is missing, or has another form
        """
        table = self._with_views(self._with_training_names(read(X, self.given, self.rows, self.column_labels), X), X)
        missing = [column.name for column in self.columns if column.used and column.name not in table.columns]
        missing += [name for name in self.sparse if name not in table.sparse]
        missing += [name for name in self.given if name not in table.given]
        if missing:
            raise ValueError(f"X lacks what training had: {shortened(missing)}")
        for name, sizes in zip(self.sparse, self.sizes, strict=True):
            if table.sparse[name].shape[1] != len(sizes):
                raise ValueError(f"X has {table.sparse[name].shape[1]} features, and training had {len(sizes)} of them")
        for k, name in enumerate(self.given):
            if table.given[name].ndim != 2 or table.given[name].shape[1] != self.n:
                raise ValueError(
                    f"view {name!r} is a kernel matrix: new samples need a row each with {self.n} entries, one for "
                    f"each training sample, got shape {table.given[name].shape}"
                )
            is_known = self.known[k] if self.known else np.ones(self.n, dtype=bool)
            table.given[name] = _filled(table.given[name], is_known, f"view {name!r}")
        return table

    def samples(self, table: GivenTable) -> PreparedSamples:
        """The samples of a table for kernels; missing sources are completed from the other sources of a sample."""
        encoded = self._encoded(table)
        if self.completion is None:
            return encoded
        return self.completion(encoded, self._presence(table))

    def between(self, X: Any, Z: Any) -> tuple[Array, ...]:
        """The kernel matrices of views between samples, each of mean self-value 1.

        Raises
        ------
        ValueError : where X and Z are not parts of the same ``views``, or lack a matrix
        """
        for name in self.given:
            several = isinstance(X, Views) and isinstance(Z, Views)
            if not (several and name in X.names and name in Z.names and X.has(name).all() and Z.has(name).all()):
                raise ValueError(
                    f"view {name!r} is a kernel matrix, which says nothing of other pairs of samples: give both "
                    "samples as parts of the same views(...), which has the matrix of all of them"
                )
        banks = [matrices_between(name, X, Z) for name in self.given]
        return tuple(bank.matrix(0) / norm for bank, norm in zip(banks, self.norms, strict=True))

    @property
    def _sources(self) -> tuple[str, ...]:
        """The view of each source: numbers and categories of a view, texts, sparse views, kernel matrices."""
        view_and_text = [
            (view, column.type == "text") for column, view in zip(self.columns, self.views, strict=True) if column.used
        ]
        numbers = dict.fromkeys(view for view, is_text in view_and_text if not is_text)
        texts = [view for view, is_text in view_and_text if is_text]
        return (*numbers, *texts, *self.sparse, *self.given)

    def _presence(self, table: GivenTable) -> Array:
        """Which samples have each source, bool array (sources, n)."""
        return np.array([table.has(name) for name in self._sources]).reshape(-1, table.n)

    def _with_training_names(self, table: GivenTable, X: Any) -> GivenTable:
        """The table of new samples with the names of training for columns that have none, in their order."""
        columns = dict[str, Cells]()
        for view in dict.fromkeys(table.views.get(name, "") for name in table.columns):
            names_in_view = [name for name in table.columns if table.views.get(name, "") == view]
            training_names = [
                column.name for column, column_view in zip(self.columns, self.views, strict=True) if column_view == view
            ]
            other_names = is_frame(X) and not set(names_in_view) >= set(training_names)
            if len(names_in_view) != len(training_names) or not (view in table.nameless or other_names):
                training_names = names_in_view
            elif view and training_names != names_in_view:
                warn_user(
                    f"the columns of view {view!r} have no names, and are taken in the order of training: "
                    f"{shortened(training_names, 10)}",
                    PredictionWarning,
                )
            columns |= zip(training_names, (table.columns[name] for name in names_in_view), strict=True)
        return replace(table, columns=columns)

    def _with_views(self, table: GivenTable, X: Any) -> GivenTable:
        """The table of new samples, with cells for views that are missing as a whole; a warning names these views.

        Raises
        ------
        ValueError : where X has views that training had not
        """
        if self.completion is None or not is_views(X):
            return table
        training_views = list(dict.fromkeys((*self.views, *self.sparse, *self.given)))
        names = X.names if isinstance(X, Views) else tuple(map(str, X))
        missing = [name for name in training_views if name not in names]
        if not missing or not set(names) <= set(training_views):
            return table
        warn_user(
            f"missing views ({shortened(list(map(repr, missing)))}) are completed by what training samples show of "
            f"them beside {shortened(list(map(repr, names)))}",
            PredictionWarning,
        )
        n = table.n
        columns = {
            column.name: _no_cells(column, n)
            for column, view in zip(self.columns, self.views, strict=True)
            if view in missing
        }
        matrices = {
            name: sparse.csr_matrix((n, len(sizes)))
            for name, sizes in zip(self.sparse, self.sizes, strict=True)
            if name in missing
        }
        empty_matrices = {name: np.zeros((n, self.n)) for name in self.given if name in missing}
        return replace(
            table,
            columns=table.columns | columns,
            sparse=table.sparse | matrices,
            given=table.given | empty_matrices,
            present=table.present | dict.fromkeys(missing, np.zeros(n, dtype=bool)),
        )

    def _encoded(self, table: GivenTable) -> PreparedSamples:
        X = _used_cells(self.columns, table)
        levels = _numbers_of(self.levels, X)
        used_columns = _used(self.columns)
        views = list(dict.fromkeys(self.views))
        view_of_column = [view for column, view in zip(self.columns, self.views, strict=True) if column.used]
        # each number has a separate scale; the levels of a category share one
        numbers = self.plain.sources if self.plain else ()
        categories = self.levels.sources if self.levels else ()
        groups = [*numbers, *dict.fromkeys(categories)]
        owners = [*range(len(numbers)), *(groups.index(j, len(numbers)) for j in categories)]
        matrices = [
            unit_rows(table.sparse[name].multiply(1.0 / sizes).tocsr())
            for name, sizes in zip(self.sparse, self.sizes, strict=True)
        ]
        kernel_matrices = [table.given[name] / norm for name, norm in zip(self.given, self.norms, strict=True)]
        return PreparedSamples(
            np.hstack([_numbers_of(self.plain, X), levels]),
            np.hstack([_numbers_of(self.ranked, X), levels]),
            np.array(owners, dtype=int),
            np.array([views.index(view_of_column[j]) for j in (*numbers, *categories)], dtype=int),
            (*(sparse.csr_matrix(text(X)) for text in self.texts), *matrices),
            tuple(kernel_matrices),
            np.arange(table.n),
            tuple(used_columns[j].name for j in groups),
            tuple(views),
            (*(column.name for column in used_columns if column.type == "text"), *self.sparse, *self.given),
        )

    @property
    def needed(self) -> list[str]:
        """The columns that predictions need."""
        return [column.name for column in _used(self.columns)]

    def feature_names(self) -> list[str]:
        """The names of the numbers that columns become, in the order of ``samples``; ValueError for other sources."""
        if self.sparse or self.given:
            raise ValueError("features of sparse views and of kernel matrices have no names; give columns")
        used_names = [column.name for column in _used(self.columns)]
        encodings = [
            pair
            for together in (self.plain, self.levels, *self.texts)
            if together is not None
            for pair in together.parts
        ]
        names = []
        for encoding, columns in encodings:
            names_of_encoding = [used_names[int(columns[j])] for j in encoding.sources]
            if isinstance(encoding, OneHot):
                levels = ["missing" if level is None else level for column in encoding.levels or () for level in column]
                names_of_encoding = [f"{name}={level}" for name, level in zip(names_of_encoding, levels, strict=True)]
            names += names_of_encoding
        count = Counter(names)
        occurrence: Counter[str] = Counter()
        numbered = []
        for name in names:
            occurrence[name] += 1
            numbered.append(name if count[name] == 1 else f"{name} ({occurrence[name]})")
        return numbered

    def sentences(self) -> list[str]:
        """Sentences about the use of the columns."""
        return [*self._used(), *self._filled(), *self._left_out()]

    def _used(self) -> list[str]:
        ways = {
            "number": "scaled to mean 0 and spread 1, and also taken by {their} ranks",
            "ordinal": "the place among the ordered categories, as a number",
            "date": "the day, and the place in the year, the week and the day where dates go through these",
            "category": "one indicator for each level",
            "text": "words and pairs of words, or runs of characters, weighted by how rare they are",
        }
        sentences = []
        for kind, columns in groupby(sorted(_used(self.columns), key=_kind), _kind):
            names = [column.name for column in columns]
            plural = {"category": "categories", "text": "texts"}.get(kind, f"{kind}s")
            count_and_kind = f"{len(names)} {kind if len(names) == 1 else plural}"
            their = "its" if len(names) == 1 else "their"
            sentences.append(f"{count_and_kind} ({shortened(names)}): {ways[kind].format(their=their)}.")
        sentences += [f"Dates of {c.name!r} are read {_ORDERS[c.order]}." for c in self.columns if c.order in _ORDERS]
        if self.sparse:
            sentences.append(
                f"Sparse features ({shortened(self.sparse)}): scaled by their largest value, rows to norm 1."
            )
        if self.given:
            sentences.append(f"Kernel matrices ({shortened(self.given)}): taken as they are, mean self-value 1.")
        return sentences

    def _filled(self) -> Iterator[str]:
        numbers = [column.name for column in self.columns if column.gaps and column.type in _NUMBERS]
        levels = [column.name for column in self.columns if column.gaps and column.type == "category"]
        if numbers:
            yield f"Missing cells of {shortened(numbers)}: the mean, and a column that says where they were."
        if levels:
            yield f"Missing cells of {shortened(levels)}: a separate category."
        for column in self.columns:
            if column.note:
                yield f"{column.note[0].upper()}{column.note[1:]}."

    def _left_out(self, max_sentences: int = 10) -> list[str]:
        """A sentence for each column that is left out, up to ``max_sentences``, and one for the others."""
        sentences = [
            f"Column {column.name!r} is left out: it {_reason_left_out(column)}."
            for column in self.columns
            if not column.used
        ]
        if len(sentences) > max_sentences:
            return [*sentences[:max_sentences], f"{len(sentences) - max_sentences} more columns are left out."]
        return sentences


class PreparedColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns as the automatic estimator learns from them: numbers scaled, gaps filled in, indicators, words.

    Parameters
    ----------
    types : dict or None, default None
        From names of columns to "number", "date", "category" or "text".

    Attributes
    ----------
    preparation_ : how tables become samples
    """

    def __init__(self, types: Any = None) -> None:
        self.types = types

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the types and the encodings of the columns.

        Parameters
        ----------
        X : data frame, array or sparse matrix
        y : ignored

        Raises
        ------
        ValueError : where X holds a kernel matrix, which has no columns
        """
        table = read(X)
        if table.given:
            name = next(iter(table.given))
            raise ValueError(f"PreparedColumns: view {name!r} is a kernel matrix, which has no columns: leave it out")
        self.preparation_ = Preparation.of(table, self.types)
        return self

    def transform(self, X: Any) -> Array:
        """The samples as one matrix, a row for each.

        Parameters
        ----------
        X : samples like those of ``fit``
        """
        check_is_fitted(self)
        samples = self.preparation_.samples(self.preparation_.read(X))
        return np.hstack([samples.plain, *(words.toarray() for words in samples.sparse)])

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The column that each feature comes from, with its level or with a number where a column becomes several.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        return np.array(self.preparation_.feature_names(), dtype=object)


def _no_cells(column: Column, n: int) -> Cells:
    """A column of missing cells, of its kind in training."""
    kind = column.held or "strings"
    if kind == "strings":
        values = np.full(n, None, dtype=object)
    else:
        values = np.full(n, np.nan)
    return Cells(column.name, kind, values)


def _filled(K: Array, is_known: Array, name: str) -> Array:
    """A kernel matrix of new samples, with zeros for samples that have no entries in it."""
    K = np.where(np.isnan(K) & (~is_known | np.isnan(K).all(axis=1, keepdims=True)), 0.0, K)
    check_finite(K, name)
    return K


def _reason_left_out(column: Column) -> str:
    """Why a column is left out."""
    if column.type == "identifier":
        return "names its row: almost no value occurs twice"
    if column.gaps:
        return "has no value at all"
    return "has one value only"


def _used(columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if column.used]


def _kind(column: Column) -> str:
    return column.type


def _of_numbers(used_columns: Sequence[Column], numbers: Encoding) -> Iterator[tuple[Encoding, tuple[int, ...]]]:
    """The encodings of numbers, all plain ones together, of ordered categories and of dates."""
    plain = tuple(j for j, column in enumerate(used_columns) if column.type == "number")
    if plain:
        yield numbers, plain
    for j, column in enumerate(used_columns):
        if column.type in ("ordinal", "date"):
            yield from ((encoding, (j,)) for encoding in encodings_of(replace(column, parsed=False), numbers))


def _used_cells(columns: Sequence[Column], table: GivenTable) -> Table:
    """The columns that are used, read as in training; a warning names strings that become missing cells."""
    cells_of_columns = []
    for column in _used(columns):
        cells, warning = column.read(table.columns[column.name])
        cells_of_columns.append(cells)
        if warning:
            warn_user(warning, PredictionWarning)
    return Table.of_columns(cells_of_columns, table.n)


def _numbers_of(encoding: Together | None, X: Table) -> Array:
    """The encoded samples as a dense array."""
    if encoding is None:
        return np.empty((len(X), 0))
    encoded = encoding(X)
    dense: Array = as_dense(encoded)
    return dense


def _largest_values(matrix: Any) -> Array:
    sizes = np.asarray(np.abs(matrix).max(axis=0).todense()).ravel()
    return np.where(sizes > 0, sizes, 1.0)


def unit_rows(matrix: Any) -> Any:
    """Rows scaled to norm 1; rows of zeros do not change."""
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1.0 / np.where(norms > 0, norms, 1.0)) @ matrix)
