"""Support vector machines with learned weights: bounds recomputed from the answer alone, Clarabel, symmetries."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest

import saddle_reference as saddle
from cases import one_in
from multikernel import bind, kernels, precomputed
from multikernel.combinations import Linear
from multikernel.domains import Domain, NormBall, Orthant, Simplex
from multikernel.machines import HingeMachine, SupportMachine
from multikernel.observer import Event
from multikernel.problem import Problem
from multikernel.procedures import Start, Weights
from multikernel.procedures.interior import Saddle, interior_point, working
from multikernel.procedures.units import solved_in_own_units
from saddle_cases import (
    DOMAINS,
    MACHINES,
    PENALTIES,
    Solved,
    domains,
    judged,
    learned,
    machines,
    meaningful,
    solve,
    stacks,
)

Array = Any
TOL = 1e-6
procedure = import_module("multikernel.procedures.support_mkl")


# -- optimality --------------------------------------------------------------------------------------------------------


@pytest.mark.crossed
@pytest.mark.parametrize("C", PENALTIES)
@pytest.mark.parametrize("stack", list(stacks()))
def test_the_answer_proves_itself(stack: str, C: float) -> None:
    """Primal value of weights, coefficients and intercept, and dual value of the coefficients, lie within tol.

    Every machine with one domain; over all stacks and C every pair of machine and domain is met.
    """
    turn = list(stacks()).index(stack) * len(PENALTIES) + PENALTIES.index(C)
    for shift, (name, machine) in enumerate(machines(C, TOL).items()):
        domain = DOMAINS[(turn + 4 * shift) % len(DOMAINS)]
        if not meaningful(name, domain):
            continue
        found = solve(stack, machine, domains(len(stacks()[stack]))[domain])
        assert found.weights.converged, (name, domain)
        assert found.weights.gap <= TOL, (name, domain)
        assert found.distance <= found.weights.gap + 1e-12, (name, domain, found)
        assert found.lower - found.rounding <= found.weights.objective + 1e-9 * abs(found.upper), (name, domain)
        assert found.weights.objective <= found.upper + found.rounding + 1e-12 * abs(found.upper), (name, domain)


@pytest.mark.parametrize("name", one_in(3, MACHINES))
def test_objective_is_that_of_clarabel(name: str) -> None:
    """Every machine with a third of the domains, each pair on kernels and a C of its own."""
    number = MACHINES.index(name)
    cases = [*product(("random", "duplicated", "zero", "rank-one", "constant"), PENALTIES)]
    cases += [("badly-scaled", 0.01), ("badly-scaled", 1.0)]  # more is too much for Clarabel
    for turn in range(number % 3, len(DOMAINS), 3):
        domain, (stack, C) = DOMAINS[turn], cases[(7 * turn + 11 * number) % len(cases)]
        if not meaningful(name, domain):
            continue
        K, machine = stacks()[stack], machines(C, TOL)[name]
        pair = domains(len(K))[domain]
        found, truth = solve(stack, machine, pair), saddle.optimum(K, machine.truth, pair[1])
        size = max(abs(truth.upper), found.floor)
        assert truth.gap <= 1e-4 or size <= 1e-9, (stack, C, domain, truth)
        assert found.encloses(truth.lower, truth.upper), (stack, C, domain, found, truth)
        assert truth.lower - TOL * size <= found.weights.objective, (stack, C, domain, found, truth)
        assert found.weights.objective <= truth.upper + TOL * size, (stack, C, domain, found, truth)


# -- what is reported --------------------------------------------------------------------------------------------------


@cache
def exactly(stack: str, C: float, name: str, domain: str) -> Solved:
    return solve(stack, machines(C, 1e-9)[name], domains(len(stacks()[stack]))[domain])


NAMES = ("hinge", "hinge-unbalanced", "squared", "epsilon", "one-class")
PLACES = ("simplex", "ball-1.5", "ball-2-ones", "orthant-1", "entropy")
STOPS = ({"tol": 1e-1}, {"tol": 1e-2}, {"tol": 1e-3}, {"max_iter": 0}, {"max_iter": 1}, {"max_iter": 3})


@pytest.mark.parametrize(
    ("stack", "name", "stop"),
    one_in(13, product(["random", "duplicated", "rank-one", "badly-scaled"], NAMES, STOPS)),
    ids=str,
)
def test_the_gap_is_true_wherever_it_stops(stack: str, name: str, stop: dict[str, Any]) -> None:
    turn = NAMES.index(name)
    for domain, C in zip(PLACES, np.roll([0.1, 10.0, 0.1, 10.0, 0.1], turn).tolist(), strict=True):
        if not meaningful(name, domain):
            continue
        machine = machines(C, stop.get("tol", TOL))[name]
        found = solve(stack, machine, domains(len(stacks()[stack]))[domain], max_iter=stop.get("max_iter", 200))
        best = exactly(stack, C, name, domain)
        case = (domain, C, found, best)
        assert found.distance <= found.weights.gap * (1.0 + 1e-6) + 1e-12, case
        assert found.encloses(best.lower, best.upper), case
        size = max(abs(found.upper), found.floor)
        assert abs(found.weights.objective - best.upper) <= (found.weights.gap + 1e-8) * size, case
        assert found.weights.converged == (found.weights.gap <= stop.get("tol", TOL)), case
        assert found.weights.converged or "max_iter" in stop, case


def test_history_and_observer() -> None:
    seen: list[Event] = []
    machine, pair = machines(1.0, 1e-4)["hinge"], domains(4)["simplex"]
    found = solve("random", machine, pair, observe=seen.append).weights
    assert found.history[-1] == found.gap
    assert [event.certificate.value for event in seen] == list(found.history[:-1])
    assert [event.step for event in seen] == list(range(1, len(seen) + 1))
    assert found.n_iter == len(seen)


def test_weights_that_do_not_matter_are_exactly_zero() -> None:
    """Rank-one kernels of noise beside two that tell: most weights vanish, and so do most coefficients' partners."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 30))
    y = np.sign(X[:, 0] + X[:, 1])
    K = np.einsum("ik,jk->kij", X, X)
    weights, dual = learned(precomputed(K), HingeMachine(0.1, tol=1e-5), Simplex(), y)
    assert weights.converged
    assert 2 <= np.count_nonzero(weights.values) < 20
    assert weights.values.argsort()[-2:].tolist() in ([0, 1], [1, 0])
    assert np.count_nonzero(dual.coef) < 60


# -- where it starts, and what takes part ------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["simplex", "ball-1", "ball-2", "orthant-1", "entropy"])
@pytest.mark.parametrize("start", ["all on one", "wrong half", "optimal", "none"])
def test_the_start_changes_nothing(domain: str, start: str) -> None:
    machine, pair = machines(1.0, 1e-8)["hinge"], domains(6)[domain]
    cold = solve("rank-one", machine, pair)
    values = {
        "all on one": np.eye(6)[int(cold.weights.values.argmin())],
        "wrong half": np.where(cold.weights.values < np.median(cold.weights.values), 1.0 / 3.0, 0.0),
        "optimal": cold.weights.values,
        "none": np.zeros(6),
    }
    warm = solve("rank-one", machine, pair, start=Start(values[start]))
    assert warm.weights.converged
    assert warm.weights.objective == pytest.approx(cold.weights.objective, rel=1e-7)
    np.testing.assert_allclose(warm.weights.values, cold.weights.values, atol=1e-3)


def test_a_zero_kernel_leaves_the_variables_for_a_warm_start() -> None:
    """Three kernels of three samples: weights cannot be told from variables by their number."""
    stack = np.stack([np.eye(3) + 1.0, np.zeros((3, 3)), np.eye(3)])
    y = np.array([1.0, -1.0, 1.0])
    problem = Problem(precomputed(stack), Linear(), HingeMachine(1.0), NormBall(2.0), y)
    solve_once = partial(procedure.support_mkl, tol=1e-8)
    weights, dual = solved_in_own_units(problem, solve_once)
    assert weights.values[1] == 0.0
    again, _ = solved_in_own_units(problem, solve_once, start=Start.of(weights, dual))
    assert again.n_iter == 0


@cache
def many() -> tuple[Array, Array]:
    """Sixty kernels of which few matter."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 60))
    y = np.sign(X[:, 0] + 0.5 * X[:, 7] - 0.5 * X[:, 33] + 0.3 * rng.normal(size=40))
    return np.exp(-0.5 * (X.T[:, :, None] - X.T[:, None, :]) ** 2), y


@pytest.mark.parametrize(
    ("first", "domain", "start"),
    one_in(5, product([2, 5, 30], [Simplex(), NormBall(1.0), Orthant(0.7, 1)], [None, [50, 51], [0, 20, 40]])),
    ids=str,
)
def test_kernels_left_out_are_not_forgotten(
    monkeypatch: pytest.MonkeyPatch, first: int, domain: Domain, start: list[int] | None
) -> None:
    K, y = many()
    machine = HingeMachine(1.0, tol=1e-7)
    whole, _ = learned(precomputed(K), machine, domain, y)
    monkeypatch.setattr(working, "WORKING_ALL", first)
    monkeypatch.setattr(working, "WORKING_FIRST", first)
    at = None if start is None else np.bincount(start, minlength=60) / len(start)
    few, dual = learned(precomputed(K), machine, domain, y, start=Start(at))
    truth = {Simplex: saddle.simplex(), NormBall: saddle.ball(1.0), Orthant: saddle.orthant(0.7, 1)}[type(domain)]
    found = judged(K, saddle.hinge(y, 1.0), truth, few, dual)
    assert few.converged
    assert found.distance <= 1e-7
    assert few.objective == pytest.approx(whole.objective, rel=2e-7)
    np.testing.assert_allclose(few.values, whole.values, atol=1e-3)


def test_solution_of_rounded_kernels_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is a solution of the kernels themselves no step is taken; else the steps go on from there."""
    X = np.random.default_rng(5).normal(size=(50, 40))
    y = np.sign(X[:, 0] * X[:, 1])
    family = kernels.per_feature(kernels.RBF(0.5)) + kernels.per_feature(kernels.RBF(5.0))
    K = bind(family, X).matrices()
    stored = bind(family, X, dtype=np.float32)
    for few, domain, tol in product((10, 1000), (Simplex(), NormBall(2.0)), (1e-5, 1e-12)):
        monkeypatch.setattr(working, "WORKING_ALL", few)
        monkeypatch.setattr(working, "WORKING_FIRST", few)
        truth = saddle.simplex() if isinstance(domain, Simplex) else saddle.ball(2.0)
        problem = Problem(stored, Linear(), HingeMachine(1.0, tol=tol), domain, y)
        rough = procedure.support_mkl(problem, tol)
        exact = replace(problem, bank=stored.unrounded())
        weights, dual = procedure.support_mkl(exact, tol, start=Start.of(*rough))
        found = judged(K, saddle.hinge(y, 1.0), truth, weights, dual)
        assert weights.converged
        assert found.distance <= weights.gap + 1e-13
        assert tol < 1e-6 or weights.n_iter == 0


@pytest.mark.parametrize("domain", [Simplex(), Orthant(0.7, 1)], ids=["simplex", "orthant-1"])
def test_a_neighbour_tells_which_samples_and_kernels_take_part(monkeypatch: pytest.MonkeyPatch, domain: Domain) -> None:
    """At another C its solution is far from one: steps are on its support vectors and kernels, the proof is of all."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 60))
    y = np.sign(X[:, 0] + X[:, 1])
    bank, seen = bind(kernels.per_feature(kernels.RBF(0.2)), X), []

    def watched(part: Saddle, tol: float, max_iter: int, first: Array | None, observe: Any) -> Any:
        seen.append((part.program.n, len(part.bank) if first is None else np.count_nonzero(first)))
        return interior_point(part, tol, max_iter, first, observe)

    monkeypatch.setattr(procedure, "interior_point", watched)
    monkeypatch.setattr(procedure, "_most_rounds", lambda *given: 0)
    start = Start.of(*procedure.support_mkl(Problem(bank, Linear(), HingeMachine(0.2, tol=1e-6), domain, y), 1e-6))
    problem = Problem(bank, Linear(), HingeMachine(1.0, tol=1e-6), domain, y)
    weights, dual = procedure.support_mkl(problem, 1e-6, start=start)
    assert seen[0] == (200, 60)
    assert max(n for n, _ in seen[1:]) < 0.7 * 200
    assert max(m for _, m in seen[1:]) < 60
    truth = saddle.simplex() if isinstance(domain, Simplex) else saddle.orthant(0.7, 1)
    assert weights.converged
    assert judged(bank.matrices(), saddle.hinge(y, 1.0), truth, weights, dual).distance <= 1e-6


# -- symmetries --------------------------------------------------------------------------------------------------------


def solution(
    K: Array, machine: SupportMachine, domain: Domain, target: Array, sample_weight: Array | None = None
) -> tuple[Weights, Array, float]:
    """Weights, function values at the samples, and the objective."""
    weights, dual = learned(precomputed(K), machine, domain, target, sample_weight)
    assert weights.converged
    return weights, np.tensordot(weights.values, K, 1) @ dual.coef + dual.intercept, float(weights.objective or 0.0)


symmetric = pytest.mark.parametrize("name", ["hinge", "squared", "epsilon", "one-class"])
everywhere = pytest.mark.parametrize("domain", ["simplex", "ball-1.5", "ball-2-ones", "entropy"])


@symmetric
@everywhere
def test_order_of_kernels_and_samples_does_not_matter(name: str, domain: str) -> None:
    K, case, place = stacks()["random"], machines(1.0, 1e-9)[name], domains(4)[domain][0]
    weights, values, objective = solution(K, case.machine, place, case.target)
    rng = np.random.default_rng(6)
    kernel, row = rng.permutation(len(K)), rng.permutation(K.shape[1])
    moved = K[kernel][:, row][:, :, row]
    again, there, value = solution(moved, case.machine, place, case.target[row])
    assert value == pytest.approx(objective, rel=1e-8)
    np.testing.assert_allclose(again.values, weights.values[kernel], atol=1e-4)
    np.testing.assert_allclose(there, values[row], atol=1e-3 * np.abs(values).max())


@pytest.mark.parametrize("name", ["hinge", "squared", "epsilon"])
@everywhere
def test_the_other_sign_of_the_target(name: str, domain: str) -> None:
    K, case, place = stacks()["random"], machines(1.0, 1e-9)[name], domains(4)[domain][0]
    weights, values, objective = solution(K, case.machine, place, case.target)
    other, negative, value = solution(K, case.machine, place, -case.target)
    assert value == pytest.approx(objective, rel=1e-8)
    np.testing.assert_allclose(other.values, weights.values, atol=1e-4)
    np.testing.assert_allclose(negative, -values, atol=1e-3 * np.abs(values).max())


@pytest.mark.parametrize("factor", [1e-3, 50.0])
@pytest.mark.parametrize("name", ["hinge", "squared", "epsilon"])
@pytest.mark.parametrize("domain", ["simplex", "ball-1.5", "ball-2-ones"])
def test_larger_kernels_are_a_larger_penalty(name: str, domain: str, factor: float) -> None:
    """With a = c a': J of c K at C / c is 1 / c of J of K at C; the weights and the function are the same."""
    K, place = stacks()["random"], domains(4)[domain][0]
    case, other = machines(1.0, 1e-9)[name], machines(1.0 / factor, 1e-9)[name]
    weights, values, objective = solution(K, case.machine, place, case.target)
    again, there, value = solution(factor * K, other.machine, place, case.target)
    assert value * factor == pytest.approx(objective, rel=1e-8)
    np.testing.assert_allclose(again.values, weights.values, atol=1e-4)
    np.testing.assert_allclose(there, values, atol=1e-3 * np.abs(values).max())


@symmetric
@pytest.mark.parametrize(("domain", "shared"), [("simplex", True), ("ball-1", True), ("ball-2", False)])
def test_a_kernel_twice(name: str, domain: str, shared: bool) -> None:
    """Where weights add up, copies share one weight somehow; in a ball of norm 2 two copies are sqrt(2) of one."""
    K, case = stacks()["random"], machines(1.0, 1e-9)[name]
    twice = np.concatenate([K, K])
    weights, values, objective = solution(twice, case.machine, domains(8)[domain][0], case.target)
    halves = weights.values.reshape(2, -1)
    if shared:
        _, alone, value = solution(K, case.machine, domains(4)[domain][0], case.target)
        np.testing.assert_allclose(values, alone, atol=1e-3 * np.abs(values).max())
    else:
        np.testing.assert_allclose(halves[0], halves[1], atol=1e-6)
        _, _, value = solution(np.sqrt(2.0) * K, case.machine, domains(4)[domain][0], case.target)
    assert objective == pytest.approx(value, rel=1e-7)


def test_weights_of_samples_are_samples_repeated() -> None:
    K, case = stacks()["gaussian"], machines(1.0)["hinge"]
    count = np.random.default_rng(7).integers(1, 4, size=K.shape[1])
    machine = HingeMachine(1.0, tol=1e-8)
    _, values, objective = solution(K, machine, Simplex(), case.target, count.astype(float))
    row = np.repeat(np.arange(K.shape[1]), count)
    repeated = K[:, row][:, :, row]
    _, there, value = solution(repeated, HingeMachine(1.0, tol=1e-8), Simplex(), case.target[row])
    assert value == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(there, values[row], atol=1e-3)


# -- few samples, many samples -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", DOMAINS)
def test_two_samples_and_one_kernel(domain: str) -> None:
    """One sample of each class with K = 2 I: J(d) = 2 a - 2 d a^2 at a = min(C, 1 / (2 d))."""
    place, truth = domains(1)[domain]
    y, K = np.array([1.0, -1.0]), 2.0 * np.eye(2)[None]
    for C in (0.05, 5.0):
        weights, dual = learned(precomputed(K), HingeMachine(C, tol=1e-9), place, y)
        d = float(weights.values[0])
        a = min(C, 0.5 / max(d, 1e-9))
        assert weights.objective == pytest.approx(2.0 * a - 2.0 * d * a**2 + truth.penalty(weights.values), abs=1e-9)
        assert judged(K, saddle.hinge(y, C), truth, weights, dual).distance <= 1e-8


def test_one_kernel_is_a_support_vector_machine() -> None:
    """On one kernel every ball gives the machine itself at the largest weight."""
    K, case = stacks()["single"], machines(1.0, 1e-9)["hinge"]
    alone = case.machine.solve(precomputed(K).combine(np.array([1.7])), case.target)
    for domain in (NormBall(2.0, 1.7), NormBall(1.0, 0.7, 1.0), Simplex(1.7)):
        weights, values, objective = solution(K, case.machine, domain, case.target)
        assert weights.values == pytest.approx([1.7])
        assert objective == pytest.approx(alone.value, rel=1e-8)
        np.testing.assert_allclose(values, 1.7 * K[0] @ alone.coef + alone.intercept, atol=1e-4)


@pytest.mark.parametrize(("name", "domain"), [("hinge", "simplex"), ("hinge", "ball-2"), ("epsilon", "entropy")])
def test_samples_that_join_later(monkeypatch: pytest.MonkeyPatch, name: str, domain: str) -> None:
    """Only the samples near the boundary take part at first; the certificate is of all."""
    case, pair = machines(1.0)[name], domains(4)[domain]
    whole = solve("gaussian", case, pair)
    monkeypatch.setattr(procedure, "ALL_SAMPLES", 2)
    monkeypatch.setattr(procedure, "SUPPORT_SHARE", 0.95)
    few = solve("gaussian", case, pair)
    assert few.weights.converged
    assert few.distance <= TOL
    assert few.weights.objective == pytest.approx(whole.weights.objective, rel=2 * TOL)


@pytest.mark.parametrize("domain", ["simplex", "ball-2", "ball-2-ones", "orthant-2", "entropy"])
def test_beyond_a_size_an_optimizer_over_machines_answers(monkeypatch: pytest.MonkeyPatch, domain: str) -> None:
    case, pair = machines(1.0, 1e-4)["hinge"], domains(4)[domain]
    whole = solve("random", case, pair)
    monkeypatch.setattr(procedure, "INTERIOR_SAMPLES", 10)
    other = solve("random", case, pair, max_iter=2000)
    assert other.weights.converged
    assert other.upper - whole.lower <= 1.01e-4 * other.upper
    assert other.weights.objective == pytest.approx(whole.weights.objective, rel=1.01e-4)


def test_kernels_that_look_useless_at_first_and_dominate_later_are_found() -> None:
    """More kernels than take part at once; the features of five large ones are orthogonal to the first coefficients."""
    rng, n = np.random.default_rng(0), 40
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    X = rng.normal(size=(n, 6))
    X[:, 0] += y
    differences = [np.subtract.outer(X[:, j], X[:, j]) ** 2 for j in rng.integers(6, size=1100)]
    Ks = [np.exp(-gamma * D) for gamma, D in zip(np.logspace(-2, 1, 1100), differences, strict=True)]
    for _ in range(5):
        g = rng.normal(size=n)
        g -= y * (g @ y) / n + g.mean()
        Ks.append(1e4 * np.outer(g, g))
    bank = precomputed(np.array(Ks))
    weights, dual = learned(bank, HingeMachine(C=10.0, tol=1e-6), Simplex(), y)
    assert weights.converged
    assert weights.n_iter < 100
    assert np.count_nonzero(weights.values[-5:]) >= 3
    a = y * dual.coef
    assert float(a.sum()) - 0.5 * bank.quad(dual.coef).max() >= weights.objective * (1.0 - 1e-6)
    few = np.flatnonzero(weights.values)
    again, _ = learned(bank.select(few), HingeMachine(C=10.0, tol=1e-6), Simplex(), y)
    assert again.objective == pytest.approx(weights.objective, rel=1e-6)


def terms_of_texts(seed: int) -> tuple[Array, Array]:
    """Up to 220 texts of unit length with some thousand terms, most of them rare, of which a few decide the class."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(60, 220)), int(rng.integers(800, 4000))
    frequency = 1.0 / np.arange(1, p + 1) ** rng.uniform(0.6, 1.1)
    frequency *= rng.uniform(20, 60) / frequency.sum()
    X = (rng.random((n, p)) < np.minimum(frequency, 0.9)) * rng.gamma(2, 1, size=p)
    X = X[:, X.any(axis=0)]
    X /= np.linalg.norm(X, axis=1)[:, None]
    w = rng.normal(size=X.shape[1]) * (rng.random(X.shape[1]) < 0.05)
    return X, np.where(X @ w + 0.05 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize(
    ("seed", "C", "tol"), [(4, 100.0, 1e-4), (14, 4.0, 1e-4), (324, 1000.0, 1e-2), (214, 1e3, 1e-2)]
)
def test_kernels_of_single_terms_that_enter_late(seed: int, C: float, tol: float) -> None:
    """Most of some thousand kernels are left out at first; steps from a point near the boundary would be blocked.

    The first case needs more than 200 steps if kernels are looked for at ever smaller gaps, the third one is solved
    only if blocked steps start again, and the last one only if kernels that came back stay.
    """
    X, y = terms_of_texts(seed)
    bank = bind(kernels.linear_features(), X)
    bank = bank.scaled(np.full(len(bank), len(y) / bank.traces().mean()))
    problem = Problem(bank, Linear(), HingeMachine(C), Simplex(), y)
    found, _ = procedure.support_mkl(problem, tol, max_iter=200)
    assert found.converged
