"""Multiple-kernel ridge regression whose weights and ridge minimise the cross-validated error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.utils import check_random_state

from multikernel._linalg import as_columns
from multikernel._parameters import Count, Part, Seed, Starts, Threads, Verbosity
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.low_rank import LowRankBank
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.binding import Binding, double_precision
from multikernel.estimators.fit import fit_model
from multikernel.estimators.method import Method, of_no_size
from multikernel.estimators.parameters import CrossValidation
from multikernel.estimators.protocol import Fitted, Learned, Learner, Task
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.streamed.estimator import LearnsFromSums
from multikernel.estimators.streamed.streaming import SampleTask, Streaming
from multikernel.estimators.targets import one_for_all_targets
from multikernel.kernels import KernelFamily, polynomials, rbf_grid
from multikernel.machines import RidgeMachine
from multikernel.observer import Observer
from multikernel.procedures.forecast import Cost, ridge
from multikernel.procedures.forecast import ridge_cv as ridge_cv_cost
from multikernel.procedures.ridge_cv import (
    Criterion,
    ErrorInFeatures,
    Evidence,
    Folds,
    HeldOutError,
    RidgeCVWeights,
    held_out_error,
    least_error,
)
from multikernel.procedures.units import MachineUnits, kernel_size, spread
from multikernel.statistics import Moments
from multikernel.tuning import FOLD_FACTORS_KEPT

# -- tasks -------------------------------------------------------------------------------------------------------------


def _tasks(model: Any, target: Array, sample_weight: Array | None) -> list[Task]:
    together = target.ndim == 1 or model.shared_weights
    return [Task(np.arange(len(target)), each) for each in ([target] if together else target.T)]


def _folds(model: Any, task: Task) -> Folds:
    """As the user gives them; a number is one of consecutive samples, or of whole groups."""
    n, known = len(task.target), task.resampling
    if known.groups is None or known.given is not None:
        return Folds.of(model.cv if known.given is None else known.given, n, task.target)
    count = n if isinstance(model.cv, str) else int(model.cv)
    folds = known.drawn(np.zeros(n, dtype=int), count, np.random.default_rng(0))
    return Folds(folds, int(folds.max()) + 1)


# -- learning ----------------------------------------------------------------------------------------------------------


def _seed(model: Any) -> int:
    return int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))


def _prepare(model: Any, bank: KernelBank, target: Array, X: Any, given: dict[str, Any]) -> Learner:
    """The seed is drawn once for all targets."""
    n = bank.shape[0]
    if isinstance(model.cv, int | np.integer) and model.cv > n:
        raise ValueError(
            f"{type(model).__name__}: cv must be at most {n}, the number of samples, got {abbreviated(model.cv)}"
        )
    return partial(_learn, seed=_seed(model))


def _cost(model: Any, bank: BankCost, task: Task) -> Cost:
    folds = int(model.cv) if isinstance(model.cv, int | np.integer) else bank.n
    return model.n_init * ridge_cv_cost(bank, folds) + ridge(bank)


def _learn(model: Any, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer, seed: int = 0) -> Learned:
    """One set of weights, for a target (n,) or for several that share it, and the machine on all samples."""
    size, unit = kernel_size(bank), spread(task.target)
    bank, target = bank.scaled(np.full(len(bank), 1.0 / size)), task.target / unit
    with one_blas_thread(len(target)):
        Y = as_columns(target)
        held_out = held_out_error(bank, Y, _folds(model, task), model.fit_intercept)
        error: Criterion = held_out
        if model.criterion == "evidence":
            error = Evidence.of(bank, Y, model.fit_intercept)
        weights = least_error(error, held_out, model.tol, model.max_iter, model.n_init, seed, observe)
        machine = RidgeMachine(weights.alpha, model.fit_intercept)
        if isinstance(held_out, ErrorInFeatures):
            gram = held_out.gram(weights.values)
        else:
            gram = bank.combine(weights.values)
        solution = machine.solve(gram, target)
    return weights.in_units(size, unit), MachineUnits(machine, size, unit, coef=unit / size).solution(solution)


# -- from sums over samples --------------------------------------------------------------------------------------------


def _folds_of_rows(model: Any) -> int:
    return int(cast(int, model.cv))


def _kept_factors(model: Any, q: int) -> float:
    return 2.0 * min(FOLD_FACTORS_KEPT, 8.0 * _folds_of_rows(model) * q * q)


def _check_sums(model: Any) -> None:
    if model.criterion != "held_out":
        raise ValueError(
            f"{type(model).__name__} learns from sums over the rows by held-out error: use criterion='held_out'"
        )


def _learn_sums(
    model: Any,
    bank: LowRankBank,
    task: Task,
    held: tuple[Moments, ...],
    sample: SampleTask,
    warm: Fitted | None,
    observe: Observer,
) -> Learned:
    """Held-out errors from the sums of each fold; the targets are less their mean where there is an intercept."""
    full = [each for each in held if each.count > 0.0]
    if len(full) < 2:
        raise ValueError(f"{type(model).__name__}: all rows are in one fold, since they are equal: give more rows")
    count, unit = sum(each.count for each in full), spread(task.target)
    size = float(bank.traces().sum()) / (count * len(bank)) or 1.0
    scaled = bank.scaled(np.full(len(bank), 1.0 / size))
    every = np.arange(held[0].products.shape[1])
    few, own, labels = sample
    places = np.unique(labels, return_inverse=True)[1]
    part = HeldOutError.of(
        few.scaled(np.full(len(bank), 1.0 / size)),
        as_columns(own.target) / unit,
        Folds(places, len(np.unique(labels))),
    )
    sums = tuple(each.of_targets(every, unit) for each in full)
    error = ErrorInFeatures.of_sums(scaled, as_columns(task.target), sums, True, part)
    with one_blas_thread(len(task.target)):
        weights = least_error(error, error, model.tol, model.max_iter, model.n_init, _seed(model), observe)
        machine = RidgeMachine(weights.alpha, False)
        solution = machine.solve(scaled.combine(weights.values), task.target / unit)
    return weights.in_units(size, unit), MachineUnits(machine, size, unit, coef=unit / size).solution(solution)


# -- the estimator -----------------------------------------------------------------------------------------------------


def _ridge(model: Any, fitted: Fitted) -> float:
    return cast(RidgeCVWeights, fitted.weights).alpha


def _publish(model: Any, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    found = [cast(RidgeCVWeights, f.weights) for f in fitted]
    errors = np.concatenate([weights.errors for weights in found])
    if single:
        model.alpha_ = found[0].alpha
    else:
        model.alpha_ = np.array([weights.alpha for weights in found])
    if len(errors) == 1 and model.dual_coef_.ndim == 1:
        model.cv_loss_ = float(errors[0])
    else:
        model.cv_loss_ = errors


def _default_kernels(model: Any) -> KernelFamily:
    return polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))


@dataclass(eq=False, repr=False, kw_only=True)
class MultipleKernelRidgeCV(LearnsFromSums, RidgeRegressor):
    """Kernel ridge regression with the kernel weights and the ridge of least held-out squared error, or most evidence.

    Solves

        min over w >= 0, alpha > 0 of (1 / n) sum_i (y_i - f_i(x_i))^2,

    f_i kernel ridge regression with kernel sum_k w_k k and ridge alpha, trained on the samples outside the fold that
    holds out sample i. The error of all folds and its derivatives follow from one matrix inverse on all samples, so
    weights are found by Gauss-Newton steps with w >= 0, many of them zero at the end. The problem is not convex: the
    point found is stationary, and never worse than equal weights with the best of their ridges a decade apart; more
    starts (``n_init``) may lead to a better one. The model is then trained on all samples.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, which should be
        standardised.
    cv : int, splitter, iterable of (train, test) pairs, or "loo"; default 5
        Folds that hold out each sample exactly once; the others are the training samples. "loo" leaves one out. An
        int takes consecutive samples, as KFold does: give ``KFold(5, shuffle=True)`` where their order means something.
    criterion : {"held_out", "evidence"}, default "held_out"
        What weights and ridge are chosen by: the held-out error, or the density of all targets, less their mean, under
        a Gaussian process with this kernel and noise, largest over its scale. Evidence needs no folds, and its noise
        variance is the better estimate; held-out error asks for predictions alone. Each has a model of its steps, and
        zero weights.
    fit_intercept : bool, default True
        Whether the mean of the training targets is taken off first and is the intercept.
    shared_weights : bool, default False
        With targets of shape (n, t): one set of weights and one ridge of least summed error, instead of one for each.
    tol : float, default 1e-4
        Relative stationarity to reach. Steps also end where ten of them together gained less than a hundredth of that:
        the model has not converged then, and a ConvergenceWarning says so.
    max_iter : int, default 500
        Gauss-Newton steps at most from each start.
    n_init : int, default 1
        How many starts: equal weights (or equal traces, the better of the two) with the best ridge for them, the same
        with a ridge a hundred times smaller, then random multiples of the first. They are compared after a few steps.
    random_state : int, RandomState or None
        Of the random starts.
    n_jobs : int or None
        Threads over targets with weights of their own.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best that it has, with a ConvergenceWarning that states the gap. The step
        under way is ended first.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.
    approximation, rank : as in L1MKLClassifier

    Attributes
    ----------
    weights_ : array (m,), with sum 1; (t, m) for t targets with weights of their own. All zero where no kernel is of
        use on held-out samples: the predictor is then constant.
    alpha_ : float, or array (t,): the ridge for these weights. Only the ratio of weights and ridge matters.
    cv_loss_ : float, or array (t,): the mean squared error on the held-out samples, for either criterion
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k that of the weights
    intercept_ : float or array (t,)
    objective_ : what was minimised: ``cv_loss_``, or its sum over targets that share weights; with the evidence
        (prod_t z_t'S^-1 z_t / n)^(1/t) det(S)^(1/n), S = sum_k w_k K_k / alpha + I and z_t targets less their means
    stationarity_ : float, what the Gauss-Newton model of the objective still promises, relative to it, or to a
        hundredth of its value for a constant predictor where this is more; zero at a point that satisfies the
        first-order conditions. The largest over the targets.
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``stationarity_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the stationarity along the way for each problem

    Notes
    -----
    A step costs one n x n inverse, a pass over the kernels with a column for each fold (ten where there are more) and
    a least-squares problem of order m, or of as many residuals where these are fewer. Centred kernels are centred once,
    on all samples.

    References
    ----------
    Allen (1974), The relationship between variable selection and data augmentation and a method for prediction,
    Technometrics 16, for the held-out residuals.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from multikernel import MultipleKernelRidgeCV, kernels
    >>> X, y = make_friedman1(150, 6, random_state=0)
    >>> family = [kernels.RBF(gamma).on([j]) for j in range(6) for gamma in (0.3, 3.0)]
    >>> model = MultipleKernelRidgeCV(family).fit(X[:100], y[:100])
    >>> bool(model.score(X[100:], y[100:]) > 0.8), bool((model.weights_ == 0).any())
    (True, True)
    """

    kernels: Any = field(default=None, kw_only=False)
    cv: CrossValidation | Literal["loo"] = 5
    criterion: Literal["held_out", "evidence"] = "held_out"
    fit_intercept: bool = True
    shared_weights: bool = False
    tol: Part = 1e-4
    max_iter: Count = 500
    n_init: Starts = 1
    random_state: Seed = None
    n_jobs: Threads = None
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = Method(
        learn=_learn,
        prepare=_prepare,
        cost=_cost,
        binding=Binding(default_kernels=_default_kernels, precision=double_precision),
        tasks=_tasks,
        single=one_for_all_targets,
        publish=_publish,
        ridge=_ridge,
        streaming=Streaming(learn=_learn_sums, folds=_folds_of_rows, kept_factors=_kept_factors, check=_check_sums),
        sizes=of_no_size,
        several_targets=True,
        own_folds=True,
    )

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:  # type: ignore[override]
        """Learn the kernel weights and the regression function.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : real targets of shape (n,); of shape (n, t) where the estimator learns several targets
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, groups=groups)
