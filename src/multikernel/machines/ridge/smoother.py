"""Kernel ridge regression as a linear map of the targets, and as a Gaussian process.

With H = (K + alpha S^{-1})^{-1}, S the diagonal matrix of the weights s, N = sum s, the intercept m = s'y / N and
coefficients a = H (y - m 1), the fitted values are F y with

    tr F = df + (alpha / N) 1'H 1,        df = tr K H,        y - F y = alpha S^{-1} a,

without intercept tr F = df, and the residual of a sample that is left out, with the intercept of the others, is

    r_i = (a_i + (H 1)_i s_i (y_i - m) / (N - s_i)) / H_ii.

As a process, y = mean + f + noise with f of covariance tau K and noise of variance tau alpha / s_i, a is what predicts
f. The error of the prediction f(x) = m + k_x'a of a new observation of weight one has the variance

    tau (alpha + k(x, x) - k_x'H k_x + (1 - k_x'H 1)^2 q),        q = s'(K + alpha S^{-1}) s / N^2,

q tau being the variance of m; the parts are uncorrelated. A sample that is left out is the same with 1 / H_ii for
the first three terms. The expected value of J = a'(K + alpha S^{-1}) a is tau (N - 2 + q 1'H 1), or tau N without
intercept: that gives tau. A weight of two is a sample that is there twice, and N samples have the log density

    -(N + N log(2 pi J / N) + log det(S^{1/2} K S^{1/2} + alpha I) + (N - n) log alpha) / 2        with tau = J / N

of y - m 1, the largest over tau: the evidence.

C. E. Rasmussen and C. K. I. Williams (2006), Gaussian processes for machine learning, sections 2.2 and 5.4; D. M.
Allen (1974), Technometrics 16; G. H. Golub, M. Heath and G. Wahba (1979), Technometrics 21; F. Dinuzzo (2010),
sections 4.1 and 4.2; T. Hastie, R. Tibshirani and J. Friedman (2009), The elements of statistical learning, chapter 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from multikernel._typing import Array
from multikernel.machines.ridge.precision import Precision


class Linear(Protocol):
    """What the criteria ask of a linear map of the targets."""

    @property
    def weight(self) -> Array: ...

    @property
    def count(self) -> float: ...

    @property
    def trace(self) -> float: ...

    @property
    def left_out(self) -> Array: ...

    @property
    def log_evidence(self) -> Array: ...


@dataclass(frozen=True, eq=False)
class Smoother:
    """A solution of the ridge machine, and what its kernel matrix says of it.

    Parameters
    ----------
    precision : H
    coef : array (n, t), a of each target
    fit_intercept : bool, whether the mean of the targets was taken off
    """

    precision: Precision
    coef: Array
    fit_intercept: bool

    # -- the parts of the formulas -------------------------------------------------------------------------------------

    @property
    def weight(self) -> Array:
        """s."""
        return self.precision.weight

    @property
    def count(self) -> float:
        """N."""
        return float(self.weight.sum())

    @cached_property
    def _ones(self) -> Array:
        """H 1."""
        return self.precision.solve(np.ones(len(self.coef)))

    @cached_property
    def _image(self) -> Array:
        """(K + alpha S^{-1}) s."""
        return self.precision.times(self.weight) + self.precision.alpha

    @property
    def _of_mean(self) -> float:
        """q."""
        if not self.fit_intercept:
            return 0.0
        return float(self.weight @ self._image) / self.count**2

    @cached_property
    def residuals(self) -> Array:
        """y - F y, shape (n, t)."""
        return self.precision.alpha * self.coef / self.weight[:, None]

    @cached_property
    def _centred(self) -> Array:
        """y - m 1, shape (n, t)."""
        return self.precision.times(self.coef) + self.residuals

    @cached_property
    def energy(self) -> Array:
        """J, shape (t,)."""
        return np.maximum((self.coef * self._centred).sum(axis=0), 0.0)

    # -- as a linear map -----------------------------------------------------------------------------------------------

    @property
    def degrees_of_freedom(self) -> float:
        """df = tr K H, without the intercept."""
        return self.precision.degrees_of_freedom

    @property
    def trace(self) -> float:
        """tr F, with the intercept where there is one."""
        constant = 0.0
        if self.fit_intercept:
            constant = self.precision.alpha / self.count * float(self._ones.sum())
        return self.degrees_of_freedom + constant

    @cached_property
    def left_out(self) -> Array:
        """The residuals r of samples that are left out one by one, shape (n, t)."""
        a = self.coef
        if self.fit_intercept:
            a = a + (self._ones * self.weight / (self.count - self.weight))[:, None] * self._centred
        return a / self.precision.diagonal[:, None]

    def criterion(self, name: str, noise: Array | None = None) -> Array:
        """A number for each target, shape (t,), that is smaller for a better model.

        Parameters
        ----------
        name : a key of ``CRITERIA``
        noise : array (t,), the variance of the noise for "cp", "aic" and "bic"; that of this model if not given
        """
        rss = self.weight @ self.residuals**2
        if noise is None:
            noise = self.residual_variance
        with np.errstate(divide="ignore", invalid="ignore"):  # a constant target has no noise to compare with
            return CRITERIA[name](self, rss, noise)

    @property
    def target_variance(self) -> Array:
        """The weighted mean of the squared targets about m, shape (t,)."""
        return np.asarray(self.weight @ self._centred**2 / self.count)

    @property
    def residual_variance(self) -> Array:
        """The squared residuals over N - tr F, shape (t,)."""
        return np.asarray(self.weight @ self.residuals**2 / (self.count - self.trace))

    # -- as a Gaussian process -----------------------------------------------------------------------------------------

    @property
    def scale(self) -> Array:
        """tau, shape (t,).

        Raises
        ------
        ValueError : where the weights of the samples add up to one sample or less
        """
        known = self.count
        if self.fit_intercept:
            known = known - 2.0 + self._part_of_mean
        if known <= 0.0:
            raise ValueError(
                f"the weights of the samples add up to {self.count:.3g}, and noise is estimated from that many "
                "samples: multiply them so that they count samples"
            )
        return np.asarray(self.energy / known)

    @property
    def _part_of_mean(self) -> float:
        """q 1'H 1, the part of the expected J / tau that is due to the error of the mean."""
        return self._of_mean * float(self._ones.sum())

    @property
    def is_told_by_mean(self) -> bool:
        """Whether J tells more of the error of the mean than of the noise: the ridge is next to nothing beside a kernel
        that is singular, and the ratio of noise and kernel is then arbitrary."""
        return self.fit_intercept and self._part_of_mean > self.count

    def deviations(self, cross: Array, prior: Array) -> Array:
        """Standard deviations of the errors of predictions of new observations, shape (r, t).

        Parameters
        ----------
        cross : array (r, n) of kernel values, or (r, q) of features where the precision is that of features
        prior : array (r,), k(x, x)
        """
        rest = self.precision.alpha + self.precision.remaining(cross, prior)
        if self.fit_intercept:
            rest = rest + self._of_mean * (1.0 - self.precision.met(cross, self._ones)) ** 2
        return np.sqrt(np.outer(rest, self.scale))

    @cached_property
    def left_out_deviations(self) -> Array:
        """Those of the samples that are left out one by one, (n, t)."""
        s, N, diagonal = self.weight, self.count, self.precision.diagonal
        rest = 1.0 / diagonal
        if self.fit_intercept:
            own = self.precision.prior + self.precision.alpha / s
            others = (self._of_mean * N**2 - 2.0 * s * self._image + s**2 * own) / (N - s) ** 2
            rest = rest + (self._ones / diagonal) ** 2 * others
        # of a weight s the observation has noise alpha / s, and one of weight one has alpha
        return np.sqrt(np.outer(rest + self.precision.alpha * (1.0 - 1.0 / s), self.scale))

    @property
    def log_evidence(self) -> Array:
        """The log density of each target, the largest over tau: shape (t,)."""
        N, n, alpha = self.count, len(self.coef), self.precision.alpha
        with np.errstate(divide="ignore"):
            fit = N * np.log(2.0 * np.pi * self.energy / N)
        return -0.5 * (N + fit + self.precision.log_determinant + (N - n) * np.log(alpha))


def _cp(model: Linear, rss: Array, noise: Array) -> Array:
    return (rss + 2.0 * model.trace * noise) / model.count


def _aic(model: Linear, rss: Array, noise: Array) -> Array:
    return rss / noise + 2.0 * model.trace


def _bic(model: Linear, rss: Array, noise: Array) -> Array:
    return rss / noise + np.log(model.count) * model.trace


def _gcv(model: Linear, rss: Array, noise: Array) -> Array:
    return rss / model.count / (1.0 - model.trace / model.count) ** 2


def _loo(model: Linear, rss: Array, noise: Array) -> Array:
    return np.asarray(model.weight @ model.left_out**2 / model.count)


def _evidence(model: Linear, rss: Array, noise: Array) -> Array:
    return -model.log_evidence


CRITERIA: Mapping[str, Callable[[Linear, Array, Array], Array]] = {
    "cp": _cp,
    "aic": _aic,
    "bic": _bic,
    "gcv": _gcv,
    "loo": _loo,
    "evidence": _evidence,
}
