"""The squared error of kernel ridge regression on held-out samples, and its derivatives in the kernel weights.

    L(v) = sum over folds V of |r_V|^2 / n,    K(v) = sum_k v_k K_k, with ridge 1

as in residuals.py; the predictor depends only on the ratio of weights and ridge. With q and M of a kernel matrix as
defined there,

    dr_V / dv_k = (H_VV)^-1 H_V: K_k q,    dL / dv_k = <K_k, M>

so that the derivatives of the residuals take one pass of the bank with a column for each fold, and the gradient alone
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
    """L(v) for the kernels of a bank, targets Y of shape (n, t) and folds; other fields are those of ``HeldOut``."""

    folds: Folds
    fit_intercept: bool = True
    one: Array | None = None
    basis: Array | None = None
    units: Array | None = None

    @classmethod
    def of(
        cls, bank: KernelBank, Y: Array, folds: Folds, fit_intercept: bool = True, basis: Array | None = None
    ) -> HeldOutError:
        """The error, for kernels of few features in few coordinates of each fold, where squared errors are the same."""
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
        residuals = self.held_out.residuals(self.bank.total(v))
        if residuals is None:
            return None
        return Point(v, residuals)

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
        """Whether an inverse that targets share is stored in blocks of the folds: if it is large, and folds are few."""
        n = len(self.Y)
        if n * n <= BUFFER_VALUES or self.basis is not None or self._merged is not self.folds:
            return False
        return not foreign(self.bank.block(np.arange(1), np.arange(1)).total(np.ones(len(self.bank))))

    @property
    def knows_coef(self) -> bool:
        """Whether an inverse times targets gives coefficients: not in other coordinates, nor with fixed columns."""
        return self.one is None and self.basis is None

    @property
    def count(self) -> float:
        """How many samples there are."""
        return self.held_out.count

    def constants(self) -> Array:
        return self.held_out.constants()

    def squares(self) -> Array:
        return np.concatenate([(tile.Y**2).sum(axis=0) for tile, _ in self.held_out.tiles()])

    def constant(self) -> float:
        """L(0), the error of the predictor that is constant."""
        return self.held_out.constant()

    def model(self, point: Point) -> QuadraticModel:
        """The Gauss-Newton model near a point.

        Where there are many folds, J is that of fewer and larger ones, whose errors have about the same curvature: each
        fold is a column in a pass over the kernels. Where there are more weights than residuals, the gradient has to
        follow from J, and up to 100 folds are left as they are.
        """
        residuals = point.evaluation
        n = self.count
        wide = self.Y.size < len(self.bank)
        if wide and self.folds.count <= 100:
            folds = self.folds
        else:
            folds = self._merged
        slope = np.zeros(len(self.bank))
        curvature = np.zeros((len(self.bank), len(self.bank)))
        roots = []
        for R, J in self._jacobians(residuals, folds):
            slope += np.einsum("tki,it->k", J, R) / n
            for root in J:
                if wide:
                    roots.append(root.T / np.sqrt(n))
                else:
                    curvature += blas.dgemm(1.0 / n, root.T, root.T, trans_a=1)
        if folds.count < self.folds.count:
            slope = self.gradient(point) / 2.0
        if wide:
            return Wide(point.v, slope, np.vstack(roots))
        return Tall(point.v, slope, curvature)

    def target_models(self, residuals: Residuals) -> tuple[Array, Array]:
        """The models of each target: slopes (t, m) and curvatures (t, m, m)."""
        t, m = self.Y.shape[1], len(self.bank)
        slopes = np.empty((t, m))
        curvatures = np.empty((t, m, m))
        start = 0
        for R, J in self._jacobians(residuals, self._merged):
            tile = slice(start, start + len(J))
            slopes[tile] = np.einsum("tki,it->tk", J, R) / self.count
            np.matmul(J, J.transpose(0, 2, 1), out=curvatures[tile])
            start = tile.stop
        curvatures /= self.count
        if self._merged.count < self.folds.count:
            inverse = Inverse(residuals.H, residuals.ones, residuals.blocks)
            for k in range(t):
                target = self.of_targets([k]).held_out
                slopes[k] = self.bank.inner(target.slope(target.residuals_of(inverse))) / 2.0
        return slopes, curvatures

    @cached_property
    def _merged(self) -> Folds:
        """At most ten folds; all folds where samples outside merged ones would not determine fixed coefficients."""
        merged = self.folds.merged(10)
        if self.basis is None or determined(self.basis, merged):
            return merged
        return self.folds

    def gradient(self, point: Point) -> Array:
        """dL / dv: shape (m,)."""
        return self.bank.inner(self.held_out.slope(point.evaluation))

    def _jacobians(self, residuals: Residuals, folds: Folds) -> Iterator[tuple[Array, Array]]:
        """The residuals (n, targets) in these folds and their derivatives (targets, m, n), for tiles of targets."""
        n, m = len(self.Y), len(self.bank)
        if folds is self.folds:
            blocks = residuals.blocks
            values = residuals.values
        else:
            blocks = Blocks.of(residuals.H, folds)
            values = blocks.solve(self.held_out.centred(residuals.targets, residuals.ones, folds))
        for tile in slices(self.Y.shape[1], max(1, TILE_VALUES // (n * m * folds.count))):
            R = values[:, tile]
            g = R.shape[1]
            Q = self.held_out.directions(residuals, folds, R, tile)
            applied = self.bank.apply(Q.reshape(n, -1)).transpose(0, 2, 1).reshape(m, folds.count, g, n)
            J = np.empty((g * m, n))
            for f, V in enumerate(folds.tests()):
                images = applied[:, f].transpose(1, 0, 2).reshape(g * m, n)
                J[:, V] = times_in_fold(residuals.H, folds, f, images.T).T
            yield R, blocks.solve(J.T).T.reshape(g, m, n)


@dataclass(frozen=True, eq=False)
class SharedInverse(SharedWeights):
    """Weights whose inverse serves all targets."""

    error: HeldOutError
    inverse: Inverse

    def errors(self, index: Array) -> Array:
        errors = [held_out.residuals_of(self.inverse).errors for held_out, _ in self.error.held_out.tiles(index)]
        return np.concatenate(errors)

    def models(self, index: Array) -> TargetModels:
        slopes, curvatures = [], []
        for held_out, targets in self.error.held_out.tiles(index):
            models = self.error.of_targets(targets).target_models(held_out.residuals_of(self.inverse))
            slopes.append(models[0])
            curvatures.append(models[1])
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
