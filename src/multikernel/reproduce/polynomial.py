"""Polynomial ridge regression with a rank-one kernel for each feature: the choice of its parameters, and a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel import BankSearchCV, PolynomialMKLRegressor, kernels
from multikernel.reproduce.data import Split, folds
from multikernel.typing import Array

Grid = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class PolynomialMethod:
    """Polynomial ridge regression with learned or fixed weights.

    Parameters
    ----------
    degree : int
    norm : float or None, of the ball around weights 1; None where all weights are 1
    penalised : bool, whether there is a penalty instead of the ball
    intercept : bool, whether the mean of the labels is subtracted
    """

    degree: int
    norm: float | None
    penalised: bool = False
    intercept: bool = True

    def model(self, tol: float, **parameters: Any) -> PolynomialMKLRegressor:
        return PolynomialMKLRegressor(
            kernels.linear_features(),
            degree=self.degree,
            norm=self.norm or 2.0,
            fit_intercept=self.intercept,
            tol=tol,
            **parameters,
        )

    def grid(self, alphas: Sequence[float], sizes: Sequence[float]) -> Grid:
        """The grid of lambda and the radius, or the strength of the penalty; radius 0 where weights are fixed."""
        if self.penalised:
            return {"penalty": list(sizes), "alpha": list(alphas)}
        return {"radius": [0.0] if self.norm is None else list(sizes), "alpha": list(alphas)}

    def choice(self, X: Array, y: Array, grid: Grid, count: int = 10, seed: int = 0) -> dict[str, Any]:
        """The parameters with the least squared error over folds, and the least error for each lambda."""
        search = BankSearchCV(
            self.model(1e-3),
            grid,
            cv=folds(y, count, seed, stratified=False),
            scoring="neg_mean_squared_error",
        ).fit(X, y)
        errors = np.sqrt(-search.cv_results_["mean_test_score"])
        alphas = [candidate["alpha"] for candidate in search.cv_results_["params"]]
        curve = [float(min(e for e, a in zip(errors, alphas, strict=True) if a == alpha)) for alpha in grid["alpha"]]
        parameters = {name: float(value) for name, value in search.best_params_.items()}
        return {"parameters": parameters, "error": float(errors.min()), "curve": curve}

    def test_errors(
        self, X: Array, y: Array, split: Split, parameters: Mapping[str, float], tol: float
    ) -> dict[str, float]:
        """The errors on the test rows of a model with these parameters."""
        train, test = split
        model = self.model(tol, **parameters).fit(X[train], y[train])
        predicted = model.predict(X[test])
        return {
            "error": float(np.sqrt(np.mean((predicted - y[test]) ** 2))),
            "misclassified": float(np.mean((predicted >= 0) != (y[test] > 0))),
            "certificate": model.certificate_.value,
            "iterations": int(model.n_iter_),
        }
