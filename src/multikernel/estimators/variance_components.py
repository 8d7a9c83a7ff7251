"""The variance components of a fitted model as a table: variances, shares, standard errors, intervals and tests."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel._workers import on_threads
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.fixed import learned_columns
from multikernel.procedures.ridge_cv.fixed import FixedColumns
from multikernel.procedures.variance_components import Components, VarianceComponents

COLUMNS = ("variance", "standard error", "lower", "upper", "share", "error of share", "statistic", "p")


def components_frame(model: Any, X: Any, y: Any, coverage: float | None) -> Any:
    """The table of ``MultipleKernelRidgeCV.variance_components``."""
    import pandas as pd

    other = clone(model)
    bank, target = other.bind(X, y)
    Y = as_columns(target)
    fixed = learned_columns(other, X, len(Y))
    if fixed is None and other.fit_intercept:
        fixed = FixedColumns.of(np.ones((len(Y), 1)))
    starts = _starts(model, Y.shape[1])
    with one_blas_thread(len(Y)):
        found = VarianceComponents.of(bank, Y, fixed)
        works = [partial(found.target, t, starts[t], coverage) for t in range(Y.shape[1])]
        if len(works) > 1:
            components = on_threads(works, model.n_jobs)
        else:
            components = [works[0]()]
    endless = [t for t, each in enumerate(components) if not each.bounded]
    if endless:
        which = "the target"
        if target.ndim > 1:
            which = f"{len(endless)} of {len(components)} targets, first {endless[0]},"
        warn_user(
            f"{type(model).__name__}: the kernels explain {which} without noise, so that the likelihood has no "
            "maximum: variances are rough, and nothing else is known of them"
        )
    spreads = np.append(_spreads(bank), 1.0)
    table = np.vstack([_rows(each, spreads) for each in components])
    names = [*map(str, other.kernel_names_), "noise"]
    index = pd.Index(names, name="component")
    if target.ndim > 1:
        index = pd.MultiIndex.from_product([range(len(components)), names], names=["target", "component"])
    return pd.DataFrame(table, index=index, columns=list(COLUMNS))


def _starts(model: Any, t: int) -> list[Array | None]:
    """The weights of the model with ridge 1, where it was fitted to so many targets."""
    weights = np.atleast_2d(model.weights_)
    if len(weights) != t:
        return [None] * t
    return list(weights / np.atleast_1d(model.alpha_)[:, None])


def _spreads(bank: KernelBank) -> Array:
    """The expected variance among the samples of a function of each kernel: tr C K C / (n - 1), C the centring."""
    n = bank.shape[0]
    return np.asarray((bank.traces() - bank.quad(np.ones(n)) / n) / (n - 1))


def _rows(found: Components, spreads: Array) -> Array:
    """A row for each component, as ``COLUMNS`` says."""
    parts = found.variances * spreads
    total = parts.sum()
    shares, errors = np.full(len(parts), np.nan), np.full(len(parts), np.nan)
    if total > 0.0:
        shares = parts / total
        slope = (np.diag(spreads) - np.outer(shares, spreads)) / total
        known = ~np.isnan(np.diagonal(found.covariance))
        covariance = np.where(np.outer(known, known), found.covariance, 0.0)
        variances = np.einsum("ij,jk,ik->i", slope, covariance, slope)
        exact = known | (spreads == 0.0)
        errors = np.where(exact.all(), np.sqrt(np.maximum(variances, 0.0)), np.nan)
    return np.column_stack([
        found.variances,
        np.sqrt(np.diagonal(found.covariance)),
        found.lower,
        found.upper,
        shares,
        errors,
        found.statistic,
        found.p,
    ])  # fmt: skip
