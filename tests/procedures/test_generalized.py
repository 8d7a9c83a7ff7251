"""Generalised MKL against slow references: formulas, differences, a conic solver, another optimizer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize

import reference as ref
from cases import one_in
from multikernel import bind, kernels, precomputed
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF, TiedAndFree
from multikernel.domains import Domain, NormBall, Orthant
from multikernel.machines import Machine, RidgeMachine, SquaredHingeMachine
from multikernel.numerics.limited_memory import Curvature
from multikernel.optimizers.quasi_newton import QuasiNewton
from multikernel.problem import Problem
from multikernel.procedures import Start, generalized_mkl
from multikernel.procedures.generalized import central_start
from multikernel.procedures.hidden_convexity import hidden_convex
from multikernel.procedures.support_mkl import support_mkl
from multikernel.testing.assertions import refusal
from outsiders import ExponentialOfSum
from zoo_problems import pairings

Array = Any
RNG = np.random.default_rng(3)
X = RNG.normal(size=(36, 4))
SIGNS = np.where(X[:, 0] ** 2 + X[:, 1] + 0.3 * RNG.normal(size=36) > 0.7, 1.0, -1.0)
VALUES = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=36)
FEATURES = np.einsum("ik,jk->kij", X, X)  # the matrices of linear_features()

MACHINES: dict[str, Machine] = {"squared hinge": SquaredHingeMachine(C=5.0), "ridge": RidgeMachine(0.2)}
DOMAINS: dict[str, Domain] = {
    "penalty 1": Orthant(0.7, 1),
    "penalty 2": Orthant(0.7, 2),
    "ball 1": NormBall(1.0, 1.5),
    "ball 2": NormBall(2.0, 0.8),
    "ball 2 around 0.3": NormBall(2.0, 0.5, 0.3),
}
COMBINATIONS: dict[str, Combination] = {
    "power-2": HadamardPower(2),
    "power-3": HadamardPower(3),
    "product": ProductOfRBF(),
}
machines = pytest.mark.parametrize("machine", MACHINES)
domains = pytest.mark.parametrize("domain", DOMAINS)
combinations = pytest.mark.parametrize("name", COMBINATIONS)


def problem(combination: Combination, machine: str, domain: Domain) -> Problem:
    bank = bind(kernels.linear_features(), X)
    bank = bank.distances() if isinstance(combination, ProductOfRBF) else bank
    return Problem(bank, combination, MACHINES[machine], domain, SIGNS if machine == "squared hinge" else VALUES)


def kernel(combination: Combination, theta: Array) -> Array:
    """K(theta), by its formula."""
    if isinstance(combination, ProductOfRBF):
        return np.exp(-sum(w * (x[:, None] - x) ** 2 for w, x in zip(theta, X.T, strict=True)))
    return ref.combine(FEATURES, theta) ** getattr(combination, "degree", 1)


def slow_value(combination: Combination, machine: str, domain: Domain, theta: Array) -> float:
    """T(theta) + r(theta): a linear system, or a conic program."""
    K = kernel(combination, theta)
    if machine == "ridge":
        y = VALUES - VALUES.mean()
        value = float(y @ np.linalg.solve(K + MACHINES["ridge"].alpha * np.eye(len(y)), y))
    else:
        b, root = cp.Variable(len(SIGNS)), np.linalg.cholesky(K + np.eye(len(SIGNS)) / 5.0)
        conditions = [cp.multiply(SIGNS, b) >= 0, cp.sum(b) == 0]
        program = cp.Problem(cp.Maximize(2.0 * SIGNS @ b - cp.sum_squares(root.T @ b)), conditions)
        value = float(program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10))
    return value + (domain.strength * float((theta**domain.norm).sum()) if isinstance(domain, Orthant) else 0.0)


def slopes(function: Any, theta: Array, step: float) -> Array:
    """Central differences."""
    return np.array(
        [(function(theta + step * e) - function(theta - step * e)) / (2.0 * step) for e in np.eye(len(theta))]
    )


@machines
@combinations
def test_value_and_gradient_are_those_of_the_formulas(machine, name):
    combination, domain = COMBINATIONS[name], DOMAINS["penalty 2"]
    theta = np.array([0.4, 0.1, 0.7, 0.2])
    given = problem(combination, machine, domain)
    fine = SquaredHingeMachine(C=5.0, tol=1e-12) if machine == "squared hinge" else None
    found = given.evaluate(theta, machine=fine)
    assert found.value == pytest.approx(slow_value(combination, machine, domain, theta), rel=1e-6)
    expected = slopes(lambda t: slow_value(combination, machine, domain, t), theta, 1e-3)
    np.testing.assert_allclose(found.gradient, expected, rtol=2e-3, atol=2e-3 * np.abs(expected).max())


@pytest.mark.crossed
@machines
@domains
@combinations
def test_the_point_found_is_stationary(machine, domain, name):
    """No other weights gain to first order, by differences of the slow value."""
    combination, where = COMBINATIONS[name], DOMAINS[domain]
    posed = problem(combination, machine, where)
    weights, _ = generalized_mkl(posed, tol=1e-5)
    theta = weights.values
    assert weights.converged
    assert weights.certificate.kind == ("duality gap" if hidden_convex(posed) else "stationarity")
    assert weights.certificate.value <= 1e-5
    assert where.contains(theta)
    value = slow_value(combination, machine, where, theta)
    assert weights.objective == pytest.approx(value, rel=1e-6)
    g = slopes(lambda t: slow_value(combination, machine, where, t), np.maximum(theta, 1e-4), 5e-5)
    total = 2.0 * theta.sum() + 0.1
    if isinstance(where, NormBall):
        d = cp.Variable(len(g), nonneg=True)
        inside = [cp.pnorm(d - where.center, where.norm) <= where.radius]
        gain = float(g @ theta) + float(cp.Problem(cp.Maximize(-g @ d), inside).solve(solver=cp.CLARABEL))
    else:
        gain = float(g @ theta) + total * max(0.0, float((-g).max()))
    assert gain <= 1e-2 * value


@pytest.mark.parametrize("combination", [HadamardPower(3), TiedAndFree(3, free=((0, 1),)), ExponentialOfSum()], ids=str)
@pytest.mark.parametrize("machine", ["squared hinge", "ridge"])
@domains
def test_what_is_not_convex_has_no_duality_gap(machine, domain, combination):
    """Also for a combination that is not part of the package, and however early the run ends."""
    for max_iter in (2, 1000):
        weights, _ = generalized_mkl(problem(combination, machine, DOMAINS[domain]), tol=1e-3, max_iter=max_iter)
        assert weights.certificate.kind == "stationarity"
        assert weights.gap is None
        assert weights.stationarity == weights.history[-1]
        assert weights.converged == (weights.stationarity <= 1e-3)


@pytest.mark.filterwarnings("ignore::UserWarning")  # penalties that leave no weights
@pytest.mark.parametrize("procedure", [support_mkl, generalized_mkl])
@pytest.mark.parametrize("step", one_in(2, [11, 1]))
def test_every_mismatch_gives_a_sentence_that_names_what_works(procedure, step):
    for given in islice(pairings(), None, None, step):
        said = refusal(partial(procedure, given, max_iter=1))
        assert said is None or (procedure is support_mkl and "QuasiNewton" in said), said


@combinations
@domains
def test_no_worse_than_another_optimizer_from_the_same_start(domain, name):
    """L-BFGS-B with differences where the domain is a box; else SLSQP."""
    combination, where = COMBINATIONS[name], DOMAINS[domain]
    given = problem(combination, "ridge", where)
    start = central_start(given)

    def value(theta):
        return slow_value(combination, "ridge", where, np.maximum(theta, 0.0))

    if isinstance(where, Orthant):
        other = minimize(value, start, bounds=[(0.0, None)] * 4, method="L-BFGS-B", options={"maxfun": 5000})
    else:
        inside = {"type": "ineq", "fun": lambda t: where.radius - np.linalg.norm(t, where.norm)}
        other = minimize(value, start, bounds=[(0.0, None)] * 4, constraints=[inside], method="SLSQP")
    weights, _ = generalized_mkl(given, tol=1e-6)
    assert weights.objective <= other.fun * (1.0 + 1e-4)


@machines
@domains
def test_a_sum_of_kernels_has_the_value_of_the_conic_program(machine, domain):
    """max over a of the machine's dual less the support of the scores: linear, so the optimum and its bound."""
    where, m = DOMAINS[domain], 4
    weights, _ = generalized_mkl(problem(Linear(), machine, where), tol=1e-6)
    b, t = cp.Variable(len(X)), cp.Variable(m, nonneg=True)
    conditions = [cp.sum_squares(ref.root(K) @ b) <= t[k] for k, K in enumerate(FEATURES)]
    if machine == "ridge":
        y, ridge = VALUES - VALUES.mean(), MACHINES["ridge"].alpha
    else:
        y, ridge = SIGNS, 1.0 / MACHINES["squared hinge"].C
        conditions += [cp.multiply(y, b) >= 0, cp.sum(b) == 0]
    support: Any = 0.0
    if isinstance(where, NormBall):
        support = where.radius * (cp.max(t) if where.norm == 1 else cp.norm(t, 2)) + where.offset(m) @ t
    elif where.norm == 1:
        conditions.append(t <= where.strength)
    else:
        support = cp.sum_squares(t) / (4.0 * where.strength)
    expected = ref.conic(cp.Problem(cp.Maximize(2.0 * y @ b - ridge * cp.sum_squares(b) - support), conditions))
    assert weights.objective == pytest.approx(expected, rel=1e-5)
    assert weights.stationarity is None
    assert weights.converged
    assert weights.gap <= 1e-6
    assert where.contains(weights.values)
    assert weights.objective == pytest.approx(slow_value(Linear(), machine, where, weights.values), rel=1e-6)


@machines
def test_the_solution_predicts_the_targets(machine):
    """Coefficients and intercept are those of the machine at the weights found, for sums and others alike."""
    for combination in (Linear(), ProductOfRBF()):
        weights, dual = generalized_mkl(problem(combination, machine, DOMAINS["penalty 1"]), tol=1e-6)
        K = kernel(combination, weights.values)
        f = K @ dual.coef + dual.intercept
        if machine == "ridge":
            np.testing.assert_allclose(dual.coef * 0.2, VALUES - f, atol=1e-8)  # alpha a = y - f
        else:
            slack = np.maximum(1.0 - SIGNS * f, 0.0)
            np.testing.assert_allclose(SIGNS * dual.coef, 5.0 * slack, atol=1e-3)  # a = C times the slack


def test_weights_of_irrelevant_features_vanish():
    """Values follow features 0 and 1 of four."""
    weights, _ = generalized_mkl(problem(ProductOfRBF(), "ridge", Orthant(8.0, 1)))
    assert (weights.values[:2] > 0.05).all()
    assert not weights.values[2:].any()


def test_the_best_of_several_starts_is_kept():
    given = problem(ProductOfRBF(), "squared hinge", Orthant(0.1, 1))
    starts = [Start(np.eye(4)[3] * 5.0), Start(np.full(4, 0.1)), Start(np.eye(4)[0])]
    alone = [generalized_mkl(given, 1e-2, starts=[start])[0] for start in starts]
    together, _ = generalized_mkl(given, 1e-2, starts=starts)
    assert together.objective == pytest.approx(min(w.objective for w in alone), rel=1e-9)
    assert together.n_iter == sum(w.n_iter for w in alone)


def test_central_start_gives_every_kernel_the_same_part():
    scales = np.array([1.0, 10.0, 0.01, 0.0])
    bank = bind(kernels.linear_features(), X * scales)
    sums = Problem(bank, HadamardPower(2), MACHINES["ridge"], Orthant(), VALUES)
    theta = central_start(sums)
    assert np.trace(bank.combine(theta).dense()) / len(X) == pytest.approx(1.0)
    np.testing.assert_allclose(theta[:3] * bank.traces()[:3] / len(X), 1.0 / 3.0)
    assert theta[3] == 0.0
    products = Problem(bank.distances(), ProductOfRBF(), MACHINES["ridge"], Orthant(), VALUES)
    assert bank.distances().combine(central_start(products)).dense().mean() == pytest.approx(1.0)
    ball = NormBall(2.0, 0.3)
    held = central_start(Problem(bank.distances(), ProductOfRBF(), MACHINES["ridge"], ball, VALUES))
    assert ball.contains(held)
    np.testing.assert_allclose(
        central_start(Problem(bank, Linear(), MACHINES["ridge"], ball, VALUES)), np.full(4, 0.15)
    )


def test_kernels_of_different_size_need_no_more_steps():
    """Steps are measured in units of the central weights, where no ball holds these together."""
    plain, scaled = X, X * np.array([1.0, 1e3, 1e-3, 10.0])
    counts = []
    for Z in (plain, scaled):
        bank = bind(kernels.linear_features(), Z).distances()
        given = Problem(bank, ProductOfRBF(), MACHINES["ridge"], Orthant(1e-9, 2), VALUES)
        weights, _ = generalized_mkl(given, tol=1e-4)
        assert weights.converged
        counts.append(weights.n_iter)
    assert counts[1] <= counts[0] + 4


@pytest.mark.parametrize("combination", [HadamardPower(2), ProductOfRBF()], ids=["power", "product"])
def test_a_penalty_that_leaves_no_weights_is_said_to(combination):
    given = problem(combination, "ridge", Orthant(1e6, 1))
    with pytest.warns(UserWarning, match="every weight is 0 and the predictor is constant"):
        weights, _ = generalized_mkl(given)
    assert not weights.values.any()
    assert weights.converged


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("combination", [Linear(), HadamardPower(2), ProductOfRBF()], ids=["sum", "power", "product"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -7.7e30])
def test_a_constant_target_needs_no_weights(constant, combination, norm):
    """Nothing is below a value of zero; and no penalty is to blame, so nothing warns."""
    for counts in (None, np.linspace(0.1, 3.0, len(X))):
        given = problem(combination, "ridge", Orthant(1.0, norm))
        given = replace(given, target=np.full(len(X), constant), sample_weight=counts)
        weights, dual = generalized_mkl(given)
        assert weights.converged
        assert weights.gap == 0.0
        assert weights.n_iter == 1
        assert weights.objective == 0.0
        assert not weights.values.any()
        assert not dual.coef.any()
        assert dual.intercept == pytest.approx(constant)


@pytest.mark.parametrize("strength", [1e-9, 1e-3, 1e3])
def test_an_alpha_far_above_kernels_of_different_size(strength):
    """The coefficients are y / alpha then, and the weights y'K_k y / (2 strength alpha^2)."""
    K = 1e-9 * np.stack([np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2)), (1.0 + X @ X.T) ** 3, X @ X.T])
    y = VALUES - VALUES.mean()
    given = Problem(precomputed(K), Linear(), RidgeMachine(100.0), Orthant(strength, 2), VALUES)
    weights, _ = generalized_mkl(given, tol=1e-11)
    assert weights.converged
    assert weights.n_iter <= 60
    np.testing.assert_allclose(weights.values, (K @ y) @ y / (2.0 * strength * 1e4), rtol=1e-4)


def test_max_iter_is_kept_to():
    weights, dual = generalized_mkl(problem(ProductOfRBF(), "ridge", Orthant(0.1, 1)), tol=1e-8, max_iter=5)
    assert not weights.converged
    assert not dual.converged
    assert weights.n_iter == 5


@pytest.mark.parametrize("convex", [True, False])
def test_curvature_is_the_matrix_of_bfgs(convex):
    """Its Newton step in some coordinates, and the minimiser of its model, are those of the matrix written out."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    H = root @ root.T + np.eye(6)
    curvature, steps = Curvature.none(6, convex), rng.normal(size=(4, 6))
    for s in steps:
        curvature = curvature.with_pair(s, H @ s)
    s, y = steps[-1], H @ steps[-1]
    expected = (np.sqrt(y @ y / (s @ s)) if convex else y @ y / (s @ y)) * np.eye(6)
    for s in steps:
        y, Bs = H @ s, expected @ s
        expected = expected - np.outer(Bs, Bs) / (s @ Bs) + np.outer(y, y) / (y @ s)
    slope, free = rng.normal(size=6), np.array([True, False, True, True, True, False])
    want = np.zeros(6)
    want[free] = -np.linalg.solve(expected[np.ix_(free, free)], slope[free])
    np.testing.assert_allclose(curvature.newton(slope, free), want, atol=1e-9)
    far = curvature.step(np.zeros(6), slope, lambda z: z)  # to the model's minimiser, up to a part of its first slope
    np.testing.assert_allclose(expected @ far, -slope, atol=0.02 * np.linalg.norm(slope))
    assert curvature.with_pair(steps[0], -steps[0]) is curvature  # negative curvature is left out


def test_observers_hear_of_every_machine():
    heard: list[Any] = []
    weights, _ = generalized_mkl(problem(HadamardPower(2), "ridge", NormBall(2.0, 1.0)), observe=heard.append)
    assert len(heard) == weights.n_iter == len(weights.history)
    assert heard[-1].certificate == weights.certificate


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="tol must be a finite number > 0"):
        QuasiNewton(tol=0.0)
    with pytest.raises(ValueError, match="the centre of the ball has 3 entries for 4 kernels"):
        generalized_mkl(problem(HadamardPower(2), "ridge", NormBall(2.0, 1.0, np.ones(3))))


@pytest.mark.parametrize("name", ["penalty 2", "ball 1", "ball 2"])
def test_sums_of_kernels_with_weighted_samples_and_several_targets(name: str) -> None:
    """A sample of weight 2 is a sample that is there twice; a target that is there twice doubles the value."""
    domain = DOMAINS[name]
    twice = np.r_[np.arange(36), np.arange(10)]
    counts = np.bincount(twice).astype(float)
    family = kernels.linear_features()
    weighted = Problem(bind(family, X), Linear(), RidgeMachine(0.2), domain, VALUES, counts)
    repeated = Problem(bind(family, X[twice]), Linear(), RidgeMachine(0.2), domain, VALUES[twice])
    one, other = (generalized_mkl(each, tol=1e-8)[0] for each in (weighted, repeated))
    assert one.converged
    assert one.objective == pytest.approx(other.objective, rel=1e-7)
    if isinstance(domain, NormBall):
        both = Problem(bind(family, X), Linear(), RidgeMachine(0.2), domain, np.column_stack([VALUES, VALUES]))
        alone = Problem(bind(family, X), Linear(), RidgeMachine(0.2), domain, VALUES)
        pair, single = (generalized_mkl(each, tol=1e-8)[0] for each in (both, alone))
        assert pair.objective == pytest.approx(2.0 * single.objective, rel=1e-7)
