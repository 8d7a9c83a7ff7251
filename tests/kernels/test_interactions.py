"""ANOVA kernels against the sum over subsets, and the bank that finds all degrees together."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from multikernel import EasyMKLClassifier, bind, kernels
from multikernel.banks.lazy import LazyBank
from multikernel.banks.packed import PackedBank
from multikernel.kernels import ANOVA, RBF, Features, Kernel, Laplacian, Linear, Polynomial

Array = Any
ON_ONE = [None, RBF(0.5), Polynomial(2), Linear().normalized()]


def by_subsets(degree: int, kernel: Kernel | None, X: Array, Z: Array) -> Array:
    """The definition."""
    each = [(kernel or Linear())(X[:, [i]], Z[:, [i]]) for i in range(X.shape[1])]
    products = [np.prod([each[i] for i in s], axis=0) for s in combinations(range(len(each)), degree)]
    total: Array = np.sum(products, axis=0) if products else np.zeros((len(X), len(Z)))
    return total


@pytest.mark.parametrize("kernel", ON_ONE, ids=repr)
@pytest.mark.parametrize("degree", range(1, 7))
def test_anova_is_the_sum_over_subsets(degree: int, kernel: Kernel | None) -> None:
    rng = np.random.default_rng(degree)
    X, Z = rng.normal(size=(6, 5)), rng.normal(size=(4, 5))
    np.testing.assert_allclose(ANOVA(degree, kernel)(X, Z), by_subsets(degree, kernel, X, Z), atol=1e-12)
    np.testing.assert_allclose(ANOVA(degree, kernel).diagonal(X), np.diag(by_subsets(degree, kernel, X, X)), atol=1e-12)


def test_products_over_all_subsets_are_a_product_of_sums() -> None:
    """sum_d e_d = prod_i (1 + k_i), with far more subsets than could be listed."""
    X = 0.3 * np.random.default_rng(0).normal(size=(20, 40))
    total = sum(ANOVA(d)(X) for d in range(41))
    np.testing.assert_allclose(total, np.prod(1.0 + X[:, None, :] * X[None, :, :], axis=2), rtol=1e-10)


@given(seed=st.integers(0, 2**32 - 1), degree=st.integers(0, 5), gaussian=st.booleans())
def test_anova_is_symmetric_and_positive_semi_definite(seed: int, degree: int, gaussian: bool) -> None:
    X = np.random.default_rng(seed).normal(size=(7, 4))
    K = ANOVA(degree, RBF(0.3) if gaussian else None)(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * max(1.0, np.trace(K))


def test_tiles_of_rows_make_the_same_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(23, 4))
    whole, bank = ANOVA(2, RBF(0.5))(X), bind(kernels.anova(3, RBF(0.5)), X)
    monkeypatch.setattr("multikernel.kernels.interactions.THREADS_TILE", 70)
    monkeypatch.setattr("multikernel.banks.lazy.THREADS_TILE", 70)
    np.testing.assert_array_equal(ANOVA(2, RBF(0.5))(X), whole)
    np.testing.assert_array_equal(bind(kernels.anova(3, RBF(0.5)), X).matrices(), bank.matrices())


# -- families ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ON_ONE, ids=repr)
@pytest.mark.parametrize("normalize", [True, False])
def test_bank_of_all_degrees_is_the_kernels_one_by_one(kernel: Kernel | None, normalize: bool) -> None:
    X = np.random.default_rng(0).normal(size=(15, 4))
    X[3] = 0.0
    family = kernels.anova(6, kernel, normalize)  # degrees 5 and 6 are zero: there are four features
    bank = bind(family, X)
    assert isinstance(bank, PackedBank)
    np.testing.assert_allclose(bank.matrices(), [k(X) for k in family], atol=1e-12)
    np.testing.assert_allclose(bank.cross(X[:3] + 1.0).matrices(), [k(X[:3] + 1.0, X) for k in family], atol=1e-12)
    assert (bank.matrices()[4:] == 0.0).all()


def test_family_is_found_beside_other_kernels_in_its_order() -> None:
    X = np.random.default_rng(0).normal(size=(9, 3))
    family = [ANOVA(2), RBF(0.1), ANOVA(1).normalized(), 2.0 * ANOVA(3), ANOVA(2, RBF(1.0)), Laplacian(0.2)]
    np.testing.assert_allclose(bind(list(family), X).matrices(), [k(X) for k in family], atol=1e-12)
    np.testing.assert_allclose(
        bind([ANOVA(d).centered() for d in (1, 2)], X).matrices(), [ANOVA(d).centered()(X) for d in (1, 2)], atol=1e-12
    )


def test_beyond_the_budget_kernels_are_in_single_precision_or_made_on_demand() -> None:
    X = np.random.default_rng(0).normal(size=(9, 3))
    want = bind(kernels.anova(3), X).matrices()
    single, none = (bind(kernels.anova(3), X, memory=3 * 45 * b) for b in (4, 3))
    assert isinstance(single, PackedBank)
    assert single.packed.dtype == np.float32
    np.testing.assert_allclose(single.matrices(), want, atol=1e-6)
    np.testing.assert_allclose(single.exact([2, 0]).matrices(), want[[2, 0]], atol=1e-12)
    assert isinstance(none, LazyBank)
    np.testing.assert_allclose(none.matrices(), want, atol=1e-12)


def test_sparse_and_single_precision_samples() -> None:
    X = np.random.default_rng(0).normal(size=(9, 5)) * (np.random.default_rng(1).random((9, 5)) < 0.6)
    dense = bind(kernels.anova(3), X).matrices()
    np.testing.assert_allclose(bind(kernels.anova(3), sparse.csr_array(X)).matrices(), dense, atol=1e-12)
    single = bind(kernels.anova(3), X.astype(np.float32))
    assert single.matrices().dtype == np.float32
    np.testing.assert_allclose(single.matrices(), dense, atol=1e-5)


@pytest.mark.parametrize("kernel", [RBF("scale"), Polynomial(2, gamma="scale")], ids=repr)
def test_a_width_is_learned_from_all_features_together(kernel: Kernel) -> None:
    X = np.random.default_rng(0).normal(size=(9, 3)) * [1.0, 10.0, 100.0]
    of_all = ANOVA(2, kernel.learned(X.reshape(-1, 1)))
    np.testing.assert_allclose(ANOVA(2, kernel)(X), of_all(X), rtol=1e-12)
    np.testing.assert_allclose(ANOVA(2, kernel)(X[:4], X), of_all(X[:4], X), rtol=1e-12)
    np.testing.assert_allclose(ANOVA(2, kernel).diagonal(X), of_all.diagonal(X), rtol=1e-12)
    np.testing.assert_allclose(bind(ANOVA(2, kernel), X).matrix(0), of_all(X), rtol=1e-12)


def test_family_of_degrees() -> None:
    family = kernels.anova(3, RBF(0.5))
    assert list(family) == [ANOVA(d, RBF(0.5)).normalized() for d in (1, 2, 3)]
    assert clone(family).resolve(Features(4)) == family.resolve(Features(4))
    assert list(kernels.anova(2, normalize=False)) == [ANOVA(1), ANOVA(2)]


def test_the_degree_of_an_interaction_is_found() -> None:
    """The class is the sign of a product of two features: no weight is needed but that of pairs."""
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(120, 5))
    y = X[:, 1] * X[:, 3]
    model = EasyMKLClassifier(kernels.anova(4), lam=0.0).fit(X[:80], y[:80])
    assert np.argmax(model.weights_) == 1
    assert model.score(X[80:], y[80:]) == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ANOVA(-1), "ANOVA: degree must be an integer in .*, got -1"),
        (lambda: ANOVA(2, RBF(1.0).centered()), "cannot be part of a product"),
        (lambda: kernels.anova(0), "anova: max_degree must be an integer in .*, got 0"),
        (
            lambda: bind(kernels.anova(2, RBF(1.0).on(1)), np.eye(3)),
            "column 1 is out of range: the data have 1 columns",
        ),
    ],
)
def test_mistakes_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
