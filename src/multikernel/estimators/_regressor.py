"""The regressor part: one problem with a real target, or with several.

What a regressor says of itself:

    _multi_target = True         `fit` takes y of shape (n, t), and `_learn` a target of shape (n, t), also for t = 1.
                                 All targets share the kernel weights: the solution's coef is (n, t), its intercept
                                 (t,), as RidgeMachine has them. Fitted are then weights_ (m,), dual_coef_ (t, n) and
                                 intercept_ (t,), and `predict` gives (n_new, t). A target (n,) stays what it was.
    class X(WeightedRegressor)   `fit` takes sample_weight, and `_learn` has a further argument: the weights, array (n,)
                                 of numbers >= 0 that are not all zero, or None.

A regressor that learns weights of its own for each target gives `_keep` a list of t ``Fitted``, with weights_ (t, m).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators._base import Fitted, KernelEstimator
from multikernel.estimators._sample_weight import checked_weights
from multikernel.kernels import KernelFamily, polynomials, rbf_grid
from multikernel.machines import DualSolution
from multikernel.procedures import Weights


class KernelRegressor(RegressorMixin, KernelEstimator):  # type: ignore[misc]
    """A regressor; subclasses say how the problem is solved."""

    _multi_target: ClassVar[bool] = False

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that have no meaning, before anything is computed."""

    def _default_kernels(self) -> KernelFamily:
        return polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._multi_target
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); or a KernelBank; or, with ``kernels="precomputed"``,
            matrices of shape (m, n, n)
        y : real targets of shape (n,); of shape (n, t) where the estimator learns several targets
        """
        self._check_parameters()
        self._fit_bound(*self._bind(X, y))
        return self

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        bank, y = super()._bind(X, y, **{"y_numeric": True, "multi_output": self._multi_target} | checks)
        if hasattr(y, "toarray"):
            raise ValueError(
                f"{type(self).__name__}: y must be an array of numbers, got a sparse matrix; use y.toarray()"
            )
        return bank, np.asarray(y, dtype=float)

    def _fit_bound(self, bank: KernelBank, y: Array, warm: list[Fitted] | None = None) -> list[Fitted]:
        """Fit on a bank, starting from an earlier fit."""
        fitted = [Fitted(np.arange(bank.shape[0]), *self._learn(bank, y, warm[0] if warm else None))]
        self._keep(bank, fitted, single=True)
        return fitted

    def predict(self, X: Any) -> Array:
        """The predicted values, shape (len(X),), or (len(X), t) after a fit to t targets.

        With ``kernels="precomputed"`` X are matrices (m, len(X), n_train).
        """
        values = self._decide(X)
        return values[:, 0] if self.dual_coef_.ndim == 1 else values


class WeightedRegressor(KernelRegressor):
    """A regressor whose samples may count differently."""

    @abstractmethod
    def _learn(
        self, bank: KernelBank, target: Array, warm: Fitted | None, sample_weight: Array | None = None
    ) -> tuple[Weights, DualSolution]:
        """Solve one problem; ``sample_weight`` are the weights of the samples' losses."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); or a KernelBank; or, with ``kernels="precomputed"``,
            matrices of shape (m, n, n)
        y : real targets of shape (n,); of shape (n, t) where the estimator learns several targets
        sample_weight : array (n,) >= 0, what the loss of each sample is multiplied with
        """
        self._check_parameters()
        bank, y = self._bind(X, y)
        self._fit_bound(bank, y, sample_weight=checked_weights(sample_weight, len(y)))
        return self

    def _fit_bound(
        self,
        bank: KernelBank,
        y: Array,
        warm: list[Fitted] | None = None,
        sample_weight: Array | None = None,
    ) -> list[Fitted]:
        """Fit on a bank, starting from an earlier fit."""
        learned = self._learn(bank, y, warm[0] if warm else None, sample_weight)
        fitted = [Fitted(np.arange(bank.shape[0]), *learned)]
        self._keep(bank, fitted, single=True)
        return fitted
