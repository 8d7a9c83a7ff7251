"""Combinations against their formulas, their gradients against differences, features against matrices."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import reference as ref
from multikernel import KernelBank, bind, kernels, precomputed
from multikernel.banks import DenseGram, FactorGram
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF, ScaledProfile
from multikernel.kernels import RBF, Polynomial

Array = Any
RNG = np.random.default_rng(0)
X, NEW, Y = RNG.normal(size=(14, 3)), RNG.normal(size=(5, 3)), np.where(np.arange(14) % 3 == 0, 1.0, -1.0)
LONG = RNG.normal(size=(60, 3))  # enough samples for monomials of the features to be fewer

COMBINATIONS: dict[str, Combination] = {
    "linear": Linear(),
    "power-1": HadamardPower(1),
    "power-2": HadamardPower(2),
    "power-3": HadamardPower(3),
    "product": ProductOfRBF(),
}
FAMILIES: dict[str, Any] = {
    "mixed": [RBF(0.3), Polynomial(2), kernels.Linear().on([0]), Polynomial(2).on([1, 2])],
    "features": kernels.linear_features(),
    "groups": [kernels.Linear().on([0, 1]), kernels.Linear().on([2]), kernels.Linear().on([1, 0, 2])],
    "centered": [RBF(0.3).centered(), Polynomial(2).centered()],
    "normalized": [Polynomial(2).normalized(), RBF(0.3), kernels.Linear().normalized()],
}
combinations = pytest.mark.parametrize("name", COMBINATIONS)
families = pytest.mark.parametrize("family", FAMILIES)
samples = pytest.mark.parametrize("Z", [X, LONG], ids=["short", "long"])


def bound(name: str, family: str, Z: Array = X) -> KernelBank:
    """The bank that a combination takes."""
    bank = bind(FAMILIES[family], Z)
    return bank.distances() if name == "product" else bank


def value(name: str, K: Array, theta: Array) -> Array:
    """The combination of a stack (m, r, c), as its formula says."""
    total = ref.combine(K, theta)
    return np.exp(-total) if name == "product" else total ** getattr(COMBINATIONS[name], "degree", 1)


def form(name: str, K: Array, theta: Array, A: Array) -> float:
    return float(np.vdot(A, value(name, K, theta) @ A))


def weights(m: int) -> Array:
    return np.random.default_rng(1).random(m) + 0.1


@combinations
@families
@samples
def test_matrix_is_what_the_formula_says(name: str, family: str, Z: Array) -> None:
    bank = bound(name, family, Z)
    theta = weights(len(bank))
    for part in (bank, bank.cross(NEW), bank.block([3, 0], slice(4, 9)), bank.reference().cross(NEW)):
        gram, want = COMBINATIONS[name].gram(part, theta), value(name, part.matrices(), theta)
        assert gram.shape == part.shape
        np.testing.assert_allclose(gram.dense(), want, rtol=1e-9, atol=1e-10)
        v = np.cos(np.arange(part.shape[1]))
        np.testing.assert_allclose(gram.multiply(v), want @ v, rtol=1e-8, atol=1e-8)


@combinations
@families
@samples
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_pullback_is_the_difference_of_the_form(name: str, family: str, Z: Array, columns: int) -> None:
    bank = bound(name, family, Z)
    theta, step = weights(len(bank)), 1e-5
    A = 0.3 * np.random.default_rng(2).normal(size=(len(Z), columns) if columns else len(Z))
    q, K = COMBINATIONS[name].pullback(bank, theta, A), bank.matrices()
    assert q.shape == (len(bank),)
    for k, e in enumerate(step * np.eye(len(bank))):
        difference = (form(name, K, theta + e, A) - form(name, K, theta - e, A)) / (2.0 * step)
        assert q[k] == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(q).max())


@combinations
@pytest.mark.parametrize("columns", [1, 2, 40])
def test_features_and_matrices_agree(name: str, columns: int) -> None:
    factor, stored = bind(kernels.linear_features(), LONG), precomputed(np.einsum("ik,jk->kij", LONG, LONG))
    assert isinstance(factor.combine(np.ones(3)), FactorGram)
    if name == "product":
        factor, stored = factor.distances(), stored.distances()
    theta, A, combination = weights(3), np.random.default_rng(3).normal(size=(60, columns)), COMBINATIONS[name]
    want = combination.gram(stored, theta).dense()
    np.testing.assert_allclose(combination.gram(factor, theta).dense(), want, rtol=1e-9, atol=1e-10)
    q = combination.pullback(stored, theta, A)
    np.testing.assert_allclose(combination.pullback(factor, theta, A), q, rtol=1e-8)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_features_of_other_libraries_give_what_those_of_numpy_give(degree: int) -> None:
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    bank, elsewhere = (bind(kernels.linear_features(), Z) for Z in (LONG, strict.asarray(LONG)))
    theta, A, combination = weights(3), np.random.default_rng(3).normal(size=(60, 2)), HadamardPower(degree)
    want = combination.gram(bank, theta).dense()
    np.testing.assert_allclose(combination.gram(elsewhere, theta).dense(), want, rtol=1e-9, atol=1e-10)
    for derivatives in (combination.pullback, combination.images, combination.second):
        np.testing.assert_allclose(derivatives(elsewhere, theta, A), derivatives(bank, theta, A), atol=1e-8)


def test_parameters_of_another_number_are_refused() -> None:
    bank = ColumnDistancesBank.of(X)
    for theta in (np.ones(2), np.ones(7)):
        with pytest.raises(ValueError, match=f"1 kernels of 3 distances have 4 parameters, got {len(theta) + 1}"):
            ScaledProfile(RBF(1.0)).gram(bank, theta)


@combinations
def test_rank_one_kernels_are_never_a_stack(name: str) -> None:
    n, p = 40, 300
    wide = np.random.default_rng(4).normal(size=(n, p))
    small = bound(name, "features")
    COMBINATIONS[name].pullback(small, weights(3), Y)  # whatever is compiled or imported is there from now on
    tracemalloc.start()
    try:
        bank = bound(name, "features", wide)
        COMBINATIONS[name].gram(bank, np.full(p, 1.0 / p)).dense()
        COMBINATIONS[name].pullback(bank, np.full(p, 1.0 / p), np.ones(n))
        assert tracemalloc.get_traced_memory()[1] <= 6 * wide.nbytes  # a stack takes n = 40 times as much
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_powers_of_few_features_stay_features(degree: int) -> None:
    bank, theta = bind(kernels.linear_features(), LONG), np.array([0.4, 1.3, 0.2])
    gram = HadamardPower(degree).gram(bank, theta)
    assert isinstance(gram, FactorGram)
    shifted = gram.dense() + 0.1 * np.eye(60)
    np.testing.assert_allclose(gram.solve_shifted(0.1, LONG[:, 0]), np.linalg.solve(shifted, LONG[:, 0]), rtol=1e-6)
    np.testing.assert_allclose(gram.diagonal(), np.diag(gram.dense()), rtol=1e-12)
    assert isinstance(HadamardPower(degree).gram(bank.block(slice(11), slice(11)), theta), DenseGram)


@pytest.mark.parametrize("degree", [2, 3])
def test_kernels_without_weight_take_no_part(degree: int) -> None:
    bank, theta = bind(kernels.linear_features(), LONG), np.array([0.4, 0.0, 0.2])
    K = bank.matrices()
    np.testing.assert_allclose(
        HadamardPower(degree).gram(bank, theta).dense(), ref.combine(K, theta) ** degree, atol=1e-12
    )
    want = ref.inner(K, degree * np.outer(LONG[:, 0], LONG[:, 0]) * ref.combine(K, theta) ** (degree - 1))
    np.testing.assert_allclose(HadamardPower(degree).pullback(bank, theta, LONG[:, 0]), want, rtol=1e-9)


@pytest.mark.parametrize("family", ["features", "mixed"])
@samples
def test_power_of_no_weights_is_zero(family: str, Z: Array) -> None:
    bank = bind(FAMILIES[family], Z)
    theta = np.zeros(len(bank))
    gram = HadamardPower(2).gram(bank, theta)
    np.testing.assert_array_equal(gram.dense(), np.zeros(bank.shape))
    np.testing.assert_allclose(gram.solve_shifted(0.5, np.ones(len(Z))), np.full(len(Z), 2.0))
    np.testing.assert_array_equal(HadamardPower(2).pullback(bank, theta, np.ones(len(Z))), theta)


def test_sparse_features_are_combined_like_dense_ones() -> None:
    dense, thin = bind(kernels.linear_features(), LONG), bind(kernels.linear_features(), sparse.csr_array(LONG))
    theta, A = weights(3), LONG[:, 0]
    for combination in (HadamardPower(2), HadamardPower(3)):
        want = combination.gram(dense, theta).dense()
        np.testing.assert_allclose(combination.gram(thin, theta).dense(), want, rtol=1e-9, atol=1e-12)
        q = combination.pullback(dense, theta, A)
        np.testing.assert_allclose(combination.pullback(thin, theta, A), q, rtol=1e-9)


def test_the_combined_matrix_leaves_the_bank_alone() -> None:
    bank, theta = bind(FAMILIES["mixed"], X), weights(4)
    before = bank.matrices()
    for combination in (HadamardPower(2), HadamardPower(3), ProductOfRBF()):
        combination.gram(bank, theta)
        combination.pullback(bank, theta, Y)
    np.testing.assert_array_equal(bank.matrices(), before)


# -- what is known of each -------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_powers_are_homogeneous(seed: int, degree: int) -> None:
    """theta'q = degree tr A'KA (Euler)."""
    rng = np.random.default_rng(seed)
    bank, theta, A = bind(FAMILIES["mixed"], X), rng.random(4), rng.normal(size=14)
    combination = HadamardPower(degree)
    size = degree * A @ combination.gram(bank, theta).multiply(A)
    assert theta @ combination.pullback(bank, theta, A) == pytest.approx(size, rel=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_scores_of_powers_are_not_negative(seed: int, degree: int) -> None:
    rng = np.random.default_rng(seed)
    bank = bind(FAMILIES["mixed"], X)
    assert (HadamardPower(degree).pullback(bank, rng.random(4), rng.normal(size=14)) >= -1e-9).all()


def test_product_of_features_has_a_width_for_each() -> None:
    theta = np.array([0.1, 2.0, 0.5])
    bank = bind(kernels.linear_features(), X).distances()
    widths = X * np.sqrt(theta)
    np.testing.assert_allclose(ProductOfRBF().gram(bank, theta).dense(), RBF(1.0)(widths), rtol=1e-12)
    new = ProductOfRBF().gram(bank.cross(NEW), theta).dense()
    np.testing.assert_allclose(new, RBF(1.0)(NEW * np.sqrt(theta), widths), rtol=1e-12)


def test_product_is_a_kernel_with_ones_on_the_diagonal() -> None:
    far = np.concatenate([1e6 + 1e-3 * X, 1e6 + 1e-3 * X[:2]])  # differences that rounding leaves below 0
    K = ProductOfRBF().gram(bind(kernels.linear_features(), far).distances(), np.ones(3)).dense()
    np.testing.assert_array_equal(np.diag(K), 1.0)
    assert K.max() <= 1.0


def test_one_parameter_for_each_kernel() -> None:
    for name, combination in COMBINATIONS.items():
        assert combination.n_parameters(bound(name, "mixed")) == 4


def test_only_sums_are_linear() -> None:
    assert {name for name, c in COMBINATIONS.items() if c.linear} == {"linear", "power-1"}


@pytest.mark.parametrize("degree", [0, -1, 1.5, np.nan])
def test_degree_is_a_whole_number(degree: Any) -> None:
    with pytest.raises(ValueError, match="HadamardPower: degree must be an integer in"):
        HadamardPower(degree)


@combinations
def test_combinations_are_values(name: str) -> None:
    combination = COMBINATIONS[name]
    assert pickle.loads(pickle.dumps(combination)) == combination
    assert hash(combination) == hash(pickle.loads(pickle.dumps(combination)))
