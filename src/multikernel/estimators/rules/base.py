"""Estimators whose weights follow a rule: what classifiers and regressors of all rules share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from multikernel._linalg import as_columns
from multikernel._parameters import Count, Part, Positive, WithinOne
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.classifier import WeightedClassifier, classification_machine
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.regressor import WeightedRegressor
from multikernel.machines import Machine, RidgeMachine
from multikernel.machines.ridge.folds import solve_folds
from multikernel.observer import Observer
from multikernel.procedures import Weights


@dataclass(eq=False, repr=False, kw_only=True)
class RuleClassifier(WeightedClassifier):
    """Weights by a rule, then a margin or a hinge machine on the weighted kernel."""

    kernels: Any = field(default=None, kw_only=False)
    learner: Literal["margin", "svc"] = "svc"
    C: Positive = 1.0
    lam: WithinOne = 0.1
    tol: Part = 1e-6
    max_iter: Count = 1_000_000

    @abstractmethod
    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        """The rule."""

    def _machine(self) -> Machine:
        return classification_machine(self.learner, self.lam, self.C, self.tol, self.max_iter)

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        machine = self._machine()
        weights = self._weigh(bank, task, machine)
        start = warm.solution.warm if warm else None
        return weights, machine.solve(bank.combine(weights.values), task.target, start, task.sample_weight)


@dataclass(eq=False, repr=False, kw_only=True)
class RuleRegressor(WeightedRegressor):
    """Weights by a rule, then kernel ridge regression on the weighted kernel; several targets share the weights."""

    _multi_target: ClassVar[bool] = True

    kernels: Any = field(default=None, kw_only=False)
    alpha: Positive = 1.0
    fit_intercept: bool = True

    @abstractmethod
    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        """The rule."""

    def _machine(self) -> RidgeMachine:
        return RidgeMachine(self.alpha, self.fit_intercept)

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        machine = self._machine()
        weights = self._weigh(bank, task, machine)
        return weights, machine.solve(bank.combine(weights.values), task.target, None, task.sample_weight)


@dataclass(eq=False, repr=False, kw_only=True)
class AlphaFreeRegressor(RuleRegressor):
    """A rule that does not look at alpha: the solutions for many alphas follow from one decomposition.

    Paths and searches ask for them together (``FitsManyAlphas``).
    """

    @abstractmethod
    def _looks_at_target(self) -> bool:
        """Whether the rule depends on the target, so that each training set has weights of its own."""

    def fit_along(self, bank: KernelBank, target: Array, alphas: Sequence[float]) -> list[Fitted]:
        """The fits for many alphas on one bank."""
        bank, rows = bank.unrounded(), np.arange(bank.shape[0])
        weights = self._weigh(bank, Task(rows, target), self._machine())
        solutions = self._machine().solve_along(bank.combine(weights.values), target, alphas)
        return [Fitted(rows, weights, solution) for solution in solutions]

    def fit_folds(
        self, bank: KernelBank, target: Array, alphas: Sequence[float], folds: Sequence[tuple[Array, Array]]
    ) -> list[list[tuple[Fitted, Array]]]:
        """For each fold and alpha the fit on the training rows and its values at the test rows, shape (rows, t)."""
        if bank.local and not self._looks_at_target():
            weights = self._weigh(bank, Task(np.arange(len(target)), target), self._machine())
            trains = [train for train, _ in folds]
            held = solve_folds(bank.combine(weights.values), target, alphas, trains, self.fit_intercept)
            if held is not None:
                return [
                    [(Fitted(np.arange(len(train)), weights, h.solution), as_columns(h.values)[test]) for h in fold]
                    for fold, (train, test) in zip(held, folds, strict=True)
                ]
        return [self._fit_fold(bank, target, alphas, train, test) for train, test in folds]

    def _fit_fold(
        self, bank: KernelBank, target: Array, alphas: Sequence[float], train: Array, test: Array
    ) -> list[tuple[Fitted, Array]]:
        fits = self.fit_along(bank.block(train, train), target[train], alphas)
        gram = bank.block(test, train).combine(fits[0].weights.values)
        return [(fit, gram.multiply(as_columns(fit.solution.coef)) + fit.solution.intercept) for fit in fits]
