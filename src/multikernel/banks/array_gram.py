"""A kernel matrix that is an array of another library, on its device: factorised, decomposed and multiplied there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import Cholesky, host, like, namespace, taken
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks.gram import Factor, Gram


@dataclass(frozen=True, eq=False)
class ArrayGram(Gram):
    """A stored matrix; vectors go in and come out as NumPy arrays.

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
        return Cholesky.of(self.K if on is None else self._part(on), shift).solve(B)

    def factored(self, shift: float, work: Array) -> Factor | None:
        try:
            found = Cholesky.of(self.K, shift)
        except np.linalg.LinAlgError:
            return None
        return Factor(found.solve, found.half)

    def congruent(self, scale: Array) -> Gram:
        s = like(self.K, scale)
        return ArrayGram(s[:, None] * self.K * s)

    def spectrum(self) -> tuple[Array, Array]:
        values, vectors = namespace(self.K).linalg.eigh(self.K)
        return host(values), host(vectors)

    def principal(self, index: Array) -> Gram:
        return ArrayGram(self._part(index))

    def _part(self, index: Array) -> Any:
        """The block of some samples."""
        return taken(taken(self.K, index), index, axis=1)
