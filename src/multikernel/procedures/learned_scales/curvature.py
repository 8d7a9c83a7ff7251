"""E with its gradient and its Gauss-Newton matrix, from the derivatives of the held-out residuals.

With H = (K + I)^-1 and the directions q of each fold V (ridge_cv/residuals.py), dr_V = (H_VV)^-1 H_V: dK q. For a scale
s of the squared differences in a column x, and S = sum_r w_r f_r'(D),

    dK/ds q = x^2 o S q - 2 x o S (x o q) + S (x^2 o q),

products of one matrix with a few columns for each feature, where the matrices dK/ds would be one n x n each. From J,
the derivatives in all parameters, follow the gradient 2 J'r / (n L) of log L and the curvature 2 J'J / (n L), for less
than another inverse where the features are few.
"""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel.combinations.profiles import Evaluated
from multikernel.procedures.learned_scales.error import ScalesError, Trial
from multikernel.procedures.learned_scales.forms import Separate
from multikernel.procedures.ridge_cv.residuals import Residuals, product

_DEAR = 2.0  # columns in products with one matrix, in multiples of the samples: more cost more than they save
_PART = 0.05  # of the samples: so many columns at a time


def can_curve(error: ScalesError) -> bool:
    """Whether derivatives of the residuals cost about as much as an inverse, or less."""
    (n, t), X = error.held_out.Y.shape, error.columns
    if X is None or not isinstance(error.form, Separate):
        return False
    return 2.0 * t * len(error.halves) * error.held_out.folds.count * X.shape[1] <= _DEAR * n


def curved(error: ScalesError, u: Array) -> tuple[Trial, Array] | None:
    """E with its gradient, and its Gauss-Newton matrix; None where the kernel matrix is singular in floating point."""
    evaluated = error.combination.at(error.bank, error.theta(u))
    left = error.held_out.residuals(error.weighed(evaluated.K))
    if left is None:
        return None
    P = len(u)
    curvature, slope = np.zeros((P, P)), np.zeros(P)
    for t in range(error.held_out.Y.shape[1]):
        J = _jacobian(error, u, evaluated, left, t)
        curvature += J.T @ J
        slope += J.T @ left.values[:, t]
    factor = 2.0 / (error.held_out.count * error.floored(left.errors))
    prior, direction = error.prior(u)
    trial = Trial(u, float(np.log(error.floored(left.errors))) + prior, factor * slope + direction, left.errors)
    return trial, factor * curvature + _bend(error, u)


def _bend(error: ScalesError, u: Array) -> Array:
    """The second derivatives of the prior of separate scales, in blocks for the rows of parameters."""
    R, size = len(error.combination.kernels), error.form.size
    block = 2.0 * error.penalty / error.held_out.count * (np.eye(size) - 1.0 / max(size, 1))
    bend = np.zeros((len(u), len(u)))
    for first in range(R, len(u), max(size, 1)):
        bend[first : first + size, first : first + size] = block
    return bend


def _jacobian(error: ScalesError, u: Array, evaluated: Evaluated, left: Residuals, t: int) -> Array:
    """The derivatives of the residuals of a target: shape (n, P)."""
    held_out, R = error.held_out, len(error.combination.kernels)
    Q = held_out.directions(left, held_out.folds, left.values[:, t], t)
    if held_out.one is not None:
        Q *= held_out.one[:, None]
    J = np.zeros((len(Q), len(u)))
    applied = [product(K, Q) for K in evaluated.kernels()]  # none of the matrices is kept
    for r, column in enumerate(applied):
        J[:, r] = _held(error, left, column[:, :, None])[:, 0]
    factors = error.rows(error.theta(u))
    for d, slope in enumerate(evaluated.slopes()):
        size = error.form.size
        J[:, R + d * size : R + (d + 1) * size] = _in_scales(error, left, slope, Q) * factors[d][error.form.varied]
    return np.asarray(left.blocks.solve(J))


def _in_scales(error: ScalesError, left: Residuals, S: Array, Q: Array) -> Array:
    """H_V: dK/ds q of every scale that varies: shape (n, m)."""
    X, form = error.columns, error.form
    assert X is not None
    assert isinstance(form, Separate)
    X = X - X.mean(axis=0)
    n, F = Q.shape
    found, first = np.zeros((n, len(form.means))), product(S, Q)
    height = max(1, int(_PART * n / F))
    used = np.flatnonzero(form.owner >= 0)
    for start in range(0, len(used), height):
        columns = used[start : start + height]
        x = X[:, None, columns]
        once = product(S, (Q[:, :, None] * x).reshape(n, -1)).reshape(n, F, -1)
        twice = product(S, (Q[:, :, None] * x**2).reshape(n, -1)).reshape(n, F, -1)
        np.add.at(found.T, form.owner[columns], _held(error, left, x**2 * first[:, :, None] - 2.0 * x * once + twice).T)
    return np.asarray(found[:, form.varied])


def _held(error: ScalesError, left: Residuals, applied: Array) -> Array:
    """H_V: times the columns of fold V, in the rows of V: shape (n, k) for (n, F, k)."""
    if error.held_out.one is not None:
        applied = error.held_out.one[:, None, None] * applied
    found = np.empty((len(applied), applied.shape[2]))
    for f, V in enumerate(left.blocks.folds.tests()):
        found[V] = product(left.H[V], np.ascontiguousarray(applied[:, f]))
    return found
