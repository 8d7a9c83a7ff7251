"""Degrees of freedom and information criteria of models with a linear smoother: estimates without held-out rows.

The fitted values of a model with squared losses are S y with the smoother S = K (K + alpha I)^-1 for the learned kernel
K. The trace of S is the degrees of freedom, from which generalised cross-validation, AIC and BIC follow. They treat the
weights of the kernels as fixed, so all three are too low where many kernels were chosen from few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from multikernel.inspection import short_names
from multikernel.paths import Path
from multikernel.typing import Array

_CURVES = 6  # of a chart, which has six colours
CRITERIA = ("gcv", "aic", "bic")
NAMES = {"degrees_of_freedom": "degrees of freedom", "gcv": "GCV", "aic": "AIC", "bic": "BIC"}


def criteria_of(model: Any) -> dict[str, float]:
    """The degrees of freedom and the criteria of a model, means over its problems; empty without a smoother."""
    if not hasattr(model, "fit_criterion"):
        return {}
    criteria = {"degrees_of_freedom": model.degrees_of_freedom_}
    criteria |= {name: model.fit_criterion(name) for name in CRITERIA}
    return {name: float(np.mean(value)) for name, value in criteria.items()}


def criteria_along(path: Path) -> dict[str, Array]:
    """``criteria_of`` for each step of a path, arrays (steps,); the noise variance is that of the step of least GCV."""
    if not hasattr(path.models[0], "fit_criterion"):
        return {}
    criteria = {"degrees_of_freedom": path.degrees_of_freedom}
    criteria |= {name: path.criterion(name) for name in CRITERIA}
    return {name: value.reshape(len(path), -1).mean(axis=1) for name, value in criteria.items()}


def coefficients_along(path: Path) -> tuple[list[str], Array] | None:
    """The names of the features of linear models and their coefficients, (steps, p); None for other models.

    For several problems the coefficients are means of their absolute values.
    """
    models: Sequence[Any] = path.models
    if not all(hasattr(model, "coef_") for model in models):
        return None
    coef = np.stack([np.atleast_2d(model.coef_) for model in models])
    if coef.shape[1] == 1:
        values = coef[:, 0]
    else:
        values = np.abs(coef).mean(axis=1)
    return [feature_of(str(name)) for name in path.kernel_names], values


def slopes_along(path: Path, X: Any) -> tuple[list[str], Array] | None:
    """Coefficients of models with a linear kernel for each column, named after the column; None for several problems.

    The kernel of a standardised column contributes a coefficient times the column to the function, so the standard
    deviation of the contribution is the size of the coefficient. For a category it is the size of the differences
    between its levels.

    Parameters
    ----------
    path : of models of these samples
    X : data frame
    """
    added = np.stack([np.asarray(model.contributions(X)) for model in path.models])
    if added.ndim != 3:
        return None
    names = [str(name) for name in path.kernel_names]
    coef = added.std(axis=1)
    for j, name in enumerate(names):
        if X[name].dtype.kind in "fiu":
            centred = X[name].to_numpy(float) - X[name].mean()
            coef[:, j] *= np.where(np.nan_to_num(centred) @ added[:, :, j].T < 0.0, -1.0, 1.0)
    return names, coef


def profiles_of(path: Path, linear: tuple[list[str], Array] | None = None) -> dict[str, Any]:
    """The data for the charts of a path, without its scores, as dictionaries, lists and numbers.

    Parameters
    ----------
    path : of models of all rows
    linear : names and coefficients of columns; None for ``coefficients_along``

    Returns
    -------
    dict with ``weights`` and, for linear models, ``coefficients``: the names and the curves of the largest;
    ``criteria``, a curve for each; and ``variance``, that of the target, with which GCV is compared
    """
    weights = path.weights.reshape(len(path), -1, len(path.kernel_names)).mean(axis=1)
    profiles: dict[str, Any] = {
        "weights": _largest(short_names([feature_of(str(name)) for name in path.kernel_names]), weights)
    }
    linear = linear or coefficients_along(path)
    profiles["coefficients"] = None if linear is None else _largest(*linear)
    profiles["criteria"] = {name: values.tolist() for name, values in criteria_along(path).items()}
    variance = getattr(path.models[0], "target_variance_", None)
    profiles["variance"] = None if variance is None else float(np.mean(variance))
    return profiles


def _largest(names: Sequence[str], values: Array) -> dict[str, Any]:
    """The curves with the largest absolute values, without those that are 0 everywhere."""
    largest = np.abs(values).max(axis=0)
    order = [int(k) for k in np.argsort(-largest, kind="stable")[:_CURVES] if largest[k] > 0.0]
    return {"names": [names[k] for k in order], "curves": [values[:, k].tolist() for k in order]}


def feature_of(kernel: str) -> str:
    """The feature in the name of a linear kernel, such as Linear().on('age'); any other name is returned unchanged."""
    if not (kernel.startswith("Linear()") and ".on(" in kernel and kernel.endswith(")")):
        return kernel
    return kernel.partition(".on(")[2][:-1].strip("'\"")
