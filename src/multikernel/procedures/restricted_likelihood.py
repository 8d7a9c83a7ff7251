"""The restricted likelihood of variance components, its derivatives, and where it is largest.

A target is y = F b + sum_k f_k + noise with independent f_k of covariance s_k K_k and noise of variance s_0. Of the N
contrasts that no b changes (evidence.py, where Q, P and B are explained) the covariance is

    V = sum_k s_k Q'K_k Q + s_0 I,        l(s) = -(N log 2 pi + log det V + z'V^{-1}z) / 2.

With a = V^{-1}z and K_0 the identity

    dl / ds_k = -(<K_k, V^{-1}> - a'K_k a) / 2,        A_kl = a'K_k V^{-1} K_l a / 2

where A, the average of the second derivatives and of their expectation, is positive semi-definite. A step maximises the
quadratic model with A over s >= 0, damped until l rises (``numerics.levenberg_marquardt``).

With one kernel, Q'K Q = U diag(d) U' makes V diagonal: then the cost of a step is proportional to the number of
samples, and one decomposition serves all targets.

A. R. Gilmour, R. Thompson and B. R. Cullis (1995), Average information REML, Biometrics 51; H. M. Kang et al. (2008),
Efficient control of population structure in model organism association mapping, Genetics 178, for one kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import count
from typing import cast

import numpy as np
from scipy import linalg
from scipy.optimize import nnls

from multikernel._floats import EPS, ROUNDING, TINY
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.numerics.cholesky import factor_of
from multikernel.numerics.levenberg_marquardt import LEAST_DAMPING, DampedModel, TrialPoint, descend
from multikernel.numerics.line_search import MOST_NEWTON_STEPS
from multikernel.procedures.ridge_cv.evidence import Evidence, Explained

# Without noise V may still be regular, as for a kernel that gives each sample a separate effect. A noise of this
# fraction of the kernels then replaces zero: half of the digits, since less would be lost in the fixed directions.
_NO_NOISE = float(np.sqrt(EPS))


@dataclass(frozen=True, eq=False)
class Local:
    """The likelihood near a point.

    Parameters
    ----------
    theta : array (m + 1,), s_1, .., s_m, s_0
    value : l
    score : array (m + 1,), its derivatives
    information : array (m + 1, m + 1), A
    """

    theta: Array
    value: float
    score: Array
    information: Array


class Likelihood(ABC):
    """l of one target."""

    @abstractmethod
    def at(self, theta: Array) -> Local | None:
        """l at variances >= 0, that of the noise included; None where V is singular in floating point."""


@dataclass(frozen=True, eq=False)
class OfKernels(Likelihood):
    """l for any kernels, by a factorisation for each point; ``evidence`` is that of one target."""

    evidence: Evidence

    def at(self, theta: Array) -> Local | None:
        evidence = self.evidence
        noise = float(theta[-1])
        without = noise <= TINY
        if without:
            noise = _NO_NOISE * float(theta[:-1] @ evidence.diagonals) / evidence.count
        if noise <= TINY:
            return None
        point = evidence.at(theta[:-1] / noise)
        if point is None:
            return None
        explained = cast(Explained, point.evaluation)
        count = evidence.count
        energy = float(explained.energies[0])
        log_determinant = 2.0 * float(np.log(np.diagonal(explained.factor)).sum())
        value = -0.5 * (count * np.log(2.0 * np.pi * noise) + log_determinant + energy / noise)
        a = explained.coef[:, 0]
        images = np.column_stack([evidence.images(explained.coef)[:, :, 0].T, a])
        U = linalg.solve_triangular(explained.factor, images, lower=True, check_finite=False)
        H = evidence.inverse(explained.factor)
        beyond = count - (len(a) - (0 if evidence.basis is None else evidence.basis.shape[1]))
        traces = np.append(evidence.bank.inner(H), np.trace(H) + beyond)
        if without and not traces[-1] < 0.5:  # the degrees of freedom of this noise are >= 1 where V is singular
            return None
        score = -0.5 * (traces / noise - a @ images / noise**2)
        return Local(theta, value, score, product(U.T, U) / (2.0 * noise**3))


@dataclass(frozen=True, eq=False)
class ContrastSpectrum:
    """The eigenvalues d of one kernel on the contrasts, or no eigenvalues without a kernel, and U'z of all targets.

    Parameters
    ----------
    values : array (c,)
    targets : array (c, t)
    beyond : the number of contrasts on which both kernel and targets are zero
    """

    values: Array
    targets: Array
    beyond: float

    @classmethod
    def of(cls, evidence: Evidence) -> ContrastSpectrum:
        """The spectrum of the single kernel of an evidence, for all of its targets."""
        K = np.array(evidence.bank.combine(np.ones(1)).dense(), dtype=np.float64)
        Z = evidence.Y
        if evidence.basis is not None and evidence.basis.shape[1]:
            p = evidence.basis.shape[1]
            Q = linalg.qr(evidence.basis, check_finite=False)[0][:, p:]
            K = product(product(Q.T, K), Q)
            Z = product(Q.T, Z)
        d, U = linalg.eigh(0.5 * (K + K.T), check_finite=False, overwrite_a=True)
        return cls(np.maximum(d, 0.0), product(U.T, Z), evidence.count - len(d))


@dataclass(frozen=True, eq=False)
class OfOneKernel(Likelihood):
    """l for one kernel, by its spectrum; ``z`` is a column of the spectrum's targets."""

    spectrum: ContrastSpectrum
    z: Array

    def at(self, theta: Array) -> Local | None:
        d = self.spectrum.values
        beyond = self.spectrum.beyond
        noise = float(theta[1])
        without = noise <= TINY
        if without:
            noise = _NO_NOISE * float(theta[0]) * float(d.max(initial=0.0))
        V = theta[0] * d + noise
        if noise <= TINY or (without and not float((noise / V).sum()) + beyond < 0.5):
            return None
        a = self.z / V
        constant_terms = beyond * np.log(noise) + (len(d) + beyond) * np.log(2.0 * np.pi)
        value = -0.5 * (float(np.log(V).sum() + self.z @ a) + constant_terms)
        images = np.column_stack([d * a, a])
        traces = np.array([float((d / V).sum()), float((1.0 / V).sum()) + beyond / noise])
        score = -0.5 * (traces - a @ images)
        return Local(theta, value, score, 0.5 * images.T @ (images / V[:, None]))


@dataclass(frozen=True, eq=False)
class _LocalModel(DampedModel, TrialPoint):
    """Minus the likelihood, and its model, near a point; a step moves only the variances that are free."""

    likelihood: Likelihood
    local: Local
    free: Array

    @property
    def value(self) -> float:
        return -self.local.value

    @property
    def promised(self) -> float:
        """The gain of the model at its maximum."""
        return _step(self.local, self.free, LEAST_DAMPING)[1]

    def model(self) -> _LocalModel:
        return self

    def scale(self, before: Array | None) -> Array:
        return _scale(self.local, self.free)

    def step(self, damping: Array) -> tuple[Array, float]:
        return _step(self.local, self.free, damping / self.scale(None))

    def tried(self, step: Array) -> _LocalModel | None:
        check_interrupted()
        trial = self.likelihood.at(self.local.theta + step)
        if trial is None:
            return None
        return replace(self, local=trial)


def maximised(likelihood: Likelihood, start: Local, free: Array, least_gain: float = 0.0) -> Local:
    """The maximum of the likelihood over some of the variances, with the others fixed.

    Parameters
    ----------
    likelihood : Likelihood
    start : Local, where to begin
    free : int array, which variances are estimated
    least_gain : float, the predicted gain of the log-likelihood below which steps end, if it exceeds rounding
    """
    steps = count()

    def goes_on(model: DampedModel) -> bool:
        near = cast(_LocalModel, model)
        return next(steps) < MOST_NEWTON_STEPS and near.promised > max(least_gain, ROUNDING * abs(near.value))

    return cast(_LocalModel, descend(_LocalModel(likelihood, start, free), goes_on)).local


def with_fixed_variance(local: Local, k: int, value: float) -> Array:
    """The variances that maximise the model near a point with one variance fixed: a start for that problem."""
    change = np.zeros(len(local.theta))
    change[k] = value - local.theta[k]
    shifted = Local(local.theta + change, local.value, local.score - local.information @ change, local.information)
    return shifted.theta + _step(shifted, np.delete(np.arange(len(change)), k), LEAST_DAMPING)[0]


def _scale(local: Local, free: Array) -> Array:
    """The diagonal of A."""
    return np.maximum(np.diagonal(local.information)[free], TINY)


def _step(local: Local, free: Array, damping: float | Array) -> tuple[Array, float]:
    """The change of all variances that maximises the damped model, and the gain of the model without damping.

    The damping is relative to the diagonal of A.
    """
    A = local.information[np.ix_(free, free)]
    g = local.score[free]
    sizes = np.sqrt(_scale(local, free))
    scaled = A / np.outer(sizes, sizes)
    scaled.flat[:: len(free) + 1] += damping
    R = np.triu(factor_of(np.asfortranarray(scaled.copy()), lower=False))
    before = local.theta[free] * sizes
    target = linalg.solve_triangular(R, scaled @ before + g / sizes, trans=1, check_finite=False)
    length = float(np.linalg.norm(target)) or 1.0
    after = length * nnls(R, target / length)[0]
    change = (after - before) / sizes
    step = np.zeros(len(local.theta))
    step[free] = change
    return step, float(g @ change - 0.5 * change @ A @ change)
