"""The squared error of kernel ridge regression on held-out samples, and its derivatives in the kernel weights.

    L(v) = sum over folds V of |r_V|^2 / n,    K(v) = sum_k v_k K_k, with ridge 1

as residuals.py has it; only the ratio of weights and ridge matters to the predictor. With q and M of a kernel matrix,

    dr_V / dv_k = (H_VV)^-1 H_V: K_k q,    dL / dv_k = <K_k, M>

so that the derivatives of the residuals cost one pass of the bank with a column for each fold, and the gradient alone
one pass with one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas

from multikernel._arrays import taken
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.procedures.ridge_cv.criterion import Criterion, Point
from multikernel.procedures.ridge_cv.fixed import determined
from multikernel.procedures.ridge_cv.folds import Blocks, Folds
from multikernel.procedures.ridge_cv.model import Model, Tall, Wide
from multikernel.procedures.ridge_cv.residuals import HeldOut, Residuals, product


@dataclass(frozen=True, eq=False)
class HeldOutError(Criterion):
    """L(v) for the kernels of a bank, targets Y of shape (n, t) and folds; ``one`` and ``basis`` as in ``HeldOut``."""

    folds: Folds
    fit_intercept: bool = True
    one: Array | None = None
    basis: Array | None = None

    @classmethod
    def of(
        cls, bank: KernelBank, Y: Array, folds: Folds, fit_intercept: bool = True, basis: Array | None = None
    ) -> HeldOutError:
        """Of kernels of few features in few coordinates of each fold: squared errors are the same there."""
        fit_intercept = fit_intercept and basis is None
        columns = np.column_stack([Y, np.ones(len(Y)), Y[:, :0] if basis is None else basis])
        rotation = bank.rotation(columns, folds.tests())
        if rotation is None:
            return cls(bank, Y, folds, fit_intercept, None, basis)
        columns = rotation.coordinates(columns)
        labels = np.repeat(np.arange(folds.count), rotation.sizes)
        t = Y.shape[1]
        return cls(
            bank.rotated(rotation),
            columns[:, :t],
            Folds(labels, folds.count),
            fit_intercept,
            columns[:, t],
            None if basis is None else columns[:, t + 1 :],
        )

    def at(self, v: Array) -> Point | None:
        """The error at weights v >= 0; None where K(v) + I is singular in floating point."""
        left = self.held_out.residuals(self.bank.combine(v).fresh())
        return None if left is None else Point(v, left)

    @cached_property
    def held_out(self) -> HeldOut:
        return HeldOut(self.Y, self.folds, self.fit_intercept, self.one, self.basis)

    @property
    def count(self) -> float:
        return self.held_out.count

    def constant(self) -> float:
        """L(0), the error of the predictor that is constant."""
        return self.held_out.constant()

    def model(self, point: Point) -> Model:
        """The Gauss-Newton model near a point.

        Where there are many folds, J is that of fewer and larger ones: their errors have about the same curvature. Each
        fold is a column in a pass over the kernels. Where there are more weights than residuals, J has to lead to the
        gradient, and up to 100 folds are as they are.
        """
        count = self.folds.count
        left = point.left
        n = self.held_out.count
        wide = self.Y.size < len(self.bank)
        if wide and count <= 100:
            few = self.folds
        else:
            few = self._merged
        exact = few.count == count
        blocks = left.blocks if exact else Blocks.of(left.H, few)
        if exact:
            R = left.values
        else:
            R = blocks.solve(self.held_out.centred(left.targets, left.ones, few))
        directions = (self.held_out.directions(left, few, R[:, t], t) for t in range(self.Y.shape[1]))
        parts = (self._jacobian(left, blocks, Q) / np.sqrt(n) for Q in directions)
        slope = self.gradient(point) / 2.0
        if wide:
            return Wide(point.v, slope, np.vstack(list(parts)))
        curvature = np.zeros((len(self.bank), len(self.bank)))
        for G in parts:
            curvature += blas.dgemm(1.0, G.T, G.T, trans_b=1)
        return Tall(point.v, slope, curvature)

    @cached_property
    def _merged(self) -> Folds:
        """At most ten folds; all of them where the samples outside fewer do not determine fixed coefficients."""
        few = self.folds.merged(10)
        if self.basis is None or determined(self.basis, few):
            return few
        return self.folds

    def gradient(self, point: Point) -> Array:
        """dL / dv: shape (m,)."""
        return self.bank.inner(self.held_out.slope(point.left))

    def _jacobian(self, left: Residuals, blocks: Blocks, Q: Array) -> Array:
        applied = self.bank.apply(Q)
        J = np.empty((len(Q), len(self.bank)))
        for f, V in enumerate(blocks.folds.tests()):
            J[V] = product(taken(left.H, V), applied[:, :, f].T)
        return blocks.solve(J)
