"""The squared error of kernel ridge regression on held-out samples, and its derivatives in the kernel weights.

    L(v) = sum over folds V of |r_V|^2 / n,    K(v) = sum_k v_k K_k, with ridge 1

as residuals.py has it; only the ratio of weights and ridge matters to the predictor. With q and M of a kernel matrix,

    dr_V / dv_k = (H_VV)^-1 H_V: K_k q,    dL / dv_k = <K_k, M>

so that the derivatives of the residuals cost one pass of the bank with a column for each fold, and the gradient alone
one pass with one matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import blas

from multikernel._arrays import foreign
from multikernel._typing import Array, Index
from multikernel.banks import KernelBank
from multikernel.banks.threads import slices
from multikernel.procedures.ridge_cv.criterion import Criterion, Ends, Point, SharedWeights, TargetModels
from multikernel.procedures.ridge_cv.fixed import determined
from multikernel.procedures.ridge_cv.folds import Blocks, Folds
from multikernel.procedures.ridge_cv.model import QuadraticModel, Tall, Wide
from multikernel.procedures.ridge_cv.nearby import Neighbourhood
from multikernel.procedures.ridge_cv.residuals import HeldOut, Inverse, Residuals, times, times_in_fold
from multikernel.tuning import BUFFER_VALUES, TILE_VALUES


@dataclass(frozen=True, eq=False)
class HeldOutError(Criterion):
    """L(v) for the kernels of a bank, targets Y of shape (n, t) and folds; the rest as in ``HeldOut``."""

    folds: Folds
    fit_intercept: bool = True
    one: Array | None = None
    basis: Array | None = None
    units: Array | None = None

    @classmethod
    def of(
        cls, bank: KernelBank, Y: Array, folds: Folds, fit_intercept: bool = True, basis: Array | None = None
    ) -> HeldOutError:
        """Of kernels of few features in few coordinates of each fold: squared errors are the same there."""
        fit_intercept = fit_intercept and basis is None
        if bank.n_features is None:
            return cls(bank, Y, folds, fit_intercept, None, basis)
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
        left = self.held_out.residuals(self.bank.total(v))
        if left is None:
            return None
        return Point(v, left)

    def shared(self, v: Array) -> SharedWeights | None:
        if self._by_folds:
            inverse = self.held_out.inverse_by_folds(self.bank, v)
        else:
            inverse = self.held_out.inverse(self.bank.total(v))
        if inverse is None:
            return None
        return SharedInverse(v, self, inverse)

    def of_targets(self, index: Index) -> HeldOutError:
        """Some of the targets."""
        return replace(self, Y=self.held_out.of_targets(index).Y, units=None)

    @cached_property
    def held_out(self) -> HeldOut:
        return HeldOut(self.Y, self.folds, self.fit_intercept, self.one, self.basis, self.units)

    @cached_property
    def _by_folds(self) -> bool:
        """Whether an inverse that targets share is kept in blocks of the folds: if it is large, and folds are few."""
        n = len(self.Y)
        if n * n <= BUFFER_VALUES or self.basis is not None or self._merged is not self.folds:
            return False
        return not foreign(self.bank.block(np.arange(1), np.arange(1)).total(np.ones(len(self.bank))))

    @property
    def knows_coef(self) -> bool:
        """Whether an inverse times targets are coefficients: not in other coordinates, or beside fixed columns."""
        return self.one is None and self.basis is None

    @property
    def count(self) -> float:
        """How many samples there are."""
        return self.held_out.count

    def constants(self) -> Array:
        return self.held_out.constants()

    def squares(self) -> Array:
        return np.concatenate([(some.Y**2).sum(axis=0) for some, _ in self.held_out.parts()])

    def constant(self) -> float:
        """L(0), the error of the predictor that is constant."""
        return self.held_out.constant()

    def model(self, point: Point) -> QuadraticModel:
        """The Gauss-Newton model near a point.

        Where there are many folds, J is that of fewer and larger ones: their errors have about the same curvature. Each
        fold is a column in a pass over the kernels. Where there are more weights than residuals, J has to lead to the
        gradient, and up to 100 folds are as they are.
        """
        left = point.left
        n = self.count
        wide = self.Y.size < len(self.bank)
        if wide and self.folds.count <= 100:
            few = self.folds
        else:
            few = self._merged
        slope = np.zeros(len(self.bank))
        curvature = np.zeros((len(self.bank), len(self.bank)))
        roots = []
        for R, J in self._jacobians(left, few):
            slope += np.einsum("tki,it->k", J, R) / n
            for each in J:
                if wide:
                    roots.append(each.T / np.sqrt(n))
                else:
                    curvature += blas.dgemm(1.0 / n, each.T, each.T, trans_a=1)
        if few.count < self.folds.count:
            slope = self.gradient(point) / 2.0
        if wide:
            return Wide(point.v, slope, np.vstack(roots))
        return Tall(point.v, slope, curvature)

    def target_models(self, left: Residuals) -> tuple[Array, Array]:
        """The same for each target: slopes (t, m) and curvatures (t, m, m)."""
        t, m = self.Y.shape[1], len(self.bank)
        slopes = np.empty((t, m))
        curvatures = np.empty((t, m, m))
        start = 0
        for R, J in self._jacobians(left, self._merged):
            own = slice(start, start + len(J))
            slopes[own] = np.einsum("tki,it->tk", J, R) / self.count
            np.matmul(J, J.transpose(0, 2, 1), out=curvatures[own])
            start = own.stop
        curvatures /= self.count
        if self._merged.count < self.folds.count:
            inverse = Inverse(left.H, left.ones, left.blocks)
            for k in range(t):
                one = self.of_targets([k]).held_out
                slopes[k] = self.bank.inner(one.slope(one.left(inverse))) / 2.0
        return slopes, curvatures

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

    def _jacobians(self, left: Residuals, folds: Folds) -> Iterator[tuple[Array, Array]]:
        """The residuals (n, targets) in these folds and their derivatives (targets, m, n), some targets at a time."""
        n, m = len(self.Y), len(self.bank)
        if folds is self.folds:
            blocks = left.blocks
            whole = left.values
        else:
            blocks = Blocks.of(left.H, folds)
            whole = blocks.solve(self.held_out.centred(left.targets, left.ones, folds))
        for own in slices(self.Y.shape[1], max(1, TILE_VALUES // (n * m * folds.count))):
            R = whole[:, own]
            g = R.shape[1]
            Q = self.held_out.directions(left, folds, R, own)
            applied = self.bank.apply(Q.reshape(n, -1)).transpose(0, 2, 1).reshape(m, folds.count, g, n)
            J = np.empty((g * m, n))
            for f, V in enumerate(folds.tests()):
                images = applied[:, f].transpose(1, 0, 2).reshape(g * m, n)
                J[:, V] = times_in_fold(left.H, folds, f, images.T).T
            yield R, blocks.solve(J.T).T.reshape(g, m, n)


@dataclass(frozen=True, eq=False)
class SharedInverse(SharedWeights):
    """Weights whose inverse serves all targets."""

    error: HeldOutError
    inverse: Inverse

    def errors(self, index: Array) -> Array:
        parts = [held_out.left(self.inverse).errors for held_out, _ in self.error.held_out.parts(index)]
        return np.concatenate(parts)

    def models(self, index: Array) -> TargetModels:
        slopes, curvatures = [], []
        for held_out, own in self.error.held_out.parts(index):
            found = self.error.of_targets(own).target_models(held_out.left(self.inverse))
            slopes.append(found[0])
            curvatures.append(found[1])
        return TargetModels(np.concatenate(slopes), np.concatenate(curvatures))

    def coef(self, index: Array) -> Array | None:
        if not self.error.knows_coef:
            return None
        held_out = self.error.held_out.of_targets(index)
        coef = times(self.inverse.H, held_out.Y)
        if self.error.fit_intercept:
            coef -= self.inverse.ones[:, None] * held_out.Y.mean(axis=0)
        return coef * (float(self.v.sum()) or 1.0)

    def ends(self, index: Array, tol: float, along: Array | None = None) -> Ends:
        near = self._near(along)
        if near.worthwhile:
            return near.ends(index, tol)
        return super().ends(index, tol, along)

    def coef_near(self, index: Array, v: Array) -> Array | None:
        sizes = v.sum(axis=1)
        return self._near().coef(index, v) * np.where(sizes > 0.0, sizes, 1.0)

    def _near(self, along: Array | None = None) -> Neighbourhood:
        error = self.error
        v0 = self.v if along is None else np.array([self.v.sum() / along.sum()])
        return Neighbourhood(error.bank, error.held_out, self.inverse, v0, along)
