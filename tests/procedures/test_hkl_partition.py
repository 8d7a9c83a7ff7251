"""What nodes outside a hull could add, against a visit of every descendant, and the bound of the whole problem."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import hkl_reference as hkl
from cases import one_in
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import pack
from multikernel.banks.precomputed import Precomputed
from multikernel.procedures.hkl.outside import partitioned

Array = Any
RNG = np.random.default_rng
KINDS = ("positive", "signed", "rank one", "whole numbers")
kinds = pytest.mark.parametrize("kind", KINDS)


def base_kernels(kind: str, p: int, n: int, rng: np.random.Generator) -> Array:
    """Positive semi-definite matrices; with whole numbers, 1 + k / 9 is zero in places."""
    if kind == "whole numbers":
        F = rng.integers(-3, 4, size=(p, n, 1)).astype(float)
    else:
        F = rng.normal(size=(p, n, 1 if kind == "rank one" else 3))
    if kind == "positive":
        F = np.abs(F)
    return F @ F.transpose(0, 2, 1)


def packed(K: Array) -> PackedBank:
    return PackedBank(Precomputed(len(K), K.shape[1]), np.array([pack(k) for k in K]), K.shape[1])


def rounding(K: Array, b: Array, t: tuple[int, ...], beta: float) -> float:
    """What of the sum rounding may be: a part in 10^14 of that of the absolute values."""
    grown = [np.abs(k) if i in t else 1.0 + np.abs(k) / (1.0 + beta) ** 2 for i, k in enumerate(K)]
    return float(1e-14 * beta ** (-2 * len(t)) * np.abs(b) @ np.prod(grown, axis=0) @ np.abs(b))


@pytest.mark.parametrize(("kind", "rho", "p"), one_in(5, product(KINDS, [1.1, 1.5, 2.0], [1, 4, 6])))
def test_bounds_hold(kind: str, rho: float, p: int) -> None:
    rng = RNG(p)
    K, beta = base_kernels(kind, p, 10, rng), float(rng.choice([1.3, 2.0]))
    b = rng.normal(size=10) * (rng.random(10) < 0.7)
    nodes = hkl.lattice(p)
    candidates = [nodes[k] for k in rng.permutation(len(nodes))[:12]]
    want = np.array([hkl.excess(K, b, t, beta, rho) for t in candidates])
    slack = np.array([rounding(K, b, t, beta) for t in candidates])
    for threshold in (-1.0, 0.0, float(np.median(want)), float(want.max()), np.inf):
        for splits in (0, 1, 4, 1000):
            upper = partitioned(packed(K), b, candidates, beta, rho, threshold, splits)
            assert (upper >= want - slack).all()
            if rho == 2.0:
                np.testing.assert_array_less(np.abs(upper - want), slack + 1e-12 * want + 1e-300)
            elif splits == 1000:
                close = np.abs(upper - want) <= slack + 1e-12 * want
                assert ((want > threshold) | (upper <= threshold) | close).all()


@kinds
def test_bounds_tighten_until_they_are_compared(kind: str) -> None:
    K, b = base_kernels(kind, 6, 15, RNG(0)), RNG(1).normal(size=15)
    t = [(2,)]
    want = hkl.excess(K, b, t[0], 2.0, 1.3)
    uppers = [partitioned(packed(K), b, t, 2.0, 1.3, want, splits)[0] for splits in range(0, 40, 3)]
    assert (np.diff(uppers) <= 1e-12 * want).all()
    assert uppers[-1] < uppers[0]
    below = partitioned(packed(K), b, t, 2.0, 1.3, 1.1 * want, 1000)
    assert want * (1.0 - 1e-12) <= below[0] <= 1.1 * want


def test_candidates_by_the_hundred_in_pieces_of_the_entries() -> None:
    p, n = 9, 60
    K, b = base_kernels("rank one", p, n, RNG(0)), RNG(1).normal(size=n)
    candidates = [w for w in hkl.lattice(p) if len(w) in (2, 3, 4)]
    for rho in (2.0, 1.5):
        upper = partitioned(packed(K), b, candidates, 2.0, rho, 0.0, 2)
        for k in (0, 77, 150, len(candidates) - 1):
            want = hkl.excess(K, b, candidates[k], 2.0, rho)
            assert upper[k] >= want - rounding(K, b, candidates[k], 2.0)


def test_nothing_to_do() -> None:
    K = base_kernels("signed", 3, 8, RNG(0))
    for rho in (1.5, 2.0):
        assert not partitioned(packed(K), np.zeros(8), [(0,), (1, 2)], 2.0, rho, 0.0).any()
        assert len(partitioned(packed(K), np.ones(8), [], 2.0, rho, 0.0)) == 0


# -- the bound of the whole problem ------------------------------------------------------------------------------------


def sample(kind: str, p: int, n: int) -> tuple[Array, Array]:
    X = RNG(5).normal(size=(n, p))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * RNG(6).normal(size=n) > 0, 1.0, -1.0)
    if kind == "features":
        return np.array([np.outer(x, x) for x in X.T]), y
    return np.array([np.exp(-((x[:, None] - x) ** 2)) for x in X.T]), y


@pytest.mark.crossed
@pytest.mark.parametrize("kind", ["features", "gaussians"])
@pytest.mark.parametrize("rho", [1.1, 1.5, 2.0])
def test_feasible_dual_variables_bound_the_optimum(kind: str, rho: float) -> None:
    K, y = sample(kind, 4, 10)
    C, rng = 1.0, RNG(7)
    whole = hkl.classifier(K, y, C, rho)
    restricted = hkl.classifier(K, y, C, rho, nodes=hkl.random_hull(4, 5, rng))
    losses = hkl.mkl_reference.classification(y, C)
    points = [
        whole.coef,
        restricted.coef,
        y * losses.feasible(rng.random(10)),
        y * losses.feasible(0.1 * rng.random(10)),
    ]
    assert restricted.value >= whole.value - 1e-8
    for b in points:
        for nodes in ([()], restricted.nodes, hkl.random_hull(4, 9, rng)):
            q = np.maximum(hkl.ref.quad(hkl.products(K, nodes), b), 0.0)
            inside = hkl.dual_norm(q, nodes, 2.0, rho)[1] ** 2
            outside = hkl.complement_sources(nodes, 4)
            upper = partitioned(packed(K), b, outside, 2.0, rho, inside)
            bound = float(y @ b) - 0.5 * max(inside, upper.max(initial=0.0))
            assert whole.upper >= bound - 1e-9


@pytest.mark.parametrize("rho", one_in(3, [1.1, 1.5, 2.0]))
def test_feasible_dual_variables_bound_the_optimum_of_regression(rho: float) -> None:
    K, y = sample("gaussians", 4, 10)
    C, rng = 2.0, RNG(7)
    y = y + 0.3 * rng.normal(size=10)
    whole = hkl.regressor(K, y, C, rho)
    nodes = hkl.random_hull(4, 5, rng)
    for b in (whole.coef, hkl.regressor(K, y, C, rho, nodes=nodes).coef, rng.normal(size=10)):
        inside = hkl.dual_norm(np.maximum(hkl.ref.quad(hkl.products(K, nodes), b), 0.0), nodes, 2.0, rho)[1] ** 2
        upper = partitioned(packed(K), b, hkl.complement_sources(nodes, 4), 2.0, rho, inside)
        gain = float((y - y.mean()) @ b) - float(b @ b) / (4.0 * C)
        assert whole.upper >= gain - 0.5 * max(inside, upper.max()) - 1e-9


@pytest.mark.parametrize("rho", [1.1, 1.37, 2.0])
def test_reference_is_in_agreement_with_itself(rho: float) -> None:
    """At the optimum the norm of f is the dual norm of its coefficients; both bounds meet."""
    K, y = sample("gaussians", 4, 10)
    for optimum in (hkl.classifier(K, y, 5.0, rho), hkl.regressor(K, y, 5.0, rho)):
        assert optimum.gap < 1e-6
        q = np.maximum(hkl.ref.quad(hkl.products(K, optimum.nodes), optimum.coef), 0.0)
        lower, upper = hkl.dual_norm(q, optimum.nodes, 2.0, rho)
        assert lower == pytest.approx(upper, rel=1e-7)
        assert hkl.omega(optimum.norms, optimum.nodes, 2.0, rho) == pytest.approx(upper, rel=1e-6)
