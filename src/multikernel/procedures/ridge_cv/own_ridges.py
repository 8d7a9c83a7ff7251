"""A separate ridge for each target, where targets share the weights w of the kernels.

    min over alpha_t > 0 of L_t(w / alpha_t)    for every target t,    L_t its held-out error (held_out.py)

With w fixed this is the problem of one kernel, K = sum_k w_k K_k. Its ridges are found as in each_target.py, by a
survey of decades and then by rounds in one dimension whose candidates serve all targets. The ridge with which the
weights were learned is one of the first candidates, so no target ends with a larger error than with that ridge. For
1,000 targets and 400 samples, 94 candidates gave all of them a stationarity of 1e-4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._arrays import is_sparse, taken
from multikernel._floats import ROUNDING
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.factor import FactorBank
from multikernel.banks.packed import PackedBank
from multikernel.banks.packing import pack
from multikernel.banks.precomputed import Precomputed
from multikernel.banks.threads import slices
from multikernel.certificate import Certificate, worst
from multikernel.kernels.samples import scaled_columns
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.procedures.ridge_cv.criterion import Criterion, Ends, Point, SharedWeights, TargetModels
from multikernel.procedures.ridge_cv.each_target import EachTarget, Keeper, each_target, forget
from multikernel.procedures.ridge_cv.folds import Folds
from multikernel.procedures.ridge_cv.in_features import ErrorInFeatures
from multikernel.procedures.ridge_cv.model import QuadraticModel, Tall
from multikernel.procedures.ridge_cv.search import RidgeCVWeights, held_out_error
from multikernel.procedures.units import RegressionUnits, spread
from multikernel.tuning import TILE_VALUES


def with_own_ridges(
    bank: KernelBank, Y: Array, folds: Folds, weights: RidgeCVWeights, fit_intercept: bool, tol: float, max_iter: int
) -> tuple[RidgeCVWeights, DualSolution]:
    """The same weights with the ridge of least held-out error for each target, and the machines on all samples.

    A target that no ridge predicts better than its mean gets one so large that the kernel is rounding in comparison.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    Y : array (n, t)
    folds, fit_intercept, tol, max_iter : as in ``ridge_cv``
    weights : RidgeCVWeights, with the ridge that targets have in common

    Returns
    -------
    RidgeCVWeights with arrays (t,) of ``alpha``, ``errors`` and ``stationarities``, and the DualSolution. ``objective``
    is the error with the common ridge, which the weights minimise. The certificate is the worst of two: that of the
    weights with the common ridge, and that of the separate ridges with these weights.
    """
    units = np.array([spread(y) for y in Y.T])
    Z = Y / units
    combined = _combined(bank, weights.values)
    error = held_out_error(combined, Z, folds, fit_intercept)
    ends = each_target(error, tol, max_iter, first=[np.array([1.0 / weights.alpha])])
    ones = np.ones(1)
    if isinstance(error, ErrorInFeatures):
        gram = error.gram(ones)
    else:
        gram = combined.combine(ones)
    rounded = max(float(combined.traces()[0]) / ROUNDING, weights.alpha)
    v = np.maximum(ends.v[:, 0], 1.0 / rounded)
    coef, beyond = np.zeros((2, *Y.shape))
    intercept = np.empty(len(units))
    gap = 0.0
    for inverse_ridge in np.unique(v):
        members = np.flatnonzero(v == inverse_ridge)
        solution = RidgeMachine(1.0 / float(inverse_ridge), fit_intercept).solve(gram, Z[:, members])
        coef[:, members] = solution.coef * units[members]
        if solution.beyond is not None:
            beyond[:, members] = solution.beyond * units[members]
        intercept[members] = solution.intercept * units[members]
        gap = max(gap, solution.gap)
    largest = Certificate.stationarity(float(ends.stationarity.max()), 1.0)
    assert weights.certificate is not None
    answer = replace(
        weights,
        certificate=worst([weights.certificate, largest]),
        converged=weights.converged and largest.reached(tol),
        n_iter=weights.n_iter + ends.n_iter,
        alpha=1.0 / v,
        errors=RegressionUnits(1.0, units).squared(ends.errors),
        stationarities=ends.stationarity,
    )
    converged = gap <= 0.05
    nonzero_beyond = beyond if beyond.any() else None
    return answer, DualSolution(
        coef, intercept, 0.0, 0.0, coef, gap, converged, n_iter=1, warm=coef, beyond=nonzero_beyond
    )


def own_ridges_of(
    error: Criterion, w: Array, tol: float, max_iter: int, begin: Array | None = None, keep: Keeper = forget
) -> EachTarget:
    """1 / alpha of least error for each target, (t, 1), with the weights w for all.

    Parameters
    ----------
    error : Criterion of all kernels
    w : array (m,)
    tol, max_iter, keep : as in ``each_target``
    begin : array (t,), where each target begins; None for the lowest of decades
    """
    first = None if begin is None else begin[:, None]
    return each_target(AlongWeights(error.bank, error.Y, error, w), tol, max_iter, begin=first, keep=keep)


@dataclass(frozen=True, eq=False)
class AlongWeights(Criterion):
    """L(c w), as a criterion of the number c; no matrix of the kernel with the weights w is stored.

    ``bank`` and ``Y`` are those of the criterion ``error`` of all kernels.
    """

    error: Criterion
    w: Array

    @property
    def count(self) -> float:
        return self.error.count

    @cached_property
    def diagonals(self) -> Array:
        return np.array([self.error.diagonals @ self.w])

    @property
    def largest(self) -> float:
        return self.error.largest

    def constant(self) -> float:
        return self.error.constant()

    def constants(self) -> Array:
        return self.error.constants()

    def squares(self) -> Array:
        return self.error.squares()

    def at(self, v: Array) -> Point | None:
        point = self.error.at(v[0] * self.w)
        if point is None:
            return None
        return replace(point, v=v)

    def model(self, point: Point) -> QuadraticModel:
        near = self.error.model(replace(point, v=point.v[0] * self.w))
        return Tall(point.v, np.array([near.slope @ self.w]), np.array([[near.curved(self.w)]]))

    def shared(self, v: Array) -> SharedWeights | None:
        shared = self.error.shared(v[0] * self.w)
        if shared is None:
            return None
        return SharedAlong(v, shared, self.w)


@dataclass(frozen=True, eq=False)
class SharedAlong(SharedWeights):
    """The weights c w for all targets; ``of_all_kernels`` are the same as weights of the bank's kernels."""

    of_all_kernels: SharedWeights
    w: Array

    def errors(self, index: Array) -> Array:
        return self.of_all_kernels.errors(index)

    def coef(self, index: Array) -> Array | None:
        return self.of_all_kernels.coef(index)

    def ends(self, index: Array, tol: float, along: Array | None = None) -> Ends:
        return self.of_all_kernels.ends(index, tol, self.w)

    def coef_near(self, index: Array, v: Array) -> Array | None:
        return self.of_all_kernels.coef_near(index, v * self.w)

    def models(self, index: Array) -> TargetModels:
        models = TargetModels(np.empty((len(index), 1)), np.empty((len(index), 1, 1)))
        for tile in slices(len(index), max(1, TILE_VALUES // len(self.w) ** 2)):
            of_all_kernels = self.of_all_kernels.models(index[tile])
            models.slopes[tile, 0] = of_all_kernels.slopes @ self.w
            models.curvatures[tile, 0, 0] = np.einsum("j,tjk,k->t", self.w, of_all_kernels.curvatures, self.w)
        return models


def _combined(bank: KernelBank, w: Array) -> KernelBank:
    """The kernel with these weights as a bank of one: by its features, if they are known and fewer than samples."""
    features = bank.by_features() if w.any() else None
    if features is not None and not is_sparse(features[0].F) and features[0].n_features < bank.shape[0]:
        factors, scale = features
        roots = scale * np.sqrt(np.repeat(w, factors.sizes))
        nonzero = np.flatnonzero(roots)
        F = scaled_columns(taken(factors.F, nonzero, axis=1), roots[nonzero])
        return FactorBank(F, F, np.array([len(nonzero)]), np.arange(len(nonzero)))
    half = pack(np.asarray(bank.combine(w).dense(), dtype=np.float64))
    return PackedBank(Precomputed(1, bank.shape[0]), half[None], bank.shape[0])
