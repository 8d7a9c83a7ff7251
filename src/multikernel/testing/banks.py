"""The conformance suite of banks: in every form, a bank computes the same as its dense matrices."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array, Index
from multikernel.banks import KernelBank
from multikernel.testing.assertions import require
from multikernel.testing.bank_passes import check_passes, check_square, tolerance
from multikernel.testing.comparison import close


def check_bank(
    bank: KernelBank,
    matrices: Array | Callable[[Index, Index], Array] | None = None,
    *,
    new: Any = None,
    new_matrices: Array | Callable[[Index], Array] | None = None,
    self_values: Array | None = None,
) -> None:
    """Check that a bank on a training sample computes the same as its dense matrices.

    Every pass is compared with the dense matrices, on the bank itself, on folds and held-out parts, on some of the
    kernels, against new samples, in double precision (``exact``) and after pickling.

    Parameters
    ----------
    bank : a square KernelBank of at least 12 samples and 2 kernels
    matrices : array (m, n, n), the correct matrices; without them those of the bank, so that only the passes are
        checked. A bank that is not ``local`` takes a function of rows and columns, by position: the matrices
        (m, r, c) of these rows where these columns are the training sample.
    new : two or more new samples, in the form that ``bank.cross`` takes; nothing is checked against new samples if not
        given
    new_matrices : array (m, n_new, n), their matrices against the training sample; or a function of the columns, as
        above
    self_values : array (m, n_new), k(x, x) of the new samples; not checked if not given

    Raises
    ------
    AssertionError : where the bank computes something else, which the message names

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
    require(bank.square, "check_bank: the bank of a training sample is square")
    require(n >= 12, f"check_bank: needs at least 12 samples, got {n}")
    require(len(bank) >= 2, f"check_bank: needs at least 2 kernels, got {len(bank)}")
    truth = _Truth.of(bank, matrices)
    check_square("the bank", bank, truth.block(slice(None), slice(None)))
    _check_parts(bank, truth)
    _check_kernels(bank, truth)
    _check_copies(bank, truth)
    if self_values is not None:
        close("self_values of new samples", bank.self_values(new), self_values, 10.0 * tolerance(bank))
    if new is not None:
        _check_new_samples(bank, new, new_matrices)


@dataclass(frozen=True)
class _Truth:
    """The correct matrices of blocks, where they are known."""

    local: bool
    matrices: Array | None
    function: Callable[[Index, Index], Array] | None

    @classmethod
    def of(cls, bank: KernelBank, matrices: Array | Callable[[Index, Index], Array] | None) -> _Truth:
        if callable(matrices):
            return cls(bank.local, None, matrices)
        return cls(bank.local, bank.matrices() if matrices is None else np.asarray(matrices), None)

    def block(self, rows: Index, columns: Index) -> Array | None:
        if self.function is not None:
            return self.function(rows, columns)
        everything = all(isinstance(i, slice) and i == slice(None) for i in (rows, columns))
        if self.matrices is None or not (self.local or everything):
            return None
        return self.matrices[:, rows][:, :, columns]


# -- parts, kernels, copies --------------------------------------------------------------------------------------------


def _check_parts(bank: KernelBank, truth: _Truth) -> None:
    """Check folds and held-out parts, by every form of index."""
    n = bank.shape[0]
    fold = np.array([n - 1, 10, 3, 1, 7, 11])
    rows = np.array([0, 5, 4])
    check_square("a fold", bank.block(fold, fold), truth.block(fold, fold))
    held_out = bank.block(rows, fold)
    require(not held_out.square, "a held-out part says that it is square")
    K = check_passes("a held-out part", held_out, truth.block(rows, fold))
    close("some rows of a held-out part", held_out.block([2, 0], slice(None)).matrices(), K[:, [2, 0]], tolerance(bank))
    mask = np.arange(n) % 3 != 0
    for index in (slice(3, n, 2), mask, [5, 1, 4, 8], np.array([6]), np.array([-1, -5, 0]), np.array([3, 8, 3, 3])):
        block = bank.block(index, index)
        require(block.square, f"the fold of {index} says that it is not square")
        _compare(f"the fold of {index}", block, truth.block(index, index))
        _compare(f"the rows {index} against others", bank.block(index, fold), truth.block(index, fold))
    inner = np.array([4, 0, 2])
    _compare("the block of a block", bank.block(fold, fold).block(inner, inner), truth.block(fold[inner], fold[inner]))
    _compare("bank[rows, columns]", bank[rows, 2:7], truth.block(rows, slice(2, 7)))
    _compare("bank[np.ix_(rows, columns)]", bank[np.ix_(rows, fold)], truth.block(rows, fold))
    empty = bank.block(np.arange(0), np.arange(4))
    require((len(empty), empty.shape) == (len(bank), (0, 4)), "a block without rows has the wrong shape")
    close("apply of a block without rows", empty.apply(np.ones((4, 2))), np.zeros((len(bank), 0, 2)), 0.0)
    close("combine of a block without rows", empty.combine(np.ones(len(bank))).dense(), np.zeros((0, 4)), 0.0)
    _check_local(bank, fold)


def _check_local(bank: KernelBank, fold: Array) -> None:
    matrices = bank.matrices()[:, fold][:, :, fold]
    block = bank.block(fold, fold).matrices()
    differs = bool(np.abs(matrices - block).max() > 1e-5 * np.abs(matrices).max())
    require(bank.local or differs, "blocks are blocks of the matrices, and the bank says that it is not local")
    require(not (bank.local and differs), "blocks have separate statistics, and the bank says that it is local")


def _check_kernels(bank: KernelBank, truth: _Truth) -> None:
    """Check selections of kernels, also in double precision."""
    K = truth.block(slice(None), slice(None))
    fold = np.array([11, 10, 3, 1, 7])
    fold_matrices = truth.block(fold, fold)
    for index in ([1, 0], np.array([1]), slice(0, 2), [0, 1, 0], np.arange(len(bank)) % 2 == 0):
        selected_matrices = None if K is None else K[index]
        check_square(f"the kernels {index}", bank.select(index), selected_matrices)
        exact = bank.exact(index)
        require(exact.rounding <= 2.0**-53, f"exact({index}) is not in double precision")
        check_square(f"exact({index})", exact, selected_matrices if bank.rounding > 2.0**-53 or K is not None else None)
        _compare(
            f"exact({index}) of a fold",
            bank.block(fold, fold).exact(index),
            None if fold_matrices is None else fold_matrices[index],
        )


def _check_copies(bank: KernelBank, truth: _Truth) -> None:
    """Check folds that are no views, the unrounded bank, and a pickled copy."""
    fold = np.array([11, 10, 3, 1, 7])
    K = truth.block(fold, fold)
    check_square("a compact fold", bank.block(fold, fold).compact(), K)
    if bank.local:
        _compare("principal", bank.principal(fold), K)
        rows = np.array([0, 5, 4])
        held_out = bank.held_out_self_values(rows, fold)
        diagonal = bank.diagonal()[:, rows]
        close("held_out_self_values", held_out, diagonal, tolerance(bank))
    names = bank.names
    zeros = not np.abs(bank.diagonal()).max() > 10.0 * tolerance(bank) * np.abs(bank.matrices()).max()
    require(zeros or not bank.of_distances, "of_distances is true, and distances to the samples themselves are not 0")
    require(names is None or len(names) == len(bank), f"names are {names}, of {len(bank)} kernels")
    unrounded = bank.unrounded()
    require(unrounded.unrounded() is unrounded, "the unrounded bank is not its own unrounded bank")
    _compare("the unrounded bank", unrounded, truth.block(slice(None), slice(None)))
    _compare("a fold of the unrounded bank", unrounded.block(fold, fold), K)
    _compare(
        "a part of a compact fold",
        bank.block(fold, fold).compact().block([1, 4], [1, 4]),
        truth.block([10, 7], [10, 7]),
    )
    check_square("a pickled bank", pickle.loads(pickle.dumps(bank)), truth.block(slice(None), slice(None)))


def _check_new_samples(bank: KernelBank, new_samples: Any, matrices: Array | Callable[[Index], Array] | None) -> None:
    """Check kernels between new samples and the columns, with the statistics of the training sample."""
    n = bank.shape[0]

    def expected(columns: Index) -> Array | None:
        if callable(matrices):
            return matrices(columns)
        if matrices is None or not bank.local:
            return None
        return matrices[:, :, columns]

    cross = bank.cross(new_samples)
    require(not cross.square, "a bank of new samples says that it is square")
    K = check_passes("new samples", cross, matrices if isinstance(matrices, np.ndarray) else expected(slice(None)))
    rows = np.array([1, 0])
    columns = np.array([9, 2, 11])
    tol = tolerance(bank)
    _check_own_values(bank, new_samples, K)
    close("a block of new samples", cross.block(rows, columns).matrices(), K[:, rows][:, :, columns], tol)
    close("some kernels of new samples", cross.select([1, 0]).matrices(), K[[1, 0]], tol)
    for name, copy in (
        ("reference", bank.reference()),
        ("a pickled reference", pickle.loads(pickle.dumps(bank.reference()))),
    ):
        require(copy.shape == (0, n), f"{name}: has shape {copy.shape}, expected {(0, n)}")
        close(f"{name}: new samples", copy.cross(new_samples).matrices(), K, tol)
    for index in (columns, np.arange(n) % 2 == 0, slice(4, 9)):
        close(
            f"the reference of columns {index}",
            bank.reference(index).cross(new_samples).matrices(),
            K[:, :, index],
            tol,
        )
    fold = np.array([n - 1, 10, 3, 1, 7, 11])
    inner = np.array([4, 0])
    fold_matrices = expected(fold)
    _compare("a fold and new samples", bank.block(fold, fold).cross(new_samples), fold_matrices)
    reference_bank = bank.block(fold, fold).reference(inner).cross(new_samples)
    _compare(
        "the reference of a fold and new samples",
        reference_bank,
        None if fold_matrices is None else fold_matrices[:, :, inner],
    )


def _check_own_values(bank: KernelBank, new_samples: Any, K: Array) -> None:
    """Check values k(x, x), where they are known: k(x, z)^2 <= k(x, x) k(z, z) for new x and training z."""
    try:
        self_values = bank.self_values(new_samples)
    except ValueError:  # precomputed matrices do not have them
        return
    require(
        self_values.shape == K.shape[:2],
        f"self_values of new samples: have shape {self_values.shape}, expected {K.shape[:2]}",
    )
    semidefinite = np.linalg.eigvalsh(bank.matrices())[:, 0] >= -tolerance(bank) * bank.traces()
    largest = self_values[:, :, None] * bank.diagonal()[:, None, :]
    excess = (K**2 - largest)[semidefinite].max(initial=0.0)
    require(
        excess <= 100.0 * tolerance(bank) * np.abs(K**2).max(initial=0.0),
        "k(x, z)^2 exceeds k(x, x) k(z, z) for new x and training z: cross or self_values is wrong",
    )


def _compare(label: str, bank: KernelBank, K: Array | None) -> None:
    if K is not None:
        close(label, bank.matrices(), K, tolerance(bank))
