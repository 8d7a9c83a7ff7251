"""Gaussians on described subsets of the features: every pass against the kernels evaluated one by one."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel import bind, kernels
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import packed_pairs
from multikernel.banks.subset_rbf import SubsetRBFBank
from multikernel.kernels import RBF, Features

Array = Any
N, P = 60, 5
rng = np.random.default_rng(0)
X = rng.normal(size=(N, P))
NEW = rng.normal(size=(9, P))
SUBSETS = [c for q in (1, 2, 3) for c in combinations(range(P), q)]
TABLE = np.array([c + (-1,) * (3 - len(c)) for c in SUBSETS])
GRIDS = {
    "doubling": 2.0 ** np.arange(-12, 6),
    "multiples": np.array([0.01, 0.03, 0.12, 0.84, 0.84, 6.72]),
    "uneven": np.geomspace(1e-3, 1e3, 7),
    "falling": 2.0 ** np.arange(4, -4, -1),
    "one": np.array([0.3]),
    "extreme": np.array([1e-300, 1e-12, 1e12, 1e300]),
}
grids = pytest.mark.parametrize("gammas", GRIDS.values(), ids=GRIDS)


def truth(gammas: Array, A: Array = X, B: Array = X) -> Array:
    """(m, r, c), each kernel from its formula."""
    squares = (A[:, None, :] - B[None, :, :]) ** 2
    return np.stack([np.exp(-g * squares[:, :, list(s)].sum(axis=2)) for s in SUBSETS for g in gammas])


@grids
def test_passes_are_those_of_the_kernels(gammas: Array) -> None:
    bank, K = SubsetRBFBank.of(X, TABLE, gammas), truth(gammas)
    A = np.random.default_rng(1).normal(size=(N, 3))
    A[::3] = 0.0
    w = np.random.default_rng(2).random(len(bank)) / len(bank)
    size = np.abs(A).sum() ** 2
    np.testing.assert_allclose(bank.quads(A), np.einsum("it,kij,jt->kt", A, K, A), rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(bank.quad(A[:, 0]), np.einsum("i,kij,j->k", A[:, 0], K, A[:, 0]), atol=1e-13 * size)
    np.testing.assert_allclose(bank.inner(A @ A.T), np.einsum("kij,ij->k", K, A @ A.T), rtol=0, atol=1e-13 * size)
    np.testing.assert_allclose(bank.apply(A), K @ A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bank.combine(w).dense(), np.tensordot(w, K, 1), rtol=0, atol=1e-13)
    np.testing.assert_allclose(bank.cross(NEW).combine(w).dense(), np.tensordot(w, truth(gammas, NEW), 1), atol=1e-13)
    np.testing.assert_array_equal(bank.traces(), np.full(len(bank), float(N)))


@grids
def test_stored_matrices_are_the_kernels_to_the_last_digits(gammas: Array) -> None:
    """Far below the smallest normal number the exponential is left at it."""
    bank, K = SubsetRBFBank.of(X, TABLE, gammas), truth(gammas)
    np.testing.assert_allclose(bank.exact().matrices(), K, rtol=2e-12, atol=1e-300)
    np.testing.assert_array_equal(np.einsum("kii->ki", bank.exact().matrices()), np.ones((len(bank), N)))
    np.testing.assert_allclose(
        SubsetRBFBank.of(X, TABLE, gammas, np.float32).stored().matrices(), K, rtol=0, atol=2.0**-23
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_chosen_kernels_in_any_order(seed: int, count: int) -> None:
    gammas, draw = GRIDS["multiples"], np.random.default_rng(seed)
    bank, a = SubsetRBFBank.of(X, TABLE, gammas), draw.normal(size=N)
    index = draw.integers(len(bank), size=count)
    want = np.einsum("i,kij,j->k", a, truth(gammas)[index], a)
    for chosen in (bank.select(index), bank.exact(index)):
        np.testing.assert_allclose(chosen.quad(a), want, rtol=0, atol=1e-12 * np.abs(a).sum() ** 2)
    assert len(bank.select(index).subsets) <= count


def test_kernels_of_weight_zero_are_left_out() -> None:
    bank = SubsetRBFBank.of(X, TABLE, GRIDS["uneven"])
    w = np.zeros(len(bank))
    np.testing.assert_array_equal(bank.combine(w).dense(), np.zeros((N, N)))
    w[[3, 77]] = 0.5, 2.0
    K = truth(GRIDS["uneven"])
    np.testing.assert_allclose(bank.combine(w).dense(), 0.5 * K[3] + 2.0 * K[77], atol=1e-14)
    some = bank.reference(np.arange(10, 20)).cross(NEW)
    K = truth(GRIDS["uneven"], NEW, X[10:20])
    np.testing.assert_allclose(some.combine(w).dense(), 0.5 * K[3] + 2.0 * K[77], atol=1e-14)


def test_packed_entries_are_numbered_row_by_row() -> None:
    rows, columns = packed_pairs(np.arange(5000))
    wanted = np.tril_indices(100)
    np.testing.assert_array_equal(rows, wanted[0][:5000])
    np.testing.assert_array_equal(columns, wanted[1][:5000])
    for i in (94_906_265, 10**7, 2**26):
        first = i * (i + 1) // 2
        rows, columns = packed_pairs(np.array([first - 1, first, first + i, first + i + 1]))
        assert list(zip(rows, columns, strict=True)) == [(i - 1, i - 1), (i, 0), (i, i), (i + 1, 0)]


# -- from the family ---------------------------------------------------------------------------------------------------

MANY = kernels.rbf_subsets(3, 2.0 ** np.arange(-1000, 1000, 0.125))  # too many for a stack


def test_small_families_are_stored_and_large_ones_are_not() -> None:
    small = bind(kernels.rbf_subsets(2, [0.1, 0.3]), X)
    assert isinstance(small, PackedBank)
    np.testing.assert_allclose(
        small.matrices(), [k(X) for k in kernels.rbf_subsets(2, [0.1, 0.3]).resolve(Features(P))]
    )
    np.testing.assert_allclose(small.cross(NEW).matrices()[4], RBF(0.1).on([2])(NEW, X))
    assert type(bind(kernels.rbf_subsets(2, [0.1, 0.3]), X, memory=1)) is SubsetRBFBank
    many = bind(MANY, X)
    assert (type(many), len(many)) == (SubsetRBFBank, 25 * 16000)


def test_described_kernels_stand_among_listed_ones() -> None:
    described = kernels.rbf_subsets([[0], [3, 1]], [0.1, 0.2])
    family = kernels.rbf_grid([0.5]) + described + kernels.polynomials([1, 2]) + kernels.linear_features()
    bank, resolved = bind(family, X), family.resolve(Features(P))
    assert type(bank) is ConcatenatedBank
    assert len(bank) == len(resolved) == len(resolved.names) == 1 + 4 + 2 + P
    for K, kernel in zip(bank.matrices(), resolved, strict=True):
        np.testing.assert_allclose(K, kernel(X), atol=1e-12)
    np.testing.assert_allclose(bank.exact([2, 5]).matrices()[0], RBF(0.2).on([0])(X), atol=1e-12)


def test_scaled_traces_need_no_diagonals() -> None:
    bank = bind(MANY, X)
    np.testing.assert_array_equal(bank.scaled(1.0 / bank.traces()).traces(), np.ones(len(bank)))


MILLION = """
import tracemalloc
import numpy as np
from multikernel import bind, kernels

def work(family, X):
    bank = bind(family, X)
    scaled = bank.scaled(1.0 / bank.traces())
    a = np.cos(np.arange(len(X)))
    forms = scaled.quad(a)
    best = np.argsort(-forms)[:100]
    weights = np.zeros(len(bank))
    weights[best] = 0.01
    K = scaled.exact(best).combine(weights[best]).dense()
    np.testing.assert_allclose(scaled.combine(weights).dense(), K, atol=1e-13)
    np.testing.assert_allclose(weights @ forms, a @ K @ a, rtol=1e-11)
    scaled.reference().cross(X[:5]).combine(weights)
    return len(bank)

X = np.random.default_rng(0).normal(size=(12, 60))
work(kernels.rbf_subsets(1, [0.1, 0.2]), X)  # compiled code and threads are there from now on
family = kernels.rbf_subsets(3, 2.0 ** np.arange(-14, 14))
tracemalloc.start()
print(work(family, X), tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.study
def test_a_million_kernels_take_a_few_numbers_each() -> None:
    done = subprocess.run([sys.executable, "-c", MILLION], capture_output=True, text=True, check=True)
    m, peak = map(int, done.stdout.split())
    assert m == 28 * (60 + 60 * 59 // 2 + 60 * 59 * 58 // 6)
    assert peak <= 100 * m


def test_names_of_a_million_kernels_are_made_one_by_one() -> None:
    names = kernels.rbf_subsets(3, 2.0 ** np.arange(-14, 14)).resolve(Features(60)).names
    assert len(names) == 1_009_400
    assert names[0] == "RBF(gamma=6.103515625e-05).on(0)"
    assert names[-1] == "RBF(gamma=8192.0).on([57, 58, 59])"
    assert names[28:30] == ("RBF(gamma=6.103515625e-05).on(1)", "RBF(gamma=0.0001220703125).on(1)")
    assert not isinstance(names, tuple)
