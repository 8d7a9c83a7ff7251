"""Estimators whose weights follow a rule: what classifiers and regressors of all rules share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from multikernel.banks import KernelBank
from multikernel.estimators._base import Fitted
from multikernel.estimators._classifier import KernelClassifier, classification_machine
from multikernel.estimators._regressor import KernelRegressor
from multikernel.kernels.base import Array
from multikernel.machines import DualSolution, Machine, RidgeMachine
from multikernel.procedures import Weights


class RuleClassifier(KernelClassifier):
    """Weights by a rule, then a margin or a hinge machine on the weighted kernel."""

    def __init__(
        self,
        kernels: Any = None,
        *,
        learner: str = "svc",
        C: float = 1.0,
        lam: float = 0.1,
        multiclass: str = "ovr",
        tol: float = 1e-6,
        max_iter: int = 1_000_000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.learner = learner
        self.C = C
        self.lam = lam
        self.multiclass = multiclass
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _weigh(self, bank: KernelBank, target: Array, machine: Machine) -> Weights:
        """The rule."""

    def _check_parameters(self) -> None:
        self._machine()

    def _machine(self) -> Machine:
        return classification_machine(self.learner, self.lam, self.C, self.tol, self.max_iter)

    def _learn(self, bank: KernelBank, target: Array, warm: Fitted | None) -> tuple[Weights, DualSolution]:
        machine = self._machine()
        weights = self._weigh(bank, target, machine)
        return weights, machine.solve(bank.combine(weights.values), target, warm.solution.warm if warm else None)


class RuleRegressor(KernelRegressor):
    """Weights by a rule, then kernel ridge regression on the weighted kernel."""

    def __init__(self, kernels: Any = None, *, alpha: float = 1.0, fit_intercept: bool = True) -> None:
        self.kernels = kernels
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    @abstractmethod
    def _weigh(self, bank: KernelBank, target: Array, machine: Machine) -> Weights:
        """The rule."""

    def _check_parameters(self) -> None:
        RidgeMachine(self.alpha, self.fit_intercept)

    def _learn(self, bank: KernelBank, target: Array, warm: Fitted | None) -> tuple[Weights, DualSolution]:
        machine = RidgeMachine(self.alpha, self.fit_intercept)
        weights = self._weigh(bank, target, machine)
        return weights, machine.solve(bank.combine(weights.values), target)
