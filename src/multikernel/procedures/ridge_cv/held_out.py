"""The squared error of kernel ridge regression on held-out samples, and its derivatives in the kernel weights.

    L(v) = sum over folds V of |r_V|^2 / n,    r_V = y_V - f_V,   f the machine trained on the samples T outside V

with kernel K(v) = sum_k v_k K_k and ridge 1; only the ratio of weights and ridge matters to the predictor. All folds
follow from one inverse H = (K(v) + I)^-1 on all samples: with z = y - mean(y_T) (z = y without intercept),

    r_V = (H_VV)^-1 (H z)_V,    q = H_:V r_V - H z    (minus the coefficients of the machine on T, 0 on V)
    dr_V / dv_k = (H_VV)^-1 H_V: K_k q,    dL / dv_k = (2 / n) <K_k, sum_V p q'>,    p = H_:V (H_VV)^-1 r_V

so that the residuals of all folds cost one factorisation, their derivatives one pass of the bank with a column for each
fold, and the gradient alone one pass with one matrix. Several targets have the same H; their errors are added.

The first two identities are those of a partitioned inverse (of one sample: Allen's PRESS); the third is the derivative
of the first with dH = -H dK H.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, lapack

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import slices
from multikernel.procedures.ridge_cv.folds import Blocks, Folds

_FEW = 10  # folds of the Gauss-Newton matrix at most: each is a column in a pass over the kernels
_LARGEST = 1e9  # the largest mean diagonal of K(v) relative to the ridge: H loses as many digits
_ROUNDED = 1e-2  # the largest rounding of the stored diagonal relative to the ridge
_TILE = 64  # rows of a matrix that are mirrored at a time


@dataclass(frozen=True, eq=False)
class Point:
    """Weights v with the inverse H, H times the targets and times 1, the blocks of the folds, residuals and errors.

    ``errors`` are the mean squared residuals of each target, ``value`` is their sum.
    """

    v: Array
    H: Array
    targets: Array
    ones: Array
    blocks: Blocks
    residuals: Array
    errors: Array

    @property
    def value(self) -> float:
        return float(self.errors.sum())


@dataclass(frozen=True, eq=False)
class HeldOutError:
    """L(v) for the kernels of a bank, targets Y of shape (n, t) and folds."""

    bank: KernelBank
    Y: Array
    folds: Folds
    fit_intercept: bool = True

    def at(self, v: Array) -> Point | None:
        """The error at weights v >= 0; None where K(v) + I is singular in floating point."""
        H = np.array(self.bank.combine(v).dense(), dtype=np.float64, order="C")
        H.flat[:: len(H) + 1] += 1.0
        try:
            _invert(H)
            blocks = Blocks.of(H, self.folds)
        except np.linalg.LinAlgError:
            return None
        targets, ones = _product(H, self.Y), H.sum(axis=1)
        R = blocks.solve(self._centred(targets, ones, self.folds))
        errors: Array = (R**2).mean(axis=0)
        return Point(v, H, targets, ones, blocks, R, errors) if np.isfinite(errors).all() else None

    @cached_property
    def diagonals(self) -> Array:
        """The mean of the diagonal of each kernel."""
        return self.bank.traces() / len(self.Y)

    @property
    def largest(self) -> float:
        """The largest mean of the diagonal of K(v), the ridge being 1, at which H keeps enough of its digits."""
        return min(_LARGEST, _ROUNDED / self.bank.rounding)

    def bounded(self, v: Array) -> Array:
        """Weights in the same ratios, scaled back where their kernel is too large."""
        size = float(self.diagonals @ v)
        return v * (self.largest / size) if size > self.largest else v

    def constant(self) -> float:
        """L(0), the error of the predictor that is constant."""
        rest = self.Y - self._means(self.folds)[self.folds.labels]
        return float((rest**2).mean(axis=0).sum())

    def normal_equations(self, point: Point) -> tuple[Array, Array]:
        """J'J / n, which is half of the Gauss-Newton matrix, and J'r / n, half of the gradient: (m, m) and (m,).

        Where there are many folds, J is that of fewer and larger ones: their errors have about the same curvature.
        """
        few, n = self.folds.merged(_FEW), len(self.Y)
        exact = few.count == self.folds.count
        blocks = point.blocks if exact else Blocks.of(point.H, few)
        centred = self._centred(point.targets, point.ones, few)
        R = point.residuals if exact else blocks.solve(centred)
        curvature, slope = np.zeros((len(self.bank), len(self.bank))), np.zeros(len(self.bank))
        for t in range(self.Y.shape[1]):
            J = self._jacobian(point, blocks, self._directions(point, few, R[:, t], t))
            curvature += blas.dgemm(1.0 / n, J.T, J.T, trans_b=1)
            slope += blas.dgemv(1.0 / n, J.T, R[:, t])
        return curvature, slope if exact else self.gradient(point) / 2.0

    def gradient(self, point: Point) -> Array:
        """dL / dv: shape (m,)."""
        U = point.blocks.solve(point.residuals)
        M = np.zeros_like(point.H)
        for t in range(self.Y.shape[1]):
            P = self._columns(point.H, self.folds, U[:, t])
            M += _product(P, self._directions(point, self.folds, point.residuals[:, t], t).T)
        return self.bank.inner(M) * (2.0 / len(self.Y))

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _means(self, folds: Folds) -> Array:
        return folds.training_means(self.Y) if self.fit_intercept else np.zeros((folds.count, self.Y.shape[1]))

    def _centred(self, targets: Array, ones: Array, folds: Folds) -> Array:
        """(H z)_V in the rows of each fold: shape (n, t)."""
        return targets - self._means(folds)[folds.labels] * ones[:, None]

    def _directions(self, point: Point, folds: Folds, r: Array, t: int) -> Array:
        """q of every fold: shape (n, F)."""
        Q = self._columns(point.H, folds, r)
        Q -= point.targets[:, t, None] - point.ones[:, None] * self._means(folds)[:, t]
        Q[np.arange(len(Q)), folds.labels] = 0.0
        return Q

    @staticmethod
    def _columns(H: Array, folds: Folds, u: Array) -> Array:
        """H_:V u_V of every fold: shape (n, F)."""
        return H * u if folds.single else _product(H, folds.spread(u))

    def _jacobian(self, point: Point, blocks: Blocks, Q: Array) -> Array:
        applied = self.bank.apply(Q)
        J = np.empty((len(Q), len(self.bank)))
        for f, V in enumerate(blocks.folds.tests()):
            J[V] = _product(point.H[V], applied[:, :, f].T)
        return blocks.solve(J)


def _invert(K: Array) -> None:
    """A positive definite matrix overwritten by its inverse; LinAlgError where it is not one in floating point."""
    factor, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1, clean=0)  # the transpose is Fortran-ordered: in place
    if not failed:
        _, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise np.linalg.LinAlgError("the kernel matrix with its ridge is not positive definite")
    for part in slices(len(K), _TILE):
        below, tile = slice(part.stop, None), K[part, part]
        K[below, part] = K[part, below].T
        tile[:] = np.triu(tile) + np.triu(tile, 1).T


def _product(A: Array, B: Array) -> Array:
    """A B by SciPy's BLAS, beside whose factorisations the threads of NumPy's own would spin."""
    return blas.dgemm(1.0, B.T, A.T).T
