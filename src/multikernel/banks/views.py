"""Samples seen in several ways: blocks of features, data frames and kernel matrices, side by side.

A view has kernels of its own: those of a block of features are bound to it, a kernel matrix is one. A sample that lacks
a view, all of whose cells there are missing, has k = 0 with every sample in the kernels of that view,

    k_v(x, z) = s(x) s(z) k_v(x, z),    s(x) = 1 where x has the view, else 0,

which is positive semi-definite: the sample is the origin of the view's feature space, and the other views speak for it.
What kernels learn from the training sample they learn from the samples that have the view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing, check_array

from multikernel._parameters import listed
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank, positions, register_form
from multikernel.banks.bind import bind_kernels
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.precomputed import precomputed
from multikernel.banks.weighed import WeighedBank
from multikernel.banks.wrappers import WrapperBank, asked
from multikernel.kernels.family import KernelFamily
from multikernel.kernels.features import Features
from multikernel.kernels.frames import column_names, is_frame
from multikernel.kernels.table import Table, as_table


@dataclass(frozen=True, eq=False)
class Views:
    """Samples in several views, which scikit-learn's cross-validation takes apart by rows.

    Parameters
    ----------
    names : tuple of str
    parts : for each view samples as the user gave them, or a bank
    rows : int array, which samples of the parts these are; None is all of them
    """

    names: tuple[str, ...]
    parts: tuple[Any, ...]
    rows: Array | None = None

    @classmethod
    def of(cls, X: Any) -> Views:
        """Of a dict or a list of views; a ValueError where they are of different samples."""
        if isinstance(X, Views):
            return X
        items = dict(X) if isinstance(X, Mapping) else {f"view {k}": part for k, part in enumerate(X)}
        parts = tuple(part if hasattr(part, "shape") else np.asarray(part) for part in items.values())
        sizes = {str(name): int(part.shape[0]) for name, part in zip(items, parts, strict=True)}
        if len(set(sizes.values())) > 1:
            found = listed([f"{n} in {name!r}" for name, n in sizes.items()]).replace(" or ", " and ")
            raise ValueError(f"views are of the same samples, row by row; got {found}")
        return cls(tuple(map(str, items)), parts)

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and views."""
        return len(self), len(self.parts)

    def __len__(self) -> int:
        return int(self.parts[0].shape[0]) if self.rows is None else len(self.rows)

    def __getitem__(self, index: Any) -> Views:
        """Some of the samples."""
        index = index[0] if isinstance(index, tuple) else index
        return replace(self, rows=(np.arange(len(self)) if self.rows is None else self.rows)[index])

    def part(self, name: str) -> Any:
        """What was given for a view: its samples, or its bank against all samples."""
        if name not in self.names:
            raise ValueError(f"there is no view {name!r} among {', '.join(map(repr, self.names))}")
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


@dataclass(frozen=True, eq=False)
class BankRows:
    """Some samples of a bank, which meet others when a model is fitted or asked: what ``bank[rows]`` is.

    Parameters
    ----------
    bank : a square bank
    rows : int array
    """

    bank: KernelBank
    rows: Array

    @property
    def shape(self) -> tuple[int, int]:
        """How many samples, against how many."""
        return len(self.rows), self.bank.shape[1]

    def __getitem__(self, index: Any) -> BankRows:
        """Some of them."""
        return replace(self, rows=self.rows[index[0] if isinstance(index, tuple) else index])


def views(X: Any) -> Views | KernelBank:
    """Several views of the same samples, as one thing that scikit-learn's cross-validation can take apart.

    Estimators take a dict or a list of views as it is; ``cross_val_score``, ``GridSearchCV`` and ``train_test_split``
    would count the views in place of the samples.

    Parameters
    ----------
    X : dict or list of views: arrays (n, p), CSR matrices, data frames or strings; and kernel matrices (n, n), which
        are told by their symmetry, or banks

    Returns
    -------
    Views; a KernelBank where all of them are kernel matrices

    Raises
    ------
    ValueError : where the views are of different samples

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
    """
    if isinstance(X, Views | KernelBank):
        return X
    if not is_views(X):
        raise ValueError("views takes a dict or a list of arrays, data frames, kernel matrices or banks")
    found = Views.of(X)
    parts = tuple(_as_matrix(part) for part in found.parts)
    if all(isinstance(part, np.ndarray) and is_kernel_matrix(part) for part in parts):
        return precomputed(list(parts), names=found.names if isinstance(X, Mapping) else None)
    made = [
        precomputed([part], names=[name]) if isinstance(part, np.ndarray) and is_kernel_matrix(part) else part
        for name, part in zip(found.names, parts, strict=True)
    ]
    return replace(found, parts=tuple(made))


def is_views(X: Any) -> bool:
    """Whether X is a dict or a list of views: what no single array, sparse matrix or data frame is."""
    if hasattr(X, "tocsr"):  # a sparse matrix may be a dict, by its entries
        return False
    if isinstance(X, Mapping):
        return len(X) > 0
    if isinstance(X, np.ndarray):
        return X.ndim == 3 and X.shape[1] == X.shape[2]
    return isinstance(X, list | tuple) and len(X) > 0 and all(_is_view(part) for part in X)


def is_kernel_matrix(K: Any) -> bool:
    """Whether an array is square and symmetric: features of as many columns as samples are not."""
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.dtype.kind not in "fiub":
        return False
    return bool(np.allclose(K, K.T, rtol=1e-5, atol=1e-8 * float(np.nanmax(np.abs(K), initial=0.0)), equal_nan=True))


def _is_view(part: Any) -> bool:
    if isinstance(part, KernelBank) or is_frame(part) or hasattr(part, "tocsr"):
        return True
    return isinstance(part, np.ndarray) and part.ndim == 2


def _as_matrix(part: Any) -> Any:
    """A square frame of numbers may be a kernel matrix with the samples' names."""
    if is_frame(part) and part.shape[0] == part.shape[1]:
        values = np.asarray(part)
        return values if values.dtype.kind in "fiub" and is_kernel_matrix(values) else part
    return part


# -- banks of views ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ViewBank(WrapperBank):
    """The kernels of one view; new samples are views, of which this one is taken.

    Parameters
    ----------
    bank : its kernels
    view : str, its name
    columns : int array, the samples of the columns among those of the view's bank, where it was given as one
    features : the columns of its samples in training, where it was given as samples
    example : one sample that has the view, which stands in for those that do not
    labels : the kernels' names
    """

    view: str
    columns: Array | None = None
    features: Features | None = None
    example: Any = None
    labels: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.bank.names if self.labels is None else self.labels

    @property
    def n_features(self) -> int | None:
        return self.bank.n_features

    def tiles(self, rows: Index) -> Iterator[Array]:
        return self.bank.tiles(rows)

    combine, combine_all, apply = asked("combine"), asked("combine_all"), asked("apply")
    quad, quads, inner = asked("quad"), asked("quads"), asked("inner")
    pairs, pair_forms, hadamard_apply = asked("pairs"), asked("pair_forms"), asked("hadamard_apply")
    diagonal, traces, matrix = asked("diagonal"), asked("traces"), asked("matrix")
    held_out_self_values = asked("held_out_self_values")
    rotation, rotated, about_mean = asked("rotation"), asked("rotated"), asked("about_mean")

    def block(self, rows: Index, columns: Index) -> Self:
        return replace(self, bank=self.bank.block(rows, columns), columns=self._columns(columns))

    def reference(self, columns: Index = slice(None)) -> Self:
        return replace(self, bank=self.bank.reference(columns), columns=self._columns(columns))

    def principal(self, rows: Array) -> Self:
        return replace(self, bank=self.bank.principal(rows), columns=self._columns(rows))

    def select(self, index: Index) -> Self:
        return replace(self, bank=self.bank.select(index), labels=self._chosen(index))

    def exact(self, index: Index = slice(None)) -> Self:
        return replace(self, bank=self.bank.exact(index), labels=self._chosen(index))

    def cross(self, X: Any) -> KernelBank:
        part = Views.of(X).part(self.view)
        if isinstance(part, KernelBank):  # against all samples of the view's bank
            return part if self.columns is None else part.block(slice(None), self.columns)
        if self.features is None:
            return self.bank.cross(np.asarray(part))
        samples, present = self._new(part)
        new = self.bank.cross(samples)
        return new if present.all() else WeighedBank(new, present.astype(float), np.ones(new.shape[1]))

    def self_values(self, X: Any) -> Array:
        part = Views.of(X).part(self.view)
        if self.features is None or isinstance(part, KernelBank):
            return self.bank.self_values(part)
        samples, present = self._new(part)
        return self.bank.self_values(samples) * present

    def _chosen(self, index: Index) -> tuple[str, ...] | None:
        names = self.labels
        return None if names is None else tuple(names[k] for k in positions(index, len(names)))

    def _columns(self, index: Index) -> Array | None:
        if self.columns is None:
            return None
        return self.columns[positions(index, len(self.columns))]

    def _new(self, part: Any) -> tuple[Any, Array]:
        """New samples as kernels take them, and which have the view."""
        samples, present = view_samples(part)
        before = self.features
        assert before is not None
        now = features_of(part, samples)
        if now.n != before.n or (now.names or before.names) != (before.names or now.names):
            was, got = (", ".join(each.names) if each.names else f"{each.n} columns" for each in (before, now))
            raise ValueError(f"view {self.view!r} had {was} in training, and has {got} now")
        if not present.any():
            return self.example[np.zeros(len(present), dtype=int)], present
        samples = samples.with_strings(before.strings) if isinstance(samples, Table) else samples
        return samples[stand_ins(present)], present


def bind_view(family: KernelFamily, view: str, part: Any, dtype: Callable[[int, int], Any]) -> ViewBank:
    """The kernels of a view of samples, on a training sample.

    Parameters
    ----------
    family : its kernels
    view : str, its name
    part : its samples, as the user gave them
    dtype : function of how many kernels there are and how many samples, the precision in which they are stored

    Raises
    ------
    ValueError : where no sample has the view, or a kernel does not take what a column holds
    """
    samples, present = view_samples(part)
    if not present.any():
        raise ValueError(f"view {view!r} is missing for all samples")
    features, having = features_of(part, samples), np.flatnonzero(present)
    some = samples[having]
    missing = samples.among(having).missing.tolist() if isinstance(samples, Table) else ()
    own = family.resolve(replace(features, missing=tuple(missing))).learned(some)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is named by who asks for the bank
        whole = some if present.all() else samples[stand_ins(present)]
        bank = bind_kernels(own, whole, dtype=dtype(len(own), len(present)))
    if not present.all():
        bank = bank.weighed(present.astype(float))
    return ViewBank(bank, view, features=features, example=some[:1], labels=tuple(own.names))


def bank_of_views(parts: Sequence[ViewBank]) -> KernelBank:
    """The kernels of all views; a ConcatenatedBank where there are several."""
    return parts[0] if len(parts) == 1 else ConcatenatedBank(tuple(parts), np.arange(sum(map(len, parts))))


def view_samples(part: Any) -> tuple[Any, Array]:
    """Samples of a view as kernels take them, and which of them have it.

    Parameters
    ----------
    part : as the user gave it
    """
    part = part.reshape(-1, 1) if isinstance(part, np.ndarray) and part.ndim == 1 else part
    table = as_table(part)
    if table is not None:
        return table, ~table.absent
    X = check_array(part, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    if hasattr(X, "tocsr") or not np.isnan(X).any():
        return X, np.ones(X.shape[0], dtype=bool)
    table = Table.of_numbers(X)
    return table, ~table.absent


def features_of(part: Any, samples: Any) -> Features:
    """The columns of a view, by name where it is a frame."""
    return replace(Features.of(samples), names=column_names(part) if is_frame(part) else None)


def stand_ins(present: Array) -> Array:
    """The rows of samples with another row in place of each that lacks the view."""
    return np.where(present, np.arange(len(present)), int(np.argmax(present)))


register_form("rows", BankRows)
