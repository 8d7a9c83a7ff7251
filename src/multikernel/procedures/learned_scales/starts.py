"""Points from which descents begin: equal scales, and scales in the proportion of the evidence of each feature.

Few features among many are missed by a descent from equal scales. The evidence of each column for the targets
(screening.py), where its held-out error is lower than that of equal scales, is the start of some rounds of the average
gradient outer product (gradients.py): scales in the proportion of its root, or a metric that is its root, with the
common width and the ridge of least held-out error, as long as that falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.procedures.learned_scales.curvature import tried
from multikernel.procedures.learned_scales.error import ScalesError, Trial
from multikernel.procedures.learned_scales.gradients import outer_product
from multikernel.procedures.learned_scales.screening import evidence

_FIRST_WIDTHS = (0.1, 0.3, 1.0, 3.0)  # the mean of the distance in equal scales
_FIRST_WEIGHTS = (1.0, 10.0, 100.0, 1e3, 1e4)  # weights of the kernel relative to the ridge
_GRADIENT_ROUNDS = 6
_LESS = 0.95  # times the held-out error of a turn: with less of a gain there are no more
_WIDER = (1.0, 3.0)  # factors of all scales that are tried: fewer features need larger ones
_HEAVIER = (0.1, 10.0)  # factors of the weights of the kernels that are tried after that


@dataclass(frozen=True)
class Equal:
    """Equal scales: the weight of the kernels relative to the ridge, and the mean distance."""

    weight: float
    width: float

    def theta(self, error: ScalesError) -> Array:
        return error.widened.theta(error.widened.equal(self.weight, self.width))

    def loss(self, error: ScalesError) -> float:
        """The held-out error; infinite where the kernel matrix is singular."""
        return next(error.losses(self.theta(error)), (1.0, np.inf))[1]


def equal_scales(error: ScalesError, few: ScalesError) -> Equal:
    """The best equal scales over widths and ridges on a few of the samples, where all admit it; else on all."""
    for on in (few, error):
        tried = {
            (weight, width): loss
            for width in _FIRST_WIDTHS
            for weight, loss in on.losses(Equal(1.0, width).theta(on), _FIRST_WEIGHTS)
        }
        for pair in sorted(tried, key=lambda pair: tried[pair]):
            if Equal(*pair).loss(error) < np.inf:
                return Equal(*pair)
    raise ValueError("learned scales: no kernel matrix of equal scales is positive definite with a ridge")


def at_point(error: ScalesError, u: Array) -> Trial:
    """E at a point where the matrix of some of the samples was definite."""
    found = tried(error, u)
    return beginning(error, equal_scales(error, error)) if found is None else found


def beginning(error: ScalesError, equal: Equal) -> Trial:
    """E at equal scales; for a metric of low rank, which has none, at what gradients make of them."""
    u = error.equal(equal.weight, equal.width) if error.widened is error else from_gradients(error, equal.theta(error))
    found = None if u is None else tried(error, u)
    if found is None:
        raise ValueError("learned scales: no kernel matrix to begin with is positive definite with a ridge")
    return found


def proposed(error: ScalesError, equal: Equal) -> Array | None:
    """What gradients make of the evidence of each feature, or of equal scales where that predicts worse."""
    theta, X = equal.theta(error), error.columns
    if X is None or len(error.form.varied) < 2:
        return None
    parts = evidence(X, error.held_out.Y)
    if parts.any():
        spread = X.var(axis=0)
        outer = np.diag(np.divide(parts, spread, out=np.zeros_like(parts), where=spread > 0.0))
        loss, u = _scaled(error.widened, outer, theta)
        if u is not None and loss < equal.loss(error):
            theta = error.widened.theta(u)
    return from_gradients(error, theta)


def from_gradients(error: ScalesError, theta: Array) -> Array | None:
    """The lowest of some turns from these scales; None without gradients."""
    lowest, best = np.inf, None
    for _ in range(_GRADIENT_ROUNDS):
        outer = outer_product(error, theta)
        if outer is None:
            return best
        loss, u = _scaled(error, outer, theta)
        if u is None or loss >= lowest:
            return best
        gain, lowest, best = loss / lowest, loss, u
        if gain > _LESS:
            return best
        theta = error.theta(u)
    return best


def _scaled(error: ScalesError, outer: Array, theta: Array) -> tuple[float, Array | None]:
    """Scales in the proportion of the root of an outer product, with the factors of least held-out error."""
    R = len(error.combination.kernels)
    weights, totals = np.log(theta[:R]), error.totals(theta)
    tried: list[tuple[float, Array]] = []
    for wider in _WIDER:
        u = np.concatenate([weights, *(error.form.proposed(outer, wider * total) for total in totals)])
        tried += [(loss, u) for _, loss in error.losses(error.theta(u))]
    if not tried:
        return np.inf, None
    lowest = min(tried, key=lambda pair: pair[0])[1]
    for factor, loss in error.losses(error.theta(lowest), _HEAVIER):
        tried.append((loss, np.append(lowest[:R] + np.log(factor), lowest[R:])))
    return min(tried, key=lambda pair: pair[0])
