"""Each bound of duality.py against what it bounds: samples of the set, a fine grid, and exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.domains import EntropySimplex, NormBall, Orthant, Simplex
from multikernel.duality import (
    best_multiple,
    dual_value,
    fall_in_box,
    fall_in_simplex,
    form_rounding,
    lost_by_multiple,
)

NUMBER = st.floats(-3.0, 3.0)


@pytest.mark.parametrize(
    "domain", [Simplex(2.0), NormBall(2.0), NormBall(1.5, center=0.5), Orthant(strength=2.0, norm=2)]
)
def test_no_weights_are_below_the_dual_value(domain: Simplex | NormBall | Orthant) -> None:
    rng = np.random.default_rng(0)
    scores = rng.exponential(size=4)
    bound = dual_value(3.0, scores, domain)
    for _ in range(200):
        theta = domain.project(rng.exponential(size=4))
        assert bound <= 3.0 - theta @ scores + domain.penalty(theta) + 1e-12
    best = domain.maximiser(scores)
    assert bound == pytest.approx(3.0 - best @ scores + domain.penalty(best), rel=1e-12)


def test_entropy_is_in_the_support_function() -> None:
    scores = np.array([1.0, 2.0, 4.0])
    assert dual_value(0.0, scores, EntropySimplex(0.5)) <= -4.0


@given(linear=NUMBER, cost=st.floats(0.0, 5.0), most=st.sampled_from([0.3, 1.0, np.inf]))
def test_no_multiple_is_better_than_the_best(linear: float, cost: float, most: float) -> None:
    s, value = best_multiple(linear, cost, most)
    assert 0.0 <= s <= most
    if cost > 1e-6:
        tried = np.linspace(0.0, min(most, 2.0 * abs(linear) / cost + 1.0), 501)
        assert value >= (tried * linear - 0.5 * tried**2 * cost).max() - 1e-9 * max(1.0, abs(value))


@pytest.mark.parametrize(("linear", "cost"), [(1.0, np.inf), (1.0, np.nan), (np.nan, 1.0), (np.inf, 1.0)])
def test_what_is_no_number_has_the_multiple_zero(linear: float, cost: float) -> None:
    assert best_multiple(linear, cost) == (0.0, 0.0)


@given(value=st.floats(0.1, 10.0), excess=st.floats(-1.0, 10.0))
def test_what_the_best_multiple_loses(value: float, excess: float) -> None:
    """l = 2 J and cost 2 (J + e) leave J^2 / (J + e)."""
    expected = best_multiple(2.0 * value, 2.0 * (value + max(excess, 0.0)))[1]
    assert value - lost_by_multiple(value, excess) == pytest.approx(expected, rel=1e-12)


@given(slope=NUMBER, part=st.floats(0.0, 1.0), curvature=st.sampled_from([0.0, 0.5, 4.0]))
def test_fall_in_a_box(slope: float, part: float, curvature: float) -> None:
    lower, upper = -1.0, 2.0
    x = lower + part * (upper - lower)
    z = np.linspace(lower, upper, 3001)
    found = fall_in_box(np.array([slope]), np.array([x]), lower, upper, curvature)
    assert found >= 0.0
    assert found == pytest.approx((slope * (x - z) - 0.5 * curvature * (z - x) ** 2).max(), abs=1e-5)


def test_fall_without_a_box_is_that_of_a_parabola() -> None:
    g = np.array([3.0, -4.0])
    assert fall_in_box(g, np.ones(2), -np.inf, np.inf, 2.0) == pytest.approx(25.0 / 4.0)


def test_fall_in_a_simplex() -> None:
    slope, x = np.array([1.0, -2.0, 0.5]), np.array([0.2, 0.3, 0.5])
    assert fall_in_simplex(slope, x) == pytest.approx(max(slope @ (x - corner) for corner in np.eye(3)))


def test_rounding_of_a_form_is_bounded() -> None:
    """b'K b in floating point against exact fractions, where the terms cancel."""
    rng = np.random.default_rng(1)
    for n in (2, 5, 20):
        G = rng.normal(size=(n, 3))
        K = G @ G.T
        b = np.linalg.qr(G, mode="complete")[0][:, -1] if n > 3 else rng.normal(size=n)
        exact = sum(
            Fraction(float(b[i])) * Fraction(float(K[i, j])) * Fraction(float(b[j])) for i in range(n) for j in range(n)
        )
        error = abs(float(Fraction(float(b @ K @ b)) - exact))
        sizes = np.sqrt(np.diag(K))
        assert error <= form_rounding(b, sizes)
        both = form_rounding(b, np.stack([sizes, 2.0 * sizes]))
        np.testing.assert_allclose(both, form_rounding(b, sizes) * np.array([1.0, 4.0]), rtol=1e-14)
