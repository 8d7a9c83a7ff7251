"""What ``MultipleKernelRidgeCV`` publishes of its fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.protocol import Fitted
from multikernel.procedures.ridge_cv import RidgeCVWeights


def ridge_of(model: Any, fitted: Fitted) -> Any:
    """What is added to the diagonal of the kernel: a number, or one for each target."""
    return cast(RidgeCVWeights, fitted.weights).alpha


def publish(model: Any, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    """Set the attributes of a fitted model that belong to this estimator alone."""
    found = [cast(RidgeCVWeights, f.weights) for f in fitted]
    errors = np.concatenate([weights.errors for weights in found])
    if single:
        model.alpha_ = found[0].alpha
    else:
        model.alpha_ = np.concatenate([np.atleast_1d(weights.alpha) for weights in found])
    if len(errors) == 1 and model.dual_coef_.ndim == 1:
        model.cv_loss_ = float(errors[0])
    else:
        model.cv_loss_ = errors
    vars(model).pop("target_stationarity_", None)  # of an earlier fit
    if not single or found[0].stationarities is not None:
        model.target_stationarity_ = np.concatenate([_stationarities(weights) for weights in found])
    _publish_effects(model, found)


def _stationarities(weights: RidgeCVWeights) -> Array:
    if weights.stationarities is not None:
        return weights.stationarities
    assert weights.certificate is not None
    return np.array([weights.certificate.value])


def _publish_effects(model: Any, found: Sequence[RidgeCVWeights]) -> None:
    """The coefficients of fixed columns, those of the intercept apart."""
    for name in ("fixed_names_", "fixed_coef_", "fixed_std_errors_", "intercept_std_error_"):
        vars(model).pop(name, None)  # of an earlier fit
    effects = [weights.effects for weights in found if weights.effects is not None]
    if not effects:
        return
    coef = np.hstack([each.coef for each in effects]).T
    errors = np.hstack([each.errors for each in effects]).T
    first = int(model.fit_intercept)
    one = model.dual_coef_.ndim == 1
    model.fixed_names_ = np.array(model._fixed_samples.names, dtype=object)
    model.fixed_coef_ = coef[0, first:] if one else coef[:, first:]
    model.fixed_std_errors_ = errors[0, first:] if one else errors[:, first:]
    if first:
        model.intercept_std_error_ = float(errors[0, 0]) if one else errors[:, 0]
