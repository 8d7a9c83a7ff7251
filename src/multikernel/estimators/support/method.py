"""Kernel weights and a support vector machine, learned together: what the estimators of this folder have in common.

They solve

    min over d in D of  J(sum_k d_k K_k) + r(d)

with J the value of a support vector machine, and differ in D and r (the ``domain``), in the loss (the ``machine``), and
in the solvers that a user may choose by name. ``solver="auto"`` is ``procedures.support_mkl``; with one loss of all
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
# The machine's last Newton steps double its digits: predictions then do not follow the order of the samples, or weights
# in place of repeated samples, in more than 1e-7.
_MIXTURES = partial(SimplicialDecomposition, accuracy=1e-8)
_TIMES = tuple(2.0**power for power in range(-6, 1))  # of scikit-learn's gamma; narrower ones lose rare classes


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
    domain : (model, bank) -> Domain, where the weights live; the bank may be a ``BankCost``
    machine : (model) -> Machine; of one that is no SupportMachine an optimizer finds the weights
    solvers : the optimizers that a user may choose by name; "auto" among them takes the place of ``support_mkl``
    """

    domain: Callable[[Any, Any], Domain]
    machine: Callable[[Any], Machine]
    solvers: Mapping[str, Callable[..., Optimizer]] = field(default_factory=dict)

    def learn(
        self, model: SupportModel, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer
    ) -> Learned:
        """The weights and the support vector machine of one binary problem, of one target, or of all classes."""
        domain = self.domain(model, bank)
        joint = task.target.ndim == 2
        machine = joint_machine(model) if joint else self.machine(model)
        problem = Problem(bank, Linear(), machine, domain, task.target, task.sample_weight)
        separable = as_separable(domain)
        together = separable is not None and isinstance(machine, SupportMachine)
        if model.solver == "auto" and "auto" not in self.solvers and together:
            solve = partial(support_mkl, tol=model.tol, max_iter=model.max_iter)
        else:
            mixtures = joint and separable is not None and separable.constrained
            optimizer = self.solvers.get(model.solver, _MIXTURES if mixtures else QuasiNewton)
            solve = partial(minimised, optimizer(tol=model.tol, max_iter=model.max_iter))
        start = earlier.start if earlier else None
        return solved_in_own_units(problem, solve, start, observe)

    def cost(self, model: SupportModel, bank: BankCost, task: Task) -> Cost:
        """A solver by name takes as many steps as its optimizer pleases, and its time is not known.

        Nor is that of one loss of all classes, where a sum of kernels, its factor and a copy are held.
        """
        if task.target.ndim == 2:
            return Cost(None, 3.0 * 8.0 * float(bank.n) ** 2)
        domain = as_separable(self.domain(model, bank))
        if model.solver != "auto" or domain is None or not isinstance(self.machine(model), SupportMachine):
            return one_matrix(model, bank, task)
        return support(bank, domain, model.tol)

    def candidates(self, model: SupportModel, name: str, whole: Samples) -> Array:
        """Values of C, in units of the target and of the combined kernel where a search begins."""
        total = float(self.domain(model, whole.bank).start(len(whole.bank)).sum())
        unit = 1.0 if isinstance(model, ClassifierMixin) else whole.spread
        return loss_weights(whole.size * total, unit)


def minimised(optimizer: Optimizer, problem: Problem, start: Start | None, observe: Observer) -> Learned:
    """What an optimizer finds."""
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
    """Losses of what residuals have beyond epsilon, of weight C."""
    return EpsilonMachine(C=model.C, epsilon=model.epsilon, fit_intercept=model.fit_intercept, tol=model.tol)


# -- kernels of samples ------------------------------------------------------------------------------------------------


def polynomials_and_wide_gaussians(model: SupportModel) -> KernelFamily:
    """The classifiers' default kernels: Gaussians up to the width of scikit-learn's default, and wider ones.

    Narrower ones have larger margins on the training sample and would get the weight: a kernel near the identity
    separates all training samples from each other, and predicts the frequent class for all others.
    """
    gaussians = Kernels(tuple(RBF(Width("scale", times)) for times in _TIMES))
    return Kernels(tuple(kernel.normalized() for kernel in polynomials((1, 2, 3)))) + gaussians


def distinct_samples(model: SupportModel, X: Any, weight: Array | None) -> Any:
    """For the default kernels the distinct samples with a weight: one of weight two is like one given twice."""
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
    """Large stacks in single precision, for the solver that only has to certify in double what it found with them.

    The others have bounds that come from many of their points.
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


def tube(model: SupportModel, whole: Samples) -> dict[str, float]:
    """epsilon, where it is "auto": a tenth of the target's spread."""
    if not AUTO.accepts(model.epsilon):
        return {}
    return {"epsilon": TUBE * whole.spread}


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
