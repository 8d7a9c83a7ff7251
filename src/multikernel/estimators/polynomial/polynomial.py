"""Polynomial combinations of kernels, learned with kernel ridge regression: a regressor and a classifier."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from multikernel._parameters import (
    Count,
    NonNegative,
    NonNegativeVector,
    Part,
    Positive,
    Power,
    Seed,
    Starts,
    Verbosity,
)
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import NONE, BankCost
from multikernel.combinations import Combination, HadamardPower, TiedAndFree
from multikernel.combinations.listed_products import Products
from multikernel.domains import Domain, NormBall, Orthant, Product, as_separable
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.binding import Binding
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, PositiveOrAuto
from multikernel.estimators.posterior import alpha_of
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeModel, RidgeRegressor
from multikernel.estimators.schedule import one_matrix
from multikernel.estimators.search import Samples, Search, combined_size, names_of, ridges
from multikernel.estimators.streamed.estimator import LearnsFromSums
from multikernel.estimators.streamed.streaming import Streaming
from multikernel.estimators.targets import binary_or_shared_tasks
from multikernel.kernels import KernelFamily, homogeneous_polynomials, linear_features
from multikernel.machines import RidgeMachine
from multikernel.observer import Observer
from multikernel.problem import Problem
from multikernel.procedures import Start, solved_in_own_units
from multikernel.procedures.forecast import Cost, ridge, support
from multikernel.procedures.forecast import polynomial as polynomial_cost
from multikernel.procedures.polynomial import polynomial_mkl

# -- parameters --------------------------------------------------------------------------------------------------------


def _combination(model: PolynomialModel) -> Combination:
    free = tuple(tuple(product) for product in model.free)
    if model.tied is not None:
        return TiedAndFree(tuple(tuple(product) for product in model.tied), free)
    if free:
        return TiedAndFree(model.degree, free)
    return HadamardPower(model.degree)


def _domain(model: PolynomialModel, size: int) -> Domain:
    """The domain of ``size`` weights; those of free products may have a separate ball."""
    if model.penalty is not None:
        return Orthant(model.penalty, 2)
    m = size - len(model.free)
    if model.free_radius is None or not model.free or m < 1:
        return NormBall(model.norm, model.radius, model.offset)
    first = last = model.offset
    if np.ndim(model.offset):
        first, last = np.split(np.asarray(model.offset), [m])
    balls = NormBall(model.norm, model.radius, first), NormBall(model.norm, model.free_radius, last)
    return Product(balls, (m, len(model.free)))


def _check(model: PolynomialModel) -> None:
    try:
        _combination(model)
    except ValueError as error:
        raise ValueError(f"{type(model).__name__}: {error}") from None
    _domain(model, 0)
    largest = float(np.max(model.offset))
    lost = model.radius > 0 and largest + model.radius == largest
    if model.degree == 1 and model.penalty is None and lost:
        raise ValueError(
            f"{type(model).__name__}: a radius of {model.radius:g} is lost in the rounding of an offset of "
            f"{largest:g}: give a smaller offset, or a larger radius"
        )


def _candidates(model: PolynomialModel, name: str, samples: Samples) -> Array:
    combination = _combination(model)
    return ridges(combined_size(combination, _domain(model, combination.n_parameters(samples.bank)), samples))


def _default_kernels(model: PolynomialModel) -> KernelFamily:
    return homogeneous_polynomials(0, normalize=False) + linear_features()


# -- learning ----------------------------------------------------------------------------------------------------------


def _cost(model: PolynomialModel, bank: BankCost, task: Task) -> Cost:
    if model.solver not in ("auto", "trust_region") or model.free or model.tied is not None:
        return one_matrix(model, bank, task)
    ball = as_separable(_domain(model, bank.m))
    few_features = bank.features is not None and 2 * bank.features <= bank.n
    if model.degree == 1 and task.target.ndim == 1 and ball is not None and not few_features:
        # The alternation factorises about five machines: with squared losses every sample is a support vector.
        return support(bank, ball, model.tol) + 5.0 * ridge(replace(bank, sweep=NONE))
    return model.n_init * polynomial_cost(bank, model.degree)


def _learn(model: PolynomialModel, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer) -> Learned:
    machine = RidgeMachine(model.alpha, model.fit_intercept)
    combination = _combination(model)
    domain = _domain(model, combination.n_parameters(bank))
    problem = Problem(bank, combination, machine, domain, task.target, task.sample_weight)
    start = earlier.start if earlier else None
    return solved_in_own_units(problem, partial(_solve, model), start, observe)


def _solve(model: PolynomialModel, problem: Problem, start: Start | None, observe: Observer) -> Learned:
    """Solve the problem in its own units."""
    return polynomial_mkl(
        problem,
        solver=model.solver,
        tol=model.tol,
        max_iter=model.max_iter,
        n_init=model.n_init,
        rng=check_random_state(model.random_state),
        start=start,
        observe=observe,
    )


def _check_sums(model: PolynomialModel) -> None:
    if model.degree != 1 or model.tied is not None or model.free:
        raise ValueError(
            f"{type(model).__name__} learns from sums over the rows where kernels are added: use degree=1 and no "
            f"tied or free products, got degree={model.degree}"
        )


def _finished(model: PolynomialModel, bank: KernelBank, weight: Array | None) -> KernelBank:
    """The bank of the kernels, unchanged; the names of free products are added to those of the kernels."""
    size = _combination(model).n_parameters(bank)  # raises ValueError for products of kernels that do not exist
    if size > len(bank):
        names = model.kernel_names_
        products = [" * ".join(str(names[k]) for k in product) for product in model.free]
        model.kernel_names_ = np.array([*names, *products], dtype=object)
    return bank


_METHOD = Method(
    learn=_learn,
    cost=_cost,
    binding=Binding(default_kernels=_default_kernels, finished=_finished),
    search=Search(names=names_of("alpha"), candidates=_candidates),
    combination=_combination,
    check=_check,
    ridge=alpha_of,
    streaming=Streaming(check=_check_sums),
)


@dataclass(eq=False, repr=False, kw_only=True)
class PolynomialModel(LearnsFromSums, RidgeModel):
    """The parameters of the regressor and of the classifier."""

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    degree: Power = 2
    norm: Annotated[float, Number(least=1)] = 2
    radius: NonNegative = 1.0
    offset: NonNegative | NonNegativeVector = 1.0
    penalty: Positive | None = None
    solver: Literal["auto", "projected_gradient", "interpolated", "trust_region", "branch_and_bound"] = "auto"
    tied: Products | None = None
    free: Products = ()
    free_radius: NonNegative | None = None
    fit_intercept: bool = True
    n_init: Starts = 1
    tol: Part = 1e-4
    max_iter: Count = 1000
    random_state: Seed = None
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _bank_parameters: ClassVar[tuple[str, ...]] = (*RidgeModel._bank_parameters, "tied", "free")


@dataclass(eq=False, repr=False, kw_only=True)
class PolynomialMKLRegressor(PolynomialModel, RidgeRegressor):
    """Kernel ridge regression on a power of a weighted sum of kernels, the weights learned with it.

    Solves

        min  y'(K(theta) + alpha I)^-1 y,        K(theta) = (sum_k theta_k K_k)^degree, entry by entry,

    over weights theta >= 0 in the ball |theta - offset|_norm <= radius, or everywhere with the penalty
    ``penalty`` |theta|_2^2 added. y is taken less its mean where an intercept is fitted. K(theta) holds all products of
    ``degree`` kernels: with the constant and one linear kernel for each feature, the default, all monomials of the
    features up to that degree. With several targets the value is the sum of theirs, and they share the weights.

    The problem is not convex in theta for degrees above 1, yet it is in theta^degree for a norm of at least the degree,
    and for degree 2 with the penalty: the solution is then optimal up to ``duality_gap_``. So are the solutions for
    degree 1. Otherwise the solution is stationary, and other starts (``n_init``) may lead to a better one;
    ``solver="branch_and_bound"`` proves the optimum of few weights.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default the constant and one linear kernel for each feature. The features should have comparable scales.
        ``kernels.linear_features()`` alone leaves out the lower degrees, and costs less where there are far fewer
        features than samples: all is then done with their monomials.
    alpha : float > 0 or "auto", default "auto"
        The ridge, which is added to the diagonal of the kernel; "auto" takes the value of least held-out error.
        Multiplying alpha by c^degree, and radius and offset by c, does not change the predictor: it is enough to search
        one of them.
    degree : int >= 1, default 2
    norm : float >= 1, default 2
    radius : float >= 0, default 1.0
        With 0 the weights are the offset.
    offset : float >= 0 or array (m,), default 1.0
        The centre of the ball: 1 is the uniform combination. The best weights are nowhere below it.
    penalty : float > 0 or None, default None
        Replaces the ball; norm, radius and offset then have no meaning. For degree 2, all weights are zero from some
        strength on, which a warning states.
    solver : {"auto", "projected_gradient", "interpolated", "trust_region", "branch_and_bound"}, default "auto"
        "auto" is what is fastest: for degree 1 an interior point method or, of few features, one of those below; else a
        trust region method on the sphere for the 2-norm and up to 50 kernels, and quasi-Newton otherwise. Those by name
        are the published ones: "interpolated" for degree 1 and a norm above 1, "trust_region" for the 2-norm.
        "branch_and_bound" proves the optimum of up to 8 weights in a ball where the problem is not convex, which takes
        8 to 40 ridge regressions for 2 weights and 25 to 400 for 3 and 4, where "auto" takes 3 to 10: in all 7 to 70
        and 20 to 1000 times the time of "auto", which for that reason does not go on to it.
    tied : tuples of kernel numbers or None, default None
        Replaces ``degree``: K(theta) is the sum of the products of these kernels, each with the product of their
        weights, so that ((0,), (0, 1), (2, 2)) is theta_0 K_0 + theta_0 theta_1 K_0 o K_1 + theta_2^2 K_2 o K_2.
    free : tuples of kernel numbers, default ()
        Entrywise products of kernels with separate weights: ((0, 1), (2, 2, 3)) adds theta_m K_0 o K_1 and
        theta_{m+1} K_2 o K_2 o K_3 to the power. Their weights follow those of the m kernels, in the same ball.
    free_radius : float >= 0 or None, default None
        The weights of the free products are in a separate ball, of this radius and of the same norm and offset.
    fit_intercept : bool, default True
        Whether the mean of the targets is subtracted first and becomes the intercept.
    n_init : int, default 1
        How many starts where the problem is not convex: the central weights, the solution for the next lower degree,
        points near single kernels, and random points.
    tol : float, default 1e-4
        Relative duality gap, or relative stationarity, at which to stop.
    max_iter : int, default 1000
        Ridge regressions solved at most, from each start.
    random_state : int, RandomState or None
        The seed of the random starts.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.
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
    alpha_ : float, as given or chosen
    weights_ : array (m,), followed by those of the free products
    kernel_names_ : array (m,), and the names of free products behind them
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k that of the weights
    intercept_ : float or array (t,)
    objective_ : float, the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float, a lower bound of the optimum; where there is a ``duality_gap_``
    duality_gap_ : float, ``objective_ - objective_bound_`` where the problem is convex in theta or in theta^degree,
        relative to ``objective_``; of a ball, and with a penalty for degree 1, relative to what the kernels explain
        where that is less: the distance of ``objective_`` to its value |y|^2 / alpha without kernels (y less its mean)
    stationarity_ : float, in other cases: the decrease of the objective that other weights promise to first order,
        relative to the same value
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``certificate_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gap or the stationarity along the way

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2009), Learning non-linear combinations of kernels, NIPS 22.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PolynomialMKLRegressor, kernels
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> model = PolynomialMKLRegressor(kernels.linear_features(), offset=0.0).fit(X, X[:, 0] * X[:, 1])
    >>> (model.weights_ > 0.5).tolist()  # the product of features 0 and 1 explains the target
    [True, True, False, False]
    >>> bool(model.duality_gap_ < 1e-4), bool(model.score(X, X[:, 0] * X[:, 1]) > 0.99)
    (True, True)
    """

    _method: ClassVar[Method] = replace(_METHOD, several_targets=True)


@dataclass(eq=False, repr=False, kw_only=True)
class PolynomialMKLClassifier(PolynomialModel, BinaryClassifier):
    """Classification by regression on a power of a weighted sum of kernels, the weights learned with it.

    The labels are -1 and +1, kernel ridge regression is fitted to them, and the sign decides. Everything else is as in
    ``PolynomialMKLRegressor``; with more than two classes each problem has separate weights, or all share them.

    Parameters
    ----------
    kernels, alpha, degree, norm, radius, offset, penalty, solver, tied, free, free_radius, n_init, tol, max_iter :
        as in PolynomialMKLRegressor
    random_state : int, RandomState or None
        The seed of the random starts.
    fit_intercept : bool, default True
        Whether the mean of the labels is subtracted first and becomes the intercept.
    multiclass : {"ovr", "ovo", "shared"}, default "ovr"
        One problem for each class or for each pair, each with separate weights; or one problem of all classes, with a
        column of labels for each, in which classes share the weights as several targets do. With many classes this is
        much faster.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of the squared losses of the samples of each class, as in scikit-learn.
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
    weights_ : array (m,), or (problems, m) with more than two classes that do not share them
    dual_coef_ : array (n,) or (problems, n)
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,)
    duality_gap_ or stationarity_ : float, the largest over the problems
    kernel_names_ : array (m,), and the names of free products behind them
    converged_ : bool, whether ``certificate_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gap or the stationarity along the way

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PolynomialMKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = PolynomialMKLClassifier(offset=0.0).fit(X, y)
    >>> bool((model.weights_[1:3] > 0.6).all()), bool(model.score(X, y) > 0.9)
    (True, True)
    """

    multiclass: Literal["ovr", "ovo", "shared"] = "ovr"  # type: ignore[assignment]  # one value more
    class_weight: ClassWeight = None

    _method: ClassVar[Method] = replace(_METHOD, tasks=binary_or_shared_tasks, squared_losses=True)
