"""An inverse in the blocks of folds, beside the inverse as one array."""

import numpy as np
import pytest

from multikernel import MultipleKernelRidgeCV, kernels, precomputed
from multikernel.procedures.ridge_cv import held_out
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.inverse_by_folds import InverseByFolds
from multikernel.procedures.ridge_cv.residuals import HeldOut

N = 47
V = np.array([0.3, 0.0, 2.0])


def stack(n=N, seed=0):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(n, p)) for p in (3, 20, 60)]
    return np.stack([X @ X.T for X in parts])


def folds_of(count):
    """Of unequal sizes, scattered over the samples."""
    labels = np.random.default_rng(1).integers(0, count, N)
    labels[:count] = np.arange(count)
    return Folds(labels, count)


@pytest.mark.parametrize("count", [2, 3, 5, 10])
class TestBlocks:
    def test_products_are_those_of_the_whole(self, count):
        K, folds = stack(), folds_of(count)
        found = InverseByFolds.of(precomputed(K), V, folds)
        H = np.linalg.inv(np.tensordot(V, K, 1) + np.eye(N))
        B = np.random.default_rng(2).normal(size=(N, 4))
        assert len(found) == N
        np.testing.assert_allclose(found.times(B), H @ B, rtol=0, atol=1e-13)
        counts = np.arange(2 * N).reshape(N, 2)
        np.testing.assert_allclose(found.times(counts), H @ counts, rtol=0, atol=1e-11)
        beyond = found.beyond_folds(B)
        for f, rows in enumerate(folds.tests()):
            others = folds.labels != f
            np.testing.assert_allclose(found.times_in_fold(f, B), (H @ B)[rows], rtol=0, atol=1e-13)
            np.testing.assert_allclose(beyond[others, f], H[np.ix_(others, rows)] @ B[rows], rtol=0, atol=1e-13)
            assert not beyond[rows, f].any()

    def test_machines_of_training_samples(self, count):
        K, folds = stack(), folds_of(count)
        A = np.tensordot(V, K, 1) + np.eye(N)
        X = np.random.default_rng(3).normal(size=(count, 2, N))
        expected = np.zeros_like(X)
        for f in range(count):
            own = folds.labels != f
            X[f][:, ~own] = 0.0
            expected[f][:, own] = np.linalg.solve(A[np.ix_(own, own)], X[f][:, own].T).T
        before = X.copy()
        found = InverseByFolds.of(precomputed(K), V, folds).trained(X)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(X, before)

    def test_errors_are_those_of_the_whole(self, count):
        K, folds = stack(), folds_of(count)
        bank = precomputed(K)
        held = HeldOut(np.random.default_rng(4).normal(size=(N, 3)), folds)
        whole = held.residuals_of(held.inverse(bank.total(V)))
        parts = held.residuals_of(held.inverse_by_folds(bank, V))
        np.testing.assert_allclose(parts.errors, whole.errors, rtol=1e-12)
        np.testing.assert_allclose(parts.values, whole.values, rtol=0, atol=1e-12)


def test_a_kernel_that_is_not_definite_is_told():
    K = stack()
    K[0] -= 2.0 * np.eye(N)
    held = HeldOut(np.ones((N, 1)), folds_of(3))
    bank = precomputed(K, psd=10.0)
    assert held.inverse_by_folds(bank, np.array([1.0, 0.0, 0.0])) is None
    assert held.inverse_by_folds(bank, np.array([0.0, 1e300, 1e308])) is None


def test_an_ill_conditioned_matrix():
    """Large weights: the coefficients of a fold solve its equations as well as those of one inverse do."""
    K, folds = stack(), folds_of(5)
    v = np.array([1e6, 1e4, 1e5])
    A = np.tensordot(v, K, 1) + np.eye(N)
    B = np.random.default_rng(5).normal(size=(N, 4))
    scale = np.abs(A).max() * np.abs(np.linalg.solve(A, B)).max()
    assert np.abs(A @ InverseByFolds.of(precomputed(K), v, folds).times(B) - B).max() <= 1e-9 * scale


@pytest.mark.crossed
@pytest.mark.parametrize("family", ["precomputed", "evaluated"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_models_of_large_matrices_are_those_of_small_ones(monkeypatch, family, fit_intercept):
    """The same fit with the inverse as one array, and in blocks of the folds."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(150, 200))
    parts = [np.arange(20), np.arange(20, 80), np.arange(80, 200)]
    used = (np.arange(8)[:, None] >> np.arange(3)) & 1
    Y = sum(X[:, own] @ rng.normal(size=(len(own), 8)) / np.sqrt(len(own)) * used[:, k] for k, own in enumerate(parts))
    Y += rng.normal(size=Y.shape)
    given = np.stack([X[:, own] @ X[:, own].T for own in parts])
    spaces = "precomputed"
    if family == "evaluated":
        given, spaces = X, [kernels.RBF(1.0 / len(own)).on(list(own)) for own in parts]
    made = []
    original = InverseByFolds.of
    monkeypatch.setattr(InverseByFolds, "of", lambda *given: made.append(1) or original(*given))

    def fitted():
        return MultipleKernelRidgeCV(spaces, fit_intercept=fit_intercept, random_state=0, cv=3).fit(given, Y)

    whole = fitted()
    assert not made
    monkeypatch.setattr(held_out, "BUFFER_VALUES", 100)
    blocks = fitted()
    assert made
    assert blocks.stationarity_ <= 1e-4
    np.testing.assert_allclose(blocks.cv_loss_, whole.cv_loss_, rtol=1e-4)
    np.testing.assert_allclose(blocks.predict(given), whole.predict(given), rtol=0, atol=1e-2)
