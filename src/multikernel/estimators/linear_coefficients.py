"""The coefficients of features, for a function that is linear in them.

A kernel k(x, z) = x_c'z_c with weight w_k adds x_c'b_k to the function, with b_k = w_k sum_i coef_i x_ic. At a sample
that is 1 in one column of c and 0 elsewhere, this is the coefficient of that column. So coefficients are computed as
what each kernel adds at such unit samples, which works for every form in which training samples are stored.
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

    Kernels of the same name are of the same columns; their coefficients are added.

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
    coefficients: dict[str, Array] = {}
    for k, (_, samples) in enumerate(spaces):
        bank = predictor.reference.cross(like(model._home, samples))
        coefficients_of_kernel = np.asarray(bank.matrix(k)) @ (weights[:, k, None] * predictor.over_columns(bank)).T
        if model.dual_coef_.ndim == 1:
            coefficients_of_kernel = coefficients_of_kernel[:, 0]
        kernel_name = str(model.kernel_names_[k])
        coefficients[kernel_name] = coefficients.get(kernel_name, 0.0) + coefficients_of_kernel
    return coefficients


def _columns(family: Any, width: int) -> list[Array | None]:
    """For each kernel the columns in which it is linear; None where it is not linear."""
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
    """Columns and unit samples of the kernels of several views; a unit sample is 0 in all columns of other views."""
    if not all(isinstance(view, FeatureView) and view.family is not None for view in bound):
        return [(None, None)]
    widths = {view.known.name: view.features.n for view in bound}
    spaces: list[tuple[Array | None, Any]] = []
    for view in bound:
        view_name = view.known.name
        for columns in _columns(view.family, widths[view_name]):
            rows = _unit_rows(columns, widths[view_name])
            if rows is None:
                return [(None, None)]
            spaces.append(
                (columns, {name: rows if name == view_name else np.zeros((len(rows), w)) for name, w in widths.items()})
            )
    return spaces
