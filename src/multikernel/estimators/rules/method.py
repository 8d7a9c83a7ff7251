"""Kernel weights by a rule, then a machine on the weighted kernel: what the estimators of this folder have in common.

A rule does not look at the regularisation of the machine. So the regularisation is chosen on kernels that are weighted
once, and one decomposition of the weighted kernel serves many ridges.
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
from multikernel.estimators.classifier import TEN_POLYNOMIALS, classification_machine
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
    """The parameters that these functions read, beside those of every estimator."""

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
    tried : (model, bank, task) -> array (r, m)
        The kernel weights that the regularisation is chosen for, where they are not those of the rule with a ridge
        machine; of several those count that do best.
    follows_target : whether the rule depends on the target, so that each training set has weights of its own
    """

    weigh: Weigh
    machine: Callable[[Any], Machine]
    tried: Callable[[Any, KernelBank, Task], Array] | None = None
    follows_target: bool = True

    def learn(
        self, model: RuleModel, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer
    ) -> Learned:
        """The weights, and the machine at them."""
        machine = self.machine(model)
        with limited(0.5 * seconds_left()):  # the machine needs the rest
            weights = self.weigh(model, bank, task, machine)
        start = earlier.start.variables if earlier else None
        return weights, machine.solve(bank.combine(weights.values), task.target, start, task.sample_weight)

    def fold(self, model: RuleModel, name: str, learn: Learner, train: Samples, test: Samples) -> Fold:
        """How the regularisation is tried on one fold: on kernels that are weighted once."""
        tasks = tasks_of(model, train.target, train.weight, train.resampling)
        tried = [self._weights_tried(model, task.bank(train.bank), task) for task in tasks]
        return RuleFold(model, name, self.machine, train, test, tasks, tried)

    def _weights_tried(self, model: RuleModel, bank: KernelBank, task: Task) -> Array:
        if self.tried is not None:
            return self.tried(model, bank, task)
        return self.weigh(model, bank, task, RidgeMachine()).values[None, :]


@dataclass(frozen=True, eq=False)
class RuleFold(Fold):
    """The machine at one candidate after the other, on kernels that are weighted once.

    Parameters
    ----------
    model : the estimator
    name : the parameter that is searched
    machine : (model) -> Machine
    train, test : Samples; the bank of ``test`` is that of its samples against those of ``train``
    tasks : the problems on the training samples
    tried : array (r, m) for each problem, the kernel weights; as many rows for all
    """

    model: RuleModel
    name: str
    machine: Callable[[Any], Machine]
    train: Samples
    test: Samples
    tasks: Sequence[Task]
    tried: Sequence[Array]

    def errors(self, place: int) -> Array:
        machine = self.machine(at_candidate(self.model, self.name, self.train, place))
        of_problems = [self._values(t, machine) for t in range(len(self.tasks))]
        values = [np.hstack(each) for each in zip(*of_problems, strict=True)]
        return np.array([self.test.error(self.model, each) for each in values])

    def _values(self, t: int, machine: Machine) -> list[Array]:
        """The values of one problem on the test samples, for every weights that are tried."""
        task, found = self.tasks[t], []
        for inner, outer in self._grams[t]:
            solved = machine.solve(inner, task.target, None, task.sample_weight)
            found.append(outer.multiply(as_columns(solved.coef)) + solved.intercept)
        return found

    @cached_property
    def _grams(self) -> list[list[tuple[Gram, Gram]]]:
        """The weighted kernels of every problem: of its training samples, and of the test samples against them."""
        found = []
        for task, weights in zip(self.tasks, self.tried, strict=True):
            inner = task.bank(self.train.bank).combine_all(weights)
            test = self.test.bank
            outer = test.block(np.arange(test.shape[0]), task.rows).combine_all(weights)
            found.append(list(zip(inner, outer, strict=True)))
        return found


# -- classes -----------------------------------------------------------------------------------------------------------


def _names(model: RuleModel) -> tuple[str, ...]:
    if model.learner == "margin":
        return ("lam",)
    return ("C",)


def _candidates(model: RuleModel, name: str, whole: Samples) -> Array:
    if name == "lam":
        return lam_candidates(whole.size)
    return loss_weights(whole.size)


def learner_cost(model: RuleModel, bank: BankCost, task: Task) -> Cost:
    """What the machine takes on the weighted kernel, where the rule itself takes nothing."""
    if model.learner == "margin":
        return margin(bank)
    return hinge(bank)


def classifier_rule(weigh: Weigh, tried: Any = None) -> Method:
    """The method of a classifier with this rule: a margin or a hinge machine on the weighted kernel."""
    rule = RuleMKL(weigh, classification_machine, tried)
    return Method(
        learn=rule.learn,
        binding=TEN_POLYNOMIALS,
        tasks=binary_tasks,
        search=Search(names=_names, candidates=_candidates, fold=rule.fold),
        reads_kernels_few_times=True,
    )


# -- numbers -----------------------------------------------------------------------------------------------------------


def _ridges(model: RuleModel, name: str, whole: Samples) -> Array:
    return ridges(whole.size)


def ridge_cost(model: RuleModel, bank: BankCost, task: Task) -> Cost:
    """What kernel ridge regression takes on the weighted kernel, where the rule itself takes nothing."""
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
    """A regressor whose weights do not look at alpha: the solutions for many alphas follow from one decomposition.

    Paths and searches ask for them together (``FitsManyAlphas``).
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
        """For each fold and alpha the fit on the training rows and its values at the test rows, shape (rows, t)."""
        if bank.local and not self._rule.follows_target:
            every = Task(np.arange(len(target)), target)
            weights = self._rule.weigh(self, bank, every, RidgeMachine(fit_intercept=self.fit_intercept))
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
