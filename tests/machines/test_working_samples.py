"""Machines on matrices that are not stored find what they find on stored ones, and prove it from the points alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest

import reference as ref
import support_reference as support_ref
from multikernel import bind, kernels
from multikernel.banks import DenseGram
from multikernel.machines import (
    EpsilonMachine,
    HingeMachine,
    Machine,
    MarginMachine,
    OneClassMachine,
    SquaredHingeMachine,
    working_samples,
)

Array = Any
N = 600


@pytest.fixture(autouse=True)
def small_working_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Problems that are larger than their first working set need not be large."""
    monkeypatch.setattr(working_samples, "ALL_SAMPLES", 250)


@dataclass(frozen=True, eq=False)
class Hidden(DenseGram):
    """A matrix that says it is not stored; it notes the blocks that were formed, and refuses to be formed whole."""

    blocks: list[int] = field(default_factory=list)

    @property
    def stored(self) -> bool:
        return False

    def dense(self) -> Array:
        raise AssertionError("the whole matrix was asked for")

    def principal(self, index: Array) -> DenseGram:
        self.blocks.append(len(index))
        return DenseGram(self.K[np.ix_(index, index)])


def samples(noise: float, seed: int = 0) -> tuple[Array, Array]:
    """Points whose second class is inside the first, and labels of which a part is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4))
    y = np.where((X**2).sum(axis=1) < 3.0, 1.0, -1.0)
    return X, np.where(rng.random(N) < noise, -y, y)


@cache
def gaussians(noise: float = 0.0) -> tuple[Array, Array]:
    X, y = samples(noise)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    return np.exp(-0.2 * squares), y


noises = pytest.mark.parametrize("noise", [0.0, 0.3], ids=["separable", "noisy"])


@noises
@pytest.mark.parametrize("lam", [0.01, 0.1, 0.9])
def test_margin_is_that_of_the_stored_matrix(noise: float, lam: float) -> None:
    K, y = gaussians(noise)
    machine = MarginMachine(lam, tol=1e-5)
    found, want = machine.solve(Hidden(K), y), machine.solve(DenseGram(K), y)
    assert found.converged
    assert found.value == pytest.approx(want.value, rel=2e-5)
    g = y * found.coef
    assert g.min() >= 0.0
    np.testing.assert_allclose([g[y > 0].sum(), g[y < 0].sum()], 1.0, rtol=1e-12)
    value, bound = ref.hull_value(K, y, lam, g), ref.hull_bound(K, y, lam, g)
    assert value == pytest.approx(-found.value, rel=1e-10)
    assert (value - bound) / value == pytest.approx(found.gap, abs=1e-10)
    assert found.gap <= 1e-5


@pytest.mark.parametrize(("lam", "unit"), [(0.0, 1.0), (0.0, 1e-6), (1.0, 1.0)])
def test_margin_at_the_ends(lam: float, unit: float) -> None:
    K, y = gaussians()
    machine = MarginMachine(lam, tol=1e-3)
    found, want = machine.solve(Hidden(unit * K), y), machine.solve(DenseGram(unit * K), y)
    assert found.converged
    assert abs(found.value - want.value) <= 2e-3 * max(abs(want.value), 1e-5 * unit)


@noises
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_hinge_is_that_of_the_stored_matrix(noise: float, C: float) -> None:
    K, y = gaussians(noise)
    machine = HingeMachine(C, tol=1e-4)
    found, want = machine.solve(Hidden(K), y), machine.solve(DenseGram(K), y)
    assert found.converged
    assert found.value == pytest.approx(want.value, rel=2e-4)
    judge = support_ref.hinge(C, True)
    assert judge.feasible(y, found.coef).max() <= 1e-9 * C
    primal, dual = judge.primal(K, y, found.coef, found.intercept), judge.dual(K, y, found.coef)
    assert dual == pytest.approx(found.value, rel=1e-10)
    assert (primal - dual) / primal == pytest.approx(found.gap, abs=1e-9)
    assert found.gap <= 1e-4


OTHERS = {
    "through the origin": HingeMachine(3.0, fit_intercept=False, tol=1e-4),
    "squared hinge": SquaredHingeMachine(3.0, tol=1e-4),
    "epsilon": EpsilonMachine(3.0, 0.3, tol=1e-4),
}


@pytest.mark.parametrize("machine", OTHERS.values(), ids=OTHERS)
def test_other_programs(machine: Machine) -> None:
    K, y = gaussians(0.1)
    target = samples(0.1)[0][:, 0] if isinstance(machine, EpsilonMachine) else y
    found, want = machine.solve(Hidden(K), target), machine.solve(DenseGram(K), target)
    assert found.converged
    assert found.value == pytest.approx(want.value, rel=2e-4)


def test_given_sum_of_the_coefficients_needs_all_samples() -> None:
    """The upper bounds of a few samples may not reach it."""
    K, y = gaussians()
    with pytest.raises(AssertionError, match="whole matrix"):
        OneClassMachine(0.5).solve(Hidden(K), y)


def test_few_samples_take_part_where_few_matter() -> None:
    K, y = gaussians()
    gram = Hidden(K)
    found = HingeMachine(10.0).solve(gram, y)
    assert np.count_nonzero(found.coef) < 0.2 * N
    assert max(gram.blocks) < 0.7 * N


def test_start_spares_rounds() -> None:
    K, y = gaussians()
    for machine in (HingeMachine(10.0), MarginMachine(0.1, tol=1e-4)):
        cold, warm = Hidden(K), Hidden(K)
        found = machine.solve(cold, y)
        again = machine.solve(warm, y, found.warm)
        assert again.converged
        assert len(again.history) <= len(found.history)
        assert sum(warm.blocks) < sum(cold.blocks)


def test_a_start_that_is_no_solution_leads_to_one() -> None:
    K, y = gaussians(0.3)
    for machine, other in ((HingeMachine(1.0), HingeMachine(0.1)), (MarginMachine(0.1, tol=1e-4), MarginMachine(0.9))):
        start = other.solve(DenseGram(K), y).warm
        found, known = machine.solve(Hidden(K), y, start), machine.solve(DenseGram(K), y)
        assert found.converged
        assert found.value == pytest.approx(known.value, rel=2e-3)


def test_small_problems_are_solved_whole() -> None:
    K, y = gaussians()
    gram = Hidden(K[:200, :200])
    found, want = HingeMachine(2.0).solve(gram, y[:200]), HingeMachine(2.0).solve(DenseGram(gram.K), y[:200])
    assert gram.blocks == [200]
    assert found.value == pytest.approx(want.value, rel=1e-3)


def test_rare_class_takes_part_from_the_start() -> None:
    K, _ = gaussians()
    y = np.where(np.arange(N) == 434, 1.0, -1.0)
    for machine in (MarginMachine(0.1, tol=1e-5), HingeMachine(1.0, tol=1e-5)):
        found, want = machine.solve(Hidden(K), y), machine.solve(DenseGram(K), y)
        assert found.converged
        assert found.value == pytest.approx(want.value, rel=2e-5)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_samples, "_BYTES", 8 * 260**2)


LARGE_SUPPORT = {
    "margin": MarginMachine(0.1, tol=1e-4),
    "margin, small ridge": MarginMachine(0.001, tol=1e-4),
    "hinge": HingeMachine(0.1, tol=1e-6),
    "hinge, no intercept": HingeMachine(10.0, fit_intercept=False, tol=1e-6),
    "squared hinge": SquaredHingeMachine(100.0, tol=1e-6),
    "regression": EpsilonMachine(1.0, 0.01, tol=1e-6),
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("machine", LARGE_SUPPORT.values(), ids=LARGE_SUPPORT)
def test_support_larger_than_a_block(machine: Any) -> None:
    K, y = gaussians(0.4)
    target = K @ y if isinstance(machine, EpsilonMachine) else y
    target = target + 0.3 * np.random.default_rng(2).normal(size=N) if isinstance(machine, EpsilonMachine) else y
    gram = Hidden(K)
    found, want = machine.solve(gram, target), machine.solve(DenseGram(K), target)
    assert np.count_nonzero(want.coef) > 260
    assert max(gram.blocks) <= 260
    assert found.converged
    assert found.gap <= machine.tol
    assert found.value == pytest.approx(want.value, rel=2 * machine.tol)
    again = machine.solve(Hidden(K), target, want.warm)
    assert again.converged
    assert again.n_iter <= found.n_iter


@pytest.mark.usefixtures("small_blocks")
def test_a_rare_class_stays_among_the_first_samples_of_a_large_support() -> None:
    K, _ = gaussians()
    y = np.where(np.arange(N) == 434, 1.0, -1.0)
    want = MarginMachine(0.1, tol=1e-4).solve(DenseGram(K), y)
    found = MarginMachine(0.1, tol=1e-4).solve(Hidden(K), y, np.ones(N))
    assert found.converged
    assert found.value == pytest.approx(want.value, rel=2e-4)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("steps", [1, 50, 500])
def test_few_steps_from_a_large_support_make_nothing_worse(steps: int) -> None:
    K, y = gaussians(0.4)
    start = MarginMachine(0.3, tol=1e-4).solve(DenseGram(K), y).warm
    before = 0.9 * (y * start) @ K @ (y * start) + 0.1 * start @ start
    assert MarginMachine(0.1, max_iter=steps).solve(Hidden(K), y, start).value >= -before * (1.0 + 1e-9)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("steps", [1, 200])
def test_blocks_stop_after_the_steps_that_are_allowed(steps: int) -> None:
    K, y = gaussians(0.4)
    found = HingeMachine(1.0, tol=1e-6, max_iter=steps).solve(Hidden(K), y)
    assert not found.converged
    assert found.gap > 1e-6
    assert found.n_iter <= 2 * steps


@pytest.mark.parametrize("machine", [MarginMachine(0.01, max_iter=1), HingeMachine(1.0, max_iter=1)], ids=["m", "h"])
def test_steps_that_do_not_suffice_are_told(machine: Machine) -> None:
    K, y = gaussians(0.4)
    gram = Hidden(K)
    assert not machine.solve(gram, y).converged
    assert len(gram.blocks) == 1


def test_single_precision_made_on_demand() -> None:
    """Products of tiles of other shapes round otherwise; the certificate is that of the rounded matrix."""
    X, y = samples(0.05)
    bank = bind(kernels.homogeneous_polynomials(4), X.astype(np.float32), memory=1)
    stored = bind(kernels.homogeneous_polynomials(4), X)
    ones = np.ones(len(bank))
    for machine in (MarginMachine(0.1), HingeMachine(4.0)):
        found, want = machine.solve(bank.combine(ones), y), machine.solve(stored.combine(ones), y)
        assert found.converged
        assert found.value == pytest.approx(want.value, rel=2e-3 if isinstance(machine, HingeMachine) else 1e-4)
