"""New samples with several views, as the kernels of a view that is a block of features take them."""

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
from multikernel.sources.samples import samples_of_view, stacked
from multikernel.sources.view_samples import Binder, KnownView, Precision, ViewSamples, precision_of_samples
from multikernel.sources.views import Views
from multikernel.tables.objects import Objects
from multikernel.tables.table import Table


@dataclass(frozen=True, eq=False)
class FeatureView(ViewSamples):
    """Takes one view, a block of features, from new samples with several views.

    Parameters
    ----------
    known : KnownView
    features : the columns of the view in training
    example : one sample that has the view, which stands in for samples that lack it
    family : the kernels with what they learned; None in model files of versions that did not save them
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
        source: Any,
        rows: Array | None = None,
        binder: Binder = bind_kernels,
        precision: Precision = precision_of_samples,
        **options: Any,
    ) -> KernelBank:
        assert self.family is not None
        samples = source if rows is None else source[rows]
        dtype = precision(len(self.family), samples.shape[0])
        # overflow is not reported here: callers check the bank for it
        with np.errstate(over="ignore", invalid="ignore"), faults_of(self.known.name):
            return binder(self.family, samples, dtype=dtype, **options)

    def completed_by(self, completion: Completion, source: Any, X: Views) -> FeatureView:
        observed = source[completion.anchors.rows[completion.observed]]
        return replace(self, known=replace(self.known, completion=completion), observed=observed)

    def select(self, index: Index) -> FeatureView:
        return replace(self, known=self.known.select(index))

    def cross(self, bank: KernelBank, X: Any) -> KernelBank:
        X = Views.of(X)
        samples, present = self._new_samples(X)
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
        samples, present = self._new_samples(X)
        return self.known.completed_self_values(bank.self_values(samples) * present, present, X)

    def between(self, X: Views, Z: Views) -> KernelBank:
        assert self.family is not None
        columns, right = self._completed(*self._new_samples(Z), Z)
        bank = MixedBank(bind_kernels(self.family, columns, memory=0), right, right)
        if not bank.local:
            raise ValueError(
                "kernels that are centred by the training sample are known between new and training samples only; "
                "learn them without centred(), or take features of the centred kernels"
            )
        if X is Z:
            return bank
        return bank.crossed(*self._completed(*self._new_samples(X), X))

    def _completed(self, samples: Any, present: Array, X: Views) -> tuple[Any, Any]:
        """Samples (r, p) and weights, a CSR matrix (len(X), r): the samples of X are weighted sums of the former."""
        completion = self.known.completion
        if completion is None or present.all():  # without a completion a missing view is 0
            return samples, sparse.diags_array(present.astype(float)).tocsr()
        anchors = len(present) + np.arange(self.observed.shape[0])
        return stacked(samples, self.observed), mixing(present, completion.weights(X[~present]), anchors)

    def _new_samples(self, X: Views) -> tuple[Any, Array]:
        """New samples as kernels take them, another one in place of each that lacks the view; and which have it."""
        view = self.known.name
        all_absent = self.example[np.zeros(len(X), dtype=int)], np.zeros(len(X), dtype=bool)
        if self.known.is_absent(X):
            return all_absent
        source = X.part(view)
        if isinstance(source, KernelBank):
            raise ValueError(
                f"view {view!r} held features in training, and is symmetric now, as a kernel matrix is: say that its "
                f"columns are features, by views(X, features=[{view!r}])"
            )
        with faults_of(view, X.index):
            samples, present = samples_of_view(view, source, self.objects)
        if isinstance(self.example, Objects) and not isinstance(samples, Objects):
            raise ValueError(f"view {view!r} held objects in training, and holds numbers now: give a list of objects")
        present = present & X.has(view)
        if not isinstance(samples, Objects):  # objects have no columns
            self._check_columns(Features.of(samples).named_as_in(source))
        if not present.any():
            return all_absent
        trained = self.features
        if isinstance(samples, Table):
            samples = samples.with_types(trained.strings, trained.times)
        if isinstance(samples, Objects):
            features = trained
        else:
            features = Features.of(samples)
        retyped = (set(features.strings) ^ set(trained.strings)) | (set(features.times) ^ set(trained.times))
        if retyped:
            raise ValueError(f"view {view!r}: {trained.name(min(retyped))} has another type than in training")
        self._check_cells(samples, present)
        return samples[stand_ins(present)], present

    def _check_columns(self, features: Features) -> None:
        """ValueError where the columns are not those of training."""
        trained = self.features
        renamed = bool(features.names) and bool(trained.names) and features.names != trained.names
        if features.n != trained.n or renamed:
            training_columns, new_columns = (
                shortened(columns.names, 10) if columns.names else f"{columns.n} columns"
                for columns in (trained, features)
            )
            raise ValueError(f"view {self.known.name!r} had {training_columns} in training, and has {new_columns} now")

    def _check_cells(self, samples: Any, present: Array) -> None:
        """ValueError where a sample that has the view lacks one of its cells, and a kernel does not accept that."""
        if isinstance(samples, Table):
            missing = samples.among(np.flatnonzero(present)).missing.tolist()
        else:
            missing = []
        if not missing or self.family is None:
            return
        with faults_of(self.known.name):
            self.family.resolve(replace(self.features, missing=tuple(missing)))
