"""The largest sum of powers over a ball against points of the ball, and against another optimizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from multikernel.procedures.hidden_convexity.bound import PowerSum

Array = Any
CASES = [(1.0, 2.0), (2.0, 2.0), (2.0, 2.5), (2.0, 3.0), (3.0, 3.0), (3.0, 5.0)]


def problem(p: float, q: float, seed: int, mixed: bool) -> PowerSum:
    rng, m = np.random.default_rng(seed), 5
    c = rng.exponential(size=m) * 10.0 ** rng.uniform(-4, 4)
    c[rng.random(m) < 0.2] = 0.0
    o = rng.choice([0.0, 1.0, 30.0]) * np.where(rng.random(m) < 0.3, 0.0, rng.random(m))
    return PowerSum(c, o, np.where(np.arange(m) < 2, 1.0, p) if mixed else np.full(m, p), q)


def found(given_: PowerSum) -> float:
    """By BFGS in the logarithms of the shares of delta^q, from several starts, and at the corners."""
    m, scale = len(given_.c), max(given_.c.max(), 1e-300)

    def total(share: Array) -> float:
        return float((given_.c / scale * (given_.o + share ** (1.0 / given_.q)) ** given_.p).sum())

    def by_logarithms(u: Array) -> float:
        e = np.exp(u - u.max())
        return -total(e / e.sum())

    rng = np.random.default_rng(1)
    runs = [minimize(by_logarithms, np.log(rng.exponential(size=m)), method="BFGS").fun for _ in range(4)]
    return scale * max(-min(runs), *(total(e) for e in np.eye(m)))


@pytest.mark.crossed
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize(("p", "q"), CASES)
def test_is_the_maximum(p: float, q: float, mixed: bool) -> None:
    for seed in range(2):
        given_ = problem(p, q, seed, mixed)
        assert given_.largest() == pytest.approx(found(given_), rel=1e-5)


@given(st.integers(0, 2**32 - 1), st.sampled_from(CASES), st.booleans())
def test_no_point_of_the_ball_has_more(seed: int, powers: tuple[float, float], mixed: bool) -> None:
    given_ = problem(*powers, seed, mixed)
    largest, rng = given_.largest(), np.random.default_rng(seed)
    for _ in range(20):
        delta = rng.exponential(size=5) ** rng.choice([0.2, 1.0, 5.0])
        delta /= np.linalg.norm(delta, given_.q)
        assert (given_.c * (given_.o + delta) ** given_.p).sum() <= largest * (1.0 + 1e-12)


def test_closed_forms() -> None:
    c, none = np.array([3.0, 1.0, 2.0]), np.zeros(3)
    assert PowerSum(c, none, np.full(3, 2.0), 2.0).largest() == pytest.approx(3.0, rel=1e-12)
    assert PowerSum(c, none, np.full(3, 2.0), 4.0).largest() == pytest.approx(np.linalg.norm(c, 2), rel=1e-12)
    assert PowerSum(c, np.ones(3), np.ones(3), 2.0).largest() == pytest.approx(6.0 + np.linalg.norm(c), rel=1e-12)
    assert PowerSum(c[:1], np.ones(1), np.full(1, 3.0), 3.0).largest() == pytest.approx(24.0, rel=1e-12)
    assert PowerSum(none, none, np.full(3, 2.0), 2.0).largest() == 0.0


def test_one_offset_far_below_the_others() -> None:
    """The largest coefficient has next to no offset: the end of the dual's domain, nearly."""
    given_ = PowerSum(np.array([5.0, 1.0]), np.array([1e-200, 1.0]), np.full(2, 2.0), 2.0)
    other = PowerSum(np.array([5.0, 1.0]), np.array([0.0, 1.0]), np.full(2, 2.0), 2.0)
    assert given_.largest() == pytest.approx(other.largest(), rel=1e-12)
