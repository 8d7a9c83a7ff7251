"""The residuals of targets that are held out fold by fold, their error, and its derivative in the kernel matrix.

    L(K) = sum over folds V of |r_V|^2 / n,    r_V = y_V - f_V,   f the machine trained on the samples T outside V

for kernel ridge regression with ridge 1. All folds follow from one inverse H = (K + I)^-1 on all samples: with
z = y - mean(y_T) (z = y without intercept),

    r_V = (H_VV)^-1 (H z)_V,    q = H_:V r_V - H z    (minus the coefficients of the machine on T, 0 on V)
    dr_V = (H_VV)^-1 H_V: dK q,    dL = <M, dK>,   M = (2 / n) sum_V p q',    p = H_:V (H_VV)^-1 r_V

so that the residuals of all folds take one factorisation, and the derivative in K a few products more, however K is
composed. Several targets have the same H; their errors are added.

The first two identities are those of a partitioned inverse (of one sample: Allen's PRESS); the third is the derivative
of the first with dH = -H dK H.

Columns F without penalty (fixed.py) replace the mean: their coefficients b are those of generalised least squares on
the samples of T. The machine on all samples has the coefficients a of

    [ K + I   F ] [ a ]   [ y ]                [ K + I   F ]^{-1}   [ H   . ]
    [ F'      0 ] [ b ] = [ 0 ]        with    [ F'      0 ]      = [ .   . ],

so the same identities of a partitioned inverse give the residuals of all folds, for z = y and with this H, which by a
basis B of the columns and P = I - B B' is P (P K P + I)^{-1} P; again dH = -H dK H. Where the samples of T do not
determine b, H_VV is singular.

H and M are arrays of the same library as K, and stay on its device; arrays with a column for each fold or target are
NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel import _arrays, _linalg
from multikernel._arrays import foreign, host, like, part_of, taken
from multikernel._typing import Array, Index
from multikernel.banks import KernelBank
from multikernel.banks.threads import slices
from multikernel.numerics import lapack
from multikernel.numerics.cholesky import factorise, invert
from multikernel.procedures.ridge_cv.fixed import about_means, project
from multikernel.procedures.ridge_cv.folds import Blocks, Folds
from multikernel.procedures.ridge_cv.inverse_by_folds import InverseByFolds
from multikernel.tuning import TILE_VALUES


@dataclass(frozen=True, eq=False)
class Residuals:
    """H, H times the targets and times 1, the blocks of the folds, residuals and errors.

    ``errors`` are the mean squared residuals of each target, ``value`` is their sum.
    """

    H: Any
    targets: Array
    ones: Array
    blocks: Blocks
    values: Array
    errors: Array

    @property
    def value(self) -> float:
        return float(self.errors.sum())


@dataclass(frozen=True, eq=False)
class Inverse:
    """H of a kernel matrix, H times 1, and the blocks of the folds, which give the residuals of any targets.

    H is an array or an ``InverseByFolds``.
    """

    H: Any
    ones: Array
    blocks: Blocks


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Targets Y of shape (n, t) that are held out fold by fold.

    ``one`` is the constant function in the coordinates of each fold, where these are not the samples; None where it is
    1 for each sample. ``basis`` (n, p) is an orthonormal basis of the columns without penalty, where there are some;
    ``fit_intercept`` is then False.

    With ``units`` (t,) the targets are the columns of Y divided by these, less their means where there is an intercept.
    Y may then be any object that returns columns as ``Y[:, index]``. Columns are divided and centred when they are
    read, so no copy of all targets is made.
    """

    Y: Array
    folds: Folds
    fit_intercept: bool = True
    one: Array | None = None
    basis: Array | None = None
    units: Array | None = None

    @cached_property
    def ones(self) -> Array:
        """The constant function."""
        if self.one is None:
            return np.ones(len(self.Y))
        return self.one

    @property
    def count(self) -> float:
        """How many samples there are."""
        return float(self.ones @ self.ones)

    @property
    def used(self) -> int:
        """How many folds have a sample with weight."""
        return int(np.count_nonzero(np.bincount(self.folds.labels, self.ones**2, self.folds.count)))

    def on(self, rows: Array) -> HeldOut:
        """Some of the samples, in the folds that they are in."""
        one = part_of(self.one, rows)
        return replace(self, Y=self.Y[rows], folds=self.folds.of_rows(rows), one=one)

    def weighted(self, weight: Array) -> HeldOut:
        """The targets with weights of the samples, (n,), for kernel matrices multiplied by the roots of these weights.

        Raises
        ------
        ValueError : where all weight is in one fold, so that there is none to train on
        """
        if (np.bincount(self.folds.labels, weight, self.folds.count) == weight.sum()).any():
            raise ValueError("sample_weight: all weight is in one fold, and a machine is trained on the others: use cv")
        root = np.sqrt(weight)
        return replace(self, Y=root[:, None] * self.Y, one=root)

    def of_targets(self, index: Index) -> HeldOut:
        """Some of the targets."""
        Y = self.Y[:, index]
        if self.units is not None:
            Y = Y / self.units[index]
            if self.fit_intercept:
                Y = about_means(Y)
        return replace(self, Y=Y, units=None)

    def tiles(self, index: Array | None = None) -> Iterator[tuple[HeldOut, Array]]:
        """All targets, or those of ``index``, a tile of them at a time, with their numbers."""
        if index is None:
            index = np.arange(self.Y.shape[1])
        for tile in slices(len(index), max(1, TILE_VALUES // len(self.Y))):
            yield self.of_targets(index[tile]), index[tile]

    def residuals(self, K: Any) -> Residuals | None:
        """The residuals for a kernel matrix, which is overwritten; None where K + I is singular in floating point."""
        inverse = self.inverse(K)
        if inverse is None:
            return None
        residuals = self.residuals_of(inverse)
        if np.isfinite(residuals.errors).all():
            return residuals
        return None

    def inverse(self, K: Any) -> Inverse | None:
        """The inverse that all targets share; K is overwritten. None where K + I is singular in floating point."""
        try:
            if self.basis is not None:
                project(K, self.basis)
            H = _inverse(K)
            if self.basis is not None:
                project(H, self.basis)
            blocks = Blocks.of(H, self.folds)
        except np.linalg.LinAlgError:
            return None
        return self._with_ones(H, blocks)

    def inverse_by_folds(self, bank: KernelBank, v: Array) -> Inverse | None:
        """The inverse for sum_k v_k K_k in half of the memory; only where there is no ``basis``."""
        try:
            H = InverseByFolds.of(bank, v, self.folds)
        except np.linalg.LinAlgError:
            return None
        return self._with_ones(H, H.blocks)

    def _with_ones(self, H: Any, blocks: Blocks) -> Inverse:
        return Inverse(H, times(H, self.ones[:, None])[:, 0], blocks)

    def residuals_of(self, inverse: Inverse) -> Residuals:
        """The residuals of the targets for a kernel matrix with this inverse."""
        targets = times(inverse.H, self.Y)
        R = inverse.blocks.solve(self.centred(targets, inverse.ones, self.folds))
        errors: Array = (R**2).sum(axis=0) / self.count
        return Residuals(inverse.H, targets, inverse.ones, inverse.blocks, R, errors)

    def constants(self) -> Array:
        """L(0) of each target, the error of the predictor that is constant: shape (t,)."""
        return np.concatenate([tile._constants() for tile, _ in self.tiles()])

    def _constants(self) -> Array:
        residuals = self.centred(self.Y, self.ones, self.folds)
        if self.basis is not None:
            residuals = self._without_kernel(self.basis)
        return np.asarray((residuals**2).sum(axis=0)) / self.count

    def constant(self) -> float:
        """L(0), summed over the targets."""
        return float(self.constants().sum())

    def _without_kernel(self, basis: Array) -> Array:
        """The residuals where K is zero, of ordinary least squares on the training samples: shape (n, t)."""
        residuals = self.Y - basis @ (basis.T @ self.Y)
        for V in self.folds.tests():
            B = basis[V]
            residuals[V] += B @ np.linalg.solve(np.eye(B.shape[1]) - B.T @ B, B.T @ residuals[V])
        return residuals

    def slope(self, residuals: Residuals) -> Any:
        """M with dL = <M, dK>: shape (n, n), not symmetric."""
        U = residuals.blocks.solve(residuals.values)
        M = _arrays.zeros(residuals.H, tuple(residuals.H.shape))
        for t in range(self.Y.shape[1]):
            column = slice(t, t + 1)
            P = _columns(residuals.H, self.folds, U[:, column])[:, :, 0]
            Q = self.directions(residuals, self.folds, residuals.values[:, column], column)[:, :, 0]
            if foreign(M):
                M += 2.0 / self.count * (like(M, P) @ like(M, Q).T)
            else:
                lapack.gemm(P, Q.T, M, 2.0 / self.count)
        return M

    def centred(self, targets: Array, ones: Array, folds: Folds) -> Array:
        """(H z)_V in the rows of each fold: shape (n, t)."""
        return targets - self._means(folds)[folds.labels] * ones[:, None]

    def directions(self, residuals: Residuals, folds: Folds, R: Array, tile: slice) -> Array:
        """q of every fold for some targets, whose residuals are R: shape (n, F, targets)."""
        Q = _columns(residuals.H, folds, R)
        Q -= residuals.targets[:, None, tile]
        if self.fit_intercept:
            Q += residuals.ones[:, None, None] * self._means(folds)[:, tile]
        Q[np.arange(len(Q)), folds.labels] = 0.0
        return Q

    def _means(self, folds: Folds) -> Array:
        if folds is self.folds:
            return self.training_means
        return self._means_of(folds)

    @cached_property
    def training_means(self) -> Array:
        """The numbers subtracted from the targets of each fold: the means of its training samples, or 0; (F, t)."""
        return self._means_of(self.folds)

    def _means_of(self, folds: Folds) -> Array:
        zeros = np.zeros((folds.count, self.Y.shape[1]))
        if not self.fit_intercept:
            return zeros
        return folds.training_means(self.Y, self.ones)


def times(H: Any, B: Array) -> Array:
    """H B, for B of shape (n, t)."""
    if isinstance(H, InverseByFolds):
        return H.times(B)
    return unlocked_product(H, B)


def times_in_fold(H: Any, folds: Folds, f: int, B: Array) -> Array:
    """(H B)_V of one fold V, for B of shape (n, t): shape (len(V), t)."""
    if isinstance(H, InverseByFolds):
        return H.times_in_fold(f, B)
    return unlocked_product(rows_of(H, folds.tests()[f]), B)


def _columns(H: Any, folds: Folds, U: Array) -> Array:
    """H_:V U_V of every fold on the samples outside it: shape (n, F, t) for U of shape (n, t)."""
    if isinstance(H, InverseByFolds):
        return H.beyond_folds(U)
    if folds.single:
        return np.asarray(host(H))[:, :, None] * U
    columns = np.empty((len(U), folds.count, U.shape[1]))
    for f, V in enumerate(folds.tests()):
        if foreign(H):
            columns[:, f] = unlocked_product(taken(H, V, axis=1), U[V])
        else:
            columns[:, f] = unlocked_product(U[V].T, rows_of(H, V)).T
    return columns


def rows_of(H: Any, V: Array) -> Any:
    """The rows of a fold, not copied where they follow each other."""
    if not foreign(H) and len(V) and V[-1] - V[0] + 1 == len(V) and (np.diff(V) == 1).all():
        return H[V[0] : V[-1] + 1]
    return taken(H, V)


def _inverse(K: Any) -> Any:
    """(K + I)^{-1}, in the place of a NumPy array; LinAlgError where K + I is not positive definite."""
    if foreign(K):
        return _arrays.Cholesky.of(K, 1.0).inverse()
    K.flat[:: len(K) + 1] += 1.0
    if not (factorise(K.T) and invert(K.T)):
        raise np.linalg.LinAlgError("the kernel matrix with its ridge is not positive definite")
    return K


def unlocked_product(A: Any, B: Array) -> Array:
    """A B by SciPy's BLAS, without Python's lock, because folds are computed on several threads."""
    if foreign(A):
        return _linalg.product(A, B)
    return lapack.gemm(A, B)
