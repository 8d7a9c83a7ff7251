"""Kernel ridge regression as a linear map of the targets, and as a Gaussian process.

With H = (K + alpha S^{-1})^{-1}, S the diagonal matrix of the weights s, N = sum s, the intercept m = s'y / N and
coefficients a = H (y - m 1), the fitted values are F y with

    tr F = df + (alpha / N) 1'H 1,        df = tr K H,        y - F y = alpha S^{-1} a,

without intercept tr F = df, and the residual of a sample that is left out, with the intercept of the others, is

    r_i = (a_i + (H 1)_i s_i (y_i - m) / (N - s_i)) / H_ii.

As a process, y = mean + f + noise with f of covariance tau K and noise of variance sigma^2 / s_i; the coefficients a
give the best prediction of f where sigma^2 = tau alpha. The error of the prediction f(x) = m + k_x'a of a new
observation of weight one then has the variance tau v,

    v = alpha + k(x, x) - k_x'H k_x + (1 - k_x'H 1)^2 q,        q = s'(K + alpha S^{-1}) s / N^2,

where q tau is the variance of m; the terms are uncorrelated. For a sample that is left out, 1 / H_ii replaces the first
three terms. The prediction is w'y, w = H k_x + (1 - k_x'H 1) s / N, and for any tau and sigma^2 its error has the
variance

    tau v + (sigma^2 - tau alpha) (1 + w'S^{-1}w).                                                                (1)

With sigma^2 = tau alpha the expected value of J = a'(K + alpha S^{-1}) a is tau (N - 2 + q 1'H 1), or tau N without
intercept, from which tau is estimated. But J is a sum over residuals and function, and each gives an estimate of tau:

    r / alpha  for  r = alpha^2 c'S^{-1}c / (N - 1 - tr K M),        a'K a / df,

where M = H - H 1 1'H / 1'H 1 and c = M y do not depend on the mean (without intercept M = H and N in place of N - 1).
Where one estimate exceeds the other significantly (``_CHANCE``, by the F distribution), alpha is not the ratio of noise
and function. It is too small where it vanishes relative to a singular kernel: J / N is then the part of the targets
outside the range of the kernel, divided by N instead of N minus the rank. It is too large where targets have almost no
noise, and predictions are the same for all small alpha. In both cases the noise is estimated from the residuals,
sigma^2 = r, and tau = a'K a / df. Where q 1'H 1 > N, J depends mostly on the error of the mean: the noise is r, too,
and tau is that of J, which is needed for the error of the mean. Where N - 1 - tr K M < 1 the noise cannot be estimated:
sigma^2 = tau alpha is used, with a warning.

A sample of weight two counts as two equal samples, and N samples have the log density

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
from scipy import stats

from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.machines.ridge.precision import Precision

# The probability on each side, if alpha is the ratio of noise and function, of estimates that differ so much.
_CHANCE = 1e-3


class LinearSmoother(Protocol):
    """The interface of a linear map of targets to fitted values for the criteria."""

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
class VarianceScales:
    """The variances of function and noise, as a Gaussian process.

    Parameters
    ----------
    function : array (t,), tau
    noise : array (t,), sigma^2
    """

    function: Array
    noise: Array

    @classmethod
    def of(
        cls,
        scale: Array,
        alpha: float,
        energies: tuple[Array, Array],
        degrees: tuple[float, float],
        of_mean: bool = False,
    ) -> VarianceScales:
        """From tau as estimated by J, and from a'K a and alpha^2 c'S^{-1} c with the degrees of freedom of each.

        ``of_mean`` says that J depends mostly on the error of the mean.
        """
        function, residuals = energies
        of_function, of_noise = degrees
        noise = alpha * scale
        if of_noise < 1.0:
            warn_user(
                "the function fits all samples, so that nothing tells of noise: standard deviations are those of "
                "targets without noise, but for alpha; raise alpha, or choose it by MultipleKernelRidgeCV"
            )
        elif of_function > 0.0:
            with np.errstate(all="ignore"):  # targets without a function, or without noise
                ratio = (residuals / (alpha * of_noise)) / (function / of_function)
            chance = stats.f(of_noise, of_function)
            contrary = np.minimum(chance.sf(ratio), chance.cdf(ratio)) < _CHANCE
            scale = np.where(contrary & ~np.array(of_mean), function / of_function, scale)
            noise = np.where(contrary | of_mean, residuals / of_noise, noise)
        return cls(scale, noise)

    def deviations(self, alpha: float, variances: Array, lengths: Callable[[], Array]) -> Array:
        """The roots of (1), shape (r, t); ``lengths`` gives 1 + w'S^{-1}w, shape (r,), where they are needed."""
        variances_of_errors = np.outer(variances, self.function)
        excess_noise = self.noise - alpha * self.function
        if excess_noise.any():
            variances_of_errors += np.outer(lengths(), excess_noise)
        return np.sqrt(np.maximum(variances_of_errors, 0.0))


@dataclass(frozen=True, eq=False)
class Smoother:
    """A solution of the ridge machine, with the statistics that follow from its kernel matrix.

    Parameters
    ----------
    precision : H
    coef : array (n, t), a of each target
    fit_intercept : bool, whether the mean of the targets was subtracted
    rest : array (n, t), the residuals of the targets, where these are not alpha S^{-1} a
    """

    precision: Precision
    coef: Array
    fit_intercept: bool
    rest: Array | None = None

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
        if self.rest is not None:
            return self.rest
        return self.precision.alpha * self.coef / self.weight[:, None]

    @cached_property
    def _full_coefficients(self) -> Array:
        """a with the coefficients whose function is zero."""
        if self.rest is None:
            return self.coef
        return self.weight[:, None] * self.rest / self.precision.alpha

    @cached_property
    def _centred(self) -> Array:
        """y - m 1, shape (n, t)."""
        return self._image_of_coef + self.residuals

    @cached_property
    def _image_of_coef(self) -> Array:
        """K a."""
        return self.precision.times(self.coef)

    @cached_property
    def energies(self) -> tuple[Array, Array]:
        """a'K a and alpha^2 a'S^{-1} a, whose sum is J where the second is divided by alpha: shape (t,)."""
        function = (self.coef * self._image_of_coef).sum(axis=0)
        return np.maximum(function, 0.0), self.weight @ self.residuals**2

    @property
    def energy(self) -> Array:
        """J, shape (t,)."""
        function, residuals = self.energies
        return np.asarray(function + residuals / self.precision.alpha)

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
        a = self._full_coefficients
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
        # a constant target has no noise to compare with, nor has a function that fits all samples
        with np.errstate(divide="ignore", invalid="ignore"):
            return CRITERIA[name](self, rss, self.residual_variance if noise is None else noise)

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
    def scales(self) -> VarianceScales:
        """tau and sigma^2.

        Raises
        ------
        ValueError : where the weights of the samples add up to one sample or less
        """
        function, residuals = self.energies
        expected = noise = self.count
        mean_dominates = False
        degrees = self.degrees_of_freedom
        if self.fit_intercept:
            total = float(self._ones.sum())  # 1'H 1
            of_mean = self._of_mean * total
            expected = expected - 2.0 + of_mean
            mean_dominates = of_mean > self.count
            image = self.precision.alpha * (self._ones / self.weight)  # alpha S^{-1} H 1
            noise -= float(self._ones @ image) / total
            residuals = (
                self.weight @ (self.residuals - np.outer(image, self._full_coefficients.sum(axis=0) / total)) ** 2
            )
        if expected <= 0.0:
            raise ValueError(
                f"the weights of the samples add up to {self.count:.3g}, and noise is estimated from that many "
                "samples: multiply them so that they count samples"
            )
        energies = function, residuals
        return VarianceScales.of(
            self.energy / expected, self.precision.alpha, energies, (degrees, noise - degrees), mean_dominates
        )

    @property
    def scale(self) -> Array:
        """tau, shape (t,)."""
        return self.scales.function

    def deviations(self, cross: Array, prior: Array) -> Array:
        """Standard deviations of the errors of predictions of new observations, shape (r, t).

        Parameters
        ----------
        cross : array (r, n) of kernel values, or (r, q) of features where the precision is that of features
        prior : array (r,), k(x, x)
        """
        variances = self.precision.alpha + self.precision.conditional_variance(cross, prior)
        if self.fit_intercept:
            variances = variances + self._of_mean * (1.0 - self.precision.values_at(cross, self._ones)) ** 2

        def lengths() -> Array:
            squares = 1.0 + self.precision.squared_weights(cross)
            if not self.fit_intercept:
                return squares
            inner = self.precision.values_at(cross, self._ones)  # k_x'H 1
            return np.asarray(squares + (1.0 - inner**2) / self.count)  # 2 (1 - k_x'H 1) k_x'H 1 + (1 - k_x'H 1)^2

        return self.scales.deviations(self.precision.alpha, variances, lengths)

    @cached_property
    def left_out_deviations(self) -> Array:
        """Standard deviations of the residuals of samples that are left out one by one, (n, t)."""
        s = self.weight
        N = self.count
        diagonal = self.precision.diagonal
        variances = 1.0 / diagonal
        if self.fit_intercept:
            diagonal_of_targets = self.precision.prior + self.precision.alpha / s
            variances_of_mean = (self._of_mean * N**2 - 2.0 * s * self._image + s**2 * diagonal_of_targets) / (
                N - s
            ) ** 2
            variances = variances + (self._ones / diagonal) ** 2 * variances_of_mean

        def lengths() -> Array:
            squares = self.precision.own_squared_weights
            if self.fit_intercept:
                c = self._ones / (N - s)
                squares = squares - 2.0 * c * (self._ones - diagonal) + c**2 * (N - s)
            return np.asarray(squares / diagonal**2 + 1.0 - 1.0 / s)

        # the noise of an observation of weight s is alpha / s, that of an observation of weight one is alpha
        return self.scales.deviations(self.precision.alpha, variances + self.precision.alpha * (1.0 - 1.0 / s), lengths)

    @property
    def log_evidence(self) -> Array:
        """The log density of each target, the largest over tau: shape (t,)."""
        N = self.count
        n = len(self.coef)
        alpha = self.precision.alpha
        with np.errstate(divide="ignore"):
            fit = N * np.log(2.0 * np.pi * self.energy / N)
        return -0.5 * (N + fit + self.precision.log_determinant + (N - n) * np.log(alpha))


def _cp(model: LinearSmoother, rss: Array, noise: Array) -> Array:
    return (rss + 2.0 * model.trace * noise) / model.count


def _aic(model: LinearSmoother, rss: Array, noise: Array) -> Array:
    return rss / noise + 2.0 * model.trace


def _bic(model: LinearSmoother, rss: Array, noise: Array) -> Array:
    return rss / noise + np.log(model.count) * model.trace


def _gcv(model: LinearSmoother, rss: Array, noise: Array) -> Array:
    return rss / model.count / (1.0 - model.trace / model.count) ** 2


def _loo(model: LinearSmoother, rss: Array, noise: Array) -> Array:
    return np.asarray(model.weight @ model.left_out**2 / model.count)


def _evidence(model: LinearSmoother, rss: Array, noise: Array) -> Array:
    return -model.log_evidence


CRITERIA: Mapping[str, Callable[[LinearSmoother, Array, Array], Array]] = {
    "cp": _cp,
    "aic": _aic,
    "bic": _bic,
    "gcv": _gcv,
    "loo": _loo,
    "evidence": _evidence,
}
