"""What lies outside a hull: bounds of the dual norm over the complement, against brute force."""

import tracemalloc
from itertools import product

import numpy as np
import pytest

import hkl_reference
from cases import one_in
from multikernel.banks import precomputed
from multikernel.procedures.hkl import sums
from multikernel.procedures.hkl.lattice import sources
from multikernel.procedures.hkl.node_kernels import halves
from multikernel.procedures.hkl.outside import OfSubsets, outside, partitioned, uneven_shares

RHOS = (2.0, 1.5, 1.1)


def sample(p, kind, seed, n=18):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if kind == "gaussian":
        K = np.stack([np.exp(-0.3 * (X[:, [i]] - X[:, i]) ** 2) for i in range(p)])
    else:
        K = np.stack([np.outer(X[:, i], X[:, i]) for i in range(p)])
    b = rng.normal(size=n) * (rng.random(n) < 0.8)
    return K, b - b.mean() * (b != 0), rng


@pytest.mark.parametrize(
    ("rho", "kind", "seed", "allowed"), one_in(5, product(RHOS, ["gaussian", "product"], range(3), [0.0, np.inf]))
)
def test_the_bound_holds(rho, kind, seed, allowed):
    beta = (2.0, 1.5, 4.0)[seed]
    K, b, rng = sample(5, kind, seed)
    hull = hkl_reference.random_hull(5, int(rng.integers(1, 16)), rng)
    rest = [w for w in hkl_reference.lattice(5) if w not in hull]
    q = np.einsum("i,wij,j->w", b, hkl_reference.products(K, rest), b)
    least, _ = hkl_reference.dual_norm(np.maximum(q, 0.0), rest, beta, rho)
    candidates = sources(hull, 5)
    found = outside(halves(precomputed(K)), b, candidates, beta, rho, allowed)
    assert found.bound >= least**2 * (1.0 - 1e-7)
    assert found.norms.shape == (len(candidates),)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_never_looser_than_equal_shares(seed):
    K, b, _ = sample(8, "gaussian", seed)
    base, hull = halves(precomputed(K)), hkl_reference.lattice(8)[:9]
    candidates = sources(hull, 8)
    equal = partitioned(base, b, candidates, 2.0, 2.0, 0.0).max()
    assert outside(base, b, candidates, 2.0, 2.0, 0.0).bound <= equal * (1.0 + 1e-12)


def test_partitions_rule_out_candidates_near_rho_1():
    X, b = np.random.default_rng(0).normal(size=(30, 20)), np.random.default_rng(1).normal(size=30)
    base = halves(precomputed(np.stack([np.exp(-0.1 * (x[:, None] - x) ** 2) for x in X.T])))
    b -= b.mean()
    candidates = sources([(), *((i,) for i in range(20))], 20)
    alone = uneven_shares(
        OfSubsets(base, b, 2.0), 4.0 ** -np.array([len(t) for t in candidates]), candidates, 2.0, 1.1, 0.0
    )
    allowed = 0.5 * alone.max()
    found = outside(base, b, candidates, 2.0, 1.1, allowed).norms
    assert (found > allowed).sum() < 0.5 * (alone > allowed).sum()


def test_kernels_that_are_alike_gain_most():
    K, b, _ = sample(14, "gaussian", 0)
    base = halves(precomputed(K))
    candidates = sources([(), *((i,) for i in range(14))], 14)
    equal = partitioned(base, b, candidates, 2.0, 2.0, 0.0).max()
    assert outside(base, b, candidates, 2.0, 2.0, 0.0).bound < 0.6 * equal


def test_where_there_is_nothing_outside():
    K, b, _ = sample(3, "gaussian", 0)
    found = outside(halves(precomputed(K)), b, [], 2.0, 2.0, 1.0)
    assert found.bound == 0.0
    assert len(found.norms) == 0


@pytest.mark.study
def test_sums_over_many_nodes_hold_few_tables(monkeypatch):
    """As many tables as there are pieces of entries took 22 GB for 800 kernels on 300 samples."""
    p, n = 120, 40
    X = np.random.default_rng(0).normal(size=(n, p))
    bank = precomputed([np.exp(-((X[:, [i]] - X[:, i]) ** 2)) for i in range(p)])
    nodes = [(i, j) for i in range(30) for j in range(i + 1, 30)]
    some = sums.Sums.of(halves(bank), np.ones(n), 0.1)
    table = 8 * (p + 1) * (len(nodes) + 31)
    expected = some.below(nodes)  # which compiles, too
    monkeypatch.setattr(sums, "PIECE_VALUES", 4 * len(nodes))
    tracemalloc.start()
    found = some.below(nodes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * table
    assert found == pytest.approx(expected, rel=1e-12)
