"""Kernels with a scale for each distance inside them, and their weighted sum.

    K(theta) = sum_r w_r f_r(D_r),    D_r = sum_k s_rk D_k,    theta = (w_1, ..., w_R, s_1, ..., s_R)

with D_k the distances of a bank (in one feature each, say) and f_r the profiles of kernels of a distance. The scales s
are learned inside the kernel, the weights w outside. For any matrix M

    d<M, K> / dw_r = <M, f_r(D_r)>,    d<M, K> / ds_rk = w_r <M o f_r'(D_r), D_k>

Kernels may share the scales: there is one D then, theta = (w_1, ..., w_R, s), and the last derivative is a sum over r.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from multikernel._linalg import as_columns
from multikernel._rules import shown
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.banks.threads import over_tiles
from multikernel.combinations.base import Combination
from multikernel.kernels.distance import DistanceKernel

_FARTHEST = 1e200  # a distance at which every profile is 0 or next to it, and whose multiples are finite


@dataclass(frozen=True)
class Profiles(Combination):
    """K(theta) = sum_r w_r f_r(sum_k s_rk D_k), of a bank of distances.

    Parameters
    ----------
    kernels : tuple of R kernels of a distance, whose profiles f_r have slopes
    shared : bool, whether the kernels share the scales

    Raises
    ------
    ValueError : where there is no kernel

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> from multikernel.banks.columns import ColumnDistancesBank
    >>> from multikernel.combinations import Profiles
    >>> bank = ColumnDistancesBank.of(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> Profiles((kernels.RBF(1.0),)).gram(bank, np.array([2.0, 0.25, 0.5])).dense().round(2)
    array([[2.  , 0.94],
           [0.94, 2.  ]])
    """

    kernels: tuple[DistanceKernel, ...]
    shared: bool = False

    def __post_init__(self) -> None:
        given = isinstance(self.kernels, tuple) and all(isinstance(each, DistanceKernel) for each in self.kernels)
        if not given or not self.kernels:
            raise ValueError(
                f"Profiles: kernels must be a tuple of one or more kernels of a distance, got {shown(self.kernels)}"
            )

    def __hash__(self) -> int:
        return hash((repr(self.kernels), self.shared))  # kernels are compared by value, and have no hash of their own

    def check(self, bank: KernelBank) -> None:
        if not bank.of_distances:
            raise ValueError("Profiles takes distances, and this bank holds kernels: take its bank.distances()")

    def n_parameters(self, bank: KernelBank) -> int:
        return len(self.kernels) + len(self.users) * len(bank)

    @property
    def users(self) -> tuple[tuple[int, ...], ...]:
        """The kernels of each distance D_r."""
        numbers = range(len(self.kernels))
        return (tuple(numbers),) if self.shared else tuple((r,) for r in numbers)

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        return DenseGram(self.at(bank, theta).K)

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        """One for each kernel: its scales have none of their own."""
        R, shares = len(self.kernels), []
        for r in range(R):
            alone = np.array(theta, dtype=float)
            alone[:R] *= np.arange(R) == r
            shares.append(self.gram(bank, alone).multiply(C))
        return np.stack(shares)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        A = as_columns(A)
        return self.at(bank, theta).inner(A @ A.T)

    def at(self, bank: KernelBank, theta: Array) -> Evaluated:
        """K(theta) with what its derivatives are made of."""
        R = len(self.kernels)
        weights, scales = np.asarray(theta)[:R], np.asarray(theta)[R:].reshape(len(self.users), -1)
        distances = tuple(bank.combine(s).dense() for s in scales)
        K = np.zeros(bank.shape)

        def fill(rows: slice) -> None:
            for users, D in zip(self.users, distances, strict=True):
                near = _clipped(D[rows])
                for r in users:
                    profile = self.kernels[r].profile(near)
                    profile *= weights[r]
                    K[rows] += profile

        over_tiles(fill, K.shape)
        return Evaluated(self, bank, weights, distances, K)


@dataclass(frozen=True, eq=False)
class Evaluated:
    """K(theta) at weights w, with the distances D_r."""

    combination: Profiles
    bank: KernelBank
    weights: Array
    distances: tuple[Array, ...]
    K: Array

    def inner(self, M: Array) -> Array:
        """d<M, K(theta)> / dtheta for M of the shape of K, which is overwritten: shape (d,)."""
        outside, inside = np.zeros(len(self.weights)), []
        last = len(self.distances) - 1
        for d, users in enumerate(self.combination.users):
            product = M if d == last else np.empty_like(M)
            outside[list(users)] = self._multiplied(d, users, M, product)
            inside.append(self.bank.inner(product))
        return np.concatenate([outside, *inside])

    def kernels(self) -> Iterator[Array]:
        """w_r f_r(D) of each kernel r."""
        owner = {r: d for d, users in enumerate(self.combination.users) for r in users}
        for r, (kernel, weight) in enumerate(zip(self.combination.kernels, self.weights, strict=True)):
            D = self.distances[owner[r]]
            K = np.empty_like(D)

            def part(
                rows: slice, kernel: DistanceKernel = kernel, w: float = weight, D: Array = D, out: Array = K
            ) -> None:
                np.multiply(kernel.profile(_clipped(D[rows])), w, out=out[rows])

            over_tiles(part, D.shape)
            yield K

    def slopes(self) -> Iterator[Array]:
        """sum_r w_r f_r'(D) of each distance D, over the kernels r that have it."""
        for users, D in zip(self.combination.users, self.distances, strict=True):
            slopes = np.empty_like(D)

            def part(rows: slice, users: tuple[int, ...] = users, D: Array = D, out: Array = slopes) -> None:
                out[rows] = self._slope(users, _clipped(D[rows]))

            over_tiles(part, D.shape)
            yield slopes

    def _multiplied(self, d: int, users: tuple[int, ...], M: Array, out: Array) -> Array:
        """<M, f_r(D)> for the kernels r of a distance D, with M o sum_r w_r f_r'(D) in ``out``, which may be M."""

        def part(rows: slice) -> Array:
            near = _clipped(self.distances[d][rows])
            kernels = [self.combination.kernels[r] for r in users]
            values = np.array([np.einsum("ij,ij->", M[rows], kernel.profile(near)) for kernel in kernels])
            np.multiply(M[rows], self._slope(users, near), out=out[rows])
            return values

        parts = over_tiles(part, M.shape)
        return np.sum(parts, axis=0) if parts else np.zeros(len(users))

    def _slope(self, users: tuple[int, ...], near: Array) -> Array:
        """sum_r w_r f_r' over these kernels r, at distances."""
        total = np.zeros_like(near)
        for r in users:
            slope = self.combination.kernels[r].slope(near)
            slope *= self.weights[r]
            total += slope
        return total


def _clipped(D: Array) -> Array:
    """Distances are differences: rounding leaves some below 0. Those of samples far away may be infinite."""
    return np.clip(D, 0.0, _FARTHEST)
