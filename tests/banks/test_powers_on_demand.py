"""Powers that are made on demand are those that are stored, in less memory."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

from multikernel import bind, kernels
from multikernel.banks import powers_gram
from multikernel.banks.base_matrix import BaseMatrix
from multikernel.banks.powers import PowersBank
from multikernel.kernels import Linear, Polynomial

Array = Any
N = 700  # several tiles, of the size below


def samples(n: int = N, dtype: Any = np.float64) -> Array:
    X = np.random.default_rng(0).normal(size=(n, 5))
    X[3] = 0.0
    return X.astype(dtype)


FAMILIES = {
    "cosines": kernels.homogeneous_polynomials(5),
    "polynomials": [Polynomial(d, 0.5) for d in (3, 0, 2, 3, 1)],
    "cosines of polynomials": [Polynomial(d, 0.5).normalized() for d in (1, 2, 3, 4)],
    "cosines of columns": [(Linear() ** d).normalized().on([0, 2]) for d in (1, 2, 3, 4)],
}
families = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def both(family: Any, X: Array) -> tuple[PowersBank, PowersBank]:
    on_demand, stored = bind(family, X, memory=1), bind(family, X)
    assert isinstance(on_demand, PowersBank)
    assert isinstance(stored, PowersBank)
    assert (on_demand.B.stored is None, stored.B.stored is None) == (True, False)
    return on_demand, stored


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 100 rows and 163 columns, so that blocks of the diagonal lie in two of them."""
    monkeypatch.setattr(powers_gram, "PRODUCT_ROWS", 100)
    monkeypatch.setattr(powers_gram, "PIECE_VALUES", 1 << 14)


@families
@pytest.mark.usefixtures("small_tiles")
def test_passes_over_many_tiles(family: Any) -> None:
    on_demand, stored = both(family, samples())
    rng = np.random.default_rng(1)
    few = np.where(np.arange(N) % 9 == 0, rng.normal(size=N), 0.0)
    C, M, size = rng.normal(size=(N, 2)), rng.normal(size=(N, N)), 1e-9 * np.abs(stored.matrices()).max()
    np.testing.assert_allclose(on_demand.apply(C), stored.apply(C), atol=N * size)
    np.testing.assert_allclose(on_demand.inner(M), stored.inner(M), atol=N * N * size)
    np.testing.assert_allclose(on_demand.pairs(), stored.pairs(), rtol=1e-10)
    for A in (few, C):
        np.testing.assert_allclose(on_demand.quad(A), stored.quad(A), atol=N * N * size)
    gram, want = on_demand.combine(np.arange(len(stored)) + 0.5), stored.combine(np.arange(len(stored)) + 0.5)
    for V in (few, C, np.zeros(N), np.zeros((N, 0))):
        np.testing.assert_allclose(gram.multiply(V), want.multiply(V), atol=N * size)
    index = np.array([650, 2, 3, 401])
    np.testing.assert_allclose(gram.rows(index), want.rows(index), atol=10 * size)
    np.testing.assert_allclose(gram.principal(index).dense(), want.principal(index).dense(), atol=10 * size)
    np.testing.assert_allclose(gram.diagonal(), want.diagonal(), atol=10 * size)


@pytest.mark.usefixtures("small_tiles")
def test_matrices_are_exactly_symmetric() -> None:
    """Machines read a row for a column."""
    X = np.random.default_rng(0).normal(size=(N, 300)).astype(np.float32)
    on_demand, _ = both(FAMILIES["cosines"], X)
    gram, index = on_demand.combine(np.ones(6)), np.random.default_rng(1).permutation(N)[:600]
    for K in (gram.dense(), gram.principal(index).dense(), on_demand.principal(index).matrix(3)):
        np.testing.assert_array_equal(K, K.T)


def test_gram_says_whether_it_is_stored() -> None:
    on_demand, stored = both(FAMILIES["cosines"], samples())
    assert not on_demand.combine(np.ones(6)).stored
    assert stored.combine(np.ones(6)).stored
    assert on_demand.combine(np.ones(6)).principal(np.arange(4)).stored


def test_cosine_of_a_sample_with_itself_is_one() -> None:
    """Wherever the sample stands, in single precision as well; and zero for the sample of zeros."""
    on_demand, _ = both(FAMILIES["cosines"], samples(dtype=np.float32))
    want = np.where(np.arange(N) == 3, 0.0, 1.0)
    order = np.random.default_rng(0).permutation(N)
    for bank in (on_demand, on_demand.block(order, order)):
        np.testing.assert_array_equal(np.sort(np.diagonal(bank.matrix(3))), np.sort(want))
    held_out = on_demand.block(order[:300], order[200:]).matrix(1)
    np.testing.assert_array_equal(held_out[np.arange(200, 300), np.arange(100)], want[order[200:300]])
    assert np.abs(on_demand.matrix(1)).max() == 1.0
    assert (on_demand.matrix(0) == 1.0).all()


def test_new_samples_are_not_taken_for_old_ones() -> None:
    X = samples()
    on_demand, stored = both(FAMILIES["cosines"], X)
    new = X[::-1].copy()
    np.testing.assert_allclose(on_demand.cross(new).matrices(), stored.cross(new).matrices(), atol=1e-12)


def test_parts_for_many_passes_are_stored() -> None:
    on_demand, stored = both(FAMILIES["cosines"], samples(dtype=np.float32))
    rows = np.arange(0, N, 3)
    for bank in (on_demand.principal(rows), on_demand.block(rows, rows).compact()):
        assert isinstance(bank, PowersBank)
        assert bank.B.stored is not None
        assert bank.square
        np.testing.assert_allclose(bank.matrices(), stored.block(rows, rows).matrices(), atol=1e-5)
    assert on_demand.block(rows, rows).B.stored is None
    assert on_demand.exact([2, 1]).rounding == 2.0**-53
    np.testing.assert_allclose(
        on_demand.exact([2, 1]).matrices(),
        bind(FAMILIES["cosines"], samples(dtype=np.float32)).exact([2, 1]).matrices(),
    )


def test_large_values_of_the_samples_are_no_matter() -> None:
    X = samples(dtype=np.float32)
    want = bind(FAMILIES["cosines"], X, memory=1).matrices()
    np.testing.assert_allclose(bind(FAMILIES["cosines"], np.float32(2.0**40) * X, memory=1).matrices(), want, atol=1e-5)


def test_pickled_block_is_square() -> None:
    on_demand, _ = both(FAMILIES["cosines"], samples())
    again = pickle.loads(pickle.dumps(on_demand.block(np.arange(9), np.arange(9))))
    assert again.square
    np.testing.assert_array_equal(again.diagonal(), on_demand.diagonal()[:, :9])


def test_memory_follows_the_tile() -> None:
    n = 6000
    X = samples(n, np.float32)
    bank = bind(FAMILIES["cosines"], X, memory=1)
    v = np.where(np.arange(n) % 20 == 0, 1.0, 0.0)
    gram = bank.combine(np.ones(6))
    for work in (lambda: gram.multiply(v), lambda: bank.quad(v), lambda: bank.block(slice(0, n, 2), slice(0, n, 2))):
        work()
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < n * n * 4 / 3


def test_reference_keeps_no_rows_in_memory() -> None:
    rows = bind(FAMILIES["cosines"], samples(), memory=1).reference(np.arange(5)).B.rows
    assert len(rows) == 0
    assert rows.values.base is None or rows.values.base.size == 0


def test_matrix_knows_whether_it_is_square() -> None:
    matrix = BaseMatrix.of(Linear(), samples())
    assert matrix.square
    assert matrix.principal(np.arange(3)).square
    assert not matrix.part(slice(3), slice(3)).square
    assert not matrix.against(samples()).square
