"""Weights and scales that make a held-out error small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.model_selection import KFold

import multikernel as mk
from fuzz.claims import FEW, Family
from fuzz.families.parts import FEW_FEATURES, fixed
from fuzz.held_out import HeldOutLoss
from fuzz.samples import Given, as_numbers, kinds, log_uniform
from fuzz.wide import Array, Number, wide

_FOLDS = 4
_LARGEST, _LARGEST_SINGLE = Number(1e9), Number(2e-2 / np.finfo(np.float32).eps)
HELD_OUT = {"cv": st.just(KFold(_FOLDS)), "fit_intercept": st.booleans(), "tol": log_uniform(-6, -2)}


def _held_out(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[HeldOutLoss]:
    v, told = as_numbers(model.weights_) / Number(model.alpha_), Number(model.cv_loss_)
    largest = _LARGEST_SINGLE if getattr(given.X, "dtype", None) == np.float32 else _LARGEST
    yield HeldOutLoss(given.K, v, wide(y), _FOLDS, parameters["fit_intercept"], told, largest)


def _scales(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[HeldOutLoss]:
    X, v = wide(given.X), as_numbers(model.weights_) / Number(model.alpha_)
    K = np.exp(-(wide(model.scales_) * (X[:, None] - X[None]) ** 2).sum(axis=2))[None]
    told = Number(model.cv_loss_)
    yield HeldOutLoss(K, v, wide(y), _FOLDS, parameters["fit_intercept"], told, _LARGEST, learned=False)


def _with_learned_scales(kernels: Any, **parameters: Any) -> Any:
    return mk.LearnedScalesRegressor([mk.kernels.RBF()], max_iter=FEW, **parameters)


FAMILIES: dict[str, Family] = {
    "MultipleKernelRidgeCV": Family(
        lambda **given: mk.MultipleKernelRidgeCV(max_iter=FEW, **given),
        fixed(HELD_OUT),
        _held_out,
        kinds(most=20),
        False,
    ),
    "LearnedScalesRegressor": Family(
        _with_learned_scales,
        fixed(HELD_OUT, {"penalty": log_uniform(-2, 2)}),
        _scales,
        FEW_FEATURES,
        False,
        kernel=lambda model, K: None,
    ),
}
