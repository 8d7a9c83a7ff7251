"""What descents share: the bounds of the parameters, and where a descent ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.certificate import Certificate
from multikernel.procedures.learned_scales.error import ScalesError, Trial

_LARGEST = 1e7  # the largest weight relative to the ridge: the inverse of the matrix loses as many digits
_SMALLEST = 1e-8
_REACH = 14.0  # by how much a parameter of the scales may differ from the first one


@dataclass(frozen=True, eq=False)
class Run:
    """The lowest point of a descent and its stationarity, and the stationarity along the way."""

    best: Trial
    certificate: Certificate
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Of the logarithms of the weights, and of the parameters of the scales around those of the start."""

    lower: Array
    upper: Array

    @classmethod
    def around(cls, error: ScalesError, u: Array) -> Bounds:
        R, lower, upper = len(error.combination.kernels), u - _REACH, u + _REACH
        lower[:R], upper[:R] = np.log(_SMALLEST), np.log(_LARGEST)
        return cls(lower, upper)

    def stationarity(self, trial: Trial) -> float:
        """The largest entry of the projected gradient: E is a logarithm, so it is relative to the error."""
        step = np.clip(trial.u - trial.gradient, self.lower, self.upper) - trial.u
        return float(np.abs(step).max(initial=0.0))
