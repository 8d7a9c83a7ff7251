"""A bank: m kernel matrices on fixed samples, as one operator.

The matrices are r x c: on the training set r = c and they are symmetric (``square``); a bank of new samples against
the training set is rectangular. An array (m, r, c) exists only in a bank for which this is the fastest form.

A bank has to define eight members. All other members have defaults that use these, mostly in one pass over the tiles
(banks/streaming.py); a bank overrides a default where its structure allows a cheaper computation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from multikernel._linalg import as_columns
from multikernel._rules import abbreviated
from multikernel._typing import Array, Index
from multikernel._warnings import warn_user
from multikernel.banks.cost import BankCost
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import checked_positions
from multikernel.banks.rotation import Rotation
from multikernel.banks.streaming import Stream
from multikernel.tuning import SUPPORT_SHARE

MEMORY = 2 << 30  # bytes of the largest array that a bank stores by default


class KernelBank(ABC):
    """m kernel matrices of shape (r, c) on fixed samples.

    ``len(bank)`` is m, ``bank.shape`` is (r, c). Scikit-learn's cross-validation slices a bank like a square matrix of
    similarities (``bank[np.ix_(rows, columns)]``), so a bank can be passed as X. An index is an integer array, a
    boolean mask or a slice.

    Raises
    ------
    ValueError : by quadratic forms and diagonals of a rectangular bank
    """

    _tile_values: ClassVar[int] = 1 << 17  # values in a tile: 1 MB in double precision, which stays in the cache

    # -- must define ---------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns of each matrix."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of kernels."""

    @property
    @abstractmethod
    def square(self) -> bool:
        """Whether the rows and the columns are the same samples."""

    @abstractmethod
    def tiles(self, rows: Index) -> Iterator[Array]:
        """These rows of K_0, then of K_1, and so on, each of shape (len(rows), c).

        A caller must not write into a tile, and the next tile may overwrite it.
        """

    @abstractmethod
    def block(self, rows: Index, columns: Index) -> KernelBank:
        """The bank of some rows against some columns: a fold (with the same rows and columns), or held-out samples.

        Statistics of the training sample (centring) are computed again from the chosen columns.
        """

    @abstractmethod
    def select(self, index: Index) -> KernelBank:
        """The bank of some of the kernels."""

    @abstractmethod
    def cross(self, X: Any) -> KernelBank:
        """The rectangular bank of new samples against the columns; statistics of the training sample are kept.

        X are samples; for precomputed kernels, their matrices against the columns, shape (m, len(X), c).
        """

    @abstractmethod
    def self_values(self, X: Any) -> Array:
        """k_k(x, x) of new samples: shape (m, len(X))."""

    # -- passes: may override ------------------------------------------------------------------------------------

    def combine(self, weights: Array) -> Gram:
        """sum_k w_k K_k."""
        return self.combine_all(np.asarray(weights)[None, :])[0]

    def total(self, weights: Array) -> Any:
        """sum_k w_k K_k as a new matrix in double precision that may be written into, in the library of the kernels."""
        return self.combine(weights).fresh()

    def combine_all(self, W: Array) -> list[Gram]:
        """sum_k W_sk K_k for every row s of W, shape (s, m); a kernel without weight is not evaluated."""
        W = np.asarray(W)
        active = np.flatnonzero(W.any(axis=0))
        bank = self if len(active) == len(self) else self.select(active)
        return [DenseGram(total) for total in bank._stream.sums(W[:, active])]

    def apply(self, C: Array) -> Array:
        """K_k C for every k: shape (m, r, t) for C of shape (c, t)."""
        support = np.flatnonzero(C.any(axis=1))
        if self.local and 0 < len(support) < SUPPORT_SHARE * len(C):
            return self.block(np.arange(self.shape[0]), support)._stream.products(C[support])
        return self._stream.products(C)

    def quad(self, A: Array) -> Array:
        """tr A'K_k A for every k: shape (m,) for A of shape (n,) or (n, t); square banks only."""
        return self.quads(as_columns(A)).sum(axis=1)

    def quads(self, A: Array) -> Array:
        """a_t'K_k a_t for every k and every column of A: shape (m, t) for A of shape (n, t); square banks only."""
        self._check_square()
        support = np.flatnonzero(A.any(axis=1))
        if self.local and len(support) < SUPPORT_SHARE * len(A):
            return self.block(support, support)._stream.forms(A[support])
        return self._stream.forms(A)

    def inner(self, M: Array) -> Array:
        """<K_k, M>_F for every k: shape (m,) for M of shape (r, c)."""
        return self._stream.inner(M)

    def pairs(self, N: Array | None = None) -> Array:
        """<K_j, K_k>_F for every pair: shape (m, m).

        With weights N of the entries, shape (r, c) and symmetric in a square bank: <N, K_j o K_k> for every pair.
        """
        return self._stream.pairs(N)

    def pair_forms(self, A: Array) -> Array:
        """tr A'(K_j o K_k)A for every pair: shape (m, m) for A of shape (n,) or (n, t); square banks only."""
        self._check_square()
        A = as_columns(A)
        return self.pairs(A @ A.T)

    def hadamard_apply(self, P: Gram, C: Array) -> Array:
        """(P o K_k) C for every k: shape (m, r, t) for P of the shape of the K_k and C of shape (c, t)."""
        return self._stream.products(C, P.dense())

    def diagonal(self) -> Array:
        """The diagonals of a square bank: shape (m, n)."""
        self._check_square()
        return self._stream.diagonal()

    def traces(self) -> Array:
        """tr K_k: shape (m,)."""
        return self.diagonal().sum(axis=1)

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        """The cost of this square bank; if it stores nothing, of one that may store ``memory`` bytes of matrices."""
        return BankCost.evaluated(len(self), self.shape[1])

    # -- precision, blocks and copies: may override --------------------------------------------------------------

    @property
    def rounding(self) -> float:
        """Unit roundoff of the matrices' entries: 2^-53, or 2^-24 where they are in single precision."""
        return 2.0**-53

    @property
    def names(self) -> tuple[str, ...] | None:
        """The kernels' names, where the user gave them with the matrices; else None."""
        return None

    @property
    def n_features(self) -> int | None:
        """The number of features of all kernels together, where sums use them (``FactorGram``); else None."""
        return None

    def by_features(self) -> tuple[Any, Array] | None:
        """A ``FactorBank`` and the factors, shape (n_features,), of its features that give the kernels of this bank.

        None where the kernels are not given by features.
        """
        return None

    @property
    def local(self) -> bool:
        """Whether a block of the bank has blocks of its matrices, which is not so for centred kernels."""
        return True

    @property
    def of_distances(self) -> bool:
        """Whether the matrices are distances, 0 from a sample to itself, and not kernels."""
        return False

    def reference(self, columns: Index = slice(None)) -> KernelBank:
        """The bank with these columns and no rows, which is all that ``cross`` needs; it stores no n x n matrix."""
        return self.block(np.arange(0), columns)

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """These kernels in double precision, stored if they fit into memory: for many passes over few kernels.

        Only a square bank guarantees double precision; one of new samples may keep its precision.
        """
        return self.select(index)

    def unrounded(self) -> KernelBank:
        """The same kernels on the same samples with no entry rounded, for certificates.

        This is the bank itself where its kernels are exact: kernels of samples in double precision, or precomputed
        matrices in any precision. Otherwise it is a bank that evaluates the kernels in double precision in every pass
        and stores no matrix, for few passes. Only a square bank guarantees this.
        """
        return self

    def principal(self, rows: Array) -> KernelBank:
        """The block of these rows against themselves, as a copy: for many passes over few samples."""
        return self.block(rows, rows).compact()

    def rotation(self, Y: Array, groups: Sequence[Array] | None = None) -> Rotation | None:
        """A few coordinates that span the kernels and targets Y (n, t) of a square bank; None where there are not few.

        Each group of samples, by default one group of all samples, has separate coordinates.
        """
        return None

    def rotated(self, rotation: Rotation) -> KernelBank:
        """The bank in the coordinates that its ``rotation`` returned."""
        raise NotImplementedError(f"{type(self).__name__} has no rotation")

    def about_mean(self, weight: Array | None = None) -> KernelBank | None:
        """The centred kernels, by centred features, where a bank has few features; else None.

        The mean is taken over the columns. With weights s of the samples of a square bank it is the weighted mean, and
        features are multiplied by the roots of s: <K_j, K_k> of the result is tr P K_j P K_k, with
        P = diag(s) - ss' / sum(s).
        """
        return None

    def compact(self) -> KernelBank:
        """The same bank, as a copy where it is a view of a larger bank: for many passes over a fold."""
        return self

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        """k_k(x, x) of some rows of a square bank where the columns are the training sample: shape (m, len(rows)).

        Banks whose statistics depend on the training sample (centring) override this, and so do their wrappers.
        """
        return self.diagonal()[:, rows]

    def __repr__(self) -> str:
        kind = type(self).__name__
        r, c = self.shape
        samples = f"{c} samples" if self.square else f"{r} new samples against {c}"
        return f"<{kind}: {len(self)} {'distances' if self.of_distances else 'kernels'} of {samples}>"

    # -- dense matrices, blocks, other forms ---------------------------------------------------------------------
    # The modules of these banks import this one, so they are imported inside the methods.

    def matrix(self, k: int) -> Array:
        """K_k, dense; the other matrices are not evaluated."""
        return self.select(slice(k, k + 1)).combine(np.ones(1)).dense()

    def matrices(self) -> Array:
        """All matrices, dense: shape (m, r, c). For small problems and for inspection."""
        first = self.matrix(0)
        stack = np.empty((len(self), *first.shape), dtype=first.dtype)
        for k in range(len(self)):  # one at a time, since a list of all matrices would take the memory twice
            stack[k] = self.matrix(k) if k else first
        return stack

    def __getitem__(self, index: Any) -> Any:
        """``bank[np.ix_(rows, columns)]`` or ``bank[rows, columns]``: a block; a number is one sample.

        ``bank[rows]`` of a square bank is some of its samples, with which an estimator can be fitted or can predict.
        Any other index is a TypeError, a mask of another length a ValueError.
        """
        if not isinstance(index, tuple) or (len(index) == 2 and index[1] is Ellipsis):
            self._check_square("some samples of a bank are taken of a square one")
            from multikernel.banks.rows import BankRows

            return BankRows(self, checked_positions(index[0] if isinstance(index, tuple) else index, self.shape[0]))
        if len(index) != 2:
            raise TypeError("a kernel bank is indexed by rows and columns: bank[rows, columns]")
        rows, columns = (i if isinstance(i, slice) else np.ravel(i) for i in index)
        return self.block(rows, columns)

    def normalized(self) -> KernelBank:
        """K_ij / sqrt(K_ii K_jj) in every kernel; new samples are scaled by their self-values."""
        from multikernel.banks.self_valued import NormalizedBank

        return NormalizedBank.of(self)

    def centered(self) -> KernelBank:
        """J K J in every kernel, J = I - 11'/n; new samples are centred by the training means."""
        from multikernel.banks.centered import CenteredBank

        return CenteredBank.of(self)

    def distances(self) -> KernelBank:
        """K_ii + K_jj - 2 K_ij for every kernel: squared distances in feature space, which are not kernel matrices."""
        from multikernel.banks.self_valued import DistanceBank

        return DistanceBank.of(self)

    def scaled(self, factors: Array) -> KernelBank:
        """s_k K_k for factors s of shape (m,); ValueError where these are not a finite number >= 0 for each kernel."""
        from multikernel.banks.weighted import WeightedBank

        s = np.asarray(factors)
        if s.shape != (len(self),) or s.dtype.kind not in "fiub" or not (np.isfinite(s) & (s >= 0)).all():
            raise ValueError(
                f"scaled: factors must be a finite number >= 0 for each of the {len(self)} kernels, got "
                f"{abbreviated(factors)}"
            )
        return WeightedBank(self, s.astype(float))

    def weighted(self, weight: Array) -> KernelBank:
        """w_i w_j K_ij in every kernel of a square bank, for weights w of shape (n,); new samples have weight one."""
        from multikernel.banks.weighted import WeightedBank

        w = np.asarray(weight, dtype=float)
        return WeightedBank(self, left=w, right=w)

    def weighed(self, weight: Array) -> KernelBank:
        """The former name of ``weighted``."""
        warn_user("bank.weighed is now bank.weighted", FutureWarning)
        return self.weighted(weight)

    @property
    def _stream(self) -> Stream:
        return Stream(self.tiles, len(self), self.shape, self._tile_values)

    def _check_square(self, requirement: str = "quadratic forms and diagonals need a square bank") -> None:
        if not self.square:
            raise ValueError(f"{requirement}; this one holds new samples against the training set")
