"""The bounds of smoothed multiple kernel learning hold for runs of the method, and are the formulas of the paper."""

from __future__ import annotations

import numpy as np
import pytest

import mkl_reference as mkl
from cases import one_in
from multikernel import precomputed
from multikernel.diagnostics import smoothing_bounds
from multikernel.procedures.nesterov import lipschitz, nesterov, printed_lipschitz
from multikernel.procedures.smoothed import SmoothedProblem, smoothed
from zoo import PROBLEMS


@pytest.mark.parametrize(
    ("name", "C", "s"), one_in(3, [("rank-one", 1.0, 10.0), ("random", 1.0, 1.0), ("low-rank", 0.1, 0.5)])
)
def test_they_hold(name: str, C: float, s: float) -> None:
    case = PROBLEMS[name]()
    best = smoothed(precomputed(case.K), case.y, C, s, tol=1e-8)
    unsmoothed = smoothed(precomputed(case.K), case.y, C, 1e-4 * s, tol=1e-6, max_iter=20_000).bound
    run = nesterov(precomputed(case.K), case.y, C, s, 0.0, 200, printed=False)
    bounds = smoothing_bounds(case.K, C, s, 200)
    assert run.values_of_steps[-1] - best.objective <= bounds.theorem_4
    f = -run.a.sum() + 0.5 * max(float((case.y * run.a) @ K @ (case.y * run.a)) for K in case.K)
    assert f - unsmoothed <= bounds.corollary_5 + 1e-4 * s * np.log(len(case.K))
    assert -unsmoothed <= bounds.value
    problem = SmoothedProblem.of(precomputed(case.K), case.y, C, s)
    assert bounds.lipschitz == pytest.approx(lipschitz(problem))
    assert bounds.printed_lipschitz == pytest.approx(printed_lipschitz(problem))
    assert mkl.smoothed_objective(case.K, case.y, s, run.a)[0] == pytest.approx(run.objective)


def test_the_printed_formulas() -> None:
    K = np.stack([np.diag([2.0, 1.0]), np.diag([0.5, 3.0]), np.eye(2), np.eye(2)])
    n, C, s, N = 2, 0.5, 4.0, 9
    a_g, b_g = 0.5 * 3.0, 0.5 * 9.0
    L = a_g + n * C**2 * b_g / s
    found = smoothing_bounds(K, C, s, N + 1)
    assert found.printed_lipschitz == pytest.approx(L)
    assert found.printed_theorem_4 == pytest.approx(2 * L * n * C**2 / (N + 1) ** 2)
    last = n * C**2 * np.sqrt(b_g * (np.log(4) - 1)) / (N + 1)
    assert found.printed_corollary_5 == pytest.approx(n * a_g / (2 * (N + 1) ** 2) + last)
    assert np.isnan(smoothing_bounds(K[:2], C, s, N + 1).printed_corollary_5)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_squares_of_eigenvalues_may_be_beyond_floating_point(unit: float) -> None:
    K = np.stack([np.diag([2.0, 1.0]), np.diag([0.5, 3.0]), np.eye(2)])
    found, plain = smoothing_bounds(unit * K), smoothing_bounds(K)
    assert found.theorem_4 == pytest.approx(unit * plain.theorem_4)
    assert found.printed_corollary_5 == pytest.approx(unit * plain.printed_corollary_5)


def test_the_smoothing_of_the_bound_makes_it_smallest() -> None:
    K = PROBLEMS["random"]().K
    found = smoothing_bounds(K, 2.0)
    for factor in (0.9, 1.1):
        assert smoothing_bounds(K, 2.0, factor * found.smoothing).corollary_5 > found.corollary_5
    assert "says" in str(found)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="one kernel needs no smoothing"):
        smoothing_bounds([np.eye(2)])
    with pytest.raises(ValueError, match="steps"):
        smoothing_bounds([np.eye(2)] * 2, steps=0)
    with pytest.raises(ValueError, match="C"):
        smoothing_bounds([np.eye(2)] * 2, C=-1.0)
    with pytest.raises(ValueError, match="beyond double precision"):
        smoothing_bounds([np.eye(2)] * 2, C=1e-170)
    with pytest.raises(ValueError, match="a kernel and a sample at least"):
        smoothing_bounds(np.zeros((2, 0, 0)))
    with pytest.raises(ValueError, match="all kernels are zero"):
        smoothing_bounds(np.zeros((2, 3, 3)))
