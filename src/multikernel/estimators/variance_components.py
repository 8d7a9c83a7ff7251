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

    estimator = clone(model)
    bank, target = estimator.bind(X, y)
    Y = as_columns(target)
    fixed = learned_columns(estimator, X, len(Y))
    if fixed is None and estimator.fit_intercept:
        fixed = FixedColumns.of(np.ones((len(Y), 1)))
    starts = _starts(model, Y.shape[1])
    with one_blas_thread(len(Y)):
        estimation = VarianceComponents.of(bank, Y, fixed)
        jobs = [partial(estimation.target, t, starts[t], coverage) for t in range(Y.shape[1])]
        if len(jobs) > 1:
            components = on_threads(jobs, model.n_jobs)
        else:
            components = [jobs[0]()]
    unbounded = [t for t, component in enumerate(components) if not component.bounded]
    if unbounded:
        targets = "the target"
        if target.ndim > 1:
            targets = f"{len(unbounded)} of {len(components)} targets, first {unbounded[0]},"
        warn_user(
            f"{type(model).__name__}: the kernels explain {targets} without noise, so that the likelihood has no "
            "maximum: variances are rough, and nothing else is known of them"
        )
    spreads = np.append(_spreads(bank), 1.0)
    table = np.vstack([_rows(component, spreads) for component in components])
    names = [*map(str, estimator.kernel_names_), "noise"]
    index = pd.Index(names, name="component")
    if target.ndim > 1:
        index = pd.MultiIndex.from_product([range(len(components)), names], names=["target", "component"])
    return pd.DataFrame(table, index=index, columns=list(COLUMNS))


def _starts(model: Any, t: int) -> list[Array | None]:
    """Initial variances: the weights of the model for ridge 1, if it was fitted to t targets; else None."""
    weights = np.atleast_2d(model.weights_)
    if len(weights) != t:
        return [None] * t
    return list(weights / np.atleast_1d(model.alpha_)[:, None])


def _spreads(bank: KernelBank) -> Array:
    """For each kernel the expected sample variance of a random function of it: tr C K C / (n - 1), C the centring."""
    n = bank.shape[0]
    return np.asarray((bank.traces() - bank.quad(np.ones(n)) / n) / (n - 1))


def _rows(components: Components, spreads: Array) -> Array:
    """A row for each component, with the columns ``COLUMNS``.

    The share of component k is p_k = v_k d_k / sum_j v_j d_j, of variance v_k and expected sample variance d_k. Its
    derivative in v_j is (d_k [j = k] - p_k d_j) / sum_i v_i d_i, which gives its standard error by the delta method.
    """
    variances_of_functions = components.variances * spreads
    total = variances_of_functions.sum()
    shares, errors = np.full(len(variances_of_functions), np.nan), np.full(len(variances_of_functions), np.nan)
    if total > 0.0:
        shares = variances_of_functions / total
        slope = (np.diag(spreads) - np.outer(shares, spreads)) / total
        defined = ~np.isnan(np.diagonal(components.covariance))
        covariance = np.where(np.outer(defined, defined), components.covariance, 0.0)
        variances = np.einsum("ij,jk,ik->i", slope, covariance, slope)
        exact = defined | (spreads == 0.0)
        errors = np.where(exact.all(), np.sqrt(np.maximum(variances, 0.0)), np.nan)
    return np.column_stack([
        components.variances,
        np.sqrt(np.diagonal(components.covariance)),
        components.lower,
        components.upper,
        shares,
        errors,
        components.statistic,
        components.p,
    ])  # fmt: skip
