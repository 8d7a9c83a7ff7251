"""Support vector machines of two classes, with hinge loss or with squared hinge loss.

With hinge loss

    J(K) = max_a sum a - 1/2 a'Y K Y a,    0 <= a <= C,    y'a = 0        (Y = diag(y))

whose primal is min 1/2 |f|^2 + C sum max(0, 1 - y (f + b)). Without an intercept b, y'a is free.

With squared hinge loss, or 2-norm soft margin,

    J(K) = max_a 2 sum a - a'(Y K Y + W^{-1} / C) a,    a >= 0,    y'a = 0

whose primal is min |f|^2 + C sum w max(0, 1 - y (f + b))^2, W = diag(w) the weights of the samples, 1 if not given. As
a function of K it is bounded by the ridge machine's J with alpha = 1 / C.
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
class HingeMachine(SupportMachine):
    """max_a sum a - 1/2 a'YKYa over 0 <= a_i <= C w_i, y'a = 0; w_i the weight of sample i, if given.

    Parameters
    ----------
    C : float > 0, weight of the hinge losses
    fit_intercept : bool, whether there is an intercept, and the equality y'a = 0
    tol : float, the relative duality gap to reach
    max_iter : int, how many steps at most

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import DenseGram
    >>> found = HingeMachine(C=10.0).solve(DenseGram(np.eye(2)), np.array([1.0, -1.0]))
    >>> found.coef, found.value, found.converged
    (array([ 1., -1.]), 1.0, True)
    """

    nonnegative: ClassVar[bool] = True

    C: Positive = 1.0
    fit_intercept: bool = True

    def in_units(self, kernel: float, target: float) -> tuple[Self, float]:
        return replace(self, C=positive_product(self.C, kernel)), 1.0 / kernel

    def balance(self, target: float) -> float:
        return 1.0 / self.C

    def program(self, target: Array, sample_weight: Array | None = None) -> SupportProgram:
        """The program for labels -1 and +1; weights of samples multiply their upper bounds."""
        y = checked_target(target)
        check_signs(y)
        upper = self.C * weights_of_samples(sample_weight, len(y))
        return SupportProgram(
            n=len(y),
            sign=y,
            linear=np.ones(len(y)),
            upper=upper,
            ridge=np.zeros(len(y)),
            intercept=self.fit_intercept,
        )


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
