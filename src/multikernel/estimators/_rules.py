"""Estimators whose weights follow a rule: what classifiers and regressors of all rules share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators._base import Fitted
from multikernel.estimators._classifier import KernelClassifier, classification_machine
from multikernel.estimators._regressor import WeightedRegressor
from multikernel.machines import DualSolution, Machine, RidgeMachine
from multikernel.machines.ridge.folds import solve_folds
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


class RuleRegressor(WeightedRegressor):
    """Weights by a rule, then kernel ridge regression on the weighted kernel; several targets share the weights."""

    _multi_target = True

    def __init__(self, kernels: Any = None, *, alpha: float = 1.0, fit_intercept: bool = True) -> None:
        self.kernels = kernels
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    @abstractmethod
    def _weigh(self, bank: KernelBank, target: Array, machine: RidgeMachine) -> Weights:
        """The rule; the samples' weights are the machine's."""

    def _check_parameters(self) -> None:
        RidgeMachine(self.alpha, self.fit_intercept)

    def _learn(
        self, bank: KernelBank, target: Array, warm: Fitted | None, sample_weight: Array | None = None
    ) -> tuple[Weights, DualSolution]:
        machine = RidgeMachine(self.alpha, self.fit_intercept, sample_weight)
        weights = self._weigh(bank, target, machine)
        return weights, machine.solve(bank.combine(weights.values), target)


class AlphaFreeRegressor(RuleRegressor):
    """A rule that does not look at alpha: the solutions for many alphas follow from one decomposition.

    ``paths`` and ``selection`` ask for them together.
    """

    @abstractmethod
    def _looks_at_target(self) -> bool:
        """Whether the rule depends on the target, so that each training set has weights of its own."""

    def _fit_along(self, bank: KernelBank, y: Array, alphas: Sequence[float]) -> list[Fitted]:
        """The fits for many alphas on one bank."""
        machine, rows = RidgeMachine(fit_intercept=self.fit_intercept), np.arange(bank.shape[0])
        weights = self._weigh(bank, y, machine)
        solutions = machine.solve_along(bank.combine(weights.values), y, alphas)
        return [Fitted(rows, weights, solution) for solution in solutions]

    def _fit_folds(
        self, bank: KernelBank, y: Array, alphas: Sequence[float], folds: Sequence[tuple[Array, Array]]
    ) -> list[list[tuple[Fitted, Array]]]:
        """For each fold and alpha the fit on the training rows and its values at the test rows, shape (rows, t)."""
        if bank.local and not self._looks_at_target():
            weights = self._weigh(bank, y, RidgeMachine())
            trains = [train for train, _ in folds]
            held = solve_folds(bank.combine(weights.values), y, alphas, trains, self.fit_intercept)
            if held is not None:
                return [
                    [(Fitted(np.arange(len(train)), weights, h.solution), as_columns(h.values)[test]) for h in fold]
                    for fold, (train, test) in zip(held, folds, strict=True)
                ]
        return [self._fit_fold(bank, y, alphas, train, test) for train, test in folds]

    def _fit_fold(
        self, bank: KernelBank, y: Array, alphas: Sequence[float], train: Array, test: Array
    ) -> list[tuple[Fitted, Array]]:
        fits = self._fit_along(bank.block(train, train), y[train], alphas)
        gram = bank.block(test, train).combine(fits[0].weights.values)
        return [(fit, gram.multiply(as_columns(fit.solution.coef)) + fit.solution.intercept) for fit in fits]
