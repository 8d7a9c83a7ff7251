"""The coefficients of features, for a function that is linear in them.

A kernel k(x, z) = x_c'z_c with weight w_k adds x_c'b_k to the function, b_k = w_k sum_i coef_i x_ic: at the sample that
is 1 in one column of c and 0 elsewhere, that is the coefficient of this column. So coefficients are what each kernel
adds at such samples, whatever form the training samples are kept in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._arrays import like
from multikernel._typing import Array
from multikernel.estimators.predictor import KernelPredictor
from multikernel.kernels.facts import ExplicitFeatures, Wrapped
from multikernel.sources.feature_view import FeatureView


def linear_coefficients(model: Any) -> dict[str, Array]:
    """b_k for each kernel, by its name: shape (features of k,), or (features of k, t) for t targets.

    Raises
    ------
    AttributeError : where a kernel is not linear in columns, or was given as a matrix or a bank
    """
    name = type(model).__name__
    predictor = model.predictor_
    bound = model._bound_kernels
    if bound is None or not isinstance(predictor, KernelPredictor):
        raise AttributeError(f"{name} has no coef_: its kernels are not known by features of samples")
    if isinstance(bound, tuple):
        spaces = _of_views(bound)
    else:
        width = int(model.n_features_in_)
        spaces = [(columns, _unit_rows(columns, width)) for columns in _columns(bound, width)]
    if any(columns is None for columns, _ in spaces):
        raise AttributeError(f"{name} has no coef_: a kernel is not linear in columns of the samples; see dual_coef_")
    weights = np.broadcast_to(predictor.weights, (len(predictor.coef), len(spaces)))
    found = {}
    for k, (_, samples) in enumerate(spaces):
        bank = predictor.reference.cross(like(model._home, samples))
        whole = np.asarray(bank.matrix(k)) @ (weights[:, k, None] * predictor.over_columns(bank)).T
        if model.dual_coef_.ndim == 1:
            found[str(model.kernel_names_[k])] = whole[:, 0]
        else:
            found[str(model.kernel_names_[k])] = whole
    return found


def _columns(family: Any, width: int) -> list[Array | None]:
    """The columns of each kernel that is linear in some; None for one that is not."""
    return [_of_kernel(kernel, width) for kernel in family]


def _of_kernel(kernel: Any, width: int) -> Array | None:
    for fact in kernel.facts():
        if isinstance(fact, ExplicitFeatures):
            if fact.columns is None:
                return np.arange(width)
            return np.asarray(fact.columns, dtype=int)
        if isinstance(fact, Wrapped) and isinstance(fact.by, float):
            return _of_kernel(fact.kernel, width)
    return None


def _unit_rows(columns: Array | None, width: int) -> Array | None:
    if columns is None:
        return None
    rows = np.zeros((len(columns), width))
    rows[np.arange(len(columns)), columns] = 1.0
    return rows


def _of_views(bound: tuple[Any, ...]) -> list[tuple[Array | None, Any]]:
    """The same for kernels of several views: a sample that is 1 in a column of one view is 0 in the others."""
    if not all(isinstance(each, FeatureView) and each.family is not None for each in bound):
        return [(None, None)]
    widths = {each.known.name: each.features.n for each in bound}
    found: list[tuple[Array | None, Any]] = []
    for each in bound:
        own = each.known.name
        for columns in _columns(each.family, widths[own]):
            rows = _unit_rows(columns, widths[own])
            if rows is None:
                return [(None, None)]
            found.append(
                (columns, {view: rows if view == own else np.zeros((len(rows), w)) for view, w in widths.items()})
            )
    return found
