"""The held-out error of kernels with scales inside, in logarithms, with its gradient.

    E(u) = log L(K(theta)) + penalty / n * sum_rk (u_rk - mean_k u_rk)^2,    s_rk = exp(u_rk) / mean(D_k)

K(theta) = sum_r w_r f_r(sum_k s_rk D_k) with ridge 1, L its squared error on held-out samples (ridge_cv/residuals.py).
Scales are measured by the mean distances, so that the result does not depend on the units of the features.

n / 2 E is the negative logarithm of a normal likelihood times a log-normal prior of the scales around a common one, of
variance 1 / penalty. Without the prior the scales are fitted to the folds themselves where samples are few: with
Gaussians R^2 of new samples .47 for .51 on diabetes, .86 for .89 on housing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.combinations import Profiles
from multikernel.procedures.ridge_cv.residuals import HeldOut

_NOTHING = 1e-12  # of the error of the constant predictor: errors below it count as this
_TINY = float(np.finfo(float).tiny)
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

    ``means`` are the mean distances over pairs of samples, shape (m,), the inverse units of the scales.
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
        left = self.held_out.residuals(evaluated.K)
        if left is None:
            return None
        errors, M = left.errors, self.held_out.slope(left)
        del left  # which frees a matrix before the next one is made
        loss = max(float(errors.sum()), _NOTHING * self.held_out.constant(), _TINY)
        slope = evaluated.inner(M) * theta / loss
        logs = u[R:].reshape(R, -1)
        apart = logs - logs.mean(axis=1, keepdims=True)
        gradient = np.concatenate([slope[:R], slope[R:].reshape(R, -1)[:, self.varied].ravel()])
        prior = self.penalty / len(self.held_out.Y)
        gradient[R:] += 2.0 * prior * apart.ravel()
        value = float(np.log(loss)) + prior * float((apart**2).sum())
        return Trial(u, value, gradient, errors)

    def theta(self, u: Array) -> Array:
        """The weights and the scales of all distances, 0 for those that do not vary."""
        R = len(self.combination.kernels)
        scales = np.zeros((R, len(self.bank)))
        scales[:, self.varied] = 1.0 / self.means[self.varied] * np.exp(u[R:].reshape(R, -1))
        return np.concatenate([np.exp(u[:R]), scales.ravel()])

    def equal(self, weight: float, width: float) -> Array:
        """u of kernels with a part of this weight each and a mean distance ``width``, as much from each feature."""
        R, m = len(self.combination.kernels), len(self.varied)
        scale = width / max(m, 1)
        return np.log(np.concatenate([np.full(R, weight / R), np.full(R * m, scale)]))

    def on(self, rows: Array) -> ScalesError:
        """The same error on some of the samples."""
        own = HeldOut(self.held_out.Y[rows], self.held_out.folds.of_rows(rows), self.held_out.fit_intercept)
        return replace(self, bank=self.bank.block(rows, rows), held_out=own)

    @cached_property
    def varied(self) -> Array:
        """The distances that are not zero everywhere."""
        return np.flatnonzero(self.means > 0.0)


def mean_distances(bank: KernelBank) -> Array:
    """The mean of each distance over pairs of samples; 0 for a feature that is constant but for rounding."""
    n = bank.shape[0]
    means = bank.quad(np.full(n, 1.0 / n))
    return np.where(means > _UNUSED * means.max(initial=0.0), means, 0.0)
