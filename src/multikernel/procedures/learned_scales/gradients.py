"""The average outer product of a predictor's own gradients: which directions of the samples it depends on.

    G = mean_i g_i g_i',    g_i = df/dx (x_i)    (Radhakrishnan, Beaglehole, Pandit and Belkin 2024)

With K(theta) = sum_r w_r f_r(D_r), D_r = (x - z)'M_r (x - z), and a the coefficients of ridge regression,

    g_i = 2 sum_r M_r sum_l A_il (x_i - x_l),    A_il = w_r f_r'(D_r)_il a_l

products of A with the samples. Absolute differences have no such gradients.
"""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise, solved
from multikernel.procedures.learned_scales.error import ScalesError


def outer_product(error: ScalesError, theta: Array) -> Array | None:
    """G of the columns of the bank, shape (c, c), the sum over the targets."""
    slopes = gradients(error, theta)
    if slopes is None:
        return None
    weighted = (error.held_out.ones[:, None] * slopes).reshape(-1, slopes.shape[2])
    return np.asarray(weighted.T @ weighted / error.held_out.count)


def gradients(error: ScalesError, theta: Array) -> Array | None:
    """The gradient of the predictor of each target at the samples, in the columns of the bank: shape (t, n, c)."""
    K, matrices = error.combination.at(error.bank, theta)
    coef, X = _coefficients(error, K), error.columns
    if coef is None or X is None:
        return None
    X = X - X.mean(axis=0)
    found = np.zeros((coef.shape[1], *X.shape))
    for s, slope in zip(error.rows(theta), matrices.slopes, strict=True):
        for gradient, a in zip(found, coef.T, strict=True):
            gradient += 2.0 * error.form.applied(s, X * (slope @ a)[:, None] - slope @ (a[:, None] * X))
    return found


def _coefficients(error: ScalesError, K: Array) -> Array | None:
    """Of ridge regression on all samples, shape (n, t), by a kernel matrix that is overwritten."""
    v, Y = error.held_out.ones, error.held_out.Y
    K *= v[:, None]
    K *= v
    K.flat[:: len(K) + 1] += 1.0
    if error.held_out.fit_intercept:
        Y = Y - v[:, None] * (v @ Y / error.held_out.count)
    return v[:, None] * solved(K.T, Y) if factorise(K.T) else None
