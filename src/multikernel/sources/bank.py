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
from multikernel.sources.joined import stand_ins
from multikernel.sources.matrices import stack_of
from multikernel.sources.samples import check_form, features_of, samples_of_view
from multikernel.sources.view_samples import ViewSamples
from multikernel.sources.views import Views
from multikernel.tables.table import Table

Binder = Callable[..., KernelBank]  # of a family and samples: ``bind_kernels``, or ``sketched`` for a forecast


@dataclass(frozen=True, eq=False)
class LearnedView:
    """What the training samples determine of one view.

    Parameters
    ----------
    name : str
    given : its samples as kernels take them, another one in place of each that lacks the view; or its bank
    present : bool array (n,), which samples have it
    samples : how new samples meet these
    """

    name: str
    given: Any
    present: Array
    samples: ViewSamples

    @property
    def family(self) -> KernelFamily | None:
        """The kernels; None where they are matrices."""
        return self.samples.family

    def bank(self, rows: Array, binder: Binder = bind_kernels, **options: Any) -> MappedBank:
        """The kernels between some of the training samples, which are 0 where one lacks the view."""
        if self.family is None:
            bank = self.given.block(rows, rows)
        else:
            # what overflows is named by who asks for the bank
            with np.errstate(over="ignore", invalid="ignore"), faults_of(self.name):
                bank = binder(self.family, self.given[rows], **options)
        if not self.present[rows].all():
            bank = bank.weighted(self.present[rows].astype(float))
        return MappedBank(bank, self.samples.block(rows, rows))


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
    return [
        _of_matrices(view, part, X) if isinstance(part, KernelBank) else _of_samples(view, part, X, families)
        for view, part in X.items()
    ]


def _of_matrices(view: str, bank: KernelBank, X: Views) -> LearnedView:
    names = bank.names or tuple(f"kernel {k}" for k in range(len(bank)))
    columns = np.arange(len(X)) if X.rows is None else X.rows
    named = X.columns.get(view)
    column_labels = None if named is None else np.array(list(named), dtype=object)
    samples = ViewSamples(view, columns=columns, labels=tuple(names), column_labels=column_labels)
    return LearnedView(view, bank, X.has(view), samples)


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
    missing = samples.among(having).missing.tolist() if isinstance(samples, Table) else ()
    takes_objects = family.takes_objects
    with faults_of(view):
        family = family.resolve(replace(features, missing=tuple(missing))).learned(some)
    whole = some if present.all() else samples[stand_ins(present)]
    labels = tuple(family.names)
    new = ViewSamples(view, features=features, example=some[:1], labels=labels, family=family, objects=takes_objects)
    return LearnedView(view, whole, present, new)


def bind_views(
    X: Views,
    learned: list[LearnedView],
    precision: Callable[[int, int], Any],
    binder: Binder = bind_kernels,
    sketch: bool = False,
) -> list[MappedBank]:
    """The kernels of each view on the training samples.

    Parameters
    ----------
    X : the training samples
    learned : what ``learned_views`` made of them
    precision : function of how many kernels there are and how many samples, the precision in which they are stored
    binder : what makes a bank of kernels and samples
    sketch : whether the bank only has to say what it costs
    """
    n = len(X)
    every = np.arange(n)
    banks: list[MappedBank] = []
    anchors = None if sketch or len(learned) == 1 else _anchors(learned)
    for place, view in enumerate(learned):
        dtype = None if view.family is None else precision(len(view.family), n)
        if anchors is None:
            banks.append(view.bank(every, binder, dtype=dtype))
            continue
        completion = Completion(anchors, place)
        own = anchors.rows[completion.observed]
        observed = view.given[own] if view.family is not None else stack_of(X[own].part(view.name))
        samples = replace(view.samples, completion=completion, observed=observed)
        if view.family is None:
            bank = view.given
        else:
            with np.errstate(over="ignore", invalid="ignore"), faults_of(view.name):
                bank = binder(view.family, view.given, dtype=dtype)
        if not view.present.all():
            rows = mixing(view.present, completion.weights(X[~view.present]), own)
            bank = MixedBank(bank, rows, rows)
        banks.append(MappedBank(bank, samples))
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
