"""Kernels whose weights at a sample are learned functions of the sample: gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multikernel._parameters import Count, Part, Positive, Seed, Starts, Verbosity
from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.banks.indexed import IndexedBank
from multikernel.banks.localized import LocalizedBank
from multikernel.banks.mapped import FeaturedSamples, MappedBank
from multikernel.banks.memberships import Gates
from multikernel.banks.threads import one_blas_thread
from multikernel.combinations import Combination, Linear
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import Binding, double_precision, kernels_against
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, PositiveOrAuto, drawn_seed
from multikernel.estimators.predictor import KernelPredictor
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.regressor import KernelRegressor
from multikernel.estimators.search import Samples, Search, loss_weights, names_of, ridges
from multikernel.estimators.targets import binary_tasks
from multikernel.kernels import KernelFamily, Kernels, polynomials, rbf_grid
from multikernel.machines import Machine, RidgeMachine, SquaredHingeMachine
from multikernel.observer import Observer
from multikernel.procedures.gating import GateWeights, gated_kernels
from multikernel.procedures.units import MachineUnits, kernel_size, spread


@dataclass(frozen=True, eq=False)
class GatedSum(Combination):
    """K(theta) = sum of theta_pk e_pk(x) k_k(x, z) e_pk(z) over problems p and kernels k, with e_p the gates of p.

    The bank holds the samples beside the kernels. The weights theta of a problem are one for the gates of this problem
    and zero for the gates of the others.
    """

    gates: Gates

    def gram(self, bank: KernelBank, theta: Array) -> Gram:
        return Linear().gram(self._gated(bank), theta)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return Linear().pullback(self._gated(bank), theta, A)

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        """The share of each kernel: the sum of its shares behind the gates of all problems."""
        shares = Linear().shares(self._gated(bank), theta, C)
        return shares.reshape(-1, len(bank), *shares.shape[1:]).sum(axis=0)

    def n_parameters(self, bank: KernelBank) -> int:
        return len(self.gates.slopes) * len(bank)

    def _gated(self, bank: KernelBank) -> KernelBank:
        """The bank of every kernel behind the gates of every problem."""
        features = _featured(bank)
        m = len(bank)
        number = np.arange(self.n_parameters(bank))
        return LocalizedBank(
            cast(MappedBank, bank).bank,
            np.ascontiguousarray(self.gates.of(features.rows).T),
            np.ascontiguousarray(self.gates.of(features.columns).T),
            self.gates,
            number * m + number % m,
        )


# -- samples beside their kernels --------------------------------------------------------------------------------------


def _finished(model: GatedModel, bank: KernelBank, weight: Array | None) -> KernelBank:
    """The bank together with the standardised samples, of which the gates are functions."""
    samples = model._samples_bound
    if not isinstance(samples, np.ndarray) or samples.dtype.kind != "f":
        raise ValueError(
            f"{type(model).__name__}: gates are functions of numeric features, so X must be an array or a frame of "
            "numbers, not sparse, not kernel matrices and not views"
        )
    return MappedBank(bank, FeaturedSamples.of(np.asarray(samples, dtype=float)))


def _against(model: GatedModel, Z: Any) -> KernelBank:
    reference = _featured(cast(KernelPredictor, model.predictor_).reference)
    bank = kernels_against(model, Z)
    features = reference.features(Z)
    return MappedBank(bank, replace(reference, rows=features[: bank.shape[0]], columns=features))


def _features(bank: KernelBank) -> Array:
    """The features of a bank's samples; for an indexed bank those of its rows."""
    if isinstance(bank, IndexedBank):
        return _features(bank.parent)[bank.rows]
    return _featured(bank).rows


def _featured(bank: KernelBank) -> FeaturedSamples:
    """The samples that ``_finished`` added to a bank."""
    return cast(FeaturedSamples, cast(MappedBank, bank).samples)


def _coefficients(weights: GateWeights) -> Array:
    return np.column_stack([weights.slopes, weights.levels]).ravel()


# -- learning ----------------------------------------------------------------------------------------------------------


def _learn(
    machine_of: Callable[[Any], Machine],
    model: GatedModel,
    bank: KernelBank,
    task: Task,
    earlier: Fitted | None,
    observe: Observer,
) -> Learned:
    size, machine = kernel_size(bank), machine_of(model)
    unit = spread(task.target) if machine.numeric else 1.0
    units = MachineUnits.of(machine, size, unit) or MachineUnits(machine, 1.0, 1.0, 1.0)
    seed = drawn_seed(model.random_state)
    with one_blas_thread(bank.shape[0]):
        weights, dual = gated_kernels(
            bank.scaled(np.full(len(bank), 1.0 / units.factor)),
            _features(bank),
            units.machine,
            task.target / units.target,
            weight=task.sample_weight,
            kind=model.gates,
            ridge=model.ridge,
            tol=model.tol,
            max_iter=model.max_iter,
            n_init=model.n_init,
            seed=seed,
            start=None if earlier is None else _coefficients(cast(GateWeights, earlier.weights)),
            observe=observe,
        )
    return units.weights(weights), units.solution(dual)


def _publish(model: GatedModel, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    gate_weights = [cast(GateWeights, solution.weights) for solution in fitted]
    gates = Gates(model.gates, np.stack([f.slopes for f in gate_weights]), np.stack([f.levels for f in gate_weights]))
    coef, intercept = np.atleast_2d(model.dual_coef_), np.atleast_1d(model.intercept_)
    weights = np.kron(np.eye(len(gate_weights)), np.ones(len(bank)))
    model.predictor_ = KernelPredictor.of(bank, coef, intercept, weights, GatedSum(gates))


def _default_kernels(model: GatedModel) -> KernelFamily:
    family = polynomials((1, 2)) + rbf_grid(np.logspace(-2, 0, 3))
    return Kernels(tuple(kernel.normalized() for kernel in family))


@dataclass(eq=False, repr=False, kw_only=True)
class GatedModel(KernelEstimator):
    """The parameters of the classifier and of the regressor, and the gates of a fitted model."""

    kernels: Any = field(default=None, kw_only=False)
    gates: Literal["softmax", "sigmoid"] = "softmax"
    ridge: Positive = 0.1
    fit_intercept: bool = True
    tol: Part = 1e-3
    max_iter: Count = 500
    n_init: Starts = 1
    random_state: Seed = None
    verbose: Verbosity = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def gating(self, X: Any) -> Array:
        """The value of the gate of each kernel at samples: shape (len(X), m), or (len(X), m, problems).

        Parameters
        ----------
        X : samples like those of ``fit``
        """
        check_is_fitted(self)
        predictor = cast(KernelPredictor, self.predictor_)
        gates = cast(GatedSum, predictor.combination).gates
        rows = [gates.of(_featured(bank).rows) for bank in self.banks(X)]
        problems = len(predictor.weights)
        openings = np.concatenate(rows).reshape(-1, problems, predictor.n_kernels).transpose(0, 2, 1)
        if problems == 1:
            return openings[:, :, 0]
        return openings


def gated_method(machine: Callable[[Any], Machine], search: Search) -> Method:
    """The method of an estimator with this machine, whose value is smooth in the kernel."""
    return Method(
        learn=partial(_learn, machine),
        binding=Binding(
            default_kernels=_default_kernels, finished=_finished, against=_against, precision=double_precision
        ),
        publish=_publish,
        search=search,
    )


def _squared_hinge(model: GatedModel) -> Machine:
    return SquaredHingeMachine(C=model.C, fit_intercept=model.fit_intercept, tol=model.tol)


def _loss_weights(model: GatedModel, name: str, samples: Samples) -> Array:
    return loss_weights(samples.size, 1.0)


@dataclass(eq=False, repr=False, kw_only=True)
class GatedMKLClassifier(GatedModel, BinaryClassifier):
    """Gates that say how much each kernel counts at a sample, learned with a support vector classifier.

    With the features standardised, and e_k(x) the softmax over the kernels of v_k'x + u_k, or its sigmoid, solves

        min over v, u of J(K) + ridge (|v|^2 + |u|^2),      K(x, z) = sum_k e_k(x) k_k(x, z) e_k(z),

    J the value of a support vector machine with squared hinge losses, max over a >= 0, y'a = 0 of
    2 sum a - a'(Y K Y + I / C) a, which has a gradient everywhere; for the ridge kernels are of mean self-value 1. The
    problem is not convex: the gates are stationary, and ``n_init`` tries more starts. ``LocalizedMKLClassifier`` has
    groups that are known beforehand, and a duality gap.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, or KernelFamily
        By default polynomials of degrees 1 and 2 and Gaussians of three widths on all features, normalised; the
        features should be standardised. The gates are functions of all features, whatever features the kernels use.
    gates : {"softmax", "sigmoid"}, default "softmax"
        Softmax gates have sum 1 at every sample; each sigmoid gate is independent of the others.
    ridge : float > 0, default 0.1
        The weight of the penalty on slopes and levels of the gates: larger values give smoother gates.
    C : float > 0 or "auto", default 1.0
        Weight of the squared losses; "auto" takes the value of least held-out error, published as ``C_``.
    fit_intercept : bool, default True
        Whether there is an intercept.
    tol : float, default 1e-3
        Relative stationarity at which to stop.
    max_iter : int, default 500
        The most steps from each start; a step solves one machine or two.
    n_init : int, default 1
        How many starts; in the first all gates are equal, the others are random.
    random_state : int, RandomState or None
        The seed of the random starts.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of C for the samples of each class, as in scikit-learn.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank, and each learns separate weights.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    n_jobs : int or None, default None
        Threads over the binary problems.
    checkpoint : str, path or None, default None
        A directory where solved binary problems are saved: after a fit was killed, the same fit resumes from them.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto", and those that probabilities are calibrated on: a number of folds with their
        share of each class, three and five by default, or your own folds. With groups in ``fit`` they hold out whole
        groups.

    Attributes
    ----------
    weights_ : array (m,) or (problems, m), the mean of each gate over the training samples
    objective_ : float or array (problems,), with the ridge
    stationarity_ : float, the relative decrease of the objective that its gradient predicts, if the ridge were its only
        curvature
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (problems,)
    classes_ : array
    converged_ : bool, whether ``stationarity_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the stationarity along the way of each problem

    References
    ----------
    Goenen and Alpaydin (2008), Localized multiple kernel learning, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import GatedMKLClassifier, kernels
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.where(X[:, 0] > 0, X[:, 1], X[:, 2]) > 0  # another feature matters on either side
    >>> family = [kernels.Linear().on([1]), kernels.Linear().on([2])]
    >>> model = GatedMKLClassifier(family, C=10.0).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.85), bool(model.gating([[2.0, 0.0, 0.0]])[0, 0] > 0.9)
    (True, True)
    """

    C: PositiveOrAuto = 1.0
    class_weight: ClassWeight = None

    _method: ClassVar[Method] = replace(
        gated_method(_squared_hinge, Search(names=names_of("C"), candidates=_loss_weights)), tasks=binary_tasks
    )


def _ridge_machine(model: GatedModel) -> Machine:
    return RidgeMachine(model.alpha, model.fit_intercept)


def _ridges(model: GatedModel, name: str, samples: Samples) -> Array:
    return ridges(samples.size)


@dataclass(eq=False, repr=False, kw_only=True)
class GatedMKLRegressor(GatedModel, KernelRegressor):
    """Gates that say how much each kernel counts at a sample, learned with kernel ridge regression.

    The problem is that of GatedMKLClassifier with J = y'(K + alpha I)^-1 y, y less its mean where an intercept is
    fitted, and for the ridge of standard deviation 1.

    Parameters
    ----------
    alpha : float > 0 or "auto", default "auto"
        The ridge, which is added to the diagonal of the kernel; "auto" takes the value of least held-out error,
        published as ``alpha_``.
    fit_intercept : bool, default True
        Whether the mean of the target is subtracted first and becomes the intercept.
    kernels : kernel, its name, list or dict of kernels, or KernelFamily
        By default polynomials of degrees 1 and 2 and Gaussians of three widths on all features, normalised; the
        features should be standardised. The gates are functions of all features, whatever features the kernels use.
    gates : {"softmax", "sigmoid"}, default "softmax"
        Softmax gates have sum 1 at every sample; each sigmoid gate is independent of the others.
    ridge : float > 0, default 0.1
        The weight of the penalty on slopes and levels of the gates: larger values give smoother gates.
    tol : float, default 1e-3
        Relative stationarity at which to stop.
    max_iter : int, default 500
        The most steps from each start; a step solves one machine or two.
    n_init : int, default 1
        How many starts; in the first all gates are equal, the others are random.
    random_state : int, RandomState or None
        The seed of the random starts.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto": a number of folds with their share of the target's range, three by default,
        or your own folds. With groups in ``fit`` they hold out whole groups.

    Attributes
    ----------
    weights_ : array (m,), the mean of each gate over the training samples
    objective_ : float, with the ridge
    stationarity_ : float, the relative decrease of the objective that its gradient predicts, if the ridge were its only
        curvature
    kernel_names_ : array (m,)
    dual_coef_ : array (n,); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float
    converged_ : bool, whether ``stationarity_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the stationarity along the way

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import GatedMKLRegressor, kernels
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(150, 2))
    >>> y = np.where(X[:, 0] > 0, np.sin(6.0 * X[:, 1]), 0.0)
    >>> model = GatedMKLRegressor([kernels.RBF(4.0).on([1]), kernels.Linear()]).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    alpha: PositiveOrAuto = "auto"

    _method: ClassVar[Method] = gated_method(_ridge_machine, Search(names=names_of("alpha"), candidates=_ridges))
