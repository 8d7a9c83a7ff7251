"""The passes of a bank, each compared with the same operation on its dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._arrays import host
from multikernel._typing import Array
from multikernel.banks import DenseGram, Gram, KernelBank
from multikernel.testing.assertions import require
from multikernel.testing.comparison import close

_DOUBLE = 1e-10  # differences up to this count as rounding in double precision
_SINGLE = 5e-6  # and up to this in single precision, whose unit roundoff is 6e-8


def tolerance(bank: KernelBank) -> float:
    """The relative difference of sums of positive terms that counts as rounding in this bank."""
    if bank.rounding <= 2.0**-53:
        return _DOUBLE
    return _SINGLE


def check_passes(label: str, bank: KernelBank, K: Array | None) -> Array:
    """Check the passes of a bank of any shape; returns the matrices that it was compared with."""
    rng = np.random.default_rng(1)
    tol = tolerance(bank)
    if K is None:
        K = bank.matrices()
    (m, r, c) = K.shape
    size = np.abs(K)
    shape = (len(bank), *bank.shape)
    require(shape == (m, r, c), f"{label}: holds {shape[0]} matrices of shape {shape[1:]}, expected {m} of {(r, c)}")
    close(f"{label}: matrices", bank.matrices(), K, tol)
    close(f"{label}: tiles", np.array([np.array(tile) for tile in bank.tiles(slice(0, 3))]), K[:, :3], tol, size)
    W = np.stack([rng.random(m), rng.normal(size=m), np.eye(1, m, m - 1)[0], np.zeros(m)])
    for w, gram in zip(W, bank.combine_all(W), strict=True):
        _check_gram(f"{label}: combine_all", gram, K, w, tol)
    _check_gram(f"{label}: combine", bank.combine(W[0]), K, W[0], tol)
    total = bank.total(W[0])
    close(f"{label}: total", host(total), np.tensordot(W[0], K, 1), tol, np.tensordot(W[0], size, 1))
    if isinstance(total, np.ndarray):
        total[...] = 0.0  # callers may write into the result without changing the bank
    C = rng.normal(size=(c, 3))
    M = rng.normal(size=(r, c))
    close(f"{label}: apply", bank.apply(C), K @ C, tol, size @ np.abs(C))
    close(f"{label}: inner", bank.inner(M), _inner(K, M), tol, _inner(size, np.abs(M)))
    close(f"{label}: pairs", bank.pairs(), _pairs(K, 1.0), tol, _pairs(size, 1.0))
    N = M @ M.T if bank.square else M
    close(f"{label}: pairs with weights", bank.pairs(N), _pairs(K, N), tol, _pairs(size, np.abs(N)))
    close(f"{label}: hadamard_apply", bank.hadamard_apply(DenseGram(N), C), (N * K) @ C, tol, np.abs(N) * size @ abs(C))
    return K


def _check_gram(label: str, gram: Gram, K: Array, w: Array, tol: float) -> None:
    """Check the combined matrix as an array and as an operator."""
    rng = np.random.default_rng(2)
    want = np.tensordot(w, K, 1)
    size = np.tensordot(np.abs(w), np.abs(K), 1)
    V = rng.normal(size=(K.shape[2], 2))
    require(gram.shape == want.shape, f"{label}: the Gram has shape {gram.shape}, expected {want.shape}")
    close(f"{label}: dense", gram.dense(), want, tol, size)
    close(f"{label}: multiply", gram.multiply(V), want @ V, tol, size @ np.abs(V))
    close(f"{label}: multiply by a vector", gram.multiply(V[:, 0]), want @ V[:, 0], tol, size @ np.abs(V))
    close(f"{label}: rows", gram.rows(np.arange(len(want))[::-2]), want[::-2], tol, size)


def check_square(label: str, bank: KernelBank, K: Array | None) -> None:
    """Check the passes of a bank, and those that only a bank of a training sample has."""
    require(bank.square, f"{label}: rows and columns are the same samples, and it says that it is not square")
    K = check_passes(label, bank, K)
    rng = np.random.default_rng(3)
    tol = tolerance(bank)
    size = np.abs(K)
    n = K.shape[1]
    few = np.where(np.arange(n)[:, None] < max(2, n // 4), rng.normal(size=(n, 2)), 0.0)
    for name, A in (("a matrix", rng.normal(size=(n, 3))), ("few samples", few), ("zeros", np.zeros((n, 1)))):
        forms = _forms(K, A)
        sizes = _forms(size, np.abs(A))
        close(f"{label}: quads of {name}", bank.quads(A), forms, tol, sizes)
        close(f"{label}: quad of {name}", bank.quad(A), forms.sum(axis=1), tol, sizes)
        close(f"{label}: quad of a vector of {name}", bank.quad(A[:, 0]), forms[:, 0], tol, sizes)
        N = A @ A.T
        close(f"{label}: pair_forms of {name}", bank.pair_forms(A), _pairs(K, N), tol, _pairs(size, np.abs(N)))
    close(f"{label}: quads of no vector", bank.quads(np.zeros((n, 0))), np.zeros((len(K), 0)), tol)
    close(f"{label}: diagonal", bank.diagonal(), np.einsum("kii->ki", K), tol, size)
    close(f"{label}: traces", bank.traces(), np.einsum("kii->k", K), tol, np.einsum("kii->k", size))
    _check_system(label, bank, K)


def _check_system(label: str, bank: KernelBank, K: Array) -> None:
    """Check solutions of linear systems of the combined matrix, where it is positive semi-definite."""
    rng = np.random.default_rng(4)
    tol = 100.0 * tolerance(bank)
    w = rng.random(len(K))
    B = rng.normal(size=(K.shape[1], 2))
    S = np.tensordot(w, K, 1)
    gram = bank.combine(w)
    rows = np.arange(K.shape[1])[::-3]
    close(f"{label}: diagonal of combine", gram.diagonal(), np.diag(S), tol)
    shift = float(np.abs(S).max()) + 0.5
    if np.linalg.eigvalsh(S).min() >= -tol * shift:
        shifted = S + shift * np.eye(len(S))
        close(f"{label}: solve_shifted", gram.solve_shifted(shift, B), np.linalg.solve(shifted, B), tol, 10.0)
        solution = np.linalg.solve(shifted[np.ix_(rows, rows)], B[rows])
        close(
            f"{label}: solve_shifted on some samples", gram.solve_shifted(shift, B[rows], on=rows), solution, tol, 10.0
        )


def _inner(K: Array, M: Array) -> Array:
    return np.einsum("kij,ij->k", K, M)


def _forms(K: Array, A: Array) -> Array:
    return np.einsum("it,kit->kt", A, K @ A)


def _pairs(K: Array, N: Any) -> Array:
    return np.einsum("jab,kab->jk", N * K, K, optimize=True)
