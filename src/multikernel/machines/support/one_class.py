"""The one-class support vector machine: a region that holds most samples (Schoelkopf and others 2001).

    J(K) = max_a -1/2 a'K a,    0 <= a <= 1 / (nu n),    sum a = 1

whose primal is min 1/2 |f|^2 + 1/(nu n) sum max(0, -(f + c)) + c over f and the intercept c: f + c >= 0 inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from multikernel._parameters import Part
from multikernel._typing import Array
from multikernel.machines.support.base import SupportMachine, weights_of_samples
from multikernel.machines.support.program import SupportProgram


@dataclass(frozen=True)
class OneClassMachine(SupportMachine):
    """max_a -1/2 a'Ka over 0 <= a_i <= w_i / (nu sum w), sum a = 1; w_i the weight of sample i, else 1.

    Parameters
    ----------
    nu : float in (0, 1], an upper bound of the fraction of samples outside
    tol : float, the relative duality gap to reach
    max_iter : int, how many steps at most
    """

    nu: Part = 0.5

    def in_units(self, kernel: float, target: float) -> tuple[Self, float]:
        return self, 1.0

    def program(self, target: Array, sample_weight: Array | None = None) -> SupportProgram:
        """The program for n samples, the length of the target, whose entries are not used."""
        n = len(target)
        weight = weights_of_samples(sample_weight, n)
        return SupportProgram(
            n=n,
            sign=np.ones(n),
            linear=np.zeros(n),
            upper=weight / (self.nu * float(weight.sum())),
            ridge=np.zeros(n),
            total=1.0,
        )
