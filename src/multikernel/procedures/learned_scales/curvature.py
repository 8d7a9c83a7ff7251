"""E with its gradient and its Gauss-Newton matrix, from the derivatives of the held-out residuals.

With H = (K + I)^-1 and the directions q of each fold V (ridge_cv/residuals.py), dr_V = (H_VV)^-1 H_V: dK q. For a scale
s of the squared differences in a column x, and S = sum_r w_r f_r'(D),

    dK/ds q = x^2 o S q - 2 x o S (x o q) + S (x^2 o q),

which are products of one matrix with a few columns for each feature, while the matrices dK/ds would be n x n each. The
derivatives J in all parameters give the gradient 2 J'r / (n L) of log L and the curvature 2 J'J / (n L), at less than
the cost of an inverse where features are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.banks.threads import one_blas_thread, over_rows, slices
from multikernel.combinations.profiles import Slopes
from multikernel.procedures.learned_scales.error import ScalesError, Trial
from multikernel.procedures.learned_scales.forms import Separate
from multikernel.procedures.ridge_cv.residuals import Residuals, unlocked_product
from multikernel.tuning import JACOBIAN_COLUMNS, ORDER_SMALL, TILE_VALUES


def can_curve(error: ScalesError) -> bool:
    """Whether the derivatives of the residuals cost at most about as much as an inverse."""
    (n, t) = error.held_out.Y.shape
    X = error.columns
    if X is None or not isinstance(error.form, Separate):
        return False
    return 2.0 * t * len(error.halves) * error.held_out.folds.count * X.shape[1] <= JACOBIAN_COLUMNS * n


def trial_at(error: ScalesError, u: Array) -> Trial | None:
    """E at u, with its Gauss-Newton matrix where that is cheap; None where the kernel matrix is singular."""
    if not can_curve(error):
        return error.at(u)
    partial = partial_trial(error, u)
    if partial is None:
        return None
    return partial.trial()


@dataclass(frozen=True, eq=False)
class PartialTrial:
    """The value of E at u, with the slopes and residuals from which its derivatives are computed."""

    error: ScalesError
    u: Array
    value: float
    slopes: Slopes
    residuals: Residuals

    def trial(self) -> Trial:
        """E with its gradient and its Gauss-Newton matrix."""
        error = self.error
        residuals = self.residuals
        P = len(self.u)
        curvature = np.zeros((P, P))
        slope = np.zeros(P)
        for t in range(error.held_out.Y.shape[1]):
            J = _jacobian(error, self.u, self.slopes, residuals, t)
            curvature += J.T @ J
            slope += J.T @ residuals.values[:, t]
        factor = 2.0 / (error.held_out.count * error.floored(residuals.errors))
        gradient = factor * slope + error.prior(self.u)[1]
        return Trial(self.u, self.value, gradient, residuals.errors, factor * curvature + error.bend(self.u))


def partial_trial(error: ScalesError, u: Array) -> PartialTrial | None:
    """E at u; None where the kernel matrix is singular in floating point."""
    K, slopes = error.combination.at(error.bank, error.theta(u))
    residuals = error.held_out.residuals(error.weighted(K))
    if residuals is None:
        return None
    return PartialTrial(error, u, float(np.log(error.floored(residuals.errors))) + error.prior(u)[0], slopes, residuals)


def _jacobian(error: ScalesError, u: Array, slopes: Slopes, residuals: Residuals, t: int) -> Array:
    """The derivatives of the residuals of a target: shape (n, P)."""
    held_out = error.held_out
    R = len(error.combination.kernels)
    column = slice(t, t + 1)
    Q = held_out.directions(residuals, held_out.folds, residuals.values[:, column], column)[:, :, 0]
    J = np.zeros((len(Q), len(u)))
    J[:, 0] = -_within_folds(residuals, Q[:, :, None])[:, 0]  # of all weights: H_V: K q = q_V - H_V: q, and q_V is 0
    v = None if held_out.one is None else held_out.one[:, None]
    if v is not None:
        Q = v * Q
    for r, K in enumerate(slopes.terms, start=1):
        J[:, r] = _within_folds(
            residuals, (unlocked_product(K, Q) if v is None else v * unlocked_product(K, Q))[:, :, None]
        )[:, 0]
        J[:, 0] -= J[:, r]
    factors = error.rows(error.theta(u))
    size = error.form.size
    for d, slope in enumerate(slopes.slopes):
        J[:, R + d * size : R + (d + 1) * size] = _in_scales(error, residuals, slope, Q) * factors[d][error.form.varied]
    return np.asarray(residuals.blocks.solve(J))


def _in_scales(error: ScalesError, residuals: Residuals, S: Array, Q: Array) -> Array:
    """H_V: dK/ds q of every scale that varies: shape (n, m)."""
    X = error.columns
    form = error.form
    v = error.held_out.one
    assert X is not None
    assert isinstance(form, Separate)
    owned = np.flatnonzero(form.owner >= 0)
    first = unlocked_product(S, Q)
    X = X[:, owned] - X[:, owned].mean(axis=0)
    products = np.zeros((len(form.means), len(X)))
    height = max(1, TILE_VALUES // len(X))
    tests = residuals.blocks.folds.tests()

    def fold(numbers: slice) -> None:
        for f in range(numbers.start, numbers.stop):
            V = tests[f]
            q = Q[:, f, None]
            H = residuals.H[V] if v is None else residuals.H[V] * v
            for tile in slices(len(owned), height):
                x = X[:, tile]
                once, twice = np.hsplit(unlocked_product(S, np.hstack([q * x, q * x**2])), 2)
                twice += x * (x * first[:, f, None] - 2.0 * once)
                for k, column in zip(form.owner[owned[tile]], unlocked_product(H, twice).T, strict=True):
                    products[k, V] += column

    with one_blas_thread(0):  # large folds are distributed over threads
        over_rows(fold, len(tests), 1 if len(X) > ORDER_SMALL else len(tests))
    return products[form.varied].T


def _within_folds(residuals: Residuals, applied: Array) -> Array:
    """H_V: times the columns of fold V, in the rows of V: shape (n, k) for (n, F, k)."""
    products = np.empty((len(applied), applied.shape[2]))
    for f, V in enumerate(residuals.blocks.folds.tests()):
        products[V] = unlocked_product(residuals.H[V], applied[:, f])
    return products
