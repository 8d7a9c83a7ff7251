"""Support vector regression: the machine with epsilon-insensitive loss.

    J(K) = max_b y'b - epsilon |b|_1 - 1/2 b'K b,    |b_i| <= C,    1'b = 0

whose primal is min 1/2 |f|^2 + C sum max(0, |y - f - c| - epsilon). Without an intercept c, 1'b is free. As a program
in a >= 0 each sample has two variables, b_i = a_i - a_{n+i}.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from multikernel._floats import positive_product
from multikernel._parameters import NonNegative, Positive
from multikernel._typing import Array
from multikernel.machines.base import checked_target
from multikernel.machines.support.base import SupportMachine, weights_of_samples
from multikernel.machines.support.program import SupportProgram


@dataclass(frozen=True)
class EpsilonMachine(SupportMachine):
    """max_b y'b - epsilon |b|_1 - 1/2 b'Kb over |b_i| <= C w_i, 1'b = 0; w_i the weight of sample i, if given.

    Parameters
    ----------
    C : float > 0, weight of the losses
    epsilon : float >= 0, the residual that costs nothing
    fit_intercept : bool, whether there is an intercept, and the equality 1'b = 0
    tol : float, the relative duality gap to reach
    max_iter : int, how many steps at most
    """

    numeric: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    C: Positive = 1.0
    epsilon: NonNegative = 0.1
    fit_intercept: bool = True

    def in_units(self, kernel: float, target: float) -> tuple[Self, float]:
        C = positive_product(self.C, kernel, 1.0 / target)
        return replace(self, C=C, epsilon=self.epsilon / target), positive_product(target, 1.0 / kernel)

    def balance(self, target: float) -> float:
        return positive_product(target, 1.0 / self.C)

    def program(self, target: Array, sample_weight: Array | None = None) -> SupportProgram:
        """The program for real targets; weights of samples multiply their upper bounds."""
        y = checked_target(target)
        return SupportProgram(
            n=len(y),
            sign=np.repeat([1.0, -1.0], len(y)),
            linear=np.concatenate([y - self.epsilon, -y - self.epsilon]),
            upper=np.tile(self.C * weights_of_samples(sample_weight, len(y)), 2),
            ridge=np.zeros(2 * len(y)),
            intercept=self.fit_intercept,
        )
