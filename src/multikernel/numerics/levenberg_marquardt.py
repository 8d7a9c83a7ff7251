"""Levenberg and Marquardt's method: steps of a quadratic model whose damping depends on how well it predicts.

    min_x F(x),        F(x + s) near F(x) - predicted(s),        s minimises the model + damping s'D s

D is a diagonal matrix. A step is taken where F falls by more than a small part of what the model predicts. With the
ratio r of the two the damping becomes (Nielsen 1999)

    damping max(1/10, 1 - (2 r - 1)^3)        after a step (1/3 in place of 1/10 in the source),
    damping growth,  growth <- 2 growth       after a trial that was refused, growth being 2 at first,

so that it changes smoothly near r = 1/2, and grows faster with every trial that is refused. F never rises.

K. Madsen, H. B. Nielsen and O. Tingleff (2004), Methods for non-linear least squares problems, section 3.2; J. J. More
(1978), The Levenberg-Marquardt algorithm: implementation and theory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from multikernel._typing import Array

FIRST_DAMPING = 1e-2  # Madsen, Nielsen and Tingleff take 1e-6 near a solution, 1e-3 to 1 elsewhere
LEAST_DAMPING = 1e-8  # of D: with less the model of two equal columns is not definite in floating point
# of the predicted decrease: a step that reaches less is refused (More takes 1e-4, with which 400 kernels on 20 samples
# took 101 steps, and fewer than 100 with this)
ACCEPTED = 1e-3


class TrialPoint(ABC):
    """F at the end of a step that may be taken."""

    @property
    @abstractmethod
    def value(self) -> float:
        """F."""

    @abstractmethod
    def model(self) -> DampedModel:
        """The model near this point."""


class DampedModel(ABC):
    """F near a point."""

    @property
    @abstractmethod
    def value(self) -> float:
        """F at the point."""

    @abstractmethod
    def scale(self, before: Array | None) -> Array:
        """The diagonal of D, from that of the models before; None for the first."""

    @abstractmethod
    def step(self, damping: Array) -> tuple[Array, float]:
        """s for the diagonal matrix damping D, and the decrease that the model predicts without damping."""

    @abstractmethod
    def tried(self, step: Array) -> TrialPoint | None:
        """F at the end of a step; None where it has no value there."""


def descend(model: DampedModel, goes_on: Callable[[DampedModel], bool]) -> DampedModel:
    """The last model: where the caller stops, or where no step leads down because of rounding.

    Parameters
    ----------
    model : near the first point
    goes_on : of the model at the first point and after each step; False stops the run
    """
    damping = FIRST_DAMPING
    scale = None
    while goes_on(model):
        scale = model.scale(scale)
        lower = _lower(model, scale, damping)
        if lower is None:
            break
        candidate, damping = lower
        del model, lower  # what the last point holds is freed before the next model takes as much
        model = candidate.model()
        del candidate
    return model


def changed_damping(damping: Any, growth: Any, ratio: Any) -> tuple[Any, Any]:
    """The damping and the growth after a trial: numbers, or for many descents arrays of the same shape."""
    accepted = ratio > ACCEPTED
    within = np.clip(ratio, 0.0, 1.0)  # beyond 1 the factor is 1/10, and the cube may overflow
    factor = np.where(accepted, np.maximum(0.1, 1.0 - (2.0 * within - 1.0) ** 3), growth)
    return np.maximum(damping * factor, LEAST_DAMPING), np.where(accepted, 2.0, 2.0 * growth)


def _lower(model: DampedModel, scale: Array, damping: float) -> tuple[TrialPoint, float] | None:
    """The next point, at which F is lower, and the next damping; None where no step leads down."""
    growth = 2.0
    while damping < 1e12:  # where so short a step does not lead down, none does
        step, predicted = model.step(damping * scale)
        candidate = None  # what the last trial holds is freed before the next one takes as much
        candidate = model.tried(step) if predicted > 0.0 else None
        if candidate is None:
            ratio = -1.0
        else:
            ratio = (model.value - candidate.value) / predicted
        damping, growth = changed_damping(damping, growth, ratio)
        if candidate is not None and ratio > ACCEPTED:
            return candidate, damping
    return None
