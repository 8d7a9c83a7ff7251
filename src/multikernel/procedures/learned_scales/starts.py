"""Points from which descents begin: equal scales, and scales that evidence and gradients propose.

A descent from equal scales misses few relevant features among many. Scales proportional to the evidence of each column
are therefore tried: where their held-out error is lower than that of equal scales, some rounds of the average gradient
outer product start there. Each round sets the scales proportional to the root of this product (a metric is set to the
root itself), with the common width and the ridge of least held-out error. Rounds end when this error no longer falls.

The average outer product of the gradients of a predictor shows which directions of the samples it depends on,

    G = mean_i g_i g_i',    g_i = df/dx (x_i)    (Radhakrishnan, Beaglehole, Pandit and Belkin 2024)

With K(theta) = sum_r w_r f_r(D_r), D_r = (x - z)'M_r (x - z), and a the coefficients of ridge regression,

    g_i = 2 sum_r M_r sum_l A_il (x_i - x_l),    A_il = w_r f_r'(D_r)_il a_l

products of A with the samples. Absolute differences have no such gradients.

The evidence of a column for the targets has two parts: for the column x alone, ranked into eight bins, the fraction of
the variance of y that lies between the bins; for each pair of standardised columns, the squared correlation of their
centred product with y. From each is subtracted the largest value to expect by chance among so many columns (for the
bins by the bound of Laurent and Massart (2000) on chi-squared variables, for the products by the maximum of normal
variables). A column's evidence is the largest of these differences, over its pairs and the targets, or 0. This takes
one pass of n c^2 operations.

With equal scales, neither kernels nor their gradients show four relevant features among two hundred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise, solved
from multikernel.procedures.learned_scales.curvature import trial_at
from multikernel.procedures.learned_scales.error import ScalesError, Trial

_FIRST_WIDTHS = (0.1, 0.3, 1.0, 3.0)  # mean distances with equal scales
_FIRST_WEIGHTS = (1.0, 10.0, 100.0, 1e3, 1e4)  # weights of the kernel relative to the ridge
WIDER = (1.0, 3.0)  # factors of all scales that are tried: fewer features need larger ones
_HEAVIER = (0.1, 10.0)  # factors of the weights of the kernels that are tried after that


@dataclass(frozen=True)
class Equal:
    """Equal scales: the weight of the kernels relative to the ridge, and the mean distance."""

    weight: float
    width: float

    def theta(self, error: ScalesError) -> Array:
        return error.widened.theta(error.widened.equal(self.weight, self.width))

    def loss(self, error: ScalesError) -> float:
        """The held-out error; infinite where the kernel matrix is singular."""
        return next(error.losses(self.theta(error)), (1.0, np.inf))[1]


def equal_scales(error: ScalesError, subsample: ScalesError) -> Equal:
    """The best equal scales over widths and ridges: on ``subsample``, unless their matrix on all samples is singular.

    Where all are singular there, scales are compared on all samples.
    """
    for on in (subsample, error):
        losses = {
            (weight, width): loss
            for width in _FIRST_WIDTHS
            for weight, loss in on.losses(Equal(1.0, width).theta(on), _FIRST_WEIGHTS)
        }
        for pair in sorted(losses, key=lambda pair: losses[pair]):
            if Equal(*pair).loss(error) < np.inf:
                return Equal(*pair)
    raise ValueError(
        "learned scales: no kernel matrix of equal scales is positive definite with a ridge: beside a value far from "
        "all others, differences between the others are lost to rounding; correct such values, clip the feature, or "
        "take its logarithm or its ranks"
    )


def at_point(error: ScalesError, u: Array) -> Trial:
    """E at u, or at equal scales where the kernel matrix at u is singular."""
    trial = trial_at(error, u)
    if trial is not None:
        return trial
    return beginning(error, equal_scales(error, error))


def beginning(error: ScalesError, equal: Equal) -> Trial:
    """E at equal scales; for a metric of low rank, which has none, at scales that gradients propose there."""
    u: Array | None = None
    if error.widened is error:
        u = error.equal(equal.weight, equal.width)
    else:
        u = from_gradients(error, equal.theta(error))
    trial = None if u is None else trial_at(error, u)
    if trial is None:
        raise ValueError("learned scales: no kernel matrix to begin with is positive definite with a ridge")
    return trial


def proposed(error: ScalesError, equal: Equal) -> Array | None:
    """Scales by rounds of gradients, from the evidence of each feature, or from equal scales where these are better."""
    theta = equal.theta(error)
    X = error.columns
    if X is None or len(error.form.varied) < 2:
        return None
    evidences = evidence(X, error.held_out.Y)
    if evidences.any():
        spread = X.var(axis=0)
        outer = np.diag(np.divide(evidences, spread, out=np.zeros_like(evidences), where=spread > 0.0))
        loss, u = _scaled(error.widened, outer, theta)
        if u is not None and loss < equal.loss(error):
            theta = error.widened.theta(u)
    return from_gradients(error, theta)


def from_gradients(error: ScalesError, theta: Array) -> Array | None:
    """The best of six rounds from these scales, or of fewer if one gains less than 1/20; None without gradients."""
    lowest = np.inf
    best = None
    for _ in range(6):
        outer = outer_product(error, theta)
        if outer is None:
            return best
        loss, u = _scaled(error, outer, theta)
        if u is None or loss >= lowest:
            return best
        gain = loss / lowest
        lowest = loss
        best = u
        if gain > 0.95:
            return best
        theta = error.theta(u)
    return best


def _scaled(error: ScalesError, outer: Array, theta: Array) -> tuple[float, Array | None]:
    """Scales proportional to the root of an outer product, with the factors of least held-out error."""
    R = len(error.combination.kernels)
    weights = np.log(theta[:R])
    totals = error.totals(theta)
    candidates: list[tuple[float, Array]] = []
    for wider in WIDER:
        u = np.concatenate([weights, *(error.form.proposed(outer, wider * total) for total in totals)])
        candidates += [(loss, u) for _, loss in error.losses(error.theta(u))]
    if not candidates:
        return np.inf, None
    lowest = min(candidates, key=lambda pair: pair[0])[1]
    for factor, loss in error.losses(error.theta(lowest), _HEAVIER):
        candidates.append((loss, np.append(lowest[:R] + np.log(factor), lowest[R:])))
    return min(candidates, key=lambda pair: pair[0])


# -- the gradients of a predictor --------------------------------------------------------------------------------------


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
    coef = _coefficients(error, K)
    X = error.columns
    if coef is None or X is None:
        return None
    X = X - X.mean(axis=0)
    gradients_of_targets = np.zeros((coef.shape[1], *X.shape))
    for s, slope in zip(error.rows(theta), matrices.slopes, strict=True):
        for gradient, a in zip(gradients_of_targets, coef.T, strict=True):
            gradient += 2.0 * error.form.applied(s, X * (slope @ a)[:, None] - slope @ (a[:, None] * X))
    return gradients_of_targets


def _coefficients(error: ScalesError, K: Array) -> Array | None:
    """The coefficients of ridge regression on all samples, shape (n, t); the kernel matrix is overwritten."""
    v = error.held_out.ones
    Y = error.held_out.Y
    K *= v[:, None]
    K *= v
    K.flat[:: len(K) + 1] += 1.0
    if error.held_out.fit_intercept:
        Y = Y - v[:, None] * (v @ Y / error.held_out.count)
    if factorise(K.T):
        return v[:, None] * solved(K.T, Y)
    return None


# -- the evidence of each column ---------------------------------------------------------------------------------------

_BINS = 8  # of the ranks of a column
_CLIPPED = 3.0  # standard deviations: farther values count as this


def evidence(X: Array, Y: Array) -> Array:
    """The fraction of a target's variance that each column explains beyond chance, at least 0: shape (c,)."""
    n, c = X.shape
    Y = Y - Y.mean(axis=0)
    Y = Y[:, Y.std(axis=0) > 0.0]
    if n <= 2 * _BINS or not Y.size:
        return np.zeros(c)
    Y = Y / Y.std(axis=0)
    Z = _standardised(X)
    chance = 2.0 * np.log(max(c, 2))
    bins = _between(Z, Y) - (_BINS - 1 + np.sqrt(2.0 * (_BINS - 1) * chance) + chance) / n
    products = np.max([_products(Z, y) for y in Y.T], axis=0) - 2.0 * chance / n
    return np.asarray(np.maximum(np.maximum(bins, products), 0.0))


def _standardised(X: Array) -> Array:
    """Columns of mean 0 and variance 1, with far values clipped; 0 where a column is constant."""
    X = X - X.mean(axis=0)
    width = X.std(axis=0)
    Z = np.clip(X / np.where(width > 0.0, width, 1.0), -_CLIPPED, _CLIPPED)
    return np.asarray(Z - Z.mean(axis=0))


def _between(Z: Array, Y: Array) -> Array:
    """The largest fraction of a target's variance that lies between bins of each column."""
    n = len(Z)
    shares = np.zeros(Z.shape[1])
    for j, z in enumerate(Z.T):
        first = np.searchsorted(np.sort(z), z, side="left")  # the same for values that are the same
        bins = first * _BINS // n
        count = np.bincount(bins, minlength=_BINS)
        sums = np.stack([np.bincount(bins, y, _BINS) for y in Y.T])
        shares[j] = (sums**2 / np.maximum(count, 1)).sum(axis=1).max() / n
    return shares


def _products(Z: Array, y: Array) -> Array:
    """The largest squared correlation of the target with the product of each column and another, or itself."""
    n = len(Z)
    squares = Z**2
    spread = squares.T @ squares - (Z.T @ Z) ** 2 / n
    floor = SINGULAR * spread.max(initial=0.0)
    crossed = (Z.T * y) @ Z
    return np.max(np.where(spread > floor, crossed**2 / np.where(spread > floor, spread, 1.0), 0.0), axis=1) / n
