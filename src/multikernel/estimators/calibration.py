"""From decision values to probabilities: what values of held-out samples say about their labels.

    sigmoid      p(f) = 1 / (1 + exp(-(a f + b))), a and b of the largest likelihood of the targets (n+ + 1) / (n+ + 2)
                 and 1 / (n- + 2) in place of 1 and 0, with which classes that are apart give no infinite slope
    isotonic     p(f) non-decreasing, of least squared error

Platt (1999), Probabilistic outputs for support vector machines; Zadrozny and Elkan (2002), Transforming classifier
scores into accurate multiclass probability estimates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from multikernel._typing import Array

Calibration = Literal["platt", "isotonic"]
_STEPS = 100
_SHORTEST = 1e-10  # of a Newton step: one that gains only when it is cut further gains nothing
_CURVED = 1e-12  # of the mean curvature: less has no direction, as where all values are equal


class Calibrator(ABC):
    """The probability of the label +1, by decision value."""

    @abstractmethod
    def __call__(self, values: Array) -> Array:
        """The probabilities, of the shape of the values."""


@dataclass(frozen=True)
class Sigmoid(Calibrator):
    """1 / (1 + exp(-(slope f + offset)))."""

    slope: float
    offset: float

    def __call__(self, values: Array) -> Array:
        return expit(self.slope * values + self.offset)

    @classmethod
    def of(cls, values: Array, positive: Array, weight: Array) -> Sigmoid:
        """The sigmoid of the largest likelihood, by Newton steps.

        Parameters
        ----------
        values : array (n,)
        positive : bool array (n,), which labels are +1
        weight : array (n,) > 0, how often each sample counts
        """
        below, above = float(weight[~positive].sum()), float(weight[positive].sum())
        target = np.where(positive, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
        unit = float(np.abs(values).max(initial=0.0)) or 1.0
        x = np.stack([values / unit, np.ones(len(values))])
        theta = np.array([0.0, np.log((above + 1.0) / (below + 1.0))])
        loss = _loss(theta, x, target, weight)
        for _ in range(_STEPS):
            p = expit(theta @ x)
            curvature = (x * (weight * p * (1.0 - p))) @ x.T
            curvature += _CURVED * max(float(np.trace(curvature)), np.finfo(float).tiny) * np.eye(2)
            step, size = np.linalg.solve(curvature, x @ (weight * (p - target))), 1.0
            while size > _SHORTEST and not _loss(theta - size * step, x, target, weight) < loss:
                size *= 0.5
            if size <= _SHORTEST:
                break
            theta = theta - size * step
            loss = _loss(theta, x, target, weight)
        return cls(float(theta[0]) / unit, float(theta[1]))


def _loss(theta: Array, x: Array, target: Array, weight: Array) -> float:
    f = theta @ x
    return float(weight @ (np.logaddexp(0.0, f) - target * f))


@dataclass(frozen=True, eq=False)
class Isotonic(Calibrator):
    """Linear between the corners of a non-decreasing function, constant beyond them.

    Parameters
    ----------
    corners : array (c,), increasing decision values
    probability : array (c,), the function there
    """

    corners: Array
    probability: Array

    def __call__(self, values: Array) -> Array:
        return np.interp(values, self.corners, self.probability)

    @classmethod
    def of(cls, values: Array, positive: Array, weight: Array) -> Isotonic:
        """The non-decreasing function of least squared error; the parameters are those of ``Sigmoid.of``."""
        found = IsotonicRegression(y_min=0.0, y_max=1.0).fit(values, positive.astype(float), weight)
        return cls(found.X_thresholds_, found.y_thresholds_)


def calibrator(kind: Calibration, values: Array, positive: Array, weight: Array) -> Calibrator:
    """The calibrator of this kind; without any held-out sample one half, whatever the value."""
    return (
        Isotonic.of(values, positive, weight)
        if kind == "isotonic" and len(values)
        else Sigmoid.of(values, positive, weight)
    )
