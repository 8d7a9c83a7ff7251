"""The cutting plane model and the projection onto its level sets, against Clarabel."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from multikernel.domains import Simplex
from multikernel.optimizers.cuts import Cuts
from multikernel.optimizers.level import nearest

Array = Any
seeds = st.integers(0, 2**32 - 1)


def random_cuts(rng: Any, planes: int, m: int, total: float) -> Cuts:
    return Cuts(
        rng.normal(size=planes), rng.exponential(size=(planes, m)) + rng.random(), total, np.zeros(planes, dtype=int)
    )


def model(cuts: Cuts, theta: Array) -> float:
    return float((cuts.constant - cuts.slope @ theta).max())


@given(seeds, st.integers(1, 12), st.integers(1, 8), st.sampled_from([1.0, 2.5, 1e-3]))
def test_minimum(seed: int, planes: int, m: int, total: float) -> None:
    cuts = random_cuts(np.random.default_rng(seed), planes, m, total)
    theta, bound, multipliers = cuts.minimum()
    d = cp.Variable(m, nonneg=True)
    want = ref.conic(cp.Problem(cp.Minimize(cp.max(cuts.constant - cuts.slope @ d)), [cp.sum(d) == total]))
    assert Simplex(total).contains(theta)
    assert bound <= want + 1e-7
    assert bound == pytest.approx(want, abs=1e-6)
    assert model(cuts, theta) == pytest.approx(want, abs=1e-6)
    assert multipliers.sum() == pytest.approx(1.0)


@given(seeds, st.integers(1, 12), st.integers(1, 8), st.sampled_from([1.0, 2.5]), st.sampled_from([0.1, 0.5, 0.9]))
def test_nearest_point_of_a_level_set(seed: int, planes: int, m: int, total: float, tau: float) -> None:
    rng = np.random.default_rng(seed)
    cuts, z = random_cuts(rng, planes, m, total), total * rng.dirichlet(np.full(m, 0.5))
    least, top = cuts.minimum()[1], model(cuts, z)
    level = tau * top + (1.0 - tau) * least
    x, multipliers = nearest(z, cuts, level)
    d = cp.Variable(m, nonneg=True)
    below = [cp.sum(d) == total, cuts.constant - cuts.slope @ d <= level]
    ref.conic(cp.Problem(cp.Minimize(cp.sum_squares(d - z)), below))
    assert Simplex(total).contains(x)
    assert model(cuts, x) <= level + 1e-7 * (1.0 + top - least)
    np.testing.assert_allclose(x, d.value, atol=1e-5 * total)
    assert (multipliers >= 0.0).all()


def test_the_bound_holds_for_any_multipliers() -> None:
    rng = np.random.default_rng(0)
    cuts = random_cuts(rng, 7, 5, 1.5)
    least = cuts.minimum()[1]
    for _ in range(50):
        assert cuts.bound(rng.dirichlet(np.ones(7))) <= least + 1e-7


def test_planes_that_nothing_touches_are_dropped() -> None:
    cuts = random_cuts(np.random.default_rng(0), 3, 4, 1.0)
    touched = np.array([True, False, True])
    after = cuts
    for _ in range(2):
        after = after.after_round(touched[: len(after.idle)], patience=1)
    np.testing.assert_array_equal(after.constant, cuts.constant[touched])
    np.testing.assert_array_equal(after.slope, cuts.slope[touched])
