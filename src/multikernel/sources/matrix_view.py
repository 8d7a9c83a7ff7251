"""New samples with several views, of which one is given as rows of kernel matrices."""

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
from multikernel.sources.view_samples import Binder, KnownView, Precision, ViewSamples, precision_of_samples
from multikernel.sources.views import Views


@dataclass(frozen=True, eq=False)
class MatrixView(ViewSamples):
    """Takes one view, rows of kernel matrices, from new samples with several views.

    Parameters
    ----------
    known : KnownView
    columns : int array, which samples of the view's bank the columns belong to
    column_labels : object array, the labels of the columns; None where they had none
    observed : array (m, anchors, samples of the view's bank), the rows of the completion's anchors that have the view
    """

    known: KnownView
    columns: Array
    column_labels: Any = None
    observed: Any = None

    def bank(
        self,
        source: Any,
        rows: Array | None = None,
        binder: Binder = bind_kernels,
        precision: Precision = precision_of_samples,
        **options: Any,
    ) -> KernelBank:
        bank: KernelBank = source if rows is None else source.block(rows, rows)
        return bank

    def completed_by(self, completion: Completion, source: Any, X: Views) -> MatrixView:
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
        source = None if self.known.is_absent(X) else X.part(view)
        source = matched_columns(view, source, X.columns.get(view), self.column_labels)
        if isinstance(source, KernelBank):  # its columns are all samples of the view's bank
            source = source if kernels is None else source.select(kernels)
        if source is None:
            present = np.zeros(len(X), dtype=bool)
        else:
            present = known_rows(source) & X.has(view)
        if completion is None or present.all():
            if isinstance(source, KernelBank) and not isinstance(bank, MixedBank):
                return source.block(slice(None), self.columns)
            return bank.cross(source.matrices() if isinstance(source, KernelBank) else np.asarray(source))
        observed = self.observed if kernels is None else self.observed[kernels]
        values = np.zeros((len(observed), len(X), observed.shape[2]))
        if source is not None:
            values[:, present] = stack_of(source)[:, present]
        values[:, ~present] = completion.weights(X[~present]) @ observed
        return bank.cross(values)

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        X = Views.of(X)
        full_source = self._full_source(X)
        if not (isinstance(full_source, KernelBank) and full_source.square):
            return bank.self_values(full_source)
        present = X.has(self.known.name)
        values = full_source.diagonal()[:, rows_of(X)] * present
        if self.known.kernels is not None:
            values = values[self.known.kernels]
        return self.known.completed_self_values(values, present, X)

    def between(self, X: Views, Z: Views) -> KernelBank:
        """The kernel matrices between X and Z; samples that lack the view are weighted sums of training samples."""
        view = self.known.name
        completion = self.known.completion
        full_source = self._full_source(X)
        if full_source is not None and X.has(view).all() and Z.has(view).all():
            return matrices_between(view, X, Z)
        if (
            completion is None
            or not isinstance(full_source, KernelBank)
            or not any(full_source is source for source in Z.parts)
        ):
            raise ValueError(
                f"view {view!r} is a kernel matrix, which some samples lack: give both samples as parts of the "
                "same views(...) to have it completed"
            )
        anchors = self.columns[completion.anchors.rows[completion.observed]]  # among all samples of the view's bank
        is_of_training = full_source.shape[1] == self.observed.shape[2] and np.array_equal(
            stack_of(full_source.block(anchors, slice(None))), self.observed, equal_nan=True
        )
        if not is_of_training:
            raise ValueError(
                f"view {view!r} is another kernel matrix than in training, and some samples lack it: give "
                "samples as parts of the views(...) of training to have it completed"
            )
        weights_of_Z = _among_all(view, Z, full_source.shape[0], completion, anchors)
        if X is Z:
            weights_of_X = weights_of_Z
        else:
            weights_of_X = _among_all(view, X, full_source.shape[0], completion, anchors)
        return MixedBank(full_source, weights_of_X, weights_of_Z)

    def _full_source(self, X: Views) -> Any:
        """The data of the view for all samples, not only those chosen in X; None where X has no such view."""
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
