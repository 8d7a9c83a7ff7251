"""The regressor part: one problem with a real target, or with several that share the kernel weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from multikernel._arrays import host, returned
from multikernel._typing import Array
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import Training, bind_training
from multikernel.estimators.fit import fit_model
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.protocol import Model
from multikernel.estimators.target_columns import TargetColumns
from multikernel.kernels import KernelFamily, Kernels, polynomials, rbf_grid
from multikernel.sources.rows import aligned


def polynomials_and_gaussians(model: Model) -> KernelFamily:
    """The default kernels: polynomials of degrees 1 to 3 and nine widths of the Gaussian, normalised."""
    each = polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))
    return Kernels(tuple(kernel.normalized() for kernel in each))


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRegressor(RegressorMixin, KernelEstimator):  # type: ignore[misc]
    """A regressor, whose ``Method`` says how its problem is solved."""

    cv: CrossValidation | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._method.several_targets
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : real targets of shape (n,); of shape (n, t) where the estimator learns several targets
        sample_weight : array (n,) >= 0, what the loss of each sample is multiplied with
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, sample_weight, groups)

    def _bind(self, X: Any, y: Any, sample_weight: Any = None, sketch: bool = False) -> Training:
        several = self._method.several_targets
        columns = TargetColumns.of(y) if self._method.reads_columns(self) else None
        if columns is not None:
            given = bind_training(self, X, np.zeros(len(columns)), sample_weight, sketch, y_numeric=True)
            return Training(given.bank, columns, given.weight)
        training = bind_training(self, X, y, sample_weight, sketch, y_numeric=True, multi_output=several)
        target: Any = training.target
        if hasattr(target, "toarray"):
            raise ValueError(
                f"{type(self).__name__}: y must be an array of numbers, got a sparse matrix; use y.toarray()"
            )
        target = np.asarray(target, dtype=float)
        if not np.isfinite(target).all():
            raise ValueError(f"y has a NaN or infinity at row {int(np.argwhere(~np.isfinite(target))[0, 0])}")
        return Training(training.bank, target, training.weight)

    def predict(self, X: Any) -> Array:
        """The predicted values, shape (len(X),), or (len(X), t) after a fit to t targets; an array like X.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        values = self._values(X)
        return returned(values[:, 0] if self.dual_coef_.ndim == 1 else values, X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 of the predictions for X against y, as scikit-learn's regressors define it.

        Parameters
        ----------
        X, y : as in ``fit``
        sample_weight : array (len(X),)
        """
        y, sample_weight = aligned(X, y=y, sample_weight=sample_weight)
        return float(super().score(host(X), host(y), host(sample_weight)))
