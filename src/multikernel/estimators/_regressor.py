"""The regressor part: one problem with a real target."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from multikernel.banks import KernelBank
from multikernel.estimators._base import Fitted, KernelEstimator
from multikernel.kernels import KernelFamily, polynomials, rbf_grid
from multikernel.kernels.base import Array


class KernelRegressor(RegressorMixin, KernelEstimator):  # type: ignore[misc]
    """A regressor; subclasses say how the problem is solved."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that have no meaning, before anything is computed."""

    def _default_kernels(self) -> KernelFamily:
        return polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); or a KernelBank; or, with ``kernels="precomputed"``,
            matrices of shape (m, n, n)
        y : real targets of shape (n,)
        """
        self._check_parameters()
        bank, y = self._bind(X, y, y_numeric=True)
        self._fit_bound(bank, np.asarray(y, dtype=float))
        return self

    def _fit_bound(self, bank: KernelBank, y: Array, warm: list[Fitted] | None = None) -> list[Fitted]:
        """Fit on a bank, starting from an earlier fit."""
        fitted = [Fitted(np.arange(bank.shape[0]), *self._learn(bank, y, warm[0] if warm else None))]
        self._keep(bank, fitted, single=True)
        return fitted

    def predict(self, X: Any) -> Array:
        """The predicted values, shape (len(X),); with ``kernels="precomputed"`` X are matrices (m, len(X), n_train)."""
        return self._decide(X)[:, 0]
