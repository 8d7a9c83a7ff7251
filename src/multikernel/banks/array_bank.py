"""Kernels of samples that are arrays of another library, such as torch or cupy: passes run on the samples' device.

Most kernels evaluate arrays of any library; the bank refuses kernels that take only NumPy arrays. Arrays as large as a
kernel matrix stay on the samples' device; weights and vectors are NumPy arrays on input and output. Everything is in
double precision. Matrices are stored if all of them fit the memory budget; otherwise they are computed tile by tile in
every pass, and kernels of the same distance, or powers of the same matrix, share it within a tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel._arrays import Cholesky, foreign, host, library, like, namespace, taken, zeros
from multikernel._linalg import as_columns, product
from multikernel._typing import Array, Index
from multikernel.banks.base import MEMORY, KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.gram import DenseGram, Factor, Gram
from multikernel.banks.indices import positions, samples_of_block
from multikernel.banks.sharing import sharing
from multikernel.banks.threads import slices
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance
from multikernel.tuning import LARGE_VALUES


@dataclass(frozen=True, eq=False)
class ArrayGram(Gram):
    """A stored matrix; its products take and return NumPy arrays.

    Parameters
    ----------
    K : foreign array (r, c) in double precision
    """

    K: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.K.shape[0]), int(self.K.shape[1])

    def multiply(self, V: Array) -> Array:
        return product(self.K, V)

    def rows(self, index: Any) -> Array:
        return np.asarray(host(taken(self.K, index)))

    def diagonal(self) -> Array:
        return np.asarray(host(namespace(self.K).linalg.diagonal(self.K)))

    def dense(self) -> Array:
        return np.asarray(host(self.K))

    def fresh(self) -> Any:
        return namespace(self.K).asarray(self.K, copy=True)

    def solve_shifted(self, shift: float, B: Array, on: Array | None = None, work: Array | None = None) -> Array:
        return Cholesky.of(self.K if on is None else self._block(on), shift).solve(B)

    def factored(self, shift: float, work: Array) -> Factor | None:
        try:
            cholesky = Cholesky.of(self.K, shift)
        except np.linalg.LinAlgError:
            return None
        return Factor(cholesky.solve, cholesky.half)

    def congruent(self, scale: Array) -> Gram:
        s = like(self.K, scale)
        return ArrayGram(s[:, None] * self.K * s)

    def spectrum(self) -> tuple[Array, Array]:
        values, vectors = namespace(self.K).linalg.eigh(self.K)
        return host(values), host(vectors)

    def principal(self, index: Array) -> Gram:
        return ArrayGram(self._block(index))

    def _block(self, index: Array) -> Any:
        """The block of some samples against themselves."""
        return taken(taken(self.K, index), index, axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class ArrayBank(KernelBank):
    """Kernels of the row samples X against the column samples Z; ``X is Z`` makes the bank square.

    Parameters
    ----------
    kernels : kernels with columns given by position, none of them centred
    X, Z : arrays of one library on one device, in double precision
    stored : the matrices (r, c) of all kernels; None where they are computed in every pass
    """

    kernels: tuple[Kernel, ...]
    X: Any
    Z: Any
    stored: tuple[Any, ...] | None = None

    @classmethod
    def of(cls, kernels: tuple[Kernel, ...], X: Any, memory: int = MEMORY) -> ArrayBank:
        """The square bank of samples.

        Raises
        ------
        ValueError : where a kernel is centred, or cannot be evaluated on such arrays
        """
        for kernel in {repr(kernel): kernel for kernel in kernels}.values():
            _check(kernel, X)
        bank = cls(kernels, X, X)
        fits = 8 * len(kernels) * X.shape[0] ** 2 <= memory
        if fits:
            return replace(bank, stored=tuple(bank.matrices_of(slice(None))))
        return bank

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.Z.shape[0])

    def __len__(self) -> int:
        return len(self.kernels)

    @property
    def square(self) -> bool:
        return self.X is self.Z

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        """The cost with NumPy arrays, so that ``solver="auto"`` makes the same choice on every device."""
        m = len(self)
        n = self.shape[1]
        stored_bytes = 8.0 * m * float(n) ** 2
        evaluated = BankCost.evaluated(m, n)
        if self.stored is None and stored_bytes > memory:
            return evaluated
        stored = BankCost.stored(m, n, stored_bytes)
        if self.stored is not None:
            return stored
        return replace(stored, made=evaluated.sweep)

    # -- matrices on the samples' device -----------------------------------------------------------------------------

    def matrices_of(self, rows: Index) -> Iterator[Any]:
        """These rows of every matrix, one matrix after the other."""
        if self.stored is not None:
            yield from (taken(K, rows) for K in self.stored)
            return
        X = taken(self.X, rows)
        all_rows = self.square and isinstance(rows, slice) and rows == slice(None)
        if all_rows:
            X = self.Z
        groups = [group for group in sharing(self.kernels) if len(group) > 1]
        group_of = {k: number for number, group in enumerate(groups) for k in group}
        base_matrices: dict[int, Any] = {}
        for k, kernel in enumerate(self.kernels):
            if k not in group_of:
                yield kernel(X, self.Z)
                continue
            number = group_of[k]
            fact = groups[number][k]
            if number not in base_matrices:
                if isinstance(fact, OfDistance):
                    base_matrices[number] = fact(X, self.Z)
                else:
                    base_matrices[number] = fact.base(X, self.Z)
            B = base_matrices[number]
            if isinstance(fact, OfDistance):
                yield fact.kernel.profile(B)
            else:
                yield B ** int(fact.degree)

    def _rows(self) -> Iterator[slice]:
        """Slices of rows, one for each tile."""
        return slices(self.shape[0], max(1, LARGE_VALUES // max(1, self.shape[1])))

    def tiles(self, rows: Index) -> Iterator[Array]:
        return (host(K) for K in self.matrices_of(rows))

    # -- passes ------------------------------------------------------------------------------------------------------

    def combine_all(self, W: Array) -> list[Gram]:
        W = np.asarray(W, dtype=float)
        active = np.flatnonzero(W.any(axis=0))
        bank = self.select(active)
        totals = [zeros(self.Z, self.shape) for _ in W]
        for rows in self._rows():
            for K, weights in zip(bank.matrices_of(rows), W[:, active].T, strict=True):
                for total, weight in zip(totals, weights.tolist(), strict=True):
                    if weight:
                        total[rows, :] += weight * K
        return [ArrayGram(total) if foreign(total) else DenseGram(total) for total in totals]

    def apply(self, C: Array) -> Array:
        V = like(self.Z, C)
        xp = namespace(self.Z)
        blocks = [host(xp.stack([K @ V for K in self.matrices_of(rows)])) for rows in self._rows()]
        if blocks:
            return np.concatenate(blocks, axis=1)
        return np.zeros((len(self), self.shape[0], C.shape[1]))

    def quads(self, A: Array) -> Array:
        self._check_square()
        V = like(self.Z, as_columns(A))
        xp = namespace(self.Z)
        forms = (
            host(xp.stack([xp.sum(taken(V, rows) * (K @ V), axis=0) for K in self.matrices_of(rows)]))
            for rows in self._rows()
        )
        return sum(forms, np.zeros((len(self), V.shape[1])))

    def inner(self, M: Any) -> Array:
        M = like(self.Z, M)
        xp = namespace(self.Z)
        products = (
            host(xp.stack([xp.sum(K * taken(M, rows)) for K in self.matrices_of(rows)])) for rows in self._rows()
        )
        return sum(products, np.zeros(len(self)))

    def pairs(self, N: Array | None = None) -> Array:
        xp = namespace(self.Z)
        total = np.zeros((len(self), len(self)))
        weights = None if N is None else like(self.Z, N)
        for rows in slices(self.shape[0], max(1, LARGE_VALUES // max(1, self.shape[1] * len(self)))):
            P = xp.stack(list(self.matrices_of(rows)))
            Q = P if weights is None else P * taken(weights, rows)
            total += host(xp.reshape(Q, (len(self), -1)) @ xp.reshape(P, (len(self), -1)).T)
        return total

    def diagonal(self) -> Array:
        self._check_square()
        return self._self_values(self.X)

    def self_values(self, X: Any) -> Array:
        return self._self_values(like(self.Z, X))

    def _self_values(self, X: Any) -> Array:
        values = [host(kernel.diagonal(X)) for kernel in self.kernels]
        if values:
            return np.stack(values)
        return np.zeros((0, X.shape[0]))

    # -- blocks, and new samples -------------------------------------------------------------------------------------

    def block(self, rows: Index, columns: Index) -> ArrayBank:
        X, Z = samples_of_block(self.X, self.Z, rows, columns)
        stored = None
        if self.stored is not None:
            r = positions(rows, self.shape[0])
            c = positions(columns, self.shape[1])
            stored = tuple(taken(taken(K, r), c, axis=1) for K in self.stored)
        return ArrayBank(self.kernels, X, Z, stored)

    def select(self, index: Index) -> ArrayBank:
        chosen = positions(index, len(self)).tolist()
        stored = None
        if self.stored is not None:
            stored = tuple(self.stored[k] for k in chosen)
        return replace(self, kernels=tuple(self.kernels[k] for k in chosen), stored=stored)

    def reference(self, columns: Index = slice(None)) -> ArrayBank:
        return replace(self, stored=None).block(np.arange(0), columns)

    def cross(self, X: Any) -> ArrayBank:
        return ArrayBank(self.kernels, like(self.Z, X), self.Z)


def _check(kernel: Kernel, X: Any) -> None:
    """ValueError where a kernel cannot be evaluated on arrays like X, which is tried on two samples."""
    library_name = library(X)
    advice = "give it NumPy arrays (it then works in the computer's own memory)"
    if kernel.follows_sample:
        raise ValueError(
            f"{kernel!r} is centred by the training sample, which is not done on arrays of {library_name}: {advice}"
        )
    two_samples = taken(X, slice(2))
    try:
        K = kernel(two_samples, two_samples)
    except (TypeError, ValueError, AttributeError, IndexError, RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{kernel!r} cannot be evaluated on arrays of {library_name}: {advice}") from error
    if foreign(K) != foreign(X) or tuple(K.shape) != (min(2, X.shape[0]),) * 2:
        raise ValueError(f"{kernel!r} cannot be evaluated on arrays of {library_name}: {advice}")
