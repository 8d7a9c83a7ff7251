"""How far a solution can be from the optimum: a number and its kind.

Every certificate of the package is relative to the value of the problem, or to a smaller number where one is known,

    duality gap     (upper - bound) / |upper|, with upper >= optimum >= bound: the solution is that close to the optimum
    stationarity    the same quotient for the gain of other weights to first order, where no bound is known: it is zero
                    at stationary points, and says nothing about points further away

A number that is not finite certifies nothing, and never counts as reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from multikernel._floats import TINY

Kind = Literal["duality gap", "stationarity"]
FINEST_GAP = 1e-13  # the smallest relative gap that a solver is asked for: values have about fifteen digits
# The tolerance of solutions that are only compared, or from which others begin. With working samples that were chosen
# by a support vector machine with a tolerance of 0.1 or 1e-3, fits took as long.
ROUGH = 1e-2
# The tolerance of an inner problem, relative to that of the outer one. With the full tolerance some targets ended at an
# actual gap of three times the tolerance (ridge_cv/nearby.py), and scales of twenty columns had an accuracy of .902
# instead of .910.
INNER = 0.1
# Iterations stop after so many steps, rounds or problems in a row without progress. Where 0.3 to 20 % of the values of
# a problem over weights are rounding errors, 190 more evaluations lowered them by 0.5 % at most.
STALLED = 10
NO_PROGRESS = 0.9  # times the best gap so far: a step or round that leaves a larger one made no progress


def relative(excess: float, value: float, floor: float = 0.0) -> float:
    """max(excess, 0) / max(|value|, floor); infinite where either is NaN or the value is infinite.

    Parameters
    ----------
    excess : float, by how much the value may be too large
    value : float
    floor : float >= 0, a value that counts as zero
    """
    quotient = max(float(excess), 0.0) / max(abs(float(value)), floor, TINY)
    if np.isfinite(quotient) and np.isfinite(value):
        return quotient
    return np.inf


@dataclass(frozen=True)
class Certificate:
    """A duality gap or a stationarity, relative to the value of the problem.

    Parameters
    ----------
    kind : "duality gap" or "stationarity"
    value : float >= 0

    Examples
    --------
    >>> from multikernel.certificate import Certificate
    >>> Certificate.gap(upper=10.0, bound=9.9).reached(0.1)
    True
    """

    kind: Kind
    value: float

    @classmethod
    def gap(cls, upper: float, bound: float, floor: float = 0.0) -> Certificate:
        """The duality gap of two values that enclose the optimum; ``floor`` is a value that counts as zero."""
        return cls("duality gap", relative(upper - bound, upper, floor))

    @classmethod
    def stationarity(cls, gain: float, value: float) -> Certificate:
        """The stationarity of a point with this value, where other weights gain ``gain`` to first order."""
        return cls("stationarity", relative(gain, value))

    def reached(self, tol: float) -> bool:
        """Whether the value is at most ``tol``; never for a NaN."""
        return self.value <= tol

    def __str__(self) -> str:
        return f"relative {self.kind} of {self.value:.2g}"


def worst(certificates: Iterable[Certificate]) -> Certificate:
    """The largest of several certificates; a stationarity if there is one, since it is weaker than a gap."""
    all_certificates = list(certificates)
    stationary = [certificate for certificate in all_certificates if certificate.kind == "stationarity"]
    return max(stationary or all_certificates, key=lambda certificate: (np.isnan(certificate.value), certificate.value))
