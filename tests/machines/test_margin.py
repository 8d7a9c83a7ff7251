"""The margin machine against a conic solver and closed forms, ridge regression against its formula."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import reference as ref
from multikernel.banks import DenseGram, FactorGram, factor_gram
from multikernel.machines import HingeMachine, Machine, MarginMachine, RidgeMachine
from multikernel.machines.margin import _pairwise, newton
from multikernel.machines.margin import machine as margin_module
from zoo import PROBLEMS, optimum

Array = Any
LAMBDAS = [0.0, 0.01, 0.5, 1.0]
problems = pytest.mark.parametrize("name", PROBLEMS)
lambdas = pytest.mark.parametrize("lam", LAMBDAS)


def sum_of(name: str) -> tuple[Array, Array]:
    """The sum of a problem's kernels, and its labels."""
    problem = PROBLEMS[name]()
    return problem.K.sum(axis=0), problem.y


def small(n: int = 12, rank: int = 20) -> tuple[Array, Array]:
    """A matrix of full rank whose classes are apart, and labels."""
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    F = np.random.default_rng(7).normal(size=(n, rank)) + 0.3 * y[:, None]
    return F @ F.T / rank, y


# -- the margin machine against the conic solution ---------------------------------------------------------------------


@problems
@lambdas
def test_reference_solution_knows_the_optimum(name: str, lam: float) -> None:
    """Or else the comparison below would mean little."""
    best = optimum(name, lam)
    assert best.bound <= best.value <= best.bound + 1e-8 * max(best.value, 1e-6 * np.trace(sum_of(name)[0]))


@problems
@lambdas
def test_value_is_that_of_the_conic_solution(name: str, lam: float) -> None:
    K, y = sum_of(name)
    found, best = MarginMachine(lam, tol=1e-7).solve(DenseGram(K), y), optimum(name, lam)
    scale = max(best.value, 1e-9 * float(np.diag(K).mean()))
    assert found.converged
    assert best.bound - 1e-9 * scale <= -found.value <= best.value + 1e-6 * scale


@problems
@lambdas
def test_certificate_is_a_bound_that_the_points_prove(name: str, lam: float) -> None:
    K, y = sum_of(name)
    found, best = MarginMachine(lam, tol=1e-4).solve(DenseGram(K), y), optimum(name, lam)
    g = y * found.coef
    assert g.min() >= 0.0
    np.testing.assert_allclose([g[y > 0].sum(), g[y < 0].sum()], 1.0, rtol=1e-12)
    value, bound = ref.hull_value(K, y, lam, g), ref.hull_bound(K, y, lam, g)
    rounding = 1e-12 * float(np.diag(K).mean() + 1.0)
    assert abs(value + found.value) <= rounding
    assert bound <= best.value + rounding
    assert value - bound <= found.gap * max(value, 1e-9 * float(np.diag(K).mean())) + rounding
    assert found.gap <= 1e-4


def test_with_a_ridge_the_gap_is_relative_to_the_value_however_small() -> None:
    """Hulls that overlap: what is left is 1e-9 of the spread of the samples, and rounding 1e-6 of that."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    K, y = X @ X.T, np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    found = MarginMachine(1e-8, tol=1e-12, max_iter=1000).solve(DenseGram(K), y)
    g = y * found.coef
    value = ref.hull_value(K, y, 1e-8, g)
    assert found.gap == pytest.approx((value - ref.hull_bound(K, y, 1e-8, g)) / value, rel=0.1, abs=1e-6)
    assert found.gap > 2e-6
    assert found.n_iter <= 1000  # of all rounds together
    assert MarginMachine(1e-8, tol=1e-12, max_iter=803).solve(DenseGram(K), y).n_iter <= 803  # and of Newton's steps


@problems
def test_all_ridge_gives_the_class_means(name: str) -> None:
    K, y = sum_of(name)
    found = MarginMachine(1.0).solve(DenseGram(K), y)
    want = np.where(y > 0, 1.0 / (y > 0).sum(), 1.0 / (y < 0).sum())
    np.testing.assert_allclose(y * found.coef, want, rtol=1e-14)
    assert (found.converged, found.gap) == (True, 0.0)
    assert found.value == pytest.approx(-(want @ want), rel=1e-14)


@problems
@pytest.mark.parametrize("lam", [0.0, 0.1, 0.9])
def test_warm_start_leads_to_the_same(name: str, lam: float) -> None:
    K, y = sum_of(name)
    machine, gram = MarginMachine(lam, tol=1e-8), DenseGram(K)
    cold = machine.solve(gram, y)
    scale = max(-cold.value, 1e-9 * float(np.diag(K).mean()))
    starts = [cold.warm, MarginMachine(0.5).solve(gram, y).warm, np.zeros(len(y)), np.eye(len(y))[0], np.ones(len(y))]
    for start in starts:
        kept = start.copy()
        warm = machine.solve(gram, y, warm=start)
        assert warm.converged
        assert abs(warm.value - cold.value) <= 1e-7 * scale
        np.testing.assert_array_equal(start, kept)


@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("distance", [2.0, 0.0], ids=["apart", "together"])
def test_two_samples(lam: float, distance: float) -> None:
    x = np.array([0.0, distance])
    K, y = np.outer(x, x) + 1.0, np.array([1.0, -1.0])
    found = MarginMachine(lam).solve(DenseGram(K), y)
    np.testing.assert_array_equal(found.coef, y)
    assert found.converged
    assert -found.value == pytest.approx((1.0 - lam) * distance**2 + 2.0 * lam, abs=1e-12)


def test_one_sample_against_many() -> None:
    K, _ = small()
    y = np.where(np.arange(len(K)) == 3, 1.0, -1.0)
    found, best = MarginMachine(0.1).solve(DenseGram(K), y), ref.hulls(K, y, 0.1)
    assert found.coef[3] == 1.0
    assert -found.value == pytest.approx(best.value, rel=1e-6)


@pytest.mark.parametrize("size", [1e-162, 1e-200])
def test_pairs_of_a_tiny_matrix_stay_within_their_class(size: float) -> None:
    """The square of a difference of gradients underflows: no pair promises a decrease."""
    X = np.random.default_rng(0).normal(size=(12, 20))
    K = size * (X @ X.T)
    y = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    g = np.full(len(y), 1.0 / 6.0)
    gradient = 2.0 * y * (K @ (y * g))
    _pairwise.descend(K, y, 1.0, 0.0, g, gradient, 0.0, 1e-9, 1000)
    np.testing.assert_allclose([g[y > 0].sum(), g[y < 0].sum()], 1.0, rtol=1e-12)
    assert (g >= 0.0).all()


@pytest.mark.parametrize("lam", [0.0, 1e-6])
@pytest.mark.parametrize("n", [12, 150])
def test_overlapping_hulls_have_no_distance(n: int, lam: float) -> None:
    X = np.random.default_rng(0).normal(size=(n, 2))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    found = MarginMachine(lam).solve(DenseGram(X @ X.T), y)
    assert found.converged
    assert 0.0 <= -found.value <= 1e-8 + lam


def test_where_hulls_meet_larger_ridges_find_it_and_the_classes_are_told_apart(monkeypatch: Any) -> None:
    """More samples than pairwise steps alone are for; from a start they took a million of them, and were not there.

    The hulls of few samples are compared first. All systems together cost no more than twenty of all samples.
    """
    systems: list[int] = []
    costs: list[float] = []
    through = newton._through
    solve = newton._on_support

    def counted(*words: Any) -> tuple[Array, int]:
        g, steps_of_attempt = through(*words)
        systems.append(steps_of_attempt)
        return g, steps_of_attempt

    def paid(gram: Any, y: Array, ridge: float, S: Array, buffer: Array) -> tuple[Array, float]:
        costs.append((len(S) / len(y)) ** 3)
        return solve(gram, y, ridge, S, buffer)

    monkeypatch.setattr(newton, "_through", counted)
    monkeypatch.setattr(newton, "_on_support", paid)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = np.sign(X[:, 0] + 0.7 * rng.normal(size=900))
    new = rng.normal(size=(300, 3))
    gram = DenseGram(np.exp(-np.square(X[:, None] - X).sum(axis=2) / 6.0))
    crossing = np.exp(-np.square(new[:, None] - X).sum(axis=2) / 6.0)
    start = MarginMachine(0.1, tol=1e-3).solve(gram, y).warm
    steps = []
    for tol in (1e-3, 1e-6):
        for warm in (None, start):
            systems.clear()
            costs.clear()
            found = MarginMachine(0.0, tol).solve(gram, y, warm)
            assert found.converged
            assert found.n_iter == sum(systems) == len(costs)  # no pairwise steps
            assert sum(costs) <= 20.0
            right = (np.sign(crossing @ found.coef + found.intercept) == np.sign(new[:, 0])).mean()
            assert right > 0.7
            steps.append(max(systems))
    assert max(steps) <= 80
    assert steps[0] < steps[2]  # what the tolerance allows is used


def test_a_constant_in_the_kernel_does_not_matter_to_the_gap_of_a_hard_margin() -> None:
    """A gap is relative to the squared distances of samples, which a constant leaves as they are."""
    K, y = small()
    gaps = [MarginMachine(0.0, max_iter=5).solve(DenseGram(K + constant), y).gap for constant in (0.0, 1e7)]
    assert gaps[0] > 1e-3
    assert gaps[1] == pytest.approx(gaps[0], rel=1e-3)


@pytest.mark.parametrize("warm", [False, True])
def test_a_hard_margin_of_a_nearly_constant_kernel_is_found(warm: bool) -> None:
    """Newton's steps and pairwise steps alone were not there after thousands of steps for each sample."""
    n = 850
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 8))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.1 * X[:, 2] * X[:, 3] > 0.2, 1.0, -1.0)
    gram = DenseGram(np.exp(-3e-4 * np.square(X[:, None] - X).sum(axis=2)))
    start = MarginMachine(0.1, tol=1e-3).solve(gram, y).warm if warm else None
    found = MarginMachine(0.0, max_iter=100 * n).solve(gram, y, start)
    assert found.converged
    assert -found.value > 1e-9


def overlapping(n: int = 850) -> tuple[DenseGram, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=n))
    return DenseGram(np.exp(-0.1 * np.square(X[:, None] - X).sum(axis=2))), y


def test_two_supports_that_alternate_end_a_stage(monkeypatch: Any) -> None:
    """Rounding can make each the next one of the other."""
    y = np.array([1.0, 1.0, -1.0, -1.0])

    def solution(gram: Any, signs: Array, ridge: float, S: Array, buffer: Array) -> tuple[Array, float]:
        """With the second sample its value is above the margin; without it, below."""
        return np.where(S == 1, 1.5, 0.5) * signs[S], 0.0

    monkeypatch.setattr(newton, "_on_support", solution)
    monkeypatch.setattr(newton, "_towards", lambda point, target, *_: (target, True))
    everyone = np.ones(4, dtype=bool)
    _, steps = newton._through(
        [(everyone, 1e-12)], DenseGram(np.eye(4)), y, 1.0, everyone, False, lambda g: False, max_systems=50
    )
    assert steps == 2


def test_more_systems_never_lead_to_a_larger_distance() -> None:
    """The hulls of few samples are compared first; what they reach is kept while those of more are not settled."""
    gram, y = overlapping()
    values = [MarginMachine(0.0, max_iter=steps).solve(gram, y).value for steps in (5, 10, 15, 20, 25, 35, 60)]
    assert (np.diff(values) >= 0.0).all()
    assert values[2] > 0.1 * values[0]


@pytest.mark.parametrize("calls", [14, 30])
def test_a_time_limit_keeps_what_was_reached(calls: int, monkeypatch: Any) -> None:
    gram, y = overlapping()
    begin = MarginMachine(0.0, max_iter=1).solve(gram, y).value
    count = iter(range(10**6))
    for module in (newton, margin_module):
        monkeypatch.setattr(module, "out_of_time", lambda n: next(count) >= calls)
    assert MarginMachine(0.0).solve(gram, y).value > 0.1 * begin


def test_bounds_that_would_overflow_are_not_used() -> None:
    gram, y = overlapping(100)
    found = MarginMachine(0.0).solve(DenseGram(1e-300 * gram.K), y)
    assert np.isfinite(found.warm).all()
    assert not found.converged


@pytest.mark.parametrize("unit", [1e-150, 1e-37, 1e30, 1e150])
@pytest.mark.parametrize("lam", [0.0, 0.05])
def test_units_of_large_matrices_do_not_matter_to_a_hard_margin(unit: float, lam: float) -> None:
    """With lam > 0 only large units make a hard margin; small ones make class means. A start that is near is enough."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(850, 5))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=850))
    K = unit * np.exp(-0.1 * np.square(X[:, None] - X).sum(axis=2))
    found = MarginMachine(lam, max_iter=300).solve(DenseGram(K), y)
    assert found.converged
    again = MarginMachine(lam, max_iter=300).solve(DenseGram(1.001 * K), y, found.warm)
    assert again.converged
    assert again.n_iter <= 4


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("lam", [0.0, 0.001])
def test_systems_are_no_more_than_the_steps_that_are_asked_for(lam: float, warm: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(850, 5))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=850))
    gram = DenseGram(np.exp(-0.1 * np.square(X[:, None] - X).sum(axis=2)))
    start = rng.uniform(size=850) if warm else None
    found = MarginMachine(lam, max_iter=3).solve(gram, y, start)
    assert (found.converged, found.n_iter) == (False, 3)
    np.testing.assert_allclose([found.warm[y > 0].sum(), found.warm[y < 0].sum()], 1.0)


def test_zero_matrix_is_solved() -> None:
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
    for lam in (0.0, 0.1, 1.0):
        found = MarginMachine(lam).solve(DenseGram(np.zeros((5, 5))), y)
        assert found.converged
        assert -found.value == pytest.approx(lam * (1 / 2 + 1 / 3), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("lam", [0.0, 0.1, 0.9])
def test_repeated_samples_do_not_matter(lam: float) -> None:
    """At lam = 0 the hulls of twice the samples are the same; with a ridge the copies share, which halves it."""
    K, y = small()
    twice = np.tile(np.arange(len(y)), 2)
    found = MarginMachine(lam, tol=1e-8).solve(DenseGram(K[np.ix_(twice, twice)]), y[twice])
    ridge = lam / 2.0 / (1.0 - lam / 2.0)
    once = MarginMachine(ridge, tol=1e-8).solve(DenseGram(K), y)
    assert found.value == pytest.approx(once.value * (1.0 - lam / 2.0), rel=1e-6)


@pytest.mark.parametrize("lam", [0.01, 0.5])
def test_float32_is_solved_in_its_precision(lam: float) -> None:
    K, y = small()
    found = MarginMachine(lam, tol=1e-4).solve(DenseGram(K.astype(np.float32)), y)
    assert found.converged
    assert -found.value == pytest.approx(ref.hulls(K, y, lam).value, rel=1e-4)


@pytest.mark.parametrize("lam", LAMBDAS)
def test_factored_matrix_gives_what_the_dense_one_gives(lam: float) -> None:
    X = np.random.default_rng(3).normal(size=(40, 5))
    y, w = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0), np.array([2.0, 1.0, 0.0, 0.5, 1.0])
    machine = MarginMachine(lam, tol=1e-8)
    dense, factored = machine.solve(DenseGram((X * w) @ X.T), y), machine.solve(FactorGram(X, w, X), y)
    assert factored.value == pytest.approx(dense.value, rel=1e-7, abs=1e-9)


@problems
def test_decision_is_the_middle_of_the_hull_points(name: str) -> None:
    K, y = sum_of(name)
    found = MarginMachine(0.1).solve(DenseGram(K), y)
    f = K @ found.coef + found.intercept
    g = y * found.coef
    assert g[y > 0] @ f[y > 0] == pytest.approx(-(g[y < 0] @ f[y < 0]), rel=1e-9, abs=1e-9)


def test_classes_change_places() -> None:
    K, y = small()
    found, swapped = (MarginMachine(0.1, tol=1e-9).solve(DenseGram(K), s * y) for s in (1.0, -1.0))
    assert swapped.value == pytest.approx(found.value, rel=1e-8)
    np.testing.assert_allclose(swapped.coef, -found.coef, atol=1e-6)


@pytest.mark.parametrize("lam", [0.0, 0.1, 0.9])
def test_newton_steps_need_no_pairwise_ones(lam: float, monkeypatch: Any) -> None:
    """Small problems are solved by pairwise steps, hundreds of them; Newton steps reach the same in a few."""
    K, y = small(30, 40)
    machine = MarginMachine(lam, tol=1e-9)
    with monkeypatch.context() as without:
        without.setattr(margin_module, "newton", None)
        pairwise = machine.solve(DenseGram(K), y)
    assert pairwise.converged
    monkeypatch.setattr(margin_module, "_SMALL", 0)
    monkeypatch.setattr(margin_module, "_EASY", np.inf)
    found = machine.solve(DenseGram(K), y)
    assert found.converged
    assert 1 <= found.n_iter <= 30 < pairwise.n_iter
    assert found.value == pytest.approx(pairwise.value, rel=1e-8)


def test_pairwise_steps_that_rounding_ends_early_go_on_from_a_fresh_gradient(monkeypatch: Any) -> None:
    K, y = small(30, 40)
    known, descend, ends = MarginMachine(0.1, tol=1e-9).solve(DenseGram(K), y), _pairwise.descend, iter([1e-2, 1e-4])

    def rough(*given: Any) -> int:
        return descend(*given[:7], max(given[7], next(ends, 0.0)), *given[8:])

    monkeypatch.setattr(_pairwise, "descend", rough)
    monkeypatch.setattr(margin_module, "newton", None)  # which would finish in their place
    found = MarginMachine(0.1, tol=1e-9).solve(DenseGram(K), y)
    assert found.converged
    assert found.value == pytest.approx(known.value, rel=1e-8)


def test_newton_steps_begin_with_the_support_of_the_start(monkeypatch: Any) -> None:
    monkeypatch.setattr(margin_module, "_SMALL", 0)
    K, y = small(30, 40)
    machine = MarginMachine(0.01, tol=1e-9)
    cold = machine.solve(DenseGram(K), y)
    assert 2 <= np.count_nonzero(cold.warm) < len(y)
    near = cold.warm * np.random.default_rng(0).uniform(0.5, 1.5, size=len(y))
    found = machine.solve(DenseGram(K), y, near)
    assert found.converged
    assert found.n_iter <= 2 < cold.n_iter


@pytest.mark.parametrize("ridge", [1e-3, 1e-1])
def test_a_step_that_leads_up_ends_where_the_loss_on_the_way_is_least(ridge: float) -> None:
    rng = np.random.default_rng(0)
    K, y = small(12, 14)
    universe = rng.uniform(size=len(y)) < 0.8
    coefs = rng.normal(size=(40, len(y))) * np.exp(rng.normal(size=(40, 1)))
    points = [newton._Point(coef, K @ coef, rng.normal()) for coef in coefs]

    def loss(point: newton._Point) -> float:
        left = np.maximum(0.0, 1.0 - y * (point.values + point.intercept))[universe]
        return float(point.coef @ point.values + left @ left / ridge)

    def between(a: newton._Point, b: newton._Point, t: float) -> newton._Point:
        own = [(1.0 - t) * one + t * other for one, other in zip(vars(a).values(), vars(b).values(), strict=True)]
        return newton._Point(*own)

    shortened = 0
    for a, b in pairwise(points):
        found, whole = newton._towards(a, b, y, universe, ridge)
        np.testing.assert_allclose(found.values, K @ found.coef, atol=1e-9)
        least = min(loss(between(a, b, t)) for t in np.linspace(0.0, 1.0, 101))
        if whole:
            assert found is b
            assert loss(b) <= loss(a) * (1.0 + 1e-9) or least >= loss(a) * (1.0 - 1e-3)
        else:
            shortened += 1
            assert loss(found) <= least * (1.0 + 1e-9) < loss(b)
    assert shortened >= 10


def test_pieces_between_which_a_fit_can_be_interrupted_change_nothing(monkeypatch: Any) -> None:
    K, y = small()
    machines = [MarginMachine(0.1, tol=1e-9, max_iter=steps) for steps in (1_000_000, 37)]
    whole = [machine.solve(DenseGram(K), y) for machine in machines]
    monkeypatch.setattr(margin_module, "PIECE", 10 * len(y))
    for machine, known in zip(machines, whole, strict=True):
        found = machine.solve(DenseGram(K), y)
        assert found.converged == known.converged == (machine.max_iter > 37)
        assert found.converged or found.n_iter == known.n_iter == 37
        np.testing.assert_allclose(found.coef, known.coef, atol=1e-4)


@pytest.mark.parametrize("lam", [0.0, 0.1, 0.9])
def test_a_solution_is_a_start_that_needs_no_step(lam: float, monkeypatch: Any) -> None:
    K, y = small()
    monkeypatch.setattr(factor_gram, "few_features", lambda q, n: True)
    apart = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    X = np.random.default_rng(5).normal(size=(40, 3)) + 2.0 * apart[:, None]
    for gram, labels in ((DenseGram(K), y), (FactorGram(X, np.ones(3), X), apart)):
        found = MarginMachine(lam, tol=1e-7).solve(gram, labels)
        with monkeypatch.context() as without:
            without.setattr(margin_module, "SquaredHingeMachine", None)  # which features would be left to
            again = MarginMachine(lam, tol=1e-6).solve(gram, labels, found.warm)
        assert found.converged
        assert again.n_iter == 0
        np.testing.assert_allclose(again.coef, found.coef, rtol=1e-12, atol=1e-15)


# -- ridge -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_is_its_formula(alpha: float, fit_intercept: bool) -> None:
    K, _ = small()
    y = np.random.default_rng(8).normal(size=len(K)) + 3.0
    r = y - y.mean() if fit_intercept else y
    want = np.linalg.inv(K + alpha * np.eye(len(K))) @ r
    found = RidgeMachine(alpha, fit_intercept).solve(DenseGram(K), y)
    np.testing.assert_allclose(found.coef, want, rtol=1e-8, atol=1e-12)
    assert found.value == pytest.approx(float(r @ want), rel=1e-10)
    assert found.intercept == (y.mean() if fit_intercept else 0.0)
    assert 0.0 <= found.gap <= 1e-8


@pytest.mark.parametrize("shape", [(30, 4), (8, 20)], ids=["few-features", "many-features"])
def test_ridge_on_features_is_ridge_on_the_matrix(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(9)
    X, w, y = rng.normal(size=shape), rng.random(shape[1]), rng.normal(size=shape[0])
    w[0] = 0.0
    dense, factored = (RidgeMachine(0.5).solve(gram, y) for gram in (DenseGram((X * w) @ X.T), FactorGram(X, w, X)))
    np.testing.assert_allclose(factored.coef, dense.coef, rtol=1e-9, atol=1e-12)
    assert factored.value == pytest.approx(dense.value, rel=1e-10)


def test_ridge_of_a_constant_target_is_its_mean() -> None:
    K, y = small()
    found = RidgeMachine(1.0).solve(DenseGram(K), np.full(len(y), 2.5))
    assert (found.intercept, found.value, found.gap) == (2.5, 0.0, 0.0)
    assert not found.coef.any()


# -- mistakes ----------------------------------------------------------------------------------------------------------

PARAMETERS = {
    "lam-negative": (lambda: MarginMachine(-0.1), r"lam must be a number in \[0, 1\], got -0.1"),
    "lam-large": (lambda: MarginMachine(1.5), r"lam must be a number in \[0, 1\], got 1.5"),
    "lam-nan": (lambda: MarginMachine(float("nan")), "got nan"),
    "alpha-zero": (lambda: RidgeMachine(0.0), "alpha must be a finite number > 0, got 0.0"),
    "C-negative": (lambda: HingeMachine(-1.0), "C must be a finite number > 0, got -1.0"),
}


@pytest.mark.parametrize(("make", "message"), PARAMETERS.values(), ids=PARAMETERS)
def test_parameters_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("target", [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [0.0, 1.0, 1.0], [1.0, 2.0, -1.0]], ids=str)
@pytest.mark.parametrize("machine", [MarginMachine(), HingeMachine()], ids=["margin", "hinge"])
def test_classification_needs_both_signs(machine: Machine, target: list[float]) -> None:
    with pytest.raises(ValueError, match=r"targets -1 and \+1 with both classes"):
        machine.solve(DenseGram(np.eye(3)), np.array(target))


def test_too_few_steps_are_told() -> None:
    """The point is usable and says what it is."""
    X = np.random.default_rng(2).normal(size=(80, 3))
    K, y = X @ X.T, np.where(np.arange(80) % 2 == 0, 1.0, -1.0)
    found = MarginMachine(0.0, tol=1e-30, max_iter=1).solve(DenseGram(K), y)
    g = y * found.coef
    assert not found.converged
    assert found.gap > 0.0
    assert g.min() >= 0.0
    np.testing.assert_allclose([g[y > 0].sum(), g[y < 0].sum()], 1.0)


@pytest.mark.parametrize("shape", [(5,), (12, 2)])
def test_a_start_of_another_shape_is_not_used(shape: tuple[int, ...]) -> None:
    K, y = small()
    F = K[:, :3]
    for gram in (DenseGram(K), FactorGram(F, np.ones(3), F)):
        known = MarginMachine(0.1).solve(gram, y)
        np.testing.assert_array_equal(MarginMachine(0.1).solve(gram, y, np.ones(shape)).coef, known.coef)
