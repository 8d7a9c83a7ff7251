"""The method of the estimators of this folder: kernel weights and a support vector machine, learned together.

They solve

    min over d in D of  J(sum_k d_k K_k) + r(d)

with J the value of a support vector machine. They differ in D and r (the ``domain``), in the loss (the ``machine``),
and in the solvers that a user may choose by name. ``solver="auto"`` is ``procedures.support_mkl``; with one loss of all
classes, ``multiclass="crammer_singer"``, it is ``procedures.SimplicialDecomposition``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.base import ClassifierMixin

from multikernel._arrays import is_sparse
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.combinations import Linear
from multikernel.domains import Domain, as_separable
from multikernel.estimators.binding import Binding
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import AUTO
from multikernel.estimators.protocol import Fitted, Learned, Model, Task
from multikernel.estimators.regressor import polynomials_and_gaussians
from multikernel.estimators.schedule import SHARED_PASSES, one_matrix
from multikernel.estimators.search import TUBE, Samples, Search, loss_weights, names_of
from multikernel.estimators.targets import binary_or_shared_tasks
from multikernel.kernels import RBF, KernelFamily, Kernels, Width, polynomials
from multikernel.machines import CrammerSingerMachine, EpsilonMachine, HingeMachine, Machine, SupportMachine
from multikernel.observer import Observer
from multikernel.optimizers import Optimizer, QuasiNewton
from multikernel.problem import Problem
from multikernel.procedures import SimplicialDecomposition, Start, outcome, solved_in_own_units, support_mkl
from multikernel.procedures.forecast import Cost, support
from multikernel.tuning import STACK_TINY

JointScheme = Literal["ovr", "ovo", "crammer_singer"]
# The machine's last Newton steps double its digits: predictions then change by at most 1e-7 where samples are
# reordered, or repeated samples are replaced by weights.
_MIXTURES = partial(SimplicialDecomposition, accuracy=1e-8)
_TIMES = tuple(
    2.0**power for power in range(-6, 1)
)  # factors of scikit-learn's gamma; narrower Gaussians lose rare classes


class SupportModel(Model, Protocol):
    """An estimator with a support vector machine, and the parameters that these functions read."""

    C: float
    epsilon: float
    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int


@dataclass(frozen=True, eq=False)
class SupportMKL:
    """The problem above.

    Parameters
    ----------
    domain : (model, bank) -> Domain, the set of allowed weights; the bank may be a ``BankCost``
    machine : (model) -> Machine; where it is not a SupportMachine, an optimizer finds the weights
    solvers : the optimizers that a user may choose by name; one named "auto" replaces ``support_mkl``
    """

    domain: Callable[[Any, Any], Domain]
    machine: Callable[[Any], Machine]
    solvers: Mapping[str, Callable[..., Optimizer]] = field(default_factory=dict)

    def learn(
        self, model: SupportModel, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer
    ) -> Learned:
        """The weights and the machine's solution of one binary problem, of one target, or of all classes together."""
        domain = self.domain(model, bank)
        joint = task.target.ndim == 2
        machine = joint_machine(model) if joint else self.machine(model)
        problem = Problem(bank, Linear(), machine, domain, task.target, task.sample_weight)
        separable = as_separable(domain)
        interior = separable is not None and isinstance(machine, SupportMachine)
        if model.solver == "auto" and "auto" not in self.solvers and interior:
            solve = partial(support_mkl, tol=model.tol, max_iter=model.max_iter)
        else:
            mixtures = joint and separable is not None and separable.constrained
            optimizer = self.solvers.get(model.solver, _MIXTURES if mixtures else QuasiNewton)
            solve = partial(minimised, optimizer(tol=model.tol, max_iter=model.max_iter))
        start = earlier.start if earlier else None
        return solved_in_own_units(problem, solve, start, observe)

    def cost(self, model: SupportModel, bank: BankCost, task: Task) -> Cost:
        """The cost of one problem; its time is known for ``solver="auto"`` only.

        A problem of all classes has no known time, either; it holds a sum of kernels, its factor and a copy.
        """
        if task.target.ndim == 2:
            return Cost(None, 3.0 * 8.0 * float(bank.n) ** 2)
        domain = as_separable(self.domain(model, bank))
        if model.solver != "auto" or domain is None or not isinstance(self.machine(model), SupportMachine):
            return one_matrix(model, bank, task)
        return support(bank, domain, model.tol)

    def candidates(self, model: SupportModel, name: str, samples: Samples) -> Array:
        """Candidates of C, in units of the target and of the combined kernel at the initial weights."""
        total = float(self.domain(model, samples.bank).start(len(samples.bank)).sum())
        unit = 1.0 if isinstance(model, ClassifierMixin) else samples.spread
        return loss_weights(samples.size * total, unit)


def minimised(optimizer: Optimizer, problem: Problem, start: Start | None, observe: Observer) -> Learned:
    """Minimise a problem by an optimizer."""
    if start is None:
        return outcome(optimizer.minimise(problem, observe=observe))
    return outcome(optimizer.minimise(problem, start.weights, start.variables, observe))


# -- the machines of the two losses ------------------------------------------------------------------------------------


def hinge_machine(model: SupportModel) -> HingeMachine:
    """Hinge losses, of weight C."""
    return HingeMachine(C=model.C, fit_intercept=model.fit_intercept, tol=model.tol)


def joint_machine(model: SupportModel) -> CrammerSingerMachine:
    """One hinge loss of all classes for each sample, of weight C."""
    return CrammerSingerMachine(C=model.C, fit_intercept=model.fit_intercept, tol=model.tol)


def epsilon_machine(model: SupportModel) -> EpsilonMachine:
    """Epsilon-insensitive losses, of weight C."""
    return EpsilonMachine(C=model.C, epsilon=model.epsilon, fit_intercept=model.fit_intercept, tol=model.tol)


# -- kernels of samples ------------------------------------------------------------------------------------------------


def polynomials_and_wide_gaussians(model: SupportModel) -> KernelFamily:
    """The classifiers' default kernels: polynomials, and Gaussians of the width of scikit-learn's default and wider.

    Narrower Gaussians would get all weight, because they have larger margins on the training sample: a kernel near the
    identity separates any training samples, but predicts the most frequent class for all others.
    """
    gaussians = Kernels(tuple(RBF(Width("scale", times)) for times in _TIMES))
    return Kernels(tuple(kernel.normalized() for kernel in polynomials((1, 2, 3)))) + gaussians


def distinct_samples(model: SupportModel, X: Any, weight: Array | None) -> Any:
    """The distinct samples of positive weight, from which default kernels learn widths: repetitions do not matter."""
    sparse = is_sparse(X)
    if model.kernels is not None or not (sparse or isinstance(X, np.ndarray)):
        return X
    if weight is not None:
        X = X[weight > 0.0]
    if not sparse:
        return np.unique(X, axis=0)
    mixed = X @ np.random.default_rng(0).normal(size=X.shape[1])
    return X[np.unique(mixed, return_index=True)[1]]


def single_where_large(model: SupportModel, m: int, n: int) -> Any:
    """Single precision for large stacks with ``solver="auto"``, which then certifies its solution in double precision.

    The bounds of the other solvers are made from many of their points, which all need double precision.
    """
    large = 4 * m * n * (n + 1) > STACK_TINY
    if large and model.solver == "auto":
        return np.float32
    return np.float64


CLASSIFIER_BINDING = Binding(
    default_kernels=polynomials_and_wide_gaussians,
    learned_from=distinct_samples,
    precision=single_where_large,
    reach=float("inf"),  # the default widths follow the features' spread
)
REGRESSOR_BINDING = Binding(default_kernels=polynomials_and_gaussians, precision=single_where_large)


# -- the methods -------------------------------------------------------------------------------------------------------


def tube(model: SupportModel, samples: Samples) -> dict[str, float]:
    """The value of epsilon where it is "auto": a tenth of the target's spread."""
    if not AUTO.accepts(model.epsilon):
        return {}
    return {"epsilon": TUBE * samples.spread}


def classifier_method(problem: SupportMKL) -> Method:
    """The method of a classifier that solves this problem for every class or pair."""
    return Method(
        learn=problem.learn,
        cost=problem.cost,
        tasks=binary_or_shared_tasks,
        schedule=SHARED_PASSES,
        search=Search(names=names_of("C"), candidates=problem.candidates),
        binding=CLASSIFIER_BINDING,
    )


def regressor_method(problem: SupportMKL) -> Method:
    """The method of a regressor that solves this problem."""
    search = Search(names=names_of("C", "epsilon"), candidates=problem.candidates, rules=tube, by_rule=("epsilon",))
    return Method(learn=problem.learn, cost=problem.cost, search=search, binding=REGRESSOR_BINDING)
