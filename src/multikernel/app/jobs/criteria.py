"""Degrees of freedom and information criteria, of models with a smoother: what they say without held-out rows.

A model with squared losses makes its fitted values by a matrix, S y with S = K (K + alpha I)^-1 for the learned kernel
K: its trace is the degrees of freedom, from which generalised cross-validation, AIC and BIC follow. The weights of the
kernels are taken as given, so all three are too low where many kernels were chosen from few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from multikernel.inspection import short_names
from multikernel.paths import Path
from multikernel.typing import Array

_CURVES = 6  # of a chart, of a colour each
CRITERIA = ("gcv", "aic", "bic")
NAMES = {"degrees_of_freedom": "degrees of freedom", "gcv": "GCV", "aic": "AIC", "bic": "BIC"}


def criteria_of(model: Any) -> dict[str, float]:
    """The degrees of freedom and the criteria of a model, means over its problems; nothing without a smoother."""
    if not hasattr(model, "fit_criterion"):
        return {}
    found = {"degrees_of_freedom": model.degrees_of_freedom_}
    found |= {name: model.fit_criterion(name) for name in CRITERIA}
    return {name: float(np.mean(value)) for name, value in found.items()}


def criteria_along(path: Path) -> dict[str, Array]:
    """The same of each step of a path, arrays (steps,); the noise variance is that of the step of least GCV."""
    if not hasattr(path.models[0], "fit_criterion"):
        return {}
    found = {"degrees_of_freedom": path.degrees_of_freedom}
    found |= {name: path.criterion(name) for name in CRITERIA}
    return {name: value.reshape(len(path), -1).mean(axis=1) for name, value in found.items()}


def coefficients_along(path: Path) -> tuple[list[str], Array] | None:
    """The names of the features of linear models and their coefficients, (steps, p); None of other models.

    Of several problems it is the mean of the absolute coefficients.
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
    """The same of models with a linear kernel for each column of a frame, named after it; None of several problems.

    A kernel of a standardised column adds its coefficient times the column to the function, so the deviation of what it
    adds is the size of the coefficient. Of a category it is the size of the differences between its levels.

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
            known = X[name].to_numpy(float) - X[name].mean()
            coef[:, j] *= np.where(np.nan_to_num(known) @ added[:, :, j].T < 0.0, -1.0, 1.0)
    return names, coef


def profiles_of(path: Path, linear: tuple[list[str], Array] | None = None) -> dict[str, Any]:
    """What charts of a path need beside its scores, as dictionaries, lists and numbers.

    Parameters
    ----------
    path : of models of all rows
    linear : names and coefficients of columns, where they are not those that the models publish

    Returns
    -------
    dict with ``weights`` and, of linear models, ``coefficients``: the names of the largest and a list for each value;
    and ``criteria``, a list for each of them, with ``variance``, that of the target, beside which GCV is read
    """
    weights = path.weights.reshape(len(path), -1, len(path.kernel_names)).mean(axis=1)
    found: dict[str, Any] = {
        "weights": _largest(short_names([feature_of(str(name)) for name in path.kernel_names]), weights)
    }
    linear = linear or coefficients_along(path)
    found["coefficients"] = None if linear is None else _largest(*linear)
    found["criteria"] = {name: values.tolist() for name, values in criteria_along(path).items()}
    variance = getattr(path.models[0], "target_variance_", None)
    found["variance"] = None if variance is None else float(np.mean(variance))
    return found


def _largest(names: Sequence[str], values: Array) -> dict[str, Any]:
    """The curves that are farthest from 0 somewhere; those that are 0 everywhere are none."""
    most = np.abs(values).max(axis=0)
    order = [int(k) for k in np.argsort(-most, kind="stable")[:_CURVES] if most[k] > 0.0]
    return {"names": [names[k] for k in order], "curves": [values[:, k].tolist() for k in order]}


def feature_of(kernel: str) -> str:
    """The feature of the name of a linear kernel, such as Linear().on('age'); another name is itself."""
    if not (kernel.startswith("Linear()") and ".on(" in kernel and kernel.endswith(")")):
        return kernel
    return kernel.partition(".on(")[2][:-1].strip("'\"")
