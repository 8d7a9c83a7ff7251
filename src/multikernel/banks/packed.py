"""A stored stack of symmetric matrices, half of each: (m, n (n + 1) / 2).

Sums, forms and products read every stored entry once, at the speed of memory. Entries may be stored in single
precision. Passes nevertheless multiply and add in double precision, so that sums, forms and products agree: all of them
are those of the rounded matrices, up to rounding in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.gram import DenseGram, Gram
from multikernel.banks.indices import positions, unit_roundoff
from multikernel.banks.packing import full_matrices, half_size, pack, unpack, weights_of_pairs
from multikernel.banks.stored import StoredBank
from multikernel.banks.threads import n_threads, one_blas_thread, over_rows, slices
from multikernel.numerics import lapack
from multikernel.tuning import (
    BUFFER_VALUES,
    PACKED_DENSE,
    PACKED_FORMS,
    PACKED_KEPT,
    PACKED_UNPACKED,
    PACKED_VALUES,
    PIECE_VALUES,
    STRETCH,
    TILE_ROWS,
    TILE_VALUES,
)


@dataclass(frozen=True, eq=False, repr=False)
class PackedBank(StoredBank):
    """m symmetric n x n matrices; one half of each is stored.

    A bank of some of the kernels is a view of the stack, without a copy.

    Parameters
    ----------
    origin : the same kernels with no matrix stored
    stack : array (., n (n + 1) / 2), float64 or float32, each row in LAPACK's packed order
    n : int
    kept : int array (m,), the rows of the stack that are the kernels of this bank; None takes all
    """

    stack: Array
    n: int
    kept: Array | None = None

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        stored = BankCost.stored(len(self), self.n, float(self.stack.itemsize * len(self) * self.stack.shape[1]))
        is_rounded = self.stack.itemsize < np.dtype(float).itemsize and self.origin.square
        if is_rounded:
            return replace(stored, exact=0.5 * self.origin.cost().sweep)
        return stored

    @cached_property
    def stack_rows(self) -> Array:
        """The row of each kernel in the stack, int array (m,)."""
        if self.kept is None:
            return np.arange(len(self.stack))
        return self.kept

    @property
    def packed(self) -> Array:
        """The halves of this bank's kernels, shape (m, n (n + 1) / 2): the stack itself, or a copy of some of it."""
        if self.kept is None:
            return self.stack
        return self.stack[self.kept]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    def __len__(self) -> int:
        return len(self.stack_rows)

    @property
    def square(self) -> bool:
        return True

    @property
    def rounding(self) -> float:
        return unit_roundoff(self.stack.dtype)

    def tiles(self, rows: Index) -> Iterator[Array]:
        from multikernel.banks import _packed

        chosen = positions(rows, self.n)
        tile = np.empty((len(chosen), self.n), dtype=self.stack.dtype)
        for k in self.stack_rows:
            _packed.rows(self.stack[k], chosen, tile)
            yield tile

    def combine_all(self, W: Array) -> list[Gram]:
        self._check("weights", W.shape[1], len(self), "kernels")
        if self._keeps_total and len(W) == 1 and W[0].all() and (W[0, 0] == W).all():
            return [DenseGram(unpack(W[0, 0] * self._total, self.n))]
        entries, pairs = self._sums(W)
        return [DenseGram(K) for K in full_matrices(entries, len(W), self.n, pairs)]

    def total(self, weights: Array) -> Array:
        """The sum, whose matrix is computed for the caller and needs no copy."""
        self._check("weights", len(weights), len(self), "kernels")
        entries, pairs = self._sums(np.asarray(weights)[None])
        return full_matrices(entries, 1, self.n, pairs)[0]

    @property
    def _keeps_total(self) -> bool:
        """Whether the sum of all matrices takes little memory compared with the stack."""
        return 8 * self.stack.shape[1] * PACKED_KEPT <= len(self) * self.stack.itemsize * self.stack.shape[1]

    @cached_property
    def _total(self) -> Array:
        """The half of the sum of all matrices; it is cached, since every candidate of a search needs equal weights."""
        entries, pairs = self._sums(np.ones((1, len(self))))
        total = np.empty((1, self.stack.shape[1]))
        over_rows(lambda r: entries(r, total[:, r]), total.size, pairs)
        return total[0]

    def _sums(self, W: Array) -> tuple[Callable[[slice, Array], None], int]:
        """A function that computes some pairs of the weighted sums, shape (t, pairs); and the pairs for a thread."""
        from multikernel.banks import _packed

        active = np.flatnonzero(W.any(axis=0))  # matrices without weight are not read
        weights = np.ascontiguousarray(W[:, active], dtype=np.float64)
        chosen = self.stack_rows[active]
        pairs = max(STRETCH, PIECE_VALUES // max(1, weights.size))
        return lambda r, out: _packed.sums(self.stack, chosen, weights, out, r.start, r.stop), pairs

    def apply(self, C: Array) -> Array:
        from multikernel.banks import _packed

        self._check("rows", len(C), self.n, "samples")
        Ct = np.ascontiguousarray(C.T, dtype=np.float64)
        if len(Ct) >= PACKED_UNPACKED and Ct.size >= PACKED_VALUES:
            return self._apply_unpacked(Ct).transpose(0, 2, 1)
        out = np.empty((len(self), *Ct.shape))
        self._over_kernels(lambda r: _packed.products(self.stack, self.stack_rows, Ct, out, r.start, r.stop), len(Ct))
        return out.transpose(0, 2, 1)

    def _apply_unpacked(self, Ct: Array) -> Array:
        """C'K_k by BLAS, some rows up to the diagonal at a time; many kernels are computed on one thread each."""
        from multikernel.banks import _packed

        out = np.zeros((len(self), *Ct.shape))
        height = max(TILE_ROWS, TILE_VALUES // self.n)

        def multiply(kernels: slice) -> None:
            workspace = np.empty(min(height, self.n) * self.n)
            for row, product in zip(self.stack_rows[kernels], out[kernels], strict=True):
                for r in slices(self.n, height):
                    tile = workspace[: (r.stop - r.start) * r.stop].reshape(-1, r.stop)
                    _packed.lower(self.stack[row], r.start, tile)
                    lapack.gemm(Ct[:, : r.stop], tile.T, product[:, r])
                    lapack.gemm(Ct[:, r], tile[:, : r.start], product[:, : r.start])

        on_threads = len(self) >= n_threads() and self.n > height
        with one_blas_thread(0 if on_threads else self.n):
            over_rows(multiply, len(self), 1 if on_threads else max(1, len(self)))
        return out

    def quad(self, A: Array) -> Array:
        A = as_columns(A)
        if A.shape[1] <= PACKED_FORMS:
            return self.quads(A).sum(axis=1)
        return self.inner(A @ A.T)

    def quads(self, A: Array) -> Array:
        from multikernel.banks import _packed

        self._check("rows", len(A), self.n, "samples")
        At = np.ascontiguousarray(A.T, dtype=np.float64)
        rows = np.flatnonzero(At.any(axis=0))
        if len(rows) > PACKED_DENSE * self.n:
            rows = np.arange(self.n)
        out = np.empty((len(self), len(At)))
        self._over_kernels(
            lambda r: _packed.forms(self.stack, self.stack_rows, At, rows, out, r.start, r.stop), len(At)
        )
        return out

    def inner(self, M: Array) -> Array:
        from multikernel.banks import _packed

        self._check("rows", len(M), self.n, "samples")
        p = weights_of_pairs(M.astype(np.float64, copy=False))
        out = np.empty(len(self))
        self._over_kernels(lambda r: _packed.inner(self.stack, self.stack_rows, p, out, r.start, r.stop), 1)
        return out

    @staticmethod
    def _check(noun: str, length: int, expected: int, axis: str) -> None:
        """ValueError for arrays of a wrong length, for which compiled passes would read beyond the stack."""
        if length != expected:
            raise ValueError(f"a pass over a bank of {expected} {axis} got an array with {length} {noun}")

    def _over_kernels(self, work: Callable[[slice], None], columns: int) -> None:
        """Distributes the kernels among threads, in slices that are worth a thread."""
        over_rows(work, len(self), max(1, PIECE_VALUES // max(1, columns * self.stack.shape[1])))

    def diagonal(self) -> Array:
        return self._columns(np.cumsum(np.arange(self.n) + 1) - 1)

    def _columns(self, entries: Any) -> Array:
        """These entries of every half."""
        if self.kept is None or isinstance(entries, slice):
            return self.stack[slice(None) if self.kept is None else self.kept, entries]
        return self.stack[np.ix_(self.kept, entries)]

    def traces(self) -> Array:
        return self._traces.copy()

    @cached_property
    def _traces(self) -> Array:
        """The traces, cached since diagonals are scattered through the stack and every fit along a path needs them."""
        return self.diagonal().sum(axis=1, dtype=np.float64)

    def pairs(self, N: Array | None = None) -> Array:
        """Off-diagonal entries count twice: <K_j, K_k> = 2 p_j'p_k - diag_j'diag_k."""
        weights = None if N is None else weights_of_pairs(N)
        total = np.zeros((len(self), len(self)))
        for entries in slices(self.stack.shape[1], max(1, BUFFER_VALUES // max(1, len(self)))):
            P = self._columns(entries).astype(np.float64, copy=False)
            total += (P if weights is None else P * weights[entries]) @ P.T
        if weights is not None:
            return total
        d = self.diagonal().astype(np.float64, copy=False)
        return 2.0 * total - d @ d.T

    def hadamard_apply(self, P: Gram, C: Array) -> Array:
        """The product of two packed halves is the packed half of the product."""
        half = pack(P.dense())
        slices_of_kernels = slices(len(self), max(1, BUFFER_VALUES // max(1, len(half))))
        return np.concatenate(
            [replace(self, stack=self.stack[self.stack_rows[k]] * half, kept=None).apply(C) for k in slices_of_kernels]
        )

    def matrix(self, k: int) -> Array:
        return unpack(self.stack[self.stack_rows[k]], self.n)

    def select(self, index: Index) -> PackedBank:
        return replace(self, kept=self.stack_rows[index], origin=self.origin.select(index))

    def principal(self, rows: Array) -> PackedBank:
        from multikernel.banks import _packed

        packed = np.empty((len(self), half_size(len(rows))), dtype=self.stack.dtype)

        def gather(kernels: slice) -> None:
            _packed.principal(self.stack, self.stack_rows, rows, packed, kernels.start, kernels.stop)

        over_rows(gather, len(self), max(1, PIECE_VALUES // max(1, packed.shape[1])))
        return PackedBank(self.origin.block(rows, rows), packed, len(rows))

    def unrounded(self) -> KernelBank:
        """The kernels in double precision; matrices that a user gave are exact in any precision."""
        if self.stack.dtype != np.float64 and self.origin.square:
            return self.origin.unrounded()
        return self

    def exact(self, index: Index = slice(None)) -> KernelBank:
        chosen = self.select(index)
        if self.stack.dtype == np.float64:
            return chosen
        exact = chosen.origin.exact()
        if exact.square:
            return exact
        return replace(chosen, stack=chosen.packed.astype(np.float64), kept=None)
