"""Hierarchical kernel learning on graphs that are listed, beside a conic solver that has every node at hand."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import reference as ref
from hkl_reference import optimum, under
from multikernel import HKLClassifier, HKLRegressor, bind, kernels
from multikernel.procedures.hkl import Listed
from multikernel.procedures.hkl.node_kernels import halves

Array = Any
RNG = np.random.default_rng(1)
X = RNG.normal(size=(25, 4))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=25) > 0, 1.0, -1.0)
FAMILY = [kernels.HomogeneousPolynomial(degree).on([j]) for j in range(4) for degree in (1, 2)]
PARENTS = ([], [0], [], [2, 0], [1, 3], [], [5], [4, 6])  # two ways to 4, and 7 below both parts
COSTS = np.array([1.0, 2.0, 0.5, 1.5, 3.0, 1.0, 0.7, 4.0])


@pytest.mark.parametrize("rho", [2.0, 1.5])
@pytest.mark.parametrize("estimator", [HKLClassifier, HKLRegressor])
def test_the_optimum_over_the_graph_is_that_of_a_conic_solver(estimator: Any, rho: float) -> None:
    regression = estimator is HKLRegressor
    y = X[:, 0] * X[:, 1] + X[:, 2] if regression else Y
    model = estimator(FAMILY, C=2.0, rho=rho, parents=PARENTS, node_weights=COSTS, tol=1e-7).fit(X, y)
    K = bind(FAMILY, X).matrices()
    best = optimum(K, y, 2.0, rho, COSTS, under(PARENTS), regression)
    assert model.objective_ == pytest.approx(best, rel=1e-5)
    assert model.duality_gap_ <= 1e-7
    chosen = {node[0] for node in model.nodes_}
    assert all(chosen.issuperset(PARENTS[k]) for k in chosen)
    combined = np.einsum("k,kij->ij", model.weights_, K[[node[0] for node in model.nodes_]])
    values = model.predict(X) if regression else model.decision_function(X)
    np.testing.assert_allclose(combined @ model.dual_coef_ + model.intercept_, values, atol=1e-8)


@pytest.mark.parametrize("rho", [2.0, 1.3])
def test_the_bound_of_the_complement_is_above_its_dual_norm(rho: float) -> None:
    """Omega*(b) over the complement, as the largest sum of parts of a predictor of norm one."""
    graph = Listed(tuple(map(tuple, PARENTS)), COSTS)
    base, b = halves(bind(FAMILY, X)), RNG.normal(size=25)
    hull = graph.first(base, b, [])
    assert {node[0] for node in hull.nodes} == {0, 2, 5}
    beyond = graph.outside(base, b, hull, graph.sources(hull), rho, 0.0)
    rest = [1, 3, 4, 6, 7]
    roots = np.sqrt(np.maximum(base.quad(b), 0.0))[rest]
    s, g = cp.Variable(5, nonneg=True), cp.Variable(5)
    below = under(PARENTS)[np.ix_(rest, rest)]
    inside = [cp.pnorm(s[np.flatnonzero(row)], rho) <= g[k] for k, row in enumerate(below)]
    norm = ref.conic(cp.Problem(cp.Maximize(roots @ s), [COSTS[rest] @ g <= 1.0, *inside]))
    assert norm**2 <= beyond.bound * (1.0 + 1e-6)
    assert graph.sources(hull) == [(1,), (3,), (6,)]


def test_few_nodes_of_long_chains_are_looked_at() -> None:
    Z = np.random.default_rng(0).uniform(-1.0, 1.0, size=(60, 15))
    family = [kernels.HomogeneousPolynomial(d).on([j]) for j in range(15) for d in range(1, 9)]
    model = HKLRegressor(family, C=3.0, parents=kernels.chains([8] * 15)).fit(Z, Z[:, 3] ** 2 + Z[:, 7])
    assert {(24,), (25,), (56,)} <= set(model.nodes_)  # degrees 1 and 2 of feature 3, degree 1 of feature 7
    assert model.n_nodes_searched_ < 60
    assert model.duality_gap_ < 1e-3


def test_chains_and_grids() -> None:
    assert kernels.chains([3, 1]) == ((), (0,), (1,), ())
    places = [(i, j, k) for i in range(2) for j in range(3) for k in range(2)]
    for here, own in zip(places, kernels.grid([2, 3, 2]), strict=True):
        steps = [tuple(np.subtract(here, np.eye(3, dtype=int)[axis])) for axis in range(3) if here[axis]]
        assert sorted(places[k] for k in own) == sorted(steps)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"parents": [[1], [0]]}, "HKLRegressor: the parents lead in a circle"),
        ({"parents": [[], [5]]}, r"parents\[1\] has 5"),
        ({"parents": [[], [0], [1]]}, "3 entries for 8 kernels"),
        ({"parents": PARENTS, "node_weights": [1.0]}, "1 entries for 8 kernels"),
        ({"node_weights": COSTS}, "give its parents"),
        ({"parents": [[], ["a"]]}, "a list with the numbers"),
    ],
)
def test_refusals(given: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        HKLRegressor(FAMILY, **given).fit(X, Y)
