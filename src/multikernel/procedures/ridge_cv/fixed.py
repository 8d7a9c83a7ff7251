"""Columns without penalty: targets are F b + f + noise, where b has no penalty and f is a function of the kernels.

With S = K + alpha I, H = S^{-1} and F of shape (n, c) the minimum of |y - F b - f|^2 + alpha |f|^2 has

    b = (F'H F)^+ F'H y,      f = K a,      a = H (y - F b),

generalised least squares for b; a is the same for any columns that span those of F. So F is replaced by an orthonormal
basis B = F R of its columns, and b is R g with

    g = B'y + (B'H B)^{-1} B'H z,      z = y - B B'y

where z is what ordinary least squares leaves. The covariance of b is tau R (B'H B)^{-1} R' where that of y is tau S,
and the estimate of tau is z'H (z - B (g - B'y)) / (n - p), p the rank of F.

Columns are taken in their order, and one that depends on those before it has no part: its coefficient is 0, and has no
standard error. It depends on them where they leave less than 1e-7 of its length, as in LINPACK's dqrdc2 with the
tolerance of the function lm of R.

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

_DEPENDENT = np.sqrt(ROUNDING)  # what is left of a column, relative to its length: half of its digits are rounding


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
        kept = []
        for j in range(c):
            column = F[:, j] / sizes[j]
            rest = column - basis @ (basis.T @ column)
            rest -= basis @ (basis.T @ rest)
            length = float(np.linalg.norm(rest))
            if length > _DEPENDENT * float(np.linalg.norm(column)):
                basis = np.column_stack([basis, rest / length])
                kept.append(j)
        triangle = np.triu(basis.T @ (F[:, kept] / sizes[kept]))
        inverse = np.zeros((c, len(kept)))
        inverse[kept] = solve_triangular(triangle, np.eye(len(kept))) / sizes[kept][:, None]
        return cls(np.asfortranarray(basis), inverse)

    def rest(self, Y: Array) -> Array:
        """What ordinary least squares leaves of targets (n, t); exactly 0 where that is rounding."""
        Z = Y - product(self.basis, product(self.basis.T, Y))
        Z = Z - product(self.basis, product(self.basis.T, Z))
        peaks = np.abs(Y).max(axis=0, initial=0.0)
        peaks[peaks == 0.0] = 1.0  # squares of targets in any units are numbers beside their largest value
        Z[:, ((Z / peaks) ** 2).sum(axis=0) <= ROUNDING**2 * len(Y) * ((Y / peaks) ** 2).sum(axis=0)] = 0.0
        return Z

    def traces(self, bank: KernelBank) -> Array:
        """tr P K_k P: shape (m,); 0 where the columns explain whatever the kernel does."""
        traces = bank.traces()
        rest = traces - bank.quads(self.basis).sum(axis=1)
        return np.where(rest > SINGULAR * traces, rest, 0.0)

    def effects(self, gram: Gram, alpha: float, Y: Array, Z: Array) -> tuple[FixedEffects, Array]:
        """The coefficients for a kernel and a ridge, and F b, shape (n, t).

        Parameters
        ----------
        gram : of n samples
        alpha : float > 0
        Y : array (n, t), the targets
        Z : array (n, t), what ordinary least squares leaves of them
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
        """Of targets times a number, or times one each."""
        return FixedEffects(target * self.coef, target * self.errors)


def determined(basis: Array, folds: Folds) -> bool:
    """Whether the samples outside each fold determine all coefficients."""
    return all(1.0 - float(np.linalg.norm(basis[V], 2)) ** 2 > _DEPENDENT for V in folds.tests() if len(V))


def varied(Z: Array, Y: Array) -> Array:
    """Whether targets vary: whether Z, what means or fixed columns leave of Y, is more than rounding; shape (t,)."""
    return np.asarray((Z**2).mean(axis=0) > ROUNDING**2 * (Y**2).mean(axis=0))


def about_means(Y: Array) -> Array:
    """Targets (n, t) less their means, which an intercept makes up for; exactly 0 where that is rounding."""
    Z = np.array(Y.T, dtype=float, order="C")  # so that sums are the same however targets are stored
    Z -= Z.mean(axis=1, keepdims=True)
    Z[~varied(Z.T, Y)] = 0.0
    return Z.T


def project(K: Any, basis: Array) -> None:
    """Replace a symmetric matrix K by P K P, P = I - B B'.

    (P K P + I)^{-1} is projected as well to become that without B B': K may be 1e9 times as large as I along B, and its
    inverse then differs from 1 there by 1e-7, which a kernel of that size would meet again.
    """
    KB = product(K, basis)
    half = KB - 0.5 * product(basis, product(basis.T, KB))
    if foreign(K):
        K -= like(K, half) @ like(K, basis).T + like(K, basis) @ like(K, half).T
    else:
        change = product(half, basis.T)
        K -= change
        K -= change.T
