"""Balls of any norm: formulas of the field, extreme norms and sizes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain_reference import DOMAINS, least_blocks
from multikernel.domains import Ellipsoid, HasBlockUpdate, NormBall

Array = Any
norms = st.sampled_from([1.0, 1.001, 1.1, 1.5, 2.0, 2.5, 4.0, 30.0, 300.0])
seeds = st.integers(0, 2**32 - 1)


def projection_by_bisection(z: Array, p: float, radius: float, center: float) -> Array:
    """One weight at a time by bisection, for a multiplier found by bisection."""

    def shrink(a: float, lam: float) -> float:
        low, high = 0.0, abs(a)
        for _ in range(60):
            u = (low + high) / 2.0
            low, high = (low, u) if u + lam * u ** (p - 1.0) > abs(a) else (u, high)
        return max(np.sign(a) * high, -center)

    low, high = 0.0, 1e6
    for _ in range(100):
        lam = (low + high) / 2.0
        delta = np.array([shrink(a, lam) for a in z - center])
        low, high = (lam, high) if (np.abs(delta) ** p).sum() > radius**p else (low, lam)
    return np.maximum(center + delta, 0.0)


@pytest.mark.parametrize("p", [1.0, 1.1, 1.5, 2.0, 3.0, 7.5])
@pytest.mark.parametrize("center", [0.0, 0.4])
def test_projection_is_that_of_nested_bisection(p: float, center: float) -> None:
    z = np.array([3.0, -2.0, 0.5, 0.0, 0.3])
    found = NormBall(p, 0.8, center).project(z)
    np.testing.assert_allclose(found, projection_by_bisection(z, p, 0.8, center), atol=1e-9)


@given(st.sampled_from([1.0, 1.5, 2.0, 4.0]), st.integers(1, 8), seeds, st.floats(-2, 3))
def test_no_weights_of_the_ball_are_further_on_the_way_to_the_point(p: float, m: int, seed: int, power: float) -> None:
    """(z - d)'(x - d) <= 0 for all x, which makes d the nearest; centres differ and may be 0, entries may tie."""
    rng = np.random.default_rng(seed)
    ball = NormBall(p, 0.7, rng.choice([0.0, 0.1, 1.0], size=m))
    z = 10.0**power * np.round(rng.normal(size=m), 1)
    d = ball.project(z)
    assert ball.contains(d, 1e-12)
    assert ball.support(z - d) <= (z - d) @ d + 1e-9 * 10.0**power


def test_projection_on_the_euclidean_ball_around_0_shortens_the_positive_part() -> None:
    z = np.array([3.0, -2.0, 4.0])
    np.testing.assert_allclose(NormBall(2.0, 0.5).project(z), [0.3, 0.0, 0.4], rtol=1e-14)


def test_normalisation_is_not_the_projection_for_other_norms() -> None:
    z = np.array([3.0, 1.0])
    np.testing.assert_allclose(NormBall(1.0).project(z), [1.0, 0.0], atol=1e-15)  # not (3/4, 1/4)


def test_projection_of_points_so_far_away_that_rounding_hides_the_multiplier() -> None:
    d = NormBall(1.0, 0.1).project(np.array([3e25, -1e26, 7.0, 2e25]))
    np.testing.assert_allclose(d, [0.1, 0.0, 0.0, 0.0], rtol=1e-12)
    d = NormBall(1.0, 0.1).project(np.array([3e25, 3e25]))
    np.testing.assert_allclose(d, [0.05, 0.05], rtol=1e-12)


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0, 3.0, 300.0])
@pytest.mark.parametrize("z", [[3e30, 1e15], [4e200, 3e200, -1e200]], ids=["30-and-15-digits", "squares-overflow"])
def test_weights_nearest_to_a_point_far_away_are_the_best_for_it(p: float, z: list[float]) -> None:
    """Beside such a z any d is 0, and the multiplier says d_k^{p-1} proportional to z_k."""
    v = (np.maximum(z, 0.0) / max(z)) ** (1.0 / (p - 1.0))
    np.testing.assert_allclose(NormBall(p, 0.5).project(np.array(z)), 0.5 * v / (v**p).sum() ** (1.0 / p), rtol=1e-9)


@pytest.mark.parametrize("p", [1.0 + 1e-15, 1.0 + 1e-12, 1.0 + 1e-9])
def test_projection_lies_on_the_sphere_where_the_norm_is_nearly_1(p: float) -> None:
    """Rounding of the multiplier is raised to the power 1 / (p - 1)."""
    np.testing.assert_allclose(NormBall(p, 0.5).project(np.array([3.0, 3.0, 2.0])), [0.25, 0.25, 0.0], atol=1e-9)


@given(norms, st.integers(1, 6), seeds, st.floats(-5, 5))
def test_everything_scales_with_the_radius(p: float, m: int, seed: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    z, q, c, s = 3.0 * rng.normal(size=m), rng.exponential(size=m), rng.random(m), 10.0**power
    unit, scaled = NormBall(p, 1.0, c), NormBall(p, s, s * c)
    np.testing.assert_allclose(scaled.project(s * z), s * unit.project(z), atol=1e-9 * s)
    np.testing.assert_allclose(scaled.maximiser(q), s * unit.maximiser(q), rtol=1e-12)
    assert scaled.support(q) == pytest.approx(s * unit.support(q), rel=1e-12)


@given(norms, st.integers(1, 6), seeds)
def test_best_weights_follow_the_power_of_the_scores(p: float, m: int, seed: int) -> None:
    q = np.random.default_rng(seed).exponential(size=m) + 0.1
    delta = NormBall(p, 2.0, 1.0).maximiser(q) - 1.0
    assert (delta**p).sum() ** (1.0 / p) == pytest.approx(2.0, rel=1e-9)
    if 1.5 <= p <= 4.0:
        v = q ** (1.0 / (p - 1.0))
        np.testing.assert_allclose(delta, 2.0 * v / (v**p).sum() ** (1.0 / p), rtol=1e-9)


@pytest.mark.parametrize("p", [1.0, 1.0 + 1e-15, 1.0 + 1e-9, 1.0001, 2.0, 1e6])
@pytest.mark.parametrize("size", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_scores_of_any_size(p: float, size: float) -> None:
    domain, q = NormBall(p, 2.0), size * np.array([0.1, 0.5, 0.3])
    best = domain.maximiser(q)
    assert domain.contains(best, 1e-9)
    assert best @ q == pytest.approx(domain.support(q), rel=1e-9)
    assert 0.999 <= domain.support(q) / size <= 2.0


def test_largest_score_has_everything_near_norm_1_and_all_have_the_same_near_infinity() -> None:
    q = np.array([1.0, 3.0, 2.0, 0.0])
    np.testing.assert_allclose(NormBall(1.0 + 1e-6).maximiser(q), [0, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(NormBall(1e8).maximiser(q)[:3], 1.0, atol=1e-6)


def test_ties_of_norm_1_go_to_the_first_and_are_shared_otherwise() -> None:
    q = np.array([2.0, 3.0, 3.0])
    np.testing.assert_array_equal(NormBall(1.0).maximiser(q), [0.0, 1.0, 0.0])
    for p in (1.001, 1.5, 4.0):
        best = NormBall(p).maximiser(q)
        assert best[1] == best[2]


def test_zero_scores_leave_the_start() -> None:
    domain = NormBall(1.5, 2.0, np.array([0.0, 1.0, 3.0]))
    np.testing.assert_array_equal(domain.maximiser(np.zeros(3)), domain.start(3))
    assert domain.support(np.zeros(3)) == 0.0


def test_kernel_without_a_score_stays_at_the_centre() -> None:
    assert NormBall(1.5, 2.0, 1.0).maximiser(np.array([0.0, 1.0]))[0] == 1.0


def test_negative_scores_take_no_weight() -> None:
    best = NormBall(2.0).maximiser(np.array([-1.0, 3.0, 4.0]))
    np.testing.assert_allclose(best, [0.0, 0.6, 0.8])
    np.testing.assert_array_equal(NormBall(2.0).maximiser(np.array([-1.0, 0.0])), [0.0, 0.0])


@pytest.mark.parametrize("center", [0.8, 2.0])
def test_negative_scores_alone_take_weights_from_the_centre(center: float) -> None:
    """In the direction of the scores as far as the radius, unless the weights are 0 before."""
    domain, q = NormBall(2.0, 1.0, center), np.array([-1.0, -1.0])
    np.testing.assert_allclose(domain.maximiser(q), center - np.sqrt([0.5, 0.5]), rtol=1e-12)
    assert domain.support(q) == pytest.approx(-2.0 * center + np.sqrt(2.0), rel=1e-12)
    near = NormBall(2.0, 1.0, np.array([0.0, 0.5]))
    np.testing.assert_array_equal(near.maximiser(q), [0.0, 0.0])
    assert near.support(q) == 0.0


@pytest.mark.parametrize("p", [1.0001, 1.01, 1.5])
def test_scores_of_any_sign_and_size(p: float) -> None:
    """A weight whose score is far below 0 falls to 0, however small the scores of the others are."""
    domain, q = NormBall(p, 1.0, 0.1), np.array([-1.0, 1e-10])
    best = domain.maximiser(q)
    assert best[0] == pytest.approx(0.0, abs=1e-15)
    assert best @ q == pytest.approx(domain.support(q), rel=1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e200])
@pytest.mark.parametrize("scores", [[1.0, 0.5], [1.0, -0.5]])
def test_scores_of_any_size_in_an_ellipsoid(size: float, scores: list[float]) -> None:
    domain, q = Ellipsoid(np.array([[4.0, 1.0], [1.0, 1.0]]), center=0.5), np.array(scores)
    np.testing.assert_allclose(domain.maximiser(size * q), domain.maximiser(q), rtol=1e-12)
    assert domain.support(size * q) / size == pytest.approx(domain.support(q), rel=1e-12)


def test_one_kernel_takes_the_whole_radius() -> None:
    domain = NormBall(1.7, 2.0, 0.5)
    for d in (domain.start(1), domain.maximiser(np.array([0.1])), domain.project(np.array([9.0]))):
        np.testing.assert_allclose(d, [2.5], rtol=1e-14)


def test_a_ball_without_parameters_is_that_of_norm_1_and_radius_1_around_0() -> None:
    q = np.array([1.0, 3.0, 2.0])
    np.testing.assert_array_equal(NormBall().maximiser(q), [0.0, 1.0, 0.0])
    assert NormBall().support(q) == 3.0


def test_radius_of_zero_is_the_centre() -> None:
    centre = np.array([0.0, 2.0, 1.0])
    domain = NormBall(2.0, 0.0, centre)
    z = np.array([5.0, -1.0, 0.0])
    for d in (domain.start(3), domain.project(z), domain.maximiser(np.abs(z)), domain.feasible(z)):
        np.testing.assert_array_equal(d, centre)
    assert domain.support(np.abs(z)) == centre @ np.abs(z)


@given(norms, st.integers(1, 6), seeds)
def test_no_weights_have_smaller_blocks_than_the_update(p: float, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain, c = NormBall(p, 1.5), rng.exponential(size=m) + 1e-3
    assert isinstance(domain, HasBlockUpdate)
    d = domain.block_update(c)
    other = rng.random(m) + 1e-6
    other *= 1.5 / (np.max(other) * ((other / np.max(other)) ** p).sum() ** (1.0 / p))
    assert domain.contains(d, 1e-12)
    assert (c**2 / d).sum() <= (c**2 / other).sum() * (1 + 1e-9)


@pytest.mark.parametrize("name", ["ball-1", "ball-1.5", "ball-2", "ball-4"])
def test_update_is_that_of_a_conic_solver(name: str) -> None:
    c = np.array([0.1, 2.0, 0.7])
    value = (c**2 / DOMAINS[name].make(3).block_update(c)).sum()
    assert value == pytest.approx(least_blocks(DOMAINS[name], c), rel=1e-6)


def test_update_of_norms_of_any_size() -> None:
    np.testing.assert_allclose(NormBall(1.0).block_update(np.array([1e-300, 3e-300])), [0.25, 0.75])
    np.testing.assert_allclose(NormBall(3.0).block_update(np.full(8, 1e300)), np.full(8, 0.5))
    np.testing.assert_array_equal(NormBall(1.0).block_update(np.zeros(4)), np.full(4, 0.25))
    np.testing.assert_array_equal(NormBall(2.0).block_update(np.array([0.0, 7.0])), [0.0, 1.0])


def test_update_is_for_balls_around_0() -> None:
    with pytest.raises(ValueError, match="choose center=0"):
        NormBall(2.0, 1.0, 0.5).block_update(np.ones(3))


@pytest.mark.parametrize("p", [0.5, -1.0, np.inf, np.nan])
def test_norms_are_finite_and_at_least_1(p: float) -> None:
    with pytest.raises(ValueError, match="finite number >= 1"):
        NormBall(p)


@pytest.mark.parametrize("radius", [-1.0, np.inf, np.nan])
def test_radius_is_finite_and_not_negative(radius: float) -> None:
    with pytest.raises(ValueError, match="NormBall: radius must be a finite number >= 0"):
        NormBall(2.0, radius)


@pytest.mark.parametrize("center", [-1.0, np.nan, np.array([1.0, -0.1]), np.array([np.inf]), np.ones((2, 2))])
def test_centre_is_a_vector_of_non_negative_numbers(center: Any) -> None:
    with pytest.raises(ValueError, match="NormBall: center must be a finite number >= 0 or a vector"):
        NormBall(2.0, 1.0, center)
