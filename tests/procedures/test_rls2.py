"""RLS2 against a conic solver, its formulas, and the paper's algorithm."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import cg

import rational
import reference as ref
import rls2_reference as slow
from cases import one_in
from multikernel import bind, kernels, simplex_least_squares
from multikernel.banks import precomputed
from multikernel.observer import Event
from multikernel.procedures.rls2 import ScaledWeights, point, rls2, scaling_factors
from multikernel.procedures.rls2.newton import newton

Array = Any
RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 4))
X[:, 3] = 0.0
VALUES = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=40)
SIGNS = np.where(np.median(VALUES) < VALUES, 1.0, -1.0)
SEVERAL = np.column_stack([VALUES, X[:, 1] + 0.1 * RNG.normal(size=40), SIGNS])
BANK = bind(kernels.rls2_basis(), X)
TRACES = 1.0 / BANK.traces()
K = BANK.scaled(TRACES).matrices()
ALPHAS = (1e-6, 1e-3, 0.05, 1.0, 1e3)
TARGETS = {"values": VALUES, "signs": SIGNS, "several": SEVERAL}


def centred(target: Array) -> Array:
    return target - target.mean(axis=0)


@pytest.mark.parametrize(("target", "alpha"), one_in(4, product(TARGETS, [1e-3, 1.0, 1e3])))
def test_optimum(target, alpha):
    Y = TARGETS[target]
    weights, solution = rls2(BANK, Y, alpha, TRACES, tol=1e-9)
    lower, upper = slow.optimum(K, centred(Y), alpha)
    own = slow.value(K, centred(Y), alpha, weights.values)
    assert weights.converged
    assert own == pytest.approx(weights.objective, rel=1e-9)
    assert own <= upper * (1 + 1e-8)
    assert own >= lower * (1 - 1e-8)
    assert (upper - lower) < 1e-6 * upper, "the reference is not accurate"
    assert own == pytest.approx(upper, rel=1e-6)
    C = np.linalg.solve(ref.combine(K, weights.values) + alpha * np.eye(40), centred(Y))
    np.testing.assert_allclose(solution.coef, C, rtol=1e-6, atol=1e-9 * np.abs(C).max())
    np.testing.assert_allclose(solution.intercept, Y.mean(axis=0))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_the_gap_is_one(alpha, tol):
    """The value less a bound that holds, relative to it or to what is explained; the gap asked for is reached."""
    weights, solution = rls2(BANK, VALUES, alpha, TRACES, tol=tol)
    J = slow.value(K, centred(VALUES), alpha, weights.values)
    bound = slow.bound(K, centred(VALUES), alpha, solution.coef)
    assert weights.gap <= tol
    assert weights.converged
    empty = 0.5 * float(centred(VALUES) @ centred(VALUES))
    assert weights.gap == pytest.approx((J - bound) / min(J, empty - J), abs=1e-9)
    assert weights.values.min() >= 0
    assert weights.values.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_start_does_not_matter(alpha, rng):
    best = rls2(BANK, VALUES, alpha, TRACES, tol=1e-8)[0].objective
    for start in (np.full(len(BANK), 1.0 / len(BANK)), np.eye(len(BANK))[-3], rng.dirichlet(np.ones(len(BANK)))):
        assert rls2(BANK, VALUES, alpha, TRACES, tol=1e-8, start=ScaledWeights(start))[0].objective == pytest.approx(
            best, rel=1e-7
        )


def test_gradient_is_that_of_the_solution():
    weights, solution = rls2(BANK, VALUES, 0.05, TRACES)
    d, y, step = weights.values, centred(VALUES), 1e-6
    for k in np.argsort(-d)[:3]:
        ends = [slow.value(K, y, 0.05, d + sign * step * np.eye(len(d))[k]) for sign in (1, -1)]
        assert -float(solution.factor @ K[k] @ solution.factor) == pytest.approx((ends[0] - ends[1]) / (2 * step), 1e-5)


@pytest.mark.parametrize("alpha", [1e-4, 0.05, 1.0])
def test_duplicates_change_nothing(alpha):
    twice = bind(kernels.Kernels(tuple(kernels.rls2_basis().resolve(kernels.Features(4))) * 2), X)
    once, again = rls2(BANK, VALUES, alpha, TRACES, tol=1e-9), rls2(twice, VALUES, alpha, np.tile(TRACES, 2), tol=1e-9)
    assert again[0].objective == pytest.approx(once[0].objective, rel=1e-8)
    np.testing.assert_allclose(again[1].coef, once[1].coef, rtol=1e-3, atol=1e-4 * np.abs(once[1].coef).max())


def test_for_large_alpha_the_kernel_of_lemma_5():
    weights, _ = rls2(BANK, VALUES, 1e8, TRACES)
    assert weights.values[ref.quad(K, centred(VALUES)).argmax()] == 1.0


def test_one_kernel_is_ridge_regression():
    weights, solution = rls2(BANK.select([3]), VALUES, 0.1, TRACES[3:4])
    assert weights.values.tolist() == [1.0]
    assert weights.gap < 1e-12
    np.testing.assert_allclose(solution.coef, np.linalg.solve(K[3] + 0.1 * np.eye(40), centred(VALUES)))


@pytest.mark.parametrize("mode", ["certified", "paper", "conjugate"])
def test_constant_target(mode):
    scaling = np.where(np.arange(len(BANK)) % 2, TRACES, 0.0)
    weights, solution = rls2(BANK, np.full(40, 3.0), 0.1, scaling, mode=mode)
    assert weights.objective == 0.0
    assert weights.gap == 0.0
    assert weights.converged
    assert not solution.coef.any()
    assert solution.intercept == 3.0
    assert (weights.values[scaling == 0] == 0).all()
    assert weights.values.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("mode", ["certified", "paper", "conjugate"])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_zero_kernels_get_nothing(mode, alpha):
    bank = precomputed(np.concatenate([np.zeros((2, 40, 40)), K[:20]]))
    scaling = scaling_factors("trace", bank, VALUES)
    weights, _ = rls2(bank, VALUES, alpha, scaling, mode=mode)
    assert not scaling[:2].any()
    assert not weights.values[:2].any()
    assert np.isfinite(weights.values).all()


def test_units_that_differ_by_many_orders():
    """Polynomials of features in the thousands beside Gaussians, and no scaling: R + alpha I is nearly singular."""
    bank = bind(kernels.rls2_basis(), 1e3 * X)
    weights, _ = rls2(bank, VALUES, 1e-6, np.ones(len(bank)))
    assert weights.gap >= 0
    assert np.isfinite(weights.objective)
    J = weights.objective
    assert 0.5 * float(centred(VALUES) @ centred(VALUES)) >= J


# -- the paper's algorithm ---------------------------------------------------------------------------------------------


def test_paper_as_printed():
    """Algorithm 1 written out."""
    alpha, y = 0.3, centred(VALUES)
    weights, solution = rls2(BANK, VALUES, alpha, TRACES, mode="paper")
    d = np.eye(len(K))[ref.quad(K, y).argmax()]
    residual, steps = np.inf, 0
    while residual > 1e-2 * np.linalg.norm(y):
        c = np.linalg.solve(ref.combine(K, d) + alpha * np.eye(40), y)
        V, u = ref.apply(K, c[:, None])[:, :, 0].T, y - 0.5 * alpha * c
        d = simplex_least_squares(V, u, d)
        residual, steps = np.linalg.norm(V @ d + alpha * c - y), steps + 1
    assert weights.n_iter == steps
    assert weights.rule_met
    np.testing.assert_allclose(ref.combine(K, weights.values), ref.combine(K, d), atol=1e-8)
    np.testing.assert_allclose(solution.coef, np.linalg.solve(ref.combine(K, d) + alpha * np.eye(40), y), rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.05, 1.0, 30.0])
def test_an_optimum_is_a_fixed_point_of_the_paper(alpha):
    best, _ = rls2(BANK, VALUES, alpha, TRACES, tol=1e-13)
    again, _ = rls2(BANK, VALUES, alpha, TRACES, mode="paper", start=ScaledWeights(best.values))
    assert again.n_iter == 1
    np.testing.assert_allclose(ref.combine(K, again.values), ref.combine(K, best.values), atol=1e-5)


@pytest.mark.parametrize("alpha", one_in(2, [0.3, 3.0]))
def test_where_the_paper_comes_to_rest_is_an_optimum(alpha):
    """Its algorithm without its stopping rule: each run goes on where the last one stopped."""
    at = rls2(BANK, VALUES, alpha, TRACES, mode="paper")[0]
    for _ in range(300):
        at = rls2(BANK, VALUES, alpha, TRACES, mode="paper", start=at)[0]
    assert at.objective == pytest.approx(rls2(BANK, VALUES, alpha, TRACES, tol=1e-9)[0].objective, rel=1e-6)


def test_paper_stalls_at_small_alpha_and_says_so():
    certified, _ = rls2(BANK, VALUES, 1e-5, TRACES)
    stalled, _ = rls2(BANK, VALUES, 1e-5, TRACES, mode="paper")
    assert stalled.rule_met
    assert not stalled.converged
    assert stalled.objective > 1.5 * certified.objective
    assert stalled.gap >= 1.0 - certified.objective / stalled.objective - 1e-9


@pytest.mark.parametrize("alpha", [1e-3, 1e-2, 0.3, 1e6])
def test_paper_with_conjugate_gradients(alpha):
    """Algorithm 1 written out, with systems solved by SciPy to the residual of the rule, from the last coefficients."""
    y = centred(VALUES)
    weights, solution = rls2(BANK, VALUES, alpha, TRACES, mode="conjugate")
    size = np.linalg.norm(y)
    d, c = np.eye(len(K))[ref.quad(K, y).argmax()], np.zeros(40)
    residual, steps = np.inf, 0
    while residual > 1e-2 * size:
        c = cg(ref.combine(K, d) + alpha * np.eye(40), y, x0=c, rtol=0.0, atol=1e-2 * size)[0]
        V, u = ref.apply(K, c[:, None])[:, :, 0].T, y - 0.5 * alpha * c
        d = simplex_least_squares(V, u, d)
        residual, steps = np.linalg.norm(V @ d + alpha * c - y), steps + 1
    assert weights.n_iter == steps
    assert weights.rule_met
    np.testing.assert_allclose(ref.combine(K, weights.values), ref.combine(K, d), atol=1e-6)
    np.testing.assert_allclose(solution.coef, c, atol=1e-5 * np.abs(c).max())
    best = rls2(BANK, VALUES, alpha, TRACES, tol=1e-10)[0].objective
    assert weights.bound <= best * (1.0 + 1e-9)
    assert weights.objective >= best * (1.0 - 1e-9)


def test_steps_run_out():
    weights, _ = rls2(BANK, VALUES, 1e-4, TRACES, tol=1e-8, max_iter=2)
    assert not weights.converged
    assert weights.n_iter == 2
    assert weights.gap > 1e-8


# -- scaling -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-6, 1e-4])
def test_kernels_that_only_rounding_lets_in_end_the_steps(alpha):
    """Constant kernels explain nothing of a centred target: rounding alone says that one of them should have weight."""
    constant = bind(kernels.rls2_basis(), np.full((24, 2), 5.5))
    start = np.eye(len(constant))[0]
    told: list[Event] = []

    def observe(event: Event) -> None:
        told.append(event)
        assert len(told) < 50, "more than two looks for each of the steps that are allowed"

    for seed in range(40):
        y = centred(np.random.default_rng(seed).normal(size=(24, 1)))
        told.clear()
        newton(constant.scaled(1.0 / constant.traces()), point.Ridge(y, alpha, True), 1e-4, 20, start, None, observe)


def test_trace_and_transductive():
    raw = BANK.matrices()
    np.testing.assert_allclose(scaling_factors("trace", BANK, VALUES), 1.0 / ref.traces(raw))
    new = RNG.normal(size=(7, 4))
    whole = bind(kernels.rls2_basis(), np.concatenate([X, new])).matrices()
    further = BANK.self_values(new).sum(axis=1)
    np.testing.assert_allclose(scaling_factors("transductive", BANK, VALUES, further), 1.0 / ref.traces(whole))


def test_trace_of_centred_kernels():
    bank = bind(kernels.rls2_basis(), X).centered()
    expected = [np.trace(matrix) - matrix.sum() / 40 for matrix in BANK.matrices()]
    found = scaling_factors("trace", bank, VALUES)
    sensible = np.array(expected) > 1e-9
    np.testing.assert_allclose(found[sensible], 1.0 / np.array(expected)[sensible], rtol=1e-8)


def test_fisher_is_the_variance_within_the_classes():
    bank = bind(kernels.linear_features(), X)
    s = scaling_factors("fisher", bank, SIGNS)
    variances = X[SIGNS > 0].var(axis=0) + X[SIGNS < 0].var(axis=0)
    np.testing.assert_allclose(s[:3], 1.0 / variances[:3])
    assert s[3] == 0.0
    of_samples = X[SIGNS > 0].var(axis=0, ddof=1) + X[SIGNS < 0].var(axis=0, ddof=1)
    np.testing.assert_allclose(scaling_factors("fisher_root", bank, SIGNS)[:3], of_samples[:3] ** -0.5)
    polynomial = bind([kernels.Polynomial(2)], X[:, :1])  # features 1, sqrt2 x, x^2
    features = np.column_stack([np.sqrt(2.0) * X[:, 0], X[:, 0] ** 2])
    total = sum(features[sign == SIGNS].var(axis=0).sum() for sign in (-1, 1))
    assert scaling_factors("fisher", polynomial, SIGNS)[0] == pytest.approx(1.0 / total)


def test_fisher_with_a_class_of_one():
    target = np.where(np.arange(40) == 7, 1.0, -1.0)
    s = scaling_factors("fisher", bind(kernels.linear_features(), X), target)
    np.testing.assert_allclose(s[:3], 1.0 / X[target < 0][:, :3].var(axis=0))


# -- alphas beyond rounding, and far beyond the kernels ----------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-14, 1e-10, 1e-6, 1e-2, 1e2, 1e6, 1e12])
def test_kernels_of_low_rank_are_certified_for_every_alpha(alpha):
    """The gap relative to what weights change, in exact arithmetic."""
    F = RNG.normal(size=(18, 3))
    y = F @ [1.0, 0.4, 0.3] + 0.5 * RNG.normal(size=18)
    bank = bind(kernels.linear_features(), F)
    weights, solution = rls2(bank, y, alpha, np.ones(3), tol=1e-8)
    assert weights.converged
    assert weights.gap <= 1e-8
    used = np.where(weights.values > 1e-12, weights.values, 0.0)
    J, A = rational.ridge(F, used, centred(y), alpha)
    q = rational.scores(F, A).astype(float)
    lowest = rational.ridge(F, np.full(3, 1e60), centred(y), alpha)[0]
    empty = rational.fractions(centred(y)) @ rational.fractions(centred(y)) / Fraction(alpha)
    assert q.max() - used @ q <= 1e-6 * min(float(J - lowest), float(empty - J))
    assert weights.objective == pytest.approx(0.5 * alpha * float(J), rel=1e-9)
    want = F @ (used * np.linalg.solve(F.T @ F * used + alpha * np.eye(3), F.T @ centred(y)))
    got = bank.combine(weights.values).multiply(solution.coef)
    np.testing.assert_allclose(got, want, atol=1e-6 * np.abs(want).max())


@pytest.mark.parametrize("alpha", [1e-12, 1e-10])
def test_a_dense_matrix_of_low_rank_proves_what_rounding_lets_it(alpha):
    F = RNG.normal(size=(40, 4))
    bank = precomputed(np.array([*(np.outer(f, f) for f in F.T), F @ F.T]) / 40.0)
    weights, _ = rls2(bank, F[:, 0] + 0.3 * RNG.normal(size=40), alpha, np.ones(5), tol=1e-2)
    assert weights.converged
    assert weights.gap <= 1e-2


def test_many_samples_begin_where_a_part_of_them_ends():
    """The same optimum in fewer steps than from the kernel that is best for alpha to infinity."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1020, 5))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=1020)
    bank = bind(kernels.rbf_grid([0.01, 0.1, 1.0]) + kernels.per_feature(kernels.RBF(0.5)), X)
    scaling, weight = 1.0 / bank.traces(), rng.exponential(size=1020)
    from_far = ScaledWeights(
        **vars(rls2(bank, y, 1e-3, scaling, max_iter=0)[0]) | {"values": np.eye(8)[0], "scores": None}
    )
    for s in (None, weight):
        near, _ = rls2(bank, y, 1e-3, scaling, tol=1e-7, sample_weight=s)
        far, _ = rls2(bank, y, 1e-3, scaling, tol=1e-7, sample_weight=s, start=from_far)
        assert near.converged
        assert far.converged
        assert near.objective == pytest.approx(far.objective, rel=1e-6)
        assert near.n_iter < 0.7 * far.n_iter


@pytest.mark.parametrize(
    ("target", "numbers"),
    one_in(2, product(TARGETS, [(1e-9, 1.0), (1e-6, 1.0), (1e-3, 1.0), (1e3, 1.0), (1e-3, 1e-60)])),
)
def test_a_factor_in_single_precision_gives_the_same_solution(target, numbers, monkeypatch):
    """Where it is too rough, or the numbers are beyond single precision, one in double takes its place."""
    alpha, unit = numbers
    scaling, tries = unit * TRACES, []
    Y = TARGETS[target]
    weights, solution = rls2(BANK, Y, unit * alpha, scaling, tol=1e-5)
    single = point.Ridge._roughly_factored

    def told(*args):
        tries.append(single(*args))
        return tries[-1]

    monkeypatch.setattr(point, "RLS2_HALF_FROM", 10)
    monkeypatch.setattr(point.Ridge, "_roughly_factored", told)
    rough_weights, rough = rls2(BANK, Y, unit * alpha, scaling, tol=1e-5)
    assert rough_weights.converged == weights.converged
    assert rough_weights.objective == pytest.approx(weights.objective, rel=2e-5)
    np.testing.assert_allclose(
        BANK.scaled(scaling).combine(rough_weights.values).multiply(rough.coef),
        BANK.scaled(scaling).combine(weights.values).multiply(solution.coef),
        atol=1e-3 * np.abs(Y).max(),
    )
    if alpha >= 1e-3:
        assert {found is not None for found in tries} == {unit == 1.0}
