"""The held-out error of kernels of few features, from sums over the samples of each fold.

With F the features of all kernels, M_V = F_V'F_V and c_V = F_V'z_V, and sums M, c without V over the training samples,
z = y - mean(y_T): for D = diag(v), the weight of the kernel of each feature,

    b = A c,   A = D (I + M D)^-1,    |z_V - F_V b|^2 = |z_V|^2 - 2 b'c_V + b'M_V b,
    db/dv_k = (I - A M) E_k g,        g = c - M b,   E_k the features of kernel k

(ridge 1). Systems have the order of the features that have a weight, and no cost follows the number of samples. With
B = I + D^1/2 M D^1/2, positive definite, A is D^1/2 B^-1 D^1/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import lapack

from multikernel._arrays import taken
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import slices
from multikernel.procedures.ridge_cv.criterion import Criterion, Point
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.held_out import HeldOutError
from multikernel.procedures.ridge_cv.model import Model, Tall
from multikernel.statistics import Moments, Summing

_LARGEST = 1e11  # the largest trace of the kernel relative to the ridge: systems lose as many digits
_MOST_FOLDS = 20  # each has sums of its own
KEPT = 128 << 20  # bytes of the factors of all folds that a point keeps: a step from it needs them again
_COPIED = 1 << 23  # features that are copied at a time
_DENSE = 1500  # coordinates up to which matrices of them cost little
_FEW = 2000  # samples that tell where to begin
_MANY = 4 * _FEW  # samples of which these are a part


@dataclass(frozen=True, eq=False)
class FeatureErrors:
    """The coefficients b (q, t) of the model trained without each fold, and the mean squared error of each target.

    ``systems`` are those of the folds where they are small enough to be kept, else None for each.
    """

    coefs: tuple[Array, ...]
    errors: Array
    systems: tuple[_System | None, ...]

    @property
    def value(self) -> float:
        return float(self.errors.sum())


@dataclass(frozen=True, eq=False)
class ErrorInFeatures(Criterion):
    """L(v) from the sums over each fold.

    Parameters
    ----------
    bank, Y : as in ``Criterion``
    scale : array (q,), what the features are multiplied with
    sizes : int array (m,), how many features each kernel has
    held : the sums over each fold
    fit_intercept : whether the mean of the training targets is taken off first
    part : the error on some of the samples, where to begin; None where there is none
    """

    scale: Array
    sizes: Array
    held: tuple[Moments, ...]
    fit_intercept: bool
    part: Criterion | None = None

    @classmethod
    def of(cls, bank: KernelBank, Y: Array, folds: Folds, fit_intercept: bool) -> ErrorInFeatures | None:
        """Of a bank that is known by dense features, where this costs less than matrices of the samples; else None."""
        known, n = bank.by_features(), len(Y)
        if known is None or hasattr(known[0].F, "tocsr") or folds.count > _MOST_FOLDS:
            return None
        q = known[0].n_features
        coordinates = min(n, folds.count * (q + Y.shape[1] + 1))
        if coordinates <= _DENSE or folds.count * float(q) ** 3 > 2.0 * float(coordinates) ** 3:
            return None
        held = tuple(_sums(known[0].F, Y, V) for V in folds.tests())
        part = None
        if n > _MANY:
            rows = np.sort(np.random.default_rng(0).choice(n, _FEW, replace=False))
            own = folds.of_rows(rows)
            part = HeldOutError.of(bank.block(rows, rows), Y[rows], own, fit_intercept) if own.count > 1 else None
        return cls(bank, Y, known[1], known[0].sizes, held, fit_intercept, part)

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
        return cls(bank, Y, known[1], known[0].sizes, held, fit_intercept, part)

    def few(self) -> Criterion | None:
        return self.part

    @cached_property
    def whole(self) -> Moments:
        """The sums over all samples."""
        total = self.held[0]
        for each in self.held[1:]:
            total = total.merge(each)
        return total

    @property
    def count(self) -> float:
        return self.whole.count

    @property
    def largest(self) -> float:
        return _LARGEST / self.whole.count

    def constant(self) -> float:
        return float(sum(held.target_squares.sum() for held, _ in self._folds())) / self.whole.count

    def _folds(self) -> Iterator[tuple[Moments, Moments]]:
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

    def at(self, v: Array) -> Point | None:
        coefs, errors = [], np.zeros(self.whole.products.shape[1])
        systems: list[_System | None] = []
        for held, trained in self._folds():
            system = _System.of(self, v, held)
            if system is None:
                return None
            b = system.solve(self.scale[:, None] * trained.products)
            coefs.append(b)
            systems.append(system if len(self.held) * system.factor.nbytes <= KEPT else None)
            raw = self.scale[:, None] * b
            fitted = product(held.squares, raw)
            errors += held.target_squares - np.einsum("qt,qt->t", raw, 2.0 * held.products - fitted)
        errors = np.maximum(errors, 0.0) / self.whole.count
        left = FeatureErrors(tuple(coefs), errors, tuple(systems))
        return Point(v, left) if np.isfinite(errors).all() else None

    def model(self, point: Point) -> Model:
        m = len(self.sizes)
        slope, curvature = np.zeros(m), np.zeros((m, m))
        assert isinstance(point.left, FeatureErrors)
        left = point.left
        for (held, trained), b, kept in zip(self._folds(), left.coefs, left.systems, strict=True):
            system = _System.of(self, point.v, held) if kept is None else kept
            assert system is not None
            raw = self.scale[:, None] * b
            fitted = product(held.squares, raw)
            inside = self.scale[:, None] * (trained.products - product(self.whole.squares, raw) + fitted)
            for t in range(b.shape[1]):
                J = self.scale[:, None] * self._derivatives(system, held, inside[:, t])
                slope -= J.T @ (held.products[:, t] - fitted[:, t])
                curvature += J.T @ product(held.squares, J)
        return Tall(point.v, slope / self.whole.count, curvature / self.whole.count)

    def _derivatives(self, system: _System, held: Moments, g: Array) -> Array:
        """db/dv_k as columns, shape (q, m)."""
        blocks = np.zeros((len(g), len(self.sizes)))
        blocks[np.arange(len(g)), np.repeat(np.arange(len(self.sizes)), self.sizes)] = g
        raw = self.scale[:, None] * blocks
        image = product(self.whole.squares, raw) - product(held.squares, raw)
        return blocks - system.solve(self.scale[:, None] * image)


def _sums(F: Any, Y: Array, rows: Array) -> Moments:
    """The sums over some samples; features of a part of them are copied at a time."""
    sums = Summing(F.shape[1], Y.shape[1])
    for part in slices(len(rows), max(1, _COPIED // max(1, F.shape[1]))):
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
    def of(cls, error: ErrorInFeatures, v: Array, held: Moments) -> _System | None:
        """Without the samples of a fold; None where B is singular in floating point."""
        weights = np.repeat(v, error.sizes)
        active = np.flatnonzero(weights)
        roots, index = np.sqrt(weights[active]), np.ix_(active, active)
        scaled = roots * error.scale[active]
        B = error.whole.squares[index].T  # symmetric: its transpose is stored by columns, as LAPACK factors in place
        B -= held.squares[index].T
        B *= scaled
        B *= scaled[:, None]
        B.flat[:: len(B) + 1] += 1.0
        factor, failed = lapack.dpotrf(B, lower=1, overwrite_a=1, clean=0) if len(B) else (B, 0)
        return None if failed else cls(active, roots, factor, len(weights))

    def solve(self, C: Array) -> Array:
        """A C for C of shape (q, t)."""
        out = np.zeros((self.size, C.shape[1]))
        if len(self.active):
            inside = lapack.dpotrs(self.factor, self.roots[:, None] * C[self.active], lower=1)[0]
            out[self.active] = self.roots[:, None] * inside
        return out
