"""The kernels of several sources on the same samples, as one bank.

A source has kernels of its own: those of a block of features are bound to it, a kernel matrix is one. What kernels
learn from the training sample they learn from the samples that have the source. A sample that lacks a source, all of
whose cells there are missing, is completed by its other sources (``completion.py``).
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
from multikernel.sources.completion import Anchors, Completion, anchor_rows, mixing
from multikernel.sources.faults import faults_of
from multikernel.sources.feature_view import FeatureView
from multikernel.sources.joined import stand_ins
from multikernel.sources.matrices import rows_of
from multikernel.sources.matrix_view import MatrixView
from multikernel.sources.samples import check_form, features_of, samples_of_view
from multikernel.sources.view_samples import Binder, KnownView, Precision, ViewSamples
from multikernel.sources.views import Views
from multikernel.tables.table import Table


@dataclass(frozen=True, eq=False)
class LearnedView:
    """What the training samples determine of one view.

    Parameters
    ----------
    given : its samples as kernels take them, another one in place of each that lacks the view; or its bank
    present : bool array (n,), which samples have it
    samples : how new samples meet these
    """

    given: Any
    present: Array
    samples: ViewSamples

    @property
    def name(self) -> str:
        return self.samples.known.name

    def bank(self, rows: Array | None = None, **options: Any) -> MappedBank:
        """The kernels between some of the training samples, or all, which are 0 where one lacks the view."""
        bank = self.samples.bank(self.given, rows, **options)
        present = self.present if rows is None else self.present[rows]
        if not present.all():
            bank = bank.weighted(present.astype(float))
        return MappedBank(bank, self.samples if rows is None else self.samples.block(rows, rows))


def learned_views(X: Views, families: Callable[[str, Any], KernelFamily]) -> list[LearnedView]:
    """The views of a training sample, with kernels that have learned.

    Parameters
    ----------
    X : the training samples
    families : function of a view's name and samples, its kernels

    Raises
    ------
    ValueError : where no sample has a view, or a kernel does not take what a column holds
    """
    learned = []
    for view, part in X.items():
        if isinstance(part, KernelBank):
            learned.append(_of_matrices(view, part, X))
        else:
            learned.append(_of_samples(view, part, X, families))
    return learned


def _of_matrices(view: str, bank: KernelBank, X: Views) -> LearnedView:
    names = bank.names or tuple(f"kernel {k}" for k in range(len(bank)))
    named = X.columns.get(view)
    column_labels = None if named is None else np.array(list(named), dtype=object)
    return LearnedView(bank, X.has(view), MatrixView(KnownView(view, tuple(names)), rows_of(X), column_labels))


def _of_samples(view: str, part: Any, X: Views, families: Callable[[str, Any], KernelFamily]) -> LearnedView:
    with faults_of(view, X.index):
        check_form(part)
        family = families(view, part)
        samples, present = samples_of_view(view, part, family.takes_objects)
    present = present & X.has(view)
    if not present.any():
        raise ValueError(f"view {view!r} is missing for all samples")
    features = features_of(part, samples)
    having = np.flatnonzero(present)
    some = samples[having]
    if isinstance(samples, Table):
        missing = samples.among(having).missing.tolist()
    else:
        missing = ()
    takes_objects = family.takes_objects
    with faults_of(view):
        family = family.resolve(replace(features, missing=tuple(missing))).learned(some)
    whole = some if present.all() else samples[stand_ins(present)]
    known = KnownView(view, tuple(family.names))
    return LearnedView(whole, present, FeatureView(known, features, some[:1], family, takes_objects))


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
    learned : what ``learned_views`` made of them
    precision : the precision in which kernels are stored
    binder : what makes a bank of kernels and samples
    sketch : whether the bank only has to say what it costs
    """
    if sketch or len(learned) == 1:
        return [view.bank(binder=binder, precision=precision) for view in learned]
    anchors = _anchors(learned)
    banks: list[MappedBank] = []
    for place, view in enumerate(learned):
        completion = Completion(anchors, place)
        bank = view.samples.bank(view.given, binder=binder, precision=precision)
        if not view.present.all():
            own = anchors.rows[completion.observed]
            rows = mixing(view.present, completion.weights(X[~view.present]), own)
            bank = MixedBank.of(bank, rows, rows)
        banks.append(MappedBank(bank, view.samples.completed_by(completion, view.given, X)))
    return banks


def _anchors(learned: list[LearnedView]) -> Anchors:
    """The samples by which views are completed, with their kernels, none of which is stored."""
    present = [view.present for view in learned]
    rows = anchor_rows(present)
    banks = tuple(view.bank(rows, memory=0) for view in learned)
    return Anchors(tuple(view.name for view in learned), rows, banks, tuple(has[rows] for has in present))


def bank_of_views(parts: Sequence[KernelBank]) -> KernelBank:
    """The kernels of all views; a ConcatenatedBank where there are several."""
    if len(parts) == 1:
        return parts[0]
    return ConcatenatedBank(tuple(parts), np.arange(sum(map(len, parts))))
