"""Estimators whose weights follow a rule: what classifiers and regressors of all rules share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from multikernel._linalg import as_columns
from multikernel._parameters import Count, Part
from multikernel._typing import Array
from multikernel._workers import limited, seconds_left
from multikernel.banks import Gram, KernelBank
from multikernel.banks.cost import BankCost
from multikernel.estimators.approximated import ApproximateEstimator
from multikernel.estimators.chosen import Fold, Samples, at_candidate, loss_weights, parts, ridges
from multikernel.estimators.classifier import WeightedClassifier, classification_machine
from multikernel.estimators.parameters import PositiveOrAuto, WithinOneOrAuto
from multikernel.estimators.protocol import Fitted, Learned, Learner, Task
from multikernel.estimators.regressor import WeightedRegressor
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.kernels import KernelFamily, Kernels
from multikernel.machines import Machine, RidgeMachine
from multikernel.machines.ridge.folds import solve_folds
from multikernel.observer import Observer
from multikernel.procedures import Weights
from multikernel.procedures.forecast import Cost, hinge, margin, ridge

_RULE = 0.5  # of the time at most, for the rule


class RuleEstimator(ApproximateEstimator):
    """Weights by a rule, which does not look at the regularisation, then a machine on the weighted kernel."""

    few_passes: ClassVar[bool] = True

    @abstractmethod
    def _weigh(self, bank: KernelBank, task: Task, machine: Machine) -> Weights:
        """The rule."""

    @abstractmethod
    def _cost_at_weights(self, bank: BankCost) -> Cost:
        """What the machine takes on the weighted kernel."""

    @abstractmethod
    def _machine(self) -> Machine:
        """The machine."""

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        machine = self._machine()
        with limited(_RULE * seconds_left()):  # the machine needs the rest: without it there is no model
            weights = self._weigh(bank, task, machine)
        start = warm.solution.warm if warm else None
        return weights, machine.solve(bank.combine(weights.values), task.target, start, task.sample_weight)

    # -- parameters that may be "auto" ---------------------------------------------------------------------------------

    def _tried(self, bank: KernelBank, task: Task) -> Array:
        """The kernel weights that the regularisation is chosen for, (r, m); of several those count that do best."""
        return self._weigh(bank, task, RidgeMachine()).values[None, :]

    def _fold(self, name: str, learn: Learner, train: Samples, test: Samples) -> Fold:
        tasks = self.tasks(train.target, train.weight, train.resampling)
        tried = [self._tried(task.bank(train.bank), task) for task in tasks]
        return RuleFold(self, name, train, test, tasks, tried)


@dataclass(frozen=True, eq=False)
class RuleFold(Fold):
    """The machine at one candidate after the other, on kernels that are weighted once.

    Parameters
    ----------
    model : RuleEstimator
    name : the parameter that is searched
    train, test : Samples
    tasks : the problems of the training samples
    tried : for each problem the kernel weights that are tried, (r, m)
    """

    model: Any
    name: str
    train: Samples
    test: Samples
    tasks: Sequence[Task]
    tried: Sequence[Array]

    def errors(self, place: int) -> Array:
        machine, test = at_candidate(self.model, self.name, self.train, place)._machine(), self.test
        values = np.stack(
            [np.hstack(each) for each in zip(*(self._of(t, machine) for t in range(len(self.tasks))), strict=True)]
        )
        return np.array([test.error(self.model, each) for each in values])

    def _of(self, t: int, machine: Machine) -> list[Array]:
        """The values of one problem on the test samples, for every weights that are tried."""
        task, found = self.tasks[t], []
        for inner, outer in self._grams[t]:
            solved = machine.solve(inner, task.target, None, task.sample_weight)
            found.append(outer.multiply(as_columns(solved.coef)) + solved.intercept)
        return found

    @cached_property
    def _grams(self) -> list[list[tuple[Gram, Gram]]]:
        """The weighted kernels of every problem: of its training samples, and of the test samples against them."""
        return [
            list(zip(task.bank(self.train.bank).combine_all(W), self._cross(task).combine_all(W), strict=True))
            for task, W in zip(self.tasks, self.tried, strict=True)
        ]

    def _cross(self, task: Task) -> KernelBank:
        return self.test.bank.block(np.arange(self.test.bank.shape[0]), task.rows)


@dataclass(eq=False, repr=False, kw_only=True)
class RuleClassifier(RuleEstimator, WeightedClassifier):
    """Weights by a rule, then a margin or a hinge machine on the weighted kernel."""

    kernels: Any = field(default=None, kw_only=False)
    learner: Literal["margin", "svc"] = "svc"
    C: PositiveOrAuto = "auto"
    lam: WithinOneOrAuto = 0.1
    tol: Part = 1e-6
    max_iter: Count = 1_000_000

    def _regularises(self) -> tuple[str, ...]:
        return ("lam",) if self.learner == "margin" else ("C",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        size = whole.size
        return parts(size) if name == "lam" else loss_weights(size)

    def _cost_at_weights(self, bank: BankCost) -> Cost:
        return margin(bank) if self.learner == "margin" else hinge(bank)

    def _machine(self) -> Machine:
        return classification_machine(self.learner, self.lam, self.C, self.tol, self.max_iter)


@dataclass(eq=False, repr=False, kw_only=True)
class RuleRegressor(RuleEstimator, RidgeRegressor, WeightedRegressor):
    """Weights by a rule, then kernel ridge regression on the weighted kernel; several targets share the weights."""

    _multi_target: ClassVar[bool] = True

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    fit_intercept: bool = True

    def _default_kernels(self) -> KernelFamily:
        return Kernels(tuple(kernel.normalized() for kernel in super()._default_kernels()))

    def _regularises(self) -> tuple[str, ...]:
        return ("alpha",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        return ridges(whole.size)

    def _cost_at_weights(self, bank: BankCost) -> Cost:
        return ridge(bank)

    def _machine(self) -> RidgeMachine:
        return RidgeMachine(self.alpha, self.fit_intercept)


@dataclass(eq=False, repr=False, kw_only=True)
class AlphaFreeRegressor(RuleRegressor):
    """A rule that does not look at alpha: the solutions for many alphas follow from one decomposition.

    Paths and searches ask for them together (``FitsManyAlphas``).
    """

    @abstractmethod
    def _looks_at_target(self) -> bool:
        """Whether the rule depends on the target, so that each training set has weights of its own."""

    def fit_along(
        self, bank: KernelBank, target: Array, alphas: Sequence[float], sample_weight: Array | None = None
    ) -> list[Fitted]:
        """The fits for many alphas on one bank."""
        bank, rows, machine = bank.unrounded(), np.arange(bank.shape[0]), RidgeMachine(1.0, self.fit_intercept)
        weights = self._weigh(bank, Task(rows, target, sample_weight), machine)
        solutions = machine.solve_along(bank.combine(weights.values), target, alphas, sample_weight)
        return [
            Fitted(rows, weights, solution, {"alpha": float(alpha)}, sample_weight)
            for alpha, solution in zip(alphas, solutions, strict=True)
        ]

    def fit_folds(
        self, bank: KernelBank, target: Array, alphas: Sequence[float], folds: Sequence[tuple[Array, Array]]
    ) -> list[list[tuple[Fitted, Array]]]:
        """For each fold and alpha the fit on the training rows and its values at the test rows, shape (rows, t)."""
        if bank.local and not self._looks_at_target():
            weights = self._weigh(
                bank, Task(np.arange(len(target)), target), RidgeMachine(fit_intercept=self.fit_intercept)
            )
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
