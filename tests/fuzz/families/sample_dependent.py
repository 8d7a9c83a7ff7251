"""Weights that follow the sample, and functions of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

import multikernel as mk
from fuzz import machines
from fuzz import saddle as s
from fuzz.claims import Claim, Family, Flatness
from fuzz.families.parts import (
    OF_SAMPLES,
    SVM,
    TUBE,
    P,
    epsilon,
    fixed,
    hinge,
    kernel_size,
    published,
    ridge_machine,
    signs,
    spread,
)
from fuzz.layers import Layers, learned_kernel
from fuzz.local import Gated, balls, localised
from fuzz.samples import Given, as_numbers, kinds, log_uniform
from fuzz.wide import Array, Number, combine, wide

GROUPS = {
    "n_clusters": st.integers(1, 3),
    "temperature": st.sampled_from([0.0, 0.0, 0.3]),
    "random_state": st.just(0),
    "tol": log_uniform(-5, -2),
    "C": log_uniform(-4, 2),
}
GATES = {
    "gates": st.sampled_from(["softmax", "sigmoid"]),
    "ridge": log_uniform(-3, 2),
    "tol": log_uniform(-8, -2),
    "max_iter": st.just(60),
}
LAYERS = {
    "second": st.sampled_from(["linear", "polynomial", "gaussian"]),
    "degree": st.sampled_from([2, 3]),
    "alpha": log_uniform(-4, 3),
    "beta": log_uniform(-3, 1),
    "fit_intercept": st.booleans(),
    "tol": log_uniform(-8, -2),
    "max_iter": st.just(60),
}


def _localised(machine: Callable[..., machines.Machine]) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        C = Number(parameters["C"]) * (np.ones(len(y)) if weight is None else wide(weight))
        h = model.memberships_
        domain = balls(parameters["p"], h.shape[1])
        yield published(s.Saddle(localised(given.K, h), machine(y, C, parameters), domain), model)

    return claims


def _localised_kernel(model: Any, K: Array) -> Array | None:
    """Of the training samples, whose memberships are published."""
    h = model.memberships_
    return combine(localised(K, h), as_numbers(model.weights_)) if len(h) == K.shape[1] == K.shape[2] else None


def _gated(labels: bool) -> Any:
    def claims(
        model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
    ) -> Iterator[Flatness]:
        gates, X = model.predictor_.combination.gates, np.asarray(given.X, dtype=float)
        unit = 1 / kernel_size(given.K)
        if labels:
            machine: Any = machines.squared_hinge(signs(y), parameters["C"])
        else:
            machine, unit = ridge_machine(y, None, parameters)[0], unit * Number(spread(y)) ** 2
        x = np.column_stack([gates.slopes[0], gates.levels[0]]).ravel()
        told, ridge = Number(model.objective_), unit * Number(parameters["ridge"])
        spreads = X.std(axis=0)
        features = (X - X.mean(axis=0)) / np.where(spreads > 1e-12 * np.abs(X).max(axis=0), spreads, 1.0)
        inputs = wide(np.column_stack([features, np.ones(len(y))]))
        surface = Gated(given.K, inputs, machine, parameters["gates"], ridge, told)
        yield Flatness(surface, wide(x), as_numbers(model.dual_coef_))

    return claims


def _gated_kernel(model: Any, K: Array) -> Array | None:
    """Of the training samples, where the features of all are kept."""
    predictor = model.predictor_
    e = wide(predictor.combination.gates.of(predictor.reference.samples.columns))
    if not len(e) == K.shape[1] == K.shape[2]:
        return None
    return np.einsum("ik,kij,jk->ij", e, K, e)


def _layers(labels: bool) -> Any:
    def claims(
        model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
    ) -> Iterator[Flatness]:
        values = np.where(y > 0, 1.0, -1.0) if labels else y
        if np.ptp(values) == 0.0:  # all that is left is rounding of the mean
            return
        target = wide(values) - (wide(values).mean() if parameters["fit_intercept"] else 0)
        size, first = kernel_size(given.K), wide(model.predictor_.first)
        surface = Layers(
            given.K / size,
            target / Number(spread(values)),
            parameters["second"],
            parameters["degree"],
            Number(parameters["alpha"]),
            Number(parameters["beta"]),
            Number(model.objective_),
        )
        yield Flatness(surface, (first * size).ravel(), as_numbers(model.dual_coef_))

    return claims


FAMILIES: dict[str, Family] = {
    "LocalizedMKLClassifier": Family(
        mk.LocalizedMKLClassifier,
        fixed(SVM, P, GROUPS),
        _localised(hinge),
        kinds(most=20),
        True,
        True,
        kernel=_localised_kernel,
    ),
    "LocalizedMKLRegressor": Family(
        mk.LocalizedMKLRegressor,
        fixed(TUBE, P, GROUPS),
        _localised(epsilon),
        kinds(most=20),
        False,
        True,
        kernel=_localised_kernel,
    ),
    "GatedMKLClassifier": Family(
        mk.GatedMKLClassifier,
        fixed(GATES, {"C": log_uniform(-4, 4)}),
        _gated(True),
        OF_SAMPLES,
        True,
        kernel=_gated_kernel,
    ),
    "GatedMKLRegressor": Family(
        mk.GatedMKLRegressor,
        fixed(GATES, {"alpha": log_uniform(-6, 6), "fit_intercept": st.booleans()}),
        _gated(False),
        OF_SAMPLES,
        False,
        kernel=_gated_kernel,
    ),
    "TwoLayerClassifier": Family(
        mk.TwoLayerClassifier, fixed(LAYERS), _layers(True), kinds(most=20), True, kernel=learned_kernel
    ),
    "TwoLayerRegressor": Family(
        mk.TwoLayerRegressor, fixed(LAYERS), _layers(False), kinds(most=20), False, kernel=learned_kernel
    ),
}
