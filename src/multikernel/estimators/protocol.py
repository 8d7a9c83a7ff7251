"""The interface of an estimator for the packages above it, for the steps of a fit, and for the functions of a method.

Paths and searches use only the names of ``BankEstimator``; ``Model`` adds those that a fit uses:

model.check_parameters()                  refuse parameters that have no meaning
model.bind(X, y)                          samples, matrices or a bank to the training bank and the target
model.fit_bank(bank, target, earlier)     fit on a bank, from the solution of a similar problem
model.resampling(groups, target)          how a fit holds out samples
model.against(bank, X)                    new samples against a training bank
model.banks(X)                            new samples against the training samples that the predictor uses
model.predictor_                          the fitted function, a frozen value
model.reads_kernels_few_times             whether a fit reads every kernel a few times only
model.kernels_can_be_left_out             whether a fit to some of the kernels of a bank is possible
model.kernel_keys()                       identifiers of its kernels, comparable between fits
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from multikernel._folds import UNDECIDED, Resampling
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.indexed import IndexedBank
from multikernel.certificate import Certificate, worst
from multikernel.estimators.predictor import Predictor
from multikernel.machines import DualSolution
from multikernel.observer import Observer
from multikernel.persistence.checkpoint import UNKEPT, Checkpoint
from multikernel.procedures import Start, Weights

if TYPE_CHECKING:
    from multikernel.estimators.binding import Training
    from multikernel.estimators.calibration import Calibrator
    from multikernel.estimators.method import Method
    from multikernel.estimators.posterior import Posterior
    from multikernel.estimators.streamed.state import StreamState


@dataclass(frozen=True, eq=False)
class Task:
    """One problem on the training bank: a regression, or one class against others.

    Parameters
    ----------
    rows : int array (r,), the training samples that take part
    target : array (r,), or (r, t) for targets that share the kernel weights
    sample_weight : array (r,) > 0, what the losses are multiplied with; None where all are 1
    resampling : how the samples that take part are held out
    """

    rows: Array
    target: Array
    sample_weight: Array | None = None
    resampling: Resampling = UNDECIDED

    @classmethod
    def of(cls, rows: Array, target: Array, weight: Array | None) -> Task:
        """The task, given the weights of all training samples; samples of weight zero are left out."""
        if weight is None:
            return cls(rows, target)
        weighted = weight[rows] > 0
        return cls(rows[weighted], target[weighted], weight[rows[weighted]])

    def bank(self, full_bank: KernelBank) -> KernelBank:
        """The bank of the samples that take part; centred kernels keep the centre of all training samples."""
        if len(self.rows) == full_bank.shape[0]:
            return full_bank
        if not full_bank.local:
            return IndexedBank.of(full_bank, self.rows, self.rows)
        return full_bank.block(self.rows, self.rows).compact()


@dataclass(frozen=True, eq=False)
class Fitted:
    """A task, solved: the kernel weights with their certificate, and the machine's solution at them.

    Parameters
    ----------
    rows : int array (r,), as in the task
    weights : Weights
    solution : DualSolution over these rows
    numbers : the regularisation parameters by name, as given or chosen
    sample_weight : array (r,), as in the task
    same_samples : whether the machine's variables belong to the samples of a later fit; else only the weights are a
        start for that fit
    """

    rows: Array
    weights: Weights
    solution: DualSolution
    numbers: Mapping[str, float] = field(default_factory=dict)
    sample_weight: Array | None = None
    same_samples: bool = True

    @property
    def start(self) -> Start:
        """The starting point for a similar problem."""
        if self.same_samples:
            return Start.of(self.weights, self.solution)
        return Start(self.weights.values)

    @property
    def certificate(self) -> Certificate:
        """The worse of the certificates of the weights and of the machine's solution; a rule has only the latter."""
        machine, certificate_of_weights = Certificate("duality gap", self.solution.gap), self.weights.certificate
        if certificate_of_weights is None:
            return machine
        return worst([certificate_of_weights, replace(machine, kind=certificate_of_weights.kind)])

    def converged(self, tol: float | None) -> bool:
        """Whether the certificate is at most ``tol``; without ``tol``, whether the machine's solution is usable."""
        if tol is None:
            return self.solution.converged
        return self.certificate.reached(tol)

    def after(self, earlier: Fitted) -> Fitted:
        """The same solution, with the steps and the history of the earlier one, from which it started, put before."""
        later, earlier_weights = self.weights, earlier.weights
        weights_of_both = replace(
            later,
            n_iter=earlier_weights.n_iter + later.n_iter,
            history=earlier_weights.history + later.history,
        )
        n_iter = earlier.solution.n_iter + self.solution.n_iter
        return replace(self, weights=weights_of_both, solution=replace(self.solution, n_iter=n_iter))

    def among(self, train: Array) -> Fitted:
        """The part of the solution on some training samples, in order, to start from; its rows are their positions."""
        is_member = np.isin(self.rows, train)

        def variables_of_members(variables: Array) -> Array:
            """The variables of these samples; a machine has one block or several of one variable for each sample."""
            return variables[np.resize(is_member, len(variables))]

        weights = self.weights
        if weights.variables is not None:
            weights = replace(weights, variables=variables_of_members(weights.variables))
        if weights.witness is not None:
            weights = replace(weights, witness=variables_of_members(weights.witness))
        solution = replace(
            self.solution, coef=self.solution.coef[is_member], warm=variables_of_members(self.solution.warm)
        )
        return Fitted(np.searchsorted(train, self.rows[is_member]), weights, solution)

    def over_all(self, n: int) -> Fitted:
        """The coefficients over all n training samples, zero where a sample took no part."""
        if len(self.rows) == n and (self.rows == np.arange(n)).all():
            return self
        coef = np.zeros((n, *self.solution.coef.shape[1:]))
        coef[self.rows] = self.solution.coef
        return replace(self, solution=replace(self.solution, coef=coef))


Learned = tuple[Weights, DualSolution]
Learner = Callable[[Any, KernelBank, Task, Fitted | None, Observer], Learned]  # of the model, first


class BankEstimator(Protocol):
    """An estimator of this package, as paths and searches see it."""

    predictor_: Predictor

    def check_parameters(self) -> None:
        """Refuse parameters that have no meaning, before anything is computed."""

    def bind(self, X: Any, y: Any = None) -> tuple[KernelBank, Array]:
        """The training bank and the checked target."""

    def fit_bank(
        self, bank: KernelBank, target: Array, earlier: Sequence[Fitted] = (), sample_weight: Array | None = None
    ) -> list[Fitted]:
        """Fit on a bank; ``earlier`` is what a fit to the same samples returned, to start from."""

    def resampling(self, groups: Any, target: Array) -> Resampling:
        """How a fit holds out samples of these groups."""

    def against(self, bank: KernelBank, X: Any) -> KernelBank:
        """New samples against those of a training bank."""

    def kernel_keys(self) -> Sequence[Any]:
        """Identifiers of the kernels of ``weights_``, comparable between fits, in an order."""

    def banks(self, X: Any, width: int = 1) -> Iterator[KernelBank]:
        """New samples against the training samples that the predictor uses, in blocks of limited size."""


class Model(BankEstimator, Protocol):
    """An estimator for the steps of a fit; the functions of a ``Method`` may use the class of their family instead.

    Parameters that only some estimators have are read with ``getattr`` where an estimator may lack them.
    """

    # parameters
    kernels: Any
    time_budget: float | None

    # parameters of some estimators
    approximation: str | None
    rank: float
    multiclass: str
    shared_weights: bool
    probability: Any
    fit_intercept: bool
    tol: float
    verbose: int

    # how it learns
    _method: ClassVar[Method]

    # what a fit remembers of its training samples, described in ``base.py``
    _strings: Any
    _times: Any
    _objects: Any
    _home: Any
    _samples_bound: Any
    _bound_kernels: Any
    _rows: Any

    # fitted attributes
    kernel_names_: Any
    weights_: Array
    dual_coef_: Array
    intercept_: Any
    classes_: Array
    predictor_: Any
    objective_: Any
    objective_bound_: Any
    certificate_: Certificate
    converged_: bool
    n_iter_: int
    history_: list[tuple[float, ...]]
    _posterior: Posterior | None

    # fitted attributes of some estimators
    approximation_error_: Array
    calibrators_: tuple[Calibrator, ...]
    _state: StreamState | None  # the sums from which it learned
    _solved_last: Sequence[Fitted]

    def _bind(self, X: Any, y: Any, sample_weight: Any = None, sketch: bool = False) -> Training:
        """The training bank, the checked target and the checked weights of the samples."""

    def fit_bank(
        self,
        bank: KernelBank,
        target: Array,
        earlier: Sequence[Fitted] = (),
        sample_weight: Array | None = None,
        learn: Learner | None = None,
        exact: bool = True,
        checkpoint: Checkpoint = UNKEPT,
        resampling: Resampling | None = None,
    ) -> list[Fitted]:
        """Fit on a bank, as ``KernelEstimator.fit_bank`` describes."""

    def publish(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        """Set the fitted attributes."""

    def _values(self, X: Any) -> Array:
        """The function values of every problem at new samples."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""

    def __sklearn_tags__(self) -> Any:
        """The tags that scikit-learn reads."""


@runtime_checkable
class FitsManyAlphas(Protocol):
    """An estimator whose kernel weights do not depend on alpha: one decomposition serves many alphas, and folds."""

    def fit_along(self, bank: KernelBank, target: Array, alphas: Sequence[float]) -> list[Fitted]:
        """The fits for many alphas on one bank."""

    def fit_folds(
        self, bank: KernelBank, target: Array, alphas: Sequence[float], folds: Sequence[tuple[Array, Array]]
    ) -> list[list[tuple[Fitted, Array]]]:
        """For each fold and alpha the fit to the training rows, and its values at the test rows, shape (rows, t)."""

    def publish(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        """Set the fitted attributes."""
