"""Kernel ridge regression as a support program, for the interior point method.

    y'(K + alpha S^{-1})^{-1} y = max_b 2 b'y - b'(K + alpha S^{-1}) b,        b = a+ - a-,   a+, a- >= 0

with S the diagonal matrix of the samples' weights s. Each sample has a positive and a negative part of its coefficient,
of which one is zero at the optimum: a program without upper bounds and without the equality. Targets are centred
beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from multikernel._floats import positive_product
from multikernel._parameters import Positive
from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.machines import DualSolution, RidgeMachine, SupportMachine, SupportProgram
from multikernel.machines.support.base import weights_of_samples


@dataclass(frozen=True)
class RidgeSupport(SupportMachine):
    """The ridge machine without intercept, as a support vector machine that is solved by one factorisation.

    Parameters
    ----------
    alpha : float > 0
    tol : float, the relative duality gap of the whole problem, weights included
    scale : float > 0, of the value: 2 gives y'(K + alpha I)^{-1} y, 1 half of it, which is
        min 1/2 |f|^2 + 1/(2 alpha) sum_i s_i (y_i - f_i)^2
    """

    numeric: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    alpha: Positive = 1.0
    scale: Positive = 2.0

    def in_units(self, kernel: float, target: float) -> tuple[Self, float]:
        inverse = 1.0 / kernel
        return replace(self, alpha=positive_product(self.alpha, inverse)), positive_product(target, inverse)

    def balance(self, target: float) -> float:
        return self.alpha

    def program(self, target: Array, sample_weight: Array | None = None) -> SupportProgram:
        """The program for centred targets (n,); weights of samples divide their ridges."""
        n = len(target)
        return SupportProgram(
            n=n,
            sign=np.repeat([1.0, -1.0], n),
            linear=np.concatenate([target, -target]),
            upper=np.full(2 * n, np.inf),
            ridge=np.tile(self.alpha / weights_of_samples(sample_weight, n), 2),
            intercept=False,
            scale=self.scale,
        )

    def solve_program(self, gram: Gram, program: SupportProgram, warm: Array | None = None) -> DualSolution:
        weight = self.alpha / program.ridge[: program.n]
        sample_weight = None if (weight == 1.0).all() else weight
        solution = RidgeMachine(self.alpha, fit_intercept=False).solve(
            gram, program.linear[: program.n], None, sample_weight
        )
        half_scale = 0.5 * self.scale
        return replace(
            solution,
            coef=solution.factor,
            value=half_scale * solution.value,
            upper=half_scale * solution.upper,
            factor=np.sqrt(half_scale) * solution.factor,
            warm=np.maximum(np.concatenate([solution.factor, -solution.factor]), 0.0),
        )
