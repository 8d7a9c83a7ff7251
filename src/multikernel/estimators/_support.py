"""What the estimators with a support vector machine and learned weights share.

Common parameters
-----------------
kernels : kernel, list of kernels, KernelFamily or "precomputed", default normalised polynomials and Gaussians
C : float > 0, default 1.0, weight of the losses
solver : {"auto", ...}, default "auto"
    "auto" is an interior point method over weights and support vectors together; the others are the methods of the
    literature, each with the same certificate.
tol : float, default 1e-4, the relative duality gap at which to stop
max_iter : int, default 1000, steps of the solver at most
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.shared import together
from multikernel.combinations import Linear
from multikernel.domains import Domain
from multikernel.estimators._base import Fitted, KernelEstimator
from multikernel.estimators._classifier import KernelClassifier
from multikernel.estimators._regressor import KernelRegressor
from multikernel.estimators._sample_weight import checked_weights
from multikernel.kernels import KernelFamily, Kernels, polynomials, rbf_grid
from multikernel.machines import DualSolution, EpsilonMachine, HingeMachine, SampleWeighted, SupportMachine
from multikernel.optimizers import Optimizer
from multikernel.problem import Problem
from multikernel.procedures import Weights, support_mkl
from multikernel.procedures.support_mkl import outcome

_ROOM = 2 << 30  # bytes for the matrices of the problems that are solved together
_MATRICES = 4  # of n x n double-precision values that one problem has at a time
_LARGE_STACK = 64 << 20  # bytes of a double-precision stack beyond which passes are made in single precision


class SupportEstimator(KernelEstimator):
    """A domain for the weights and a machine; the solver's name chooses the way."""

    solver: str
    tol: float
    max_iter: int

    @abstractmethod
    def _domain(self) -> Domain:
        """Where the weights live."""

    @abstractmethod
    def _machine(self) -> SupportMachine:
        """The machine, with the gap to reach."""

    @abstractmethod
    def _optimizers(self) -> Mapping[str, type[Optimizer]]:
        """The solvers by name, other than "auto"."""

    def _solvers(self) -> tuple[str, ...]:
        """The names that ``solver`` may have."""
        return ("auto", *self._optimizers())

    def _default_kernels(self) -> KernelFamily:
        each = polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))
        return Kernels(tuple(kernel.normalized() for kernel in each))

    def _precision(self, m: int, n: int) -> Any:
        """Large stacks in single precision: what matters is computed in double, from the kernels themselves."""
        return np.float32 if 4 * m * n * (n + 1) > _LARGE_STACK else None

    def _check_parameters(self) -> None:
        if self.solver not in self._solvers():
            known = ", ".join(map(repr, self._solvers()))
            raise ValueError(f"{type(self).__name__}: solver must be one of {known}, got {self.solver!r}")
        if not (self.tol > 0 and np.isfinite(self.tol)):
            raise ValueError(f"{type(self).__name__}: tol must be a finite number > 0, got {self.tol}")
        self._domain()
        self._machine()

    def _learn(self, bank: KernelBank, target: Array, warm: Fitted | None) -> tuple[Weights, DualSolution]:
        return self._learn_with(self._machine(), bank, target, warm)

    def _learn_with(
        self, machine: SupportMachine, bank: KernelBank, target: Array, warm: Fitted | None
    ) -> tuple[Weights, DualSolution]:
        start = warm.weights.values if warm else None
        if self.solver == "auto":
            return support_mkl(bank, machine, self._domain(), target, self.max_iter, start)
        optimizer = self._optimizers()[self.solver](tol=self.tol, max_iter=self.max_iter)
        result = optimizer.minimise(
            Problem(bank, Linear(), machine, self._domain(), target), start, warm.solution.warm if warm else None
        )
        return outcome(result)

    def _weighted(
        self, bank: KernelBank, rows: Array, target: Array, weight: Array | None, warm: Fitted | None
    ) -> Fitted:
        """One problem, with weights of the samples' losses; samples of weight zero take no part."""
        machine = self._machine()
        if weight is not None:
            kept = weight[rows] > 0
            rows, target = rows[kept], target[kept]
            machine = SampleWeighted(machine=machine, sample_weight=weight[rows], tol=machine.tol)
        own = bank if len(rows) == bank.shape[0] else bank.block(rows, rows).compact()
        warm = warm if warm is not None and np.array_equal(warm.rows, rows) else None
        return Fitted(rows, *self._learn_with(machine, own, target, warm))


class SupportClassifier(SupportEstimator, KernelClassifier):
    """Weights learned with the hinge loss."""

    C: float
    class_weight: Any
    _sample_weight: Array | None = None  # while fitting: as given
    _loss_weight: Array | None = None  # and times the weights of the classes

    def _machine(self) -> SupportMachine:
        return HingeMachine(C=self.C, tol=self.tol)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the kernel weights and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); or a KernelBank; or, with ``kernels="precomputed"``,
            matrices of shape (m, n, n)
        y : labels of shape (n,)
        sample_weight : array (n,) >= 0, what C is multiplied with for each sample
        """
        self._sample_weight = sample_weight
        try:
            return super().fit(X, y)
        finally:
            del self._sample_weight

    def _fit_bound(self, bank: KernelBank, y: Array, warm: list[Fitted] | None = None) -> list[Fitted]:
        weight = checked_weights(self._sample_weight, len(y))
        if self.class_weight is not None:
            of_class: Array = compute_sample_weight(self.class_weight, y)
            weight = of_class if weight is None else weight * of_class
        self._loss_weight = weight
        try:
            return super()._fit_bound(bank, y, warm)
        finally:
            del self._loss_weight

    def _solve_all(
        self, bank: KernelBank, problems: Sequence[tuple[Array, Array]], starts: Sequence[Fitted | None]
    ) -> list[Fitted]:
        """One-vs-rest problems make their passes together, as many as memory allows; pairs have banks of their own."""
        n = bank.shape[0]
        if len(problems) == 1 or self.multiclass != "ovr":
            return super()._solve_all(bank, problems, starts)
        most = max(1, _ROOM // (_MATRICES * 8 * n * n))
        calls = [partial(self._solve, rows=r, target=t, warm=s) for (r, t), s in zip(problems, starts, strict=True)]
        groups = [calls[first : first + most] for first in range(0, len(calls), most)]
        return [fitted for group in groups for fitted in together(bank, group)]

    def _solve(self, bank: KernelBank, rows: Array, target: Array, warm: Fitted | None) -> Fitted:
        return self._weighted(bank, rows, target, self._loss_weight, warm)


class SupportRegressor(SupportEstimator, KernelRegressor):
    """Weights learned with the epsilon-insensitive loss."""

    C: float
    epsilon: float
    _sample_weight: Array | None = None  # while fitting

    def _machine(self) -> SupportMachine:
        return EpsilonMachine(C=self.C, epsilon=self.epsilon, tol=self.tol)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p); or a KernelBank; or, with ``kernels="precomputed"``,
            matrices of shape (m, n, n)
        y : real targets of shape (n,)
        sample_weight : array (n,) >= 0, what C is multiplied with for each sample
        """
        self._sample_weight = sample_weight
        try:
            return super().fit(X, y)
        finally:
            del self._sample_weight

    def _fit_bound(self, bank: KernelBank, y: Array, warm: list[Fitted] | None = None) -> list[Fitted]:
        weight = checked_weights(self._sample_weight, len(y))
        fitted = [self._weighted(bank, np.arange(len(y)), y, weight, warm[0] if warm else None)]
        self._keep(bank, fitted, single=True)
        return fitted
