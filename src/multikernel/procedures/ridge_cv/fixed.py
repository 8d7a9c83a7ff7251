"""Columns without penalty: targets are F b + f + noise, where b has no penalty and f is a function of the kernels.

With S = K + alpha I, H = S^{-1} and F of shape (n, c) the minimum of |y - F b - f|^2 + alpha |f|^2 has

    b = (F'H F)^+ F'H y,      f = K a,      a = H (y - F b),

generalised least squares for b; a is the same for any columns that span those of F. So F is replaced by an orthonormal
basis B = F R of its columns, and b is R g with

    g = B'y + (B'H B)^{-1} B'H z,      z = y - B B'y

where z are the residuals of ordinary least squares. The covariance of b is tau R (B'H B)^{-1} R' where that of y is
tau S, and the estimate of tau is z'H (z - B (g - B'y)) / (n - p), p the rank of F.

Columns are taken in their order, and one that depends on earlier columns is left out: its coefficient is 0, without a
standard error. It counts as dependent where its residual on the earlier columns is shorter than 1e-7 of its length, as
in LINPACK's dqrdc2 with the tolerance of the function lm of R.

A. C. Aitken (1935), On least squares and linear combination of observations; C. R. Henderson (1975), Best linear
unbiased estimation and prediction under a selection model, Biometrics 31.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from multikernel._arrays import foreign, like
from multikernel._floats import ROUNDING, SINGULAR
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.numerics.cholesky import cholesky, solved
from multikernel.procedures.ridge_cv.folds import Folds

_DEPENDENT = np.sqrt(ROUNDING)  # of the residual of a column, relative to its length: half of its digits are rounding


@dataclass(frozen=True, eq=False)
class FixedColumns:
    """Columns without penalty.

    Parameters
    ----------
    basis : array (n, p), B
    map : array (c, p), R with F R = B; rows of zeros for columns that depend on others
    """

    basis: Array
    map: Array

    @classmethod
    def of(cls, F: Array) -> FixedColumns:
        """From columns (n, c) of finite numbers."""
        n, c = F.shape
        sizes = np.abs(F).max(axis=0, initial=0.0)
        sizes[sizes == 0.0] = 1.0
        basis = np.empty((n, 0))
        independent = []
        for j in range(c):
            column = F[:, j] / sizes[j]
            residual = column - basis @ (basis.T @ column)
            residual -= basis @ (basis.T @ residual)
            length = float(np.linalg.norm(residual))
            if length > _DEPENDENT * float(np.linalg.norm(column)):
                basis = np.column_stack([basis, residual / length])
                independent.append(j)
        triangle = np.triu(basis.T @ (F[:, independent] / sizes[independent]))
        inverse = np.zeros((c, len(independent)))
        inverse[independent] = solve_triangular(triangle, np.eye(len(independent))) / sizes[independent][:, None]
        return cls(np.asfortranarray(basis), inverse)

    def rest(self, Y: Array) -> Array:
        """The residuals of ordinary least squares for targets (n, t); exactly 0 where they are only rounding."""
        Z = Y - product(self.basis, product(self.basis.T, Y))
        Z = Z - product(self.basis, product(self.basis.T, Z))
        peaks = np.abs(Y).max(axis=0, initial=0.0)
        peaks[peaks == 0.0] = 1.0  # targets are divided by their largest value, so that squares do not overflow
        Z[:, ((Z / peaks) ** 2).sum(axis=0) <= ROUNDING**2 * len(Y) * ((Y / peaks) ** 2).sum(axis=0)] = 0.0
        return Z

    def traces(self, bank: KernelBank) -> Array:
        """tr P K_k P: shape (m,); 0 where the columns span all functions of the kernel."""
        traces = bank.traces()
        unexplained = traces - bank.quads(self.basis).sum(axis=1)
        return np.where(unexplained > SINGULAR * traces, unexplained, 0.0)

    def effects(self, gram: Gram, alpha: float, Y: Array, Z: Array) -> tuple[FixedEffects, Array]:
        """The coefficients for a kernel and a ridge, and F b, shape (n, t).

        Parameters
        ----------
        gram : of n samples
        alpha : float > 0
        Y : array (n, t), the targets
        Z : array (n, t), the residuals of ordinary least squares for them
        """
        solution = gram.solve_shifted(alpha, np.column_stack([self.basis, Z]))
        p = self.basis.shape[1]
        factor = cholesky(product(self.basis.T, solution[:, :p]))
        change = solved(factor, product(self.basis.T, solution[:, p:]))
        energy = (Z * (solution[:, p:] - product(solution[:, :p], change))).sum(axis=0)
        scale = np.maximum(energy, 0.0) / (len(Z) - p)
        spread = (solve_triangular(factor, self.map.T, lower=True) ** 2).sum(axis=0)
        spread[~self.map.any(axis=1)] = np.nan
        in_basis = product(self.basis.T, Y) + change
        effects = FixedEffects(self.map @ in_basis, np.sqrt(np.outer(spread, scale)))
        return effects, product(self.basis, in_basis)


@dataclass(frozen=True, eq=False)
class FixedEffects:
    """Coefficients of columns without penalty.

    Parameters
    ----------
    coef : array (c, t), b
    errors : array (c, t), their standard errors; NaN for columns that depend on others
    """

    coef: Array
    errors: Array

    def in_units(self, target: Any) -> FixedEffects:
        """The effects for targets that are multiplied by a number, or by one number each."""
        return FixedEffects(target * self.coef, target * self.errors)


def determined(basis: Array, folds: Folds) -> bool:
    """Whether the samples outside each fold determine all coefficients."""
    return all(1.0 - float(np.linalg.norm(basis[V], 2)) ** 2 > _DEPENDENT for V in folds.tests() if len(V))


def varied(Z: Array, Y: Array) -> Array:
    """Whether each target varies, (t,): whether Z, the residual of Y on its mean or fixed columns, exceeds rounding."""
    return np.asarray((Z**2).mean(axis=0) > ROUNDING**2 * (Y**2).mean(axis=0))


def about_means(Y: Array) -> Array:
    """Targets (n, t) less their means, as for an intercept; exactly 0 where that is rounding."""
    Z = np.array(Y.T, dtype=float, order="C")  # so that sums are the same however targets are stored
    Z -= Z.mean(axis=1, keepdims=True)
    Z[~varied(Z.T, Y)] = 0.0
    return Z.T


def project(K: Any, basis: Array) -> None:
    """Replace a symmetric matrix K by P K P, P = I - B B'.

    Along B, (P K P + I)^{-1} should be the identity, B B', but K may be 1e9 times as large as I there, so that rounding
    leaves errors of 1e-7, which a product with such a kernel would magnify. The inverse is therefore projected as well.
    """
    KB = product(K, basis)
    half = KB - 0.5 * product(basis, product(basis.T, KB))
    if foreign(K):
        K -= like(K, half) @ like(K, basis).T + like(K, basis) @ like(K, half).T
    else:
        change = product(half, basis.T)
        K -= change
        K -= change.T
