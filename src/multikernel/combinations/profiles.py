"""Kernels with a scale for each distance inside them, and their weighted sum.

    K(theta) = sum_r w_r f_r(D_r),    D_r = sum_k s_rk D_k,    theta = (w_1, ..., w_R, s_1, ..., s_R)

with D_k the distances of a bank (in one feature each, say) and f_r the profiles of kernels of a distance. The scales s
are learned inside the kernel, the weights w outside. For any matrix M

    d<M, K> / dw_r = <M, f_r(D_r)>,    d<M, K> / ds_rk = w_r <M o f_r'(D_r), D_k>

Kernels may share the scales: there is one D then, theta = (w_1, ..., w_R, s), and the last derivative is a sum over r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._linalg import as_columns
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.banks.threads import over_tiles
from multikernel.combinations.base import Combination
from multikernel.kernels.distance import DistanceKernel


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
        super().__post_init__()
        valid = isinstance(self.kernels, tuple) and all(isinstance(kernel, DistanceKernel) for kernel in self.kernels)
        if not valid or not self.kernels:
            raise ValueError(
                "Profiles: kernels must be a tuple of one or more kernels of a distance, got "
                f"{abbreviated(self.kernels)}"
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
        if self.shared:
            return (tuple(numbers),)
        return tuple((r,) for r in numbers)

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        weights, distances = self._distances(bank, theta)
        K = distances[0]

        def fill(rows: slice) -> None:
            near = [_clipped(D[rows]) for D in distances]
            K[rows] = 0.0
            for users, clipped in zip(self.users, near, strict=True):
                for r in users:
                    profile = self.kernels[r].profile(clipped)
                    profile *= weights[r]
                    K[rows] += profile

        over_tiles(fill, K.shape)
        return DenseGram(K)

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        """One for each kernel: its scales have none of their own."""
        R = len(self.kernels)
        shares = []
        for r in range(R):
            alone = np.array(theta, dtype=float)
            alone[:R] *= np.arange(R) == r
            shares.append(self.gram(bank, alone).multiply(C))
        return np.stack(shares)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        A = as_columns(A)
        (weights, distances) = self._distances(bank, theta)
        outside = np.zeros(len(self.kernels))
        inside = []
        for users, D in zip(self.users, distances, strict=True):
            outside[list(users)] = self._multiplied(users, weights, A, D)
            inside.append(bank.inner(D))
        return np.concatenate([outside, *inside])

    def at(self, bank: KernelBank, theta: Array) -> tuple[Array, Slopes]:
        """K(theta), as a new array, and the data for its derivatives."""
        weights, distances = self._distances(bank, theta)
        K = np.empty(bank.shape)
        terms = tuple(np.empty(bank.shape) for _ in self.kernels[1:])

        def fill(rows: slice) -> None:
            K[rows] = 0.0
            for users, D in zip(self.users, distances, strict=True):
                near = _clipped(D[rows])
                D[rows] = 0.0  # its slopes take its place
                for r in users:
                    for value, out in zip(self.kernels[r].profile_and_slope(near), (K, D), strict=True):
                        value *= weights[r]
                        out[rows] += value
                        if r and out is K:
                            terms[r - 1][rows] = value

        over_tiles(fill, K.shape)
        return K, Slopes(bank, distances, terms)

    def _distances(self, bank: KernelBank, theta: Array) -> tuple[Array, tuple[Array, ...]]:
        """The weights, and the matrices D_r as new arrays."""
        R = len(self.kernels)
        weights = np.asarray(theta)[:R]
        scales = np.asarray(theta)[R:]
        if len(scales) != len(self.users) * len(bank):
            raise ValueError(
                f"{R} kernels of {len(bank)} distances have {self.n_parameters(bank)} parameters, got {len(theta)}"
            )
        return weights, tuple(bank.combine(s).dense() for s in scales.reshape(len(self.users), -1))

    def _multiplied(self, users: tuple[int, ...], weights: Array, A: Array, D: Array) -> Array:
        """<A A', f_r(D)> for the kernels r of a distance D, with A A' o sum_r w_r f_r'(D) in the place of D."""

        def tile_sums(rows: slice) -> Array:
            near = _clipped(D[rows])
            M = A[rows] @ A.T
            values = np.zeros(len(users))
            D[rows] = 0.0
            for k, r in enumerate(users):
                profile, slope = self.kernels[r].profile_and_slope(near)
                values[k] = np.einsum("ij,ij->", M, profile)
                slope *= weights[r]
                D[rows] += slope
            D[rows] *= M
            return values

        sums = over_tiles(tile_sums, D.shape)
        if sums:
            return np.sum(sums, axis=0)
        return np.zeros(len(users))


@dataclass(frozen=True, eq=False)
class Slopes:
    """sum_r w_r f_r'(D) of each distance D over its kernels r, and w_r f_r(D_r) of all r but the first.

    The term of the first kernel follows from K, the sum of the terms.
    """

    bank: KernelBank
    slopes: tuple[Array, ...]
    terms: tuple[Array, ...]

    def inner(self, M: Array, total: float) -> Array:
        """d<M, K(theta)> in the logarithms of the weights and in the scales, for M that is overwritten.

        Parameters
        ----------
        M : array of the shape of K
        total : float, <M, K>
        """
        outside = np.array([0.0, *(float(np.einsum("ij,ij->", M, term)) for term in self.terms)])
        outside[0] = total - outside.sum()
        inside = []
        last = len(self.slopes) - 1
        for d, slope in enumerate(self.slopes):
            product = M if d == last else np.empty_like(M)
            np.multiply(M, slope, out=product)
            inside.append(self.bank.inner(product))
        return np.concatenate([outside, *inside])


def _clipped(D: Array) -> Array:
    """Distances are differences: rounding leaves some below 0. Those of samples far away may be infinite.

    At a distance of 1e200 every profile is 0 or next to it, and multiples of it are finite.
    """
    return np.clip(D, 0.0, 1e200)
