"""Generalised multiple kernel learning: kernels that depend on their weights in any differentiable way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from multikernel._typing import Array
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.generalized.method import GeneralizedModel, generalized_method, size_in_ball
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import AUTO, ClassWeight, NonNegativeOrAuto, PositiveOrAuto
from multikernel.estimators.posterior import alpha_of
from multikernel.estimators.regressor import KernelRegressor
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.search import Samples, Search, loss_weights, names_of, ridges
from multikernel.estimators.support.method import tube
from multikernel.estimators.targets import binary_tasks
from multikernel.machines import EpsilonMachine, Machine, RidgeMachine, SquaredHingeMachine

# -- classes -----------------------------------------------------------------------------------------------------------


def _squared_hinge(model: GeneralizedModel) -> Machine:
    return SquaredHingeMachine(C=model.C, fit_intercept=model.fit_intercept)


def _for_labels(model: GeneralizedModel, name: str, samples: Samples) -> Array:
    return loss_weights(size_in_ball(model, samples))


@dataclass(eq=False, repr=False, kw_only=True)
class GMKLClassifier(GeneralizedModel, BinaryClassifier):
    """A sum, a power of a sum or a product of kernels, its weights learned together with a support vector machine.

    Solves min over theta >= 0 of T(theta) + penalty |theta|_norm^norm, or of T(theta) over
    |theta - offset|_norm <= radius, with

        T(theta) = max over a >= 0, y'a = 0 of 2 sum a - a'(Y K(theta) Y + I / C) a,

    the value of a support vector machine with squared hinge losses (2-norm soft margin). ``objective_`` is the value of
    this problem. K(theta) is one of

        "linear"       sum_k theta_k K_k
        "polynomial"   (sum_k theta_k K_k)^degree, entry by entry: all products of degree kernels
        "rbf_product"  exp(-sum_k theta_k D_k), D_k the squared distances in the feature space of kernel k
        "profile"      f(sum_k theta_k D_k), f the profile of another kernel of a distance

    A linear combination is a convex problem, solved to a certified duality gap. The others are not convex in general:
    the point found is stationary, and other starts (``n_init``) may lead to a better one.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, normalised, for
        "linear"; the constant and one linear kernel for each feature for "polynomial"; one linear kernel for each
        feature for "rbf_product", whose theta_k are then inverse widths along the features; D_k = |x_k - z_k|^q for
        each feature k for "profile". The features should be standardised: the penalty treats all weights alike.
    combination : {"linear", "polynomial", "rbf_product", "profile"}, default "linear"
    profile : None or a kernel of a distance, default None
        The profile f of "profile": Matern(nu=1.5) if None, RBF(), RationalQuadratic(), ExponentialPower(), and
        Laplacian() with q = 1 in the place of q = 2.
    degree : int >= 1, default 2, of "polynomial"
    C : float > 0 or "auto", default 1.0
        Weight of the squared hinge losses; "auto" takes the value of least held-out error, published as ``C_``.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality y'a = 0.
    penalty : float > 0, default 1.0
        With norm 1, features and kernels that explain too little get weight 0; the more samples there are, and the
        larger C, the less the same penalty weighs.
    norm : 1 or 2, or any number >= 1 with a radius, default 1
    radius : float >= 0 or None, default None
        The radius of a ball that replaces the penalty. With 0 the weights are the offset.
    offset : float >= 0 or array (m,), default 0.0
        The centre of the ball. Weights of a sum are at least as large as it at the optimum.
    n_init : int, default 1
        How many starts: at the first all kernels have equal shares, the others are random. The best model is kept.
    tol : float, default 1e-4
        Relative duality gap, or relative stationarity, at which to stop.
    max_iter : int, default 1000
        Support vector machines solved (or Newton steps, for "linear") at most, from each start.
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
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto", and those that probabilities are calibrated on: a number of folds with their
        share of each class, three and five by default, or your own folds. With groups in ``fit`` they hold out whole
        groups.

    Attributes
    ----------
    weights_ : array (m,), or (problems, m) with more than two classes
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k that of the weights
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,), the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float or array (problems,), a lower bound of the optimum; where there is a ``duality_gap_``
    duality_gap_ : float, the largest relative gap of ``objective_`` over the problems; of "linear", and of
        "polynomial" in a ball of norm >= degree, where the problem is convex in powers of the weights
    stationarity_ : float, for the other problems: the decrease of the objective that other weights promise to first
        order, relative to ``objective_``. The other weights are all weights in the ball; with a penalty, those of a sum
        up to that of the present weights and of the start. Only the loss is linearised, the penalty is exact
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``certificate_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gap or the stationarity along the way of each problem

    Notes
    -----
    "rbf_product" learns on distances. A bank that is passed as X is turned into a bank of distances. To predict on rows
    of a bank, take rows of ``bank.distances()``, since the kernels between new and training samples alone do not
    determine the distances between them.

    References
    ----------
    Varma and Babu (2009), More generality in efficient multiple kernel learning, ICML 26.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from multikernel import GMKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), GMKLClassifier(combination="rbf_product", penalty=10.0)).fit(X, y)
    >>> bool(model.score(X, y) > 0.98), bool((model[-1].weights_ > 0).sum() < 20), bool(model[-1].stationarity_ < 1e-4)
    (True, True, True)
    """

    C: PositiveOrAuto = 1.0
    fit_intercept: bool = True
    class_weight: ClassWeight = None

    _method: ClassVar[Method] = replace(
        generalized_method(_squared_hinge, Search(names=names_of("C"), candidates=_for_labels)), tasks=binary_tasks
    )


# -- numbers: the penalty may follow the unit of the target ------------------------------------------------------------


def _penalty(model: GeneralizedModel, samples: Samples) -> dict[str, float]:
    if model.radius is not None or not AUTO.accepts(model.penalty):
        return {}
    return {"penalty": samples.spread**2 * samples.size**model.norm}


def _ridge_machine(model: GeneralizedModel) -> Machine:
    return RidgeMachine(model.alpha, model.fit_intercept)


def _ridge_names(model: GeneralizedModel) -> tuple[str, ...]:
    if model.radius is None:
        return ("alpha", "penalty")
    return ("alpha",)


def _ridges(model: GeneralizedModel, name: str, samples: Samples) -> Array:
    """The candidates of alpha; with a penalty, they are multiples of sqrt(n).

    For kernels of size z, a target of spread s and K + alpha I about u I with u = theta z + alpha, the sum of the loss
    n s^2 / u and the penalty s^2 z theta is smallest at u = sqrt(n).
    """
    if model.radius is None:
        return ridges(np.sqrt(samples.weight_of_each.sum()))
    return ridges(size_in_ball(model, samples))


@dataclass(eq=False, repr=False, kw_only=True)
class GMKLRegressor(GeneralizedModel, RidgeRegressor):
    """A sum, a power of a sum or a product of kernels, its weights learned together with kernel ridge regression.

    Solves min over theta >= 0 of T(theta) + penalty |theta|_norm^norm, or of T(theta) over
    |theta - offset|_norm <= radius, with T(theta) = y'(K(theta) + alpha I)^-1 y, y less its mean where an intercept is
    fitted. T grows with the square of the target: a penalty means the same only for a target of the same scale.

    Parameters
    ----------
    alpha : float > 0 or "auto", default "auto"
        The ridge, which is added to the diagonal of the kernel; "auto" takes the value of least held-out error,
        published as ``alpha_``.
    penalty : float > 0 or "auto", default "auto"
        As in GMKLClassifier; "auto" is the variance of the target times the mean self-value of the kernels to the power
        of the norm, published as ``penalty_``. Of a sum of kernels alpha and penalty matter as one number.
    fit_intercept : bool, default True
        Whether the mean of the targets is subtracted first and becomes the intercept.
    kernels, combination, profile, degree, norm, radius, offset, n_init, tol, max_iter, random_state :
        as in GMKLClassifier
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto": a number of folds with their share of the target's range, three by default,
        or your own folds. With groups in ``fit`` they hold out whole groups.

    Attributes
    ----------
    weights_ : array (m,)
    kernel_names_ : array (m,)
    dual_coef_ : array (n,); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k that of the weights
    intercept_ : float
    objective_ : float, the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float, a lower bound of the optimum; where there is a ``duality_gap_``
    duality_gap_ : float, the relative gap of ``objective_``; of "linear", and of
        "polynomial" in a ball of norm >= degree, where the problem is convex in powers of the weights
    stationarity_ : float, for the other problems: the decrease of the objective that other weights promise to first
        order, relative to ``objective_``. The other weights are all weights in the ball; with a penalty, those of a sum
        up to that of the present weights and of the start. Only the loss is linearised, the penalty is exact
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``certificate_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gap or the stationarity along the way

    Notes
    -----
    In a ball, and for "linear" with a penalty of norm 2, certificates are relative to what the kernels explain where
    that is less than ``objective_``: its distance to the value |y|^2 / alpha without kernels (y less its mean). A
    constant target has a ``duality_gap_`` with every combination.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import GMKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> model = GMKLRegressor(combination="rbf_product", alpha=0.1).fit(X, np.sin(2.0 * X[:, 1]))
    >>> (model.weights_ > 0).astype(int)  # widths along the features: only one matters
    array([0, 1, 0, 0])
    """

    alpha: PositiveOrAuto = "auto"
    penalty: PositiveOrAuto = "auto"
    fit_intercept: bool = True

    _method: ClassVar[Method] = replace(
        generalized_method(
            _ridge_machine, Search(names=_ridge_names, candidates=_ridges, rules=_penalty, by_rule=("penalty",))
        ),
        ridge=alpha_of,
    )


def _epsilon_machine(model: GeneralizedModel) -> Machine:
    return EpsilonMachine(C=model.C, epsilon=model.epsilon, fit_intercept=model.fit_intercept)


def _support_names(model: GeneralizedModel) -> tuple[str, ...]:
    if model.radius is None:
        return ("C", "epsilon", "penalty")
    return ("C", "epsilon")


def _support_rules(model: GeneralizedModel, samples: Samples) -> dict[str, float]:
    return _penalty(model, samples) | tube(model, samples)


def _for_numbers(model: GeneralizedModel, name: str, samples: Samples) -> Array:
    return loss_weights(size_in_ball(model, samples), samples.spread)


@dataclass(eq=False, repr=False, kw_only=True)
class GMKLSupportRegressor(GeneralizedModel, KernelRegressor):
    """A sum, a power of a sum or a product of kernels, its weights learned together with support vector regression.

    Solves min over theta >= 0 of T(theta) + penalty |theta|_norm^norm, or of T(theta) over
    |theta - offset|_norm <= radius, with

        T(theta) = max over b of y'b - epsilon |b|_1 - 1/2 b'K(theta) b, |b| <= C, sum b = 0,

    the value of support vector regression. Residuals count by their size, not by its square, so that a few wild targets
    do not decide; those up to epsilon cost nothing, and only samples beyond it are in the predictor.

    Parameters
    ----------
    C : float > 0 or "auto", default "auto"
        Weight of the losses, in units of the target: scale C with it. "auto" takes the value of least held-out error,
        published as ``C_``.
    epsilon : float >= 0 or "auto", default "auto"
        Half-width of the tube in which residuals cost nothing, in units of the target; "auto" is a tenth of its
        standard deviation, published as ``epsilon_``.
    penalty : float > 0 or "auto", default "auto"
        As in GMKLRegressor.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality sum b = 0.
    kernels, combination, profile, degree, norm, radius, offset, n_init, tol, max_iter, random_state :
        as in GMKLClassifier
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto": a number of folds with their share of the target's range, three by default,
        or your own folds. With groups in ``fit`` they hold out whole groups.

    Attributes
    ----------
    weights_ : array (m,)
    kernel_names_ : array (m,)
    dual_coef_ : array (n,); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k that of the weights
    intercept_ : float
    objective_ : float, the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float, a lower bound of the optimum; where there is a ``duality_gap_``
    duality_gap_ : float, the relative gap of ``objective_``; of "linear", and of
        "polynomial" in a ball of norm >= degree, where the problem is convex in powers of the weights
    stationarity_ : float, for the other problems: the decrease of the objective that other weights promise to first
        order, relative to ``objective_``. The other weights are all weights in the ball; with a penalty, those of a sum
        up to that of the present weights and of the start. Only the loss is linearised, the penalty is exact
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``certificate_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gap or the stationarity along the way

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import GMKLSupportRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> y = np.sin(2.0 * X[:, 1])
    >>> y[::20] += 50.0  # five wild targets
    >>> model = GMKLSupportRegressor(combination="rbf_product", C=1.0, epsilon=0.1, penalty=1.0).fit(X, y)
    >>> (model.weights_ > 0.01).astype(int)  # widths along the features: only one matters
    array([0, 1, 0, 0])
    """

    C: PositiveOrAuto = "auto"
    epsilon: NonNegativeOrAuto = "auto"
    penalty: PositiveOrAuto = "auto"
    fit_intercept: bool = True

    _method: ClassVar[Method] = generalized_method(
        _epsilon_machine,
        Search(names=_support_names, candidates=_for_numbers, rules=_support_rules, by_rule=("epsilon", "penalty")),
    )
