"""Levenberg and Marquardt's method on a residual whose minimum is known, and where steps are refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from multikernel._typing import Array
from multikernel.numerics import levenberg_marquardt
from multikernel.numerics.lbfgs import lbfgs, remembering


def residuals(x: Array) -> tuple[Array, Array]:
    """Rosenbrock's function as a sum of squares, with its derivatives; the minimum is 0 at (1, 1)."""
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]]), np.array([[-20.0 * x[0], 10.0], [-1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class Valley(levenberg_marquardt.DampedModel, levenberg_marquardt.TrialPoint):
    """Its model near x; no value beyond a radius."""

    x: Array
    radius: float = np.inf

    @property
    def value(self) -> float:
        return float((residuals(self.x)[0] ** 2).sum())

    def model(self) -> Valley:
        return self

    def scale(self, before: Array | None) -> Array:
        J = residuals(self.x)[1]
        own = (J**2).sum(axis=0)
        return own if before is None else np.maximum(before, own)

    def step(self, damping: Array) -> tuple[Array, float]:
        r, J = residuals(self.x)
        s = -np.linalg.solve(J.T @ J + np.diag(damping), J.T @ r)
        return s, float(r @ r - (r + J @ s) @ (r + J @ s))

    def tried(self, step: Array) -> Valley | None:
        there = self.x + step
        return Valley(there, self.radius) if np.linalg.norm(there) <= self.radius else None


@pytest.mark.parametrize("start", [(-1.2, 1.0), (3.0, -4.0), (1.0, 1.0)])
def test_minimum_is_found_and_no_step_leads_up(start: tuple[float, float]) -> None:
    values: list[float] = []

    def goes_on(model: levenberg_marquardt.DampedModel) -> bool:
        values.append(model.value)
        return model.value > 1e-24

    end = levenberg_marquardt.descend(Valley(np.array(start)), goes_on)
    assert isinstance(end, Valley)
    np.testing.assert_allclose(end.x, 1.0, atol=1e-10)
    assert (np.diff(values) < 0.0).all()
    assert len(values) < 40


def test_it_ends_where_no_step_leads_down() -> None:
    edge = Valley(np.array([0.5, 0.25]), radius=np.hypot(0.5, 0.25))  # the way down leads out of the radius
    seen: list[float] = []

    def goes_on(model: levenberg_marquardt.DampedModel) -> bool:
        seen.append(model.value)
        return True

    end = levenberg_marquardt.descend(edge, goes_on)
    assert end.value == min(seen) <= edge.value


@dataclass(frozen=True, eq=False)
class Understated(Valley):
    """Its model promises next to nothing, as it may where F is within rounding of its minimum."""

    def step(self, damping: Array) -> tuple[Array, float]:
        return super().step(damping)[0], 1e-120


def test_a_step_that_reaches_far_more_than_was_predicted_is_taken() -> None:
    start = Understated(np.array([-1.2, 1.0]))
    end = levenberg_marquardt.descend(start, lambda model: model is start)
    assert end.value < start.value


def test_quasi_newton_steps_stay_within_limits_and_end_when_told() -> None:
    calls: list[Array] = []

    def function(x: Array) -> tuple[float, Array]:
        calls.append(x.copy())
        r, J = residuals(x)
        return float(r @ r), 2.0 * J.T @ r

    seen: list[tuple[Array, float]] = []

    def goes_on(x: Array, value: float, gradient: Array) -> bool:
        seen.append((x, value))
        return len(seen) < 12

    limits = (np.array([-2.0, -2.0]), np.array([0.5, 2.0]))
    lbfgs(remembering(function), np.array([-1.2, 1.0]), 100, goes_on, limits)
    assert 0 < len(seen) <= 12
    assert all((x <= limits[1]).all() and (x >= limits[0]).all() for x in calls)
    assert seen[-1][1] < seen[0][1]
    assert len({x.tobytes() for x in calls}) == len(calls)  # no point was evaluated twice in a row
