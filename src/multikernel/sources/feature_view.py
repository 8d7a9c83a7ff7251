"""How new samples with several views meet the kernels of a view that is a block of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._rules import shortened
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind_kernels
from multikernel.banks.mixed import MixedBank, identity
from multikernel.banks.weighted import WeightedBank
from multikernel.kernels.family import KernelFamily
from multikernel.kernels.features import Features
from multikernel.sources.completion import Completion, mixing
from multikernel.sources.faults import faults_of
from multikernel.sources.joined import stand_ins
from multikernel.sources.samples import features_of, samples_of_view, stacked
from multikernel.sources.view_samples import Binder, KnownView, Precision, ViewSamples, own_precision
from multikernel.sources.views import Views
from multikernel.tables.objects import Objects
from multikernel.tables.table import Table


@dataclass(frozen=True, eq=False)
class FeatureView(ViewSamples):
    """New samples are several views, of which the kernels take one that has features.

    Parameters
    ----------
    known : KnownView
    features : the columns of its samples in training
    example : one sample that has the view, which stands in for those that do not
    family : the kernels, which have learned; None in files of versions that did not keep them
    objects : whether the kernels take samples that are objects
    observed : the samples of the completion's anchors that have the view
    """

    known: KnownView
    features: Features
    example: Any = None
    family: KernelFamily | None = None
    objects: bool = False
    observed: Any = None

    def bank(
        self,
        given: Any,
        rows: Array | None = None,
        binder: Binder = bind_kernels,
        precision: Precision = own_precision,
        **options: Any,
    ) -> KernelBank:
        assert self.family is not None
        samples = given if rows is None else given[rows]
        dtype = precision(len(self.family), samples.shape[0])
        # what overflows is named by who asks for the bank
        with np.errstate(over="ignore", invalid="ignore"), faults_of(self.known.name):
            return binder(self.family, samples, dtype=dtype, **options)

    def completed_by(self, completion: Completion, given: Any, X: Views) -> FeatureView:
        observed = given[completion.anchors.rows[completion.observed]]
        return replace(self, known=replace(self.known, completion=completion), observed=observed)

    def select(self, index: Index) -> FeatureView:
        return replace(self, known=self.known.select(index))

    def cross(self, bank: KernelBank, X: Any) -> KernelBank:
        X = Views.of(X)
        samples, present = self._new(X)
        with faults_of(self.known.name):
            if present.all():
                return bank.cross(samples)
            if self.known.completion is None:  # kernels are 0 where a sample lacks the view
                return WeightedBank(bank.cross(samples), left=present.astype(float), right=np.ones(bank.shape[1]))
            if isinstance(bank, MixedBank):
                mixed = bank
            else:
                mixed = MixedBank(bank, identity(0), identity(bank.shape[1]))
            return mixed.crossed(*self._completed(samples, present, X))

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        X = Views.of(X)
        samples, present = self._new(X)
        return self.known.completed_self_values(bank.self_values(samples) * present, present, X)

    def between(self, X: Views, Z: Views) -> KernelBank:
        assert self.family is not None
        columns, right = self._completed(*self._new(Z), Z)
        bank = MixedBank(bind_kernels(self.family, columns, memory=0), right, right)
        if not bank.local:
            raise ValueError(
                "kernels that are centred by the training sample are known between new and training samples only; "
                "learn them without centred(), or take features of the centred kernels"
            )
        if X is Z:
            return bank
        return bank.crossed(*self._completed(*self._new(X), X))

    def _completed(self, samples: Any, present: Array, X: Views) -> tuple[Any, Any]:
        """Samples, and weights (CSR) of these whose sums the samples of X are."""
        completion = self.known.completion
        if completion is None or present.all():  # nothing completes the only view
            return samples, sparse.diags_array(present.astype(float)).tocsr()
        anchors = len(present) + np.arange(self.observed.shape[0])
        return stacked(samples, self.observed), mixing(present, completion.weights(X[~present]), anchors)

    def _new(self, X: Views) -> tuple[Any, Array]:
        """New samples as kernels take them, another one in place of each that lacks the view, and which have it."""
        view = self.known.name
        nothing = self.example[np.zeros(len(X), dtype=int)], np.zeros(len(X), dtype=bool)
        if self.known.is_absent(X):
            return nothing
        part = X.part(view)
        with faults_of(view, X.index):
            samples, present = samples_of_view(view, part, self.objects)
        if isinstance(self.example, Objects) and not isinstance(samples, Objects):
            raise ValueError(f"view {view!r} held objects in training, and holds numbers now: give a list of objects")
        present = present & X.has(view)
        if not isinstance(samples, Objects):  # which are of any length
            self._check_columns(features_of(part, samples))
        if not present.any():
            return nothing
        before = self.features
        if isinstance(samples, Table):
            samples = samples.with_types(before.strings, before.times)
        if isinstance(samples, Objects):
            now = before
        else:
            now = features_of(part, samples)
        other = (set(now.strings) ^ set(before.strings)) | (set(now.times) ^ set(before.times))
        if other:
            raise ValueError(f"view {view!r}: {before.name(min(other))} has another type than in training")
        self._check_cells(samples, present)
        return samples[stand_ins(present)], present

    def _check_columns(self, now: Features) -> None:
        """ValueError where there are other columns than in training."""
        before = self.features
        renamed = bool(now.names) and bool(before.names) and now.names != before.names
        if now.n != before.n or renamed:
            was, got = (shortened(each.names, 10) if each.names else f"{each.n} columns" for each in (before, now))
            raise ValueError(f"view {self.known.name!r} had {was} in training, and has {got} now")

    def _check_cells(self, samples: Any, present: Array) -> None:
        """ValueError where a cell is missing of samples that have the view, and a kernel does not take that."""
        if isinstance(samples, Table):
            missing = samples.among(np.flatnonzero(present)).missing.tolist()
        else:
            missing = []
        if not missing or self.family is None:
            return
        with faults_of(self.known.name):
            self.family.resolve(replace(self.features, missing=tuple(missing)))
