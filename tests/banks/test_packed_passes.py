"""Stacks in single precision: sums, forms and products are those of the rounded matrices, in double precision."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from multikernel import bind, kernels, precomputed
from multikernel.banks import _packed, packed
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.lazy import LazyBank
from multikernel.banks.packed import PackedBank
from multikernel.banks.powers import PowersBank
from multikernel.banks.profiles import ProfilesBank
from multikernel.banks.subset_rbf import SubsetRBFBank
from multikernel.kernels import RBF, Laplacian, Linear

Array = Any
N = 150
X = np.random.default_rng(0).normal(size=(N, 6))
FAMILY = kernels.rls2_basis()
single = bind(FAMILY, X, dtype=np.float32)
double = bind(FAMILY, X)
ROUNDED = single.packed.astype(np.float64)


def dense(packed: Array) -> Array:
    """(m, n, n) of the packed halves, entry by entry."""
    K = np.empty((len(packed), N, N))
    rows, columns = np.tril_indices(N)
    K[:, rows, columns] = packed
    K[:, columns, rows] = packed
    return K


K = dense(ROUNDED)
SUPPORTS = {"all": N, "most": 100, "some": 30, "one": 1, "none": 0}


def vectors(support: int, columns: int) -> Array:
    rng = np.random.default_rng(support)
    A = np.zeros((N, columns))
    A[rng.permutation(N)[:support]] = rng.normal(size=(support, columns))
    return A


def test_kernels_are_evaluated_in_double_precision_and_rounded_once() -> None:
    assert (single.packed.dtype, single.packed.nbytes) == (np.float32, double.packed.nbytes // 2)
    np.testing.assert_array_equal(single.packed, double.packed.astype(np.float32))
    assert (single.rounding, double.rounding) == (2.0**-24, 2.0**-53)


@pytest.mark.parametrize("support", SUPPORTS.values(), ids=SUPPORTS)
@pytest.mark.parametrize("columns", [1, 2, 3, 7])
def test_forms_of_rounded_matrices_are_exact(support: int, columns: int) -> None:
    A = vectors(support, columns)
    want = np.einsum("it,kij,jt->kt", A, K, A)
    size = np.einsum("it,kij,jt->kt", np.abs(A), np.abs(K), np.abs(A))
    assert (np.abs(single.quads(A) - want) <= 1e-14 * size).all()
    assert (np.abs(single.quad(A) - want.sum(axis=1)) <= 1e-14 * size.sum(axis=1)).all()


def test_forms_are_those_of_the_kernels_up_to_the_rounding_of_an_entry() -> None:
    A = vectors(N, 4)
    size = np.abs(A).T @ np.abs(double.matrices()) @ np.abs(A)
    error = np.abs(single.quads(A) - double.quads(A))
    assert (error <= 2.0**-24 * np.einsum("ktt->kt", size)).all()


def test_sums_and_forms_agree_with_each_other() -> None:
    """w'(a'K_k a) = a'(sum w_k K_k) a to double precision, though entries are in single."""
    w, a = np.random.default_rng(1).random(len(single)), vectors(N, 1)[:, 0]
    gram = single.combine(w)
    assert gram.dense().dtype == np.float64
    form = float(a @ gram.multiply(a))
    assert abs(form - w @ single.quad(a)) <= 1e-13 * (w @ (np.abs(a) @ np.abs(K) @ np.abs(a)))


def test_sums_of_rounded_matrices_are_exact() -> None:
    W = np.random.default_rng(2).random((5, len(single)))
    W[1, 10:] = 0.0
    W[2] = 0.0
    for gram, w in zip(single.combine_all(W), W, strict=True):
        np.testing.assert_allclose(gram.dense(), np.tensordot(w, K, 1), rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(gram.dense(), gram.dense().T)


@pytest.mark.parametrize("bank", [single, double], ids=["single", "double"])
def test_the_stack_is_read_once_for_equal_weights(bank: PackedBank, monkeypatch: pytest.MonkeyPatch) -> None:
    """As every candidate of a search over lam asks for them; the sum that is kept is not handed out."""
    bank, halves = bank.select(np.arange(len(bank))), dense(bank.packed.astype(np.float64))
    read, once, sums = [], 0, _packed.sums
    monkeypatch.setattr(_packed, "sums", lambda *given: (read.append(given), sums(*given)))
    for weight in (1.0, 0.25, 3.0):
        total = bank.combine(np.full(len(bank), weight)).dense()
        np.testing.assert_allclose(total, weight * halves.sum(axis=0), rtol=1e-13, atol=1e-13)
        total[:] = 0.0
        once = len(read) if weight == 1.0 else once
    assert len(read) == once > 0
    two = bank.select([0, 1])  # of which the sum is no small part, and is not kept
    for _ in range(2):
        two.combine(np.ones(2))
    assert len(read) == 3 * once


@pytest.mark.parametrize("rows", [[3, 1, 100], [5, 5, 2], list(range(40)), []], ids=["mixed", "twice", "first", "none"])
def test_some_samples_in_any_order(rows: list[int]) -> None:
    part = single.principal(np.array(rows, dtype=int))
    np.testing.assert_array_equal(part.matrices(), K[:, rows][:, :, rows])


def test_products_and_pairs_of_rounded_matrices_are_exact() -> None:
    C, M = vectors(N, 3), np.random.default_rng(3).normal(size=(N, N))
    np.testing.assert_allclose(single.apply(C), K @ C, rtol=0, atol=1e-12 * np.abs(K).max())
    np.testing.assert_allclose(single.inner(M), np.einsum("kij,ij->k", K, M), rtol=0, atol=1e-11 * np.abs(K).max())
    np.testing.assert_allclose(single.pairs(), np.einsum("kij,lij->kl", K, K), rtol=1e-12)
    np.testing.assert_allclose(single.traces(), np.einsum("kii->k", K), rtol=1e-14)


@pytest.mark.crossed
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("n", [63, 700])
def test_products_with_many_columns(n: int, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By BLAS, in several tiles of rows or one, for kernels in double and single precision, some of them, and none."""
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr(packed, "PACKED_VALUES", 0)
    monkeypatch.setattr(packed, "TILE_VALUES", 1 << 16)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4, n, 3))
    K = X @ X.transpose(0, 2, 1)
    for dtype in (np.float64, np.float32):
        bank = precomputed(K.astype(dtype))
        matrices = np.stack([bank.matrix(k) for k in range(4)]).astype(np.float64)
        for C in (
            rng.normal(size=(n, 49)),
            np.asfortranarray(rng.normal(size=(n, 50))),
            np.ones((n, 60), dtype=np.int64),
        ):
            close = {"rtol": 0, "atol": 1e-11 * np.abs(matrices).max()}
            np.testing.assert_allclose(bank.apply(C), matrices @ C, **close)
            np.testing.assert_allclose(bank.select([2, 0]).apply(C), matrices[[2, 0]] @ C, **close)
            assert bank.select(np.zeros(0, dtype=int)).apply(C).shape == (0, *C.shape)


@pytest.mark.parametrize("index", [slice(1, 40, 3), [5, 0, 5], np.arange(91) % 2 == 0], ids=["step", "list", "mask"])
def test_passes_over_chosen_kernels(index: Any) -> None:
    chosen, A = single.select(index), vectors(40, 2)
    np.testing.assert_array_equal(chosen.quads(A), single.quads(A)[index])
    exact = single.exact(index)
    assert isinstance(exact, PackedBank)
    np.testing.assert_allclose(exact.packed, double.packed[index], rtol=1e-14)


def test_precomputed_single_precision_is_all_there_is() -> None:
    given = precomputed(double.matrices()[:3].astype(np.float32))
    assert given.rounding == 2.0**-24
    exact = given.exact([2, 0])
    assert exact.rounding == 2.0**-53
    np.testing.assert_array_equal(exact.matrices(), given.matrices()[[2, 0]])


def test_exact_kernels_that_were_made_on_demand_are_stored() -> None:
    lazy = bind(FAMILY, X, memory=1)
    assert isinstance(lazy, LazyBank)
    exact = lazy.exact([3, 90])
    assert isinstance(exact, PackedBank)
    np.testing.assert_allclose(exact.packed, double.packed[[3, 90]], rtol=1e-14)


STORED = {
    "stack": ([Laplacian(0.1), RBF(0.2)], X, PackedBank),
    "powers": (kernels.homogeneous_polynomials(6), X, PowersBank),
    "widths": (kernels.rbf_grid(np.geomspace(0.01, 1, 61)), X, ProfilesBank),
    "mixture": ([Laplacian(0.1), *kernels.homogeneous_polynomials(6), Linear()], X, ConcatenatedBank),
    "subsets": (kernels.rbf_subsets(2, [0.1, 1.0]), X, PackedBank),
    "many-subsets": (kernels.rbf_subsets(3, np.geomspace(0.1, 1.0, 14)), X[:, :3], SubsetRBFBank),
}


@pytest.mark.parametrize(("family", "samples", "kind"), STORED.values(), ids=STORED)
def test_any_bank_can_be_stored_in_single_precision(
    family: Any, samples: Array, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind in (ProfilesBank, SubsetRBFBank):  # which large stacks become
        for module in ("bind", "kinds"):
            monkeypatch.setattr(sys.modules[f"multikernel.banks.{module}"], "KEPT_BYTES", 0)
    half, whole = bind(family, samples, dtype=np.float32), bind(family, samples)
    assert type(half) is type(whole) is kind
    a = np.cos(np.arange(len(samples)))
    np.testing.assert_allclose(half.quad(a), whole.quad(a), rtol=0, atol=2e-6 * np.abs(a).sum() ** 2)
    np.testing.assert_allclose(half.exact([1]).quad(a), whole.quad(a)[[1]], rtol=1e-12)


def test_samples_in_single_precision_can_be_bound_in_double() -> None:
    rounded = X.astype(np.float32)
    bank = bind([Laplacian(0.1), RBF(0.2)], rounded, dtype=np.float64)
    assert bank.rounding == 2.0**-53
    np.testing.assert_array_equal(bank.matrices(), bind([Laplacian(0.1), RBF(0.2)], rounded.astype(float)).matrices())


def test_other_precisions_are_refused() -> None:
    with pytest.raises(ValueError, match="stored in float64 or float32, got dtype float16"):
        bind(FAMILY, X, dtype=np.float16)
    with pytest.raises(ValueError, match="stored in float64 or float32, got dtype 'nonsense'"):
        bind(FAMILY, X, dtype="nonsense")


@pytest.mark.parametrize("bank", [single, double, double.scaled(np.arange(len(double)) + 0.5)], ids=repr)
def test_a_total_is_a_sum_that_may_be_written_into(bank: Any) -> None:
    weights = np.random.default_rng(0).uniform(size=len(bank))
    want = bank.combine(weights).dense().astype(np.float64)
    total = bank.total(weights)
    np.testing.assert_allclose(total, want, rtol=1e-14)
    total[:] = 0.0
    np.testing.assert_array_equal(bank.combine(weights).dense(), want)


@pytest.mark.parametrize("bank", [single, double])
def test_arrays_of_another_length_are_refused(bank: PackedBank) -> None:
    """Compiled passes would read beyond the end of the stack."""
    m = len(bank)
    for call, given in (
        (bank.apply, np.ones((N + 1, 2))),
        (bank.quads, np.ones((N - 1, 2))),
        (bank.quad, np.ones(N + 1)),
        (bank.inner, np.ones((N + 1, N + 1))),
        (bank.combine, np.ones(m - 1)),
        (bank.combine_all, np.ones((2, m + 1))),
    ):
        with pytest.raises(ValueError, match=f"a pass over a bank of ({N} samples|{m} kernels) got an array with"):
            call(given)
