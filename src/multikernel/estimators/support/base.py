"""What the estimators share that learn kernel weights together with a support vector machine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from multikernel._parameters import Count, Part, Verbosity
from multikernel._rules import Choice
from multikernel._typing import Array
from multikernel._workers import on_cluster, on_threads
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.shared import together
from multikernel.combinations import Linear
from multikernel.domains import Domain, as_separable
from multikernel.estimators.approximated import ApproximateEstimator
from multikernel.estimators.chosen import TUBE, Samples, loss_weights
from multikernel.estimators.classifier import WeightedClassifier
from multikernel.estimators.parameters import AUTO, NonNegativeOrAuto, PositiveOrAuto, checked_weights
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.regressor import WeightedRegressor
from multikernel.kernels import RBF, KernelFamily, Kernels, Width, polynomials, rbf_grid
from multikernel.machines import EpsilonMachine, HingeMachine, SupportMachine
from multikernel.observer import Observer
from multikernel.optimizers import Optimizer, QuasiNewton
from multikernel.problem import Problem
from multikernel.procedures import outcome, solved_in_own_units, support_mkl
from multikernel.procedures.forecast import Cost, support

_TOGETHER = 2 << 30  # bytes for the matrices of the problems that are solved together
_MATRICES = 4  # of n x n double-precision values that one problem has at a time
_SHARED = 0.4  # of a pass is what a further problem adds to it
_TIMES = tuple(2.0**power for power in range(-6, 1))  # of scikit-learn's gamma; narrower ones lose rare classes
_LARGE_STACK = 64 << 20  # bytes of a double-precision stack beyond which passes are made in single precision


@dataclass(eq=False, repr=False, kw_only=True)
class SupportEstimator(ApproximateEstimator):
    """A domain for the weights and a machine; the solver's name chooses the way."""

    kernels: Any = field(default=None, kw_only=False)
    solver: str = "auto"
    tol: Part = 1e-4
    max_iter: Count = 1000
    verbose: Verbosity = 0

    def _regularises(self) -> tuple[str, ...]:
        return ("C",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        total = float(self._domain().start(len(whole.bank)).sum())
        return loss_weights(whole.size * total, self._unit(whole))

    def _unit(self, whole: Samples) -> float:
        """The unit of the target."""
        return 1.0

    @abstractmethod
    def _domain(self) -> Domain:
        """Where the weights live."""

    def _cost(self, bank: BankCost, task: Task) -> Cost:
        """A solver by name takes as many steps as its optimizer pleases."""
        domain = as_separable(self._domain())
        return super()._cost(bank, task) if self.solver != "auto" or domain is None else support(bank, domain, self.tol)

    @abstractmethod
    def _machine(self) -> SupportMachine:
        """The machine."""

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
        """Large stacks in single precision, for the solver that finds with them what double precision only certifies.

        The others have bounds that come from many of their points.
        """
        large = 4 * m * n * (n + 1) > _LARGE_STACK
        return np.float32 if large and self.solver == "auto" else np.float64

    def check_parameters(self) -> None:
        super().check_parameters()
        Choice(self._solvers()).check(self.solver, f"{type(self).__name__}: solver")

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        problem = Problem(bank, Linear(), self._machine(), self._domain(), task.target, task.sample_weight)
        start, variables = (warm.weights.values, warm.variables) if warm else (None, None)
        return solved_in_own_units(problem, self._solve, start, variables, observe)

    def _solve(self, problem: Problem, start: Array | None, warm: Array | None, observe: Observer) -> Learned:
        """The problem in its own units."""
        if self.solver == "auto" and as_separable(problem.domain) is not None:
            return support_mkl(problem, self.tol, self.max_iter, start, observe, warm)
        optimizer = self._optimizers().get(self.solver, QuasiNewton)(tol=self.tol, max_iter=self.max_iter)
        own = None if warm is None else np.atleast_2d(warm)[0]
        return outcome(optimizer.minimise(problem, start, own, observe))


@dataclass(eq=False, repr=False, kw_only=True)
class SupportClassifier(SupportEstimator, WeightedClassifier):
    """Weights learned with the hinge loss."""

    _reach: ClassVar[float] = float("inf")  # the default widths follow the features' spread

    C: PositiveOrAuto = 1.0
    fit_intercept: bool = True

    def _default_kernels(self) -> KernelFamily:
        """Gaussians up to the width of scikit-learn's default, and wider ones.

        Narrower ones have larger margins on the training sample and would get the weight: a kernel near the identity
        tells all training samples apart, and names the frequent class for all others.
        """
        gaussians = Kernels(tuple(RBF(Width("scale", times)) for times in _TIMES))
        return Kernels(tuple(kernel.normalized() for kernel in polynomials((1, 2, 3)))) + gaussians

    def _to_learn_from(self, X: Any) -> Any:
        """For the default kernels the distinct samples with a weight: one of weight two is like one given twice."""
        sparse = issparse(X)
        if self.kernels is not None or not (sparse or isinstance(X, np.ndarray)):
            return X
        weight = checked_weights(self._weight_bound, X.shape[0])
        X = X if weight is None else X[weight > 0.0]
        if not sparse:
            return np.unique(X, axis=0)
        mixed = X @ np.random.default_rng(0).normal(size=X.shape[1])
        return X[np.unique(mixed, return_index=True)[1]]

    def _machine(self) -> SupportMachine:
        return HingeMachine(C=self.C, fit_intercept=self.fit_intercept, tol=self.tol)

    def _at_a_time(self, count: int, n: int) -> int:
        shared = min(count, max(1, _TOGETHER // (_MATRICES * 8 * n**2)))
        return shared if self.multiclass == "ovr" else super()._at_a_time(count, n)

    def _of_tasks(self, bank: BankCost, tasks: Sequence[Task]) -> Cost:
        """One-vs-rest problems make their passes together."""
        if len(tasks) == 1 or self.multiclass != "ovr":
            return super()._of_tasks(bank, tasks)
        later = replace(bank, sweep=_SHARED * bank.sweep, exact=_SHARED * bank.exact)
        return self._cost(bank, tasks[0]) + (len(tasks) - 1) * self._cost(later, tasks[1])

    def _at_once(self, count: int) -> bool:
        return self.multiclass == "ovr" or super()._at_once(count)

    def _solve_all(self, bank: KernelBank, tasks: Sequence[Callable[[KernelBank], Fitted]]) -> list[Fitted]:
        """One-vs-rest problems make their passes together, as many as memory allows; pairs have banks of their own.

        On a cluster each is a task.
        """
        if len(tasks) == 1 or self.multiclass != "ovr" or on_cluster():
            return on_threads([partial(task, bank) for task in tasks], self.n_jobs)
        most = self._at_a_time(len(tasks), bank.shape[0])
        groups = [tasks[first : first + most] for first in range(0, len(tasks), most)]
        return [fitted for group in groups for fitted in together(bank, group)]


@dataclass(eq=False, repr=False, kw_only=True)
class SupportRegressor(SupportEstimator, WeightedRegressor):
    """Weights learned with the epsilon-insensitive loss."""

    C: PositiveOrAuto = "auto"
    epsilon: NonNegativeOrAuto = "auto"
    fit_intercept: bool = True

    def _regularises(self) -> tuple[str, ...]:
        return ("C", "epsilon")

    def _searched(self) -> tuple[str, ...]:
        return ("C",)

    def _unit(self, whole: Samples) -> float:
        return whole.spread

    def _by_rule(self, whole: Samples) -> dict[str, float]:
        return {"epsilon": TUBE * whole.spread} if AUTO.accepts(self.epsilon) else {}

    def _machine(self) -> SupportMachine:
        return EpsilonMachine(C=self.C, epsilon=self.epsilon, fit_intercept=self.fit_intercept, tol=self.tol)
