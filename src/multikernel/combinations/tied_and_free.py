"""Products of kernels with tied and with free weights (Cortes, Mohri and Rostamizadeh 2009, equation 2).

    K(mu, nu) = T(mu) + sum_j nu_j P_j

In the tied part T the weight of a product is the product of its kernels' weights; in the free part every product P_j
has a separate weight. T is a combination: a power of the weighted sum, which is the sum of the products of all tuples
of that length, or the sum over some of these (``listed_products.py``). In a power both (0, 1) and (1, 0) occur.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._linalg import as_columns
from multikernel._parameters import Power
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.combinations.base import Combination
from multikernel.combinations.listed_products import ListedProducts, Products, check_names, form_of, matrix_of
from multikernel.combinations.polynomial import HadamardPower


@dataclass(frozen=True)
class TiedAndFree(Combination):
    """K(mu, nu) = T(mu) + sum_j nu_j P_j; theta holds mu, a weight for each kernel, then nu, one for each free product.

    Parameters
    ----------
    tied : int >= 1, the degree of the power of the weighted sum; or the tuples of kernels whose products are summed
    free : tuples of kernels, the products with separate weights

    Raises
    ------
    ValueError : where the degree is not a whole number >= 1, a product is no tuple of kernels by number, or one of them
        names a kernel that the bank does not have

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import TiedAndFree
    >>> bank = bind(kernels.linear_features(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> TiedAndFree(1, free=((0, 1),)).gram(bank, np.array([1.0, 0.5, 10.0])).dense()  # the sum, and 10 times K_0 o K_1
    array([[43. ,  1. ],
           [ 1. ,  0.5]])
    """

    tied: Power | Products = 2
    free: Products = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.tied:
            raise ValueError("TiedAndFree: tied must be a degree, or name at least one product, got none")

    @property
    def part(self) -> HadamardPower | ListedProducts:
        """T."""
        if isinstance(self.tied, int | np.integer):
            return HadamardPower(int(self.tied))
        return ListedProducts(self.tied)

    @property
    def linear(self) -> bool:
        """Whether the tied part is linear; free products enter linearly whatever they are."""
        return self.part.linear

    def in_units(self, kernel: float, balance: float, free: bool) -> tuple[float, float, float] | None:
        """None for products of several lengths. Tied and free weights have one unit for one kernel's weights only."""
        tied_part = self.part
        if isinstance(tied_part, HadamardPower):
            tied = {tied_part.degree}
        else:
            tied = set(map(len, tied_part.products))
        lengths = tied | set(map(len, self.free))
        if len(lengths) > 1:
            return None
        degree = lengths.pop()
        return HadamardPower(degree).in_units(kernel, balance, free and (degree == 1 or not self.free))

    def n_parameters(self, bank: KernelBank) -> int:
        check_names(self.free, bank)
        return self.part.n_parameters(bank) + len(self.free)

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        mu, nu = self._weights(bank, theta)
        K = self.part.gram(bank, mu).dense().copy()
        for weight, product in zip(nu, self.free, strict=True):
            K += weight * matrix_of(bank, product)
        return DenseGram(K)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        mu, _ = self._weights(bank, theta)
        A = as_columns(A)
        return np.concatenate([self.part.pullback(bank, mu, A), [form_of(bank, product, A) for product in self.free]])

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        mu, nu = self._weights(bank, theta)
        free = [(weight * (matrix_of(bank, product) @ C))[None] for weight, product in zip(nu, self.free, strict=True)]
        return np.concatenate([self.part.shares(bank, mu, C), *free])

    def peaks(self, bank: KernelBank, theta: Array) -> Array:
        mu, _ = self._weights(bank, theta)
        diagonal = bank.diagonal().astype(float)
        free = [diagonal[list(product)].prod(axis=0).max() for product in self.free]
        return np.concatenate([self.part.peaks(bank, mu), free])

    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        mu, _ = self._weights(bank, theta)
        A = as_columns(A)
        free = [(matrix_of(bank, product) @ A)[None] for product in self.free]
        return np.concatenate([self.part.images(bank, mu, A), *free])

    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        mu, _ = self._weights(bank, theta)
        second = np.zeros((len(theta), len(theta)))  # free products enter linearly
        second[: len(mu), : len(mu)] = self.part.second(bank, mu, A)
        return second

    def powers(self, bank: KernelBank) -> Array:
        """Those of the tied part, and 1 for free weights."""
        return np.concatenate([self.part.powers(bank), np.ones(len(self.free))])

    def _weights(self, bank: KernelBank, theta: Array) -> tuple[Array, Array]:
        """mu and nu."""
        if len(theta) != self.n_parameters(bank):
            raise ValueError(
                f"{len(bank)} kernels and {len(self.free)} free products have {self.n_parameters(bank)} weights, "
                f"got {len(theta)}"
            )
        return theta[: len(bank)], theta[len(bank) :]
