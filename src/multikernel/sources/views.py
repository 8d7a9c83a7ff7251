"""Samples seen in several ways: blocks of features, data frames and kernel matrices, side by side.

A view has kernels of its own: those of a block of features are bound to it, a kernel matrix is one. What kernels learn
from the training sample they learn from the samples that have the view. The rows of a sample that lacks a view, all of
whose cells there are missing, are completed from the views that it has (completion.py); where there is a single view it
is the origin of the feature space, with k = 0 to every sample.

A view with as many columns as samples is a kernel matrix where it is symmetric. One that is square and not symmetric,
or sparse, is refused by a fit, since it may be a kernel matrix, unless the user says that it holds features.
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
from multikernel.banks.indices import samples
from multikernel.banks.precomputed import precomputed
from multikernel.sources.joined import Missing, is_matrix, joined
from multikernel.sources.readers import sources_of_anndata, sources_of_mudata
from multikernel.tables.cells import is_frame
from multikernel.tables.objects import Objects, holds_cells

Rows = Literal["order", "index"]


@dataclass(frozen=True, eq=False)
class Views:
    """Samples in several views, which scikit-learn's cross-validation takes apart by rows.

    Parameters
    ----------
    names : tuple of str
    parts : for each view samples as the user gave them, or a bank
    rows : int array, which samples of the parts these are; None is all of them
    features : tuple of str, the views that hold features, also where they are square
    labels : the labels of all samples of the parts, where some view had labels; else None
    present : from names of views to bool arrays, which samples of the part have the view; a view that is not there has
        all of them. In the part another sample stands in place of one that lacks the view.
    columns : from names of views that are kernel matrices to the labels of their columns, where they had some
    joined : whether the labels say which rows belong together, so that a target is matched by them
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
        """Of a dict or a list of views; a ValueError where they are of different samples."""
        if isinstance(X, Views):
            return X
        items = named(X)
        if not items:
            raise ValueError("X is a dict without any view; give at least one array, data frame or kernel matrix")
        twice = repeated(map(str, items))
        if twice is not None:
            raise ValueError(f"two views have the name {twice!r}; give each a name of its own")
        parts = tuple(
            unmasked(host(part)) if hasattr(part, "shape") else _listed(part, f"view {str(name)!r}")
            for name, part in items.items()
        )
        for name, part in zip(items, parts, strict=True):
            if isinstance(part, Views):
                raise ValueError(f"{str(name)!r} is views of its own; give its views beside the others, in one dict")
            if hasattr(part, "obs_names"):
                raise ValueError(
                    f"{str(name)!r} is an {type(part).__name__}: views.from_anndata reads it, and "
                    "views(..., rows='index') joins it with others"
                )
            if not part.shape:
                raise ValueError(
                    f"a view has a row for each sample; {str(name)!r} is {abbreviated(items[name])}: give an array, a "
                    "data frame or a list, or leave it out"
                )
        check_rows(*((f"X[{key!r}]", part) for key, part in keyed(X, parts)))
        sizes = {str(name): int(part.shape[0]) for name, part in zip(items, parts, strict=True)}
        if len(set(sizes.values())) > 1:
            found = listed([f"{n} in {name!r}" for name, n in sizes.items()]).replace(" or ", " and ")
            raise ValueError(f"views are of the same samples, row by row; got {found}")
        return cls(tuple(map(str, items)), parts)

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and views."""
        return len(self), len(self.parts)

    def __repr__(self) -> str:
        forms = [
            f"{name!r} ({_form(part)}{_without(int((~self.has(name)).sum()))})"
            for name, part in zip(self.names, self.parts, strict=True)
        ]
        return f"<Views of {_counted(len(self), 'sample')}: {shortened(forms)}>"

    def __len__(self) -> int:
        if self.rows is None:
            return int(self.parts[0].shape[0])
        return len(self.rows)

    def __getitem__(self, index: Any) -> Views:
        """Some of the samples; a view itself is ``part(name)``.

        A mask with labels of its own is one of the samples with these labels, where the views have labels.
        """
        index = index[0] if isinstance(index, tuple) else index
        own = row_labels(index)
        if own is not None and self.index is not None and np.asarray(index).dtype.kind == "b":
            if not own.is_unique or len(self.index.difference(own)):
                raise ValueError("views: a mask with labels needs one value for each sample; give its .to_numpy()")
            index = index.loc[self.index].to_numpy()
        rows = samples(index, len(self))
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    @property
    def index(self) -> Any:
        """The labels of the samples, where there are some; else None. ``y.loc[views.index]`` fits them."""
        return self.at_rows(self.labels)

    def at_rows(self, values: Any) -> Any:
        """Values of all samples, such as labels, at the samples that are chosen; None where there are none."""
        if values is None or self.rows is None:
            return values
        return values[self.rows]

    def has(self, name: str) -> Array:
        """Which samples have a view, bool array (n,); of those of missing cells it is not known here."""
        found: Array | None = self.at_rows(self.present.get(name))
        if found is None:
            return np.ones(len(self), dtype=bool)
        return found

    def part(self, name: str) -> Any:
        """What was given for a view: its samples, or its bank against all samples."""
        if name not in self.names:
            raise ValueError(f"there is no view {name!r} among {_quoted(self.names)}")
        whole = self.parts[self.names.index(name)]
        if self.rows is None:
            return whole
        if isinstance(whole, KernelBank):
            return whole.block(self.rows, slice(None))
        return _safe_indexing(whole, self.rows)

    def items(self) -> Iterator[tuple[str, Any]]:
        """The views by name; of a training sample a bank is square."""
        for name, whole in zip(self.names, self.parts, strict=True):
            if isinstance(whole, KernelBank) and self.rows is not None:
                yield name, whole.block(self.rows, self.rows)
            else:
                yield name, self.part(name)

    def check_matrices(self, features: Iterable[str] = ()) -> None:
        """ValueError where a view of training samples is square and sparse or not symmetric, or a bank is not square.

        Parameters
        ----------
        features : names of views that hold features, also where they are square, beside those that are known to
        """
        for name, whole in zip(self.names, self.parts, strict=True):
            if isinstance(whole, KernelBank) and not whole.square:
                raise ValueError(f"view {name!r} is a bank of shape {whole.shape}; a training bank must be square")
            if name in {*self.features, *features}:
                continue
            if is_sparse(whole) and whole.shape[0] == whole.shape[1]:
                raise ValueError(
                    f"view {name!r} is sparse and square, {whole.shape[0]} x {whole.shape[1]}, as a kernel matrix is. "
                    "Give the dense matrix, by toarray(), if it is one; or, where its columns are features, say so: "
                    f"views(X, features=[{name!r}])"
                )
            if (K := _square(whole)) is not None:
                if is_frame(whole):
                    check_labels_of_rows([(f"X[{name!r}]", whole.index), (f"X[{name!r}].T", whole.columns)])
                (i, j), there, back = _first_unlike(K)
                raise ValueError(
                    f"view {name!r} is square, {len(K)} x {len(K)}, as a kernel matrix is, and not symmetric: entry "
                    f"({i}, {j}) is {there:.6g} and entry ({j}, {i}) is {back:.6g}. Correct the matrix; or, where its "
                    f"columns are features, say so: views(X, features=[{name!r}])"
                )


def named(X: Any) -> dict[Any, Any]:
    """The views of a dict, or of a list by number."""
    if isinstance(X, Mapping):
        return dict(X)
    return {f"view {k}": part for k, part in enumerate(X)}


def keyed(X: Any, parts: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The views of a dict by key, of a list by position."""
    if isinstance(X, Mapping):
        return zip(X, parts, strict=True)
    return enumerate(parts)


class ViewsMaker:
    """What ``multikernel.views`` is: a function of sources, with readers of annotated data beside it."""

    def __call__(
        self, X: Any, features: Iterable[str] = (), *, rows: Rows = "order", missing: Missing = "refuse"
    ) -> Views | KernelBank:
        """Several sources of the same samples, as one thing that scikit-learn's cross-validation can take apart.

        Estimators take a dict or a list of sources as it is; ``cross_val_score``, ``GridSearchCV`` and
        ``train_test_split`` would count the sources in place of the samples.

        Parameters
        ----------
        X : dict or list of views: arrays (n, p), CSR matrices, data frames, strings, or lists of objects for kernels of
            other packages (``kernels.external``); and kernel matrices (n, n), which are symmetric, or banks. CSR
            matrices hold features, and a fit refuses those with as many columns as samples that ``features`` does not
            name. Data frames whose columns have other names than their rows hold features, unless they are symmetric.
        features : names of views that hold features, though they have as many columns as samples; the views of a list
            are named "view 0", "view 1" and so on
        rows : "order" or "index", default "order"
            How samples are matched. "order": rows belong together as they lie; frames whose labels contradict that are
            refused. "index": by the labels of the rows, for data frames, Series and AnnData-like objects; the order is
            that of the first source. A target, weights or groups with labels are then matched by them, too; those of
            ``views(...).index`` are the samples' labels.
        missing : "refuse" or "keep", default "refuse"
            With rows="index", what becomes of samples that a source lacks. "refuse" raises, and says which. "keep"
            keeps them: a source that a sample lacks is completed by its other sources.

        Returns
        -------
        Views; a KernelBank where all of them are complete kernel matrices without labels

        Raises
        ------
        ValueError : where the views have no sample or are of different samples, two have the same name, a symmetric
            matrix is no kernel matrix, ``features`` names a view that is not there; or where rows="index" and a source
            has no labels, has one twice, or lacks samples of another one

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.model_selection import cross_val_score
        >>> from multikernel import EasyMKLClassifier, views
        >>> rng = np.random.default_rng(0)
        >>> genes, y = rng.normal(size=(60, 30)), np.arange(60) % 2
        >>> similar = np.outer(y, y) + np.eye(60)
        >>> found = cross_val_score(EasyMKLClassifier(), views({"genes": genes, "similar": similar}), y)
        >>> bool(found.min() == 1.0)
        True

        Rows by name, of which one source lacks some:

        >>> import pandas as pd
        >>> clinic = pd.DataFrame({"age": [51.0, 63.0, 47.0]}, index=["ann", "bob", "eve"])
        >>> scan = pd.DataFrame({"volume": [3.1, 2.7]}, index=["eve", "ann"])
        >>> views({"clinic": clinic, "scan": scan}, rows="index", missing="keep")
        <Views of 3 samples: 'clinic' (1 column), 'scan' (1 column, 1 sample without)>
        """
        Choice(("order", "index")).check(rows, "views: rows")
        Choice(("refuse", "keep")).check(missing, "views: missing")
        said = (features,) if isinstance(features, str) else tuple(map(str, features))
        if isinstance(X, Views | KernelBank):
            if said or rows == "index":
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
            sources, labels, present = joined(named(X), missing, said)
            X = {name: _without_labels(source) for name, source in sources.items()}
            return _made(Views.of(X), said, True, labels, present, joined=True)
        found = Views.of(X)
        labels = next((own for own in map(row_labels, found.parts) if own is not None), None)
        return _made(found, said, isinstance(X, Mapping), labels, present)

    @staticmethod
    def from_anndata(data: Any, groups: Mapping[str, Any] | None = None) -> Views | KernelBank:
        """Groups of variables of an AnnData object as sources; the package anndata is not needed.

        Parameters
        ----------
        data : AnnData, or another object with ``X``, ``obs_names`` and ``var_names``
        groups : from names of sources to what each consists of: several names of variables, or of columns of ``obs``,
            or a mask of the variables; or the name of an entry of ``obsm`` or ``layers``. None is one source "X" of
            all variables.

        Returns
        -------
        Views with the labels ``obs_names``

        Raises
        ------
        TypeError : where the object has no such attributes
        ValueError : where a group is empty, or names what is not there
        """
        found = views(sources_of_anndata(data, groups), rows="index")
        return found

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


def _made(
    found: Views,
    said: tuple[str, ...],
    is_named: bool,
    labels: Any,
    present: dict[str, Array],
    joined: bool = False,
) -> Views | KernelBank:
    """Views whose kernel matrices are checked and made banks of; a bank where all of them are complete ones."""
    if not len(found):
        raise ValueError("views: the views have no sample; give at least one row")
    for name in said:
        if name not in found.names:
            raise ValueError(f"views: features names {name!r}, and the views are {_quoted(found.names)}")
    parts = [part if name in said else _as_matrix(part) for name, part in zip(found.names, found.parts, strict=True)]
    matrices = [
        name not in said and isinstance(part, np.ndarray) and is_kernel_matrix(part)
        for name, part in zip(found.names, parts, strict=True)
    ]
    for name, part, given in zip(found.names, parts, matrices, strict=True):
        if given and np.isnan(np.diagonal(part)).any():
            present[name] = ~np.isnan(np.diagonal(part))
    if all(matrices) and not present and labels is None:
        return _checked(parts, found.names, is_named)
    made = tuple(
        _checked([part], [name], True) if given else part
        for name, part, given in zip(found.names, parts, matrices, strict=True)
    )
    columns = {
        name: part.columns
        for name, part, given in zip(found.names, found.parts, matrices, strict=True)
        if given and is_matrix(part)
    }
    return replace(found, parts=made, features=said, labels=labels, present=present, columns=columns, joined=joined)


def _without_labels(source: Any) -> Any:
    """A source whose rows are in the order of all others; a kernel matrix keeps its names, which say what it is."""
    if is_matrix(source):
        return source
    if hasattr(source, "reset_index"):
        return source.reset_index(drop=True)
    return source


def _listed(part: Any, name: str) -> Any:
    """A view that is a list: an array where it can be a table, else objects."""
    if not isinstance(part, list | tuple) or any(item is part for item in part):
        return as_array(part, name)
    if not holds_cells(part):
        return Objects.of(part)
    try:
        found = np.asarray(part)
    except ValueError:  # of different lengths
        return Objects.of(part)
    if found.ndim < 3:
        return found
    return Objects.of(part)


def _checked(matrices: list[Any], names: Sequence[str], named: bool) -> KernelBank:
    """The bank of matrices that are symmetric; where one is no kernel matrix, the error says what else it may be."""
    try:
        return precomputed(matrices, names=names if named else None)
    except ValueError as error:
        raise ValueError(
            f"{error}; where the columns of a view are features, say so: views(X, features=[...])"
        ) from None


def is_views(X: Any) -> bool:
    """Whether X is a dict or a list of views: what no single array, sparse matrix or data frame is."""
    if is_sparse(X):  # a sparse matrix may be a dict, by its entries
        return False
    if isinstance(X, Mapping):
        return True
    if isinstance(X, np.ndarray):
        return X.ndim == 3 and X.shape[1] == X.shape[2]
    return isinstance(X, list | tuple) and len(X) > 0 and all(_is_view(part) for part in X)


def is_kernel_matrix(K: Any) -> bool:
    """Whether an array is square and symmetric: features of as many columns as samples are not."""
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.dtype.kind not in "fiub":
        return False
    return bool(np.allclose(K, K.T, rtol=1e-5, atol=1e-8 * float(np.nanmax(np.abs(K), initial=0.0)), equal_nan=True))


def _is_view(part: Any) -> bool:
    if isinstance(part, KernelBank) or is_frame(part) or is_sparse(part):
        return True
    return (isinstance(part, np.ndarray) or foreign(part)) and part.ndim == 2


def _as_matrix(part: Any) -> Any:
    """A kernel matrix as an array of numbers, where it was a frame with the samples' names or an array of objects."""
    values = _values(part)
    if values is not None and is_kernel_matrix(values):
        return values
    return part


def _values(part: Any) -> Array | None:
    """The entries of a view that is square and holds numbers; None for any other, and for a sparse one."""
    if isinstance(part, KernelBank | Objects) or is_sparse(part) or len(part.shape) != 2:
        return None
    if part.shape[0] != part.shape[1]:
        return None
    values = np.asarray(part)
    if values.dtype.kind == "O":
        if not all(value is None or isinstance(value, Real) for value in values.flat):
            return None
        values = values.astype(float)
    if values.dtype.kind in "fiub":
        return values
    return None


def _form(part: Any) -> str:
    """What a view is, in a few words."""
    if isinstance(part, KernelBank):
        return _counted(len(part), "kernel")
    if isinstance(part, Objects):
        return "objects"
    return _counted(int(part.shape[1]) if len(part.shape) > 1 else 1, "column")


def _without(lacking: int) -> str:
    """How many samples lack a view."""
    if not lacking:
        return ""
    return f", {_counted(lacking, 'sample')} without"


def _counted(count: int, word: str) -> str:
    """A number of things: 1 column, 2 columns."""
    if count == 1:
        return f"1 {word}"
    return f"{count} {word}s"


def _square(part: Any) -> Array | None:
    """The entries of a view that looks like a kernel matrix; a frame does with columns named as its rows."""
    if is_frame(part) and not is_matrix(part):
        return None
    return _values(part)


def _first_unlike(K: Array) -> tuple[tuple[int, int], float, float]:
    """The entry that differs most from the one across the diagonal, NaN before any number, and both."""
    with np.errstate(invalid="ignore"):
        difference = np.abs(K.astype(float) - K.T.astype(float))
    difference[np.isnan(K) != np.isnan(K.T)] = np.inf
    i, j = np.unravel_index(int(np.nanargmax(difference)), K.shape)
    return (int(i), int(j)), float(K[i, j]), float(K[j, i])


def _quoted(names: Iterable[str]) -> str:
    return shortened([repr(name) for name in names])
