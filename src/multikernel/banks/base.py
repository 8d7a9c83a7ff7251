"""A bank: m kernel matrices on fixed samples, as one operator.

The matrices are r x c: on the training set r = c and they are symmetric (``square``); a bank of new samples against
the training set is rectangular. An array (m, r, c) exists only in a bank for which that is the fastest form.

A bank has to define eight members. Everything else has a default that is made of these, mostly in one pass over the
tiles (banks/streaming.py), and that a bank overrides where its structure makes it cheaper.
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
from multikernel.banks.indices import samples
from multikernel.banks.rotation import Rotation
from multikernel.banks.streaming import Stream
from multikernel.tuning import SUPPORT_SHARE

MEMORY = 2 << 30  # bytes: the largest thing that a bank stores by default


class KernelBank(ABC):
    """m kernel matrices of shape (r, c) on fixed samples.

    ``len(bank)`` is m, ``bank.shape`` is (r, c). Scikit-learn's cross-validation slices a bank like a square matrix of
    similarities (``bank[np.ix_(rows, columns)]``), so a bank can stand where X stands. An index is an integer array, a
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
        """How many kernels."""

    @property
    @abstractmethod
    def square(self) -> bool:
        """Whether the rows and the columns are the same samples."""

    @abstractmethod
    def tiles(self, rows: Index) -> Iterator[Array]:
        """These rows of K_0, of K_1, and so on in order, each of shape (len(rows), c).

        A caller must not write into a tile, which may be overwritten when the next one is made.
        """

    @abstractmethod
    def block(self, rows: Index, columns: Index) -> KernelBank:
        """The bank of some rows against some columns: a fold (rows the same as columns) or a held-out part.

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
        """The same as a new matrix in double precision, to be written into: of the library that the kernels are in."""
        return self.combine(weights).fresh()

    def combine_all(self, W: Array) -> list[Gram]:
        """sum_k W_sk K_k for every row s of W, shape (s, m); a kernel without weight is not evaluated."""
        W = np.asarray(W)
        used = np.flatnonzero(W.any(axis=0))
        some = self if len(used) == len(self) else self.select(used)
        return [DenseGram(total) for total in some._stream.sums(W[:, used])]

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
        """What this square bank takes, or would where it stores nothing and may store ``memory`` bytes of numbers."""
        return BankCost.evaluated(len(self), self.shape[1])

    # -- precision, parts and copies: may override ---------------------------------------------------------------

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
        """How many features all kernels together have, where sums of them keep these (``FactorGram``); else None."""
        return None

    def by_features(self) -> tuple[Any, Array] | None:
        """The ``FactorBank`` whose kernels these are but for multiples, and what its features are multiplied with.

        That is an array of shape (n_features,). None where the kernels are not known by features.
        """
        return None

    @property
    def local(self) -> bool:
        """Whether a block's matrices are parts of the matrices: not where a kernel follows the sample (centring)."""
        return True

    @property
    def of_distances(self) -> bool:
        """Whether the matrices are distances, 0 from a sample to itself, and not kernels."""
        return False

    def reference(self, columns: Index = slice(None)) -> KernelBank:
        """The bank with these columns and no rows: all that ``cross`` needs, without any stored n x n matrix."""
        return self.block(np.arange(0), columns)

    def exact(self, index: Index = slice(None)) -> KernelBank:
        """These kernels in double precision, stored where that fits: for many passes over few kernels.

        Only a square bank promises double precision; one of new samples may stay as it is stored.
        """
        return self.select(index)

    def unrounded(self) -> KernelBank:
        """The same kernels on the same samples with no entry rounded: what certificates are computed on.

        The bank itself where it holds the kernels as they were given: samples' kernels in double precision, or
        precomputed matrices in any. Else a bank that evaluates them in double precision in every pass, and that stores
        no matrix: for few passes. Only a square bank promises this.
        """
        return self

    def principal(self, rows: Array) -> KernelBank:
        """The block of these rows against themselves, copied out of this bank: for many passes over few samples."""
        return self.block(rows, rows).compact()

    def rotation(self, Y: Array, groups: Sequence[Array] | None = None) -> Rotation | None:
        """Few coordinates of the samples of a square bank, in which its kernels and targets Y (n, t) are; else None.

        Every group of samples, all samples by default, has coordinates of its own.
        """
        return None

    def rotated(self, rotation: Rotation) -> KernelBank:
        """The bank in the coordinates of a ``rotation`` of its own."""
        raise NotImplementedError(f"{type(self).__name__} has no rotation")

    def about_mean(self, weight: Array | None = None) -> KernelBank | None:
        """The centred kernels by features that are centred, where a bank has few features; else None.

        The mean is that of the columns. With weights s of the samples of a square bank it is theirs, and the features
        are multiplied by their roots: <K_j, K_k> of the result is tr P K_j P K_k, P = diag(s) - ss' / sum(s).
        """
        return None

    def compact(self) -> KernelBank:
        """The same bank, copied out of the larger one that it may be a view of: for many passes over a fold."""
        return self

    def held_out_self_values(self, rows: Index, columns: Index) -> Array:
        """k_k(x, x) of some rows of a square bank where the columns are the training sample: shape (m, len(rows)).

        A bank whose statistics follow the training sample (centring) overrides this, and so do its wrappers.
        """
        return self.diagonal()[:, rows]

    def __repr__(self) -> str:
        kind = type(self).__name__
        r, c = self.shape
        on = f"{c} samples" if self.square else f"{r} new samples against {c}"
        return f"<{kind}: {len(self)} {'distances' if self.of_distances else 'kernels'} of {on}>"

    # -- dense matrices, blocks, other forms ---------------------------------------------------------------------
    # The files of other forms import this one: they are imported where such a form is made.

    def matrix(self, k: int) -> Array:
        """K_k, dense; the other matrices are not evaluated."""
        return self.select(slice(k, k + 1)).combine(np.ones(1)).dense()

    def matrices(self) -> Array:
        """All matrices, dense: shape (m, r, c). For small problems and for looking at."""
        first = self.matrix(0)
        stack = np.empty((len(self), *first.shape), dtype=first.dtype)
        for k in range(len(self)):  # one after the other, as together they would take their memory twice
            stack[k] = self.matrix(k) if k else first
        return stack

    def __getitem__(self, index: Any) -> Any:
        """``bank[np.ix_(rows, columns)]`` or ``bank[rows, columns]``: a block; a number is one sample.

        ``bank[rows]`` of a square bank are some of its samples, which an estimator takes for training, and to predict.
        A TypeError for any other index, a ValueError for a mask of another length.
        """
        if not isinstance(index, tuple) or (len(index) == 2 and index[1] is Ellipsis):
            self._check_square("some samples of a bank are taken of a square one")
            from multikernel.banks.rows import BankRows

            return BankRows(self, samples(index[0] if isinstance(index, tuple) else index, self.shape[0]))
        if len(index) != 2:
            raise TypeError("a kernel bank is indexed by rows and columns: bank[rows, columns]")
        rows, columns = (i if isinstance(i, slice) else np.ravel(i) for i in index)
        return self.block(rows, columns)

    def normalized(self) -> KernelBank:
        """K_ij / sqrt(K_ii K_jj) in every kernel; new samples are scaled by their own self-values."""
        from multikernel.banks.self_valued import NormalizedBank

        return NormalizedBank.of(self)

    def centered(self) -> KernelBank:
        """J K J in every kernel, J = I - 11'/n; new samples are centred by the training means."""
        from multikernel.banks.centered import CenteredBank

        return CenteredBank.of(self)

    def distances(self) -> KernelBank:
        """K_ii + K_jj - 2 K_ij for every kernel: squared distances in its feature space, no longer kernel matrices."""
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

    def _check_square(self, what: str = "quadratic forms and diagonals need a square bank") -> None:
        if not self.square:
            raise ValueError(f"{what}; this one holds new samples against the training set")
