"""Hierarchical kernel learning on products of chains, beside all nodes listed one by one."""

from __future__ import annotations

from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import reference as ref
from hkl_reference import optimum, under
from multikernel import HKLClassifier, HKLRegressor, bind, kernels, load, save
from multikernel.procedures.hkl.graph import Subsets
from multikernel.procedures.hkl.grid import Grid
from multikernel.procedures.hkl.lattice import Hull
from multikernel.procedures.hkl.node_kernels import halves

RNG = np.random.default_rng(4)
X = RNG.normal(size=(22, 3))
LENGTHS = (2, 1, 2)
FAMILY = [kernels.HomogeneousPolynomial(d).on([j]) for j, q in enumerate(LENGTHS) for d in range(1, q + 1)]
LEVELS = list(product(*(range(q + 1) for q in LENGTHS)))  # of every node
FIRSTS = np.cumsum((0, *LENGTHS[:-1]))
NODES = [tuple(int(f + s) - 1 for f, s in zip(FIRSTS, level, strict=True) if s) for level in LEVELS]
PARENTS = kernels.grid([q + 1 for q in LENGTHS])
BETA = 1.7
COSTS = BETA ** np.array([sum(level) for level in LEVELS])


def all_products(K: Any) -> Any:
    return np.array([np.prod(K[list(node)], axis=0) for node in NODES])


@pytest.mark.crossed
@pytest.mark.parametrize("rho", [2.0, 1.4])
@pytest.mark.parametrize("estimator", [HKLClassifier, HKLRegressor])
def test_the_optimum_over_all_products_is_that_of_a_conic_solver(estimator: Any, rho: float, tmp_path: Any) -> None:
    regression = estimator is HKLRegressor
    y = X[:, 0] ** 2 * X[:, 2] + X[:, 1] + 0.1 * RNG.normal(size=22)
    y = y if regression else np.sign(y)
    model = estimator(FAMILY, C=1.0, rho=rho, beta=BETA, chains=LENGTHS, tol=1e-7).fit(X, y)
    K = bind(FAMILY, X).matrices()
    best = optimum(all_products(K), y, 1.0, rho, COSTS, under(PARENTS), regression)
    assert model.objective_ == pytest.approx(best, rel=1e-5)
    assert model.duality_gap_ <= 1e-7
    place = {node: k for k, node in enumerate(NODES)}
    chosen = {place[node] for node in model.nodes_}
    assert all(chosen.issuperset(PARENTS[k]) for k in chosen)
    combined = np.einsum("k,kij->ij", model.weights_, all_products(K)[[place[node] for node in model.nodes_]])
    values = model.predict(X) if regression else model.decision_function(X)
    np.testing.assert_allclose(combined @ model.dual_coef_ + model.intercept_, values, atol=1e-8)
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict(X), model.predict(X))


@pytest.mark.crossed
@pytest.mark.parametrize("rho", [2.0, 1.3])
@pytest.mark.parametrize("size", [3, 6, 11])
def test_the_bound_of_the_complement_is_above_its_dual_norm(rho: float, size: int) -> None:
    graph = Grid(LENGTHS, BETA)
    base, b = halves(bind(FAMILY, X)), RNG.normal(size=22)
    hull = graph.first(base, b, [])
    while len(hull) < size:
        hull = hull.extended(graph.sources(hull)[:1])
    inside = set(hull.nodes)
    np.testing.assert_array_equal(hull.d, COSTS[[NODES.index(node) for node in hull.nodes]])
    above = under(PARENTS).T
    known = {(NODES[w], NODES[v]) for w in range(len(NODES)) for v in np.flatnonzero(above[w]) if NODES[w] in inside}
    assert {(hull.nodes[w], hull.nodes[v]) for w, v in zip(hull.node, hull.ancestor, strict=True)} == known
    rest = [k for k, node in enumerate(NODES) if node not in inside]
    sources = [NODES[k] for k in rest if all(NODES[parent] in inside for parent in PARENTS[k])]
    assert sorted(graph.sources(hull)) == sorted(sources)
    beyond = graph.outside(base, b, hull, graph.sources(hull), rho, 0.0)
    roots = np.sqrt(np.maximum(np.einsum("i,kij,j->k", b, all_products(bind(FAMILY, X).matrices()), b), 0.0))[rest]
    s, g = cp.Variable(len(rest), nonneg=True), cp.Variable(len(rest))
    limits = [cp.pnorm(s[np.flatnonzero(row)], rho) <= g[k] for k, row in enumerate(under(PARENTS)[np.ix_(rest, rest)])]
    norm = ref.conic(cp.Problem(cp.Maximize(roots @ s), [COSTS[rest] @ g <= 1.0, *limits]))
    assert norm**2 <= beyond.bound * (1.0 + 1e-6)
    assert beyond.bound <= 3.0 * norm**2


def test_chains_of_one_kernel_are_subsets() -> None:
    base, b = halves(bind(FAMILY, X)), RNG.normal(size=22)
    nodes = [(), (0,), (1,), (2,), (0, 1)]
    one, other = Grid((1,) * 5, 2.0), Subsets(5, 2.0)
    hull = Hull(tuple(nodes), 2.0)
    candidates = one.sources(hull)
    assert candidates == other.sources(hull)
    norms = (graph.outside(base, b, hull, candidates, 1.6, 0.0).norms for graph in (one, other))
    np.testing.assert_allclose(*norms, rtol=1e-12)


def test_few_of_many_products_are_looked_at() -> None:
    """Nine to the twelfth products."""
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1.0, 1.0, size=(80, 12))
    family = [kernels.HomogeneousPolynomial(d).on([j]) for j in range(12) for d in range(1, 9)]
    model = HKLRegressor(family, C=30.0, beta=4.0, chains=8).fit(Z, Z[:, 3] ** 2 + Z[:, 7] * Z[:, 1])
    assert {(24,), (25,), (8, 56)} <= set(model.nodes_)  # degrees 1 and 2 of feature 3, the product of 1 and 7
    assert model.duality_gap_ < 1e-3
    assert model.n_nodes_searched_ < 500


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"chains": 2}, "does not divide 5 kernels"),
        ({"chains": [2, 2]}, "does not divide 5 kernels"),
        ({"chains": [2, 0, 3]}, "a list of such numbers"),
        ({"chains": LENGTHS, "parents": [[]] * 5}, "one of the two"),
        ({"chains": LENGTHS, "node_weights": [1.0] * 5}, "give its parents"),
    ],
)
def test_refusals(given: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        HKLRegressor(FAMILY, **given).fit(X, X[:, 0])
