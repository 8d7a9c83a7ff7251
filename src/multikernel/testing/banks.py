"""The conformance suite of banks: whatever form a bank has, it computes what its dense matrices say."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks import DenseGram, KernelBank
from multikernel.testing.comparison import close

_DOUBLE, _SINGLE = 1e-10, 5e-6  # what counts as rounding of entries in double and in single precision


def check_bank(
    bank: KernelBank,
    matrices: Array | Callable[[Index, Index], Array] | None = None,
    *,
    new: Any = None,
    new_matrices: Array | Callable[[Index], Array] | None = None,
    self_values: Array | None = None,
) -> None:
    """Assert that a bank on a training sample computes what its matrices say.

    Every pass is compared with the dense matrices, on the bank itself, on folds and held-out parts, on some of the
    kernels, against new samples, in double precision (``exact``) and after pickling.

    Parameters
    ----------
    bank : a square KernelBank of at least 12 samples and 2 kernels
    matrices : array (m, n, n), the matrices as they should be; the bank's own if not given, and then only the passes
        are checked. A bank that is not ``local`` takes a function of rows and columns, by position: the matrices
        (m, r, c) of these rows where these columns are the training sample.
    new : two or more new samples, in the form that ``bank.cross`` takes; nothing is checked against new samples if not
        given
    new_matrices : array (m, n_new, n), their matrices against the training sample; or a function of the columns, as
        above
    self_values : array (m, n_new), k(x, x) of the new samples; not checked if not given

    Raises
    ------
    AssertionError : where the bank computes something else; the message says what.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.testing import check_bank
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> family = kernels.rbf_grid([0.1, 1.0])
    >>> check_bank(bind(family, X), np.stack([kernel(X) for kernel in family]), new=X[:4] + 1.0)
    """
    n = bank.shape[0]
    assert bank.square, "check_bank: the bank of a training sample is square"
    assert n >= 12, f"check_bank: needs at least 12 samples, got {n}"
    assert len(bank) >= 2, f"check_bank: needs at least 2 kernels, got {len(bank)}"
    truth = _Truth.of(bank, matrices)
    _check_square("the bank", bank, truth.block(slice(None), slice(None)))
    _check_parts(bank, truth)
    _check_kernels(bank, truth)
    _check_copies(bank, truth)
    if new is not None:
        _check_new_samples(bank, new, new_matrices)
    if self_values is not None:
        close("self_values of new samples", bank.self_values(new), self_values, 10.0 * _tol(bank))


@dataclass(frozen=True)
class _Truth:
    """The matrices of blocks as they should be, where they are known."""

    local: bool
    whole: Array | None
    function: Callable[[Index, Index], Array] | None

    @classmethod
    def of(cls, bank: KernelBank, matrices: Array | Callable[[Index, Index], Array] | None) -> _Truth:
        function = matrices if callable(matrices) else None
        whole = bank.matrices() if matrices is None else None if callable(matrices) else np.asarray(matrices)
        return cls(bank.local, whole, function)

    def block(self, rows: Index, columns: Index) -> Array | None:
        if self.function is not None:
            return self.function(rows, columns)
        everything = all(isinstance(i, slice) and i == slice(None) for i in (rows, columns))
        if self.whole is None or not (self.local or everything):
            return None
        return self.whole[:, rows][:, :, columns]


def _tol(bank: KernelBank) -> float:
    return _DOUBLE if bank.rounding <= 2.0**-53 else _SINGLE


# -- passes ------------------------------------------------------------------------------------------------------------


def _check_passes(what: str, bank: KernelBank, K: Array | None) -> Array:
    """What a bank of any shape computes; returns the matrices that it was compared with."""
    rng, tol = np.random.default_rng(1), _tol(bank)
    K = bank.matrices() if K is None else K
    (m, r, c), size = K.shape, np.abs(K)
    found = (len(bank), *bank.shape)
    assert found == (m, r, c), f"{what}: holds {found[0]} matrices of shape {found[1:]}, expected {m} of {(r, c)}"
    close(f"{what}: matrices", bank.matrices(), K, tol)
    close(f"{what}: tiles", np.array([np.array(tile) for tile in bank.tiles(slice(0, 3))]), K[:, :3], tol, size)
    W = np.stack([rng.random(m), rng.normal(size=m), np.eye(1, m, m - 1)[0], np.zeros(m)])
    for w, gram in zip(W, bank.combine_all(W), strict=True):
        _check_gram(f"{what}: combine_all", gram, K, w, tol)
    _check_gram(f"{what}: combine", bank.combine(W[0]), K, W[0], tol)
    C, M = rng.normal(size=(c, 3)), rng.normal(size=(r, c))
    close(f"{what}: apply", bank.apply(C), K @ C, tol, size @ np.abs(C))
    close(f"{what}: inner", bank.inner(M), _inner(K, M), tol, _inner(size, np.abs(M)))
    close(f"{what}: pairs", bank.pairs(), _pairs(K, 1.0), tol, _pairs(size, 1.0))
    N = M @ M.T if bank.square else M
    close(f"{what}: pairs with weights", bank.pairs(N), _pairs(K, N), tol, _pairs(size, np.abs(N)))
    close(f"{what}: hadamard_apply", bank.hadamard_apply(DenseGram(N), C), (N * K) @ C, tol, np.abs(N) * size @ abs(C))
    return K


def _check_gram(what: str, gram: Any, K: Array, w: Array, tol: float) -> None:
    """The combined matrix as an array, and as an operator."""
    rng = np.random.default_rng(2)
    want, size = np.tensordot(w, K, 1), np.tensordot(np.abs(w), np.abs(K), 1)
    V = rng.normal(size=(K.shape[2], 2))
    assert gram.shape == want.shape, f"{what}: the Gram has shape {gram.shape}, expected {want.shape}"
    close(f"{what}: dense", gram.dense(), want, tol, size)
    close(f"{what}: multiply", gram.multiply(V), want @ V, tol, size @ np.abs(V))
    close(f"{what}: multiply by a vector", gram.multiply(V[:, 0]), want @ V[:, 0], tol, size @ np.abs(V))
    close(f"{what}: rows", gram.rows(np.arange(len(want))[::-2]), want[::-2], tol, size)


def _check_square(what: str, bank: KernelBank, K: Array | None) -> None:
    """What a bank of a training sample computes besides."""
    assert bank.square, f"{what}: rows and columns are the same samples, and it says that it is not square"
    K = _check_passes(what, bank, K)
    rng, tol, size, n = np.random.default_rng(3), _tol(bank), np.abs(K), K.shape[1]
    few = np.where(np.arange(n)[:, None] < max(2, n // 4), rng.normal(size=(n, 2)), 0.0)
    for name, A in (("a matrix", rng.normal(size=(n, 3))), ("few samples", few), ("zeros", np.zeros((n, 1)))):
        forms, sizes = _forms(K, A), _forms(size, np.abs(A))
        close(f"{what}: quads of {name}", bank.quads(A), forms, tol, sizes)
        close(f"{what}: quad of {name}", bank.quad(A), forms.sum(axis=1), tol, sizes)
        close(f"{what}: quad of a vector of {name}", bank.quad(A[:, 0]), forms[:, 0], tol, sizes)
        N = A @ A.T
        close(f"{what}: pair_forms of {name}", bank.pair_forms(A), _pairs(K, N), tol, _pairs(size, np.abs(N)))
    close(f"{what}: quads of no vector", bank.quads(np.zeros((n, 0))), np.zeros((len(K), 0)), tol)
    close(f"{what}: diagonal", bank.diagonal(), np.einsum("kii->ki", K), tol, size)
    close(f"{what}: traces", bank.traces(), np.einsum("kii->k", K), tol, np.einsum("kii->k", size))
    _check_system(what, bank, K)


def _check_system(what: str, bank: KernelBank, K: Array) -> None:
    """Systems of the combined matrix, where it is positive semi-definite."""
    rng, tol = np.random.default_rng(4), 100.0 * _tol(bank)
    w, B = rng.random(len(K)), rng.normal(size=(K.shape[1], 2))
    S, gram, some = np.tensordot(w, K, 1), bank.combine(w), np.arange(K.shape[1])[::-3]
    close(f"{what}: diagonal of combine", gram.diagonal(), np.diag(S), tol)
    shift = float(np.abs(S).max()) + 0.5
    if np.linalg.eigvalsh(S).min() >= -tol * shift:
        shifted = S + shift * np.eye(len(S))
        close(f"{what}: solve_shifted", gram.solve_shifted(shift, B), np.linalg.solve(shifted, B), tol, 10.0)
        part = np.linalg.solve(shifted[np.ix_(some, some)], B[some])
        close(f"{what}: solve_shifted on some samples", gram.solve_shifted(shift, B[some], on=some), part, tol, 10.0)


def _inner(K: Array, M: Array) -> Array:
    return np.einsum("kij,ij->k", K, M)


def _forms(K: Array, A: Array) -> Array:
    return np.einsum("it,kit->kt", A, K @ A)


def _pairs(K: Array, N: Any) -> Array:
    return np.einsum("jab,kab->jk", N * K, K, optimize=True)


# -- parts, kernels, copies --------------------------------------------------------------------------------------------


def _check_parts(bank: KernelBank, truth: _Truth) -> None:
    """Folds and held-out parts, by every form of index."""
    n = bank.shape[0]
    fold, rows = np.array([n - 1, 10, 3, 1, 7, 11]), np.array([0, 5, 4])
    _check_square("a fold", bank.block(fold, fold), truth.block(fold, fold))
    held_out = bank.block(rows, fold)
    assert not held_out.square, "a held-out part says that it is square"
    K = _check_passes("a held-out part", held_out, truth.block(rows, fold))
    close("some rows of a held-out part", held_out.block([2, 0], slice(None)).matrices(), K[:, [2, 0]], _tol(bank))
    mask = np.arange(n) % 3 != 0
    for index in (slice(3, n, 2), mask, [5, 1, 4, 8], np.array([6]), np.array([-1, -5, 0]), np.array([3, 8, 3, 3])):
        block = bank.block(index, index)
        assert block.square, f"the fold of {index} says that it is not square"
        _compare(f"the fold of {index}", block, truth.block(index, index))
        _compare(f"the rows {index} against others", bank.block(index, fold), truth.block(index, fold))
    inner = np.array([4, 0, 2])
    _compare("the block of a block", bank.block(fold, fold).block(inner, inner), truth.block(fold[inner], fold[inner]))
    _compare("bank[rows, columns]", bank[rows, 2:7], truth.block(rows, slice(2, 7)))
    _compare("bank[np.ix_(rows, columns)]", bank[np.ix_(rows, fold)], truth.block(rows, fold))
    empty = bank.block(np.arange(0), np.arange(4))
    assert (len(empty), empty.shape) == (len(bank), (0, 4)), "a block without rows has the wrong shape"
    close("apply of a block without rows", empty.apply(np.ones((4, 2))), np.zeros((len(bank), 0, 2)), 0.0)
    close("combine of a block without rows", empty.combine(np.ones(len(bank))).dense(), np.zeros((0, 4)), 0.0)
    _check_local(bank, fold)


def _check_local(bank: KernelBank, fold: Array) -> None:
    whole, block = bank.matrices()[:, fold][:, :, fold], bank.block(fold, fold).matrices()
    differs = bool(np.abs(whole - block).max() > 1e-5 * np.abs(whole).max())
    assert bank.local or differs, "blocks are blocks of the matrices, and the bank says that it is not local"
    assert not (bank.local and differs), "blocks have statistics of their own, and the bank says that it is local"


def _check_kernels(bank: KernelBank, truth: _Truth) -> None:
    """Some of the kernels, and these in double precision."""
    K, fold = truth.block(slice(None), slice(None)), np.array([11, 10, 3, 1, 7])
    part = truth.block(fold, fold)
    for index in ([1, 0], np.array([1]), slice(0, 2), [0, 1, 0], np.arange(len(bank)) % 2 == 0):
        chosen = None if K is None else K[index]
        _check_square(f"the kernels {index}", bank.select(index), chosen)
        exact = bank.exact(index)
        assert exact.rounding <= 2.0**-53, f"exact({index}) is not in double precision"
        _check_square(f"exact({index})", exact, chosen if bank.rounding > 2.0**-53 or K is not None else None)
        _compare(
            f"exact({index}) of a fold", bank.block(fold, fold).exact(index), None if part is None else part[index]
        )


def _check_copies(bank: KernelBank, truth: _Truth) -> None:
    """A fold that is no view, and a copy of the bank."""
    fold = np.array([11, 10, 3, 1, 7])
    K = truth.block(fold, fold)
    _check_square("a compact fold", bank.block(fold, fold).compact(), K)
    if bank.local:
        _compare("principal", bank.principal(fold), K)
    _compare(
        "a part of a compact fold",
        bank.block(fold, fold).compact().block([1, 4], [1, 4]),
        truth.block([10, 7], [10, 7]),
    )
    _check_square("a pickled bank", pickle.loads(pickle.dumps(bank)), truth.block(slice(None), slice(None)))


def _check_new_samples(bank: KernelBank, new: Any, matrices: Array | Callable[[Index], Array] | None) -> None:
    """New samples meet the columns, with the statistics of the training sample."""
    n = bank.shape[0]

    def known(columns: Index) -> Array | None:
        if callable(matrices):
            return matrices(columns)
        return None if matrices is None or not bank.local else matrices[:, :, columns]

    cross = bank.cross(new)
    assert not cross.square, "a bank of new samples says that it is square"
    K = _check_passes("new samples", cross, matrices if isinstance(matrices, np.ndarray) else known(slice(None)))
    rows, columns, tol = np.array([1, 0]), np.array([9, 2, 11]), _tol(bank)
    close("a block of new samples", cross.block(rows, columns).matrices(), K[:, rows][:, :, columns], tol)
    close("some kernels of new samples", cross.select([1, 0]).matrices(), K[[1, 0]], tol)
    for name, copy in (
        ("reference", bank.reference()),
        ("a pickled reference", pickle.loads(pickle.dumps(bank.reference()))),
    ):
        assert copy.shape == (0, n), f"{name}: has shape {copy.shape}, expected {(0, n)}"
        close(f"{name}: new samples", copy.cross(new).matrices(), K, tol)
    for index in (columns, np.arange(n) % 2 == 0, slice(4, 9)):
        close(f"the reference of columns {index}", bank.reference(index).cross(new).matrices(), K[:, :, index], tol)
    fold, inner = np.array([n - 1, 10, 3, 1, 7, 11]), np.array([4, 0])
    whole = known(fold)
    _compare("a fold and new samples", bank.block(fold, fold).cross(new), whole)
    part = bank.block(fold, fold).reference(inner).cross(new)
    _compare("the reference of a fold and new samples", part, None if whole is None else whole[:, :, inner])


def _compare(what: str, bank: KernelBank, K: Array | None) -> None:
    if K is not None:
        close(what, bank.matrices(), K, _tol(bank))
