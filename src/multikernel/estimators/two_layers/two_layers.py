"""Kernel machines with two layers, the second one linear, polynomial or Gaussian: a regressor and a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from multikernel._linalg import as_columns
from multikernel._parameters import Count, Part, Positive, Power, Seed, Starts, Verbosity
from multikernel._typing import Array
from multikernel._warnings import keeping
from multikernel._workers import time_is_up, warn_of_cut_choice
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.binding import Binding, double_precision
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import AUTO, ClassWeight, PositiveOrAuto, drawn_seed
from multikernel.estimators.posterior import Posterior, alpha_of, ridge_problem
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeModel, RidgeRegressor
from multikernel.estimators.search import (
    Samples,
    Search,
    at_candidate,
    best_candidate,
    names_of,
    roughly,
    search_folds,
    with_parameters,
)
from multikernel.estimators.targets import binary_tasks
from multikernel.estimators.two_layers.predictor import TwoLayerPosterior, TwoLayerPredictor, TwoLayerPredictors
from multikernel.kernels import KernelFamily, polynomials, rbf_grid
from multikernel.machines.ridge.centred import CentredTargets
from multikernel.observer import Observer
from multikernel.procedures.two_layers import LayerWeights, SecondLayer, two_layers

_LAYERS = ("linear", "polynomial", "gaussian")
_RIDGES = np.geomspace(1e3, 1e-4, 15)  # of a kernel whose mean self-value is 1


# -- learning ----------------------------------------------------------------------------------------------------------


def _default_kernels(model: TwoLayerModel) -> KernelFamily:
    return rbf_grid(np.logspace(-2, 0, 5)) + polynomials((1,))


def _candidates(model: TwoLayerModel, name: str, samples: Samples) -> Array:
    return _RIDGES


def _rules(model: TwoLayerModel, samples: Samples) -> dict[str, Any]:
    if AUTO.accepts(model.second):
        return _chosen_layer(model, samples)
    return {}


def _learn(model: TwoLayerModel, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer) -> Learned:
    samples = Samples(bank, task.target, task.sample_weight)
    targets = CentredTargets.of(task.target, model.fit_intercept, task.sample_weight)
    unit, size = samples.spread, samples.size
    seed = drawn_seed(model.random_state)
    scaled = bank.scaled(np.full(len(bank), 1.0 / size))
    second = SecondLayer(cast(Any, model.second), int(model.degree))
    y = targets.target / unit
    limits = (model.tol, model.max_iter, model.n_init, seed)
    with one_blas_thread(len(y)):
        weights, dual = two_layers(
            scaled, y, second, model.alpha, model.beta, *limits, observe, weight=task.sample_weight
        )
    return replace(weights, first=weights.first / size), replace(
        dual, coef=unit * dual.coef, intercept=targets.intercept
    )


# -- after fitting -----------------------------------------------------------------------------------------------------


def _predictor_of(
    model: TwoLayerModel, bank: KernelBank, fitted: Sequence[Fitted]
) -> TwoLayerPredictor | TwoLayerPredictors:
    n, reference = bank.shape[1], bank.reference()
    functions = []
    for fit in fitted:
        layers = cast(LayerWeights, fit.weights)
        first = np.zeros((n, len(bank)))
        first[fit.rows] = layers.first
        second = SecondLayer(cast(Any, _known_second(model, fit)), int(model.degree))
        coef, intercept = as_columns(fit.solution.coef).T, np.atleast_1d(fit.solution.intercept)
        functions.append(TwoLayerPredictor(reference, np.arange(n), n, first, layers.outputs, second, coef, intercept))
    if len(functions) == 1:
        return functions[0]
    return TwoLayerPredictors(tuple(functions))


def _known_second(model: TwoLayerModel, fitted: Fitted) -> str:
    return str(fitted.numbers.get("second", model.second))


def _publish(model: TwoLayerModel, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    model.predictor_ = _predictor_of(model, bank, fitted)


def _posterior(model: TwoLayerModel, bank: KernelBank, fitted: Sequence[Fitted]) -> Posterior:
    problems = tuple(ridge_problem(model, solution) for solution in fitted)
    return TwoLayerPosterior(problems, model.fit_intercept, bank.shape[0], model.predictor_)


_METHOD = Method(
    learn=_learn,
    binding=Binding(default_kernels=_default_kernels, precision=double_precision),  # roots of the kernels are taken
    search=Search(names=names_of("second", "alpha"), candidates=_candidates, rules=_rules),
    publish=_publish,
    ridge=alpha_of,
    posterior=_posterior,
)


@dataclass(eq=False, repr=False, kw_only=True)
class TwoLayerModel(RidgeModel):
    """The parameters of the regressor and of the classifier, and the layers of a fitted model."""

    kernels: Any = field(default=None, kw_only=False)
    second: Literal["auto", "linear", "polynomial", "gaussian"] = "auto"
    degree: Power = 2
    alpha: PositiveOrAuto = "auto"
    beta: Positive = 0.1
    fit_intercept: bool = True
    tol: Part = 1e-3
    max_iter: Count = 2000
    n_init: Starts = 1
    random_state: Seed = None
    verbose: Verbosity = 0

    def first_layer(self, X: Any) -> Array:
        """f1(x) = (g_1(x), .., g_m(x)) of every sample: shape (len(X), m), or (len(X), m, problems) for several.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        check_is_fitted(self)
        predictor = cast(TwoLayerPredictor | TwoLayerPredictors, self.predictor_)
        return np.concatenate([predictor.first_layer(bank) for bank in self.banks(X)])

    def kernel(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel k2(f1(x), f1(z)), shape (len(X), len(Z)); of several problems the mean.

        Parameters
        ----------
        X, Z : as for ``first_layer``; Z is X by default
        """
        outputs = self.first_layer(X)
        outputs_of_Z = outputs if Z is None else self.first_layer(Z)
        return cast(TwoLayerPredictor | TwoLayerPredictors, self.predictor_).kernel(outputs, outputs_of_Z)

    def kernel_matrix(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel, as ``kernel`` returns it.

        Parameters
        ----------
        X, Z : as for ``first_layer``; Z is X by default
        """
        return self.kernel(X, Z)


@dataclass(eq=False, repr=False, kw_only=True)
class TwoLayerRegressor(TwoLayerModel, RidgeRegressor):
    """A function of functions: one in the space of each kernel, and a second layer on their values.

    Solves

        min over g_1, .., g_m, f2 of sum_i s_i (y_i - f2(g_1(x_i), .., g_m(x_i)))^2 + alpha |f2|^2 + beta sum_k |g_k|^2,

    y the target less its mean (with an intercept) and divided by its standard deviation, s the weights of the samples,
    1 by default, which the mean and the standard deviation follow. All kernels are divided by one number, the mean of
    k_k(x_i, x_i) over samples, in proportion to s, and over kernels that are not zero: a larger kernel costs its g_k
    less. In another unit of y the predictions are the same in that unit, up to what rounding does to a descent that is
    not convex: nothing for a power of two, a thousandth of the spread with a small alpha. g_k is in the space of kernel
    k and f2 in that of a linear, polynomial or Gaussian kernel on m numbers. For a given
    first layer the second is ridge regression, solved exactly at every step; the first layer is brought to a stationary
    point. With a linear second layer the least value is that of a group Lasso, which ``RLS2Regressor`` solves with a
    duality gap. RLS2 learns a sum of kernels; here their functions can be multiplied, or compared. Several targets
    share the first layer, and the squares of all are added; their common unit is their spread together.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default Gaussians of five widths and the linear kernel, on all features, which should be standardised.
    second : {"auto", "linear", "polynomial", "gaussian"}, default "auto"
        k2(z, w) = z'w, (1 + z'w)^degree or exp(-|z - w|^2 / 2); "auto" takes the one of least held-out error, the
        linear one unless another is better by more than a standard error, and the one taken is published as
        ``second_``.
    degree : int >= 1, default 2
        Of the polynomial.
    alpha : float > 0 or "auto", default "auto"
        The ridge of the second layer; "auto" takes the value of least held-out error, published as ``alpha_``.
    beta : float > 0, default 0.1
        The ridge of the first layer.
    fit_intercept : bool, default True
        Whether the mean of the target is subtracted first and becomes the intercept.
    tol : float, default 1e-3
        Relative stationarity at which to stop.
    max_iter : int, default 2000
        Steps at most from each start.
    n_init : int, default 1
        How many starts; the first layer of the first is ridge regression with each kernel, that of others is random.
    random_state : int, RandomState or None
        The seed of the random starts.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the
        stationarity.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto": a number of folds with their share of the target's range, three by default,
        or your own folds. With groups in ``fit`` they hold out whole groups.

    Attributes
    ----------
    weights_ : array (m,), the part of each kernel in sum_k |g_k|^2
    alpha_ : float, as given or chosen
    second_ : str, as given or chosen
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k2(f1(x_i), f1(x)) + intercept_
    intercept_ : float or array (t,)
    objective_ : float, in the units above
    stationarity_ : float, the relative decrease of the objective that its gradient predicts, if beta were its only
        curvature
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``stationarity_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the stationarity along the way

    References
    ----------
    Dinuzzo (2010), Kernel machines with two layers and multiple kernel learning, arXiv:1001.2709, theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import TwoLayerRegressor, kernels
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.sin(2.0 * X[:, 0]) * X[:, 1]
    >>> family = [kernels.RBF(0.5).on([j]) for j in range(3)]
    >>> model = TwoLayerRegressor(family, second="polynomial", alpha=0.01).fit(X[:100], y[:100])
    >>> bool(model.score(X[100:], y[100:]) > 0.9), model.first_layer(X).shape
    (True, (200, 3))
    """

    _method: ClassVar[Method] = replace(_METHOD, several_targets=True)


@dataclass(eq=False, repr=False, kw_only=True)
class TwoLayerClassifier(TwoLayerModel, BinaryClassifier):
    """Classification by a function of functions: one in the space of each kernel, and a second layer on their values.

    The labels are -1 and +1, the problem of ``TwoLayerRegressor`` is solved for them, and the sign decides. With
    more than two classes each problem has two separate layers.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default Gaussians of five widths and the linear kernel, on all features, which should be standardised.
    second : {"auto", "linear", "polynomial", "gaussian"}, default "auto"
        k2(z, w) = z'w, (1 + z'w)^degree or exp(-|z - w|^2 / 2); "auto" takes the one of least held-out error, the
        linear one unless another is better by more than a standard error, and the one taken is published as
        ``second_``.
    degree : int >= 1, default 2
        Of the polynomial.
    alpha : float > 0 or "auto", default "auto"
        The ridge of the second layer; "auto" takes the value of least held-out error, published as ``alpha_``.
    beta : float > 0, default 0.1
        The ridge of the first layer.
    tol : float, default 1e-3
        Relative stationarity at which to stop.
    max_iter : int, default 2000
        Steps at most from each start.
    n_init : int, default 1
        How many starts; the first layer of the first is ridge regression with each kernel, that of others is random.
    random_state : int, RandomState or None
        The seed of the random starts.
    fit_intercept : bool, default True
        Whether the mean of the labels is subtracted first and becomes the intercept.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of the squared losses of the samples of each class, as in scikit-learn.
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
    weights_ : array (m,), or (problems, m) with more than two classes
    dual_coef_ : array (n,) or (problems, n)
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,)
    alpha_ : float, as given or chosen
    second_ : str, as given or chosen
    kernel_names_ : array (m,)
    stationarity_ : float, the relative decrease of the objective that its gradient predicts, if beta were its only
        curvature
    converged_ : bool, whether ``stationarity_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the stationarity along the way

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import TwoLayerClassifier, kernels
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = TwoLayerClassifier([kernels.Linear().on([0]), kernels.Linear().on([1])]).fit(X[:100], y[:100])
    >>> model.second_ != "linear", bool(model.score(X[100:], y[100:]) > 0.9)
    (True, True)
    """

    class_weight: ClassWeight = None

    _method: ClassVar[Method] = replace(_METHOD, tasks=binary_tasks, squared_losses=True)


# -- the choice of the second layer ------------------------------------------------------------------------------------


def _chosen_layer(model: TwoLayerModel, samples: Samples) -> dict[str, Any]:
    """The second layer that predicts held-out samples best, and its ridge, by name.

    The linear layer is the simplest. It is taken unless another layer lowers the mean held-out loss by more than the
    standard error of the mean difference of the losses, sample by sample.

    Parameters
    ----------
    model : an estimator whose ``second`` is "auto"
    samples : the training samples
    """
    learn, losses, ridges = model._method.learn, dict[str, Array](), dict[str, float]()
    for name in _LAYERS:
        candidate = with_parameters(model, second=name)
        if AUTO.accepts(candidate.alpha):
            candidate = at_candidate(candidate, "alpha", samples, best_candidate(candidate, "alpha", learn, samples))
        ridges[name] = candidate.alpha
        if time_is_up():  # there is no time to compare this layer with others
            break
        losses[name] = _losses(candidate, learn, samples)
    if time_is_up():
        warn_of_cut_choice(f"{len(losses)} of {len(_LAYERS)} second layers ({', '.join(_LAYERS)}) were compared")
    best = _plainly_best(losses) if losses else _LAYERS[0]
    return {"second": best, "alpha": ridges[best]}


@np.errstate(over="ignore", invalid="ignore")
def _plainly_best(losses: dict[str, Array]) -> str:
    """The layer of the lowest mean loss, if the loss is lower by more than a standard error; else the linear one.

    A mean that overflows is infinite.
    """
    simplest = _LAYERS[0]
    best = min(losses, key=lambda name: losses[name].mean())
    better = losses[simplest] - losses[best]
    if better.mean() <= better.std() / np.sqrt(len(better)):  # where the simplest fails, the deviation is NaN
        return simplest
    return best


def _losses(model: TwoLayerModel, learn: Any, samples: Samples) -> Array:
    """The weighted losses of held-out samples, fold by fold; infinite where a fit fails."""
    rough_model, losses = roughly(with_parameters(model, class_weight=None)), [np.zeros(1)]
    for train, test in search_folds(samples, is_classifier(model)):
        try:
            keeping(
                lambda train=train: rough_model.fit_bank(  # type: ignore[misc]
                    train.bank, train.target, (), train.weight, learn, exact=False, resampling=train.resampling
                )
            )
        except (ValueError, ArithmeticError):
            return np.full(1, np.inf)
        losses.append(test.losses(rough_model, rough_model.predictor_.values(test.bank)))
    return np.concatenate(losses)
