"""Scores of models whose function values are known, without scikit-learn's checks, which take most of the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics import check_scoring, r2_score

from multikernel._arrays import host
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks.checks import numbers
from multikernel.estimators.classifier import KernelClassifier
from multikernel.estimators.protocol import Model
from multikernel.estimators.regressor import KernelRegressor

Scorer = Callable[[Any, Any, Array], float]


def quick_scorer(model: Model, scoring: Any) -> Scorer:
    """The scorer of a model; where ``scoring`` is None, the estimator's ``score`` without its checks.

    Parameters
    ----------
    model : an estimator of this package
    scoring : str, callable or None, as in scikit-learn
    """
    score_method = getattr(type(model), "score", None) if scoring is None else None
    if score_method is KernelClassifier.score:
        return lambda fitted_model, X, truth: float((host(fitted_model.predict(X)) == truth).mean())
    if score_method is KernelRegressor.score:
        return lambda fitted_model, X, truth: _r2(truth, host(fitted_model.predict(X)))
    scorer = check_scoring(model, scoring)
    return lambda fitted_model, X, truth: float(scorer(fitted_model, X, truth))


def _r2(truth: Array, values: Array) -> float:
    """R^2, the mean over targets; by scikit-learn where a target does not vary."""
    Y, F = as_columns(numbers(truth, "y")), as_columns(values)
    spread = ((Y - Y.mean(axis=0)) ** 2).sum(axis=0)
    if not (spread > 0.0).all():
        return float(r2_score(Y, F))
    return float((1.0 - ((Y - F) ** 2).sum(axis=0) / spread).mean())
