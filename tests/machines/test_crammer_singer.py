"""The machine of several classes: a conic solver, formulas by loops, two classes, and points from everywhere."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import joint_reference as ref
from cases import one_in
from multikernel.banks import DenseGram, FactorGram
from multikernel.machines import CrammerSingerMachine, HingeMachine
from multikernel.machines.crammer_singer import proximal
from multikernel.machines.crammer_singer.program import CrammerSingerProgram

Array = Any


def signs(y: Array) -> Array:
    return np.where(y[:, None] == np.arange(int(y.max()) + 1), 1.0, -1.0)


@cache
def matrices() -> dict[str, tuple[Array, Array]]:
    """Kernel matrices and classes."""
    rng = np.random.default_rng(5)
    n = 40
    X = rng.normal(size=(n, 3))
    y = np.argmax(X + 0.7 * rng.normal(size=(n, 3)), axis=1)
    rbf = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    twice = np.arange(n) % (n // 2)
    return {
        "rbf": (rbf, y),
        "low-rank": (X @ X.T, y),
        "constant": (np.ones((n, n)), y),
        "repeated": (rbf[np.ix_(twice, twice)], y),
        "identity": (np.eye(n), np.arange(n) % 5),
        "large": (1e6 * rbf, y),
        "small": (1e-6 * rbf, y),
    }


@pytest.mark.parametrize(("name", "C", "intercept"), one_in(5, product(matrices(), (0.05, 1.0, 1e3), (True, False))))
def test_it_is_the_optimum(name: str, C: float, intercept: bool) -> None:
    """Its own coefficients and intercepts prove both values, and the conic solver's bounds enclose them."""
    K, y = matrices()[name]
    weight = np.linspace(0.5, 2.0, len(y))
    size = float(np.diagonal(K).mean())
    C /= size
    found = CrammerSingerMachine(C=C, fit_intercept=intercept, tol=1e-8).solve(DenseGram(K), signs(y), None, weight)
    assert found.converged
    B, scale = found.warm, abs(found.value)
    assert ref.violation(y, C * weight, B, intercept) <= 1e-12 * C * len(y)
    assert found.value == pytest.approx(ref.dual(K[None], y, B), rel=1e-9)
    assert found.upper == pytest.approx(ref.primal(K, y, C * weight, found.coef, found.intercept), rel=1e-9)
    known = ref.joint(size * K[None] / size**2, y, size * C * weight, intercept)
    assert found.value <= known.upper / size + 1e-6 * scale
    assert found.upper >= known.lower / size - 1e-6 * scale


def test_two_classes_are_the_machine_of_two_classes_with_twice_the_weight() -> None:
    K, y = matrices()["rbf"]
    y = np.minimum(y, 1)
    joint = CrammerSingerMachine(C=0.7, tol=1e-10).solve(DenseGram(K), signs(y))
    one = HingeMachine(C=1.4, tol=1e-10).solve(DenseGram(K), signs(y)[:, 1])
    assert joint.value == pytest.approx(0.5 * one.value, rel=1e-8)
    f = K @ joint.coef + joint.intercept
    np.testing.assert_allclose(f[:, 1], 0.5 * (K @ one.coef + one.intercept), atol=1e-5)


def test_it_is_that_of_liblinear() -> None:
    """Which has no intercept of its own here."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 4))
    y = np.argmax(X[:, :3] + 0.5 * rng.normal(size=(60, 3)), axis=1)
    other = LinearSVC(multi_class="crammer_singer", C=0.5, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y)
    found = CrammerSingerMachine(C=0.5, fit_intercept=False, tol=1e-10).solve(DenseGram(X @ X.T), signs(y))
    np.testing.assert_allclose(X.T @ found.coef, other.coef_.T, atol=1e-4)


def test_features_give_what_their_matrix_gives() -> None:
    rng = np.random.default_rng(2)
    F = rng.normal(size=(50, 4))
    y = np.argmax(F[:, :3], axis=1)
    machine = CrammerSingerMachine(C=2.0, tol=1e-9)
    a = machine.solve(DenseGram(F @ F.T), signs(y))
    b = machine.solve(FactorGram(F, np.ones(4), F), signs(y))
    assert a.value == pytest.approx(b.value, rel=1e-8)


def test_classes_in_another_order() -> None:
    K, y = matrices()["rbf"]
    machine = CrammerSingerMachine(C=2.0, tol=1e-10)
    a = machine.solve(DenseGram(K), signs(y))
    b = machine.solve(DenseGram(K), signs(y)[:, [2, 0, 1]])
    assert a.value == pytest.approx(b.value, rel=1e-9)
    np.testing.assert_allclose(K @ a.coef[:, [2, 0, 1]], K @ b.coef, atol=1e-5)


def test_many_classes_start_from_a_part_of_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """And go on by conjugate gradients where a system would be large: the optimum is the same."""
    from multikernel.machines.crammer_singer import machine, proximal

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    y = rng.integers(0, 5, 60)
    want = CrammerSingerMachine(C=1.0, tol=1e-8).solve(DenseGram(K), signs(y))
    monkeypatch.setattr(proximal, "FACTORED", 30)
    monkeypatch.setattr(machine, "FACTORED", 30)
    found = CrammerSingerMachine(C=1.0, tol=1e-6).solve(DenseGram(K), signs(y))
    assert found.converged
    assert found.value <= want.upper * (1 + 1e-12)
    assert found.upper >= want.value * (1 - 1e-12)


def test_coefficients_are_balanced_without_leaving_what_is_allowed() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 50)
    program = CrammerSingerProgram.of(signs(y), 1.0, True, rng.uniform(0.5, 2.0, 50))
    B, _ = program.nearest(rng.normal(size=(50, 4)))
    assert ref.violation(y, program.upper, B, False) <= 1e-12
    balanced = program.balanced(B)
    assert ref.violation(y, program.upper, balanced, True) <= 1e-12
    assert float(balanced[program.own_class].sum()) > 0.3 * float(B[program.own_class].sum())
    one_way = np.where(y[:, None] == 0, [[1.0, -1.0, 0.0, 0.0]], 0.0)  # nothing moves back: all of it is taken off
    assert not program.balanced(0.1 * one_way).any()


def test_the_nearest_rows() -> None:
    """No allowed row is nearer: of many at random, none makes an obtuse angle less than a right one."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 30)
    program = CrammerSingerProgram.of(signs(y), 1.5, False, None)
    V = 3.0 * rng.normal(size=(30, 3))
    B, active = program.nearest(V)
    shares = np.where(program.own_class, 1.5, 0.0) - B
    np.testing.assert_array_equal(active, shares > 1e-15)
    for _ in range(20):
        other = np.where(program.own_class, 1.5, 0.0) - 1.5 * rng.dirichlet(np.ones(3), size=30)
        assert (((V - B) * (other - B)).sum(axis=1) <= 1e-12).all()


def nearest_in_fractions(v: Array, own: int, upper: float) -> list[float]:
    """The nearest allowed row: C e_y less the projection of C e_y - v on the simplex of sum C, in rational numbers."""
    C = Fraction(upper)
    x = [C * (c == own) - Fraction(float(value)) for c, value in enumerate(v)]
    falling = sorted(x, reverse=True)
    levels = [(sum(falling[:j]) - C) / j for j in range(1, len(x) + 1)]
    level = [t for t, value in zip(levels, falling, strict=True) if value > t][-1]
    return [float(C * (c == own) - max(value - level, Fraction(0))) for c, value in enumerate(x)]


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e8, 1e16])
def test_the_nearest_rows_have_all_digits_whatever_C_is(C: float) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 4, 40)
    program = CrammerSingerProgram.of(signs(y), C, True, None)
    for size in (1e-3, 1.0, C):
        V = size * rng.normal(size=(40, 4))
        B, _ = program.nearest(V)
        known = np.array([nearest_in_fractions(v, int(own), C) for v, own in zip(V, y, strict=True)])
        assert (np.abs(B - known).max(axis=1) <= 1e-14 * np.abs(V).max(axis=1)).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_the_hard_margin_has_a_small_gap_whatever_C_is(intercept: bool) -> None:
    """No coefficient is at its bound, so that the conic solver's answer for a moderate C holds for every larger one."""
    X = np.random.default_rng(1).normal(size=(40, 2))
    y = (X[:, 0] > 0.0).astype(int) + (X[:, 0] > 1.0)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    known = ref.joint(K[None], y, np.full(40, 1e4), intercept)
    for C in (1e4, 1e16, 1e20):
        found = CrammerSingerMachine(C=C, fit_intercept=intercept).solve(DenseGram(K), signs(y))
        assert found.converged
        assert found.gap <= 1e-3
        assert found.value <= known.upper * (1.0 + 1e-6)
        assert found.upper >= known.lower * (1.0 - 1e-6)


@pytest.mark.parametrize(
    "target", [np.ones(4), np.ones((4, 2)), np.array([[1.0, -1.0], [1.0, 0.0]]), np.ones((3, 1)), -np.ones((3, 3))]
)
def test_a_target_that_is_no_classes(target: Array) -> None:
    with pytest.raises(ValueError, match="a column for each class"):
        CrammerSingerMachine().solve(DenseGram(np.eye(len(target))), target)


@pytest.mark.parametrize("constant", [1e2, 1e8])
def test_a_constant_in_the_kernel_is_a_matter_of_the_intercepts(constant: float) -> None:
    """The constant of a column at 10,000 under a linear kernel; the values are those of the given matrix."""
    rng = np.random.default_rng(4)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 4)) + 1.5 * rng.normal(size=(3, 4))[y]
    K, Y = X @ X.T, 2.0 * np.eye(3)[y] - 1.0
    known = ref.joint(K[None], y, np.ones(30))
    machine = CrammerSingerMachine(tol=1e-5)
    small = machine.solve(DenseGram(K), Y)
    found = machine.solve(DenseGram(K + constant), Y)
    assert found.gap <= 1e-4
    assert found.n_iter < 60
    assert found.value <= known.upper * (1.0 + 1e-7)
    assert found.upper >= known.lower * (1.0 - 1e-7)
    assert ref.primal(K + constant, y, np.ones(30), found.coef, found.intercept) == pytest.approx(known.upper, rel=1e-4)
    np.testing.assert_allclose(found.intercept, small.intercept, atol=1e-2)


def test_time_ends_a_problem_between_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    K, y = matrices()["rbf"]
    machine = CrammerSingerMachine(C=1e4, tol=1e-8)
    whole = machine.solve(DenseGram(K), signs(y))
    asked = iter([False, False, False])
    monkeypatch.setattr(proximal, "out_of_time", lambda n: next(asked, True))
    found = machine.solve(DenseGram(K), signs(y))
    assert found.n_iter <= 3 < whole.n_iter
    assert not found.converged
    assert found.value <= whole.upper


# Intercepts that only the damping holds made the first five end in a singular system. The others ended with gaps of
# .004 and .002: |B - P| says nothing of what is left to do, for P may be anything where the kernel is zero.
@pytest.mark.parametrize(
    ("seed", "C"), one_in(5, [(3, 1e3), (17, 1e3), (73, 1e4), (151, 1e4), (187, 1e4), (9, 1e4), (129, 1e3)])
)
def test_a_large_C_on_few_features(seed: int, C: float) -> None:
    rng = np.random.default_rng(seed)
    n, d, c = int(rng.integers(20, 120)), int(rng.integers(1, 8)), int(rng.integers(3, 6))
    X = rng.normal(size=(n, d))
    y = np.argmax(np.hstack([X, rng.normal(size=(n, c))])[:, :c] + 0.7 * rng.normal(size=(n, c)), axis=1)
    y[:c] = range(c)
    K = X @ X.T
    found = CrammerSingerMachine(C=C, tol=1e-8).solve(DenseGram(K), signs(y))
    assert found.converged
    primal = ref.primal(K, y, np.full(n, C), found.coef, found.intercept)
    dual = ref.dual(K[None], y, found.warm)
    assert dual * (1.0 - 1e-9) <= primal <= dual * (1.0 + 1e-6)
