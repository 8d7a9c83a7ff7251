"""The held-out error of kernels of few features, from sums over the samples of each fold.

With F the features of all kernels, M_V = F_V'F_V and c_V = F_V'z_V, and sums M, c without V over the training samples,
z = y - mean(y_T): for D = diag(v), the weight of the kernel of each feature,

    b = A c,   A = D (I + M D)^-1,    |z_V - F_V b|^2 = |z_V|^2 - 2 b'c_V + b'M_V b,
    db/dv_k = (I - A M) E_k g,        g = c - M b,   E_k the features of kernel k

(ridge 1). Systems have the order of the features with a nonzero weight, and no cost depends on the number of samples.
With B = I + D^1/2 M D^1/2, positive definite, A is D^1/2 B^-1 D^1/2. A factor of B that is too large to be kept gives
the derivatives together with the error. (Conjugate gradients on all folds, preconditioned by one factor for all
samples, were tried: 60,000 samples of 2000 active features took 29 steps for an error and 42 for its derivatives, twice
and four times the processor seconds of a factor for each fold; with 20,000 of 3600 features it was 44 and 59 steps.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._arrays import is_sparse, taken
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.banks.factor_gram import FactorGram
from multikernel.banks.thin_root import Squares
from multikernel.banks.threads import slices
from multikernel.numerics.cholesky import factorise, solved
from multikernel.procedures.ridge_cv.criterion import Criterion, Point, SharedWeights, TargetModels
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.held_out import HeldOutError
from multikernel.procedures.ridge_cv.model import QuadraticModel, Tall
from multikernel.statistics import Moments, Summing
from multikernel.tuning import FOLD_COORDINATES, FOLD_SUMS, KEPT_BYTES, PIECE_VALUES, TILE_VALUES


@dataclass(frozen=True, eq=False)
class FeatureErrors:
    """The models that are trained without each fold, and the mean squared error of each target."""

    folds: tuple[_Fold, ...]
    errors: Array

    @property
    def value(self) -> float:
        return float(self.errors.sum())


@dataclass(frozen=True, eq=False)
class ErrorInFeatures(Criterion):
    """L(v) from the sums over each fold.

    Parameters
    ----------
    bank, Y : as in ``Criterion``
    sums : FoldSums
    subsample_error : the error on some of the samples, whose minimum is where a search begins; None where there is none
    """

    sums: FoldSums
    subsample_error: Criterion | None = None

    @classmethod
    def of(cls, bank: KernelBank, Y: Array, folds: Folds, fit_intercept: bool) -> ErrorInFeatures | None:
        """The error of a bank of dense features; None where matrices of the samples cost less."""
        features = bank.by_features()
        n = len(Y)
        if features is None or not cls.costs_less(bank, Y.shape[1], folds):
            return None
        fold_sums = tuple(_sums(features[0].F, Y, V) for V in folds.tests())
        subsample_error = None
        if n > 8000:  # a search begins at the minimum on 2000 of them
            rows = np.sort(np.random.default_rng(0).choice(n, 2000, replace=False))
            subsample_folds = folds.of_rows(rows)
            if subsample_folds.count > 1:
                subsample_error = HeldOutError.of(bank.block(rows, rows), Y[rows], subsample_folds, fit_intercept)
            else:
                subsample_error = None
        return cls(bank, Y, FoldSums(features[1], features[0].sizes, fold_sums, fit_intercept), subsample_error)

    @classmethod
    def costs_less(cls, bank: KernelBank, t: int, folds: Folds) -> bool:
        """Whether t targets of a bank cost less by sums of dense features than by matrices of the samples."""
        features = bank.by_features()
        if features is None or is_sparse(features[0].F) or folds.count > FOLD_SUMS:
            return False
        q = features[0].n_features
        coordinates = min(len(folds.labels), folds.count * (q + t + 1))
        return coordinates > FOLD_COORDINATES and folds.count * float(q) ** 3 <= 2.0 * float(coordinates) ** 3

    @classmethod
    def of_sums(
        cls,
        bank: KernelBank,
        Y: Array,
        fold_sums: tuple[Moments, ...],
        fit_intercept: bool,
        subsample_error: Criterion | None,
    ) -> ErrorInFeatures:
        """From the sums over each fold.

        Parameters
        ----------
        bank : KernelBank that is known by features, of any samples with the traces of all
        Y : array of the targets of these samples
        fold_sums : the sums over each fold
        fit_intercept : whether the mean of the training targets is subtracted first
        subsample_error : as above
        """
        features = bank.by_features()
        assert features is not None
        return cls(bank, Y, FoldSums(features[1], features[0].sizes, fold_sums, fit_intercept), subsample_error)

    def of_targets(self, index: Array | list[int]) -> ErrorInFeatures:
        """Some of the targets."""
        columns = np.asarray(index)
        sums = replace(self.sums, folds=tuple(fold.of_targets(columns) for fold in self.sums.folds))
        subsample_error = None
        if isinstance(self.subsample_error, HeldOutError):
            subsample_error = self.subsample_error.of_targets(columns)
        return replace(self, Y=self.Y[:, columns], sums=sums, subsample_error=subsample_error)

    def on_subsample(self) -> Criterion | None:
        return self.subsample_error

    @property
    def count(self) -> float:
        return self.sums.total.count

    @property
    def largest(self) -> float:
        return 1e11 / self.sums.total.count  # systems lose as many digits as the trace has beyond the ridge

    def constants(self) -> Array:
        squares = [held_out.target_squares for held_out, _ in self.sums.held_out_and_trained()]
        return np.asarray(np.sum(squares, axis=0)) / self.sums.total.count

    def constant(self) -> float:
        return float(self.constants().sum())

    def shared(self, v: Array) -> SharedWeights | None:
        systems = []
        for held_out, _ in self.sums.held_out_and_trained():
            system = _System.of(self.sums, v, held_out)
            if system is None:
                return None
            small_enough = len(self.sums.folds) * system.factor.nbytes <= KEPT_BYTES
            systems.append(system if small_enough else None)
        return SharedSystems(v, self, tuple(systems))

    def gram(self, w: Array) -> Gram:
        """The kernel matrix of all samples, the sums of their features known."""
        features = self.bank.by_features()
        assert features is not None
        F = features[0].F
        weights = np.repeat(w, self.sums.sizes) * self.sums.scale**2
        return FactorGram(F, weights, F, Squares(F, self.sums.total.squares))

    def at(self, v: Array) -> Point | None:
        folds: list[_Fold] = []
        for held_out, trained in self.sums.held_out_and_trained():
            system = _System.of(self.sums, v, held_out)
            if system is None:
                return None
            fold = _Fold.of(self.sums, system, held_out, trained)
            # a factor that is too large to be kept gives the derivatives now, so that a step needs no second one
            small_enough = len(self.sums.folds) * system.factor.nbytes <= KEPT_BYTES
            if not small_enough:
                fold = replace(fold, system=None, model=self._model_of(fold, system, held_out, trained))
            folds.append(fold)
        errors = np.sum([fold.errors for fold in folds], axis=0)
        errors = np.maximum(errors, 0.0) / self.sums.total.count
        if np.isfinite(errors).all():
            return Point(v, FeatureErrors(tuple(folds), errors))
        return None

    def model(self, point: Point) -> QuadraticModel:
        """The sum of the models of all targets."""
        m = len(self.sums.sizes)
        slope = np.zeros(m)
        curvature = np.zeros((m, m))
        assert isinstance(point.evaluation, FeatureErrors)
        for (held_out, trained), fold in zip(self.sums.held_out_and_trained(), point.evaluation.folds, strict=True):
            model = fold.model
            if model is None:
                assert fold.system is not None
                model = self._model_of(fold, fold.system, held_out, trained)
            slope = slope + model[0]
            curvature = curvature + model[1]
        return Tall(point.v, slope / self.sums.total.count, curvature / self.sums.total.count)

    def _model_of(self, fold: _Fold, system: _System, held_out: Moments, trained: Moments) -> tuple[Array, Array]:
        """The slope and the curvature of one fold's summed error."""
        slopes, curvatures = self.target_models(fold, system, held_out, trained)
        return slopes.sum(axis=0), curvatures.sum(axis=0)

    def target_models(self, fold: _Fold, system: _System, held_out: Moments, trained: Moments) -> tuple[Array, Array]:
        """The slope of one fold's error of each target, (t, m), and the curvature, (t, m, m)."""
        m = len(self.sums.sizes)
        raw = self.sums.scale[:, None] * fold.coef
        (q, t) = raw.shape
        fitted = product(held_out.squares, raw)
        inside = self.sums.scale[:, None] * (trained.products - product(self.sums.total.squares, raw) + fitted)
        residual_products = held_out.products - fitted
        slopes = np.empty((t, m))
        curvatures = np.empty((t, m, m))
        for tile in slices(t, max(1, TILE_VALUES // (q * m))):
            J = self.sums.scale[:, None, None] * self._derivatives(system, held_out, inside[:, tile])
            slopes[tile] = -np.einsum("qkt,qt->tk", J, residual_products[:, tile])
            images = product(held_out.squares, J.reshape(q, -1)).reshape(J.shape)
            np.matmul(J.transpose(2, 1, 0), images.transpose(2, 0, 1), out=curvatures[tile])
        return slopes, curvatures

    def _derivatives(self, system: _System, held_out: Moments, G: Array) -> Array:
        """db/dv_k for the targets of the columns of G: shape (q, m, t)."""
        (q, t) = G.shape
        blocks = np.zeros((q, len(self.sums.sizes), t))
        image = np.empty((q, len(self.sums.sizes), t))
        raw = self.sums.scale[:, None] * G
        start = 0
        for k, size in enumerate(self.sums.sizes):  # the features of one kernel at a time: other products are zero
            columns = slice(start, start + size)
            blocks[columns, k] = G[columns]
            image[:, k] = product(_columns(self.sums.total.squares, columns), raw[columns])
            image[:, k] -= product(_columns(held_out.squares, columns), raw[columns])
            start += size
        image *= self.sums.scale[:, None, None]
        return blocks - system.solve(image.reshape(q, -1)).reshape(image.shape)


@dataclass(frozen=True, eq=False)
class SharedSystems(SharedWeights):
    """Weights whose systems serve all targets; None for a system that is too large to be kept."""

    error: ErrorInFeatures
    systems: tuple[_System | None, ...]

    def errors(self, index: Array) -> Array:
        total = sum(fold.errors for fold, *_ in self._folds(index))
        return np.maximum(total, 0.0) / self.error.count

    def models(self, index: Array) -> TargetModels:
        m = len(self.v)
        slopes = np.zeros((len(index), m))
        curvatures = np.zeros((len(index), m, m))
        for fold in self._folds(index):
            fold_slopes, fold_curvatures = self.error.target_models(*fold)
            slopes += fold_slopes
            curvatures += fold_curvatures
        return TargetModels(slopes / self.error.count, curvatures / self.error.count)

    def _folds(self, index: Array) -> Iterator[tuple[_Fold, _System, Moments, Moments]]:
        sums = self.error.sums
        for (held_out, trained), known_system in zip(sums.held_out_and_trained(), self.systems, strict=True):
            system = known_system or _System.of(sums, self.v, held_out)
            assert system is not None  # as it was when the weights were tried
            moments = held_out.of_targets(index), trained.of_targets(index)
            yield _Fold.of(sums, system, *moments), system, *moments


def _columns(M: Array, columns: slice) -> Array:
    """Some columns of a symmetric matrix, which lie side by side in memory."""
    if M.flags.f_contiguous:
        return M[:, columns]
    return M[columns].T


def _sums(F: Any, Y: Array, rows: Array) -> Moments:
    """The sums over some samples, whose features are copied a tile of rows at a time."""
    sums = Summing(F.shape[1], Y.shape[1])
    for tile in slices(len(rows), max(1, PIECE_VALUES // max(1, F.shape[1]))):
        sums.add(taken(F, rows[tile]), Y[rows[tile]])
    return sums.moments()


@dataclass(frozen=True, eq=False)
class _System:
    """A for one set of training samples: the features with a weight, their roots, and the factor of B."""

    active: Array
    roots: Array
    factor: Array
    size: int

    @classmethod
    def of(cls, sums: FoldSums, v: Array, held_out: Moments) -> _System | None:
        """The system of the samples outside a fold; None where B is singular in floating point."""
        weights = np.repeat(v, sums.sizes)
        active = np.flatnonzero(weights)
        roots = np.sqrt(weights[active])
        index = np.ix_(active, active)
        scaled = roots * sums.scale[active]
        B = np.asfortranarray(sums.total.squares[index].T)  # symmetric: its transpose is stored by columns already
        B -= held_out.squares[index].T
        B *= scaled
        B *= scaled[:, None]
        B.flat[:: len(B) + 1] += 1.0
        if factorise(B):
            return cls(active, roots, B, len(weights))
        return None

    def solve(self, C: Array) -> Array:
        """A C for C of shape (q, t)."""
        out = np.zeros((self.size, C.shape[1]))
        if len(self.active):
            inside = solved(self.factor, self.roots[:, None] * C[self.active])
            out[self.active] = self.roots[:, None] * inside
        return out


@dataclass(frozen=True, eq=False)
class _Fold:
    """The model that is trained without a fold.

    Parameters
    ----------
    coef : array (q, t), b
    errors : array (t,), the summed squared error of each target
    system : the system that b solves; None where it is too large to be kept
    model : slope and curvature of the errors; None where the system is kept
    """

    coef: Array
    errors: Array
    system: _System | None
    model: tuple[Array, Array] | None = None

    @classmethod
    def of(cls, sums: FoldSums, system: _System, held_out: Moments, trained: Moments) -> _Fold:
        """From the sums of the fold and of its training samples."""
        b = system.solve(sums.scale[:, None] * trained.products)
        raw = sums.scale[:, None] * b
        fitted = product(held_out.squares, raw)
        errors = held_out.target_squares - np.einsum("qt,qt->t", raw, 2.0 * held_out.products - fitted)
        return cls(b, errors, system)


# -- sums over each fold -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FoldSums:
    """The sums from which all models trained without a fold, and their errors on the fold, are computed.

    Parameters
    ----------
    scale : array (q,), what the features are multiplied with
    sizes : int array (m,), how many features each kernel has
    folds : the sums over each fold
    fit_intercept : whether the mean of the training targets is subtracted first
    """

    scale: Array
    sizes: Array
    folds: tuple[Moments, ...]
    fit_intercept: bool

    @cached_property
    def total(self) -> Moments:
        """The sums over all samples."""
        total = self.folds[0]
        for fold in self.folds[1:]:
            total = total.merge(fold)
        return total

    def held_out_and_trained(self) -> Iterator[tuple[Moments, Moments]]:
        """The sums of each fold and of its training samples, with targets less the mean of the training samples.

        ``squares`` of the training samples are not computed: both have those of the fold.
        """
        for held_out in self.folds:
            count = self.total.count - held_out.count
            means = (self.total.target_sums - held_out.target_sums) / count * float(self.fit_intercept)
            trained = Moments(
                squares=held_out.squares,  # where those of the training samples are needed, they are total - held out
                products=self.total.products - held_out.products,
                sums=self.total.sums - held_out.sums,
                target_sums=self.total.target_sums - held_out.target_sums,
                target_squares=self.total.target_squares - held_out.target_squares,
                count=count,
            )
            yield held_out.about(means), trained.about(means)
