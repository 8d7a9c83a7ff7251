"""Grams of every form do what their dense matrix does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from multikernel.banks import DenseGram, FactorGram, Gram, thin_root
from multikernel.banks.factor import FactorBank
from multikernel.machines import RidgeMachine

Array = Any
N = 12


def factor(q: int, form: Any = np.asarray, weights: Array | None = None) -> FactorGram:
    F = form(np.random.default_rng(q).normal(size=(N, q)))
    return FactorGram(F, np.linspace(0.0, 2.0, q) if weights is None else weights, F)


GRAMS = {
    "dense": lambda: DenseGram(factor(20).dense()),
    "by columns": lambda: DenseGram(np.asfortranarray(factor(20).dense())),
    "a view": lambda: DenseGram(np.kron(factor(20).dense(), np.ones((2, 2)))[::2, ::2]),
    "single precision": lambda: DenseGram(factor(20).dense().astype(np.float32)),
    "few features": lambda: factor(5),
    "few features by columns": lambda: factor(5, np.asfortranarray),
    "few features, single precision": lambda: factor(5, np.float32),
    "few sparse features": lambda: factor(5, sparse.csr_array),
    "as many features": lambda: factor(N),
    "many sparse features": lambda: factor(20, sparse.csr_array),
    "a negative weight": lambda: factor(5, weights=np.array([2.0, 1.0, 1.0, 3.0, -1e-18])),
}
grams = pytest.mark.parametrize("name", GRAMS)


def tolerance(gram: Gram) -> float:
    single = "float32" in str(gram.K.dtype if isinstance(gram, DenseGram) else gram.F.dtype)
    return 1e-4 if single else 1e-10


@grams
@pytest.mark.parametrize("shape", [(N,), (N, 1), (N, 3), (N, 0)])
def test_multiply(name: str, shape: tuple[int, ...]) -> None:
    gram = GRAMS[name]()
    V = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_allclose(gram.multiply(V), gram.dense() @ V, atol=tolerance(gram))
    assert gram.multiply(V).shape == shape


@grams
@pytest.mark.parametrize("shape", [(N,), (N, 3)])
def test_solve(name: str, shape: tuple[int, ...]) -> None:
    gram = GRAMS[name]()
    B = np.random.default_rng(0).normal(size=shape)
    want = np.linalg.solve(gram.dense().astype(float) + 0.7 * np.eye(N), B)
    np.testing.assert_allclose(gram.solve_shifted(0.7, B), want, atol=tolerance(gram))


@grams
def test_congruent(name: str) -> None:
    gram, scale = GRAMS[name](), np.linspace(-1.0, 2.0, N)
    found = gram.congruent(scale)
    np.testing.assert_allclose(found.dense(), np.diag(scale) @ gram.dense() @ np.diag(scale), atol=tolerance(gram))
    assert type(found) is type(gram)
    assert sparse.issparse(getattr(found, "F", None)) == sparse.issparse(getattr(gram, "F", None))


@grams
def test_spectrum(name: str) -> None:
    gram = GRAMS[name]()
    values, U = gram.spectrum()
    np.testing.assert_allclose((U * values) @ U.T, gram.dense(), atol=tolerance(gram))
    np.testing.assert_allclose(U.T @ U, np.eye(len(values)), atol=1e-10)
    assert values.dtype == U.dtype == np.float64
    if name.startswith("few"):
        assert U.shape == (N, 5)


@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("q", [4, 10, 30])
def test_a_thin_root_is_a_root(q: int, precision: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sums with other weights, too, for which no product of features is computed anew where they are few."""
    F = np.random.default_rng(q).normal(size=(N, q)).astype(precision)
    bank, computed = FactorBank(F, F, np.full(q // 2, 2), np.arange(q)), []
    squared = thin_root.squared
    monkeypatch.setattr(thin_root, "squared", lambda *given: computed.append(len(given)) or squared(*given))
    M = np.random.default_rng(0).normal(size=(N, 3))
    for some in (np.array([0]), np.array([0, q // 2 - 1])):
        w = np.zeros(q // 2)
        w[some] = 0.3 + some
        gram = bank.combine(w)
        root, G = gram.thin(), F[:, np.repeat(w > 0, 2)] * np.sqrt(np.repeat(w[w > 0], 2))
        np.testing.assert_allclose(root.square(), G.T @ G, rtol=1e-5, atol=1e-5)
        assert root.square().flags.f_contiguous
        np.testing.assert_allclose(root.inner(M), G.T @ M, atol=1e-5)
        np.testing.assert_allclose(root.outer(M[: G.shape[1]]), G @ M[: G.shape[1]], atol=1e-5)
        K = gram.dense()
        np.testing.assert_allclose(K, G.astype(float) @ G.T, atol=1e-5)
        np.testing.assert_array_equal(K, K.T)
    assert len(computed) == (1 if q <= 2 * N else 4)


def test_a_kernel_of_no_features_is_solved_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    """LAPACK writes a line where an array is empty, and raises nothing."""
    F = np.zeros((5, 0))
    found = RidgeMachine(1.0).solve(FactorGram(F, np.zeros(0), F), np.arange(5.0))
    assert found.value == pytest.approx(10.0)
    assert "DSYRK" not in "".join(capfd.readouterr())
