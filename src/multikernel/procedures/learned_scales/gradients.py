"""Scales in the proportion of a predictor's own gradients: a start for descents that miss a few features among many.

    s_k d_k proportional to the root of  d_k sum over the columns j of group k of  mean_i (df/dx_j (x_i))^2

d_k the mean distance, f trained with the scales before: the root of the diagonal of the average gradient outer product
of feature-learning machines (Radhakrishnan, Beaglehole, Pandit and Belkin 2024). With K(theta) = sum_r w_r f_r(D_r),
D_r = sum_k s_rk D_k of squared differences, and a the coefficients of ridge regression,

    df/dx_j (x_i) = 2 sum_r s_rk sum_l A_il (x_ij - x_lj),    A_il = w_r f_r'(D_r)_il a_l

products of A with the samples. Absolute differences have no such gradients.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from multikernel._typing import Array
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.procedures.learned_scales.error import ScalesError

_TURNS = 2
_LEAST = 0.01  # of a mean scale: what each feature has at least
_WIDER = (1.0, 3.0, 10.0)  # factors of all scales that are tried: fewer features need larger ones
_HEAVIER = (1.0, 10.0)  # factors of the weights of the kernels that are tried


def from_gradients(error: ScalesError, u: Array) -> Array | None:
    """The scales of the last turn, from those of u; None without such gradients, and where no two scales vary."""
    if not (isinstance(error.bank, ColumnDistancesBank) and error.bank.degree == 2 and len(error.varied) > 1):
        return None
    for _ in range(_TURNS):
        slopes = gradients(error, error.bank, u)
        found = None if slopes is None else _least(error, u, _parts(error, error.bank, slopes))
        if found is None:
            return None
        u = found
    return u


def gradients(error: ScalesError, bank: ColumnDistancesBank, u: Array) -> Array | None:
    """The gradient of the predictor of each target at the samples, in the columns of the bank: shape (t, n, c)."""
    theta = error.theta(u)
    evaluated = error.combination.at(bank, theta)
    coef = _coefficients(error, evaluated.K)
    if coef is None:
        return None
    X, scales = bank.X - bank.X.mean(axis=0), theta[len(error.combination.kernels) :].reshape(-1, len(bank))
    found = np.zeros((coef.shape[1], *X.shape))
    for s, slope in zip(scales, evaluated.slopes(), strict=True):
        by_column = 2.0 * np.append(s, 0.0)[bank.owner]
        for gradient, a in zip(found, coef.T, strict=True):
            gradient += by_column * (X * (slope @ a)[:, None] - slope @ (a[:, None] * X))
    return found


def _coefficients(error: ScalesError, K: Array) -> Array | None:
    """Of ridge regression on all samples, shape (n, t), by a kernel matrix that is overwritten."""
    v, Y = error.held_out.ones, error.held_out.Y
    K *= v[:, None]
    K *= v
    K.flat[:: len(K) + 1] += 1.0
    if error.held_out.fit_intercept:
        Y = Y - v[:, None] * (v @ Y / error.held_out.count)
    try:
        return v[:, None] * np.asarray(linalg.solve(K.T, Y, assume_a="pos", overwrite_a=True))
    except linalg.LinAlgError:
        return None


def _parts(error: ScalesError, bank: ColumnDistancesBank, slopes: Array) -> Array:
    """What part the gradients give each distance that varies, with mean 1: shape (m,)."""
    used = bank.owner >= 0
    squares = np.einsum("i,tij,tij->j", error.held_out.ones**2, slopes, slopes) / error.held_out.count
    part = np.sqrt(np.bincount(bank.owner[used], squares[used], len(bank)) * error.means)[error.varied]
    return np.asarray(part / (part.mean() or 1.0))


def _least(error: ScalesError, u: Array, parts: Array) -> Array | None:
    """Scales in the proportion of the parts, with the factors of least held-out error; None where none is to be had."""
    R, parts = len(error.combination.kernels), (parts + _LEAST) / (parts + _LEAST).sum()
    tried: list[tuple[float, Array]] = []
    for wider in _WIDER:
        logs = [np.log(wider * np.exp(own).sum() * parts) for own in error.logs(u)]
        point = np.concatenate([u[:R], *logs])
        for factor, loss in error.losses(point, _HEAVIER):
            tried.append((loss, np.concatenate([u[:R] + np.log(factor), *logs])))
    return min(tried, key=lambda pair: pair[0], default=(np.inf, None))[1]
