"""The held-out error of kernels with scales inside, in logarithms, with its gradient.

    E(u) = log L(K(theta)) + penalty / n * sum_rk (u_rk - mean_k u_rk)^2,    s_rk = exp(u_rk) / d_k

K(theta) = sum_r w_r f_r(sum_k s_rk D_k) with ridge 1, L its squared error on held-out samples (ridge_cv/residuals.py).
Weights of samples, of roots v, make it v v' o K(theta) and the targets v y; n is their sum then.
Scales are measured by the mean distances d_k, so that the result does not depend on the units of the features.

n / 2 E is the negative logarithm of a normal likelihood times a log-normal prior of the scales around a common one, of
variance 1 / penalty. Without the prior the scales are fitted to the folds themselves where samples are few: with
Gaussians R^2 of new samples .47 for .51 on diabetes, .86 for .89 on housing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.combinations import Profiles
from multikernel.kernels.distance import DistanceKernel
from multikernel.procedures.ridge_cv.residuals import HeldOut

_NOTHING = 1e-12  # of the error of the constant predictor: this is added to errors, and hides those far below it
_TINY = float(np.finfo(float).tiny)
_SOME = 128  # samples of which distances are looked at one by one
_FAR = 100.0  # times the median: distances beyond it count as this
_UNUSED = 1e-20  # a mean distance of less than so much of the largest one is that of a constant feature


@dataclass(frozen=True, eq=False)
class Trial:
    """E at u, its gradient, and the mean squared held-out error of each target. No matrix."""

    u: Array
    value: float
    gradient: Array
    errors: Array

    @property
    def loss(self) -> float:
        """The held-out error, the sum over the targets."""
        return float(self.errors.sum())


@dataclass(frozen=True, eq=False)
class ScalesError:
    """E for a bank of distances; u has an entry for each kernel's weight, then one for each scale that can vary.

    ``means`` are the mean distances over pairs of samples, shape (m,), the inverse units of the scales. Where samples
    have weights, the targets and the constant function held out (``held_out.one``) are multiplied by their roots.
    """

    bank: KernelBank
    combination: Profiles
    held_out: HeldOut
    penalty: float
    means: Array

    def at(self, u: Array) -> Trial | None:
        """E at u; None where the kernel matrix is singular in floating point."""
        theta, R = self.theta(u), len(self.combination.kernels)
        evaluated = self.combination.at(self.bank, theta)
        left = self.held_out.residuals(self._weighed(evaluated.K))
        if left is None:
            return None
        errors, M = left.errors, self._weighed(self.held_out.slope(left))
        del left  # which frees a matrix before the next one is made
        loss = float(errors.sum()) + max(_NOTHING * self.held_out.constant(), _TINY)  # a logarithm needs a floor
        slope = evaluated.inner(M) * theta / loss
        logs = self.logs(u)
        apart = logs - logs.mean(axis=1, keepdims=True) if logs.size else logs
        gradient = np.concatenate([slope[:R], slope[R:].reshape(len(logs), -1)[:, self.varied].ravel()])
        prior = self.penalty / self.held_out.count
        gradient[R:] += 2.0 * prior * apart.ravel()
        return Trial(u, float(np.log(loss)) + prior * float((apart**2).sum()), gradient, errors)

    def squares(self, u: Array) -> Array:
        """The squared residual of each held-out sample, the sum over the targets; infinite where there is no matrix."""
        left = self.held_out.residuals(self._weighed(self.combination.at(self.bank, self.theta(u)).K))
        return np.full(len(self.held_out.Y), np.inf) if left is None else (left.values**2).sum(axis=1)

    def losses(self, u: Array, factors: Sequence[float]) -> Iterator[tuple[float, float]]:
        """The held-out errors at u with several factors of the weights, those that are to be had."""
        K = self._weighed(self.combination.at(self.bank, self.theta(u)).K)
        for factor in factors:
            left = self.held_out.residuals(factor * K)
            if left is not None:
                yield factor, float(left.errors.sum())

    def theta(self, u: Array) -> Array:
        """The weights and the scales of all distances, 0 for those that do not vary."""
        logs = self.logs(u)
        scales = np.zeros((len(logs), len(self.bank)))
        scales[:, self.varied] = 1.0 / self.means[self.varied] * np.exp(logs)
        return np.concatenate([np.exp(u[: len(self.combination.kernels)]), scales.ravel()])

    def logs(self, u: Array) -> Array:
        """The logarithms of the scales that vary, a row for each kernel that has scales of its own."""
        return u[len(self.combination.kernels) :].reshape(len(self.combination.users), -1)

    def equal(self, weight: float, width: float) -> Array:
        """u of kernels with a part of this weight each and as much of the distance from each feature.

        ``width`` is the mean distance in units of those at which the profiles have fallen to half.
        """
        R, m = len(self.combination.kernels), len(self.varied)
        halves = np.log([half_distance(kernel) for kernel in self.combination.kernels])
        logs = [np.full(m, np.mean(halves[list(users)])) for users in self.combination.users]
        return np.concatenate([np.full(R, np.log(weight / R)), np.concatenate(logs) + np.log(width / max(m, 1))])

    def on(self, rows: Array) -> ScalesError:
        """The same error on some of the samples."""
        return replace(self, bank=self.bank.block(rows, rows), held_out=self.held_out.on(rows))

    def _weighed(self, K: Array) -> Array:
        """v v' o K in the place of K."""
        if self.held_out.one is not None:
            K *= self.held_out.one[:, None]
            K *= self.held_out.one
        return K

    @cached_property
    def varied(self) -> Array:
        """The distances that are not zero everywhere."""
        return np.flatnonzero(self.means > 0.0)


def mean_distances(bank: KernelBank, seed: int = 0, weight: Array | None = None) -> Array:
    """The mean of each distance over pairs of samples, in which no pair counts more than a hundred typical ones.

    Far outliers would make the scale of a feature too small for all other samples. What is typical is the median of the
    distances that are not 0, of some of the samples. 0 for a feature that is constant but for rounding.
    """
    n = bank.shape[0]
    means = bank.quad(np.full(n, 1.0 / n) if weight is None else weight / weight.sum())
    means = np.where(means > _UNUSED * means.max(initial=0.0), means, 0.0)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:_SOME])
    for k, D in enumerate(bank.block(rows, rows).tiles(slice(None))):
        apart = D[D > 0.0]
        if len(apart):
            most = _FAR * float(np.median(apart))
            if float(apart.max()) > most:
                means[k] = min(means[k], float(np.minimum(D, most).mean()))
    return means


def half_distance(kernel: DistanceKernel) -> float:
    """The distance at which a profile has fallen to half of what it is at 0."""
    low, high = -300.0, 300.0  # logarithms
    with np.errstate(all="ignore"):
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            near, here = kernel.profile(np.array([[0.0, 10.0**middle]]))[0]
            low, high = (middle, high) if here > 0.5 * near else (low, middle)
    return float(10.0**high)
