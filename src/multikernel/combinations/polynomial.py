"""The power of a weighted sum, entry by entry.

    S = sum_k theta_k K_k        K(theta) = S o S o ... o S  (degree factors)
    q_k = degree <AA' o S^(degree - 1), K_k>        H_jk = degree (degree - 1) <AA' o S^(degree - 2), K_j o K_k>

All products of ``degree`` kernels take part, with multinomial coefficients: equation (3) of Cortes, Mohri and
Rostamizadeh (2009) leaves these coefficients out, but the paper's results need them.

Where S = F W F' has few features, its powers have few, too: the monomials of the columns of F. With
S^(degree - 1) = P V P' the scores are quadratic forms, q_k = degree tr B'K_kB, B the columns v_r^{1/2} p_r o a_t.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import TypeGuard

import numpy as np
from scipy.special import factorial as factorials

from multikernel._floats import positive_power, positive_product
from multikernel._linalg import as_columns
from multikernel._parameters import Power
from multikernel._typing import Array
from multikernel.banks import DenseGram, FactorGram, Gram, KernelBank
from multikernel.combinations.base import Combination


@dataclass(frozen=True)
class HadamardPower(Combination):
    """K(theta) = (sum_k theta_k K_k)^degree, entry by entry.

    Degree 1 is the sum itself, in the structure that the bank has for it. At theta = 0 the scores of a higher degree
    vanish, so that a search cannot start there.

    Parameters
    ----------
    degree : int >= 1

    Raises
    ------
    ValueError : where the degree is not a whole number >= 1

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import HadamardPower
    >>> bank = bind(kernels.linear_features(), np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> HadamardPower(2).gram(bank, np.array([1.0, 0.5])).dense()  # the squares of 3, 1, 1 and 0.5
    array([[9.  , 1.  ],
           [1.  , 0.25]])
    """

    degree: Power = 2

    @property
    def linear(self) -> bool:
        return self.degree == 1

    def in_units(self, kernel: float, balance: float, free: bool) -> tuple[float, float, float]:
        if free and balance:
            return kernel, positive_product(positive_power(balance, 1.0 / self.degree), 1.0 / kernel), balance
        if balance:
            unit = max(kernel, positive_power(balance, 1.0 / self.degree))
        else:
            unit = kernel
        return unit, 1.0, positive_power(unit, float(self.degree))

    def idle(self, bank: KernelBank) -> Array:
        return bank.traces() == 0.0

    def gram(self, bank: KernelBank, theta: Array) -> Gram:
        return _power(bank.combine(theta), int(self.degree))

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        if self.degree == 1:
            return bank.quad(A)
        A = as_columns(A)
        P = _power(bank.combine(theta), int(self.degree) - 1)
        B = _columns(P, A)
        return self.degree * (bank.inner(_product(P, A)) if B is None else bank.quad(B))

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        return (theta / self.degree)[:, None, None] * self.images(bank, theta, C)

    def peaks(self, bank: KernelBank, theta: Array) -> Array:
        diagonal = bank.diagonal()
        return self.degree * (diagonal * (theta @ diagonal) ** (self.degree - 1)).max(axis=1)

    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        if self.degree == 1:
            return bank.apply(as_columns(A))
        P = _power(bank.combine(theta), int(self.degree) - 1)
        return self.degree * bank.hadamard_apply(P, as_columns(A))

    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        factor = self.degree * (self.degree - 1)
        if self.degree == 1:
            return np.zeros((len(bank), len(bank)))
        if self.degree == 2:
            return factor * bank.pair_forms(A)
        A = as_columns(A)
        P = _power(bank.combine(theta), int(self.degree) - 2)
        B = _columns(P, A)
        forms = bank.pairs(_product(P, A)) if B is None else bank.pair_forms(B)
        return factor * forms

    def powers(self, bank: KernelBank) -> Array:
        """Every monomial theta_1^k_1 ... theta_m^k_m is a geometric mean of the theta_k^degree, and so concave."""
        return np.full(len(bank), float(self.degree))


def _columns(P: Gram, A: Array) -> Array | None:
    """B with BB' = AA' o P, where P has so few features that B has few columns; else None."""
    if not _of_dense_features(P) or 2 * P.F.shape[1] * A.shape[1] > len(A):
        return None
    B: Array = (P.F * np.sqrt(P.weights))[:, :, None] * A[:, None, :]
    return B.reshape(len(A), -1)


def _of_dense_features(P: Gram) -> TypeGuard[FactorGram]:
    """Whether P is known by features that are NumPy's, and dense: of these monomials are formed."""
    return isinstance(P, FactorGram) and isinstance(P.F, np.ndarray)


def _product(P: Gram, A: Array) -> Array:
    """AA' o P."""
    M: Array = A @ A.T
    M *= P.dense()
    return M


def _power(S: Gram, degree: int) -> Gram:
    """S^degree, by features where these are at most a quarter of the columns: a solve then costs a quarter as much."""
    if degree == 1:
        return S
    if _of_dense_features(S):
        nonzero = np.flatnonzero(S.weights)
        if len(nonzero) and 4 * comb(len(nonzero) + degree - 1, degree) <= S.shape[1]:
            return _monomials(S.F[:, nonzero], S.weights[nonzero], None if S.F is S.H else S.H[:, nonzero], degree)
    M = S.dense()
    K = np.multiply(M, M, dtype=float)  # powers soon leave the range of single precision
    power = 2
    while 2 * power <= degree:
        K *= K
        power *= 2
    for _ in range(degree - power):
        K *= M
    return DenseGram(K)


def _monomials(F: Array, weights: Array, H: Array | None, degree: int) -> FactorGram:
    """(F W H')^degree: a feature for each product of columns, weighted by the number of orders of its factors."""
    index = np.array(list(combinations_with_replacement(range(F.shape[1]), degree)))
    repeats = (index[:, :, None] == np.arange(F.shape[1])).sum(axis=1)
    orders = factorial(degree) / factorials(repeats).prod(axis=1)
    left = _products(F, index)
    right = left if H is None else _products(H, index)
    return FactorGram(left, orders * weights[index].prod(axis=1), right)


def _products(F: Array, index: Array) -> Array:
    """For each row of the index, the product of the columns of F that it names."""
    products = F[:, index[:, 0]]
    for columns in index.T[1:]:
        products *= F[:, columns]
    return products
