"""Smoothed MKL: kernel weights by the softmax of their scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Protocol, cast

from multikernel._parameters import Count, Part, Verbosity
from multikernel._rules import Number
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.certificate import Certificate
from multikernel.combinations import Linear
from multikernel.domains import EntropySimplex
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import AUTO, ClassWeight, NonNegativeOrAuto, PositiveOrAuto
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.regressor import KernelRegressor
from multikernel.estimators.search import Samples, Search, names_of
from multikernel.estimators.support.method import (
    SupportMKL,
    SupportModel,
    classifier_method,
    epsilon_machine,
    regressor_method,
    tube,
)
from multikernel.machines import HingeMachine
from multikernel.observer import Observer
from multikernel.problem import Problem
from multikernel.procedures import Start, Weights, nesterov, smoothed, solved_in_own_units, support_mkl
from multikernel.procedures.forecast import Cost, hinge


class SmoothedModel(SupportModel, Protocol):
    """The parameters that the functions of this file read, in addition to those of every estimator."""

    smoothing: float


def with_entropy(model: SmoothedModel, bank: Any) -> EntropySimplex:
    """The domain of weights of sum one, with an entropy term in the objective."""
    return EntropySimplex(0.5 * model.smoothing)


# -- classes -----------------------------------------------------------------------------------------------------------


def without_intercept(model: SmoothedModel) -> HingeMachine:
    """The machine of the smoothed problem."""
    return HingeMachine(C=model.C, fit_intercept=False, tol=model.tol)


_PROBLEM = SupportMKL(with_entropy, without_intercept)
_GRADIENTS: dict[str, Any] = {"accelerated": smoothed, "nesterov": nesterov}


def _learn(model: SmoothedModel, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer) -> Learned:
    domain = with_entropy(model, bank)
    problem = Problem(bank, Linear(), without_intercept(model), domain, task.target, task.sample_weight)
    start = earlier.start if earlier else None
    return solved_in_own_units(problem, partial(_solve, model), start, observe)


def _solve(model: SmoothedModel, problem: Problem, start: Start | None, observe: Observer) -> Learned:
    """Learn the weights by the problem without an intercept, then the machine, with an intercept if requested."""
    bank, y, sample_weight = problem.bank, problem.target, problem.sample_weight
    machine, domain = cast(HingeMachine, problem.machine), cast(EntropySimplex, problem.domain)
    if model.solver in _GRADIENTS:
        upper, smoothing = machine.program(y, sample_weight).upper, 2.0 * domain.strength
        method = _GRADIENTS[model.solver]
        accelerated = method(bank, y, upper, smoothing, model.tol, model.max_iter, observe=observe)
        weights, a = cast(Weights, accelerated), accelerated.a
    else:
        weights_of_domain, dual = support_mkl(problem, model.tol, model.max_iter, start, observe)
        weights, a = _over_variables(weights_of_domain, model.tol), dual.warm
    last = replace(machine, fit_intercept=model.fit_intercept)
    gram = bank.combine(weights.values)
    return replace(weights, variables=a), last.refined(gram, last.program(y, sample_weight), a, model.tol)


def _over_variables(weights: Weights, tol: float) -> Weights:
    """The weights with the certificate of the problem over a, whose values have the opposite sign."""
    if weights.objective is None or weights.bound is None:
        return weights
    certificate = Certificate.gap(-weights.bound, -weights.objective)
    converged = certificate.reached(tol)
    return replace(
        weights, objective=-weights.bound, bound=-weights.objective, certificate=certificate, converged=converged
    )


def _cost(model: SmoothedModel, bank: BankCost, task: Task) -> Cost:
    return _PROBLEM.cost(model, bank, task) + hinge(bank)


@dataclass(eq=False, repr=False, kw_only=True)
class SMKLClassifier(BinaryClassifier):
    """Kernel weights by smoothed multiple kernel learning, then a support vector classifier on the weighted kernel.

    Solves min over 0 <= a <= C of -sum a + (s/2) log sum_k exp(a'Y K_k Y a / s), without an intercept; the weights are
    the softmax of a'Y K_k Y a / s. A support vector machine with intercept is then learned at these weights.
    ``objective_`` is the value of the smoothed problem. As s goes to 0 it becomes L1-MKL (without intercept), as s
    grows the weights become equal; s is in units of a'Y K_k Y a and is best chosen by validation.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3, normalised, and seven Gaussians, of the gamma of ``SVC()``, 1 / (p v)
        with v the variance of all entries of the p features, and of its halves down to the 64th part.
    C : float > 0 or "auto", default 1.0
        Weight of the hinge losses; "auto" takes the value of least held-out error, published as ``C_``.
    fit_intercept : bool, default True
        Whether the support vector machine at the end has an intercept; the smoothed problem has none.
    smoothing : float > 0, default 1.0
        s. The smoothed value is above the unsmoothed one by at most (s/2) log m.
    solver : {"auto", "accelerated", "nesterov"}, default "auto"
        "auto" is an interior point method over weights and support vectors together; "accelerated" Nesterov's method
        on the smoothed problem, with the step sizes found on the way; "nesterov" the published algorithm with its
        printed constants, which takes a hundred times as many steps: raise ``max_iter``. It is not sure to converge,
        since the printed step may be too long.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of C for the samples of each class, as in scikit-learn.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank, and each learns separate weights.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 1000
        Newton steps of "auto", gradient steps of the other solvers, at most.
    n_jobs : int or None, default None
        Threads over the binary problems of "ovo"; those of "ovr" run together, each pass made once for all of them.
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
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,), the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float or array (problems,), a lower bound of the optimum
    duality_gap_ : float, the largest relative gap over the problems, of the smoothed problem and of the last machine
    approximation_error_ : array (m,), where kernels are approximated: the relative Frobenius error of each kernel
        matrix, estimated on newly drawn samples
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gaps along the way of each problem

    References
    ----------
    Xu, Jin, Zhu, Lyu and King (2010), Smooth optimization for effective multiple kernel learning, AAAI 24.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from multikernel import SMKLClassifier, kernels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SMKLClassifier(kernels.per_feature(kernels.RBF(0.1)))).fit(X, y)
    >>> bool(model.score(X, y) > 0.97), round(float(model[-1].weights_.sum()), 6)
    (True, 1.0)
    """

    kernels: Any = field(default=None, kw_only=False)
    C: PositiveOrAuto = 1.0
    fit_intercept: bool = True
    smoothing: Annotated[float, Number(above=0, why="without smoothing use L1MKLClassifier")] = 1.0
    solver: Literal["auto", "accelerated", "nesterov"] = "auto"
    class_weight: ClassWeight = None
    tol: Part = 1e-4
    max_iter: Count = 1000
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = replace(classifier_method(_PROBLEM), learn=_learn, cost=_cost)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _rules(model: SmoothedModel, samples: Samples) -> dict[str, float]:
    if AUTO.accepts(model.smoothing):
        return {"smoothing": samples.spread**2 / samples.size, **tube(model, samples)}
    return tube(model, samples)


_NUMBERS = SupportMKL(with_entropy, epsilon_machine)


@dataclass(eq=False, repr=False, kw_only=True)
class SMKLRegressor(KernelRegressor):
    """Kernel weights by smoothed multiple kernel learning, together with support vector regression.

    Solves min over d >= 0, sum d = 1 of (s/2) sum_k d_k log d_k + max over b of y'b - epsilon |b|_1 - 1/2 b'K(d) b,
    |b| <= C, sum b = 0; the weights are the softmax of b'K_k b / s. Other than in SMKLClassifier the intercept belongs
    to this problem, for the size of a target says nothing of its kernels. ``objective_`` is the value of the problem.
    As s goes to 0 it becomes L1-MKL, as s grows the weights become equal.

    Parameters
    ----------
    C : float > 0 or "auto", default "auto"
        Weight of the losses, in units of the target: scale C with it. "auto" takes the value of least held-out error,
        published as ``C_``.
    epsilon : float >= 0 or "auto", default "auto"
        Half-width of the tube in which residuals cost nothing, in units of the target; "auto" is a tenth of its
        standard deviation, published as ``epsilon_``.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality sum b = 0.
    smoothing : float > 0 or "auto", default "auto"
        s, in units of b'K_k b. "auto" is the variance of the target over the mean self-value of the kernels, published
        as ``smoothing_``.
    solver : {"auto"}
        An interior point method over weights and support vectors together.
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, normalised.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 1000
        Newton steps at most.
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
    dual_coef_ : array (n,); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float
    objective_ : float, the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float, a lower bound of the optimum
    duality_gap_ : float, the relative gap of ``objective_``
    approximation_error_ : array (m,), where kernels are approximated: the relative Frobenius error of each kernel
        matrix, estimated on newly drawn samples
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gaps along the way

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from multikernel import SMKLRegressor, kernels
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SMKLRegressor(kernels.per_feature(kernels.RBF(100.0)), C=100.0, epsilon=10.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4), bool((model.weights_ > 0).all())
    (True, True)
    """

    kernels: Any = field(default=None, kw_only=False)
    C: PositiveOrAuto = "auto"
    epsilon: NonNegativeOrAuto = "auto"
    smoothing: PositiveOrAuto = "auto"
    fit_intercept: bool = True
    solver: Literal["auto"] = "auto"
    tol: Part = 1e-4
    max_iter: Count = 1000
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = replace(
        regressor_method(_NUMBERS),
        search=Search(
            names=names_of("C", "epsilon", "smoothing"),
            candidates=_NUMBERS.candidates,
            rules=_rules,
            by_rule=("epsilon", "smoothing"),
        ),
    )
