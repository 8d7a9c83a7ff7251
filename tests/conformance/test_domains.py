"""Every domain: its points, its projection, its support and its separable description agree with one another."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain_reference import DOMAINS, centre, nearest, support
from multikernel.domains import Domain, NormBall

Array = Any
names = pytest.mark.parametrize("name", DOMAINS)
sizes = pytest.mark.parametrize("m", [1, 2, 7])
any_name = st.sampled_from(sorted(DOMAINS))
any_size = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)
scales = st.sampled_from([1e-3, 1.0, 1e3])


def made(name: str, m: int) -> Domain:
    return DOMAINS[name].make(m)


def bounded_scores(name: str, q: Array) -> Array:
    """Scores for which the support is finite."""
    return np.minimum(q, 0.7) if name == "orthant-1" else q


# -- points ------------------------------------------------------------------------------------------------------------


@names
@sizes
def test_start_is_feasible_and_prefers_no_kernel(name: str, m: int) -> None:
    domain = made(name, m)
    above = domain.start(m) - domain.offset(m)
    assert above.shape == (m,)
    assert domain.contains(domain.start(m), 1e-12)
    np.testing.assert_allclose(above, above[0], atol=1e-12)
    domain.check(m)


@given(any_name, any_size, seeds)
def test_feasible_weights_are_contained_and_stay(name: str, m: int, seed: int) -> None:
    domain, d = made(name, m), DOMAINS[name].points(np.random.default_rng(seed), m)
    assert domain.contains(d)
    np.testing.assert_allclose(domain.feasible(d), d, atol=1e-12)
    np.testing.assert_allclose(domain.project(d), d, atol=1e-9)


@given(any_name, any_size, seeds)
def test_nearly_feasible_weights_are_repaired(name: str, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain, d = made(name, m), DOMAINS[name].points(rng, m)
    repaired = domain.feasible(d + 1e-6 * rng.normal(size=m))
    assert domain.contains(repaired, 1e-13)
    np.testing.assert_allclose(repaired, d, atol=1e-4)


@names
def test_outside_is_not_contained(name: str) -> None:
    domain = made(name, 3)
    assert not domain.contains(domain.start(3) - 5.0 * np.eye(3)[0])
    assert not domain.contains(np.full(3, np.nan))
    if domain.constrained:
        assert not domain.contains(domain.start(3) * (1.0 + 1e-6) + 1e-6)
        assert domain.contains(domain.start(3) * (1.0 + 1e-6), tol=1e-5)


# -- projection --------------------------------------------------------------------------------------------------------


@given(any_name, any_size, seeds, scales)
def test_no_feasible_point_is_nearer_than_the_projection(name: str, m: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    domain, z = made(name, m), scale * rng.normal(size=m)
    d = domain.project(z)
    assert domain.contains(d, 1e-12)
    np.testing.assert_allclose(domain.project(d), d, atol=1e-12)
    points = [DOMAINS[name].points(rng, m) for _ in range(20)] + [domain.start(m)]
    for other in points:  # (z - d)'(other - d) <= 0 characterises the projection
        assert (z - d) @ (other - d) <= 1e-11 * (1.0 + np.abs(z).max())


@names
@pytest.mark.parametrize("seed", range(3))
def test_projection_is_that_of_a_conic_solver(name: str, seed: int) -> None:
    z = 2.0 * np.random.default_rng(seed).normal(size=6) + np.array([0.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    found, judge = made(name, 6).project(z), nearest(DOMAINS[name], z)
    np.testing.assert_allclose(found, judge, atol=2e-4)
    assert np.linalg.norm(found - z) <= np.linalg.norm(judge - z) + 1e-7


@names
def test_projection_of_ties_keeps_them(name: str) -> None:
    z = np.array([2.0, 5.0, 5.0, -1.0, 5.0])
    domain = made(name, 5)
    if np.ptp(domain.offset(5)) == 0.0:
        d = domain.project(z)
        np.testing.assert_array_equal(d[[1, 2]], d[4])


# -- support -----------------------------------------------------------------------------------------------------------


@given(any_name, any_size, seeds, scales)
def test_support_bounds_every_point_and_is_attained(name: str, m: int, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    domain, q = made(name, m), bounded_scores(name, scale * rng.exponential(size=m) * (rng.random(m) < 0.8))
    h, best = domain.support(q), domain.maximiser(q)
    size = 1.0 + abs(h) + float(np.abs(best) @ q)
    for _ in range(20):
        d = DOMAINS[name].points(rng, m)
        assert d @ q - domain.penalty(d) <= h + 1e-12 * size
    assert domain.contains(best, 1e-12)
    assert best @ q - domain.penalty(best) == pytest.approx(h, abs=1e-12 * size)


@given(any_name, any_size, seeds)
def test_support_bounds_scores_of_either_sign(name: str, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain, q = made(name, m), bounded_scores(name, rng.normal(size=m))
    best = domain.maximiser(q)
    assert domain.contains(best, 1e-12)
    for _ in range(20):
        d = DOMAINS[name].points(rng, m)
        assert d @ q - domain.penalty(d) <= domain.support(q) + 1e-12
    if not domain.offset(m).any():
        assert best @ q - domain.penalty(best) == pytest.approx(domain.support(q), abs=1e-12)


@names
@pytest.mark.parametrize("seed", range(2))
def test_support_is_that_of_a_conic_solver(name: str, seed: int) -> None:
    q = bounded_scores(name, np.random.default_rng(seed).exponential(size=5))
    assert made(name, 5).support(q) == pytest.approx(support(DOMAINS[name], q), rel=1e-6, abs=1e-6)


@names
@sizes
def test_scores_of_zero_have_a_maximiser(name: str, m: int) -> None:
    domain = made(name, m)
    best = domain.maximiser(np.zeros(m))
    assert domain.contains(best, 1e-12)
    assert domain.support(np.zeros(m)) == pytest.approx(-domain.penalty(best), abs=1e-12)


@names
def test_duplicated_scores_share_or_the_first_wins(name: str) -> None:
    domain, q = made(name, 4), np.array([0.2, 0.6, 0.6, 0.1])
    above = domain.maximiser(q) - domain.offset(4)
    assert above[1] >= above[2] - 1e-12
    np.testing.assert_array_equal(domain.maximiser(q), domain.maximiser(q.copy()))


# -- the separable description -----------------------------------------------------------------------------------------


def separable(domain: Domain) -> bool:
    return not (isinstance(domain, NormBall) and domain.radius == 0.0)


@given(any_name, any_size, seeds)
def test_penalty_is_the_sum_of_its_parts(name: str, m: int, seed: int) -> None:
    domain, d = made(name, m), DOMAINS[name].points(np.random.default_rng(seed), m)
    parts = domain.separable_penalty(d)[0]
    assert parts.sum() == pytest.approx(domain.penalty(d), abs=1e-12)
    assert np.isfinite(domain.penalty_gradient(d)).all()


@names
def test_derivatives_are_finite_differences(name: str) -> None:
    domain, step = made(name, 4), 1e-6
    if not separable(domain):
        pytest.skip("a single point")
    delta = np.array([0.02, 0.3, 0.7, 1.2])
    for jet in (domain.constraint, domain.separable_penalty):
        value, slope, curvature = jet(delta)
        above, below = jet(delta + step), jet(delta - step)
        np.testing.assert_allclose((above[0] - below[0]) / (2 * step), slope, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose((above[1] - below[1]) / (2 * step), curvature, rtol=1e-4, atol=1e-8)
        assert value.shape == slope.shape == curvature.shape == (4,)
    np.testing.assert_allclose(domain.penalty_gradient(delta), domain.separable_penalty(delta)[1])


@names
def test_derivatives_are_finite_close_to_zero(name: str) -> None:
    domain = made(name, 3)
    if separable(domain):
        for jet in (domain.constraint, domain.separable_penalty):
            assert np.isfinite(jet(np.full(3, 1e-100))).all()
            at_zero = jet(np.zeros(3))
            assert np.isfinite(at_zero[:2]).all()
            assert not np.isnan(at_zero[2]).any()


@given(any_name, any_size, seeds)
def test_maximiser_solves_the_separable_problem(name: str, m: int, seed: int) -> None:
    """q_k = level c'(delta_k) + R'(delta_k) where delta_k > 0, and no more where it is 0; the constraint is active."""
    domain = made(name, m)
    if not separable(domain) or name == "orthant-1":
        return
    q = np.random.default_rng(seed).exponential(size=m) + 0.01
    delta = domain.maximiser(q) - domain.offset(m)
    c, slope, _ = domain.constraint(delta)
    excess = q - domain.separable_penalty(delta)[1]
    level = 0.0
    if domain.constrained:
        assert c.sum() == pytest.approx(1.0, abs=1e-9)
        level = float(excess @ delta / (slope @ delta))
    positive = delta > 1e-9
    np.testing.assert_allclose(excess[positive], level * slope[positive], atol=1e-9)
    assert (excess <= level * slope + 1e-9).all()


# -- values ------------------------------------------------------------------------------------------------------------


@names
def test_domains_are_frozen_and_picklable(name: str) -> None:
    domain = made(name, 3)
    z = np.array([0.3, 2.0, 1.0])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(domain)).project(z), domain.project(z))
    with pytest.raises(AttributeError):
        domain.radius = 3.0  # type: ignore[attr-defined]


def test_a_centre_for_each_kernel_has_as_many_entries() -> None:
    domain = NormBall(2.0, 1.0, centre(4))
    domain.check(4)
    with pytest.raises(ValueError, match="4 entries for 5 kernels"):
        domain.check(5)
    with pytest.raises(ValueError, match="4 entries for 5 kernels"):
        domain.start(5)
