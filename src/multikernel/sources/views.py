"""Samples in several views: blocks of features, data frames and kernel matrices, side by side.

Each view has separate kernels: the kernels of a block of features are bound to its columns, and a kernel matrix is a
kernel itself. What kernels learn from the training sample, they learn from the samples that have the view. A sample
lacks a view if all of its cells in this view are missing; the view is then completed from the views that the sample has
(completion.py). Where there is only one view, such a sample is the origin of the feature space: k = 0 with all samples.

A view with as many columns as samples is a kernel matrix if it is symmetric. If it is square but sparse or not
symmetric, a fit refuses it, since it may be a faulty kernel matrix, unless the user says that it holds features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import _safe_indexing

from multikernel._arrays import foreign, host, is_sparse, unmasked
from multikernel._row_labels import check_labels_of_rows, check_rows, row_labels
from multikernel._rules import Choice, abbreviated, listed, repeated, shortened
from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.banks.checks import as_array
from multikernel.banks.indices import checked_positions
from multikernel.banks.precomputed import precomputed
from multikernel.sources.joined import Missing, is_matrix, joined
from multikernel.sources.readers import sources_of_anndata, sources_of_mudata
from multikernel.tables.cells import is_frame
from multikernel.tables.objects import Objects, holds_cells

Rows = Literal["order", "index"]


@dataclass(frozen=True, eq=False)
class Views:
    """Samples in several views, which scikit-learn's cross-validation can split by rows.

    Parameters
    ----------
    names : tuple of str
    parts : for each view its data for all samples, as the user gave them, or a bank; where a sample lacks the view, its
        row is a copy of another sample's
    rows : int array, the positions of the chosen samples in the parts; None chooses all
    features : tuple of str, the views that hold features even if they are square
    labels : the labels of all samples of the parts, where a view had labels; else None
    present : from names of views to bool arrays, which samples of the parts have the view; views without an entry are
        present for all samples
    columns : from names of views that are kernel matrices to the labels of their columns, where they had labels
    joined : whether rows were matched by their labels, so that a target is matched by them, too
    """

    names: tuple[str, ...]
    parts: tuple[Any, ...]
    rows: Array | None = None
    features: tuple[str, ...] = ()
    labels: Any = None
    present: Mapping[str, Array] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    joined: bool = False

    @classmethod
    def of(cls, X: Any) -> Views:
        """Views of a dict or a list of them; a ValueError where they have different numbers of samples."""
        if isinstance(X, Views):
            return X
        items = named(X)
        if not items:
            raise ValueError("X is a dict without any view; give at least one array, data frame or kernel matrix")
        duplicate = repeated(map(str, items))
        if duplicate is not None:
            raise ValueError(f"two views have the name {duplicate!r}; give each a different name")
        sources = tuple(
            unmasked(host(source)) if hasattr(source, "shape") else _view_of_list(source, f"view {str(name)!r}")
            for name, source in items.items()
        )
        for name, source in zip(items, sources, strict=True):
            if isinstance(source, Views):
                raise ValueError(
                    f"{str(name)!r} is itself several views; give its views beside the others, in one dict"
                )
            if hasattr(source, "obs_names"):
                raise ValueError(
                    f"{str(name)!r} is an {type(source).__name__}: views.from_anndata reads it, and "
                    "views(..., rows='index') joins it with others"
                )
            if not source.shape:
                raise ValueError(
                    f"a view has a row for each sample; {str(name)!r} is {abbreviated(items[name])}: give an array, a "
                    "data frame or a list, or leave it out"
                )
        check_rows(*((f"X[{key!r}]", source) for key, source in keyed(X, sources)))
        sizes = {str(name): int(source.shape[0]) for name, source in zip(items, sources, strict=True)}
        if len(set(sizes.values())) > 1:
            counts = listed([f"{n} in {name!r}" for name, n in sizes.items()]).replace(" or ", " and ")
            raise ValueError(f"views are of the same samples, row by row; got {counts}")
        return cls(tuple(map(str, items)), sources)

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and views."""
        return len(self), len(self.parts)

    def __repr__(self) -> str:
        forms = [
            f"{name!r} ({_form(source)}{_without(int((~self.has(name)).sum()))})"
            for name, source in zip(self.names, self.parts, strict=True)
        ]
        return f"<Views of {_counted(len(self), 'sample')}: {shortened(forms)}>"

    def __len__(self) -> int:
        if self.rows is None:
            return int(self.parts[0].shape[0])
        return len(self.rows)

    def __getitem__(self, index: Any) -> Views:
        """Some of the samples; a view itself is ``part(name)``.

        A mask with labels is matched to the samples by label, where the views have labels.
        """
        index = index[0] if isinstance(index, tuple) else index
        mask_labels = row_labels(index)
        if mask_labels is not None and self.index is not None and np.asarray(index).dtype.kind == "b":
            if not mask_labels.is_unique or len(self.index.difference(mask_labels)):
                raise ValueError("views: a mask with labels needs one value for each sample; give its .to_numpy()")
            index = index.loc[self.index].to_numpy()
        rows = checked_positions(index, len(self))
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    @property
    def index(self) -> Any:
        """The labels of the samples, or None where they have none; ``y.loc[views.index]`` has the same order."""
        return self.at_rows(self.labels)

    def at_rows(self, values: Any) -> Any:
        """The values of the chosen samples, from values of all samples, such as labels; None for None."""
        if values is None or self.rows is None:
            return values
        return values[self.rows]

    def has(self, name: str) -> Array:
        """Which samples have a view, bool array (n,); samples whose cells are all missing are not detected here."""
        present: Array | None = self.at_rows(self.present.get(name))
        if present is None:
            return np.ones(len(self), dtype=bool)
        return present

    def part(self, name: str) -> Any:
        """The data of a view: its samples, or the rows of its bank with the columns of all samples."""
        if name not in self.names:
            raise ValueError(f"there is no view {name!r} among {_quoted(self.names)}")
        source = self.parts[self.names.index(name)]
        if self.rows is None:
            return source
        if isinstance(source, KernelBank):
            return source.block(self.rows, slice(None))
        return _safe_indexing(source, self.rows)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names and data of the views, as a training sample: a bank has the same rows and columns."""
        for name, source in zip(self.names, self.parts, strict=True):
            if isinstance(source, KernelBank) and self.rows is not None:
                yield name, source.block(self.rows, self.rows)
            else:
                yield name, self.part(name)

    def check_matrices(self, features: Iterable[str] = ()) -> None:
        """ValueError where a view of training samples is square and sparse or not symmetric, or a bank is not square.

        Parameters
        ----------
        features : further names of views that hold features even if they are square
        """
        for name, source in zip(self.names, self.parts, strict=True):
            if isinstance(source, KernelBank) and not source.square:
                raise ValueError(f"view {name!r} is a bank of shape {source.shape}; a training bank must be square")
            if name in {*self.features, *features}:
                continue
            if is_sparse(source) and source.shape[0] == source.shape[1]:
                raise ValueError(
                    f"view {name!r} is sparse and square, {source.shape[0]} x {source.shape[1]}, as a kernel matrix "
                    "is. Give the dense matrix, by toarray(), if it is one; or, where its columns are features, say "
                    f"so: views(X, features=[{name!r}])"
                )
            if (K := _square(source)) is not None:
                if is_frame(source):
                    check_labels_of_rows([(f"X[{name!r}]", source.index), (f"X[{name!r}].T", source.columns)])
                (i, j), K_ij, K_ji = _most_asymmetric_entry(K)
                raise ValueError(
                    f"view {name!r} is square, {len(K)} x {len(K)}, as a kernel matrix is, and not symmetric: entry "
                    f"({i}, {j}) is {K_ij:.6g} and entry ({j}, {i}) is {K_ji:.6g}. Correct the matrix; or, where its "
                    f"columns are features, say so: views(X, features=[{name!r}])"
                )


def named(X: Any) -> dict[Any, Any]:
    """The views of a dict, or of a list by number."""
    if isinstance(X, Mapping):
        return dict(X)
    return {f"view {k}": source for k, source in enumerate(X)}


def keyed(X: Any, sources: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs of a key and a view for a dict, of a position and a view for a list."""
    if isinstance(X, Mapping):
        return zip(X, sources, strict=True)
    return enumerate(sources)


class ViewsMaker:
    """The type of ``multikernel.views``: a function of sources that has readers of annotated data as methods."""

    def __call__(
        self, X: Any, features: Iterable[str] = (), *, rows: Rows = "order", missing: Missing = "refuse"
    ) -> Views | KernelBank:
        """Several sources of the same samples, as one object that scikit-learn's cross-validation can split by rows.

        Estimators also take a plain dict or list of sources, but ``cross_val_score``, ``GridSearchCV`` and
        ``train_test_split`` would count its sources instead of the samples.

        Parameters
        ----------
        X : dict or list of views: arrays (n, p), CSR matrices, data frames, strings, or lists of objects for kernels of
            other packages (``kernels.external``); and kernel matrices (n, n), which are symmetric, or banks. CSR
            matrices hold features; a fit refuses a CSR matrix with as many columns as samples unless ``features`` names
            it. Data frames whose columns and rows are named differently hold features, unless they are symmetric.
        features : names of views that hold features although they have as many columns as samples; the views of a list
            are named "view 0", "view 1" and so on
        rows : "order" or "index", default "order"
            How samples are matched. "order": by position; frames whose labels contradict this are refused. "index": by
            the labels of the rows, for data frames, Series and AnnData-like objects, in the order of the first source.
            A target, weights or groups that have labels are then matched by label, too; ``views(...).index`` are the
            labels of the samples.
        missing : "refuse" or "keep", default "refuse"
            What happens, with rows="index", to samples that a source lacks. "refuse" raises an error that names them.
            "keep" keeps them: a source that a sample lacks is completed from its other sources.

        Returns
        -------
        Views; a KernelBank where all of them are complete kernel matrices without labels

        Raises
        ------
        ValueError : where the views have no sample or are of different samples, two have the same name, a symmetric
            matrix is no kernel matrix, ``features`` names a view that does not exist; or where rows="index" and a
            source has no labels, has one twice, or lacks samples of another one

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.model_selection import cross_val_score
        >>> from multikernel import EasyMKLClassifier, views
        >>> rng = np.random.default_rng(0)
        >>> genes, y = rng.normal(size=(60, 30)), np.arange(60) % 2
        >>> similar = np.outer(y, y) + np.eye(60)
        >>> scores = cross_val_score(EasyMKLClassifier(), views({"genes": genes, "similar": similar}), y)
        >>> bool(scores.min() == 1.0)
        True

        Rows matched by label, where one source lacks a sample:

        >>> import pandas as pd
        >>> clinic = pd.DataFrame({"age": [51.0, 63.0, 47.0]}, index=["ann", "bob", "eve"])
        >>> scan = pd.DataFrame({"volume": [3.1, 2.7]}, index=["eve", "ann"])
        >>> views({"clinic": clinic, "scan": scan}, rows="index", missing="keep")
        <Views of 3 samples: 'clinic' (1 column), 'scan' (1 column, 1 sample without)>
        """
        Choice(("order", "index")).check(rows, "views: rows")
        Choice(("refuse", "keep")).check(missing, "views: missing")
        of_features = (features,) if isinstance(features, str) else tuple(map(str, features))
        if isinstance(X, Views | KernelBank):
            if of_features or rows == "index":
                raise ValueError(
                    "views: features and rows are said of a dict or a list of views, not of views that are made already"
                )
            return X
        if rows == "order" and missing == "keep":
            raise ValueError(
                "views: missing='keep' needs rows='index', since rows that are matched by their order are all there"
            )
        if not is_views(X) and not (rows == "index" and isinstance(X, list | tuple)):
            raise ValueError("views takes a dict or a list of arrays, data frames, kernel matrices or banks")
        labels: Any = None
        present: dict[str, Array] = {}
        if rows == "index":
            sources, labels, present = joined(named(X), missing, of_features)
            X = {name: _without_labels(source) for name, source in sources.items()}
            return _checked_views(Views.of(X), of_features, True, labels, present, joined=True)
        views_of_X = Views.of(X)
        labels_of_views = map(row_labels, views_of_X.parts)
        labels = next((labels for labels in labels_of_views if labels is not None), None)
        return _checked_views(views_of_X, of_features, isinstance(X, Mapping), labels, present)

    @staticmethod
    def from_anndata(data: Any, groups: Mapping[str, Any] | None = None) -> Views | KernelBank:
        """Groups of variables of an AnnData object as sources; the package anndata is not needed.

        Parameters
        ----------
        data : AnnData, or another object with ``X``, ``obs_names`` and ``var_names``
        groups : from the name of a source to its contents: several names of variables, or of columns of ``obs``, or a
            mask of the variables; or the name of an entry of ``obsm`` or ``layers``. None makes one source "X" of all
            variables.

        Returns
        -------
        Views with the labels ``obs_names``

        Raises
        ------
        TypeError : where the object has no such attributes
        ValueError : where a group is empty, or names something that does not exist
        """
        return views(sources_of_anndata(data, groups), rows="index")

    @staticmethod
    def from_mudata(data: Any, missing: Missing = "keep") -> Views | KernelBank:
        """The modalities of a MuData object as sources; the package mudata is not needed.

        Parameters
        ----------
        data : MuData, or another object with a mapping ``mod`` of objects with ``X``, ``obs_names`` and ``var_names``
        missing : as in ``views``, for samples that some modality lacks

        Returns
        -------
        Views with the labels of all samples

        Raises
        ------
        TypeError : where the object has no modalities
        ValueError : where a modality lacks samples and ``missing`` is "refuse"
        """
        return views(sources_of_mudata(data), rows="index", missing=missing)


views = ViewsMaker()
views.__doc__ = ViewsMaker.__call__.__doc__  # for help() and the pages of the site


def _checked_views(
    views_of_X: Views,
    of_features: tuple[str, ...],
    is_named: bool,
    labels: Any,
    present: dict[str, Array],
    joined: bool = False,
) -> Views | KernelBank:
    """Views whose kernel matrices are checked and become banks; a bank where all are complete kernel matrices."""
    if not len(views_of_X):
        raise ValueError("views: the views have no sample; give at least one row")
    for name in of_features:
        if name not in views_of_X.names:
            raise ValueError(f"views: features names {name!r}, and the views are {_quoted(views_of_X.names)}")
    sources = [
        source if name in of_features else _as_matrix(source)
        for name, source in zip(views_of_X.names, views_of_X.parts, strict=True)
    ]
    are_kernels = [
        name not in of_features and isinstance(source, np.ndarray) and is_kernel_matrix(source)
        for name, source in zip(views_of_X.names, sources, strict=True)
    ]
    for name, source, is_kernel in zip(views_of_X.names, sources, are_kernels, strict=True):
        if is_kernel and np.isnan(np.diagonal(source)).any():
            present[name] = ~np.isnan(np.diagonal(source))
    if all(are_kernels) and not present and labels is None:
        return _bank_of_matrices(sources, views_of_X.names, is_named)
    banked_sources = tuple(
        _bank_of_matrices([source], [name], True) if is_kernel else source
        for name, source, is_kernel in zip(views_of_X.names, sources, are_kernels, strict=True)
    )
    columns = {
        name: source.columns
        for name, source, is_kernel in zip(views_of_X.names, views_of_X.parts, are_kernels, strict=True)
        if is_kernel and is_matrix(source)
    }
    return replace(
        views_of_X,
        parts=banked_sources,
        features=of_features,
        labels=labels,
        present=present,
        columns=columns,
        joined=joined,
    )


def _without_labels(source: Any) -> Any:
    """A joined source without row labels; a kernel matrix keeps its names, by which it is recognised."""
    if is_matrix(source):
        return source
    if hasattr(source, "reset_index"):
        return source.reset_index(drop=True)
    return source


def _view_of_list(source: Any, name: str) -> Any:
    """A view that is a list: an array where it can be a table, else objects."""
    if not isinstance(source, list | tuple) or any(item is source for item in source):
        return as_array(source, name)
    if not holds_cells(source):
        return Objects.of(source)
    try:
        values = np.asarray(source)
    except ValueError:  # of different lengths
        return Objects.of(source)
    if values.ndim < 3:
        return values
    return Objects.of(source)


def _bank_of_matrices(matrices: list[Any], names: Sequence[str], has_names: bool) -> KernelBank:
    """The bank of symmetric matrices; where one is no kernel matrix, the error asks whether it holds features."""
    try:
        return precomputed(matrices, names=names if has_names else None)
    except ValueError as error:
        raise ValueError(
            f"{error}; where the columns of a view are features, say so: views(X, features=[...])"
        ) from None


def is_views(X: Any) -> bool:
    """Whether X is a dict or a list of views, or a stack of square matrices, and not a single table."""
    if is_sparse(X):  # checked first, since dok_matrix is a dict
        return False
    if isinstance(X, Mapping):
        return True
    if isinstance(X, np.ndarray):
        return X.ndim == 3 and X.shape[1] == X.shape[2]
    return isinstance(X, list | tuple) and len(X) > 0 and all(_is_view(source) for source in X)


def is_kernel_matrix(K: Any) -> bool:
    """Whether an array is square and symmetric, which features with as many columns as samples hardly ever are."""
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.dtype.kind not in "fiub":
        return False
    return bool(np.allclose(K, K.T, rtol=1e-5, atol=1e-8 * float(np.nanmax(np.abs(K), initial=0.0)), equal_nan=True))


def _is_view(source: Any) -> bool:
    if isinstance(source, KernelBank) or is_frame(source) or is_sparse(source):
        return True
    return (isinstance(source, np.ndarray) or foreign(source)) and source.ndim == 2


def _as_matrix(source: Any) -> Any:
    """A kernel matrix in a frame or an array of objects becomes an array of numbers; other data stay as they are."""
    values = _values(source)
    if values is not None and is_kernel_matrix(values):
        return values
    return source


def _values(source: Any) -> Array | None:
    """The entries of a view that is square, dense and holds numbers; None for any other view."""
    if isinstance(source, KernelBank | Objects) or is_sparse(source) or len(source.shape) != 2:
        return None
    if source.shape[0] != source.shape[1]:
        return None
    values = np.asarray(source)
    if values.dtype.kind == "O":
        if not all(value is None or isinstance(value, Real) for value in values.flat):
            return None
        values = values.astype(float)
    if values.dtype.kind in "fiub":
        return values
    return None


def _form(source: Any) -> str:
    """The kind and size of a view in a few words."""
    if isinstance(source, KernelBank):
        return _counted(len(source), "kernel")
    if isinstance(source, Objects):
        return "objects"
    return _counted(int(source.shape[1]) if len(source.shape) > 1 else 1, "column")


def _without(lacking: int) -> str:
    """Says how many samples lack a view, if any."""
    if not lacking:
        return ""
    return f", {_counted(lacking, 'sample')} without"


def _counted(count: int, word: str) -> str:
    """A count with its noun: 1 column, 2 columns."""
    if count == 1:
        return f"1 {word}"
    return f"{count} {word}s"


def _square(source: Any) -> Array | None:
    """The entries of a view that may be a kernel matrix (a frame only if its rows and columns agree), or None."""
    if is_frame(source) and not is_matrix(source):
        return None
    return _values(source)


def _most_asymmetric_entry(K: Array) -> tuple[tuple[int, int], float, float]:
    """The position of the entry that differs most from its mirror image, and both; NaN beside a number comes first."""
    with np.errstate(invalid="ignore"):
        difference = np.abs(K.astype(float) - K.T.astype(float))
    difference[np.isnan(K) != np.isnan(K.T)] = np.inf
    i, j = np.unravel_index(int(np.nanargmax(difference)), K.shape)
    return (int(i), int(j)), float(K[i, j]), float(K[j, i])


def _quoted(names: Iterable[str]) -> str:
    return shortened([repr(name) for name in names])
