"""The held-out error of kernels of few features, from sums over the samples of each fold.

With F the features of all kernels, M_V = F_V'F_V and c_V = F_V'z_V, and sums M, c without V over the training samples,
z = y - mean(y_T): for D = diag(v), the weight of the kernel of each feature,

    b = A c,   A = D (I + M D)^-1,    |z_V - F_V b|^2 = |z_V|^2 - 2 b'c_V + b'M_V b,
    db/dv_k = (I - A M) E_k g,        g = c - M b,   E_k the features of kernel k

(ridge 1). Systems have the order of the features that have a weight, and no cost follows the number of samples. With
B = I + D^1/2 M D^1/2, positive definite, A is D^1/2 B^-1 D^1/2. A factor of B that is too large to be kept gives the
derivatives together with the error. (Conjugate gradients on all folds, from one factor of what they have in common,
were tried: 60,000 samples of 2000 active features took 29 steps for an error and 42 for its derivatives, twice and four
times the processor seconds of a factor for each fold; with 20,000 of 3600 features it was 44 and 59 steps.)

The sums over each fold of a cross-validation, of features that are multiplied with numbers.
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
    """What is left of the targets of each fold, and the mean squared error of each target."""

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
    part : the error on some of the samples, where to begin; None where there is none
    """

    sums: FoldSums
    part: Criterion | None = None

    @classmethod
    def of(cls, bank: KernelBank, Y: Array, folds: Folds, fit_intercept: bool) -> ErrorInFeatures | None:
        """Of a bank that is known by dense features, where this costs less than matrices of the samples; else None."""
        known = bank.by_features()
        n = len(Y)
        if known is None or not cls.costs_less(bank, Y.shape[1], folds):
            return None
        held = tuple(_sums(known[0].F, Y, V) for V in folds.tests())
        part = None
        if n > 8000:  # the minimum on 2000 of them is where to begin
            rows = np.sort(np.random.default_rng(0).choice(n, 2000, replace=False))
            own = folds.of_rows(rows)
            if own.count > 1:
                part = HeldOutError.of(bank.block(rows, rows), Y[rows], own, fit_intercept)
            else:
                part = None
        return cls(bank, Y, FoldSums(known[1], known[0].sizes, held, fit_intercept), part)

    @classmethod
    def costs_less(cls, bank: KernelBank, t: int, folds: Folds) -> bool:
        """Whether t targets of a bank cost less by sums of dense features than by matrices of the samples."""
        known = bank.by_features()
        if known is None or is_sparse(known[0].F) or folds.count > FOLD_SUMS:
            return False
        q = known[0].n_features
        coordinates = min(len(folds.labels), folds.count * (q + t + 1))
        return coordinates > FOLD_COORDINATES and folds.count * float(q) ** 3 <= 2.0 * float(coordinates) ** 3

    @classmethod
    def of_sums(
        cls, bank: KernelBank, Y: Array, held: tuple[Moments, ...], fit_intercept: bool, part: Criterion | None
    ) -> ErrorInFeatures:
        """From the sums over each fold.

        Parameters
        ----------
        bank : KernelBank that is known by features, of any samples with the traces of all
        Y : array of the targets of these samples
        held, fit_intercept, part : as above
        """
        known = bank.by_features()
        assert known is not None
        return cls(bank, Y, FoldSums(known[1], known[0].sizes, held, fit_intercept), part)

    def of_targets(self, index: Array | list[int]) -> ErrorInFeatures:
        """Some of the targets."""
        own = np.asarray(index)
        sums = replace(self.sums, held=tuple(each.of_targets(own) for each in self.sums.held))
        part = None
        if isinstance(self.part, HeldOutError):
            part = self.part.of_targets(own)
        return replace(self, Y=self.Y[:, own], sums=sums, part=part)

    def few(self) -> Criterion | None:
        return self.part

    @property
    def count(self) -> float:
        return self.sums.whole.count

    @property
    def largest(self) -> float:
        return 1e11 / self.sums.whole.count  # systems lose as many digits as the trace has beyond the ridge

    def constants(self) -> Array:
        squares = [held.target_squares for held, _ in self.sums.held_and_trained()]
        return np.asarray(np.sum(squares, axis=0)) / self.sums.whole.count

    def constant(self) -> float:
        return float(self.constants().sum())

    def shared(self, v: Array) -> SharedWeights | None:
        systems = []
        for held, _ in self.sums.held_and_trained():
            system = _System.of(self.sums, v, held)
            if system is None:
                return None
            kept = len(self.sums.held) * system.factor.nbytes <= KEPT_BYTES
            systems.append(system if kept else None)
        return SharedSystems(v, self, tuple(systems))

    def gram(self, w: Array) -> Gram:
        """The kernel matrix of all samples, the sums of their features known."""
        known = self.bank.by_features()
        assert known is not None
        F = known[0].F
        weights = np.repeat(w, self.sums.sizes) * self.sums.scale**2
        return FactorGram(F, weights, F, Squares(F, self.sums.whole.squares))

    def at(self, v: Array) -> Point | None:
        found: list[_Fold] = []
        for held, trained in self.sums.held_and_trained():
            system = _System.of(self.sums, v, held)
            if system is None:
                return None
            fold = _Fold.of(self.sums, system, held, trained)
            # a factor that is too large to be kept gives the derivatives now: a step that asks for them costs no other
            kept = len(self.sums.held) * system.factor.nbytes <= KEPT_BYTES
            if not kept:
                fold = replace(fold, system=None, model=self._model_of(fold, system, held, trained))
            found.append(fold)
        errors = np.sum([fold.errors for fold in found], axis=0)
        errors = np.maximum(errors, 0.0) / self.sums.whole.count
        if np.isfinite(errors).all():
            return Point(v, FeatureErrors(tuple(found), errors))
        return None

    def model(self, point: Point) -> QuadraticModel:
        """The sum of those of the targets."""
        m = len(self.sums.sizes)
        slope = np.zeros(m)
        curvature = np.zeros((m, m))
        assert isinstance(point.left, FeatureErrors)
        for (held, trained), fold in zip(self.sums.held_and_trained(), point.left.folds, strict=True):
            known = fold.model
            if known is None:
                assert fold.system is not None
                known = self._model_of(fold, fold.system, held, trained)
            slope = slope + known[0]
            curvature = curvature + known[1]
        return Tall(point.v, slope / self.sums.whole.count, curvature / self.sums.whole.count)

    def _model_of(self, fold: _Fold, system: _System, held: Moments, trained: Moments) -> tuple[Array, Array]:
        """The slope and the curvature of one fold's summed error."""
        slopes, curvatures = self.target_models(fold, system, held, trained)
        return slopes.sum(axis=0), curvatures.sum(axis=0)

    def target_models(self, fold: _Fold, system: _System, held: Moments, trained: Moments) -> tuple[Array, Array]:
        """The slope of one fold's error of each target, (t, m), and the curvature, (t, m, m)."""
        m = len(self.sums.sizes)
        raw = self.sums.scale[:, None] * fold.coef
        (q, t) = raw.shape
        fitted = product(held.squares, raw)
        inside = self.sums.scale[:, None] * (trained.products - product(self.sums.whole.squares, raw) + fitted)
        rest = held.products - fitted
        slopes = np.empty((t, m))
        curvatures = np.empty((t, m, m))
        for own in slices(t, max(1, TILE_VALUES // (q * m))):
            J = self.sums.scale[:, None, None] * self._derivatives(system, held, inside[:, own])
            slopes[own] = -np.einsum("qkt,qt->tk", J, rest[:, own])
            images = product(held.squares, J.reshape(q, -1)).reshape(J.shape)
            np.matmul(J.transpose(2, 1, 0), images.transpose(2, 0, 1), out=curvatures[own])
        return slopes, curvatures

    def _derivatives(self, system: _System, held: Moments, G: Array) -> Array:
        """db/dv_k for the targets of the columns of G: shape (q, m, t)."""
        (q, t) = G.shape
        blocks = np.zeros((q, len(self.sums.sizes), t))
        image = np.empty((q, len(self.sums.sizes), t))
        raw = self.sums.scale[:, None] * G
        start = 0
        for k, size in enumerate(self.sums.sizes):  # the features of one kernel at a time: other products are zero
            own = slice(start, start + size)
            blocks[own, k] = G[own]
            image[:, k] = product(_columns(self.sums.whole.squares, own), raw[own])
            image[:, k] -= product(_columns(held.squares, own), raw[own])
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
        for found in self._folds(index):
            own = self.error.target_models(*found)
            slopes += own[0]
            curvatures += own[1]
        return TargetModels(slopes / self.error.count, curvatures / self.error.count)

    def _folds(self, index: Array) -> Iterator[tuple[_Fold, _System, Moments, Moments]]:
        sums = self.error.sums
        for (held, trained), kept in zip(sums.held_and_trained(), self.systems, strict=True):
            system = kept or _System.of(sums, self.v, held)
            assert system is not None  # as it was when the weights were tried
            own = held.of_targets(index), trained.of_targets(index)
            yield _Fold.of(sums, system, *own), system, *own


def _columns(M: Array, own: slice) -> Array:
    """Some columns of a symmetric matrix, which lie side by side in memory."""
    if M.flags.f_contiguous:
        return M[:, own]
    return M[own].T


def _sums(F: Any, Y: Array, rows: Array) -> Moments:
    """The sums over some samples; features of a part of them are copied at a time."""
    sums = Summing(F.shape[1], Y.shape[1])
    for part in slices(len(rows), max(1, PIECE_VALUES // max(1, F.shape[1]))):
        sums.add(taken(F, rows[part]), Y[rows[part]])
    return sums.moments()


@dataclass(frozen=True, eq=False)
class _System:
    """A for one set of training samples: the features with a weight, their roots, and the factor of B."""

    active: Array
    roots: Array
    factor: Array
    size: int

    @classmethod
    def of(cls, sums: FoldSums, v: Array, held: Moments) -> _System | None:
        """Without the samples of a fold; None where B is singular in floating point."""
        weights = np.repeat(v, sums.sizes)
        active = np.flatnonzero(weights)
        roots = np.sqrt(weights[active])
        index = np.ix_(active, active)
        scaled = roots * sums.scale[active]
        B = np.asfortranarray(sums.whole.squares[index].T)  # symmetric: its transpose is stored by columns already
        B -= held.squares[index].T
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
    system : what b was solved by, where it is small enough to be kept; else None
    model : slope and curvature of the errors; None where the system is kept
    """

    coef: Array
    errors: Array
    system: _System | None
    model: tuple[Array, Array] | None = None

    @classmethod
    def of(cls, sums: FoldSums, system: _System, held: Moments, trained: Moments) -> _Fold:
        """From the sums of the fold and of its training samples."""
        b = system.solve(sums.scale[:, None] * trained.products)
        raw = sums.scale[:, None] * b
        fitted = product(held.squares, raw)
        errors = held.target_squares - np.einsum("qt,qt->t", raw, 2.0 * held.products - fitted)
        return cls(b, errors, system)


# -- sums over each fold -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FoldSums:
    """What all models trained without a fold, and their errors on it, follow from.

    Parameters
    ----------
    scale : array (q,), what the features are multiplied with
    sizes : int array (m,), how many features each kernel has
    held : the sums over each fold
    fit_intercept : whether the mean of the training targets is taken off first
    """

    scale: Array
    sizes: Array
    held: tuple[Moments, ...]
    fit_intercept: bool

    @cached_property
    def whole(self) -> Moments:
        """The sums over all samples."""
        total = self.held[0]
        for each in self.held[1:]:
            total = total.merge(each)
        return total

    def held_and_trained(self) -> Iterator[tuple[Moments, Moments]]:
        """The sums of each fold and of its training samples, about the mean of these; squares are those of all."""
        for held in self.held:
            count = self.whole.count - held.count
            means = (self.whole.target_sums - held.target_sums) / count * float(self.fit_intercept)
            trained = Moments(
                squares=held.squares,  # not those of the training samples, which are taken off where they are needed
                products=self.whole.products - held.products,
                sums=self.whole.sums - held.sums,
                target_sums=self.whole.target_sums - held.target_sums,
                target_squares=self.whole.target_squares - held.target_squares,
                count=count,
            )
            yield held.about(means), trained.about(means)
