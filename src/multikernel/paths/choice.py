"""Which step of a path to take: by scores, or by a criterion that needs no held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from multikernel._linalg import as_columns
from multikernel._typing import Array

_WITH_NOISE = ("cp", "aic", "bic")  # criteria that compare models at one variance of the noise


def criterion_of(models: Sequence[Any], name: str) -> Array:
    """A criterion of every model, (steps,) or (steps, problems), the noise that of the model of least "gcv".

    Raises
    ------
    ValueError : where the models have no criteria
    """
    _check_criteria(models)
    if name not in _WITH_NOISE:
        return np.array([model.fit_criterion(name) for model in models])
    noise = models[lowest(criterion_of(models, "gcv"))].residual_variance_
    return np.array([model.fit_criterion(name, noise) for model in models])


def _check_criteria(models: Sequence[Any]) -> None:
    if not hasattr(models[0], "fit_criterion"):
        raise ValueError(
            f"{type(models[0]).__name__} does not minimise squared losses, and so has no criterion and no degrees of "
            "freedom; choose by samples and targets, best(X, y)"
        )


def lowest(values: Array) -> int:
    """The step of the least number, added up over problems; one that is not a number is none."""
    total = values.reshape(len(values), -1).sum(axis=1)
    return int(np.argmin(np.where(np.isfinite(total), total, np.inf)))


def simplest(losses: Array, order: Array) -> int:
    """The simplest step whose mean loss is within a standard error of the least one.

    Parameters
    ----------
    losses : array (steps, n), the loss of every sample
    order : int array (steps,), the simplest step first
    """
    mean, n = losses.mean(axis=1), losses.shape[1]
    least = int(order[np.argmin(mean[order])])
    error = float(losses[least].std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
    return int(next(step for step in order if mean[step] <= mean[least] + error))


def left_out_losses(models: Sequence[Any]) -> Array:
    """The squared residuals of training samples that are left out one by one, of every model: (steps, n)."""
    _check_criteria(models)
    residuals = [as_columns(model.loo_residuals_) for model in models]
    known = np.isfinite(residuals[0]).all(axis=1)
    return np.stack([(each[known] ** 2).sum(axis=1) for each in residuals])


def losses_of(models: Sequence[Any], X: Any, y: Any) -> Array:
    """Zero or one for a classifier, the squared error of a regressor, of every model and sample: (steps, n)."""
    if is_classifier(models[0]):
        return np.stack([np.not_equal(model.predict(X), y).astype(float) for model in models])
    truth = as_columns(np.asarray(y, dtype=float))
    return np.stack([((as_columns(model.predict(X)) - truth) ** 2).sum(axis=1) for model in models])
