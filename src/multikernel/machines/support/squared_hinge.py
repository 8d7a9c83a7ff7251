"""The support vector machine with squared hinge loss, or 2-norm soft margin.

    J(K) = max_a 2 sum a - a'(Y K Y + W^{-1} / C) a,    a >= 0,    y'a = 0        (Y = diag(y))

whose primal is min |f|^2 + C sum w max(0, 1 - y (f + b))^2, W = diag(w) the weights of the samples, 1 if not given.
Without an intercept b, y'a is free. As a function of K it is bounded by the ridge machine's J with alpha = 1 / C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from multikernel._floats import positive_product
from multikernel._parameters import Positive
from multikernel._typing import Array
from multikernel.machines.base import check_signs, checked_target
from multikernel.machines.support.base import SupportMachine, weights_of_samples
from multikernel.machines.support.program import SupportProgram


@dataclass(frozen=True)
class SquaredHingeMachine(SupportMachine):
    """max_a 2 sum a - a'(YKY + diag(1 / (C w)))a over a >= 0, y'a = 0; w_i the weight of sample i, if given.

    Parameters
    ----------
    C : float > 0, weight of the squared losses
    fit_intercept : bool, whether there is an intercept, and the equality y'a = 0
    tol : float, the relative duality gap to reach
    max_iter : int, how many steps at most
    """

    nonnegative: ClassVar[bool] = True

    C: Positive = 1.0
    fit_intercept: bool = True

    def in_units(self, kernel: float, target: float) -> tuple[Self, float]:
        return replace(self, C=positive_product(self.C, kernel)), 1.0 / kernel

    def balance(self, target: float) -> float:
        return 1.0 / self.C

    def program(self, target: Array, sample_weight: Array | None = None) -> SupportProgram:
        """The program for labels -1 and +1; weights of samples divide their ridges."""
        y = checked_target(target)
        check_signs(y)
        return SupportProgram(
            n=len(y),
            sign=y,
            linear=np.ones(len(y)),
            upper=np.full(len(y), np.inf),
            ridge=1.0 / (self.C * weights_of_samples(sample_weight, len(y))),
            intercept=self.fit_intercept,
            scale=2.0,
        )
