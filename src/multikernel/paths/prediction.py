"""All models of a path at new samples, in one pass over the kernels.

At step s with weights w_s and coefficients c_s the predictor is f_s(x) = sum_k w_sk sum_i c_si k_k(x_i, x) + b_s. Each
kernel is evaluated once, against the training samples that any step needs, and multiplied with all the c_s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.precomputed import rectangular
from multikernel.banks.threads import one_blas_thread, slices
from multikernel.estimators._base import KernelEstimator, knowing

_FEW = 1000  # kernels of which the products with all coefficients are kept
_CHUNK_VALUES = 1 << 25  # values for new samples in memory at a time: 256 MB


def informed(models: Sequence[Any], X: Any) -> list[Any]:
    """The models, knowing already what their functions are at X; they share their reference to the training samples."""
    first = models[0]
    if not _is_weighted_sum(type(first)):
        return list(models)
    coef = np.concatenate([np.atleast_2d(m.dual_coef_) for m in models])
    each = len(coef) // len(models)  # problems, or targets, which may share their weights
    weights = np.concatenate([np.broadcast_to(m._kernel_weights, (each, m.weights_.shape[-1])) for m in models])
    own = coef[:, first._support]
    parts = [
        _sums(bank, weights, coef if bank.shape[1] == coef.shape[1] else own)
        for bank in _against(first, X, len(weights) * max(own.shape[1], _FEW))
    ]
    values = np.concatenate(parts) + np.concatenate([np.atleast_1d(m.intercept_) for m in models])
    return [knowing(m, v) for m, v in zip(models, np.split(values, len(models), axis=1), strict=True)]


def _is_weighted_sum(estimator: type[KernelEstimator]) -> bool:
    """Whether the predictor is the one at this file's head: the estimator has no way of its own."""
    steps = ("_decide", "_decide_bank", "_combined")
    return all(getattr(estimator, step) is getattr(KernelEstimator, step) for step in steps)


def _against(model: Any, X: Any, width: int) -> Iterator[KernelBank]:
    """Samples against the support, in parts that leave room for ``width`` values a sample; a bank as a whole."""
    if isinstance(X, KernelBank):
        bank = rectangular(X, model.weights_.shape[-1], model.dual_coef_.shape[-1])
        yield bank if bank.square else bank.block(slice(None), model._support)
    elif model._is_precomputed() or not hasattr(model, "n_features_in_"):
        yield model._reference.cross(X)
    else:
        X = model._samples(X)
        for rows in slices(X.shape[0], max(1, _CHUNK_VALUES // max(1, width))):
            yield model._reference.cross(X[rows])


def _sums(bank: KernelBank, weights: Array, coef: Array) -> Array:
    """sum_k w_pk K_k c_p for every problem p, shape (rows, problems)."""
    if (weights == weights[0]).all():
        return bank.combine(weights[0]).multiply(coef.T)
    active = np.flatnonzero(weights.any(axis=0))
    if not bank.square and len(active) <= _FEW:
        with one_blas_thread(0):  # the pass has threads of its own
            products = bank.select(active).apply(coef.T)
        return np.einsum("pk,krp->rp", weights[:, active], products)
    # a stored stack makes several sums in one pass; of very many kernels the products would be too large
    values = np.empty((bank.shape[0], len(coef)))
    for part in slices(len(coef), max(1, _CHUNK_VALUES // max(1, bank.shape[0] * bank.shape[1]))):
        for p, gram in enumerate(bank.combine_all(weights[part]), part.start):
            values[:, p] = gram.multiply(coef[p])
    return values
