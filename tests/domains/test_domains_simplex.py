"""Simplex and entropy: sizes where formulas overflow or cancel, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain_reference import DOMAINS, least_blocks
from multikernel.domains import EntropySimplex, HasBlockUpdate, Orthant, Simplex

Array = Any


def projection_by_trial(z: Array, total: float) -> Array:
    """The best of the projections on every face: on a face with k free weights all are shifted by the same number."""
    best = None
    for k in range(1, len(z) + 1):
        free = np.argsort(-z, kind="stable")[:k]
        d = np.zeros(len(z))
        d[free] = z[free] - (z[free].sum() - total) / k
        if (d >= 0).all() and (best is None or np.linalg.norm(d - z) < np.linalg.norm(best - z)):
            best = d
    assert best is not None
    return best


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.floats(0.1, 10))
def test_projection_is_the_best_over_all_faces(z: list[float], total: float) -> None:
    np.testing.assert_allclose(Simplex(total).project(np.array(z)), projection_by_trial(np.array(z), total), atol=1e-12)


def test_projection_of_large_entries_keeps_the_total() -> None:
    d = Simplex().project(np.array([1e16, 1e16, -1e300]))
    np.testing.assert_array_equal(d, [0.5, 0.5, 0.0])
    assert Simplex().project(np.array([1e12, 1e12 - 0.25]))[1] == pytest.approx(0.375, abs=1e-3)


def test_one_kernel_has_all_of_it() -> None:
    for domain in (Simplex(), EntropySimplex(0.1)):
        for d in (domain.start(1), domain.project(np.array([-7.0])), domain.maximiser(np.array([3.0]))):
            np.testing.assert_array_equal(d, [1.0])


def test_first_of_tied_scores_wins() -> None:
    np.testing.assert_array_equal(Simplex().maximiser(np.array([1.0, 3.0, 3.0])), [0.0, 1.0, 0.0])


def test_repair_of_nothing_is_uniform() -> None:
    np.testing.assert_array_equal(Simplex(2.0).feasible(np.array([-1.0, 0.0])), [1.0, 1.0])


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e308])
def test_repair_of_weights_of_any_size(size: float) -> None:
    np.testing.assert_array_equal(Simplex(2.0).feasible(np.array([size, size, -size])), [1.0, 1.0, 0.0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_no_shares_have_smaller_blocks_than_the_update(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    norms, domain = rng.exponential(size=m) + 1e-3, Simplex(1.5)
    assert isinstance(domain, HasBlockUpdate)
    d = domain.block_update(norms)
    other = domain.feasible(rng.random(m) + 1e-6)
    assert domain.contains(d, 1e-12)
    assert (norms**2 / d).sum() <= (norms**2 / other).sum() * (1 + 1e-12)


def test_update_is_that_of_a_conic_solver() -> None:
    norms = np.array([0.1, 2.0, 0.7])
    value = (norms**2 / Simplex(2.5).block_update(norms)).sum()
    assert value == pytest.approx(least_blocks(DOMAINS["simplex-total"], norms), rel=1e-6)


def test_update_of_norms_of_any_size() -> None:
    np.testing.assert_allclose(Simplex().block_update(np.array([1e-200, 3e-200])), [0.25, 0.75])
    np.testing.assert_allclose(Simplex().block_update(np.array([1e300, 1e300])), [0.5, 0.5])
    np.testing.assert_array_equal(Simplex().block_update(np.zeros(4)), np.full(4, 0.25))


def test_entropy_is_minus_infinity_nowhere() -> None:
    domain, vertex = EntropySimplex(2.0), np.array([1.0, 0.0, 0.0])
    assert domain.penalty(vertex) == 0.0
    assert domain.penalty(domain.start(3)) == pytest.approx(-2.0 * np.log(3))
    assert np.isfinite(domain.penalty_gradient(vertex)).all()


@pytest.mark.parametrize("strength", [1e-320, 1e-100, 1e-6])
def test_entropy_of_no_strength_is_the_largest_score(strength: float) -> None:
    domain, q = EntropySimplex(strength), np.array([1.0, 5.0, 3.0, 0.0])
    assert domain.support(q) == pytest.approx(5.0)
    np.testing.assert_allclose(domain.maximiser(q), [0, 1, 0, 0], atol=1e-12)


def test_entropy_of_great_strength_is_uniform() -> None:
    domain, q = EntropySimplex(1e9), np.array([1.0, 5.0, 3.0])
    np.testing.assert_allclose(domain.maximiser(q), domain.start(3), atol=1e-8)
    assert domain.support(q) == pytest.approx(3.0 + 1e9 * np.log(3))


def test_penalty_of_sums_has_a_support_only_below_its_strength() -> None:
    domain = Orthant(0.5, 1)
    assert domain.support(np.array([0.5, 0.1])) == 0.0
    np.testing.assert_array_equal(domain.maximiser(np.array([0.5, 0.1])), [0.0, 0.0])
    assert domain.support(np.array([0.6, 0.1])) == np.inf
    with pytest.raises(ValueError, match="exceeds its strength"):
        domain.maximiser(np.array([0.6, 0.1]))


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
def test_sizes_have_to_be_positive(value: float) -> None:
    with pytest.raises(ValueError, match="Simplex: total must be a finite number > 0"):
        Simplex(value)
    with pytest.raises(ValueError, match="EntropySimplex: strength must be a finite number > 0"):
        EntropySimplex(value)
    with pytest.raises(ValueError, match="Orthant: strength must be a finite number > 0"):
        Orthant(value)


def test_penalty_is_linear_or_quadratic() -> None:
    with pytest.raises(ValueError, match="must be 1 or 2, got 3"):
        Orthant(1.0, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("norm", [1, 2, 2.0, np.float64(1)])
def test_penalties_in_other_units_whatever_the_type_of_the_norm(norm: Any) -> None:
    assert Orthant(3.0, norm).in_units(2.0, 4.0).strength == 3.0 * 2.0 ** int(norm) / 4.0


def test_shares_in_other_units_have_another_total() -> None:
    for weight in (0.5, 1.0, 2.0):
        assert Simplex(3.0).in_units(weight, 1.0).total == 3.0 / weight
