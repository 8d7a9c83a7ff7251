"""The interior point method: its own bounds, its linear systems, where it stops, and which kernels take part."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

import reference as ref
from cases import one_in
from multikernel import bind, kernels, precomputed
from multikernel.banks import DenseGram, FactorGram, factor_gram
from multikernel.domains import NormBall, Orthant, Separable, Simplex
from multikernel.machines import EpsilonMachine, HingeMachine, OneClassMachine, SquaredHingeMachine, SupportProgram
from multikernel.machines.support.coefficients import central
from multikernel.numerics.interior_point import BarrierPoint
from multikernel.procedures.interior import InteriorPoint, Saddle, WorkingSet, interior_point
from multikernel.procedures.interior.newton import Newton, Products
from multikernel.procedures.interior.start import first_point
from multikernel.procedures.ridge_program import RidgeSupport
from saddle_cases import DOMAINS, MACHINES, MachineCase, bank, domains, machines, meaningful, samples, stacks

Array = Any
STACKS = ("random", "duplicated", "rank-one", "badly-scaled")


def problem(stack: str, case: MachineCase, domain: str) -> Saddle:
    return Saddle(bank(stack), case.program, domains(len(stacks()[stack]))[domain][0])


@cache
def exactly(stack: str, name: str, domain: str) -> Any:
    return interior_point(problem(stack, machines(1.0)[name], domain), 1e-11)


# -- the answer --------------------------------------------------------------------------------------------------------


@pytest.mark.crossed
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("max_iter", [0, 2, 200])
def test_its_bounds_enclose_the_optimum(name: str, max_iter: int) -> None:
    """At any step: the bound is that of its variables, and no other point lies beyond either bound."""
    for turn, domain in enumerate(DOMAINS):
        if not meaningful(name, domain):
            continue
        stack = STACKS[(turn + MACHINES.index(name)) % len(STACKS)]
        case, K = machines(1.0)[name], stacks()[stack]
        saddle, truth = problem(stack, case, domain), domains(len(K))[domain][1]
        found, exact = interior_point(saddle, 1e-9, max_iter), exactly(stack, name, domain)
        where = (stack, domain, found, exact)
        coef = saddle.program.coef(found.a)
        assert case.truth.violation(coef) <= 1e-12, where
        assert ((found.a >= 0) & (found.a <= saddle.program.upper)).all(), where
        assert truth.violation(found.weights) <= 1e-12, where
        size = max(abs(found.upper), saddle.floor)
        slack = 1e-9 * size + case.truth.rounding(ref.combine(K, found.weights), coef)
        assert found.bound <= case.truth.dual(K, truth, coef) + slack, where
        assert found.bound <= exact.upper + slack, where
        assert exact.bound <= found.upper + slack, where
        assert found.gap == max(found.upper - found.bound, 0.0) / max(size, 1e-300), where
        assert found.gap <= 1e-9 or max_iter < 200, where
        assert saddle.domain.lets_vanish(len(K)) or found.gap <= 1.1 * min(found.history) + 1e-12, where
        assert found.n_iter <= max_iter, where


def test_it_stops_at_rounding_with_the_best_it_has_seen() -> None:
    """More is asked than double precision holds: the steps end when they bring nothing, not when they break down."""
    for name in ("hinge", "squared", "epsilon", "one-class"):
        for domain in ("simplex", "ball-1.5", "orthant-2", "entropy"):
            for stack in ("random", "rank-one", "badly-scaled") if name != "one-class" else ("random", "gaussian"):
                found = interior_point(problem(stack, machines(1.0)[name], domain), 1e-18)
                assert found.gap <= 1e-9, (name, domain, stack, found)
                assert found.n_iter <= 60, (name, domain, stack, found)
                assert found.gap <= 10.0 * min(found.history) + 1e-15, (name, domain, stack, found)


def test_steps_hardly_depend_on_the_problem() -> None:
    every = product(
        ("random", "gaussian", "duplicated", "badly-scaled", "mixed"),
        (0.01, 1.0, 100.0),
        ("hinge", "hinge-unbalanced", "squared", "epsilon"),
        ("simplex", "ball-1.5", "ball-2-ones", "entropy"),
    )
    some = list(every)[::7]  # which meets all pairs of values
    steps = [interior_point(problem(stack, machines(C)[name], domain), 1e-8).n_iter for stack, C, name, domain in some]
    assert np.median(steps) <= 15
    assert max(steps) <= 40


# -- where nothing is to be done ---------------------------------------------------------------------------------------


# -- scales and norms --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def separable_labels() -> tuple[Any, Any]:
    """Kernels on each feature, of which one has two values, and labels that they explain."""
    data, y = load_diabetes(return_X_y=True)
    each = kernels.per_feature([kernels.RBF(0.1), kernels.RBF(1.0), kernels.Linear()])
    return bind(each, scale(data)[:100]), np.where(y[:100] > 140.0, 1.0, -1.0)


@pytest.mark.parametrize("norm", [8.0, 16.0, 64.0, 1000.0])
def test_balls_of_large_norms(norm: float, separable_labels: tuple[Any, Any]) -> None:
    """A long step would leave such a ball so far that later steps take long to come back."""
    kernel_bank, y = separable_labels
    found = interior_point(Saddle(kernel_bank, HingeMachine(C=1e5).program(y), NormBall(norm)), 1e-8)
    assert found.gap <= 1e-8
    assert found.n_iter <= 40


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("numeric", [False, True])
def test_free_weights_of_any_unit(norm: Any, numeric: bool) -> None:
    """Where only a penalty bounds the weights, kernels times c with weights / c are the same problem."""
    _, y, _, numbers = samples()
    machine = RidgeSupport(alpha=1.0) if numeric else SquaredHingeMachine(C=100.0)
    program = machine.program(numbers - numbers.mean() if numeric else y)
    first, *others = (
        interior_point(Saddle(bank("random").scaled(np.full(4, c)), program, Orthant(c**norm, norm)), 1e-7)
        for c in (1.0, 1e-8, 1e-4, 1e4, 1e8)
    )
    for found in (first, *others):
        assert found.gap <= 1e-7
        assert abs(found.n_iter - first.n_iter) <= 2


def known(found: InteriorPoint) -> bool:
    return found.n_iter == 0 and found.gap <= 1e-12


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_target_that_a_constant_fits(domain: str) -> None:
    """The weights are those of least penalty: equal ones, and none where a penalty is all there is."""
    for machine, y in [
        (EpsilonMachine(100.0, 0.0), np.full(20, 0.1)),
        (EpsilonMachine(1.0, 0.5), np.linspace(0.0, 1.0, 20)),
        (EpsilonMachine(1.0, 0.1), np.linspace(0.3, 0.5, 20)),
    ]:
        place, truth = domains(4)[domain]
        found = interior_point(Saddle(bank("random"), machine.program(y), place))
        assert known(found)
        assert not found.a.any()
        assert found.upper == pytest.approx(truth.penalty(found.weights), abs=1e-13)
        np.testing.assert_allclose(found.intercept, 0.5 * (y.min() + y.max()), rtol=1e-12)
        np.testing.assert_allclose(found.weights, 0.0 if domain.startswith("orthant") else place.start(4), atol=1e-15)


@pytest.mark.parametrize("domain", [name for name in DOMAINS if meaningful("one-class", name)])
def test_a_single_feasible_point(domain: str) -> None:
    """nu = 1: every coefficient is 1 / n, and the weights are the domain's maximiser."""
    place, truth = domains(4)[domain]
    found = interior_point(Saddle(bank("random"), OneClassMachine(1.0).program(np.zeros(20)), place))
    K = stacks()["random"]
    assert known(found)
    np.testing.assert_allclose(found.a, 1.0 / 20, rtol=1e-14)
    q = 0.5 * K.mean(axis=(1, 2))
    assert found.upper == pytest.approx(-truth.support(q), rel=1e-12)
    np.testing.assert_allclose(found.weights, place.maximiser(q), rtol=1e-12)


@pytest.mark.parametrize("nu", [0.3, 0.97, 0.9999, 1.0 - 1e-10])
def test_nearly_a_single_feasible_point(nu: float) -> None:
    found = interior_point(Saddle(bank("random"), OneClassMachine(nu).program(np.zeros(20)), Simplex()), 1e-8)
    assert found.gap <= 1e-8
    assert found.a.sum() == pytest.approx(1.0, rel=1e-14)


# -- the Newton system -------------------------------------------------------------------------------------------------


def inside(program: SupportProgram, domain: Separable, m: int, rng: Any, cost: float = 1.0) -> BarrierPoint:
    """Any interior point, far from the central path."""
    a = np.where(np.isfinite(program.upper), program.upper, 1.0) * rng.uniform(0.1, 0.9, len(program.sign))
    positive = rng.uniform(0.1, 2.0, size=(2, len(a)))
    above = np.where(np.isfinite(program.upper), positive[1], 0.0)
    delta, costs = rng.uniform(0.1, 2.0, size=(2, m))
    multiplier = rng.uniform(0.5, 1.5) if domain.constrained else 0.0
    return BarrierPoint(a, program.upper - a, positive[0], above, rng.normal(), delta, cost * costs, multiplier)


@pytest.mark.parametrize(("name", "domain", "cost"), one_in(7, product(MACHINES, DOMAINS, [1.0, 1e-6])))
def test_a_step_solves_the_linearised_conditions(name: str, domain: str, cost: float) -> None:
    """Each condition of the saddle point, written down with its derivative; also with kernels in the border."""
    case, K = machines(1.0)[name], stacks()["random"]
    program, place = case.program, domains(len(K))[domain][0]
    rng = np.random.default_rng(8)
    at = inside(program, place, len(K), rng, cost)
    working = WorkingSet.of(bank("random"), np.arange(len(K)), False)
    b, weights = program.coef(at.a), place.offset(len(K)) + at.delta
    Z = K @ b
    root = rng.normal(size=(len(K), 2))
    for mu, predictor, hessian in (
        (0.0, None, None),
        (0.3, inside(program, place, len(K), rng), None),
        (0.3, None, root @ root.T),
    ):
        newton = Newton(program, place, at, working.products(weights, b), hessian)
        assert newton.bordered.all() or cost == 1.0 or not place.lets_vanish(len(K))
        curvature = 0.0 if hessian is None else hessian @ newton.step(mu, predictor).delta
        step = newton.step(mu, predictor)
        db = program.coef(step.a)
        change = (ref.combine(K, weights) @ db + step.delta @ Z + step.intercept)[program.sample]
        f = ref.combine(K, weights) @ b + at.intercept
        slope = program.linear - program.ridge * at.a - program.sign * f[program.sample] + at.below - at.above
        _, c1, c2 = place.constraint(at.delta)
        _, r1, r2 = place.separable_penalty(at.delta)
        lean = -0.5 * Z @ b + r1 / program.scale + at.multiplier * c1 - at.reduced_cost
        second = predictor if predictor is not None else replace(at, a=0.0 * at.a, delta=0.0 * at.delta)
        finite = np.isfinite(program.upper)
        slack = at.slack[finite]
        zeros = {
            "a": slope - program.ridge * step.a - program.sign * change + step.below - step.above,
            "sum": program.sign @ (at.a + step.a) - program.total if program.intercept else 0.0,
            "delta": lean
            + curvature
            - Z @ db
            + (r2 / program.scale + at.multiplier * c2) * step.delta
            + c1 * step.multiplier
            - step.reduced_cost,
            "constraint": place.constraint(at.delta)[0].sum() - 1.0 + c1 @ step.delta if place.constrained else 0.0,
            "below": at.a * at.below + at.below * step.a + at.a * step.below - mu + second.a * second.below,
            "above": slack * (at.above + step.above)[finite]
            - (at.above * step.a + second.above * second.a)[finite]
            - mu,
            "reduced cost": at.delta * at.reduced_cost
            + at.reduced_cost * step.delta
            + at.delta * step.reduced_cost
            - mu
            + second.delta * second.reduced_cost,
        }
        for condition, residual in zeros.items():
            np.testing.assert_allclose(residual, 0.0, atol=1e-8, err_msg=f"{condition}, border {newton.bordered.sum()}")
        assert not step.above[~finite].any()


@pytest.mark.parametrize(("name", "domain"), one_in(7, product(MACHINES, DOMAINS)))
def test_a_step_on_features_is_that_on_their_matrix(name: str, domain: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(factor_gram, "few_features", lambda q, n: True)
    program, rng = machines(1.0)[name].program, np.random.default_rng(8)
    place, G = domains(4)[domain][0], rng.normal(size=(program.n, 4))
    at = inside(program, place, 4, rng)
    b, weights = program.coef(at.a), place.offset(4) + at.delta
    Z = G.T[:, :, None] * G.T[:, None, :] @ b
    steps = [
        Newton(program, place, at, Products(gram, Z, Z @ b, weights @ Z)).step(0.3)
        for gram in (DenseGram((G * weights) @ G.T), FactorGram(G, weights, G))
    ]
    for part in ("a", "below", "above", "delta", "reduced_cost", "intercept", "multiplier"):
        dense, factored = (getattr(step, part) for step in steps)  # the second factors no matrix of the samples
        np.testing.assert_allclose(factored, dense, rtol=1e-8, atol=1e-8, err_msg=part)
        assert part != "multiplier" or place.constrained or factored == 0.0


@pytest.mark.parametrize(("name", "domain"), one_in(4, product(MACHINES, DOMAINS)))
def test_the_first_point_is_inside(name: str, domain: str) -> None:
    """Each pair of machine and domain on a third of the stacks; over the pairs of either, all stacks are met."""
    for stack in list(stacks())[(MACHINES.index(name) + DOMAINS.index(domain)) % 3 :: 3]:
        saddle = problem(stack, machines(0.5)[name], domain)
        a = central(saddle.program)
        working = WorkingSet.first(saddle.bank, saddle.domain, saddle.program.coef(a), None)
        point = first_point(saddle, working)
        assert ((point.a > 0) & (point.slack > 0) & (point.below > 0)).all()
        assert (point.delta > 0).all()
        assert (point.reduced_cost > 0).all()
        assert np.isfinite([point.mu, point.multiplier, *point.a, *point.delta, *point.reduced_cost]).all()
        if saddle.program.intercept and meaningful(name, domain):
            assert saddle.program.sign @ point.a == pytest.approx(saddle.program.total, abs=1e-12)


def test_how_far_a_step_can_go() -> None:
    one, none = np.ones(1), np.zeros(1)
    point = BarrierPoint(
        np.array([1.0, 2.0]), np.array([3.0, np.inf]), np.ones(2), np.array([1.0, 0.0]), 0.0, one, one, 1.0
    )
    still = BarrierPoint(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), 0.0, none, none, -9.0)
    assert point.longest(still) == 1.0
    assert point.longest(replace(still, a=np.array([-4.0, 1.0]), slack=np.array([4.0, -1.0]))) == 0.25
    assert point.longest(replace(still, a=np.array([6.0, 0.0]), slack=np.array([-6.0, 0.0]))) == 0.5
    assert point.longest(replace(still, reduced_cost=-5.0 * one)) == 0.2
    assert point.complementarity == 1.0 + 2.0 + 3.0 + 1.0
    assert point.mu == 7.0 / 4.0
    moved = point.moved(replace(still, a=np.array([-0.5, 1.0]), slack=np.array([0.5, -1.0])), 0.5)
    np.testing.assert_array_equal(moved.a, [0.75, 2.5])
    np.testing.assert_array_equal(moved.slack, [3.25, np.inf])
    assert moved.multiplier == -3.5


# -- the kernels that take part ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", DOMAINS)
def test_which_domains_let_weights_vanish(domain: str) -> None:
    """A sum of weights, bounded or at a price, and nothing that a weight of zero would not feel."""
    place = domains(4)[domain][0]
    assert place.lets_vanish(4) == (domain in ("simplex", "ball-1", "orthant-1", "orthant-1-strong"))


def test_kernels_leave_and_enter_with_their_reduced_cost() -> None:
    """Far below the largest score allowed a kernel leaves, unless its weight is large; above or near it, one enters."""
    K = np.einsum("k,ij->kij", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], np.eye(4))
    working = WorkingSet.of(precomputed(K), np.array([0, 2, 3]), True)
    zero = np.zeros(1)
    delta, cost = np.array([0.9, 0.1, 1e-9]), np.array([1e-9, 0.5, 0.5])
    point = BarrierPoint(zero, zero, zero, zero, 0.0, delta, cost, 1.0)
    scores = 2.0 * np.array([1.0, 1.3, 0.5, 0.5, 0.2, 0.995])
    revised, moved = working.revised(point, scores, largest=2.0)
    np.testing.assert_array_equal(revised.index, [0, 1, 2, 5])
    np.testing.assert_array_equal(moved.delta[[0, 2]], [0.9, 0.1])
    np.testing.assert_allclose(moved.delta * moved.reduced_cost, [9e-10, point.mu, 0.05, point.mu])
    assert (moved.reduced_cost > 0).all()
    same, there = revised.revised(moved, np.minimum(scores, 1.98), largest=2.0)
    assert same is revised
    assert there is moved


@pytest.mark.parametrize("domain", ["simplex", "orthant-1", "orthant-1-strong"])
def test_at_the_optimum_kernels_with_a_weight_have_the_largest_score_and_others_less(domain: str) -> None:
    """Of a program whose value is twice its own: beside a score a penalty then counts half."""
    saddle = problem("random", machines(1.0)["squared"], domain)
    assert saddle.program.scale == 2.0
    found = interior_point(saddle, 1e-11)
    scores = saddle.bank.quad(saddle.program.coef(found.a))
    used = found.weights > 1e-6 * found.weights.max()
    largest = scores[used].max()
    multiplier = 0.0
    if saddle.domain.constrained:
        multiplier = 0.5 * largest
    assert saddle.largest_score(multiplier) == pytest.approx(largest, rel=1e-5)
    np.testing.assert_allclose(scores[used], largest, rtol=1e-4)
    assert (scores <= largest * (1.0 + 1e-5)).all()


def test_coefficients_that_cannot_be_made_smaller_prove_nothing_where_scores_exceed_a_penalty() -> None:
    """With a given sum no part of them is feasible; without, a part is, and bounds the optimum."""
    for name, bounded in (("hinge", True), ("one-class", False)):
        saddle = problem("random", machines(1.0)[name], "orthant-1")
        a = central(saddle.program)
        scores = saddle.bank.quad(saddle.program.coef(a))
        scores *= 10.0 * saddle.domain.strength / scores.max()
        bound = saddle.bound(a, scores)
        assert bound < np.inf
        assert np.isfinite(bound) == bounded


def test_the_first_set() -> None:
    saddle = problem("random", machines(1.0)["hinge"], "simplex")
    b = saddle.program.coef(central(saddle.program))
    some = WorkingSet.first(saddle.bank, saddle.domain, b, np.array([0.0, 0.5, 0.0, 0.5]))
    np.testing.assert_array_equal(some.index, [1, 3])
    np.testing.assert_array_equal(some.spread(np.array([2.0, 3.0])), [0.0, 2.0, 0.0, 3.0])
    for start in (None, np.zeros(4), np.full(4, 0.25)):
        assert WorkingSet.first(saddle.bank, saddle.domain, b, start).complete
    curved = domains(4)["ball-1.5"][0]
    assert WorkingSet.first(saddle.bank, curved, b, np.array([0.0, 0.5, 0.0, 0.5])).complete
