"""Weights by a rule, and the machine for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import multikernel as mk
from fuzz import machines
from fuzz import saddle as s
from fuzz.claims import Claim, Family
from fuzz.families.parts import ANY, TOL, fixed, published, signs
from fuzz.families.ridge import least_squares
from fuzz.samples import Given, log_uniform
from fuzz.wide import Array, Number


def _rule_classifier(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[Claim]:
    """The machine's gap at the weights."""
    machine = machines.hinge(signs(y), Number(parameters["C"]) * np.ones(len(y)))
    yield published(s.Saddle(given.K, machine, s.point(model.weights_)), model)


def _rule_regressor(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[Claim]:
    yield from least_squares(lambda _: s.point(model.weights_), "values")(model, given, y, weight, parameters)


FAMILIES: dict[str, Family] = {
    "AverageMKLClassifier": Family(
        mk.AverageMKLClassifier, fixed({"C": log_uniform(-6, 6), "tol": TOL}), _rule_classifier, ANY, True
    ),
    "AlignmentMKLClassifier": Family(
        mk.AlignmentMKLClassifier, fixed({"C": log_uniform(-6, 6), "tol": TOL}), _rule_classifier, ANY, True
    ),
    "AverageMKLRegressor": Family(
        mk.AverageMKLRegressor, fixed({"alpha": log_uniform(-10, 10)}), _rule_regressor, ANY, False, True
    ),
    "AlignmentMKLRegressor": Family(
        mk.AlignmentMKLRegressor, fixed({"alpha": log_uniform(-10, 10)}), _rule_regressor, ANY, False, True
    ),
    "ProportionalMKLClassifier": Family(
        lambda **given: mk.ProportionalMKLClassifier(random_state=0, **given),
        fixed({"C": log_uniform(-6, 6), "tol": TOL}),
        _rule_classifier,
        ANY,
        True,
    ),
    "ProportionalMKLRegressor": Family(
        lambda **given: mk.ProportionalMKLRegressor(random_state=0, **given),
        fixed({"alpha": log_uniform(-10, 10)}),
        _rule_regressor,
        ANY,
        False,
        True,
    ),
}
