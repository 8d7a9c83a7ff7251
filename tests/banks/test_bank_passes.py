"""Several vectors or weights at a time, and double precision on demand: the same numbers for every bank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference as ref
from zoo import BANKS, bank, samples

Array = Any
names = pytest.mark.parametrize("name", BANKS)
EXACT = 1e-11


def truth(name: str) -> Array:
    X = samples()[0]
    return BANKS[name].truth.matrices(X, X)


def assert_close(got: Array, want: Array, size: Array, tol: float) -> None:
    assert np.shape(got) == np.shape(want)
    assert np.abs(got - want).max(initial=0.0) <= tol * (float(np.max(size, initial=0.0)) + 1e-3)


@names
def test_forms_of_columns_are_the_form_of_each(name: str) -> None:
    K = truth(name)
    for A in (np.random.default_rng(0).normal(size=(len(K[0]), 3)), np.eye(len(K[0]))[:, [4, 2]], np.zeros((17, 2))):
        want = np.stack([ref.quad(K, a) for a in A.T], axis=1)
        size = np.stack([ref.quad(np.abs(K), np.abs(a)) for a in A.T])
        assert_close(bank(name).quads(A), want, size, BANKS[name].tol)
    assert bank(name).quads(np.zeros((17, 0))).shape == (len(K), 0)


@names
def test_sums_for_rows_of_weights_are_the_sum_for_each(name: str) -> None:
    K = truth(name)
    W = np.random.default_rng(1).normal(size=(3, len(K)))
    W[1, 1:] = 0.0
    found = bank(name).combine_all(W)
    assert len(found) == 3
    for gram, w in zip(found, W, strict=True):
        assert_close(gram.dense(), ref.combine(K, w), ref.combine(np.abs(K), np.abs(w)), BANKS[name].tol)


@names
@pytest.mark.parametrize("index", [slice(None), [1, 0, 1], np.array([2]), slice(0, 3, 2)], ids=str)
def test_exact_kernels_are_in_double_precision(name: str, index: Any) -> None:
    if name.startswith("distances"):
        pytest.skip("a bank of distances is what its kernels' bank is")
    K, found = truth(name)[index], bank(name).exact(index)
    assert found.rounding == 2.0**-53
    assert found.square
    assert_close(found.matrices(), K, np.abs(K), EXACT)
    u = np.cos(np.arange(K.shape[1]))
    assert_close(found.quad(u), ref.quad(K, u), ref.quad(np.abs(K), np.abs(u)), EXACT)
    if not BANKS[name].given_as:
        new = samples()[1]
        want = BANKS[name].truth.matrices(new, samples()[0])[index]
        assert_close(found.cross(BANKS[name].given(new)).matrices(), want, np.abs(want), BANKS[name].tol)


@names
def test_exact_kernels_of_a_fold(name: str) -> None:
    fold = np.array([16, 10, 3, 1, 7, 12])
    if name.startswith("distances"):
        pytest.skip("a bank of distances is what its kernels' bank is")
    X = samples()[0][fold]
    want = BANKS[name].truth.matrices(X, X)[[1, 0]]
    assert_close(bank(name).block(fold, fold).exact([1, 0]).matrices(), want, np.abs(want), EXACT)


@names
def test_rounding_is_that_of_what_is_stored(name: str) -> None:
    assert bank(name).rounding == (2.0**-53 if BANKS[name].tol < 1e-9 else 2.0**-24)


@names
def test_compact_fold_is_the_fold(name: str) -> None:
    fold = np.array([16, 10, 3, 1, 7, 12])
    block = bank(name).block(fold, fold)
    compact, weights = block.compact(), np.arange(1.0, len(block) + 1)
    u = np.sin(np.arange(6.0))
    np.testing.assert_allclose(compact.matrices(), block.matrices(), atol=1e-6)
    np.testing.assert_allclose(compact.quad(u), block.quad(u), atol=1e-5)
    np.testing.assert_allclose(compact.combine(weights).dense(), block.combine(weights).dense(), atol=1e-5)
    again = compact.block([1, 4], [1, 4]).compact()
    np.testing.assert_allclose(again.matrices(), block.block([1, 4], [1, 4]).matrices(), atol=1e-6)
    if not BANKS[name].given_as:
        new = BANKS[name].given(samples()[1])
        np.testing.assert_allclose(compact.cross(new).matrices(), block.cross(new).matrices(), atol=1e-6)
        np.testing.assert_allclose(
            compact.reference([0, 2]).cross(new).matrices(), block.reference([0, 2]).cross(new).matrices(), atol=1e-6
        )


@names
def test_local_banks_have_blocks_of_their_matrices(name: str) -> None:
    """And others, whose statistics follow the sample, say so."""
    fold = np.array([16, 10, 3, 1, 7, 12])
    whole, block = bank(name).matrices()[:, fold[:, None], fold], bank(name).block(fold, fold).matrices()
    assert bank(name).local == bool(np.abs(whole - block).max() < 1e-6)
