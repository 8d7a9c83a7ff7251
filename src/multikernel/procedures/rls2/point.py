"""Ridge regression at given weights of RLS2, and what it tells of the optimum.

For any coefficients C the value 1/2 |Y - R C|^2 + alpha/2 tr C'R C is at least J(d). With the scores v_k = tr C'R_k C

    alpha/2 (tr C'Y)^2 / (alpha |C|^2 + max_k v_k)

is at most the optimum. Both hold whatever rounding did to C, so the gap between them is true of the weights themselves.
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
    alpha : float > 0
    Y, C : arrays (n, t)
    L : array (n, n), its lower triangle
    value : float, 1/2 |Y - R C|^2 + alpha/2 tr C'R C
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

    def products(self, bank: KernelBank) -> tuple[Array, Array]:
        """R_k C as columns, targets one below the other, shape (t n, kernels); and the scores tr C'R_k C."""
        products = np.ascontiguousarray(bank.apply(self.C).transpose(0, 2, 1))
        W = products.reshape(len(products), -1).T
        return W, self.C.T.ravel() @ W

    def gap(self, largest: float) -> float:
        """How far the value may be above the optimum, relative to it, where the largest score is this."""
        scale = self.alpha * float(np.vdot(self.C, self.C)) + largest
        bound = 0.5 * self.alpha * float(np.vdot(self.C, self.Y)) ** 2 / scale if scale > 0 else 0.0
        return Certificate.gap(self.value, bound).value

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
            upper=self.value,
            factor=np.sqrt(0.5 * self.alpha) * C,
            gap=0.0,
            converged=True,
            n_iter=0,
            warm=C,
        )
