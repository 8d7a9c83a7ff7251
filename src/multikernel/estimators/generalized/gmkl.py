"""Generalised multiple kernel learning of classes: kernels that depend on their weights in any differentiable way."""

from __future__ import annotations

from dataclasses import dataclass

from multikernel._typing import Array
from multikernel.estimators.chosen import Samples, loss_weights
from multikernel.estimators.classifier import WeightedClassifier
from multikernel.estimators.generalized.base import GeneralizedMKL
from multikernel.estimators.parameters import PositiveOrAuto
from multikernel.machines import SquaredHingeMachine


@dataclass(eq=False, repr=False, kw_only=True)
class GMKLClassifier(GeneralizedMKL, WeightedClassifier):
    """A sum, a power of a sum or a product of kernels, its weights learned together with a support vector machine.

    Solves min over theta >= 0 of T(theta) + penalty |theta|_norm^norm, or of T(theta) over
    |theta - offset|_norm <= radius, with

        T(theta) = max over a >= 0, y'a = 0 of 2 sum a - a'(Y K(theta) Y + I / C) a,

    the value of a support vector machine with squared hinge losses (2-norm soft margin). ``objective_`` is the value of
    the whole. K(theta) is one of

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
        Weight of the squared hinge losses; "auto" takes the value of least held-out error, which ``C_`` tells.
    fit_intercept : bool, default True
        Whether there is an intercept, and with it the equality y'a = 0.
    penalty : float > 0, default 1.0
        With norm 1, features and kernels that explain too little get weight 0; the more samples there are, and the
        larger C, the less the same penalty weighs.
    norm : 1 or 2, or any number >= 1 with a radius, default 1
    radius : float >= 0 or None, default None
        A ball takes the place of the penalty. With 0 the weights are the offset.
    offset : float >= 0 or array (m,), default 0.0
        The centre of the ball. Weights of a sum are at least as large as it at the optimum.
    n_init : int, default 1
        How many starts: one at which all kernels have the same part, the others random. The best model is kept.
    tol : float, default 1e-4
        Relative duality gap, or relative stationarity, at which to stop.
    max_iter : int, default 1000
        Support vector machines solved (or Newton steps, for "linear") at most, from each start.
    random_state : int, RandomState or None
        Of the random starts.
    class_weight, multiclass, probability, n_jobs, checkpoint, time_budget, verbose : as in L1MKLClassifier
    approximation, rank : as in L1MKLClassifier
    cv : as in L1MKLClassifier

    Attributes
    ----------
    weights_ : array (m,), or (problems, m) with more than two classes
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_, k that of the weights
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,), the value at the model's weights, or more where a fit stopped early
    objective_bound_ : float or array (problems,), a value that the optimum is not below; where there is a
        ``duality_gap_``
    duality_gap_ : float, the largest relative gap of ``objective_`` over the problems; of "linear", and of
        "polynomial" in a ball of norm >= degree, where the problem is convex in powers of the weights
    stationarity_ : float, the others: what other weights could gain to first order, relative to ``objective_``; all
        weights in the ball, or with a penalty those of a sum up to that of the present ones and of the start. Only the
        loss is replaced by its tangent there: the penalty is kept exact
    converged_ : bool, whether the one of these that there is is at most ``tol``
    n_iter_ : int
    history_ : list, the gap or the stationarity along the way of each problem

    Notes
    -----
    "rbf_product" learns on distances. A bank that stands where X stands is turned into one of distances; to predict on
    rows of a bank, take those of ``bank.distances()``, since kernels alone do not tell how far a new sample is.

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

    def _regularises(self) -> tuple[str, ...]:
        return ("C",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        return loss_weights(1.0)

    def _machine(self) -> SquaredHingeMachine:
        return SquaredHingeMachine(C=self.C, fit_intercept=self.fit_intercept)
