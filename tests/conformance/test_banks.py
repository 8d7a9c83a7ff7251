"""Every bank against its dense truth: the kernels evaluated two samples at a time."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from multikernel import KernelBank
from zoo import BANKS, bank, samples

Array = Any
names = pytest.mark.parametrize("name", BANKS)
N = len(samples()[0])
INDICES = {
    "sorted": np.arange(2, 9),
    "unsorted": np.array([9, 2, 11, 4, 0]),
    "slice": slice(3, 12, 2),
    "mask": np.arange(N) % 3 != 0,
    "list": [5, 1, 4, 8],
    "one": np.array([6]),
    "negative": np.array([-1, -5, 0]),
    "repeated": np.array([3, 8, 3, 3, 2]),
}
indices = pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)


@cache
def truth(name: str) -> Array:
    X = samples()[0]
    return BANKS[name].truth.matrices(X, X)


def block_truth(name: str, rows: Any, columns: Any) -> Array:
    """The kernels of some rows, where the columns are the training sample."""
    X = samples()[0]
    return BANKS[name].truth.matrices(X[rows], X[columns])


def cross_truth(name: str, columns: Any = slice(None)) -> Array:
    X, new = samples()
    return BANKS[name].truth.matrices(new, X[columns])


def new_samples(name: str) -> Any:
    X, new = samples()
    return BANKS[name].new(new, X)


def assert_close(got: Array, want: Array, size: Array, tol: float) -> None:
    """Within ``tol`` of the size that rounding has: the same sum with every term taken as positive."""
    assert np.shape(got) == np.shape(want)
    error = float(np.abs(got - want).max(initial=0.0))
    assert error <= tol * (float(np.max(size, initial=0.0)) + 1e-3)


def assert_is(found: KernelBank, K: Array, tol: float) -> None:
    """All that a bank of any shape computes."""
    rng = np.random.default_rng(1)
    m, r, c = K.shape
    assert (len(found), found.shape) == (m, (r, c))
    size = np.abs(K)
    assert_close(found.matrices(), K, size, tol)
    weights = {
        "positive": rng.random(m),
        "negative": rng.normal(size=m),
        "one": np.eye(1, m, m - 1)[0],
        "zeros": np.zeros(m),
    }
    for w in weights.values():
        assert_combines(found, K, w, tol)
    C, M = rng.normal(size=(c, 3)), rng.normal(size=(r, c))
    assert_close(found.apply(C), ref.apply(K, C), ref.apply(size, np.abs(C)), tol)
    assert_close(found.inner(M), ref.inner(K, M), ref.inner(size, np.abs(M)), tol)
    assert_close(found.pairs(), ref.pairs(K), ref.pairs(size), tol)


def assert_combines(found: KernelBank, K: Array, w: Array, tol: float) -> None:
    """The Gram as a matrix, and as an operator."""
    rng = np.random.default_rng(2)
    gram, want, size = found.combine(w), ref.combine(K, w), ref.combine(np.abs(K), np.abs(w))
    v, V = rng.normal(size=K.shape[2]), rng.normal(size=(K.shape[2], 2))
    assert gram.shape == want.shape
    assert_close(gram.dense(), want, size, tol)
    assert_close(gram.multiply(v), want @ v, size @ np.abs(v), tol)
    assert_close(gram.multiply(V), want @ V, size @ np.abs(V), tol)
    assert_close(gram.rows(np.arange(len(want))[::-2]), want[::-2], size, tol)


def assert_is_square(found: KernelBank, K: Array, tol: float) -> None:
    """What a bank of a training sample computes besides."""
    assert found.square
    assert_is(found, K, tol)
    rng = np.random.default_rng(3)
    n, size = K.shape[1], np.abs(K)
    sparse = np.zeros(n)
    sparse[: max(1, n // 4)] = 1.0
    for A in (rng.normal(size=n), rng.normal(size=(n, 3)), sparse, np.zeros(n)):
        assert_close(found.quad(A), ref.quad(K, A), ref.quad(size, np.abs(A)), tol)
    assert_close(found.diagonal(), ref.diagonal(K), size, tol)
    assert_close(found.traces(), ref.traces(K), ref.traces(size), tol)
    w = rng.random(len(K))
    assert_close(found.combine(w).diagonal(), np.diag(ref.combine(K, w)), ref.combine(size, w), tol)


@names
def test_training_bank_is_the_dense_stack(name: str) -> None:
    assert_is_square(bank(name), truth(name), BANKS[name].tol)


@names
def test_shifted_systems_are_solved(name: str) -> None:
    if not BANKS[name].definite:
        pytest.skip("the systems of a matrix that is not positive semi-definite are not solved")
    rng = np.random.default_rng(4)
    K, w, B = truth(name), rng.random(len(bank(name))), rng.normal(size=(N, 2))
    gram, some = bank(name).combine(w), np.array([7, 2, 3])
    shifted = ref.combine(K, w) + 0.5 * np.eye(N)
    want, tol = np.linalg.solve(shifted, B), 100.0 * BANKS[name].tol
    assert_close(gram.solve_shifted(0.5, B), want, 10.0, tol)
    assert_close(gram.solve_shifted(0.5, B[:, 0]), want[:, 0], 10.0, tol)
    part = np.linalg.solve(shifted[np.ix_(some, some)], B[some])
    assert_close(gram.solve_shifted(0.5, B[some], on=some), part, 10.0, tol)


@names
@indices
def test_fold_is_the_block_of_the_rows_and_the_same_columns(name: str, index: Any) -> None:
    assert_is_square(bank(name).block(index, index), block_truth(name, index, index), BANKS[name].tol)


@names
@indices
def test_held_out_part_is_the_block_of_other_rows(name: str, index: Any) -> None:
    columns = np.array([16, 10, 3, 1, 7, 12])
    found = bank(name).block(index, columns)
    assert not found.square
    assert_is(found, block_truth(name, index, columns), BANKS[name].tol)


@names
def test_held_out_part_is_the_fold_against_new_samples(name: str) -> None:
    if BANKS[name].given_as:
        pytest.skip("new samples are known only against all training samples")
    rows, columns = np.array([0, 5, 4]), np.array([16, 10, 3, 1, 7, 12])
    X = BANKS[name].given(samples()[0])
    fold = bank(name).block(columns, columns)
    assert_is(fold.cross(X[rows]), block_truth(name, rows, columns), BANKS[name].tol)


@names
def test_brackets_are_a_block(name: str) -> None:
    rows, columns = np.array([3, 1, 8]), np.array([5, 0])
    found = bank(name)
    assert_is(found[np.ix_(rows, columns)], block_truth(name, rows, columns), BANKS[name].tol)
    assert_is(found[rows, 2:7], block_truth(name, rows, slice(2, 7)), BANKS[name].tol)
    with pytest.raises(TypeError, match="rows and columns"):
        found[rows]


@names
def test_empty_block_has_no_rows(name: str) -> None:
    found = bank(name).block(np.arange(0), np.arange(4))
    assert (len(found), found.shape) == (len(truth(name)), (0, 4))
    assert found.combine(np.ones(len(found))).dense().shape == (0, 4)
    assert found.apply(np.ones((4, 2))).shape == (len(found), 0, 2)


@names
@pytest.mark.parametrize("index", [[2, 0], np.array([1]), slice(1, 3), [0, 1, 0]], ids=str)
def test_select_keeps_the_kernels_asked_for(name: str, index: Any) -> None:
    found = bank(name).select(index)
    assert_is_square(found, truth(name)[index], BANKS[name].tol)
    assert_is(found.cross(_selected(name, index)), cross_truth(name)[index], BANKS[name].tol)


def _selected(name: str, index: Any) -> Any:
    new = new_samples(name)
    return new[index] if BANKS[name].given_as else new


@names
def test_select_by_mask(name: str) -> None:
    mask = np.arange(len(truth(name))) % 2 == 0
    assert_is_square(bank(name).select(mask), truth(name)[mask], BANKS[name].tol)


@names
def test_cross_meets_new_samples_with_the_statistics_of_the_training_set(name: str) -> None:
    assert_is(bank(name).cross(new_samples(name)), cross_truth(name), BANKS[name].tol)


@names
def test_block_of_cross(name: str) -> None:
    rows, columns = np.array([4, 0]), np.array([9, 2, 11])
    found = bank(name).cross(new_samples(name)).block(rows, columns)
    assert_is(found, cross_truth(name)[:, rows][:, :, columns], BANKS[name].tol)


@names
def test_select_after_cross(name: str) -> None:
    found = bank(name).cross(new_samples(name)).select([1, 0])
    assert_is(found, cross_truth(name)[[1, 0]], BANKS[name].tol)


@names
def test_reference_needs_no_rows_to_meet_new_samples(name: str) -> None:
    found = bank(name).reference()
    assert found.shape == (0, N)
    assert_is(found.cross(new_samples(name)), cross_truth(name), BANKS[name].tol)


@names
@pytest.mark.parametrize(
    "columns", [np.array([11, 2, 5]), np.arange(N) % 2 == 0, slice(4, 9)], ids=["index", "mask", "slice"]
)
def test_reference_of_some_columns_keeps_the_statistics(name: str, columns: Any) -> None:
    found = bank(name).reference(columns)
    want = cross_truth(name)[:, :, columns]
    assert found.shape == (0, want.shape[2])
    assert_is(found.cross(new_samples(name)), want, BANKS[name].tol)
    assert_is(found.select([1]).cross(_selected(name, [1])), want[[1]], BANKS[name].tol)


@names
def test_reference_of_a_fold(name: str) -> None:
    fold, columns = np.array([16, 10, 3, 1, 7, 12]), np.array([4, 0])
    found = bank(name).block(fold, fold).reference(columns)
    assert_is(found.cross(new_samples(name)), cross_truth(name, fold)[:, :, columns], BANKS[name].tol)


@names
def test_self_values_of_new_samples(name: str) -> None:
    case, (X, new) = BANKS[name], samples()
    if case.given_as:
        with pytest.raises(ValueError, match="self-values are not known"):
            bank(name).self_values(new_samples(name))
    else:
        want = case.truth.self_values(new, X)
        assert_close(bank(name).self_values(case.given(new)), want, np.abs(want), 10.0 * case.tol)


@names
def test_pickled_bank_is_the_same(name: str) -> None:
    found = pickle.loads(pickle.dumps(bank(name)))
    assert_is_square(found, truth(name), BANKS[name].tol)
    assert_is(found.cross(new_samples(name)), cross_truth(name), BANKS[name].tol)


@names
def test_wrappers_of_any_bank(name: str) -> None:
    case, (X, _) = BANKS[name], samples()
    factors = np.arange(len(truth(name))) + 0.5
    assert_is_square(bank(name).scaled(factors), ref.multiplied(case.truth, factors).matrices(X, X), case.tol)
    assert_is_square(bank(name).centered(), ref.centred(case.truth).matrices(X, X), case.tol)


# -- algebra -----------------------------------------------------------------------------------------------------------

any_name = st.sampled_from(sorted(BANKS))
seeds = st.integers(0, 2**32 - 1)


@given(any_name, seeds, st.floats(-3, 3), st.floats(-3, 3))
def test_combine_is_linear(name: str, seed: int, a: float, b: float) -> None:
    rng = np.random.default_rng(seed)
    v, w = rng.normal(size=(2, len(truth(name))))
    found = bank(name)
    want = a * found.combine(v).dense() + b * found.combine(w).dense()
    size = ref.combine(np.abs(truth(name)), np.abs(a * v) + np.abs(b * w))
    assert_close(found.combine(a * v + b * w).dense(), want, size, 10.0 * BANKS[name].tol)


@given(any_name, seeds)
def test_quad_is_the_form_of_the_combined_matrix(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found, w, A = bank(name), rng.random(len(truth(name))), rng.normal(size=(N, 2))
    form = np.vdot(A, found.combine(w).multiply(A))
    assert_close(w @ found.quad(A), form, w @ ref.quad(np.abs(truth(name)), np.abs(A)), BANKS[name].tol)


@given(any_name, seeds)
def test_inner_with_an_outer_product_is_quad(name: str, seed: int) -> None:
    A = np.random.default_rng(seed).normal(size=(N, 2))
    size = ref.quad(np.abs(truth(name)), np.abs(A))
    assert_close(bank(name).inner(A @ A.T), bank(name).quad(A), size, BANKS[name].tol)


@given(any_name, seeds)
def test_inner_with_a_combined_matrix_is_pairs(name: str, seed: int) -> None:
    found, w = bank(name), np.random.default_rng(seed).random(len(truth(name)))
    size = ref.pairs(np.abs(truth(name))) @ w
    assert_close(found.inner(found.combine(w).dense()), found.pairs() @ w, size, BANKS[name].tol)


@given(any_name, seeds)
def test_inner_is_the_trace_of_apply(name: str, seed: int) -> None:
    M = np.random.default_rng(seed).normal(size=(N, N))
    traces = np.einsum("kii->k", bank(name).apply(M.T))
    assert_close(bank(name).inner(M), traces, ref.inner(np.abs(truth(name)), np.abs(M)), BANKS[name].tol)


@given(any_name, seeds, st.integers(2, N))
def test_block_of_block_is_the_block_of_composed_indices(name: str, seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    fold = rng.permutation(N)[:size]
    inner = rng.permutation(size)[: max(1, size // 2)]
    twice = bank(name).block(fold, fold).block(inner, inner)
    once = bank(name).block(fold[inner], fold[inner])
    assert twice.square
    assert_close(twice.matrices(), once.matrices(), 10.0, BANKS[name].tol)
    held_out = bank(name).block(fold, fold[inner])
    assert_close(
        bank(name).block(fold, fold).block(slice(None), inner).matrices(), held_out.matrices(), 10.0, BANKS[name].tol
    )


@given(any_name, seeds)
def test_rows_of_a_held_out_part_keep_its_statistics(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(N)
    rows, columns = order[:6], order[6:]
    part = bank(name).block(rows, columns)
    assert_close(part.block([3, 1], slice(None)).matrices(), part.matrices()[:, [3, 1]], 10.0, BANKS[name].tol)
