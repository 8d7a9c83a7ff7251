"""Kernel machines with two layers, the second one linear, polynomial or Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from multikernel.estimators.classifier import WeightedClassifier
from multikernel.estimators.regressor import WeightedRegressor
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.two_layers.base import TwoLayers


@dataclass(eq=False, repr=False, kw_only=True)
class TwoLayerRegressor(TwoLayers, RidgeRegressor, WeightedRegressor):
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
        linear one unless another is better by more than a standard error, and ``second_`` tells which.
    degree : int, default 2
        Of the polynomial.
    alpha : float > 0 or "auto", default "auto"
        The ridge of the second layer; "auto" takes the value of least held-out error, which ``alpha_`` tells.
    beta : float > 0, default 0.1
        The ridge of the first layer.
    fit_intercept : bool, default True
        Whether the mean of the target is taken off first and is the intercept.
    tol : float, default 1e-3
        Relative stationarity at which to stop.
    max_iter : int, default 2000
        Steps at most from each start.
    n_init : int, default 1
        How many starts; the first layer of the first is ridge regression with each kernel, that of others is random.
    random_state : int, RandomState or None
        Of the random starts.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best that it has, with a ConvergenceWarning that states the stationarity.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.
    cv : as in L1MKLRegressor

    Attributes
    ----------
    weights_ : array (m,), the part of each kernel in sum_k |g_k|^2
    alpha_ : float, as given or chosen
    second_ : str, likewise
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (t, n); f(x) = sum_i dual_coef_i k2(f1(x_i), f1(x)) + intercept_
    intercept_ : float or array (t,)
    objective_ : float, in the units above
    stationarity_ : float, the gain that the slope of the objective promises where only beta curves it, relative to it
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

    _multi_target: ClassVar[bool] = True


@dataclass(eq=False, repr=False, kw_only=True)
class TwoLayerClassifier(TwoLayers, WeightedClassifier):
    """Classification by a function of functions: one in the space of each kernel, and a second layer on their values.

    The labels are -1 and +1, the problem of ``TwoLayerRegressor`` is solved for them, and the sign decides. Of more
    than two classes each problem has two layers of its own.

    Parameters
    ----------
    kernels, second, degree, alpha, beta, tol, max_iter, n_init, random_state : as in TwoLayerRegressor
    fit_intercept : bool, default True
        Whether the labels lose their mean first, which is the intercept.
    class_weight, multiclass, probability, n_jobs, checkpoint, time_budget, verbose : as in L1MKLClassifier; weights
        multiply the squared residuals
    cv : as in L1MKLClassifier

    Attributes
    ----------
    weights_ : array (m,), or (problems, m) with more than two classes
    dual_coef_ : array (n,) or (problems, n)
    intercept_ : float or array (problems,)
    classes_ : array
    objective_ : float or array (problems,)
    alpha_, second_, kernel_names_, stationarity_, converged_, n_iter_, history_ : as in TwoLayerRegressor

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

    _squared_losses: ClassVar[bool] = True
