"""The program of support vector machines: values, gap, intercept and feasible starts, against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from multikernel import duality
from multikernel.machines import (
    EpsilonMachine,
    HingeMachine,
    OneClassMachine,
    SquaredHingeMachine,
    SupportMachine,
    SupportProgram,
)
from multikernel.machines.support import program as program_module
from multikernel.machines.support.certified import roots, solution, violations, within_rounding
from multikernel.machines.support.program import equality_multiplier

Array = Any
MACHINES: dict[str, SupportMachine] = {
    "hinge": HingeMachine(0.7),
    "squared-hinge": SquaredHingeMachine(0.7),
    "epsilon": EpsilonMachine(0.7, 0.2),
    "one-class": OneClassMachine(0.3),
}
machines = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
seeds = st.integers(0, 2**32 - 1)


def made(machine: SupportMachine, rng: np.random.Generator, n: int) -> SupportProgram:
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return machine.program(signs if "Hinge" in type(machine).__name__ else rng.normal(size=n))


@machines
def test_a_program_on_some_samples_has_all_their_variables(machine: SupportMachine) -> None:
    whole = made(machine, np.random.default_rng(0), 8)
    rows = np.array([6, 1, 4])
    own = np.flatnonzero(np.isin(whole.sample, rows))
    np.testing.assert_array_equal(np.sort(whole.variables(rows)), own)
    part = whole.restricted(rows)
    np.testing.assert_array_equal(rows[part.sample], whole.sample[whole.variables(rows)])
    for name in ("sign", "linear", "upper", "ridge"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[whole.variables(rows)])


@machines
@given(seed=seeds, n=st.integers(2, 12), integers=st.booleans())
@settings(deadline=None, max_examples=30)
def test_no_intercept_is_better(machine: SupportMachine, seed: int, n: int, integers: bool) -> None:
    rng = np.random.default_rng(seed)
    program = made(machine, rng, n)
    f = rng.integers(-2, 3, size=n).astype(float) if integers else rng.normal(size=n)
    best = program.best_intercept(f)
    value = program.primal(f, 0.0, best)
    reach = np.abs(f).max() + np.abs(program.linear).max() + 1.0
    kinks = program.sign * program.linear - f[program.sample]
    for other in [*kinks, *np.linspace(-reach, reach, 41)]:
        assert value <= program.primal(f, 0.0, float(other)) + 1e-9 * (1.0 + abs(value))
    exact = minimize_scalar(lambda c: program.primal(f, 0.0, c), bounds=(-reach, reach), method="bounded")
    assert value <= exact.fun + 1e-9 * (1.0 + abs(value))


@machines
@given(seed=seeds, n=st.integers(2, 12))
@settings(deadline=None, max_examples=30)
def test_gap_is_the_difference_of_the_values(machine: SupportMachine, seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    program = made(machine, rng, n)
    F = rng.normal(size=(n, 3))
    a = program.feasible(rng.random(len(program.sign)))
    b = program.coef(a)
    f, c = F @ (F.T @ b), float(rng.normal())
    gap = program.gap(a, f, c)
    want = program.primal(f, float(b @ f), c) - program.dual(a, float(b @ f))
    assert gap >= 0.0
    assert gap == pytest.approx(want, rel=1e-9, abs=1e-10 * (1.0 + abs(program.dual(a, float(b @ f)))))


def test_without_intercept_it_is_zero() -> None:
    assert HingeMachine(1.0, fit_intercept=False).program(np.array([1.0, -1.0])).best_intercept(np.ones(2)) == 0.0


def test_a_whole_interval_gives_its_middle() -> None:
    """Both classes beyond their margins: every intercept between -1 and 1 costs nothing."""
    f, y = np.array([2.0, 2.0, -2.0, -2.0]), np.array([1.0, 1.0, -1.0, -1.0])
    for machine in (HingeMachine(1.0), SquaredHingeMachine(1.0)):
        assert machine.program(y).best_intercept(f) == pytest.approx(0.0, abs=1e-12)


@machines
@given(seed=seeds, n=st.integers(2, 12), size=st.sampled_from([1e-12, 0.5, 1.0, 100.0]))
@settings(deadline=None, max_examples=30)
def test_starts_become_feasible(machine: SupportMachine, seed: int, n: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    program = made(machine, rng, n)
    starts = (None, np.ones(1), size * rng.random(len(program.sign)), size * rng.integers(0, 2, len(program.sign)))
    for start in starts:
        a = program.feasible(start)
        assert a.min() >= 0.0
        assert (a <= program.upper).all()
        assert abs(program.coef(a).sum() - program.total) <= 1e-12 * max(1.0, float(a.max()))


@machines
def test_feasible_starts_stay_what_they_are(machine: SupportMachine) -> None:
    program = made(machine, np.random.default_rng(0), 10)
    a = program.feasible(np.random.default_rng(1).random(len(program.sign)))
    np.testing.assert_allclose(program.feasible(a), a, rtol=1e-12, atol=1e-15)


def test_variables_at_a_bound_stay_there_while_the_others_suffice() -> None:
    program = HingeMachine(1.0).program(np.array([1.0, 1.0, -1.0, -1.0]))
    np.testing.assert_allclose(
        program.balanced(np.array([0.0, 0.5, -0.4, -0.4])), [0.0, 0.6, -0.3, -0.3], rtol=1e-12, atol=0.0
    )


def test_start_from_another_bound_is_scaled_and_the_rest_of_an_interior_method_is_swept_away() -> None:
    program = HingeMachine(3.0).program(np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]))
    start = np.array([1.0, 0.5, 1e-12, 1.0 - 1e-12, 0.5, 1e-11])
    np.testing.assert_allclose(program.feasible(start), [3.0, 1.5, 0.0, 3.0, 1.5, 0.0], rtol=1e-12)
    assert (program.feasible(start)[[0, 2, 3, 5]] == [3.0, 0.0, 3.0, 0.0]).all()
    np.testing.assert_array_equal(program.feasible(np.ones(6)), np.full(6, 3.0))
    one_largest = np.array([1.0, 0.5, 0.25, 0.75, 0.5, 0.5])
    np.testing.assert_array_equal(program.feasible(one_largest), one_largest)


@given(seed=seeds, ridge=st.sampled_from([0.0, 0.1, 1.0]), n=st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_equality_multiplier_is_where_the_sum_is_right(seed: int, ridge: float, n: int) -> None:
    rng = np.random.default_rng(seed)
    t, low, high = rng.normal(size=n), -rng.random(n), rng.random(n)
    total = float(rng.uniform(low.sum(), high.sum()))
    for ridges in (ridge, ridge * rng.uniform(0.1, 10.0, size=n)):
        found = equality_multiplier(t, low, high, ridges, total)

        def total_at(v: float, ridges: Array = ridges) -> float:
            return float(np.clip((t - v) / np.maximum(ridges, 1e-12), low, high).sum())

        assert total_at(found + 1e-9) - 1e-6 <= total <= total_at(found - 1e-9) + 1e-6


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_a_sum_that_rounding_puts_out_of_reach_has_the_multiplier_of_the_nearest_one(ridge: float) -> None:
    t, high = np.array([3.0, 1.0, -1.0, -3.0]), np.ones(4)
    for total, all_at, inside in ((4.0 * (1.0 + 1e-9), high, -1.0), (-1e-9, 0.0 * high, 1.0)):
        found = equality_multiplier(t, 0.0 * high, high, ridge, total) + 1e-9 * inside
        np.testing.assert_allclose(np.clip((t - found) / max(ridge, 1e-12), 0.0, 1.0), all_at, atol=1e-8)


# -- what rounding hides -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_what_rounding_hides_of_the_gap_is_the_most_that_it_can_move(ridge: float, monkeypatch: Any) -> None:
    """One variable, no equality to keep, few digits: its function value is wrong by as much as they allow."""
    eps, rng = 1e-3, np.random.default_rng(0)
    monkeypatch.setattr(program_module, "EPS", eps)
    monkeypatch.setattr(duality, "EPS", eps)
    for _ in range(300):
        size, upper, b = rng.uniform(0.1, 2.0, 3)
        sign, linear, f, intercept = rng.choice([-1.0, 1.0]), *rng.normal(size=3)
        f, a, scale = f * rng.choice([0.0, 1.0]), upper * rng.random(), 1.0 + b
        program = SupportProgram(
            1, *(np.array([each]) for each in (sign, linear, upper, ridge)), intercept=False, scale=scale
        )
        variable, sizes = np.array([a]), np.array([size])
        slope = linear - sign * (f + intercept) - ridge * a
        error = eps * (size * size * a + (abs(f) + abs(intercept) if f else 0.0) + abs(slope))
        known = program.gap(variable, np.array([f]), intercept)
        moved = [abs(program.gap(variable, np.array([f + e]), intercept) - known) for e in (-error, error)]
        of_dual = scale * eps * (size * size * a * a + abs(linear) * a)
        assert program.rounding(variable, sizes) == pytest.approx(of_dual, rel=1e-12)
        hidden = program.hidden(variable, np.array([f]), intercept, sizes) - of_dual
        slack = 1e-9 * scale
        assert max(moved) - slack <= hidden
        if abs(slope) > error:  # else either end of the range may be the best
            assert hidden <= 2.0 * max(moved) + slack


def test_a_solution_without_a_gap_still_tells_what_rounding_hides() -> None:
    """Two samples at distance 1 from a wall halfway: every number is exact."""
    K, y = 4.0 * np.eye(2), np.array([1.0, -1.0])
    program, a, sizes = HingeMachine(1.0).program(y), np.array([0.25, 0.25]), np.array([2.0, 2.0])
    found = solution(program, a, K @ (y * a), sizes, 1e-6)
    hidden = program.hidden(a, K @ (y * a), 0.0, sizes)
    assert (found.value, found.intercept) == (0.25, 0.0)
    assert 0.0 < hidden <= 1e-14
    assert found.gap == pytest.approx(hidden / 0.25, rel=1e-12)
    assert found.upper >= found.value
    assert found.converged


def test_converged_is_a_gap_below_the_tolerance_of_the_upper_value() -> None:
    """At half of the best coefficients the values are 3/16 and 17/16, and the gap is 14/17."""
    K, y = 4.0 * np.eye(2), np.array([1.0, -1.0])
    program, a = HingeMachine(1.0).program(y), np.array([0.125, 0.125])
    for tol, reached in ((0.82, False), (0.83, True)):
        found = solution(program, a, K @ (y * a), np.array([2.0, 2.0]), tol)
        assert found.gap == pytest.approx(14.0 / 17.0)
        assert found.converged == reached


def test_the_roots_of_self_values_are_those_of_small_ones_too() -> None:
    np.testing.assert_array_equal(roots(np.array([0.25, 4.0, 0.0, -1e-20])), [0.5, 2.0, 0.0, 0.0])


@pytest.mark.parametrize("off", [0.9, 1.1])
def test_a_gap_is_rounding_up_to_four_digits_of_every_function_value(off: float) -> None:
    """A quarter of the range is left to a variable whose slope should be zero."""
    K, y = 1e4 * np.eye(2), np.array([1.0, -1.0])
    program = SupportProgram(2, y, np.ones(2), np.array([4e-4, 4e-4]), np.zeros(2), scale=2.0)
    a, sizes = np.array([1e-4, 1e-4]), np.array([100.0, 100.0])
    found = solution(program, a, K @ (y * a), sizes, 1e-6)
    allowed = 2.0 * 8e-4 * 4.0 * np.finfo(float).eps * (100.0 * 2e-4) * 100.0
    slope = off * allowed / (2.0 * 3e-4)
    gradient = np.array([slope, 0.0])
    assert program.gap(a, y - gradient, 0.0) == pytest.approx(off * allowed, rel=0.05)
    assert within_rounding(K, program, found, gradient) == (off < 1.0)


def test_violations_of_samples_outside_are_their_losses_but_for_the_smallest() -> None:
    t, f = np.array([0.0, 1.0, -1.0, 2.0, 0.3, 0.0]), np.array([0.1, 0.7, -0.5, 1.0, 0.3, 3.0])
    program, away = EpsilonMachine(2.0, 0.2).program(t), np.abs(t - f) - 0.2  # -.1, .1, .3, .8, -.2, 2.8
    loss = 2.0 * away
    everywhere = np.ones(6, dtype=bool)
    np.testing.assert_allclose(violations(program, f, everywhere, 0.0), np.where(away > 0.0, loss, away))
    np.testing.assert_allclose(
        violations(program, f, everywhere, 0.9), np.where(away > 0.0, loss - 0.6, away), atol=1e-15
    )
    np.testing.assert_allclose(
        violations(program, f, np.arange(6) != 1, 0.7), np.where(away > 0.0, loss - 0.6, away), atol=1e-15
    )
