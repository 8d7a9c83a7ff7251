"""The weighted sum K(theta) = sum_k theta_k K_k, with q_k = tr A'K_kA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import positive_product
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.combinations.base import Combination


@dataclass(frozen=True)
class Linear(Combination):
    """K(theta) = sum_k theta_k K_k."""

    @property
    def linear(self) -> bool:
        return True

    def in_units(self, kernel: float, balance: float, free: bool) -> tuple[float, float, float]:
        if free and balance:
            return kernel, positive_product(balance, 1.0 / kernel), balance
        unit = max(kernel, balance)
        return unit, 1.0, unit

    def idle(self, bank: KernelBank) -> Array:
        return bank.traces() == 0.0

    def gram(self, bank: KernelBank, theta: Array) -> Gram:
        return bank.combine(theta)

    def shares(self, bank: KernelBank, theta: Array, C: Array) -> Array:
        return self.shares_of_each(bank, theta[None], C)

    def shares_of_each(self, bank: KernelBank, thetas: Array, C: Array) -> Array:
        active = np.flatnonzero(thetas.any(axis=0))
        shares = np.zeros((thetas.shape[1], bank.shape[0], C.shape[1]))
        if len(active):
            shares[active] = thetas.T[active, None, :] * bank.select(active).apply(C)
        return shares

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return bank.quad(A)

    def images(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return bank.apply(as_columns(A))

    def second(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return np.zeros((len(bank), len(bank)))

    def powers(self, bank: KernelBank) -> Array:
        return np.ones(len(bank))
