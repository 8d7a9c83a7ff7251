"""The program of support vector machines: values, gap, intercept and feasible starts, against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from multikernel.machines import (
    EpsilonMachine,
    HingeMachine,
    OneClassMachine,
    SquaredHingeMachine,
    SupportMachine,
    SupportProgram,
)
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


def test_start_from_another_bound_is_scaled_and_the_rest_of_an_interior_method_is_swept_away() -> None:
    program = HingeMachine(3.0).program(np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]))
    start = np.array([1.0, 0.5, 1e-12, 1.0 - 1e-12, 0.5, 1e-11])
    np.testing.assert_allclose(program.feasible(start), [3.0, 1.5, 0.0, 3.0, 1.5, 0.0], rtol=1e-12)
    assert (program.feasible(start)[[0, 2, 3, 5]] == [3.0, 0.0, 3.0, 0.0]).all()


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
