"""The lattice of subsets, hulls in it and the kernels of their nodes, against the definitions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import hkl_reference as hkl
from multikernel import bind, kernels
from multikernel.kernels import RBF
from multikernel.procedures.hkl.lattice import Hull, in_order, names, parents, sources
from multikernel.procedures.hkl.node_kernels import NodeKernels

Array = Any
HULLS = [
    hkl.random_hull(p, size, np.random.default_rng(seed)) for seed, (p, size) in enumerate([(6, 25), (3, 8), (5, 1)])
]
X = np.random.default_rng(0).normal(size=(12, 4))


def test_parents_lack_one_element() -> None:
    assert parents((0, 2, 5)) == ((2, 5), (0, 5), (0, 2))
    assert parents((3,)) == ((),)
    assert parents(()) == ()


@pytest.mark.parametrize("seed", range(10))
def test_sources_lack_no_parent(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = hkl.random_hull(6, int(rng.integers(1, 40)), rng)
    for p in (6, 7):
        assert sources(nodes, p) == in_order(hkl.complement_sources(nodes, p))


def test_sources_at_the_ends() -> None:
    assert sources([], 3) == [()]
    assert sources([()], 3) == [(0,), (1,), (2,)]
    assert sources(hkl.lattice(4), 4) == []
    assert sources([()], 0) == []


@pytest.mark.parametrize("nodes", HULLS)
def test_pairs_are_the_ancestors(nodes: list[tuple[int, ...]]) -> None:
    hull = Hull(tuple(nodes), beta=1.5)
    got = np.zeros((len(nodes), len(nodes)), dtype=bool)
    got[hull.ancestor, hull.node] = True
    np.testing.assert_array_equal(got, hkl.below(nodes))
    assert got.sum() == len(hull.ancestor) == len(hull.node)
    assert (np.diff(hull.node) >= 0).all()
    np.testing.assert_array_equal(
        hull.ancestor[np.flatnonzero(np.diff(hull.node, append=len(nodes)))], np.arange(len(nodes))
    )
    np.testing.assert_allclose(hull.d, hkl.costs(nodes, 1.5))


@pytest.mark.parametrize("nodes", HULLS)
def test_extended_hull_keeps_its_order(nodes: list[tuple[int, ...]]) -> None:
    half = Hull(tuple(nodes[: len(nodes) // 2 + 1]), beta=3.0)
    rest = nodes[len(nodes) // 2 + 1 :]
    whole = half.extended(reversed(rest))
    assert whole == Hull((*half.nodes, *in_order(rest)), beta=3.0)
    assert pickle.loads(pickle.dumps(whole)) == whole


def test_hull_has_no_holes() -> None:
    assert len(Hull(()).node) == 0
    with pytest.raises(ValueError, match=r"\(0, 1\) needs its parent \(1,\) before it"):
        Hull(((), (0,), (0, 1)))
    with pytest.raises(ValueError, match=r"\(0,\) needs its parent \(\) before it"):
        Hull(((0,),))
    with pytest.raises(ValueError, match=r"\(0,\) is there twice"):
        Hull(((), (0,))).extended([(0,)])
    for wrong in ((1, 0), (0, 0), (-1,)):
        with pytest.raises(ValueError, match="ascending tuple of base kernels"):
            Hull(((), (0,), (1,), wrong))
    with pytest.raises(ValueError, match="finite beta > 0, got 0"):
        Hull(((),), beta=0.0)


def test_names_are_products() -> None:
    assert names([(), (1,), (0, 2)], ["a", "b", "c"]) == ["1", "b", "a * c"]
    assert names(((), (1,)), ["a", "b"]) == ["1", "b"]


FAMILIES = {"features": kernels.linear_features(), "gaussians": [RBF(1.0).on([i]) for i in range(4)]}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_of_nodes_are_products(family: str, dtype: Any) -> None:
    bank = bind(FAMILIES[family], X.astype(dtype))
    K, nodes = bank.matrices().astype(np.float64), hkl.random_hull(4, 12, np.random.default_rng(3))
    grown = NodeKernels.of(bank)
    b, theta = np.random.default_rng(1).normal(size=12), np.random.default_rng(2).random(12)
    for size in (1, 4, 5, 12, 3):
        part = grown.bank(nodes[:size])
        want = hkl.products(K, nodes[:size])
        np.testing.assert_allclose(part.matrices(), want, rtol=1e-12)
        np.testing.assert_allclose(part.combine(theta[:size]).dense(), np.tensordot(theta[:size], want, 1), rtol=1e-12)
        np.testing.assert_allclose(part.quad(b), hkl.ref.quad(want, b), rtol=1e-9, atol=1e-12)
        assert part.rounding == 2.0**-53


def test_kernels_of_nodes_in_any_order() -> None:
    bank = bind(FAMILIES["gaussians"], X)
    grown = NodeKernels.of(bank)
    for nodes in ([(0, 2, 3), (1,)], [(), (1,), (0, 2, 3)], [(1, 2), (0, 2, 3), (1, 2, 3)], []):
        for half, w in zip(grown.bank(nodes).packed, nodes, strict=True):
            np.testing.assert_allclose(half, np.prod([np.ones(78), *grown.base.packed[list(w)]], axis=0), rtol=1e-12)


def test_kernels_of_a_growing_hull_are_not_copied() -> None:
    grown = NodeKernels.of(bind(FAMILIES["gaussians"], X))
    nodes = hkl.lattice(4)
    early = grown.bank(nodes[:3])
    before = early.packed.copy()
    late = grown.bank(nodes)
    assert np.shares_memory(late.packed, grown.bank(nodes[:5]).packed)
    np.testing.assert_array_equal(early.packed, before)
