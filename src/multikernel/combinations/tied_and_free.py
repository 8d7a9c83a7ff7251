"""Products of kernels with tied and with free weights (Cortes, Mohri and Rostamizadeh 2009, equation 2).

    K(mu, nu) = T(mu) + sum_j nu_j P_j

A tuple of kernels stands for their entrywise product: (0, 0, 2) is K_0 o K_0 o K_2. In the tied part T a product has
the product of its kernels' weights, mu_0 mu_0 mu_2; in the free part every product P_j has a weight of its own. T is
either a power of the weighted sum, which holds the products of all tuples of that length, or the sum over some tuples.
A tuple that is listed twice counts twice; in a power both (0, 1) and (1, 0) occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._parameters import WHOLE, Power
from multikernel._rules import Rule
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.combinations.base import Combination
from multikernel.combinations.polynomial import HadamardPower


@dataclass(frozen=True)
class ListOfProducts(Rule):
    """Products of kernels, each of which is named by its number."""

    words = "a list of products, each a tuple of one or more kernels by number, from 0 on"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and all(
            isinstance(product, list | tuple) and len(product) > 0 and all(map(WHOLE.accepts, product))
            for product in value
        )


Products = Annotated[tuple[tuple[int, ...], ...], ListOfProducts()]


@dataclass(frozen=True)
class TiedAndFree(Combination):
    """K(mu, nu) = T(mu) + sum_j nu_j P_j; theta holds mu, a weight for each kernel, then nu, one for each free product.

    Parameters
    ----------
    tied : int >= 1, the degree of the power of the weighted sum; or the tuples of kernels whose products are summed
    free : tuples of kernels, the products with weights of their own

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
    def linear(self) -> bool:
        """Whether every tied product is a single kernel; free products enter linearly whatever they are."""
        if self._power is None:
            return all(len(product) == 1 for product in self._listed)
        return self._power.linear

    def in_units(self, kernel: float, balance: float, free: bool) -> tuple[float, float, float] | None:
        """None for products of several lengths. Tied and free weights have one unit for one kernel's weights only."""
        if self._power is not None:
            tied = {self._power.degree}
        else:
            tied = set(map(len, self._listed))
        lengths = tied | set(map(len, self.free))
        if len(lengths) > 1:
            return None
        degree = lengths.pop()
        return HadamardPower(degree).in_units(kernel, balance, free and (degree == 1 or not self.free))

    def n_parameters(self, bank: KernelBank) -> int:
        largest = max((max(product) for product in (*self._listed, *self.free)), default=0)
        if largest >= len(bank):
            raise ValueError(f"a product names kernel {largest}, and there are {len(bank)}, counted from 0")
        return len(bank) + len(self.free)

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        mu, nu = self._parts(bank, theta)
        if self._power is None:
            K = np.zeros(bank.shape)
        else:
            K = self._power.gram(bank, mu).dense().copy()
        for product in self._listed:
            K += mu[list(product)].prod() * _product(bank, product)
        for weight, product in zip(nu, self.free, strict=True):
            K += weight * _product(bank, product)
        return DenseGram(K)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        (mu, _) = self._parts(bank, theta)
        A = as_columns(A)
        if self._power is None:
            q = np.zeros(len(bank))
        else:
            q = self._power.pullback(bank, mu, A)
        for product in self._listed:
            q += _slopes(product, mu) * _form(bank, product, A)
        return np.concatenate([q, [_form(bank, product, A) for product in self.free]])

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        mu, nu = self._parts(bank, theta)
        shares = np.zeros((len(theta), bank.shape[0], C.shape[1]))
        if self._power is not None:
            shares[: len(mu)] = self._power.shares(bank, mu, C)
        for product in self._listed:
            part = mu[list(product)].prod() / len(product) * (_product(bank, product) @ C)
            for k in product:
                shares[k] += part
        for j, (weight, product) in enumerate(zip(nu, self.free, strict=True), len(mu)):
            shares[j] = weight * (_product(bank, product) @ C)
        return shares

    def peaks(self, bank: KernelBank, theta: Array) -> Array:
        (mu, _) = self._parts(bank, theta)
        diagonal = bank.diagonal()
        if self._power is None:
            peaks = np.zeros(len(bank))
        else:
            peaks = self._power.peaks(bank, mu)
        for product in self._listed:
            peaks += _slopes(product, mu) * diagonal[list(product)].prod(axis=0).max()
        return np.concatenate([peaks, [diagonal[list(product)].prod(axis=0).max() for product in self.free]])

    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        (mu, _) = self._parts(bank, theta)
        A = as_columns(A)
        if self._power is None:
            images = np.zeros((len(bank), *A.shape))
        else:
            images = self._power.images(bank, mu, A)
        for product in self._listed:
            images += _slopes(product, mu)[:, None, None] * (_product(bank, product) @ A)
        return np.concatenate([images, *((_product(bank, product) @ A)[None] for product in self.free)])

    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        (mu, _) = self._parts(bank, theta)
        A = as_columns(A)
        m = len(bank)
        second = np.zeros((len(theta), len(theta)))  # free products enter linearly
        if self._power is not None:
            second[:m, :m] = self._power.second(bank, mu, A)
        for product in self._listed:
            second[:m, :m] += _bends(product, mu) * _form(bank, product, A)
        return second

    def powers(self, bank: KernelBank) -> Array:
        """The length of the longest tied product, in which shorter ones are concave, too; 1 for free weights."""
        if self._power is not None:
            degree = self._power.degree
        else:
            degree = max(map(len, self._listed))
        return np.concatenate([np.full(len(bank), float(degree)), np.ones(len(self.free))])

    @property
    def _power(self) -> HadamardPower | None:
        if isinstance(self.tied, int | np.integer):
            return HadamardPower(int(self.tied))
        return None

    @property
    def _listed(self) -> Products:
        return () if isinstance(self.tied, int | np.integer) else self.tied

    def _parts(self, bank: KernelBank, theta: Array) -> tuple[Array, Array]:
        if len(theta) != self.n_parameters(bank):
            raise ValueError(
                f"{len(bank)} kernels and {len(self.free)} free products have {self.n_parameters(bank)} weights, "
                f"got {len(theta)}"
            )
        return theta[: len(bank)], theta[len(bank) :]


def _product(bank: KernelBank, product: tuple[int, ...]) -> Array:
    """The entrywise product of the kernels that a tuple names, dense."""
    return reduce(np.multiply, (bank.matrix(k) for k in product))


def _form(bank: KernelBank, product: tuple[int, ...], A: Array) -> float:
    """tr A'PA, P the product that a tuple names."""
    return float((A * (_product(bank, product) @ A)).sum())


def _slopes(product: tuple[int, ...], mu: Array) -> Array:
    """The derivatives of the product of the weights that a tuple names: at each place, the product of the others."""
    slopes = np.zeros(len(mu))
    weights = mu[list(product)]
    for place, k in enumerate(product):
        slopes[k] += np.delete(weights, place).prod()
    return slopes


def _bends(product: tuple[int, ...], mu: Array) -> Array:
    """The second derivatives of the product of the weights that a tuple names."""
    bends = np.zeros((len(mu), len(mu)))
    for place, k in enumerate(product):
        bends[k] += _slopes(product[:place] + product[place + 1 :], mu)
    return bends
