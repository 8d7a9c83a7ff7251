"""The held-out error of kernels with scales inside, in their logarithms or in a metric's parameters, with its gradient.

    E(u) = log L(K(theta)) + penalty / n * sum_r prior(v_r),    s_r = h_r scales(v_r)

K(theta) = sum_r w_r f_r(sum_k s_rk D_k) with ridge 1, L its squared error on held-out samples (ridge_cv/residuals.py),
u = (log w, v), h_r the distance at which the profile has half its value at 0. A form (forms.py) defines the scales as
functions of parameters v, and the prior: s_rk = h_r exp(v_rk) / d_k with the mean distances d_k for separate scales.
With weights of the samples, of roots q, the kernel matrix is q q' o K(theta), targets are q y, and n is the sum of the
weights.

n / 2 E is the negative logarithm of a normal likelihood times a log-normal prior of the scales around a common one, of
variance 1 / penalty. Without the prior, scales are overfitted to the folds where samples are few: with Gaussians R^2 of
new samples is .47 instead of .51 on diabetes, .86 instead of .89 on housing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._floats import SINGULAR, TINY
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.products import ColumnProductsBank
from multikernel.combinations import Profiles
from multikernel.kernels.distance import DistanceKernel
from multikernel.procedures.learned_scales.forms import Form
from multikernel.procedures.ridge_cv.residuals import HeldOut


@dataclass(frozen=True, eq=False)
class Trial:
    """E at u, its gradient, and the mean squared held-out error of each target; its Gauss-Newton matrix, or None."""

    u: Array
    value: float
    gradient: Array
    errors: Array
    curvature: Array | None = None

    @property
    def loss(self) -> float:
        """The held-out error, the sum over the targets."""
        return float(self.errors.sum())


@dataclass(frozen=True, eq=False)
class ScalesError:
    """E for a bank of distances; u has an entry for each kernel's weight, then the parameters of each row of scales.

    Where samples have weights, the targets and the constant function held out (``held_out.one``) are multiplied by
    their roots.
    """

    bank: KernelBank
    combination: Profiles
    held_out: HeldOut
    penalty: float
    form: Form

    def at(self, u: Array) -> Trial | None:
        """E at u; None where the kernel matrix is singular in floating point."""
        R = len(self.combination.kernels)
        K, slopes = self.combination.at(self.bank, self.theta(u))
        residuals = self.held_out.residuals(self.weighted(K))
        if residuals is None:
            return None
        errors = residuals.errors
        M = self.held_out.slope(residuals)
        del residuals, K  # both use the same memory, which the next matrix needs
        along = -float(np.trace(M))  # <M, K> by H K = I - H: the I has no part, since q is 0 on the samples held out
        M = self.weighted(M)
        slope = slopes.inner(M, along) / self.floored(errors)
        rows_and_halves = zip(self.parameters(u), self.halves, strict=True)
        pulled = [
            half * self.form.pulled(v, row_slope)
            for (v, half), row_slope in zip(rows_and_halves, self.rows(slope), strict=True)
        ]
        value, direction = self.prior(u)
        gradient = np.concatenate([slope[:R], *pulled]) + direction
        return Trial(u, float(np.log(self.floored(errors))) + value, gradient, errors)

    def floored(self, errors: Array) -> float:
        """The held-out error plus 1e-12 of the error of constants, so that its logarithm is finite."""
        return float(errors.sum()) + max(SINGULAR * self.held_out.constant(), TINY)

    def prior(self, u: Array) -> tuple[float, Array]:
        """penalty / n times the prior of the rows of parameters, and its gradient."""
        priors = [self.form.prior(v) for v in self.parameters(u)]
        direction = np.concatenate([np.zeros(len(self.combination.kernels)), *(slope for _, slope in priors)])
        factor = self.penalty / self.held_out.count
        return factor * sum(value for value, _ in priors), factor * direction

    def bend(self, u: Array) -> Array:
        """The second derivatives of the prior of separate scales, in blocks for the rows of parameters."""
        R = len(self.combination.kernels)
        size = self.form.size
        block = 2.0 * self.penalty / self.held_out.count * (np.eye(size) - 1.0 / max(size, 1))
        bend = np.zeros((len(u), len(u)))
        for first in range(R, len(u), max(size, 1)):
            bend[first : first + size, first : first + size] = block
        return bend

    def repriced(self, trial: Trial, penalty: float) -> Trial:
        """A trial that was computed with another penalty, for the penalty of this error: only the prior differs."""
        difference = replace(self, penalty=self.penalty - penalty)
        value, direction = difference.prior(trial.u)
        curvature = None
        if trial.curvature is not None:
            curvature = trial.curvature + difference.bend(trial.u)
        return replace(trial, value=trial.value + value, gradient=trial.gradient + direction, curvature=curvature)

    def squares(self, u: Array) -> Array:
        """The squared residual of each held-out sample, summed over targets; infinite where the matrix is singular."""
        residuals = self.held_out.residuals(self.matrix(self.theta(u)))
        if residuals is None:
            return np.full(len(self.held_out.Y), np.inf)
        return (residuals.values**2).sum(axis=1)

    def losses(self, theta: Array, factors: Sequence[float] = (1.0,)) -> Iterator[tuple[float, float]]:
        """The held-out errors for several factors of the weights, without those for which the matrix is singular."""
        K = self.matrix(theta)
        for factor in factors:
            residuals = self.held_out.residuals(factor * K)
            if residuals is not None:
                yield factor, float(residuals.errors.sum())

    def theta(self, u: Array) -> Array:
        """The weights and the scales of all distances, 0 for those that do not vary."""
        scales = [half * self.form.scales(v) for half, v in zip(self.halves, self.parameters(u), strict=True)]
        return np.concatenate([np.exp(u[: len(self.combination.kernels)]), *scales])

    def rows(self, theta: Array) -> Array:
        """The scales in theta, or their derivatives: a row for each group of kernels that share scales."""
        return theta[len(self.combination.kernels) :].reshape(len(self.halves), -1)

    def parameters(self, u: Array) -> Array:
        """The parameters of each row of scales."""
        return u[len(self.combination.kernels) :].reshape(len(self.halves), -1)

    def totals(self, theta: Array) -> list[float]:
        """The mean distance for each row of scales, in units of the distance at which profiles have fallen to half."""
        return [self.form.total(s) / half for s, half in zip(self.rows(theta), self.halves, strict=True)]

    def equal(self, weight: float, width: float) -> Array:
        """u where kernels share this weight equally, and all features contribute equally to the distance.

        ``width`` is the mean distance in units of the distance at which profiles have fallen to half.
        """
        R = len(self.combination.kernels)
        return np.append(np.full(R, np.log(weight / R)), np.tile(self.form.equal(width), len(self.halves)))

    def on(self, rows: Array) -> ScalesError:
        """The same error on some of the samples."""
        return replace(self, bank=self.bank.block(rows, rows), held_out=self.held_out.on(rows))

    def matrix(self, theta: Array) -> Array:
        """q q' o K(theta), with the roots q of the weights of the samples, as a new array."""
        return self.weighted(self.combination.gram(self.bank, theta).dense())

    def weighted(self, K: Array) -> Array:
        """q q' o K, in place."""
        if self.held_out.one is not None:
            K *= self.held_out.one[:, None]
            K *= self.held_out.one
        return K

    @cached_property
    def halves(self) -> list[float]:
        """The distance at which profiles have fallen to half, a mean over the kernels that share scales."""
        halves = np.log([half_distance(kernel) for kernel in self.combination.kernels])
        return [float(np.exp(np.mean(halves[list(users)]))) for users in self.combination.users]

    @cached_property
    def widened(self) -> ScalesError:
        """The same error in a form that has equal scales."""
        if self.form.wide is self.form:
            return self
        return replace(self, form=self.form.wide)

    @property
    def columns(self) -> Array | None:
        """The columns of the samples, where distances are squared differences in them."""
        bank = self.bank
        if isinstance(bank, ColumnProductsBank | ColumnDistancesBank) and bank.columns.degree == 2:
            return bank.X
        return None


def mean_distances(bank: KernelBank, seed: int = 0, weight: Array | None = None) -> Array:
    """The mean of each distance over pairs of samples, in which no pair counts more than a hundred typical ones.

    Otherwise far outliers would make the scale of a feature too small for all other samples. The typical distance is
    the median of the nonzero distances of 128 samples. The mean is 0 for a feature that is constant up to rounding.
    """
    n = bank.shape[0]
    means = bank.quad(np.full(n, 1.0 / n) if weight is None else weight / weight.sum())
    if isinstance(bank, ColumnDistancesBank):
        rounded = bank.rounded
    else:
        rounded = 1e-20 * means.max(initial=0.0)
    means = np.where(means > rounded, means, 0.0)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:128])
    for k, D in enumerate(bank.block(rows, rows).tiles(slice(None))):
        positive = D[D > 0.0]
        if len(positive):
            limit = 100.0 * float(np.median(positive))
            if float(positive.max()) > limit:
                means[k] = min(means[k], float(np.minimum(D, limit).mean()))
    return means


def half_distance(kernel: DistanceKernel) -> float:
    """The distance at which a profile has fallen to half its value at 0."""
    low = -300.0  # decimal logarithms of the distance
    high = 300.0
    with np.errstate(all="ignore"):
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            at_zero, at_middle = kernel.profile(np.array([[0.0, 10.0**middle]]))[0]
            low, high = (middle, high) if at_middle > 0.5 * at_zero else (low, middle)
    return float(10.0**high)
