"""Descent from one point: Gauss-Newton steps where these are cheap, else limited-memory quasi-Newton steps.

Both work on logarithms within bounds, and never go uphill. Gauss-Newton steps (curvature.py) are a fifth to a half as
many. A parameter at a bound stays there while the gradient pushes against the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate
from multikernel.numerics.lbfgs import lbfgs, remembering
from multikernel.numerics.levenberg_marquardt import DampedModel, TrialPoint, descend
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.learned_scales.curvature import PartialTrial, partial_trial
from multikernel.procedures.learned_scales.error import ScalesError, Trial
from multikernel.procedures.learned_scales.forms import FARTHEST

_LONGEST_STEP = 3.0  # the most that a parameter moves in a Gauss-Newton step: a factor of 20


@dataclass(frozen=True, eq=False)
class DescentEnd:
    """The lowest point of a descent with its stationarity, and the stationarity after each step."""

    best: Trial
    certificate: Certificate
    history: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of the logarithms of the weights, and of the parameters of the scales around those of the start."""

    lower: Array
    upper: Array

    @classmethod
    def near(cls, error: ScalesError, u: Array) -> Bounds:
        R = len(error.combination.kernels)
        lower = u - FARTHEST
        upper = u + FARTHEST
        lower[:R] = np.log(1e-8)  # relative to the ridge: half of the digits of double precision
        upper[:R] = np.log(1e7)  # the inverse of the matrix loses as many digits
        return cls(lower, upper)

    def stationarity(self, u: Array, gradient: Array) -> Certificate:
        """The largest entry of the projected gradient: E is a logarithm, so it is relative to the error."""
        step = np.clip(u - gradient, self.lower, self.upper) - u
        return Certificate("stationarity", float(np.abs(step).max(initial=0.0)))


def descent_from(error: ScalesError, start: Trial, tol: float, max_iter: int, observe: Observer = silent) -> DescentEnd:
    """The end of the descent from a trial, where the stationarity is ``tol`` or steps make no more progress."""
    bounds = Bounds.near(error, start.u)
    if start.curvature is None:
        return _quasi_newton(error, start, bounds, tol, max_iter, observe)
    return _gauss_newton(error, start, bounds, tol, max_iter, observe)


# -- Gauss-Newton steps ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _ScalesModel(DampedModel):
    """E near a trial with its Gauss-Newton matrix."""

    error: ScalesError
    trial: Trial
    bounds: Bounds

    @property
    def value(self) -> float:
        return self.trial.value

    def scale(self, before: Array | None) -> Array:
        """The largest curvature for all parameters, because logarithms have the same unit."""
        largest = float(np.diag(np.asarray(self.trial.curvature)).max(initial=0.0))
        return np.full(len(self.trial.u), largest)

    def step(self, damping: Array) -> tuple[Array, float]:
        u = self.trial.u
        gradient = self.trial.gradient
        curvature = np.asarray(self.trial.curvature)
        pushed_down = (u <= self.bounds.lower) & (gradient > 0.0)
        pushed_up = (u >= self.bounds.upper) & (gradient < 0.0)
        free = ~(pushed_down | pushed_up)
        damped = curvature[np.ix_(free, free)] + np.diag(np.maximum(damping[free], SINGULAR))
        step = np.zeros(len(u))
        step[free] = -np.linalg.solve(damped, gradient[free])
        step *= _LONGEST_STEP / max(float(np.abs(step).max(initial=0.0)), _LONGEST_STEP)
        step = np.clip(u + step, self.bounds.lower, self.bounds.upper) - u
        return step, -float(gradient @ step + 0.5 * step @ curvature @ step)

    def tried(self, step: Array) -> _ScalesCandidate | None:
        check_interrupted()
        partial = None
        if not time_is_up():
            partial = partial_trial(self.error, self.trial.u + step)
        if partial is None:
            return None
        return _ScalesCandidate(partial, self.bounds)


@dataclass(frozen=True, eq=False)
class _ScalesCandidate(TrialPoint):
    """The value of E at a step's end; its derivatives are computed only where the value is low enough."""

    partial: PartialTrial
    bounds: Bounds

    @property
    def value(self) -> float:
        return self.partial.value

    def model(self) -> _ScalesModel:
        return _ScalesModel(self.partial.error, self.partial.trial(), self.bounds)


def _gauss_newton(
    error: ScalesError, start: Trial, bounds: Bounds, tol: float, max_iter: int, observe: Observer
) -> DescentEnd:
    """Descend from a trial with curvature, by the method of Levenberg and Marquardt."""
    history: list[float] = []
    trial = start
    certificate = bounds.stationarity(trial.u, trial.gradient)

    def goes_on(model: DampedModel) -> bool:
        nonlocal trial, certificate
        assert isinstance(model, _ScalesModel)
        trial = model.trial
        certificate = bounds.stationarity(trial.u, trial.gradient)
        history.append(certificate.value)
        observe(Event(len(history), certificate))
        return not (certificate.reached(tol) or len(history) > max_iter or time_is_up())

    descend(_ScalesModel(error, start, bounds), goes_on)
    return DescentEnd(trial, certificate, tuple(history))


# -- quasi-Newton steps ------------------------------------------------------------------------------------------------


def _quasi_newton(
    error: ScalesError, start: Trial, bounds: Bounds, tol: float, max_iter: int, observe: Observer
) -> DescentEnd:
    best = start
    first = bounds.stationarity(start.u, start.gradient)
    history = [first.value]

    def value(u: Array) -> tuple[float, Array]:
        nonlocal best
        check_interrupted()
        trial = start if np.array_equal(u, start.u) else error.at(u)
        if trial is None:  # the step is too long, and the line search shortens it
            return start.value + 1.0 + abs(start.value), np.zeros(len(u))
        best = min(best, trial, key=lambda candidate: candidate.value)
        return trial.value, trial.gradient

    def goes_on(u: Array, lowest: float, gradient: Array) -> bool:
        certificate = bounds.stationarity(u, gradient)
        history.append(certificate.value)
        observe(Event(len(history), certificate))
        return not (certificate.reached(tol) or time_is_up())

    observe(Event(1, first))
    if len(start.u) and not first.reached(tol):
        lbfgs(remembering(value), start.u, max_iter, goes_on, (bounds.lower, bounds.upper))
    return DescentEnd(best, bounds.stationarity(best.u, best.gradient), tuple(history))
