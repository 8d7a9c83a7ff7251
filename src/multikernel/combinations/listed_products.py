"""The sum over some products of kernels, each weighted by the product of its kernels' weights.

    K(mu) = sum_P prod_{k in P} mu_k K_k    entry by entry

A tuple of kernels stands for their product: (0, 0, 2) is K_0 o K_0 o K_2, with the weight mu_0 mu_0 mu_2. A tuple that
is listed twice counts twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import Annotated, Any

import numpy as np

from multikernel._linalg import as_columns
from multikernel._parameters import WHOLE
from multikernel._rules import Rule
from multikernel._typing import Array
from multikernel.banks import DenseGram, KernelBank
from multikernel.combinations.base import Combination


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
class ListedProducts(Combination):
    """K(mu) = sum_P prod_{k in P} mu_k K_k, a weight for each kernel.

    Parameters
    ----------
    products : tuples of kernels by number, those whose products are summed

    Raises
    ------
    ValueError : where a product is no tuple of kernels by number, or names a kernel that the bank does not have

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations.listed_products import ListedProducts
    >>> bank = bind(kernels.linear_features(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> ListedProducts(((0,), (1, 1))).gram(bank, np.array([1.0, 0.5])).dense()  # K_0, and a quarter of K_1 o K_1
    array([[5.  , 1.  ],
           [1.  , 0.25]])
    """

    products: Products

    @property
    def linear(self) -> bool:
        """Whether every product is a single kernel."""
        return all(len(product) == 1 for product in self.products)

    def n_parameters(self, bank: KernelBank) -> int:
        check_names(self.products, bank)
        return len(bank)

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        if len(theta) != self.n_parameters(bank):
            raise ValueError(f"{len(bank)} kernels have {len(bank)} weights, got {len(theta)}")
        K = np.zeros(bank.shape)
        for product in self.products:
            K += theta[list(product)].prod() * matrix_of(bank, product)
        return DenseGram(K)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        q = np.zeros(len(bank))
        for product in self.products:
            q += _slopes(product, theta) * form_of(bank, product, as_columns(A))
        return q

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        shares = np.zeros((len(bank), bank.shape[0], C.shape[1]))
        for product in self.products:
            share = theta[list(product)].prod() / len(product) * (matrix_of(bank, product) @ C)
            for k in product:
                shares[k] += share
        return shares

    def peaks(self, bank: KernelBank, theta: Array) -> Array:
        diagonal = bank.diagonal().astype(float)
        peaks = np.zeros(len(bank))
        for product in self.products:
            peaks += _slopes(product, theta) * diagonal[list(product)].prod(axis=0).max()
        return peaks

    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        A = as_columns(A)
        images = np.zeros((len(bank), *A.shape))
        for product in self.products:
            images += _slopes(product, theta)[:, None, None] * (matrix_of(bank, product) @ A)
        return images

    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        second = np.zeros((len(bank), len(bank)))
        for product in self.products:
            second += _bends(product, theta) * form_of(bank, product, as_columns(A))
        return second

    def powers(self, bank: KernelBank) -> Array:
        """The length of the longest product: in this power of the weights shorter products are concave, too."""
        return np.full(len(bank), float(max(map(len, self.products), default=1)))


def check_names(products: Products, bank: KernelBank) -> None:
    """ValueError where a product names a kernel that the bank does not have."""
    largest = max(map(max, products), default=0)
    if largest >= len(bank):
        raise ValueError(f"a product names kernel {largest}, and there are {len(bank)}, counted from 0")


def matrix_of(bank: KernelBank, product: tuple[int, ...]) -> Array:
    """The entrywise product of the kernels that a tuple names, dense; a product of several is in double precision."""
    return reduce(partial(np.multiply, dtype=float), (bank.matrix(k) for k in product))


def form_of(bank: KernelBank, product: tuple[int, ...], A: Array) -> float:
    """tr A'PA, P the product that a tuple names."""
    return float((A * (matrix_of(bank, product) @ A)).sum())


def _slopes(product: tuple[int, ...], mu: Array) -> Array:
    """The derivatives of the product of a tuple's weights: for each position, the product of the other weights."""
    slopes = np.zeros(len(mu))
    weights = mu[list(product)]
    for position, k in enumerate(product):
        slopes[k] += np.delete(weights, position).prod()
    return slopes


def _bends(product: tuple[int, ...], mu: Array) -> Array:
    """The second derivatives of the product of the weights that a tuple names."""
    bends = np.zeros((len(mu), len(mu)))
    for position, k in enumerate(product):
        bends[k] += _slopes(product[:position] + product[position + 1 :], mu)
    return bends
