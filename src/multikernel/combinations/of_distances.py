"""Kernels of a weighted sum of distances: a product of Gaussian kernels, or any other profile of a distance.

    K(theta) = f(sum_k theta_k D_k)        q_k = <AA' o f'(D), D_k>

With f(D) = exp(-D) and D_k the squared distances in the feature space of base kernel k the theta_k are inverse widths,
and q_k = -<AA' o K(theta), D_k>. For one linear kernel on each feature these are the widths that Varma and Babu (2009)
learn. For other profiles D_k are the distances of a bank, in one feature each, say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._linalg import as_columns
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.combinations.base import Combination
from multikernel.combinations.profiles import Profiles
from multikernel.kernels.distance import DistanceKernel


@dataclass(frozen=True)
class ProductOfRBF(Combination):
    """K(theta) = exp(-sum_k theta_k D_k), of a bank of squared distances (``bank.distances()``).

    The kernel falls as theta grows, so scores q may have either sign, and J may rise as well as fall.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import ProductOfRBF
    >>> bank = bind(kernels.linear_features(), np.array([[1.0, 2.0], [0.0, 1.0]])).distances()
    >>> np.log(ProductOfRBF().gram(bank, np.array([0.25, 0.5])).dense())
    array([[ 0.  , -0.75],
           [-0.75,  0.  ]])
    """

    def check(self, bank: KernelBank) -> None:
        if not bank.of_distances:
            raise ValueError(
                "ProductOfRBF takes squared distances, which are 0 from a sample to itself, and this bank holds "
                "kernels: take its bank.distances()"
            )

    def in_units(self, kernel: float, balance: float, free: bool) -> tuple[float, float, float]:
        return kernel, 1.0 / kernel, 1.0

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        K = np.maximum(bank.combine(theta).dense(), 0.0)  # distances are differences: rounding leaves some below 0
        np.negative(K, out=K)
        return DenseGram(np.exp(K, out=K))

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        A = as_columns(A)
        M = A @ A.T
        M *= self.gram(bank, theta).dense()
        return -bank.inner(M)


@dataclass(frozen=True)
class ScaledProfile(Combination):
    """K(theta) = f(sum_k theta_k D_k), of a bank of distances; the kernel falls as theta grows.

    Parameters
    ----------
    kernel : a kernel of a distance, whose profile f has a slope

    Raises
    ------
    ValueError : for another kernel

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> from multikernel.banks.columns import ColumnDistancesBank
    >>> from multikernel.combinations import ScaledProfile
    >>> bank = ColumnDistancesBank.of(np.array([[1.0, 2.0], [0.0, 1.0]]), degree=1)
    >>> ScaledProfile(kernels.Laplacian()).gram(bank, np.array([0.25, 0.5])).dense().round(2)
    array([[1.  , 0.47],
           [0.47, 1.  ]])
    """

    kernel: DistanceKernel

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, DistanceKernel):
            raise ValueError(
                f"ScaledProfile takes a kernel of a distance, RBF() or Matern() say, got {abbreviated(self.kernel)}"
            )

    def __hash__(self) -> int:
        return hash(repr(self.kernel))  # kernels are compared by value, and have no hash of their own

    def check(self, bank: KernelBank) -> None:
        self._profiles.check(bank)

    def in_units(self, kernel: float, balance: float, free: bool) -> tuple[float, float, float]:
        return kernel, 1.0 / kernel, 1.0

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        return self._profiles.gram(bank, np.append(1.0, theta))

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return self._profiles.pullback(bank, np.append(1.0, theta), A)[1:]

    @property
    def _profiles(self) -> Profiles:
        """The sum of this one kernel, whose weight is 1."""
        return Profiles((self.kernel,))
