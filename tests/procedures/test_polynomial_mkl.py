"""Polynomial kernel learning against a conic solver, against many slow runs, and in degenerate cases."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polynomial_reference as slow
from cases import one_in
from multikernel import bind, kernels, precomputed
from multikernel.combinations import HadamardPower, TiedAndFree
from multikernel.domains import Domain, NormBall, Orthant
from multikernel.kernels import RBF, Polynomial
from multikernel.machines import RidgeMachine
from multikernel.problem import Problem
from multikernel.procedures import Start
from multikernel.procedures.polynomial import polynomial_mkl

Array = Any
RNG = np.random.default_rng(7)
X = RNG.normal(size=(24, 4))
Y = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.2 * RNG.normal(size=24)
BANK = bind([RBF(0.3), Polynomial(2).normalized(), kernels.Linear().on([0]), RBF(1.0).on([1, 2])], X)
K, CENTRED = BANK.matrices(), Y - Y.mean()
ALPHA = 0.2


def problem(degree: int, domain: Domain, **changes: Any) -> Problem:
    return replace(Problem(BANK, HadamardPower(degree), RidgeMachine(ALPHA), domain, Y), **changes)


# -- optima ------------------------------------------------------------------------------------------------------------


SMOOTH = {"2": NormBall(2.0, 0.7), "2 around 1": NormBall(2.0, 0.7, 1.0), "penalty": Orthant(0.3, 2)}
SUMS = SMOOTH | {"1": NormBall(1.0, 0.7), "1 around 1": NormBall(1.0, 0.7, 1.0)}


@pytest.mark.parametrize(
    ("solver", "name"), [*(("auto", name) for name in SUMS), *(("interpolated", name) for name in SMOOTH)]
)
def test_degree_one_has_the_value_of_the_conic_program(name: str, solver: str) -> None:
    domain: Any = SUMS[name]
    weights, _ = polynomial_mkl(problem(1, domain), solver, tol=1e-8)
    assert weights.converged
    assert weights.gap <= 1e-8
    assert domain.contains(weights.values)
    assert weights.objective == pytest.approx(slow.conic_sum(K, CENTRED, ALPHA, domain), rel=1e-6)
    strength = getattr(domain, "strength", 0.0)
    assert weights.objective == pytest.approx(slow.value(K, CENTRED, ALPHA, 1, weights.values, strength), rel=1e-9)


CONVEX: dict[str, tuple[int, Any]] = {
    "2, norm 2": (2, NormBall(2.0, 0.7)),
    "2, norm 2 around 1": (2, NormBall(2.0, 0.7, 1.0)),
    "2, norm 3": (2, NormBall(3.0, 0.7)),
    "3, norm 3 around 1": (3, NormBall(3.0, 0.7, 1.0)),
    "2, penalty": (2, Orthant(0.05, 2)),
}
OTHERS: dict[str, tuple[int, Any]] = {
    "2, norm 1": (2, NormBall(1.0, 0.7)),
    "2, norm 1 around 1": (2, NormBall(1.0, 0.7, 1.0)),
    "3, norm 2": (3, NormBall(2.0, 0.7)),
    "4, norm 2 around 1": (4, NormBall(2.0, 0.7, 1.0)),
    "3, penalty": (3, Orthant(0.05, 2)),
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_sum_of_few_features_has_that_value_too(name: str, weighted: bool) -> None:
    domain, bank = SUMS[name], bind(kernels.linear_features(), X)
    ones = np.ones(24) if weighted else None
    weights, _ = polynomial_mkl(problem(1, domain, bank=bank, sample_weight=ones), tol=1e-7)
    assert weights.converged
    assert weights.gap <= 1e-7
    assert weights.objective == pytest.approx(slow.conic_sum(bank.matrices(), CENTRED, ALPHA, domain), rel=1e-6)


@pytest.mark.parametrize("case", CONVEX)
def test_certified_optimum_is_that_of_many_slow_runs(case: str) -> None:
    degree, domain = CONVEX[case]
    weights, _ = polynomial_mkl(problem(degree, domain), tol=1e-8)
    other = slow.best_of_many(K, CENTRED, ALPHA, degree, domain, 2)
    assert weights.converged
    assert weights.stationarity is None
    assert weights.objective <= other * (1.0 + 1e-8)
    assert weights.objective * (1.0 - weights.gap) <= other
    assert domain.contains(weights.values)


@pytest.mark.parametrize("case", one_in(2, OTHERS))
def test_best_of_some_starts_is_that_of_many_slow_runs(case: str) -> None:
    degree, domain = OTHERS[case]
    weights, _ = polynomial_mkl(problem(degree, domain), n_init=8, rng=np.random.RandomState(0))
    assert weights.converged
    assert weights.gap is None
    assert weights.stationarity <= 1e-6
    assert weights.objective <= slow.best_of_many(K, CENTRED, ALPHA, degree, domain, 2) * (1.0 + 1e-5)
    assert domain.contains(weights.values)


def test_another_start_leaves_a_local_minimum() -> None:
    """Degree 2 in the ball of norm 1 around 0: either kernel alone is a local minimum."""
    f, g, y = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.2, 1.0]), np.array([1.0, 1.0, 1.0, 1.0])
    pair = precomputed(np.stack([np.outer(f, f), np.outer(g, g)]))
    given = Problem(pair, HadamardPower(2), RidgeMachine(5.0, fit_intercept=False), NormBall(1.0), y)
    worse, _ = polynomial_mkl(given, start=Start(np.array([1.0, 0.0])))
    better, _ = polynomial_mkl(given, start=Start(np.array([1.0, 0.0])), n_init=4)
    assert worse.stationarity <= 1e-6
    assert worse.values[0] == pytest.approx(1.0)
    assert better.values[1] == pytest.approx(1.0)
    assert better.objective < worse.objective
    assert better.n_iter > worse.n_iter


@pytest.mark.parametrize("solver", ["auto", "projected_gradient", "trust_region"])
def test_solvers_agree(solver: str) -> None:
    weights, _ = polynomial_mkl(problem(2, NormBall(2.0, 0.7, 1.0)), solver, tol=1e-7)
    assert weights.converged
    want, _ = polynomial_mkl(problem(2, NormBall(2.0, 0.7, 1.0)), tol=1e-12)
    assert weights.objective == pytest.approx(want.objective, rel=1e-7)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("domain", [NormBall(2.0, 0.7), NormBall(1.0, 0.7, 1.0), Orthant(0.1, 2)], ids=str)
def test_several_targets_and_weighted_samples(degree: int, domain: Any) -> None:
    """One weight for two equal samples is two for one of them; the values of targets add up."""
    targets, count = np.column_stack([Y, X[:, 3]]), np.where(np.arange(24) < 6, 2, 1)
    twice = np.repeat(np.arange(24), count)
    repeated = Problem(
        precomputed(K[:, twice][:, :, twice]), HadamardPower(degree), RidgeMachine(ALPHA), domain, targets[twice]
    )
    weighted = problem(degree, domain, target=targets, sample_weight=count.astype(float))
    weights, dual = polynomial_mkl(weighted, tol=1e-7)
    want, _ = polynomial_mkl(repeated, tol=1e-7)
    assert weights.converged
    assert dual.coef.shape == (24, 2)
    assert weights.objective == pytest.approx(want.objective, rel=2e-7)
    strength = getattr(domain, "strength", 0.0)
    both = targets[twice] - targets[twice].mean(axis=0)
    value = slow.value(K[:, twice][:, :, twice], both, ALPHA, degree, weights.values, strength)
    assert weights.objective == pytest.approx(value, rel=1e-9)


def test_solution_is_the_machine_s_at_the_weights() -> None:
    for degree in (1, 2, 3):
        weights, dual = polynomial_mkl(problem(degree, NormBall(2.0, 0.7, 1.0)))
        gram = sum(w * k for w, k in zip(weights.values, K, strict=True)) ** degree
        np.testing.assert_allclose(gram @ dual.coef + ALPHA * dual.coef, CENTRED, atol=1e-8)
        assert dual.intercept == pytest.approx(Y.mean())


# -- zero weights ------------------------------------------------------------------------------------------------------


def test_penalty_from_which_no_weights_are_left() -> None:
    G = np.einsum("i,jil,kil,l->jk", CENTRED, K, K, CENTRED) / ALPHA**2
    edge = float(np.linalg.eigvalsh(G)[-1])
    with pytest.warns(UserWarning, match=re.escape(f"as it is from {edge:.3g} on")):
        weights, dual = polynomial_mkl(problem(2, Orthant(1.001 * edge, 2)))
    assert not weights.values.any()
    assert weights.converged
    assert weights.gap <= 1e-6
    assert weights.objective == pytest.approx(CENTRED @ CENTRED / ALPHA)
    np.testing.assert_allclose(dual.coef, CENTRED / ALPHA)
    weights, _ = polynomial_mkl(problem(2, Orthant(0.9 * edge, 2)))
    assert weights.values.any()
    assert weights.objective < CENTRED @ CENTRED / ALPHA


def test_start_at_zero_is_left() -> None:
    for degree, domain in (*CONVEX.values(), *OTHERS.values()):
        weights, _ = polynomial_mkl(problem(degree, domain), start=Start(np.zeros(4)))
        assert weights.converged
        assert weights.values.any()


@pytest.mark.parametrize("domain", [NormBall(2.0), Orthant(0.5, 2), NormBall(3.0)], ids=str)
def test_kernel_without_weight_is_found(domain: Domain) -> None:
    """Kernels on different samples: the second has no gradient where it has no weight."""
    pair = np.stack([np.diag([1.0, 1.0, 0.0, 0.0]), np.diag([0.0, 0.0, 1.0, 1.0])])
    y = np.array([3.0, -1.0, 2.0, 1.0])
    given = Problem(precomputed(pair), HadamardPower(2), RidgeMachine(1.0, fit_intercept=False), domain, y)
    weights, _ = polynomial_mkl(given, start=Start(np.array([1.0, 0.0])), tol=1e-8)
    assert weights.converged
    assert weights.objective <= slow.best_of_many(pair, y, 1.0, 2, domain, 2) * (1.0 + 1e-7)


# -- degenerate input --------------------------------------------------------------------------------------------------

DOMAINS: dict[str, Domain] = {
    "norm 2": NormBall(2.0, 0.7),
    "norm 2 around 1": NormBall(2.0, 0.7, 1.0),
    "norm 1": NormBall(1.0, 0.7),
    "norm 3": NormBall(3.0, 0.7, 1.0),
}
balls = pytest.mark.parametrize("domain", DOMAINS)
degrees = pytest.mark.parametrize("degree", [1, 2, 3])


@balls
@degrees
@pytest.mark.parametrize("constant", [0.0, 0.1, 3.0])
def test_constant_target_keeps_the_central_weights(degree: int, domain: str, constant: float) -> None:
    where = DOMAINS[domain]
    weights, dual = polynomial_mkl(problem(degree, where, target=np.full(24, constant)))
    assert weights.converged
    assert weights.objective == pytest.approx(0.0, abs=1e-30)
    np.testing.assert_array_equal(weights.values, where.start(4))
    np.testing.assert_allclose(dual.coef, 0.0, atol=1e-15)
    assert dual.intercept == pytest.approx(constant)


@degrees
def test_constant_target_has_no_weights_with_a_penalty(degree: int) -> None:
    weights, dual = polynomial_mkl(problem(degree, Orthant(0.1, 2), target=np.full(24, 0.1)))
    assert not weights.values.any()
    assert dual.intercept == pytest.approx(0.1)


@balls
@degrees
def test_one_kernel_has_all_the_weight(degree: int, domain: str) -> None:
    where = DOMAINS[domain]
    weights, _ = polynomial_mkl(problem(degree, where, bank=BANK.select([1])))
    assert weights.converged
    np.testing.assert_allclose(weights.values, where.offset(1) + 0.7, rtol=1e-6)


@degrees
@pytest.mark.parametrize("norm", [1.0, 2.0, 3.0])
def test_without_radius_the_weights_are_the_offset(degree: int, norm: float) -> None:
    weights, _ = polynomial_mkl(problem(degree, NormBall(norm, 0.0, np.arange(4.0))))
    np.testing.assert_array_equal(weights.values, np.arange(4.0))
    assert weights.converged


@balls
@degrees
def test_zero_kernel_keeps_its_offset(degree: int, domain: str) -> None:
    where = DOMAINS[domain]
    with_zero = precomputed(np.concatenate([K[:2], np.zeros((1, 24, 24))]))
    weights, _ = polynomial_mkl(problem(degree, where, bank=with_zero), tol=1e-8)
    assert weights.converged
    assert np.isfinite(weights.values).all()
    assert weights.values[2] == pytest.approx(where.offset(3)[2], abs=2e-3)
    want, _ = polynomial_mkl(problem(degree, where, bank=precomputed(K[:2])), tol=1e-9)
    assert weights.objective == pytest.approx(want.objective, rel=1e-7)


@balls
@degrees
def test_equal_kernels_have_equal_weights(degree: int, domain: str) -> None:
    where = DOMAINS[domain]
    weights, _ = polynomial_mkl(problem(degree, where, bank=precomputed(K[[0, 1, 0]])), tol=1e-9)
    assert weights.converged
    if isinstance(where, NormBall) and where.norm > 1:
        assert weights.values[0] == pytest.approx(weights.values[2], abs=1e-4)


def test_scale_of_target_and_kernels_does_not_matter() -> None:
    want, _ = polynomial_mkl(problem(2, NormBall(2.0, 0.7, 1.0)), tol=1e-9)
    scaled = problem(2, NormBall(2.0, 0.7, 1.0), target=1e6 * Y)
    weights, _ = polynomial_mkl(scaled, tol=1e-9)
    np.testing.assert_allclose(weights.values, want.values, rtol=1e-4)
    assert weights.objective == pytest.approx(1e12 * want.objective, rel=1e-8)
    larger = problem(2, NormBall(2.0, 7.0, 10.0), machine=RidgeMachine(100.0 * ALPHA))
    weights, _ = polynomial_mkl(larger, tol=1e-9)
    np.testing.assert_allclose(weights.values, 10.0 * want.values, rtol=1e-4)


@pytest.mark.parametrize("alpha", [1e-8, 1e8])
def test_tiny_and_huge_alpha(alpha: float) -> None:
    for degree, domain in CONVEX.values():
        if isinstance(domain, Orthant) and alpha > 1.0:
            continue  # no weights are left
        weights, _ = polynomial_mkl(problem(degree, domain, machine=RidgeMachine(alpha)))
        assert weights.converged


# -- what is refused, what is told -------------------------------------------------------------------------------------


def test_solvers_are_refused_where_they_do_not_fit() -> None:
    for degree, domain in ((2, NormBall(2.0)), (1, NormBall(1.0))):
        with pytest.raises(ValueError, match="solver='interpolated' works for degree 1"):
            polynomial_mkl(problem(degree, domain), "interpolated")
    for given in (problem(2, NormBall(1.0)), problem(2, Orthant(1e-3, 2))):
        with pytest.raises(ValueError, match="solver='trust_region' works on the sphere"):
            polynomial_mkl(given, "trust_region")
    with pytest.raises(ValueError, match="solver='trust_region' works on the sphere"):
        polynomial_mkl(problem(2, NormBall(2.0), combination=TiedAndFree(2, ((0, 1),))), "trust_region")
    with pytest.raises(ValueError, match="solver must be one of auto"):
        polynomial_mkl(problem(2, NormBall(2.0)), "newton")
    with pytest.raises(ValueError, match="the centre of the ball has 3 entries for 4 kernels"):
        polynomial_mkl(problem(2, NormBall(2.0, 1.0, np.ones(3))))


def test_max_iter_is_kept_to() -> None:
    weights, dual = polynomial_mkl(problem(2, NormBall(2.0, 50.0)), tol=1e-14, max_iter=3)
    assert not weights.converged
    assert not dual.converged
    assert weights.n_iter == 3
    assert 0.0 < weights.gap < 1.0


def test_observers_hear_of_every_machine() -> None:
    heard: list[Any] = []
    weights, _ = polynomial_mkl(problem(2, NormBall(2.0, 0.7)), observe=heard.append)
    assert len(heard) == weights.n_iter == len(weights.history)
    assert all(event.bound <= event.upper * (1.0 + 1e-12) for event in heard)


def test_a_start_at_the_solution_is_the_end() -> None:
    first, _ = polynomial_mkl(problem(2, NormBall(2.0, 0.7, 1.0)), tol=1e-10)
    again, _ = polynomial_mkl(problem(2, NormBall(2.0, 0.7, 1.0)), start=Start(first.values), tol=1e-4)
    assert again.n_iter <= 2


def test_nothing_is_said_where_all_is_well() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for degree, domain in (*CONVEX.values(), *OTHERS.values()):
            polynomial_mkl(problem(degree, domain))
