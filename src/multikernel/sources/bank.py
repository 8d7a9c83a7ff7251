"""The kernels of several sources on the same samples, as one bank.

Each source has separate kernels: the kernels of a block of features are bound to its columns, and a kernel matrix is a
kernel itself. What kernels learn from the training sample, they learn from the samples that have the source. A sample
lacks a source if all of its cells in this source are missing; the source is then completed from the sample's other
sources (``completion.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind_kernels
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.mapped import MappedBank
from multikernel.banks.mixed import MixedBank
from multikernel.kernels.family import KernelFamily
from multikernel.kernels.features import Features
from multikernel.sources.completion import Anchors, Completion, anchor_rows, mixing
from multikernel.sources.faults import faults_of
from multikernel.sources.feature_view import FeatureView
from multikernel.sources.joined import stand_ins
from multikernel.sources.matrices import rows_of
from multikernel.sources.matrix_view import MatrixView
from multikernel.sources.samples import check_form, samples_of_view
from multikernel.sources.view_samples import Binder, KnownView, Precision, ViewSamples
from multikernel.sources.views import Views
from multikernel.tables.table import Table


@dataclass(frozen=True, eq=False)
class LearnedView:
    """What the training samples determine of one view.

    Parameters
    ----------
    source : its samples as kernels take them, another one in place of each that lacks the view; or its bank
    present : bool array (n,), which samples have it
    samples : how new samples are compared with these
    """

    source: Any
    present: Array
    samples: ViewSamples

    @property
    def name(self) -> str:
        return self.samples.known.name

    def bank(self, rows: Array | None = None, **options: Any) -> MappedBank:
        """The kernels between the training samples of these rows, by default all; 0 where a sample lacks the view."""
        bank = self.samples.bank(self.source, rows, **options)
        present = self.present if rows is None else self.present[rows]
        if not present.all():
            bank = bank.weighted(present.astype(float))
        return MappedBank(bank, self.samples if rows is None else self.samples.block(rows, rows))


def learned_views(X: Views, families: Callable[[str, Any], KernelFamily]) -> list[LearnedView]:
    """The views of a training sample, with kernels whose parameters are learned.

    Parameters
    ----------
    X : the training samples
    families : function that returns the kernels of a view, given its name and samples

    Raises
    ------
    ValueError : where no sample has a view, or a kernel does not take what a column holds
    """
    learned = []
    for view, source in X.items():
        if isinstance(source, KernelBank):
            learned.append(_of_matrices(view, source, X))
        else:
            learned.append(_of_samples(view, source, X, families))
    return learned


def _of_matrices(view: str, bank: KernelBank, X: Views) -> LearnedView:
    names = bank.names or tuple(f"kernel {k}" for k in range(len(bank)))
    columns = X.columns.get(view)
    column_labels = None if columns is None else np.array(list(columns), dtype=object)
    return LearnedView(bank, X.has(view), MatrixView(KnownView(view, tuple(names)), rows_of(X), column_labels))


def _of_samples(view: str, source: Any, X: Views, families: Callable[[str, Any], KernelFamily]) -> LearnedView:
    with faults_of(view, X.index):
        check_form(source)
        family = families(view, source)
        samples, present = samples_of_view(view, source, family.takes_objects)
    present = present & X.has(view)
    if not present.any():
        raise ValueError(f"view {view!r} is missing for all samples")
    features = Features.of(samples).named_as_in(source)
    present_rows = np.flatnonzero(present)
    complete = samples[present_rows]
    if isinstance(samples, Table):
        missing = samples.among(present_rows).missing.tolist()
    else:
        missing = ()
    takes_objects = family.takes_objects
    with faults_of(view):
        family = family.resolve(replace(features, missing=tuple(missing))).learned(complete)
    filled = complete if present.all() else samples[stand_ins(present)]
    description = KnownView(view, tuple(family.names))
    return LearnedView(filled, present, FeatureView(description, features, complete[:1], family, takes_objects))


def bind_views(
    X: Views,
    learned: list[LearnedView],
    precision: Precision,
    binder: Binder = bind_kernels,
    sketch: bool = False,
) -> list[MappedBank]:
    """The kernels of each view on the training samples.

    Parameters
    ----------
    X : the training samples
    learned : the result of ``learned_views`` for these samples
    precision : the precision in which kernels are stored
    binder : function that makes a bank of kernels and samples
    sketch : whether the bank is used only to forecast its cost
    """
    if sketch or len(learned) == 1:
        return [view.bank(binder=binder, precision=precision) for view in learned]
    anchors = _anchors(learned)
    banks: list[MappedBank] = []
    for number, view in enumerate(learned):
        completion = Completion(anchors, number)
        bank = view.samples.bank(view.source, binder=binder, precision=precision)
        if not view.present.all():
            observed_rows = anchors.rows[completion.observed]
            rows = mixing(view.present, completion.weights(X[~view.present]), observed_rows)
            bank = MixedBank.of(bank, rows, rows)
        banks.append(MappedBank(bank, view.samples.completed_by(completion, view.source, X)))
    return banks


def _anchors(learned: list[LearnedView]) -> Anchors:
    """The samples from which views are completed, with their kernels, which are computed on demand."""
    present = [view.present for view in learned]
    rows = anchor_rows(present)
    banks = tuple(view.bank(rows, memory=0) for view in learned)
    return Anchors(tuple(view.name for view in learned), rows, banks, tuple(has[rows] for has in present))


def bank_of_views(banks: Sequence[KernelBank]) -> KernelBank:
    """The kernels of all views; a ConcatenatedBank where there are several."""
    if len(banks) == 1:
        return banks[0]
    return ConcatenatedBank(tuple(banks), np.arange(sum(map(len, banks))))
