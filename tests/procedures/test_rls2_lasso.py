"""Linear RLS2 against its kernel form, the Lasso of scikit-learn, and a conic solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import lars_path

import rls2_reference as slow
from cases import one_in
from multikernel import bind, kernels
from multikernel.procedures.rls2 import linear_rls2, rls2, scaling_factors

Array = Any
RNG = np.random.default_rng(11)
WIDE = RNG.normal(size=(25, 120)) * 10.0 ** RNG.uniform(-2, 2, 120)
TALL = RNG.normal(size=(200, 9)) + 1.0
SPARSE = np.where(RNG.random((60, 80)) < 0.1, RNG.exponential(size=(60, 80)), 0.0)
COPIES = np.column_stack([TALL, -TALL[:, :4], np.zeros(200), 2.0 * TALL[:, 3]])
DATA = {"wide": WIDE, "tall": TALL, "sparse": SPARSE, "copies": COPIES}
ALPHAS = (1e-6, 1e-3, 0.03, 1.0, 1e3)


def target(X: Array) -> Array:
    size = np.maximum(np.abs(X).max(axis=0), 1e-12)
    return X[:, 0] / size[0] - 2.0 * X[:, 3] / size[3] + 0.1 * np.random.default_rng(1).normal(size=len(X)) + 5.0


def norms(X: Array) -> Array:
    lengths = (X**2).sum(axis=0)
    return np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_exact(name, alpha):
    """The optimality conditions, and the certificate, to rounding."""
    X, y, s = DATA[name], target(DATA[name]), norms(DATA[name])
    weights, solution = linear_rls2(X, y, alpha, s)
    r = y - y.mean() - X @ weights.coef
    correlation, b = np.sqrt(s) * (X.T @ r), weights.scaled_coef
    level, size = alpha * np.abs(b).sum(), np.sqrt(s @ (X**2).sum(axis=0)) * np.linalg.norm(y - y.mean())
    assert np.abs(correlation).max() <= level * (1 + 1e-9) + 1e-13 * size
    np.testing.assert_allclose(correlation[b != 0], level * np.sign(b[b != 0]), rtol=1e-9, atol=1e-13 * size)
    assert 0 <= weights.gap < 1e-7
    assert weights.converged
    np.testing.assert_allclose(solution.coef, r / alpha, atol=1e-12 * size / alpha)
    np.testing.assert_allclose(weights.values, np.abs(b) / np.abs(b).sum())


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("alpha", [1e-3, 0.03, 1.0])
def test_is_the_kernel_form(name, alpha):
    """Weights of n x n matrices, by Newton steps: the same value and the same function."""
    X, y = DATA[name], target(DATA[name])
    bank, s = bind(kernels.linear_features(), X), norms(X)
    weights, solution = linear_rls2(X, y, alpha, s)
    again, ridge = rls2(bank, y, alpha, s, tol=1e-12)
    assert weights.objective == pytest.approx(again.objective, rel=1e-10)
    f = X @ weights.coef
    scale = np.abs(f).max()
    np.testing.assert_allclose(X @ ((s * again.values) * (X.T @ ridge.coef)), f, atol=1e-5 * scale)
    np.testing.assert_allclose(X @ ((s * weights.values) * (X.T @ solution.coef)), f, atol=1e-8 * scale)


@pytest.mark.parametrize("alpha", one_in(3, [1e-3, 1.0, 1e3]))
def test_optimum(alpha):
    y, s = target(SPARSE), norms(SPARSE)
    K = np.einsum("k,ik,jk->kij", s, SPARSE, SPARSE)
    lower, upper = slow.optimum(K, y - y.mean(), alpha)
    assert (upper - lower) < 1e-6 * upper
    assert linear_rls2(SPARSE, y, alpha, s)[0].objective == pytest.approx(lower, rel=1e-6)


@pytest.mark.parametrize("name", ["wide", "tall", "sparse"])
@pytest.mark.parametrize("scale", [True, False])
def test_is_a_point_of_the_lasso_path(name, scale):
    """b is least angle regression's solution at the penalty alpha |b|_1."""
    X, y = DATA[name], target(DATA[name])
    s = norms(X) if scale else np.ones(X.shape[1])
    G = X * np.sqrt(s)
    penalties, _, path = lars_path(G, y - y.mean(), method="lasso", eps=1e-14)
    for alpha in (1e-2, 0.1, 1.0, 10.0):
        b = linear_rls2(X, y, alpha, s)[0].scaled_coef
        penalty = alpha * np.abs(b).sum() / len(y)  # scikit-learn divides the loss by n
        there = np.array([np.interp(penalty, penalties[::-1], row[::-1]) for row in path])
        np.testing.assert_allclose(b, there, atol=1e-7 * np.abs(there).max())


def test_a_start_changes_nothing():
    y, s = target(WIDE), norms(WIDE)
    start = None
    for alpha in np.logspace(3, -6, 25):
        weights, _ = linear_rls2(WIDE, y, alpha, s, start=start)
        cold, _ = linear_rls2(WIDE, y, alpha, s)
        assert weights.objective == pytest.approx(cold.objective, rel=1e-10)
        start = weights.scaled_coef
    backwards, _ = linear_rls2(WIDE, y, 1.0, s, start=start)
    assert backwards.objective == pytest.approx(linear_rls2(WIDE, y, 1.0, s)[0].objective, rel=1e-12)


def test_sparse_is_dense():
    y, s = target(SPARSE), norms(SPARSE)
    for kind in (sparse.csr_matrix, sparse.csr_array):
        again, own = linear_rls2(kind(SPARSE), y, 0.05, s), linear_rls2(SPARSE, y, 0.05, s)
        np.testing.assert_allclose(again[0].coef, own[0].coef, atol=1e-12)
        np.testing.assert_allclose(again[1].coef, own[1].coef, atol=1e-11)


def test_constant_target():
    weights, solution = linear_rls2(COPIES, np.full(200, 2.0), 0.1, norms(COPIES))
    assert weights.objective == 0.0
    assert weights.gap == 0.0
    assert weights.converged
    assert not weights.coef.any()
    assert not solution.coef.any()
    assert solution.intercept == 2.0
    assert weights.values.sum() == pytest.approx(1.0)
    assert weights.values[13] == 0.0


def test_nothing_but_zeros():
    weights, _ = linear_rls2(np.zeros((10, 3)), RNG.normal(size=10), 0.1, np.zeros(3))
    assert not weights.coef.any()
    assert np.isfinite(weights.values).all()
    assert weights.gap < 1e-12


def test_fisher_and_norm_are_rules_of_the_bank():
    signs = np.where(target(WIDE) > 5, 1.0, -1.0)
    bank = bind(kernels.linear_features(), TALL)
    np.testing.assert_allclose(scaling_factors("trace", bank, signs), norms(TALL))
