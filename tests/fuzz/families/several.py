"""The same estimators for several classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from fuzz.claims import Claim, Family
from fuzz.samples import Given
from fuzz.wide import Array

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
