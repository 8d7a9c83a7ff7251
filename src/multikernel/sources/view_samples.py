"""How new samples with several views meet the kernels of one of them.

A sample that lacks the view, all of whose cells there are missing, is completed by its other views (``completion.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._rules import shortened
from multikernel._typing import Array, Index
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind_kernels
from multikernel.banks.indices import positions
from multikernel.banks.mapped import SampleMap
from multikernel.banks.mixed import MixedBank, identity
from multikernel.banks.weighted import WeightedBank
from multikernel.kernels.family import KernelFamily
from multikernel.kernels.features import Features
from multikernel.sources.completion import Completion, mixing
from multikernel.sources.faults import faults_of
from multikernel.sources.joined import stand_ins
from multikernel.sources.matrices import known_rows, matched_columns, matrices_between, rows_of, stack_of
from multikernel.sources.samples import features_of, samples_of_view, stacked
from multikernel.sources.views import Views
from multikernel.tables.objects import Objects
from multikernel.tables.table import Table


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
    kernels : int array, which of the view's kernels these are; None is all of them
    completion : what stands for the view where a sample lacks it; None for kernels that are 0 there
    observed : the anchors of the completion that have the view: their samples, or for kernel matrices their rows
    family : the kernels, which have learned; None for kernel matrices
    objects : whether the kernels take samples that are objects
    column_labels : object array, the labels of the columns of kernel matrices; None where they had none
    """

    view: str
    columns: Array | None = None
    features: Features | None = None
    example: Any = None
    labels: tuple[str, ...] | None = None
    kernels: Array | None = None
    completion: Completion | None = None
    observed: Any = None
    family: KernelFamily | None = None
    objects: bool = False
    column_labels: Any = None

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
        chosen = positions(index, len(self.labels))
        labels = tuple(self.labels[k] for k in chosen)
        return replace(self, labels=labels, kernels=chosen if self.kernels is None else self.kernels[chosen])

    def cross(self, bank: KernelBank, X: Any) -> KernelBank:
        X = Views.of(X)
        if self.features is None:
            return self._cross_matrices(bank, X)
        samples, present = self._new(X)
        with faults_of(self.view):
            if present.all():
                return bank.cross(samples)
            if self.completion is None:
                return _zeroed(bank.cross(samples), present)
            mixed = bank if isinstance(bank, MixedBank) else MixedBank(bank, identity(0), identity(bank.shape[1]))
            return mixed.crossed(*self._completed(samples, present, X))

    def _completed(self, samples: Any, present: Array, X: Views) -> tuple[Any, Any]:
        """Samples, and weights (CSR) of these whose sums the samples of X are."""
        if self.completion is None or present.all():  # nothing completes the only view
            return samples, sparse.diags_array(present.astype(float)).tocsr()
        anchors = len(present) + np.arange(self.observed.shape[0])
        return stacked(samples, self.observed), mixing(present, self.completion.weights(X[~present]), anchors)

    def between(self, X: Views, Z: Views) -> KernelBank:
        """The kernels of samples X against samples Z.

        Raises
        ------
        ValueError : where the view is known by kernel matrices, and these samples are not in them
        """
        if self.family is None:
            return self._between_matrices(X, Z)
        columns, right = self._completed(*self._new(Z), Z)
        bank = MixedBank(bind_kernels(self.family, columns, memory=0), right, right)
        if not bank.local:
            raise ValueError(
                "kernels that are centred by the training sample are known between new and training samples only; "
                "learn them without centred(), or take features of the centred kernels"
            )
        return bank if X is Z else bank.crossed(*self._completed(*self._new(X), X))

    def _between_matrices(self, X: Views, Z: Views) -> KernelBank:
        """The kernel matrices between samples; those that lack the view are weighted sums of training samples."""
        whole = X.parts[X.names.index(self.view)] if self.view in X.names else None
        if whole is not None and X.has(self.view).all() and Z.has(self.view).all():
            return matrices_between(self.view, X, Z)
        if self.completion is None or not isinstance(whole, KernelBank) or not any(whole is part for part in Z.parts):
            raise ValueError(
                f"view {self.view!r} is a kernel matrix, which some samples lack: give both samples as parts of the "
                "same views(...) to have it completed"
            )
        observed = whole.shape[1] == self.observed.shape[2] and np.array_equal(
            stack_of(whole.block(self._anchors_among_all, slice(None))), self.observed, equal_nan=True
        )
        if not observed:
            raise ValueError(
                f"view {self.view!r} is another kernel matrix than in training, and some samples lack it: give "
                "samples as parts of the views(...) of training to have it completed"
            )
        right = self._among_all(Z, whole.shape[0])
        return MixedBank(whole, right if X is Z else self._among_all(X, whole.shape[0]), right)

    @property
    def _anchors_among_all(self) -> Array:
        """The anchors that have the view, among all samples of its bank."""
        assert self.completion is not None
        assert self.columns is not None
        own: Array = self.columns[self.completion.anchors.rows[self.completion.observed]]
        return own

    def _among_all(self, X: Views, n: int) -> Any:
        """Samples as weighted sums of all n samples of the view's bank, a CSR matrix."""
        assert self.completion is not None
        present = X.has(self.view)
        here, away = np.flatnonzero(present), np.flatnonzero(~present)
        own = self._anchors_among_all
        weights = self.completion.weights(X[~present]) if len(away) else np.empty((0, len(own)))
        rows = np.concatenate([here, np.repeat(away, len(own))])
        columns = np.concatenate([rows_of(X)[here], np.tile(own, len(away))])
        values = np.concatenate([np.ones(len(here)), weights.ravel()])
        return sparse.csr_array((values, (rows, columns)), shape=(len(X), n))

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        X = Views.of(X)
        if self.features is not None:
            samples, present = self._new(X)
            values = bank.self_values(samples) * present
        else:
            whole = X.parts[X.names.index(self.view)] if self.view in X.names else None
            if not (isinstance(whole, KernelBank) and whole.square):
                return bank.self_values(whole)
            present = X.has(self.view)
            values = whole.diagonal()[:, slice(None) if X.rows is None else X.rows] * present
            values = values if self.kernels is None else values[self.kernels]
        if self.completion is None or present.all():
            return values
        warn_user(
            "standard deviations of samples that lack a view are those of its completed kernels: they do not say how "
            "far the view may be from what completes it, and are too small where it matters",
            PredictionWarning,
        )
        anchors = self.completion.bank if self.kernels is None else self.completion.bank.select(self.kernels)
        weights = np.zeros((anchors.shape[0], int((~present).sum())))
        weights[self.completion.observed] = self.completion.weights(X[~present]).T
        values[:, ~present] = anchors.quads(weights)
        return values

    def _new(self, X: Views) -> tuple[Any, Array]:
        """New samples as kernels take them, another one in place of each that lacks the view, and which have it."""
        nothing = self.example[np.zeros(len(X), dtype=int)], np.zeros(len(X), dtype=bool)
        if self._is_missing(X):
            return nothing
        part = X.part(self.view)
        with faults_of(self.view, X.index):
            samples, present = samples_of_view(self.view, part, self.objects)
        if isinstance(self.example, Objects) and not isinstance(samples, Objects):
            raise ValueError(
                f"view {self.view!r} held objects in training, and holds numbers now: give a list of objects"
            )
        present = present & X.has(self.view)
        before = self.features
        assert before is not None
        now = features_of(part, samples)
        if isinstance(samples, Objects):  # of any length
            now = before
        renamed = bool(now.names) and bool(before.names) and now.names != before.names
        if now.n != before.n or renamed:
            was, got = (shortened(each.names, 10) if each.names else f"{each.n} columns" for each in (before, now))
            raise ValueError(f"view {self.view!r} had {was} in training, and has {got} now")
        if not present.any():
            return nothing
        samples = samples.with_types(before.strings, before.times) if isinstance(samples, Table) else samples
        now = features_of(part, samples)
        other = (set(now.strings) ^ set(before.strings)) | (set(now.times) ^ set(before.times))
        if other:
            raise ValueError(f"view {self.view!r}: {before.name(min(other))} has another type than in training")
        self._check_complete(samples, present)
        return samples[stand_ins(present)], present

    def _check_complete(self, samples: Any, present: Array) -> None:
        """ValueError where a cell is missing of samples that have the view, and a kernel does not take that."""
        missing = samples.among(np.flatnonzero(present)).missing.tolist() if isinstance(samples, Table) else []
        if not missing or self.family is None or self.features is None:
            return
        with faults_of(self.view):
            self.family.resolve(replace(self.features, missing=tuple(missing)))

    def _cross_matrices(self, bank: KernelBank, X: Views) -> KernelBank:
        """New samples against the columns, where the view was given as kernel matrices."""
        given = None if self._is_missing(X) else X.part(self.view)
        given = matched_columns(self.view, given, X.columns.get(self.view), self.column_labels)
        if isinstance(given, KernelBank):  # against all samples of the view's bank
            given = given if self.kernels is None else given.select(self.kernels)
        present = np.zeros(len(X), dtype=bool) if given is None else known_rows(given) & X.has(self.view)
        if self.completion is None or present.all():
            if isinstance(given, KernelBank) and not isinstance(bank, MixedBank):
                return given if self.columns is None else given.block(slice(None), self.columns)
            return bank.cross(given.matrices() if isinstance(given, KernelBank) else np.asarray(given))
        observed = self.observed if self.kernels is None else self.observed[self.kernels]
        values = np.zeros((len(observed), len(X), observed.shape[2]))
        if given is not None:
            values[:, present] = stack_of(given)[:, present]
        values[:, ~present] = self.completion.weights(X[~present]) @ observed
        return bank.cross(values)

    def _is_missing(self, X: Views) -> bool:
        """Whether no sample has the view, which a warning says.

        Raises
        ------
        ValueError : where X has views that training had not, or the model cannot complete the view
        """
        if self.view in X.names:
            extra = [] if self.completion is None else [n for n in X.names if n not in self.completion.anchors.views]
            if extra:
                warn_user(
                    f"views that training had not are ignored: {shortened(list(map(repr, extra)))}", PredictionWarning
                )
            return False
        known = () if self.completion is None else self.completion.anchors.views
        if not set(X.names) <= set(known):
            unknown = next((name for name in X.names if name not in known), None)
            if not known or unknown is None:
                X.part(self.view)  # raises
            raise ValueError(
                f"X has a view {unknown!r}, and training had {shortened(list(map(repr, known)))}: give views the names "
                "that they had in training"
            )
        warn_user(
            f"view {self.view!r} is missing: it is completed by what training samples show of it beside "
            f"{shortened(list(map(repr, X.names)))}",
            PredictionWarning,
        )
        return True


def _zeroed(bank: KernelBank, present: Array) -> KernelBank:
    """New samples whose kernels are 0 where they lack a view."""
    return WeightedBank(bank, left=present.astype(float), right=np.ones(bank.shape[1]))
