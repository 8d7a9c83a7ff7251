"""Points from which descents begin: equal scales, and scales in the proportion of the evidence of each feature.

Few features among many are missed by a descent from equal scales. The evidence of each column for the targets, where
its held-out error is lower than that of equal scales, is the start of some rounds of the average gradient outer
product: scales in the proportion of its root, or a metric that is its root, with the common width and the ridge of
least held-out error, as long as that falls.

The average outer product of a predictor's own gradients shows which directions of the samples it depends on,

    G = mean_i g_i g_i',    g_i = df/dx (x_i)    (Radhakrishnan, Beaglehole, Pandit and Belkin 2024)

With K(theta) = sum_r w_r f_r(D_r), D_r = (x - z)'M_r (x - z), and a the coefficients of ridge regression,

    g_i = 2 sum_r M_r sum_l A_il (x_i - x_l),    A_il = w_r f_r'(D_r)_il a_l

products of A with the samples. Absolute differences have no such gradients.

The evidence of each column for the targets, alone or with one other, is a start where few of many features matter. For
each column x it is, ranked into eight bins, the part of the variance of y that lies between the bins; for each pair of
standardised columns, the squared correlation of their centred product with y. A column's evidence is the largest of
these less what chance makes of so many (for the bins by the bound of Laurent and Massart (2000) on chi-squared
variables, for the products by the maximum of normal ones), over the targets. One pass of n c^2 operations.

Kernels with equal scales see almost nothing of four features among two hundred, nor do their gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import SINGULAR
from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise, solved
from multikernel.procedures.learned_scales.curvature import tried
from multikernel.procedures.learned_scales.error import ScalesError, Trial

_FIRST_WIDTHS = (0.1, 0.3, 1.0, 3.0)  # the mean of the distance in equal scales
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


def equal_scales(error: ScalesError, few: ScalesError) -> Equal:
    """The best equal scales over widths and ridges on a few of the samples, where all admit it; else on all."""
    for on in (few, error):
        tried = {
            (weight, width): loss
            for width in _FIRST_WIDTHS
            for weight, loss in on.losses(Equal(1.0, width).theta(on), _FIRST_WEIGHTS)
        }
        for pair in sorted(tried, key=lambda pair: tried[pair]):
            if Equal(*pair).loss(error) < np.inf:
                return Equal(*pair)
    raise ValueError(
        "learned scales: no kernel matrix of equal scales is positive definite with a ridge: beside a value far from "
        "all others, differences between the others are lost to rounding; correct such values, clip the feature, or "
        "take its logarithm or its ranks"
    )


def at_point(error: ScalesError, u: Array) -> Trial:
    """E at a point where the matrix of some of the samples was definite."""
    found = tried(error, u)
    if found is not None:
        return found
    return beginning(error, equal_scales(error, error))


def beginning(error: ScalesError, equal: Equal) -> Trial:
    """E at equal scales; for a metric of low rank, which has none, at what gradients make of them."""
    u: Array | None = None
    if error.widened is error:
        u = error.equal(equal.weight, equal.width)
    else:
        u = from_gradients(error, equal.theta(error))
    found = None if u is None else tried(error, u)
    if found is None:
        raise ValueError("learned scales: no kernel matrix to begin with is positive definite with a ridge")
    return found


def proposed(error: ScalesError, equal: Equal) -> Array | None:
    """What gradients make of the evidence of each feature, or of equal scales where that predicts worse."""
    theta = equal.theta(error)
    X = error.columns
    if X is None or len(error.form.varied) < 2:
        return None
    parts = evidence(X, error.held_out.Y)
    if parts.any():
        spread = X.var(axis=0)
        outer = np.diag(np.divide(parts, spread, out=np.zeros_like(parts), where=spread > 0.0))
        loss, u = _scaled(error.widened, outer, theta)
        if u is not None and loss < equal.loss(error):
            theta = error.widened.theta(u)
    return from_gradients(error, theta)


def from_gradients(error: ScalesError, theta: Array) -> Array | None:
    """The lowest of six turns from these scales, or of fewer where one gains less than 1/20; None without gradients."""
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
    """Scales in the proportion of the root of an outer product, with the factors of least held-out error."""
    R = len(error.combination.kernels)
    weights = np.log(theta[:R])
    totals = error.totals(theta)
    tried: list[tuple[float, Array]] = []
    for wider in WIDER:
        u = np.concatenate([weights, *(error.form.proposed(outer, wider * total) for total in totals)])
        tried += [(loss, u) for _, loss in error.losses(error.theta(u))]
    if not tried:
        return np.inf, None
    lowest = min(tried, key=lambda pair: pair[0])[1]
    for factor, loss in error.losses(error.theta(lowest), _HEAVIER):
        tried.append((loss, np.append(lowest[:R] + np.log(factor), lowest[R:])))
    return min(tried, key=lambda pair: pair[0])


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
    found = np.zeros((coef.shape[1], *X.shape))
    for s, slope in zip(error.rows(theta), matrices.slopes, strict=True):
        for gradient, a in zip(found, coef.T, strict=True):
            gradient += 2.0 * error.form.applied(s, X * (slope @ a)[:, None] - slope @ (a[:, None] * X))
    return found


def _coefficients(error: ScalesError, K: Array) -> Array | None:
    """Of ridge regression on all samples, shape (n, t), by a kernel matrix that is overwritten."""
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
    """The part of the variance of a target that a column explains beyond chance, shape (c,); 0 where none."""
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
    """Columns of mean 0 and variance 1 but for far values; 0 where a column is constant."""
    X = X - X.mean(axis=0)
    width = X.std(axis=0)
    Z = np.clip(X / np.where(width > 0.0, width, 1.0), -_CLIPPED, _CLIPPED)
    return np.asarray(Z - Z.mean(axis=0))


def _between(Z: Array, Y: Array) -> Array:
    """The largest part of a target's variance that lies between bins of each column."""
    n = len(Z)
    parts = np.zeros(Z.shape[1])
    for j, z in enumerate(Z.T):
        first = np.searchsorted(np.sort(z), z, side="left")  # the same for values that are the same
        bins = first * _BINS // n
        count = np.bincount(bins, minlength=_BINS)
        sums = np.stack([np.bincount(bins, y, _BINS) for y in Y.T])
        parts[j] = (sums**2 / np.maximum(count, 1)).sum(axis=1).max() / n
    return parts


def _products(Z: Array, y: Array) -> Array:
    """The largest squared correlation of the target with the product of each column and another, or itself."""
    n = len(Z)
    squares = Z**2
    spread = squares.T @ squares - (Z.T @ Z) ** 2 / n
    least = SINGULAR * spread.max(initial=0.0)
    crossed = (Z.T * y) @ Z
    return np.max(np.where(spread > least, crossed**2 / np.where(spread > least, spread, 1.0), 0.0), axis=1) / n
