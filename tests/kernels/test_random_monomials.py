"""Kernels of random monomials against the sum of their products, and what their bank stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from multikernel import EasyMKLClassifier, bind, kernels
from multikernel.banks.lazy import LazyBank
from multikernel.banks.packed import PackedBank
from multikernel.kernels import Features
from multikernel.kernels.monomials import MonomialSum, _monomials

Array = Any


def raw(max_degree: int, n_monomials: int, grouping: str, p: int) -> list[Any]:
    """The kernels that have monomials, before they are normalised."""
    resolved = kernels.random_monomials(max_degree, n_monomials, grouping, random_state=0).resolve(Features(p))
    return [k.kernel for k in resolved if isinstance(getattr(k, "kernel", None), MonomialSum)]


def one_by_one(kernel: MonomialSum, X: Array, Z: Array) -> Array:
    """The sum over the monomials, each a product of features."""
    K = np.zeros((len(X), len(Z)))
    for variables, number in zip(*_monomials(X.shape[1], kernel.draw)[kernel.index], strict=True):
        own = variables[variables < X.shape[1]]
        K += number * np.outer(X[:, own].prod(axis=1), Z[:, own].prod(axis=1))
    return K


@pytest.mark.parametrize("grouping", ["degree", "random"])
@pytest.mark.parametrize(("max_degree", "p"), [(2, 5), (7, 3), (3, 3), (4, 1)])  # products of features, and of powers
def test_kernel_is_the_sum_over_its_monomials(grouping: str, max_degree: int, p: int) -> None:
    rng = np.random.default_rng(max_degree)
    X, new = rng.normal(size=(8, p)), rng.normal(size=(5, p))
    X[2, 0] = X[3] = 0.0
    for kernel in raw(max_degree, 700, grouping, p):
        scale = np.abs(one_by_one(kernel, X, X)).max()
        np.testing.assert_allclose(kernel(X), one_by_one(kernel, X, X), atol=1e-12 * scale)
        np.testing.assert_allclose(kernel(new, X), one_by_one(kernel, new, X), atol=1e-12 * scale)
        np.testing.assert_allclose(kernel(X, X.copy()), kernel(X), atol=1e-12 * scale)
        np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X)), atol=1e-12 * scale)


def test_more_monomials_and_samples_than_a_chunk() -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(1100, 30))
    (kernel,) = raw(3, 1200, "degree", 30)[-1:]
    want = one_by_one(kernel, X[:50], X)
    np.testing.assert_allclose(kernel(X)[:50], want, atol=1e-11)
    np.testing.assert_array_equal(kernel(X), kernel(X).T)


@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.integers(1, 6),
    degree=st.integers(0, 5),
    grouping=st.sampled_from(["degree", "random"]),
)
def test_kernels_are_symmetric_positive_semi_definite_and_finite(seed: int, p: int, degree: int, grouping: str) -> None:
    X = np.random.default_rng(seed).normal(size=(6, p))
    for kernel in kernels.random_monomials(degree, 60, grouping, random_state=seed).resolve(Features(p)):
        K = kernel(X)
        np.testing.assert_allclose(K, K.T, atol=1e-15)
        assert np.isfinite(K).all()
        assert np.linalg.eigvalsh(K).min() >= -1e-12 * len(X)
        np.testing.assert_array_equal(kernel.diagonal(X), np.diag(K))


def test_degrees_are_drawn_in_proportion_to_their_monomials() -> None:
    counts = kernels.random_monomials(4, 20_000, random_state=0).counts(3)
    assert counts.sum() == 20_000
    expected = 20_000 * 3.0 ** np.arange(5) / (3.0 ** np.arange(5)).sum()
    assert (np.abs(counts - expected) < 4.0 * np.sqrt(expected)).all()
    spread = kernels.random_monomials(4, 20_000, "random", random_state=0).counts(3)
    assert (np.abs(spread - 4_000) < 4.0 * np.sqrt(4_000)).all()


def test_counts_tell_the_zero_kernels() -> None:
    X = np.random.default_rng(0).normal(size=(20, 34))
    family = kernels.random_monomials(10, 2000, random_state=0)
    bank = bind(family, X)
    np.testing.assert_array_equal(bank.traces() == 0.0, family.counts(34) == 0)
    assert (family.counts(34) == 0).sum() >= 5
    with pytest.raises(TypeError, match="give random_state"):
        kernels.random_monomials(10, 2000).counts(34)


def test_zero_kernels_take_no_memory_and_get_no_weight() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 20))
    y = np.sign(X[:, 0] * X[:, 1] * X[:, 2])
    family = kernels.random_monomials(6, 3000, random_state=0)
    bank = bind(family, X)
    stored = [part for part in bank.banks if isinstance(part, PackedBank)]
    assert [len(part) for part in stored] == [int((family.counts(20) > 0).sum())]
    model = EasyMKLClassifier(family).fit(X, y)
    assert np.isfinite(model.weights_).all()
    assert (model.weights_[family.counts(20) == 0] == 0.0).all()
    assert np.isfinite(model.decision_function(rng.normal(size=(3, 20)))).all()


def test_kernels_are_stored_in_single_precision_before_they_are_made_on_demand() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    family = kernels.random_monomials(3, 500, "random", random_state=0)
    values = 4 * 30 * 31 // 2
    double, single, none = (bind(family, X, memory=b * values) for b in (8, 4, 3))
    assert isinstance(double, PackedBank)
    assert isinstance(single, PackedBank)
    assert isinstance(none, LazyBank)
    assert (double.packed.dtype, single.packed.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(single.matrices(), double.matrices(), atol=1e-6)
    np.testing.assert_allclose(none.matrices(), double.matrices(), atol=1e-12)


def test_family_without_a_seed_draws_anew_and_keeps_its_draw() -> None:
    family = kernels.random_monomials(3, 50)
    resolved = family.resolve(Features(4))
    assert family.resolve(Features(4)) != resolved
    assert clone(resolved) == resolved
    assert resolved.names[3] == "monomials of degree 3"


def test_overflow_is_refused() -> None:
    X = 1e20 * np.random.default_rng(0).normal(size=(5, 2))
    with pytest.raises(ValueError, match="monomials of degree 10 overflow: scale the features"):
        bind(kernels.random_monomials(10, 100, random_state=0), X)
