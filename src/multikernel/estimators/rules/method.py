"""The method of the estimators of this folder: kernel weights by a rule, then a machine on the weighted kernel.

A rule does not depend on the regularisation of the machine. So the weights are computed once, the regularisation is
chosen on the weighted kernel, and one decomposition of it serves many ridges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._workers import limited, seconds_left
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.gram import Gram
from multikernel.estimators.binding import Binding
from multikernel.estimators.classifier import HOMOGENEOUS_POLYNOMIALS, classification_machine
from multikernel.estimators.fit import tasks_of
from multikernel.estimators.method import Method
from multikernel.estimators.posterior import alpha_of
from multikernel.estimators.protocol import Fitted, Learned, Learner, Model, Task
from multikernel.estimators.regressor import polynomials_and_gaussians
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.search import (
    Fold,
    Samples,
    Search,
    at_candidate,
    lam_candidates,
    loss_weights,
    names_of,
    ridges,
)
from multikernel.estimators.targets import binary_tasks
from multikernel.machines import Machine, RidgeMachine
from multikernel.machines.ridge.folds import solve_folds
from multikernel.observer import Observer
from multikernel.procedures import Weights
from multikernel.procedures.forecast import Cost, hinge, margin, ridge

Weigh = Callable[[Any, KernelBank, Task, Machine], Weights]


class RuleModel(Model, Protocol):
    """The parameters that the functions of this file read, in addition to those of every estimator."""

    alpha: float
    fit_intercept: bool
    learner: str


def ridge_machine(model: RuleModel) -> RidgeMachine:
    """Kernel ridge regression."""
    return RidgeMachine(model.alpha, model.fit_intercept)


@dataclass(frozen=True, eq=False)
class RuleMKL:
    """A rule and a machine.

    Parameters
    ----------
    weigh : (model, bank, task, machine) -> Weights, the rule
    machine : (model) -> Machine on the weighted kernel
    trial_weights : (model, bank, task) -> array (r, m)
        The kernel weights for which the regularisation is chosen; by default those of the rule with a ridge machine.
        Where there are several rows, those of least error count.
    follows_target : whether the rule depends on the target, so that each training set has separate weights
    """

    weigh: Weigh
    machine: Callable[[Any], Machine]
    trial_weights: Callable[[Any, KernelBank, Task], Array] | None = None
    follows_target: bool = True

    def learn(
        self, model: RuleModel, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer
    ) -> Learned:
        """The weights, and the machine at them."""
        machine = self.machine(model)
        with limited(0.5 * seconds_left()):  # the machine needs the remaining time
            weights = self.weigh(model, bank, task, machine)
        start = earlier.start.variables if earlier else None
        return weights, machine.solve(bank.combine(weights.values), task.target, start, task.sample_weight)

    def fold(self, model: RuleModel, name: str, learn: Learner, train: Samples, test: Samples) -> Fold:
        """The fold on which candidates of the regularisation are compared; its kernels are weighted once."""
        tasks = tasks_of(model, train.target, train.weight, train.resampling)
        trial_weights = [self._trial_weights_of(model, task.bank(train.bank), task) for task in tasks]
        return RuleFold(model, name, self.machine, train, test, tasks, trial_weights)

    def _trial_weights_of(self, model: RuleModel, bank: KernelBank, task: Task) -> Array:
        if self.trial_weights is not None:
            return self.trial_weights(model, bank, task)
        return self.weigh(model, bank, task, RidgeMachine()).values[None, :]


@dataclass(frozen=True, eq=False)
class RuleFold(Fold):
    """The machine at each candidate of a parameter, on kernels that are weighted once.

    Parameters
    ----------
    model : the estimator
    name : the parameter that is searched
    machine : (model) -> Machine
    train, test : Samples; the bank of ``test`` is that of its samples against those of ``train``
    tasks : the problems on the training samples
    trial_weights : array (r, m) for each problem, kernel weights to compare; r is the same for all problems
    """

    model: RuleModel
    name: str
    machine: Callable[[Any], Machine]
    train: Samples
    test: Samples
    tasks: Sequence[Task]
    trial_weights: Sequence[Array]

    def errors(self, index: int) -> Array:
        machine = self.machine(at_candidate(self.model, self.name, self.train, index))
        of_problems = [self._values(t, machine) for t in range(len(self.tasks))]
        of_weights = [np.hstack(columns) for columns in zip(*of_problems, strict=True)]
        return np.array([self.test.error(self.model, values) for values in of_weights])

    def _values(self, t: int, machine: Machine) -> list[Array]:
        """The values of one problem at the test samples, for each row of ``trial_weights``."""
        task, values = self.tasks[t], []
        for inner, outer in self._grams[t]:
            solved = machine.solve(inner, task.target, None, task.sample_weight)
            values.append(outer.multiply(as_columns(solved.coef)) + solved.intercept)
        return values

    @cached_property
    def _grams(self) -> list[list[tuple[Gram, Gram]]]:
        """The weighted kernels of every problem: of its training samples, and of the test samples against them."""
        grams = []
        for task, weights in zip(self.tasks, self.trial_weights, strict=True):
            inner = task.bank(self.train.bank).combine_all(weights)
            test = self.test.bank
            outer = test.block(np.arange(test.shape[0]), task.rows).combine_all(weights)
            grams.append(list(zip(inner, outer, strict=True)))
        return grams


# -- classes -----------------------------------------------------------------------------------------------------------


def _names(model: RuleModel) -> tuple[str, ...]:
    if model.learner == "margin":
        return ("lam",)
    return ("C",)


def _candidates(model: RuleModel, name: str, samples: Samples) -> Array:
    if name == "lam":
        return lam_candidates(samples.size)
    return loss_weights(samples.size)


def learner_cost(model: RuleModel, bank: BankCost, task: Task) -> Cost:
    """The cost of the machine on the weighted kernel, where that of the rule is negligible."""
    if model.learner == "margin":
        return margin(bank)
    return hinge(bank)


def classifier_rule(weigh: Weigh, trial_weights: Any = None) -> Method:
    """The method of a classifier with this rule: a margin or a hinge machine on the weighted kernel."""
    rule = RuleMKL(weigh, classification_machine, trial_weights)
    return Method(
        learn=rule.learn,
        binding=HOMOGENEOUS_POLYNOMIALS,
        tasks=binary_tasks,
        search=Search(names=_names, candidates=_candidates, fold=rule.fold),
        reads_kernels_few_times=True,
    )


# -- numbers -----------------------------------------------------------------------------------------------------------


def _ridges(model: RuleModel, name: str, samples: Samples) -> Array:
    return ridges(samples.size)


def ridge_cost(model: RuleModel, bank: BankCost, task: Task) -> Cost:
    """The cost of kernel ridge regression on the weighted kernel, where that of the rule is negligible."""
    return ridge(bank)


def regressor_rule(rule: RuleMKL) -> Method:
    """The method of a regressor with this rule: kernel ridge regression; several targets share the weights."""
    return Method(
        learn=rule.learn,
        binding=Binding(default_kernels=polynomials_and_gaussians),
        search=Search(names=names_of("alpha"), candidates=_ridges, fold=rule.fold),
        ridge=alpha_of,
        several_targets=True,
        reads_kernels_few_times=True,
    )


class AlphaFreeRegressor(RidgeRegressor):
    """A regressor whose weights do not depend on alpha: solutions for many alphas follow from one decomposition.

    Paths and searches compute them together (``FitsManyAlphas``).
    """

    _rule: ClassVar[RuleMKL]

    def fit_along(
        self, bank: KernelBank, target: Array, alphas: Sequence[float], sample_weight: Array | None = None
    ) -> list[Fitted]:
        """The fits for many alphas on one bank."""
        bank, rows = bank.unrounded(), np.arange(bank.shape[0])
        machine = RidgeMachine(1.0, self.fit_intercept)
        weights = self._rule.weigh(self, bank, Task(rows, target, sample_weight), machine)
        solutions = machine.solve_along(bank.combine(weights.values), target, alphas, sample_weight)
        return [
            Fitted(rows, weights, solution, {"alpha": float(alpha)}, sample_weight)
            for alpha, solution in zip(alphas, solutions, strict=True)
        ]

    def fit_folds(
        self, bank: KernelBank, target: Array, alphas: Sequence[float], folds: Sequence[tuple[Array, Array]]
    ) -> list[list[tuple[Fitted, Array]]]:
        """For each fold and alpha the fit to the training rows, and its values at the test rows, shape (rows, t)."""
        if bank.local and not self._rule.follows_target:
            task_of_all = Task(np.arange(len(target)), target)
            weights = self._rule.weigh(self, bank, task_of_all, RidgeMachine(fit_intercept=self.fit_intercept))
            trains = [train for train, _ in folds]
            held_out = solve_folds(bank.combine(weights.values), target, alphas, trains, self.fit_intercept)
            if held_out is not None:
                return [
                    [(Fitted(np.arange(len(train)), weights, h.solution), as_columns(h.values)[test]) for h in fold]
                    for fold, (train, test) in zip(held_out, folds, strict=True)
                ]
        return [self._fit_fold(bank, target, alphas, train, test) for train, test in folds]

    def _fit_fold(
        self, bank: KernelBank, target: Array, alphas: Sequence[float], train: Array, test: Array
    ) -> list[tuple[Fitted, Array]]:
        fits = self.fit_along(bank.block(train, train), target[train], alphas)
        gram = bank.block(test, train).combine(fits[0].weights.values)
        return [(fit, gram.multiply(as_columns(fit.solution.coef)) + fit.solution.intercept) for fit in fits]
