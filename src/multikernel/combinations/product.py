"""A product of Gaussian kernels, the theta_k their inverse widths.

    K(theta) = exp(-sum_k theta_k D_k)        q_k = -<AA' o K(theta), D_k>

with D_k the squared distances in the feature space of base kernel k. For one linear kernel on each feature these are
the widths that Varma and Babu (2009) learn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.combinations.base import Combination


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
