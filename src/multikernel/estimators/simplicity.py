"""The order of models by simplicity, from their parameters: for ties, for one standard error, and along a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel._parameters import FINITE
from multikernel._typing import Array

SIMPLER: Mapping[str, int] = {  # the direction in which a parameter makes models simpler, the most important first
    "lam": 1,
    "alpha": 1,
    "C": -1,
    "penalty": 1,
    "radius": -1,
    "degree": -1,
    "nu": 1,
    "epsilon": 1,
    "smoothing": 1,
    "beta": 1,
    "rho": -1,
    "p": -1,
    "norm": -1,
    "rank": -1,
}


def simplest_first(parameter: str, values: Array) -> Array:
    """The positions of the values from the simplest model to the most flexible one, as warm starts need them."""
    return np.argsort(-SIMPLER.get(parameter, -1) * values, kind="stable")


def complexity(params: Mapping[str, Any], kernels: int) -> tuple[float, ...]:
    """A tuple that is smaller for simpler models: the number of kernels, then the parameters of ``SIMPLER``."""
    numbers = {name: value for name, value in params.items() if FINITE.accepts(value)}  # not "auto"
    return (kernels, *(-direction * float(numbers.get(name, 0.0)) for name, direction in SIMPLER.items()))
