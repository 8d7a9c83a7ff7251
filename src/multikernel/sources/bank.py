"""Samples seen in several ways: blocks of features, data frames and kernel matrices, side by side.

A view has kernels of its own: those of a block of features are bound to it, a kernel matrix is one. A sample that lacks
a view, all of whose cells there are missing, has k = 0 with every sample in the kernels of that view,

    k_v(x, z) = s(x) s(z) k_v(x, z),    s(x) = 1 where x has the view, else 0,

which is positive semi-definite: the sample is the origin of the view's feature space, and the other views speak for it.
What kernels learn from the training sample they learn from the samples that have the view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from multikernel._rules import shortened
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind_kernels
from multikernel.banks.checks import as_array
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.indices import positions
from multikernel.banks.mapped import MappedBank, SampleMap
from multikernel.banks.weighted import WeightedBank
from multikernel.kernels.family import KernelFamily
from multikernel.kernels.features import Features
from multikernel.sources.views import Views
from multikernel.tables.cells import column_names, is_frame
from multikernel.tables.objects import Objects, as_objects
from multikernel.tables.table import Table, as_table


@dataclass(frozen=True, eq=False)
class ViewSamples(SampleMap):
    """New samples are several views, of which the kernels take one.

    Parameters
    ----------
    view : str, its name
    columns : int array, the samples of the columns among those of the view's bank, where it was given as one
    features : the columns of its samples in training, where it was given as samples
    example : one sample that has the view, which stands in for those that do not
    labels : the kernels' names
    objects : whether the kernels take samples that are objects
    """

    view: str
    columns: Array | None = None
    features: Features | None = None
    example: Any = None
    labels: tuple[str, ...] | None = None
    objects: bool = False

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.labels

    def block(self, rows: Index, columns: Index) -> ViewSamples:
        if self.columns is None:
            return self
        return replace(self, columns=self.columns[positions(columns, len(self.columns))])

    def select(self, index: Index) -> ViewSamples:
        if self.labels is None:
            return self
        return replace(self, labels=tuple(self.labels[k] for k in positions(index, len(self.labels))))

    def cross(self, bank: KernelBank, X: Any) -> KernelBank:
        part = Views.of(X).part(self.view)
        if isinstance(part, KernelBank):  # against all samples of the view's bank
            if self.columns is None:
                return part
            return part.block(slice(None), self.columns)
        if self.features is None:
            return bank.cross(np.asarray(part))
        samples, present = self._new(part)
        new = bank.cross(samples)
        if present.all():
            return new
        return WeightedBank(new, left=present.astype(float), right=np.ones(new.shape[1]))

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        part = Views.of(X).part(self.view)
        if self.features is None or isinstance(part, KernelBank):
            return bank.self_values(part)
        samples, present = self._new(part)
        return bank.self_values(samples) * present

    def _new(self, part: Any) -> tuple[Any, Array]:
        """New samples as kernels take them, and which have the view."""
        samples, present = view_samples(self.view, part, self.objects)
        before = self.features
        assert before is not None
        now = features_of(part, samples)
        if isinstance(samples, Objects):  # of any length
            now = before
        if now.n != before.n or (now.names or before.names) != (before.names or now.names):
            was, got = (shortened(each.names, 10) if each.names else f"{each.n} columns" for each in (before, now))
            raise ValueError(f"view {self.view!r} had {was} in training, and has {got} now")
        if not present.any():
            return self.example[np.zeros(len(present), dtype=int)], present
        samples = samples.with_types(before.strings, before.times) if isinstance(samples, Table) else samples
        now = features_of(part, samples)
        other = (set(now.strings) ^ set(before.strings)) | (set(now.times) ^ set(before.times))
        if other:
            raise ValueError(f"view {self.view!r}: {before.name(min(other))} has another type than in training")
        return samples[stand_ins(present)], present


def bind_view(
    family: KernelFamily,
    view: str,
    part: Any,
    dtype: Callable[[int, int], Any],
    bound: Callable[..., KernelBank] = bind_kernels,
) -> MappedBank:
    """The kernels of a view of samples, on a training sample.

    Parameters
    ----------
    family : its kernels
    view : str, its name
    part : its samples, as the user gave them
    dtype : function of how many kernels there are and how many samples, the precision in which they are stored
    bound : what makes a bank of kernels and samples

    Raises
    ------
    ValueError : where no sample has the view, or a kernel does not take what a column holds
    """
    samples, present = view_samples(view, part, family.takes_objects)
    if not present.any():
        raise ValueError(f"view {view!r} is missing for all samples")
    features = features_of(part, samples)
    having = np.flatnonzero(present)
    some = samples[having]
    missing = samples.among(having).missing.tolist() if isinstance(samples, Table) else ()
    own = family.resolve(replace(features, missing=tuple(missing))).learned(some)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is named by who asks for the bank
        whole = some if present.all() else samples[stand_ins(present)]
        bank = bound(own, whole, dtype=dtype(len(own), len(present)))
    if not present.all():
        bank = bank.weighted(present.astype(float))
    made = ViewSamples(view, None, features, some[:1], tuple(own.names), family.takes_objects)
    return MappedBank(bank, made)


def bank_of_views(parts: Sequence[KernelBank]) -> KernelBank:
    """The kernels of all views; a ConcatenatedBank where there are several."""
    if len(parts) == 1:
        return parts[0]
    return ConcatenatedBank(tuple(parts), np.arange(sum(map(len, parts))))


def view_samples(view: str, part: Any, objects: bool = False) -> tuple[Any, Array]:
    """Samples of a view as kernels take them, and which of them have it.

    Parameters
    ----------
    view : str, its name
    part : as the user gave it
    objects : whether the kernels take samples that are objects

    Raises
    ------
    ValueError : that names the view, where it holds no samples
    """
    if objects and (found := as_objects(part)) is not None:
        return found, ~found.absent
    listed = isinstance(part, Objects)
    if listed:
        part = as_array(list(part.values), f"view {view!r}")
    try:
        return _samples_of(part)
    except OverflowError:
        raise ValueError(f"view {view!r} holds a number above 1e308: give it in larger units") from None
    except (TypeError, ValueError) as error:
        more = "; kernels of objects are made by kernels.external(...)" if listed else ""
        raise ValueError(f"view {view!r}: {error}{more}") from None


def _samples_of(part: Any) -> tuple[Any, Array]:
    """The same for a view without a name."""
    if len(part.shape) > 1 and part.shape[1] == 0:
        raise ValueError("it has no columns")
    if getattr(getattr(part, "dtype", None), "kind", "") == "c":
        raise ValueError("Complex data not supported: it holds complex numbers; give their parts as numbers")
    part = part.reshape(-1, 1) if isinstance(part, np.ndarray) and part.ndim == 1 else part
    table = as_table(part)
    if table is not None:
        return table, ~table.absent
    X = check_array(part, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    if hasattr(X, "tocsr") and not np.isfinite(X.data).all():
        raise ValueError("it is sparse and has a NaN among its entries; leave these out or fill them in")
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
