"""What all RLS2 estimators share: kernels are scaled first, and the weights are those of the scaled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators._base import Fitted, KernelEstimator
from multikernel.kernels import KernelFamily, rls2_basis
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.procedures import Weights
from multikernel.procedures.rls2 import ScaledWeights, rls2, scaling_factors


class ScaledEstimator(KernelEstimator):
    """Weights d of kernels s_k K_k: the predictor's kernel is sum_k d_k s_k K_k."""

    alpha: float
    scaling: str
    fit_intercept: bool
    tol: float
    max_iter: int
    _rules: tuple[str, ...]

    def _check_parameters(self) -> None:
        name = type(self).__name__
        RidgeMachine(self.alpha)
        if self.scaling not in self._rules:
            raise ValueError(
                f"{name}: scaling must be {', '.join(repr(rule) for rule in self._rules)}; got {self.scaling!r}"
            )
        if not self.tol > 0:
            raise ValueError(f"{name}: tol must be > 0, got {self.tol}")
        if not self.max_iter >= 1:
            raise ValueError(f"{name}: max_iter must be at least 1, got {self.max_iter}")

    def _keep(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        super()._keep(bank, fitted, single)
        scaling = np.stack([cast(Array, cast(ScaledWeights, f.weights).scaling) for f in fitted])
        self.scaling_ = scaling[0] if single else scaling

    @property
    def _kernel_weights(self) -> Array:
        return self.weights_ * self.scaling_


class RLS2Estimator(ScaledEstimator):
    """Kernels of any kind."""

    mode: str
    _further: Array | None = None  # of the further inputs: the sum of the self-values of every kernel

    def _default_kernels(self) -> KernelFamily:
        return rls2_basis()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.mode not in ("certified", "paper"):
            raise ValueError(f"{type(self).__name__}: mode must be 'certified' or 'paper', got {self.mode!r}")

    def _fit_with(self, X: Any, y: Any, unlabeled: Any) -> None:
        """Fit, where ``unlabeled`` are further inputs."""
        self._check_parameters()
        if unlabeled is not None and self.scaling != "transductive":
            raise ValueError(
                f"{type(self).__name__}: unlabeled inputs are used with scaling='transductive' only, "
                f"and scaling is {self.scaling!r}"
            )
        bank, y = self._bind(X, y)
        self._further = None if unlabeled is None else self._self_values(bank, X, unlabeled).sum(axis=1)
        try:
            self._fit_bound(bank, y)
        finally:
            del self._further

    def _self_values(self, bank: KernelBank, X: Any, unlabeled: Any) -> Array:
        """k_k(x, x) of the further inputs, shape (m, n_u): given where kernels are, else from samples."""
        if not isinstance(X, KernelBank) and not self._is_precomputed():
            return bank.self_values(self._samples(unlabeled))
        values = np.asarray(unlabeled, dtype=float)
        if values.ndim != 2 or len(values) != len(bank) or not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(
                f"{type(self).__name__}: beside a bank or precomputed kernels, unlabeled are the self-values "
                f"k_k(x, x) >= 0 of the further inputs, shape ({len(bank)}, n_u); got shape {values.shape}"
            )
        return values

    def _learn(self, bank: KernelBank, target: Array, warm: Fitted | None) -> tuple[Weights, DualSolution]:
        if self.scaling == "transductive" and self._further is None:
            raise ValueError(
                f"{type(self).__name__}: scaling='transductive' needs the further inputs, fit(X, y, unlabeled=...); "
                "for a path or a search scale the bank itself, bank.scaled(factors), and use scaling='none'"
            )
        return rls2(
            bank,
            target,
            self.alpha,
            scaling_factors(self.scaling, bank, target, self._further),
            fit_intercept=self.fit_intercept,
            mode=self.mode,
            tol=self.tol,
            max_iter=self.max_iter,
            warm=cast(ScaledWeights, warm.weights) if warm is not None else None,
        )
