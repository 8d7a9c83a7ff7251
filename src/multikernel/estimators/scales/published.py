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


def published(bank: KernelBank, combination: Profiles, found: LearnedScales) -> dict[str, Any]:
    """The fitted attributes by name; one row of scales, or one metric, stands alone."""
    if isinstance(bank, ColumnProductsBank):
        return _of_metrics(bank, combination, found)
    scales, relative = found.scales, found.scales * found.means
    attributes: dict[str, Any] = {}
    if isinstance(bank, ColumnDistancesBank):
        scales, relative = bank.by_feature(scales), bank.by_feature(relative)
        if bank.columns.plain:
            rows = [tuple(row) for row in _each(scales, combination).tolist()]
            attributes["kernel_"] = _sum(
                found, (Anisotropic(k, row) for k, row in zip(combination.kernels, rows, strict=True))
            )
    return {"scales_": _alone(scales), "relative_scales_": _alone(relative), **attributes}


def _of_metrics(bank: ColumnProductsBank, combination: Profiles, found: LearnedScales) -> dict[str, Any]:
    features, c = bank.columns.features, len(found.means)
    metrics = found.scales.reshape(-1, c, c)
    diagonals = np.diagonal(metrics, axis1=1, axis2=2)
    scales, relative = np.zeros((2, bank.columns.p, len(metrics)))
    np.maximum.at(scales, features, diagonals.T)
    np.maximum.at(relative, features, (diagonals * found.means).T)
    attributes: dict[str, Any] = {"metric_": _alone(metrics), "metric_features_": features}
    if bank.columns.plain:
        factors = [_factor(M) for M in _each(metrics, combination)]
        attributes["kernel_"] = _sum(
            found, (Mahalanobis(k, A) for k, A in zip(combination.kernels, factors, strict=True))
        )
    return {"scales_": _alone(scales.T), "relative_scales_": _alone(relative.T), **attributes}


def _alone(values: Array) -> Array:
    return np.asarray(values[0] if len(values) == 1 else values)


def _each(rows: Array, combination: Profiles) -> Array:
    """The rows of each kernel, where kernels share one."""
    if len(rows) == len(combination.kernels):
        return rows
    return np.repeat(rows, len(combination.kernels), axis=0)


def _sum(found: LearnedScales, kernels: Iterable[Kernel]) -> Kernel:
    return reduce(add, [w * kernel for w, kernel in zip(found.values.tolist(), kernels, strict=True)])


def _factor(M: Array) -> Any:
    """A with A'A = M, a row for each direction that is not nothing; one row of zeros where there is none."""
    roots = np.sqrt(np.diag(M))
    units = np.where(roots > 0.0, roots, 1.0)
    values, V = np.linalg.eigh(M / units[:, None] / units)
    kept = values > ROUNDING * values.max(initial=0.0)
    A = (np.sqrt(values[kept]) * V[:, kept]).T * roots
    return tuple(map(tuple, (A if len(A) else np.zeros((1, len(M)))).tolist()))
