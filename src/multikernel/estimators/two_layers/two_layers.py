"""A kernel machine with two layers, the second one linear, polynomial or Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from multikernel._parameters import Count, Part, Positive, Power, Seed, Starts, Verbosity
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.chosen import Samples
from multikernel.estimators.parameters import PositiveOrAuto
from multikernel.estimators.posterior import Posterior
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeRegressor
from multikernel.estimators.two_layers.predictor import TwoLayerPosterior, TwoLayerPredictor
from multikernel.kernels import KernelFamily, polynomials, rbf_grid
from multikernel.observer import Observer
from multikernel.procedures.two_layers import LayerWeights, SecondLayer, two_layers
from multikernel.procedures.units import kernel_size, spread

_RIDGES = np.geomspace(10.0, 1e-4, 11)


@dataclass(eq=False, repr=False, kw_only=True)
class TwoLayerRegressor(RidgeRegressor):
    """A function of functions: one in the space of each kernel, and a second layer on their values.

    Solves, for a target y with mean 0 and standard deviation 1 and kernels of mean self-value 1,

        min over g_1, .., g_m, f2 of |y - f2(g_1(X), .., g_m(X))|^2 + alpha |f2|^2 + beta sum_k |g_k|^2,

    g_k in the space of kernel k and f2 in that of a linear, polynomial or Gaussian kernel on m numbers. For a given
    first layer the second is ridge regression, solved exactly at every step; the first layer is brought to a stationary
    point. With a linear second layer the least value is that of a group Lasso, which ``RLS2Regressor`` solves with a
    duality gap. RLS2 learns a sum of kernels; here their functions can be multiplied, or compared.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default Gaussians of five widths and the linear kernel, on all features, which should be standardised.
    second : {"gaussian", "polynomial", "linear"}, default "gaussian"
        k2(z, w) = exp(-|z - w|^2 / 2), (1 + z'w)^degree or z'w.
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
        1 prints the certificate and the time left twice a second, 2 after every step.

    Attributes
    ----------
    weights_ : array (m,), the part of each kernel in sum_k |g_k|^2
    alpha_ : float, as given or chosen
    kernel_names_ : array (m,)
    dual_coef_ : array (n,); f(x) = sum_i dual_coef_i k2(f1(x_i), f1(x)) + intercept_
    intercept_ : float
    objective_ : float, in the units above
    stationarity_ : float, the gain that the slope of the objective promises where only beta curves it, relative to it
    converged_ : bool
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

    kernels: Any = field(default=None, kw_only=False)
    second: Literal["gaussian", "polynomial", "linear"] = "gaussian"
    degree: Power = 2
    alpha: PositiveOrAuto = "auto"
    beta: Positive = 0.1
    fit_intercept: bool = True
    tol: Part = 1e-3
    max_iter: Count = 2000
    n_init: Starts = 1
    random_state: Seed = None
    verbose: Verbosity = 0

    def _default_kernels(self) -> KernelFamily:
        return rbf_grid(np.logspace(-2, 0, 5)) + polynomials((1,))

    def _regularises(self) -> tuple[str, ...]:
        return ("alpha",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        return _RIDGES

    def _precision(self, m: int, n: int) -> Any:
        """Double: the roots of the kernels are taken."""
        return np.float64

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        mean = float(task.target.mean()) if self.fit_intercept else 0.0
        unit, size = spread(task.target), kernel_size(bank)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        scaled = bank.scaled(np.full(len(bank), 1.0 / size))
        second = SecondLayer(self.second, int(self.degree))
        y, limits = (task.target - mean) / unit, (self.tol, self.max_iter, self.n_init, seed)
        with one_blas_thread(len(y)):
            weights, dual = two_layers(scaled, y, second, self.alpha, self.beta, *limits, observe)
        return replace(weights, first=weights.first / size), replace(dual, coef=unit * dual.coef, intercept=mean)

    def _predictor_of(self, bank: KernelBank, fitted: Sequence[Fitted]) -> TwoLayerPredictor:
        found, n = cast(LayerWeights, fitted[0].weights), bank.shape[1]
        return TwoLayerPredictor(
            bank.reference(),
            np.arange(n),
            n,
            found.first,
            found.outputs,
            SecondLayer(self.second, int(self.degree)),
            np.atleast_2d(self.dual_coef_),
            np.atleast_1d(self.intercept_),
        )

    def _posterior_of(self, bank: KernelBank, fitted: Sequence[Fitted]) -> Posterior:
        predictor = self.predictor_ = self._predictor_of(bank, fitted)
        return TwoLayerPosterior((self._posed(fitted[0]),), self.fit_intercept, bank.shape[0], predictor)

    # -- both layers ---------------------------------------------------------------------------------------------------

    def first_layer(self, X: Any) -> Array:
        """f1(x) = (g_1(x), .., g_m(x)) of every sample, shape (len(X), m).

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        check_is_fitted(self)
        predictor = cast(TwoLayerPredictor, self.predictor_)
        return np.concatenate([predictor.first_layer(bank) for bank in self.banks(X)])

    def kernel(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel k2(f1(x), f1(z)), shape (len(X), len(Z)).

        Parameters
        ----------
        X, Z : as for ``first_layer``; Z is X by default
        """
        one = self.first_layer(X)
        other = one if Z is None else self.first_layer(Z)
        return cast(TwoLayerPredictor, self.predictor_).second(one, other)

    def kernel_matrix(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel, as ``kernel`` tells it.

        Parameters
        ----------
        X, Z : as for ``first_layer``; Z is X by default
        """
        return self.kernel(X, Z)
