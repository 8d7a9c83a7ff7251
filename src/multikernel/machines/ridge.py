"""Kernel ridge regression.

    J(K) = y'(K + alpha I)^{-1} y,    y centred where an intercept is fitted

with the coefficients a = (K + alpha I)^{-1} y. It is both min_f |f|^2 + |y - f(x)|^2 / alpha and
max_a 2 a'y - a'(K + alpha I) a; Cortes, Mohri and Rostamizadeh (2009), section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel.banks import Gram
from multikernel.kernels.base import Array
from multikernel.machines.base import DualSolution, Machine


@dataclass(frozen=True)
class RidgeMachine(Machine):
    """Squared loss with a ridge.

    Parameters
    ----------
    alpha : float > 0, what is added to the diagonal
    fit_intercept : bool, whether the mean of the targets is taken off first and is the intercept
    """

    alpha: float = 1.0
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        if not (self.alpha > 0 and np.isfinite(self.alpha)):
            raise ValueError(f"alpha must be a finite number > 0, got {self.alpha}")

    def solve(self, gram: Gram, target: Array, warm: Array | None = None) -> DualSolution:
        """Solve for a target of real numbers; one factorisation, so ``warm`` is not used."""
        y = np.asarray(target, dtype=float)
        mean = float(y.mean()) if self.fit_intercept else 0.0
        r = y - mean
        coef = gram.solve_shifted(self.alpha, r)
        primal_side = gram.multiply(coef)
        norm = float(coef @ primal_side)
        residual = r - primal_side
        primal = norm + float(residual @ residual) / self.alpha
        dual = 2.0 * float(coef @ r) - norm - self.alpha * float(coef @ coef)
        gap = max(primal - dual, 0.0) / primal if primal > 0 else 0.0
        return DualSolution(
            coef=coef, intercept=mean, value=dual, factor=coef, gap=gap, converged=True, n_iter=1, warm=coef
        )
