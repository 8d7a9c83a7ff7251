"""How new samples with several views meet the kernels of a view that is kernel matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind_kernels
from multikernel.banks.indices import positions
from multikernel.banks.mixed import MixedBank
from multikernel.sources.completion import Completion, mixing
from multikernel.sources.matrices import known_rows, matched_columns, matrices_between, rows_of, stack_of
from multikernel.sources.view_samples import Binder, KnownView, Precision, ViewSamples, own_precision
from multikernel.sources.views import Views


@dataclass(frozen=True, eq=False)
class MatrixView(ViewSamples):
    """New samples are several views, of which one has the rows of kernel matrices.

    Parameters
    ----------
    known : KnownView
    columns : int array, the samples of the columns among those of the view's bank
    column_labels : object array, the labels of the columns; None where they had none
    observed : array (m, anchors, samples of the view's bank), the rows of the completion's anchors that have the view
    """

    known: KnownView
    columns: Array
    column_labels: Any = None
    observed: Any = None

    def bank(
        self,
        given: Any,
        rows: Array | None = None,
        binder: Binder = bind_kernels,
        precision: Precision = own_precision,
        **options: Any,
    ) -> KernelBank:
        own: KernelBank = given if rows is None else given.block(rows, rows)
        return own

    def completed_by(self, completion: Completion, given: Any, X: Views) -> MatrixView:
        rows = completion.anchors.rows[completion.observed]
        observed = stack_of(X[rows].part(self.known.name))
        return replace(self, known=replace(self.known, completion=completion), observed=observed)

    def block(self, rows: Index, columns: Index) -> MatrixView:
        return replace(self, columns=self.columns[positions(columns, len(self.columns))])

    def select(self, index: Index) -> MatrixView:
        return replace(self, known=self.known.select(index))

    def cross(self, bank: KernelBank, X: Any) -> KernelBank:
        X = Views.of(X)
        view = self.known.name
        kernels = self.known.kernels
        completion = self.known.completion
        given = None if self.known.is_absent(X) else X.part(view)
        given = matched_columns(view, given, X.columns.get(view), self.column_labels)
        if isinstance(given, KernelBank):  # against all samples of the view's bank
            given = given if kernels is None else given.select(kernels)
        if given is None:
            present = np.zeros(len(X), dtype=bool)
        else:
            present = known_rows(given) & X.has(view)
        if completion is None or present.all():
            if isinstance(given, KernelBank) and not isinstance(bank, MixedBank):
                return given.block(slice(None), self.columns)
            return bank.cross(given.matrices() if isinstance(given, KernelBank) else np.asarray(given))
        observed = self.observed if kernels is None else self.observed[kernels]
        values = np.zeros((len(observed), len(X), observed.shape[2]))
        if given is not None:
            values[:, present] = stack_of(given)[:, present]
        values[:, ~present] = completion.weights(X[~present]) @ observed
        return bank.cross(values)

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        X = Views.of(X)
        whole = self._whole(X)
        if not (isinstance(whole, KernelBank) and whole.square):
            return bank.self_values(whole)
        present = X.has(self.known.name)
        values = whole.diagonal()[:, rows_of(X)] * present
        if self.known.kernels is not None:
            values = values[self.known.kernels]
        return self.known.completed_self_values(values, present, X)

    def between(self, X: Views, Z: Views) -> KernelBank:
        """The kernel matrices between samples; those that lack the view are weighted sums of training samples."""
        view = self.known.name
        completion = self.known.completion
        whole = self._whole(X)
        if whole is not None and X.has(view).all() and Z.has(view).all():
            return matrices_between(view, X, Z)
        if completion is None or not isinstance(whole, KernelBank) or not any(whole is part for part in Z.parts):
            raise ValueError(
                f"view {view!r} is a kernel matrix, which some samples lack: give both samples as parts of the "
                "same views(...) to have it completed"
            )
        anchors = self.columns[completion.anchors.rows[completion.observed]]  # among all samples of the view's bank
        observed = whole.shape[1] == self.observed.shape[2] and np.array_equal(
            stack_of(whole.block(anchors, slice(None))), self.observed, equal_nan=True
        )
        if not observed:
            raise ValueError(
                f"view {view!r} is another kernel matrix than in training, and some samples lack it: give "
                "samples as parts of the views(...) of training to have it completed"
            )
        right = _among_all(view, Z, whole.shape[0], completion, anchors)
        if X is Z:
            left = right
        else:
            left = _among_all(view, X, whole.shape[0], completion, anchors)
        return MixedBank(whole, left, right)

    def _whole(self, X: Views) -> Any:
        """What was given for the view, of all samples; None where X has no such view."""
        if self.known.name in X.names:
            return X.parts[X.names.index(self.known.name)]
        return None


def _among_all(view: str, X: Views, n: int, completion: Completion, anchors: Array) -> Any:
    """Samples as weighted sums of all n samples of the view's bank, a CSR matrix."""
    present = X.has(view)
    if present.all():
        weights = np.empty((0, len(anchors)))
    else:
        weights = completion.weights(X[~present])
    return mixing(present, weights, anchors, rows_of(X), n)
