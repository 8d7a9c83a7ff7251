"""The same estimators for several classes, one against the others or all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from fuzz.claims import Claim, Family
from fuzz.families.parts import published
from fuzz.joint import JointClasses
from fuzz.saddle import ball
from fuzz.samples import Given
from fuzz.wide import Array, Number, wide

_CLASSES = 3


def _one_by_one(binary: Any) -> Any:
    """The claims of one class against the others, for each class; the published gap is the largest."""

    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        for c in range(_CLASSES):
            names = ("weights_", "dual_coef_", "intercept_", "objective_", "scaling_")
            own = SimpleNamespace(**{name: getattr(model, name)[c] for name in names if hasattr(model, name)})
            yield from binary(own, given, np.where(y == c, 1, -1), weight, parameters)

    return claims


def several(family: Family) -> Family:
    """The same estimator for three classes."""
    return replace(family, claims=_one_by_one(family.claims), classes=_CLASSES, kernel=lambda model, K: None)


def _at_once(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
    C = Number(parameters["C"]) * (np.ones(len(y)) if weight is None else wide(weight))
    domain = ball(parameters.get("p", 1.0), center=parameters.get("offset", 0.0))
    claim = published(JointClasses(given.K, y, C, domain, parameters["fit_intercept"]), model)
    yield replace(claim, coef=claim.coef.T)


def joint(family: Family) -> Family:
    """The same estimator for three classes, with one loss for each sample."""
    parameters = family.parameters.map(lambda drawn: drawn | {"multiclass": "crammer_singer", "solver": "auto"})
    return replace(family, parameters=parameters, claims=_at_once, classes=_CLASSES, kernel=lambda model, K: None)
