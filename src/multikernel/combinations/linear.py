"""The weighted sum K(theta) = sum_k theta_k K_k, with q_k = tr A'K_kA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from multikernel.banks import Gram, KernelBank
from multikernel.combinations.base import Combination
from multikernel.kernels.base import Array


@dataclass(frozen=True)
class Linear(Combination):
    """K(theta) = sum_k theta_k K_k."""

    linear: ClassVar[bool] = True

    def gram(self, bank: KernelBank, theta: Array) -> Gram:
        return bank.combine(theta)

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        return bank.quad(A)
