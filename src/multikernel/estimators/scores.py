"""Scores of models whose function values are known: scikit-learn's checks would cost more than all else."""

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
    """The scorer of a model; the estimator's own ``score`` without further checks.

    Parameters
    ----------
    model : an estimator of this package
    scoring : str, callable or None, as in scikit-learn
    """
    own = getattr(type(model), "score", None) if scoring is None else None
    if own is KernelClassifier.score:
        return lambda known, X, truth: float((host(known.predict(X)) == truth).mean())
    if own is KernelRegressor.score:
        return lambda known, X, truth: _r2(truth, host(known.predict(X)))
    scorer = check_scoring(model, scoring)
    return lambda known, X, truth: float(scorer(known, X, truth))


def _r2(truth: Array, values: Array) -> float:
    """R^2, the mean over targets; scikit-learn says what it is where a target does not vary."""
    Y, F = as_columns(numbers(truth, "y")), as_columns(values)
    spread = ((Y - Y.mean(axis=0)) ** 2).sum(axis=0)
    if not (spread > 0.0).all():
        return float(r2_score(Y, F))
    return float((1.0 - ((Y - F) ** 2).sum(axis=0) / spread).mean())
