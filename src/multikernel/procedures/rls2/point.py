"""Ridge regression at given weights of RLS2, and what it tells of the optimum.

For any coefficients C the value 1/2 |Y - R C|^2 + alpha/2 tr C'R C is at least J(d), and with v_k = tr C'R_k C

    alpha/2 (tr C'Y)^2 / (alpha |C|^2 + max_k v_k)

is at most the optimum. Both hold whatever rounding did to C, so the gap between them is one of the weights themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from multikernel._linalg import cholesky
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.certificate import Certificate
from multikernel.machines import DualSolution


@dataclass(frozen=True, eq=False)
class RidgePoint:
    """C = (R + alpha I)^{-1} Y with the lower Cholesky factor L of R + alpha I.

    Parameters
    ----------
    Y, C : arrays (n, t)
    L : array (n, n), its lower triangle
    value : 1/2 |Y - R C|^2 + alpha/2 tr C'R C
    """

    alpha: float
    Y: Array
    C: Array
    L: Array
    value: float

    @classmethod
    def at(cls, bank: KernelBank, d: Array, alpha: float, Y: Array, work: Array) -> RidgePoint:
        """At the weights d of all kernels of the bank; ``work``, (n, n) in Fortran order, becomes L."""
        R = bank.combine(d).dense()
        L = cholesky(R, alpha, work)
        C = lapack.dpotrs(L, Y, lower=1)[0]
        RC = blas.dsymm(1.0, R.T, C)
        value = 0.5 * float(np.sum((Y - RC) ** 2)) + 0.5 * alpha * float(np.vdot(C, RC))
        return cls(alpha, Y, C, L, value)

    def bound(self, largest: float) -> float:
        """The lower bound of the optimum where the largest v_k is this."""
        scale = self.alpha * float(np.vdot(self.C, self.C)) + largest
        return 0.5 * self.alpha * float(np.vdot(self.C, self.Y)) ** 2 / scale if scale > 0 else 0.0

    def gap(self, largest: float) -> float:
        """How far the value may be above the optimum, relative to it."""
        return Certificate.gap(self.value, self.bound(largest)).value

    def whitened(self, M: Array) -> Array:
        """L^{-1} M; M in Fortran order is overwritten."""
        return blas.dtrsm(1.0, self.L, M, lower=1, overwrite_b=1)

    def solution(self, single: bool, mean: Array) -> DualSolution:
        """As a machine would tell it; J has the derivative -alpha/2 C C' in R."""
        C = self.C[:, 0] if single else self.C
        return DualSolution(
            coef=C,
            intercept=float(mean[0]) if single else mean,
            value=self.value,
            factor=np.sqrt(0.5 * self.alpha) * C,
            gap=0.0,
            converged=True,
            n_iter=0,
            warm=C,
        )
