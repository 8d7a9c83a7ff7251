"""Fitted attributes of an estimator with learned scales: by feature, as a metric, and as a kernel for use elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from multikernel._floats import ROUNDING
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.products import ColumnProductsBank
from multikernel.combinations import Profiles
from multikernel.kernels import Anisotropic, Kernel, Mahalanobis
from multikernel.procedures.learned_scales import LearnedScales


def published(bank: KernelBank, combination: Profiles, learned: LearnedScales) -> dict[str, Any]:
    """The fitted attributes by name; where there is one row of scales, or one metric, it has no leading axis."""
    if isinstance(bank, ColumnProductsBank):
        return _of_metrics(bank, combination, learned)
    scales, relative = learned.scales, learned.scales * learned.means
    attributes: dict[str, Any] = {}
    if isinstance(bank, ColumnDistancesBank):
        scales, relative = bank.by_feature(scales), bank.by_feature(relative)
        if bank.columns.plain:
            rows = [tuple(row) for row in _rows_of_kernels(scales, combination).tolist()]
            attributes["kernel_"] = _sum(
                learned, (Anisotropic(k, row) for k, row in zip(combination.kernels, rows, strict=True))
            )
    return {"scales_": _squeezed(scales), "relative_scales_": _squeezed(relative), **attributes}


def _of_metrics(bank: ColumnProductsBank, combination: Profiles, learned: LearnedScales) -> dict[str, Any]:
    features, c = bank.columns.features, len(learned.means)
    metrics = learned.scales.reshape(-1, c, c)
    diagonals = np.diagonal(metrics, axis1=1, axis2=2)
    scales, relative = np.zeros((2, bank.columns.p, len(metrics)))
    np.maximum.at(scales, features, diagonals.T)
    np.maximum.at(relative, features, (diagonals * learned.means).T)
    attributes: dict[str, Any] = {"metric_": _squeezed(metrics), "metric_features_": features}
    if bank.columns.plain:
        factors = [_factor(M) for M in _rows_of_kernels(metrics, combination)]
        attributes["kernel_"] = _sum(
            learned, (Mahalanobis(k, A) for k, A in zip(combination.kernels, factors, strict=True))
        )
    return {"scales_": _squeezed(scales.T), "relative_scales_": _squeezed(relative.T), **attributes}


def _squeezed(values: Array) -> Array:
    return np.asarray(values[0] if len(values) == 1 else values)


def _rows_of_kernels(rows: Array, combination: Profiles) -> Array:
    """One row for each kernel; a row that kernels share is repeated."""
    if len(rows) == len(combination.kernels):
        return rows
    return np.repeat(rows, len(combination.kernels), axis=0)


def _sum(learned: LearnedScales, kernels: Iterable[Kernel]) -> Kernel:
    return reduce(add, [w * kernel for w, kernel in zip(learned.values.tolist(), kernels, strict=True)])


def _factor(M: Array) -> Any:
    """A with A'A = M, a row for each positive eigenvalue of M scaled to unit diagonal; a row of zeros for M = 0."""
    roots = np.sqrt(np.diag(M))
    units = np.where(roots > 0.0, roots, 1.0)
    values, V = np.linalg.eigh(M / units[:, None] / units)
    positive = values > ROUNDING * values.max(initial=0.0)
    A = (np.sqrt(values[positive]) * V[:, positive]).T * roots
    return tuple(map(tuple, (A if len(A) else np.zeros((1, len(M)))).tolist()))
