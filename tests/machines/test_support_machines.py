"""Support vector machines against a conic solver, libsvm, bounds that their points prove, and finite differences."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, SVR, OneClassSVM

import support_reference as ref
from cases import one_in
from multikernel.banks import DenseGram
from multikernel.machines import (
    DualSolution,
    EpsilonMachine,
    HingeMachine,
    OneClassMachine,
    SquaredHingeMachine,
    SupportMachine,
)

Array = Any
PENALTIES = [0.01, 1.0, 100.0]


@cache
def matrices() -> dict[str, tuple[Array, Array, Array]]:
    """Kernel matrices, labels and numbers."""
    rng = np.random.default_rng(11)
    n = 44
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    t = X[:, 1] - 0.5 * X[:, 0] ** 2 + 0.2 * rng.normal(size=n)
    rbf = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    twice = np.arange(n) % (n // 2)
    return {
        "rbf": (rbf, y, t),
        "low-rank": (X @ X.T, y, t),
        "rank-one": (np.outer(X[:, 0], X[:, 0]), y, t),
        "repeated-samples": (rbf[np.ix_(twice, twice)], np.where(rng.random(n) < 0.3, -y[twice], y[twice]), t),
        "zero": (np.zeros((n, n)), y, t),
        "constant": (np.ones((n, n)), y, t),
        "identity": (np.eye(n), y, t),
        "small": (1e-6 * rbf, y, t),
        "large": (1e6 * rbf, y, t),
    }


def machines(C: float, tol: float) -> dict[str, tuple[SupportMachine, ref.Problem]]:
    nu = min(C + 0.1, 0.9)
    return {
        "hinge": (HingeMachine(C, tol=tol), ref.hinge(C, True)),
        "hinge-through-origin": (HingeMachine(C, False, tol=tol), ref.hinge(C, False)),
        "squared-hinge": (SquaredHingeMachine(C, tol=tol), ref.squared_hinge(C, True)),
        "squared-hinge-through-origin": (SquaredHingeMachine(C, False, tol=tol), ref.squared_hinge(C, False)),
        "epsilon": (EpsilonMachine(C, 0.1, tol=tol), ref.epsilon(C, 0.1, True)),
        "epsilon-through-origin": (EpsilonMachine(C, 0.1, False, tol=tol), ref.epsilon(C, 0.1, False)),
        "absolute": (EpsilonMachine(C, 0.0, tol=tol), ref.epsilon(C, 0.0, True)),
        "one-class": (OneClassMachine(nu, tol=tol), ref.one_class(nu)),
    }


NAMES = list(machines(1.0, 1e-3))
everything = pytest.mark.parametrize("name", NAMES)
penalties = pytest.mark.parametrize("C", PENALTIES)


def target_of(name: str, y: Array, t: Array) -> Array:
    return y if "hinge" in name else t


def within(found: DualSolution, other: float, K: Array, relative: float) -> bool:
    """Whether two values agree; one-class values near zero to a part of the self-values."""
    return abs(found.value - other) <= relative * max(abs(other), 1e-5 * float(np.diagonal(K).mean()) + 1e-12)


# -- values and certificates -------------------------------------------------------------------------------------------


CASES = [
    *[("rbf", C) for C in PENALTIES],
    *[("low-rank", 100.0), ("rank-one", 0.01), ("repeated-samples", 1.0), ("repeated-samples", 100.0)],
    *[("zero", 1.0), ("constant", 1.0), ("identity", 100.0), ("small", 1.0), ("large", 1.0)],
]


@pytest.mark.parametrize(("name", "matrix", "C"), one_in(5, ((name, *case) for name in NAMES for case in CASES)))
def test_points_prove_the_value_and_the_conic_solver_agrees(name: str, C: float, matrix: str) -> None:
    K, y, t = matrices()[matrix]
    machine, problem = machines(C, 1e-8)[name]
    target = target_of(name, y, t)
    found = machine.solve(DenseGram(K), target)
    primal = problem.primal(K, target, found.coef, found.intercept)
    dual = problem.dual(K, target, found.coef)
    scale = max(abs(primal), 0.5e-5 * float(np.diagonal(K).mean()), 1e-12)
    assert found.converged
    assert problem.feasible(target, found.coef).max() <= 1e-11 * max(1.0, np.abs(found.coef).max())
    assert abs(dual - found.value) <= 1e-9 * scale
    assert primal - dual <= (max(found.gap, 0.0) + 1e-8) * scale
    if matrix not in ("large", "small"):  # what the conic solver does badly
        assert within(found, problem.conic(K, target), K, 1e-6)


@everything
@pytest.mark.parametrize(("matrix", "C"), [("rbf", 1.0), ("low-rank", 0.01), ("repeated-samples", 100.0)])
def test_rough_certificate_is_a_bound(name: str, C: float, matrix: str) -> None:
    K, y, t = matrices()[matrix]
    machine, problem = machines(C, 1e-2)[name]
    target = target_of(name, y, t)
    found = machine.solve(DenseGram(K), target)
    primal = problem.primal(K, target, found.coef, found.intercept)
    best = machines(C, 1e-9)[name][0].solve(DenseGram(K), target)
    scale = max(abs(primal), 0.5e-5 * float(np.diagonal(K).mean()))
    assert (found.converged, found.gap <= 1e-2) == (True, True)
    assert found.gap * scale == pytest.approx(primal - problem.dual(K, target, found.coef), abs=1e-10 * scale)
    assert found.value <= best.value + 1e-8 * scale
    assert best.value <= primal + 1e-10 * scale


@pytest.mark.parametrize("tol", [1.0, 1e-1, 1e-6])
def test_upper_value_is_true_where_the_value_is_below_the_one_that_counts_as_zero(tol: float) -> None:
    """Samples and their mirror images: the equal coefficients have the value 0, which is the optimum."""
    half = np.random.default_rng(0).normal(size=(8, 3))
    X = np.concatenate([half, -half])
    K, start = X @ X.T, np.full(16, 1.0 / 16.0)
    start[0] += 1e-6
    found = OneClassMachine(nu=0.5, tol=tol).solve(DenseGram(K), np.zeros(16), start)
    rounding = 1e-15 * np.diagonal(K).mean()
    assert abs(found.value) < 5e-6 * np.diagonal(K).mean()
    assert found.value <= rounding
    assert found.upper >= -rounding
    primal = ref.one_class(0.5).primal(K, np.zeros(16), found.coef, found.intercept)
    assert found.upper == pytest.approx(primal, rel=1e-9, abs=rounding)


@everything
def test_float32_is_solved_as_the_matrix_it_is(name: str) -> None:
    K, y, t = matrices()["rbf"]
    K = K.astype(np.float32)
    machine, target = machines(1.0, 1e-8)[name][0], target_of(name, y, t)
    single, double = (machine.solve(DenseGram(M), target) for M in (K, K.astype(float)))
    assert single.converged
    assert single.value == pytest.approx(double.value, rel=1e-7)


# -- warm starts -------------------------------------------------------------------------------------------------------


@everything
@pytest.mark.parametrize("matrix", ["rbf", "repeated-samples", "zero"])
def test_every_start_leads_to_the_same(name: str, matrix: str) -> None:
    K, y, t = matrices()[matrix]
    gram, target = DenseGram(K), target_of(name, y, t)
    machine = machines(1.0, 1e-8)[name][0]
    cold = machine.solve(gram, target)
    others = [machines(C, 1e-6)[name][0].solve(gram, target).warm for C in (0.1, 30.0)]
    interior = np.clip(cold.warm, 1e-12, 1.0 - 1e-12)
    rng = np.random.default_rng(2)
    wild = [rng.random(len(interior)), -interior, np.full(len(interior), np.nan), np.ones(3), 1e6 * interior]
    for start in [cold.warm, interior, *others, *wild]:
        kept = start.copy()
        found = machine.solve(gram, target, start)
        assert found.converged
        assert within(found, cold.value, K, 1e-7)
        np.testing.assert_array_equal(start, kept)
    assert machine.solve(gram, target, cold.warm).n_iter <= cold.n_iter // 10


@everything
def test_start_from_near_spares_steps(name: str) -> None:
    """The kernel changes a little, as it does while weights are learned."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 5))
    near, K = (np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1)) for gamma in (0.2, 0.201))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    machine = machines(1.0, 1e-5)[name][0]
    start = machine.solve(DenseGram(near), y).warm
    warm, cold = machine.solve(DenseGram(K), y, start), machine.solve(DenseGram(K), y)
    assert warm.n_iter < cold.n_iter
    assert warm.value == pytest.approx(cold.value, rel=2e-5)


# -- libsvm ------------------------------------------------------------------------------------------------------------


SINGLE = 1e-4  # libsvm holds its rows in single precision


def difference(found: DualSolution, K: Array, decision: Array) -> float:
    return float(np.abs(K @ found.coef + found.intercept - decision).max())


@penalties
@pytest.mark.parametrize("weight", [None, (0.5, 3.0)])
def test_decisions_are_those_of_svc(C: float, weight: tuple[float, float] | None) -> None:
    K, y, _ = matrices()["rbf"]
    costs = None if weight is None else np.where(y < 0, *weight)
    found = HingeMachine(C, tol=1e-10).solve(DenseGram(K), y, sample_weight=costs)
    given = None if weight is None else {-1: weight[0], 1: weight[1]}
    svc = SVC(C=C, kernel="precomputed", tol=1e-10, class_weight=given).fit(K, y)
    assert difference(found, K, svc.decision_function(K)) <= SINGLE


@penalties
def test_decisions_are_those_of_weighted_svc(C: float) -> None:
    K, y, _ = matrices()["rbf"]
    weight = np.random.default_rng(3).uniform(0.2, 2.0, size=len(y))
    machine = HingeMachine(C, tol=1e-10)
    found = machine.solve_program(DenseGram(K), machine.program(y, weight))
    svc = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y, sample_weight=weight)
    assert difference(found, K, svc.decision_function(K)) <= SINGLE


@penalties
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_predictions_are_those_of_svr(C: float, epsilon: float) -> None:
    K, _, t = matrices()["rbf"]
    found = EpsilonMachine(C, epsilon, tol=1e-11).solve(DenseGram(K), t)
    svr = SVR(C=C, epsilon=epsilon, kernel="precomputed", tol=1e-10).fit(K, t)
    assert difference(found, K, svr.predict(K)) <= SINGLE


@pytest.mark.parametrize("nu", [0.05, 0.33, 0.8])
def test_region_is_that_of_the_one_class_svm(nu: float) -> None:
    """There the coefficients sum to nu n, and the function is as much larger."""
    K, _, t = matrices()["rbf"]
    found = OneClassMachine(nu, tol=1e-10).solve(DenseGram(K), np.zeros(len(t)))
    svm = OneClassSVM(nu=nu, kernel="precomputed", tol=1e-10).fit(K)
    inside = K @ found.coef + found.intercept
    np.testing.assert_allclose(inside * nu * len(t), svm.decision_function(K), atol=1e-6)
    assert (inside < -1e-9).mean() <= nu <= (inside <= 1e-9).mean()


# -- small and odd -----------------------------------------------------------------------------------------------------


def test_two_samples_have_a_closed_form() -> None:
    """Distance r: a = min(C, 2 / r^2)."""
    K, y = np.array([[1.0, 0.25], [0.25, 1.0]]), np.array([1.0, -1.0])
    for C in (0.1, 10.0):
        found = HingeMachine(C, tol=1e-12).solve(DenseGram(K), y)
        np.testing.assert_allclose(found.coef, min(C, 2.0 / 1.5) * y, rtol=1e-12)
        assert found.intercept == pytest.approx(0.0, abs=1e-12)


def test_target_within_the_tube_needs_nothing() -> None:
    K, _, _ = matrices()["rbf"]
    found = EpsilonMachine(1.0, 0.5, tol=1e-10).solve(DenseGram(K), np.linspace(3.0, 3.8, len(K)))
    assert not found.coef.any()
    assert (found.value, found.gap, found.converged) == (0.0, 0.0, True)
    assert found.intercept == pytest.approx(3.4)


def test_everything_is_inside_a_hull_that_holds_the_origin() -> None:
    X = np.random.default_rng(4).normal(size=(60, 2))
    found = OneClassMachine(0.2, tol=1e-6).solve(DenseGram(X @ X.T), np.zeros(60))
    assert found.converged
    assert abs(found.value) <= 1e-10


def test_too_few_steps_are_told() -> None:
    K, y, _ = matrices()["rbf"]
    found = HingeMachine(100.0, tol=1e-12, max_iter=5).solve(DenseGram(K), y)
    assert not found.converged
    assert found.n_iter <= 5
    assert found.gap > 1e-3
    assert ref.hinge(100.0, True).feasible(y, found.coef).max() <= 1e-12


def test_solution_repeats_and_leaves_its_inputs_alone() -> None:
    K, y, _ = matrices()["rbf"]
    kept_K, kept_y = K.copy(), y.copy()
    first, second = (HingeMachine(10.0, tol=1e-9).solve(DenseGram(K), y) for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(K, kept_K)
    np.testing.assert_array_equal(y, kept_y)


MISTAKES = {
    "C-zero": (lambda: HingeMachine(0.0), "C must be a finite number > 0, got 0.0"),
    "C-infinite": (lambda: SquaredHingeMachine(float("inf")), "C must be a finite number > 0, got inf"),
    "C-nan": (lambda: EpsilonMachine(float("nan")), "C must be a finite number > 0, got nan"),
    "epsilon": (lambda: EpsilonMachine(1.0, -0.1), "epsilon must be a finite number >= 0, got -0.1"),
    "nu-zero": (lambda: OneClassMachine(0.0), r"nu must be a number in \(0, 1\], got 0.0"),
    "nu-large": (lambda: OneClassMachine(1.5), r"nu must be a number in \(0, 1\], got 1.5"),
    "one-class": (lambda: HingeMachine().program(np.ones(4)), "both classes present"),
    "one-class-squared": (lambda: SquaredHingeMachine().program(np.ones(4)), "both classes present"),
    "weights-short": (lambda: EpsilonMachine().program(np.arange(4.0), np.ones(3)), "4 finite numbers > 0"),
    "weights-zero": (lambda: OneClassMachine().program(np.zeros(2), np.array([0.0, 1.0])), "2 finite numbers > 0"),
    "weights-squared": (
        lambda: SquaredHingeMachine().program(np.array([1.0, -1.0]), np.array([1.0, -1.0])),
        "2 finite numbers > 0",
    ),
}


@pytest.mark.parametrize(("make", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
