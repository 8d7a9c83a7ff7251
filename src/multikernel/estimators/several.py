"""Predictions of several models of the same training sample, of a path or a search, by one pass over the kernels.

For model s with weights w_s and coefficients c_s the predictor is f_s(x) = sum_k w_sk sum_i c_si k_k(x_i, x) + b_s.
Each kernel is evaluated once, against the training samples that any model needs, and multiplied with all the c_s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.dense import DenseBank
from multikernel.banks.mapped import MappedBank
from multikernel.banks.threads import one_blas_thread, slices
from multikernel.estimators.predictor import KernelPredictor, with_known_values
from multikernel.tuning import KEPT_BYTES, LARGE_VALUES


def share_reference(models: Sequence[Any], bank: KernelBank) -> None:
    """Let all models share one reference to the training samples."""
    predictors = [model.predictor_ for model in models]
    if all(isinstance(predictor, KernelPredictor) for predictor in predictors):
        support = np.unique(np.concatenate([predictor.support for predictor in predictors]))
        reference = bank.reference(support)
        for model in models:
            model.share(reference, support)


def in_one_pass(models: Sequence[Any]) -> bool:
    """Whether the functions of all models can be computed by one pass over the kernels."""
    predictors = [model.predictor_ for model in models]
    return all(isinstance(predictor, KernelPredictor) and predictor.linear for predictor in predictors)


def with_values_at(models: Sequence[Any], X: Any) -> list[Any]:
    """Copies of the models with known function values at X; the models share a reference to the training samples."""
    if not in_one_pass(models):
        return list(models)
    predictors = [model.predictor_ for model in models]
    n_problems = len(predictors[0].coef)  # problems, or targets, which may share their weights
    weights = np.concatenate([np.broadcast_to(p.weights, (n_problems, p.weights.shape[1])) for p in predictors])
    width = len(weights) * len(predictors[0].support)
    blocks = [
        _sums(bank, weights, np.concatenate([p.over_columns(bank) for p in predictors]))
        for bank in models[0].banks(X, width)
    ]
    values = np.concatenate(blocks) + np.concatenate([p.intercept for p in predictors])
    return [with_known_values(m, v) for m, v in zip(models, np.split(values, len(models), axis=1), strict=True)]


def stored(outer: KernelBank) -> KernelBank:
    """The bank with its matrices stored, for models that read them one after the other, where memory allows it."""
    if isinstance(outer, MappedBank):  # the samples beside their kernels stay
        return replace(outer, bank=stored(outer.bank))
    if outer.of_distances or outer.n_features is not None or 8 * len(outer) * np.prod(outer.shape) > KEPT_BYTES:
        return outer
    return DenseBank(outer, outer.matrices())


def _sums(bank: KernelBank, weights: Array, coef: Array) -> Array:
    """sum_k w_pk K_k c_p for every problem p, shape (rows, problems)."""
    if (weights == weights[0]).all():
        return bank.combine(weights[0]).multiply(coef.T)
    active = np.flatnonzero(weights.any(axis=0))
    if not bank.square and len(active) * bank.shape[0] * len(coef) <= LARGE_VALUES:
        with one_blas_thread(0):  # the pass has threads of its own
            products = bank.select(active).apply(coef.T)
        return np.einsum("pk,krp->rp", weights[:, active], products)
    # a stored stack computes several sums in one pass; the products of very many kernels would be too large
    values = np.empty((bank.shape[0], len(coef)))
    for problems in slices(len(coef), max(1, LARGE_VALUES // max(1, bank.shape[0] * bank.shape[1]))):
        for p, gram in enumerate(bank.combine_all(weights[problems]), problems.start):
            values[:, p] = gram.multiply(coef[p])
    return values
