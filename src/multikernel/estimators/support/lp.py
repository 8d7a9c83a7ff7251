"""Lp-MKL: kernel weights in a ball of any norm, learned together with a support vector machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np

from multikernel._parameters import Count, NonNegative, NonNegativeVector, Part, Verbosity
from multikernel._rules import AnyOf, Nothing, Number
from multikernel.domains import Domain, Ellipsoid, NormBall
from multikernel.domains.ellipsoid import DefiniteMatrix
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.classifier import BinaryClassifier
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import ClassWeight, NonNegativeOrAuto, PositiveOrAuto
from multikernel.estimators.protocol import Model
from multikernel.estimators.regressor import KernelRegressor
from multikernel.estimators.support.method import (
    JointScheme,
    SupportMKL,
    classifier_method,
    epsilon_machine,
    hinge_machine,
    regressor_method,
)
from multikernel.optimizers import BlockNorm, Optimizer, ProjectedGradient

Norm = Annotated[float, Number(least=1, why="below 1 the problem is not convex")]
Shape = Annotated[Any, AnyOf((DefiniteMatrix(), Nothing()))]
Solver = Literal["auto", "block_norm", "projected_gradient"]
SOLVERS: Mapping[str, type[Optimizer]] = {"block_norm": BlockNorm, "projected_gradient": ProjectedGradient}


class LpModel(Model, Protocol):
    """The parameters that the functions of this file read, in addition to those of every estimator."""

    p: float
    offset: Any
    shape: Any
    solver: str


def in_ball(model: LpModel, bank: Any) -> Domain:
    """The domain of nonnegative weights in a ball of norm p, or in an ellipsoid."""
    if model.shape is not None:
        return Ellipsoid(model.shape, model.offset)
    return NormBall(norm=model.p, center=model.offset)


def _check(model: LpModel) -> None:
    name = type(model).__name__
    if model.shape is not None and model.p != 2:
        raise ValueError(f"{name}: shape takes the place of the ball of norm p, so leave p at 2; got p={model.p}")
    if model.solver == "block_norm" and (model.shape is not None or np.any(model.offset)):
        raise ValueError(
            f"{name}: solver='block_norm' has a formula for balls around 0 only; leave shape and offset out, or take "
            "solver='auto'"
        )


@dataclass(eq=False, repr=False, kw_only=True)
class LpMKLClassifier(BinaryClassifier):
    """Kernel weights of bounded p-norm and a support vector classifier, learned together.

    Solves min over d >= 0, |d|_p <= 1 of max over a of sum a - 1/2 a'Y K(d) Y a, 0 <= a <= C, y'a = 0, with
    K(d) = sum_k d_k K_k. p = 1 selects few kernels, larger p spread the weights over all; towards infinity every weight
    is 1. ``objective_`` is the value of this problem.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3, normalised, and seven Gaussians, of the gamma of ``SVC()``, 1 / (p v)
        with v the variance of all entries of the p features, and of its halves down to the 64th part.
    p : finite float >= 1, default 2.0
        The norm of the ball.
    shape : None, array (m, m) or (m,), default None
        A positive definite matrix S, or its diagonal: (d - offset)' S^-1 (d - offset) <= 1 replaces the ball. Entries
        off the diagonal determine which weights may be large together.
    offset : float >= 0 or array (m,), default 0.0
        The centre of the ball, |d - offset|_p <= 1, or of the ellipsoid: weights that are expected before the data are
        seen.
    C : float > 0 or "auto", default 1.0
        Weight of the hinge losses; "auto" takes the value of least held-out error, published as ``C_``.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality y'a = 0.
    solver : {"auto", "block_norm", "projected_gradient"}, default "auto"
        "auto" is an interior point method over weights and support vectors together; "block_norm" the update in closed
        form of Kloft and others, which needs a ball around 0. In an ellipsoid "auto" takes quasi-Newton steps.
    class_weight : None, "balanced" or dict from labels to weights, default None
        Factors of C for the samples of each class, as in scikit-learn.
    multiclass : {"ovr", "ovo", "crammer_singer"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank, and each learns separate weights. Or
        one problem of all classes, which share the weights and have one loss for each sample: min over d and f of
        1/2 sum_c |f_c|^2 + C sum_i max(0, 1 + max over c != y_i of f_c(x_i) - f_y(x_i)), with an intercept for each
        class. Two classes are one problem under each of the three.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 1000
        Newton steps of "auto", support vector machines of the other solvers, at most.
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
    weights_ : array (m,), or (problems, m) with more than two classes that do not share them
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,), the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float or array (problems,), a lower bound of the optimum
    duality_gap_ : float, the largest relative gap of ``objective_`` over the problems
    approximation_error_ : array (m,), where kernels are approximated: the relative Frobenius error of each kernel
        matrix, estimated on newly drawn samples
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gaps along the way of each problem

    References
    ----------
    Kloft, Brefeld, Sonnenburg and Zien (2011), Lp-norm multiple kernel learning, JMLR 12.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from multikernel import LpMKLClassifier, kernels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LpMKLClassifier(kernels.per_feature(kernels.RBF(0.1)), p=1.5)).fit(X, y)
    >>> bool(model.score(X, y) > 0.97), round(float((model[-1].weights_ ** 1.5).sum()), 4)
    (True, 1.0)
    """

    kernels: Any = field(default=None, kw_only=False)
    p: Norm = 2.0
    C: PositiveOrAuto = 1.0
    fit_intercept: bool = True
    shape: Shape = None
    offset: NonNegative | NonNegativeVector = 0.0
    solver: Solver = "auto"
    multiclass: JointScheme = "ovr"  # type: ignore[assignment]  # one value more
    class_weight: ClassWeight = None
    tol: Part = 1e-4
    max_iter: Count = 1000
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = replace(classifier_method(SupportMKL(in_ball, hinge_machine, SOLVERS)), check=_check)


@dataclass(eq=False, repr=False, kw_only=True)
class LpMKLRegressor(KernelRegressor):
    """Kernel weights of bounded p-norm and support vector regression, learned together.

    Solves min over d >= 0, |d|_p <= 1 of max over b of y'b - epsilon |b|_1 - 1/2 b'K(d) b, |b| <= C, sum b = 0.

    Parameters
    ----------
    p : finite float >= 1, default 2.0
        The norm of the ball.
    shape : None, array (m, m) or (m,), default None
        A positive definite matrix S, or its diagonal: (d - offset)' S^-1 (d - offset) <= 1 replaces the ball. Entries
        off the diagonal determine which weights may be large together.
    offset : float >= 0 or array (m,), default 0.0
        The centre of the ball, |d - offset|_p <= 1, or of the ellipsoid: weights that are expected before the data are
        seen.
    C : float > 0 or "auto", default "auto"
        Weight of the losses, in units of the target: scale C with it. "auto" takes the value of least held-out error,
        published as ``C_``.
    epsilon : float >= 0 or "auto", default "auto"
        Half-width of the tube in which residuals cost nothing, in units of the target; "auto" is a tenth of its
        standard deviation, published as ``epsilon_``.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality sum b = 0.
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, normalised.
    solver : {"auto", "block_norm", "projected_gradient"}, default "auto"
        "auto" is an interior point method over weights and support vectors together; "block_norm" the update in closed
        form of Kloft and others, which needs a ball around 0. In an ellipsoid "auto" takes quasi-Newton steps.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 1000
        Newton steps of "auto", support vector machines of the other solvers, at most.
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
    >>> from multikernel import LpMKLRegressor, kernels
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LpMKLRegressor(kernels.per_feature(kernels.RBF(100.0)), C=100.0, epsilon=10.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    kernels: Any = field(default=None, kw_only=False)
    p: Norm = 2.0
    C: PositiveOrAuto = "auto"
    epsilon: NonNegativeOrAuto = "auto"
    fit_intercept: bool = True
    shape: Shape = None
    offset: NonNegative | NonNegativeVector = 0.0
    solver: Solver = "auto"
    tol: Part = 1e-4
    max_iter: Count = 1000
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = replace(regressor_method(SupportMKL(in_ball, epsilon_machine, SOLVERS)), check=_check)
