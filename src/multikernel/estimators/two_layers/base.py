"""What the regressor and the classifier of two layers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from multikernel._linalg import as_columns
from multikernel._parameters import Count, Part, Positive, Power, Seed, Starts, Verbosity
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.chosen import Samples
from multikernel.estimators.parameters import AUTO, PositiveOrAuto
from multikernel.estimators.posterior import Posterior
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeModel
from multikernel.estimators.two_layers.choice import chosen_layer
from multikernel.estimators.two_layers.predictor import TwoLayerPosterior, TwoLayerPredictor, TwoLayerPredictors
from multikernel.kernels import KernelFamily, polynomials, rbf_grid
from multikernel.observer import Observer
from multikernel.procedures.two_layers import LayerWeights, SecondLayer, two_layers

_RIDGES = np.geomspace(1e3, 1e-4, 15)


@dataclass(eq=False, repr=False, kw_only=True)
class TwoLayers(RidgeModel):
    """Two layers of ridge regression; the second one is chosen where it is "auto"."""

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

    def _default_kernels(self) -> KernelFamily:
        return rbf_grid(np.logspace(-2, 0, 5)) + polynomials((1,))

    def _regularises(self) -> tuple[str, ...]:
        return ("second", "alpha")

    def _candidates(self, name: str, whole: Samples) -> Array:
        return _RIDGES

    def _by_rule(self, whole: Samples) -> dict[str, Any]:
        return chosen_layer(self, whole) if AUTO.accepts(self.second) else {}

    def _precision(self, m: int, n: int) -> Any:
        """Double: the roots of the kernels are taken."""
        return np.float64

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        samples = Samples(bank, task.target, task.sample_weight)
        mean = np.average(task.target, axis=0, weights=task.sample_weight) if self.fit_intercept else 0.0
        unit, size = samples.spread, samples.size
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        scaled = bank.scaled(np.full(len(bank), 1.0 / size))
        second = SecondLayer(cast(Any, self.second), int(self.degree))
        y, limits = (task.target - mean) / unit, (self.tol, self.max_iter, self.n_init, seed)
        with one_blas_thread(len(y)):
            weights, dual = two_layers(
                scaled, y, second, self.alpha, self.beta, *limits, observe, weight=task.sample_weight
            )
        return replace(weights, first=weights.first / size), replace(
            dual, coef=unit * dual.coef, intercept=self._intercept_of(mean, task)
        )

    def _intercept_of(self, mean: Any, task: Task) -> Any:
        """A float, or for several targets an array."""
        return float(mean) if task.target.ndim == 1 else np.full(task.target.shape[1], mean, dtype=float)

    def _predictor_of(self, bank: KernelBank, fitted: Sequence[Fitted]) -> TwoLayerPredictor | TwoLayerPredictors:
        n, reference = bank.shape[1], bank.reference()
        functions = []
        for each in fitted:
            found = cast(LayerWeights, each.weights)
            first = np.zeros((n, len(bank)))
            first[each.rows] = found.first
            second = SecondLayer(cast(Any, self._known_second(each)), int(self.degree))
            coef, intercept = as_columns(each.solution.coef).T, np.atleast_1d(each.solution.intercept)
            functions.append(
                TwoLayerPredictor(reference, np.arange(n), n, first, found.outputs, second, coef, intercept)
            )
        return functions[0] if len(functions) == 1 else TwoLayerPredictors(tuple(functions))

    def _known_second(self, fitted: Fitted) -> str:
        return str(fitted.numbers.get("second", self.second))

    def _posterior_of(self, bank: KernelBank, fitted: Sequence[Fitted]) -> Posterior:
        predictor = self.predictor_ = self._predictor_of(bank, fitted)
        posed = tuple(self._posed(each) for each in fitted)
        return TwoLayerPosterior(posed, self.fit_intercept, bank.shape[0], predictor)

    # -- both layers ---------------------------------------------------------------------------------------------------

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
        one = self.first_layer(X)
        other = one if Z is None else self.first_layer(Z)
        return cast(TwoLayerPredictor | TwoLayerPredictors, self.predictor_).kernel(one, other)

    def kernel_matrix(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel, as ``kernel`` tells it.

        Parameters
        ----------
        X, Z : as for ``first_layer``; Z is X by default
        """
        return self.kernel(X, Z)
