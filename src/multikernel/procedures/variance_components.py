"""Variance components: estimates by restricted likelihood, with standard errors, intervals and tests of zero.

With the likelihood l(s) of ``restricted_likelihood.py``, largest at s^,

    standard error   roots of the diagonal of A(s^)^{-1}, A the average information; NaN where other components explain
                     the same
    interval         the s_k that the profile likelihood does not reject,

                         max over the others of l(s) >= l(s^) - q / 2,      q the quantile of chi-squared with 1 degree

    test of s_k = 0  T = 2 (l(s^) - max over s with s_k = 0 of l(s)). Where s_k = 0 the estimate is 0 in about half of
                     all data sets, and T has a mixture, in equal parts, of 0 and of chi-squared with 1 degree: p is
                     half of the probability that chi-squared exceeds T, and 1 where T = 0

This distribution is that for many independent samples. With few samples, or with kernels by which every sample depends
on every other, T is 0 in more than half of all data sets, and p is too large rather than too small. For a single kernel
the distribution of T is known exactly: where s_1 = 0, U'z / sqrt(s_0) are independent standard normal numbers w, and

    T = max over r >= 0 of  N log(sum_i w_i^2) - N log(sum_i w_i^2 / (1 + r d_i)) - sum_i log(1 + r d_i)

follows from the eigenvalues d of the kernel. It is drawn ``DRAWS`` times, once for all targets. Beyond the range of the
draws, T given T > 0 is approximated by c times chi-squared with 1 degree, with c from the draws.

S. G. Self and K.-Y. Liang (1987), Journal of the American Statistical Association 82; D. O. Stram and J. W. Lee (1994),
Biometrics 50; C. M. Crainiceanu and D. Ruppert (2004), Journal of the Royal Statistical Society B 66; S. Greven et al.
(2008), Journal of Computational and Graphical Statistics 17, for the tail; D. J. Venzon and S. H. Moolgavkar (1988),
Applied Statistics 37, for profiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import stats

from multikernel._floats import ROUNDING, SINGULAR
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.procedures.restricted_likelihood import (
    ContrastSpectrum,
    Likelihood,
    Local,
    OfKernels,
    OfOneKernel,
    maximised,
    with_fixed_variance,
)
from multikernel.procedures.ridge_cv.evidence import Evidence
from multikernel.procedures.ridge_cv.fixed import FixedColumns
from multikernel.procedures.units import spread

DRAWS = 10_000  # of T; the standard error of p = .05 is then .002
_CLOSE = 2e-3  # tolerance of the root of a profile's loss; it changes the coverage by less than .0005
_FALLING = 0.01  # increase of l if the noise falls to 1 / e: 0 at a maximum, and up to n / 2 where there is none
_FARTHEST = 1e8  # a variance, relative to that of the target, beyond which an interval counts as unbounded


@dataclass(frozen=True, eq=False)
class Components:
    """The variances of one target; of the kernels, and last of the noise.

    Parameters
    ----------
    variances : array (m + 1,)
    covariance : array (m + 1, m + 1), of these estimates
    lower, upper : arrays (m + 1,), the ends of their intervals; NaN where none were asked for
    statistic, p : arrays (m + 1,), T and its p-value; NaN for the noise
    log_likelihood : float, l(s^)
    bounded : bool, whether l has a maximum in double precision; False where kernels explain the target without noise
    """

    variances: Array
    covariance: Array
    lower: Array
    upper: Array
    statistic: Array
    p: Array
    log_likelihood: float
    bounded: bool = True

    @classmethod
    def unknown(cls, m: int) -> Components:
        """The components of a target that fixed columns explain entirely, on m kernels."""
        nan = np.full(m + 1, np.nan)
        p = np.append(np.ones(m), np.nan)
        return cls(np.zeros(m + 1), np.full((m + 1, m + 1), np.nan), nan, nan, nan, p, np.nan)

    def among(self, m: int, index: Array, coverage: float | None) -> Components:
        """These components among those of m kernels; kernels that are 0 on all contrasts get the variance 0."""

        def spread_out(values: Array, other: float) -> Array:
            values_of_all = np.full(m + 1, other)
            values_of_all[index] = values
            return values_of_all

        covariance = np.full((m + 1, m + 1), np.nan)
        covariance[np.ix_(index, index)] = self.covariance
        low, high = (np.nan, np.nan) if coverage is None else (0.0, np.inf)
        return Components(
            spread_out(self.variances, 0.0),
            covariance,
            spread_out(self.lower, low),
            spread_out(self.upper, high),
            spread_out(self.statistic, 0.0),
            spread_out(self.p, 1.0),
            self.log_likelihood,
            self.bounded,
        )

    def in_units(self, kernels: Array, target: float) -> Components:
        """The components for kernels divided by ``kernels`` (m,), and targets divided by a number."""
        units = target * (target / np.append(kernels, 1.0))
        return replace(
            self,
            variances=units * self.variances,
            covariance=self.covariance * np.outer(units, units),
            lower=units * self.lower,
            upper=units * self.upper,
        )


@dataclass(frozen=True, eq=False)
class VarianceComponents:
    """The components of every target, on kernels whose restricted matrices have a mean diagonal of 1.

    Parameters
    ----------
    evidence : of the kernels that are not 0 on all contrasts, and of the targets that vary
    seen : int array, the numbers of these kernels; the first kernel where there are none
    sizes : array (m,), by which all kernels were divided
    units : array (t,), by which the targets were divided; 0 for targets that fixed columns explain entirely
    """

    evidence: Evidence
    seen: Array
    sizes: Array
    units: Array

    @classmethod
    def of(cls, bank: KernelBank, Y: Array, fixed: FixedColumns | None) -> VarianceComponents:
        """The components of targets on the kernels of a bank.

        Parameters
        ----------
        bank : square KernelBank of n samples
        Y : array (n, t)
        fixed : the fixed columns; None where there are none, not even an intercept
        """
        Z = Y
        basis = None
        traces = bank.traces()
        count = len(Y)
        if fixed is not None:
            Z = fixed.rest(Y)
            basis = fixed.basis
            traces = fixed.traces(bank)
            count = len(Y) - basis.shape[1]
        seen = np.flatnonzero(traces > 0.0)
        sizes = np.ones(len(bank))
        sizes[seen] = traces[seen] / count
        if not len(seen):
            seen = np.arange(1)  # as a kernel of zeros, which stays at the variance 0
        units = np.array([spread(column) if column.any() else 0.0 for column in Z.T])
        varying = units > 0.0
        scaled = bank.select(seen).scaled((traces[seen] > 0.0) / sizes[seen])
        return cls(Evidence.of(scaled, Z[:, varying] / units[varying], False, basis), seen, sizes, units)

    def target(self, t: int, start: Array | None = None, coverage: float | None = None) -> Components:
        """The components of one target.

        Parameters
        ----------
        t : int, which
        start : array (m,), variances of the kernels relative to that of the noise, where to begin
        coverage : float in (0, 1), of intervals; None for no intervals
        """
        m = len(self.sizes)
        index = np.append(self.seen, m)
        column = int(np.count_nonzero(self.units[:t]))
        begin = np.append(np.ones(m) if start is None else start * self.sizes, 1.0)[index]
        begin[:-1][self.evidence.diagonals == 0.0] = 0.0
        if self.units[t] == 0.0:
            return Components.unknown(m)
        components = self._in_units(column, begin / begin.sum(), coverage)
        unit = float(self.units[t])
        components_of_all = components.among(m, index, coverage)
        logarithm = components_of_all.log_likelihood - self.evidence.count * float(np.log(unit))
        return replace(components_of_all.in_units(self.sizes, unit), log_likelihood=logarithm)

    # -- in own units --------------------------------------------------------------------------------------------------

    def _in_units(self, t: int, begin: Array, coverage: float | None) -> Components:
        """The components of target ``t`` of the evidence, on the ``seen`` kernels in their units."""
        m = len(self.seen)
        all_variances = np.arange(m + 1)
        likelihood = self._likelihood(t, all_variances[:-1])
        start = likelihood.at(begin) or likelihood.at(np.full(m + 1, 1.0 / (m + 1)))
        if start is None:
            raise ValueError("the kernel matrices are not positive semi-definite: no noise makes their sum definite")
        best = maximised(likelihood, start, all_variances)
        tests = np.zeros(m)
        if _vanishes(likelihood, best):
            unknown = np.full(m + 1, np.nan)
            return replace(Components.unknown(m), variances=best.theta, p=unknown, statistic=unknown, bounded=False)
        for k in range(m):
            if best.theta[k] > 0.0:
                without = self._without(t, k, best)
                if without.value > best.value:  # another maximum, with a kernel less
                    best = _higher(best, maximised(likelihood, without, all_variances))
                tests[k] = 2.0 * (best.value - without.value)
        tests[(best.theta[:-1] == 0.0) | (tests < _CLOSE**2)] = 0.0
        p = np.append(self._p_values(tests), np.nan)
        lower = np.full(m + 1, np.nan)
        upper = np.full(m + 1, np.nan)
        if coverage is not None:
            reach = float(np.sqrt(stats.chi2.ppf(coverage, 1)))
            for k in range(m + 1):
                profile = _Profile(likelihood, best, k)
                lower[k] = 0.0
                if k == m or tests[k] > reach**2:
                    lower[k] = profile.lower(reach)
                upper[k] = profile.upper(reach)
        return Components(best.theta, _covariance(best), lower, upper, np.append(tests, np.nan), p, best.value)

    def _likelihood(self, t: int, kernels: Array) -> Likelihood:
        """The likelihood of one target on some of the kernels."""
        if len(kernels) > 1:
            evidence = self.evidence.of_targets([t])
            if len(kernels) < len(self.seen):
                evidence = replace(evidence, bank=self.evidence.bank.select(kernels))
            return OfKernels(evidence)
        spectrum = self._spectra[int(kernels[0])]
        return OfOneKernel(spectrum, spectrum.targets[:, t])

    @cached_property
    def _spectra(self) -> dict[int, ContrastSpectrum]:
        """The spectrum of each kernel where there are at most two: only then a likelihood has one kernel."""
        return {
            k: ContrastSpectrum.of(replace(self.evidence, bank=self.evidence.bank.select(np.array([k]))))
            for k in range(len(self.seen))
            if len(self.seen) < 3
        }

    def _without(self, t: int, k: int, best: Local) -> Local:
        """The maximum where one variance is zero, as a point among all variances."""
        m = len(self.seen)
        other_variances = np.delete(np.arange(m + 1), k)
        theta = best.theta.copy()
        theta[-1] += theta[k]
        theta[k] = 0.0
        if m == 1:
            end = self._likelihood(t, np.array([0])).at(theta)
            assert end is not None
            return maximised(self._likelihood(t, np.array([0])), end, other_variances)
        reduced = self._likelihood(t, other_variances[:-1])
        start = reduced.at(with_fixed_variance(best, k, 0.0)[other_variances]) or reduced.at(theta[other_variances])
        assert start is not None
        maximum = maximised(reduced, start, np.arange(m), 0.01 * _CLOSE**2)
        theta[other_variances] = maximum.theta
        if maximum.value <= best.value:
            return replace(maximum, theta=theta)
        local = self._likelihood(t, np.arange(m)).at(theta)
        assert local is not None
        return local

    def _p_values(self, tests: Array) -> Array:
        if not tests.any():
            return np.ones(len(tests))
        if len(tests) == 1:
            return self._null(tests)
        return np.where(tests > 0.0, 0.5 * stats.chi2.sf(tests, 1), 1.0)

    @cached_property
    def _null(self) -> Callable[[Array], Array]:
        """The p-values of T for one kernel."""
        spectrum = self._spectra[0]
        return null_of_one_kernel(spectrum.values, spectrum.beyond)


def _vanishes(likelihood: Likelihood, best: Local) -> bool:
    """Whether l still grows as the noise vanishes, or the noise is too small for the rounding of the kernels."""
    noise = best.theta[-1]
    if noise * best.score[-1] < -_FALLING:
        return True
    return bool(noise <= ROUNDING * best.theta.sum()) and likelihood.at(np.append(best.theta[:-1], 0.0)) is None


def _higher(first: Local, second: Local) -> Local:
    if second.value > first.value:
        return second
    return first


def _covariance(best: Local) -> Array:
    """The inverse of the information; NaN for components that are collinear with others."""
    sizes = np.sqrt(np.diagonal(best.information))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    values, vectors = np.linalg.eigh(best.information / np.outer(sizes, sizes))
    determined = values > 1e-10 * values[-1]  # half of the digits of a root
    covariance = (vectors[:, determined] / values[determined]) @ vectors[:, determined].T / np.outer(sizes, sizes)
    lost = (np.abs(vectors[:, ~determined]) > 1e-5).any(axis=1)
    covariance[lost] = np.nan
    covariance[:, lost] = np.nan
    return np.asarray(covariance)


# -- profiles ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Profile:
    """The root of twice the decrease of the log-likelihood when one variance is fixed at another value."""

    likelihood: Likelihood
    best: Local
    k: int

    def loss(self, value: float, near: Local) -> tuple[float, Local]:
        """The root, and the maximum over the other variances."""
        start = self.likelihood.at(with_fixed_variance(near, self.k, value))
        if start is None:
            return np.inf, near
        maximum = maximised(self.likelihood, start, np.delete(np.arange(len(near.theta)), self.k), _CLOSE**2)
        return float(np.sqrt(max(2.0 * (self.best.value - maximum.value), 0.0))), maximum

    def upper(self, reach: float) -> float:
        estimate = float(self.best.theta[self.k])
        information = float(self.best.information[self.k, self.k])
        slope = max(-float(self.best.score[self.k]), 0.0)
        if information <= 0.0:
            return np.inf
        # where a parabola with the score has fallen by reach^2 / 2; the profile falls more slowly, as others adapt
        first = (np.sqrt(slope**2 + information * reach**2) - slope) / information
        return self._crossing(reach, estimate, estimate + max(float(first), 1e-6), _FARTHEST)

    def lower(self, reach: float) -> float:
        estimate = float(self.best.theta[self.k])
        information = float(self.best.information[self.k, self.k])
        if information > 0.0:
            first = estimate - reach / np.sqrt(information)
        else:
            first = 0.0
        return self._crossing(reach, estimate, max(float(first), 0.5 * estimate), 0.0)

    def _crossing(self, reach: float, near: float, far: float, limit: float) -> float:
        """The value between ``near``, where the loss is 0, and ``limit`` at which its root is ``reach``."""
        inside = (near, 0.0)
        outside = None
        local = self.best
        value = far
        for _ in range(60):
            root, local = self.loss(value, local)
            if abs(root - reach) <= _CLOSE:
                break
            if root < reach:
                inside = (value, root)
            else:
                outside = (value, root)
            if outside is None:
                # the root grows about in proportion, and slower far away
                grown = near + (value - near) * min(max(1.02 * reach / max(root, 1e-3), 1.1), 10.0)
                if limit == 0.0:
                    value = max(grown, 0.2 * value)
                else:
                    value = grown
                if value > _FARTHEST:
                    return np.inf
            elif not np.isfinite(outside[1]):
                value = 0.5 * (inside[0] + outside[0])
            else:
                fraction = (reach - inside[1]) / (outside[1] - inside[1])
                value = inside[0] + min(max(fraction, 0.05), 0.95) * (outside[0] - inside[0])
            if outside is not None and abs(outside[0] - inside[0]) <= 1e-6 * abs(outside[0]) + 1e-12:
                break
        return value


# -- one kernel --------------------------------------------------------------------------------------------------------


def null_of_one_kernel(values: Array, beyond: float) -> Callable[[Array], Array]:
    """The p-values of T for one kernel, from draws of its distribution where the variance is zero.

    Parameters
    ----------
    values : array (c,), eigenvalues of the kernel on the contrasts
    beyond : how many more contrasts there are, with eigenvalue 0
    """
    rng = np.random.default_rng(0)
    large = values[values > SINGULAR * values.max(initial=0.0)]
    n_zero = len(values) - len(large) + beyond
    W = rng.chisquare(1.0, (DRAWS, len(large)))
    of_zero = np.zeros(DRAWS)
    if n_zero > 0.0:
        of_zero = rng.chisquare(n_zero, DRAWS)
    count = len(large) + n_zero
    # a grid of r that is fine relative to the width of the likelihood's maximum
    ratios = np.append(0.0, np.logspace(-5.0, 5.0, 201) / large.mean())
    shrunk = 1.0 / (1.0 + np.outer(large, ratios))
    energies = W @ shrunk + of_zero[:, None]
    total = np.log(W.sum(axis=1) + of_zero)
    T = count * (total[:, None] - np.log(energies)) + np.log(shrunk).sum(axis=0)
    T = np.sort(np.maximum(T.max(axis=1), 0.0))
    positive = T[T > 1e-6]
    share = len(positive) / DRAWS
    if len(positive):
        scale = float(positive.mean())  # of chi-squared with 1 degree, whose mean is 1
    else:
        scale = 1.0

    def p(tests: Array) -> Array:
        above = (1.0 + DRAWS - np.searchsorted(T, tests)) / (1.0 + DRAWS)
        tail = share * stats.chi2.sf(tests / scale, 1)
        p_values = np.where(above > 100.0 / DRAWS, above, np.minimum(tail, above))
        return np.where(tests > 0.0, p_values, 1.0)

    return p
