"""Which of two models is the simpler one, by their parameters: for ties, for one standard error, and along a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel._parameters import FINITE
from multikernel._typing import Array

SIMPLER: Mapping[str, int] = {  # the direction in which a parameter makes a model simpler; in the order of what counts
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
    """The positions of the values from the simplest model to the most flexible one: the way warm starts help."""
    return np.argsort(-SIMPLER.get(parameter, -1) * values, kind="stable")


def complexity(params: Mapping[str, Any], kernels: int) -> tuple[float, ...]:
    """A model of a smaller tuple is the simpler: that with fewer kernels, then by the parameters of ``SIMPLER``."""
    known = {name: value for name, value in params.items() if FINITE.accepts(value)}  # what "auto" becomes is not
    return (kernels, *(-direction * float(known.get(name, 0.0)) for name, direction in SIMPLER.items()))
