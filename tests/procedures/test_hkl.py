"""Hierarchical kernel learning: the dual norm, the problem on a hull, and the search, against full enumeration."""

from itertools import product

import numpy as np
import pytest

import hkl_reference
from cases import one_in
from multikernel.banks import precomputed
from multikernel.machines import HingeMachine
from multikernel.procedures.hkl import Hull, hierarchical_mkl
from multikernel.procedures.hkl.norm import DualNorm, exponent
from multikernel.procedures.hkl.restricted import HullProblem
from multikernel.procedures.ridge_program import RidgeSupport

RHOS = (2.0, 1.5, 1.1)


def sample(p, n=24, seed=0, kind="rbf"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] + 0.5 * rng.normal(size=n))
    if kind == "rbf":
        return np.stack([np.exp(-((X[:, [i]] - X[:, i]) ** 2)) for i in range(p)]), y
    return np.stack([np.outer(X[:, i], X[:, i]) for i in range(p)]), y


def machine_of(loss, C, y, tol=1e-6):
    if loss == "hinge":
        return HingeMachine(C=C, tol=tol), y
    return RidgeSupport(alpha=0.5 / C, scale=1.0, tol=tol), y - y.mean()


# -- the dual norm -----------------------------------------------------------------------------------------------------


def some_norm(rho, seed=0):
    rng = np.random.default_rng(seed)
    hull = Hull(((), (0,), (1,), (2,), (0, 1), (1, 2)))
    gamma, q = rng.dirichlet(np.full(6, 5.0)), rng.exponential(size=6)
    return DualNorm(hull, rho, gamma, q)


@pytest.mark.parametrize("rho", RHOS)
def test_the_norm_is_its_formula(rho):
    norm = some_norm(rho)
    hull, r = norm.hull, exponent(rho)
    below = hkl_reference.below(list(hull.nodes))
    zeta = [
        sum(hull.d[v] ** rho * norm.gamma[v] ** (1.0 - rho) for v in range(6) if below[v, w]) ** (1.0 / (1.0 - rho))
        for w in range(6)
    ]
    assert norm.value == pytest.approx((np.array(zeta) @ norm.q**r) ** (1.0 / r), rel=1e-12)
    assert norm.weights @ norm.q == pytest.approx(norm.value, rel=1e-12)
    assert norm.gamma @ norm.pull == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("rho", RHOS)
def test_derivatives_of_the_norm(rho):
    norm, h = some_norm(rho), 1e-6

    def at(gamma, q):
        return DualNorm(norm.hull, rho, gamma, q)

    for k, e in enumerate(np.eye(6)):
        up, down = at(norm.gamma + h * e, norm.q), at(norm.gamma - h * e, norm.q)
        assert (up.value - down.value) / (2 * h) == pytest.approx(norm.gradient[k], rel=1e-6, abs=1e-8)
        np.testing.assert_allclose((up.gradient - down.gradient) / (2 * h), -norm.curvature[k], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose((up.weights - down.weights) / (2 * h), norm.mixed[k], rtol=1e-5, atol=1e-7)
        up, down = at(norm.gamma, norm.q + h * e), at(norm.gamma, norm.q - h * e)
        assert (up.value - down.value) / (2 * h) == pytest.approx(norm.weights[k], rel=1e-6, abs=1e-8)
    assert np.linalg.eigvalsh(norm.curvature).min() > -1e-10


@pytest.mark.parametrize("rho", [1.5, 1.1])
def test_the_hessian_in_the_coefficients(rho):
    rng, h = np.random.default_rng(3), 1e-5
    norm = some_norm(rho)
    F = rng.normal(size=(6, 4, 4))
    K = F @ F.transpose(0, 2, 1)
    b = rng.normal(size=4)

    def slope(b):  # of h / 2, without the part that the weights alone make
        Z = K @ b
        return DualNorm(norm.hull, rho, norm.gamma, Z @ b).weights @ Z

    Z = K @ b
    here = DualNorm(norm.hull, rho, norm.gamma, Z @ b)
    factor = here.hessian_factor(Z)
    hessian = np.tensordot(here.weights, K, 1) + factor.T @ factor
    for k, e in enumerate(np.eye(4)):
        np.testing.assert_allclose((slope(b + h * e) - slope(b - h * e)) / (2 * h), hessian[k], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("seed", range(3))
def test_any_gamma_bounds_the_dual_norm(rho, seed):
    norm = some_norm(rho, seed)
    lower, upper = hkl_reference.dual_norm(norm.q, list(norm.hull.nodes), 2.0, rho)
    assert norm.value <= upper**2 * (1 + 1e-7)
    assert norm.bound >= lower**2 * (1 - 1e-7)


def test_powers_of_small_rho_do_not_overflow():
    hull = Hull(tuple(hkl_reference.lattice(6)), 3.0)
    norm = DualNorm(hull, 1.02, np.full(64, 1 / 64), np.full(64, 1e-40))
    assert np.isfinite(norm.value)
    assert norm.value > 0
    assert np.isfinite(norm.curvature).all()


# -- a hull ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squares"])
@pytest.mark.parametrize("rho", RHOS)
def test_the_problem_on_a_hull(loss, rho):
    K, y = sample(3)
    hull = Hull(((), (0,), (1,), (2,), (0, 1)))
    machine, target = machine_of(loss, 5.0, y)
    nodes = precomputed(hkl_reference.products(K, list(hull.nodes)))
    found = HullProblem(nodes, hull, machine.program(target), rho).solved(1e-8, 100)
    reference = hkl_reference.classifier if loss == "hinge" else hkl_reference.regressor
    optimum = reference(K, y, 5.0, rho, nodes=list(hull.nodes))
    assert found.gap <= 1e-8
    assert found.upper == pytest.approx(optimum.value, rel=2e-7)
    assert found.bound <= optimum.upper * (1 + 1e-9)


# -- the search --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "kind", "rho", "C"), one_in(5, product(["hinge", "squares"], ["rbf", "linear"], RHOS, [0.1, 50.0, 2.0]))
)
def test_the_optimum_of_full_enumeration(loss, kind, rho, C):
    p = 4 if C == 2.0 else 3
    K, y = sample(p, kind=kind, seed=p)
    machine, target = machine_of(loss, C, y)
    weights, dual = hierarchical_mkl(precomputed(K), machine, target, rho)
    reference = hkl_reference.classifier if loss == "hinge" else hkl_reference.regressor
    optimum = reference(K, y, C, rho)
    assert weights.converged
    assert weights.gap <= 1e-6
    assert weights.objective == pytest.approx(optimum.value, rel=3e-6)
    Kw = np.tensordot(weights.values, hkl_reference.products(K, list(weights.nodes)), 1)
    f = Kw @ dual.coef + dual.intercept
    np.testing.assert_allclose(f + (y.mean() if loss == "squares" else 0.0), optimum.decision, atol=0.02)


@pytest.mark.parametrize("rho", one_in(3, RHOS))
def test_the_gap_is_true_when_the_search_is_stopped_early(rho):
    K, y = sample(4, seed=1)
    optimum = hkl_reference.classifier(K, y, 10.0, rho)
    machine = HingeMachine(C=10.0, tol=1e-8)
    weights, _ = hierarchical_mkl(precomputed(K), machine, y, rho, max_iter=1)
    assert not weights.converged
    assert weights.objective * (1 - weights.gap) <= optimum.upper * (1 + 1e-7)
    assert weights.objective >= optimum.lower * (1 - 1e-7)


def test_selected_nodes_are_closed_and_kernels_that_do_not_matter_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = np.sign(X[:, 0] * X[:, 1])
    K = np.stack([np.exp(-0.5 * (X[:, [i]] - X[:, i]) ** 2) for i in range(6)])
    weights, _ = hierarchical_mkl(precomputed(K), HingeMachine(C=10.0, tol=1e-4), y)
    nodes = set(weights.nodes)
    assert (0, 1) in nodes
    assert all({w[:k] + w[k + 1 :] for k in range(len(w))} <= nodes for w in nodes)
    assert len(nodes) < weights.hull <= 64
    assert dict(zip(weights.nodes, weights.values, strict=True))[(0, 1)] > 0


def test_a_hull_may_not_outgrow_its_limit():
    K, y = sample(5, seed=2)
    weights, _ = hierarchical_mkl(precomputed(K), HingeMachine(C=100.0, tol=1e-8), y, max_nodes=8)
    assert weights.hull <= 8
    assert not weights.converged
    assert weights.gap > 1e-8


def test_a_start_beyond_the_limit_does_not_grow():
    K, y = sample(5, seed=2)
    machine, all_of_them = HingeMachine(C=100.0, tol=1e-8), hkl_reference.lattice(5)[:20]
    weights, _ = hierarchical_mkl(precomputed(K), machine, y, max_nodes=8, start=all_of_them)
    assert weights.hull == 20


def test_a_neighbours_nodes_are_a_start():
    K, y = sample(5, seed=2)
    machine = HingeMachine(C=20.0, tol=1e-6)
    cold, _ = hierarchical_mkl(precomputed(K), machine, y)
    warm, _ = hierarchical_mkl(precomputed(K), machine, y, start=cold.nodes)
    assert len(warm.history) <= len(cold.history)
    assert warm.objective == pytest.approx(cold.objective, rel=3e-6)


@pytest.mark.parametrize("loss", ["hinge", "squares"])
def test_kernels_that_vanish(loss):
    K, y = sample(3)
    machine, target = machine_of(loss, 2.0, y)
    one, _ = hierarchical_mkl(precomputed(np.concatenate([K, np.zeros((1, 24, 24))])), machine, target)
    without, _ = hierarchical_mkl(precomputed(K), machine, target)
    assert one.objective == pytest.approx(without.objective, rel=3e-6)
    none, dual = hierarchical_mkl(precomputed(np.zeros((2, 24, 24))), machine, target)
    assert none.converged
    assert np.isfinite(none.values).all()
    assert np.isfinite(dual.coef).all()


@pytest.mark.parametrize("rho", [2.0, 1.1])
def test_nodes_that_cost_less_than_numbers_can_say_are_not_forgotten(rho):
    K, y = sample(4, n=20)
    machine = HingeMachine(C=2.0, tol=1e-4)
    near, far = (hierarchical_mkl(precomputed(K), machine, y, rho, beta)[0] for beta in (1e-30, 1e-60))
    assert far.objective == pytest.approx(near.objective, rel=2e-4)


def test_a_kernel_twice_changes_nothing_that_is_determined():
    K, y = sample(3)
    machine = HingeMachine(C=2.0, tol=1e-7)
    twice = np.concatenate([K, K[:1]])
    found, _ = hierarchical_mkl(precomputed(twice), machine, y)
    assert found.objective == pytest.approx(hkl_reference.classifier(twice, y, 2.0, 2.0).value, rel=1e-6)
