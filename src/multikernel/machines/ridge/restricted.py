"""Kernel ridge regression with columns without penalty, as a linear map of the targets and as a Gaussian process.

The formulas of ``smoother.py`` for y = F b + f + noise, where b has no penalty. With an orthonormal basis B (n, p) of
the columns of F, H = (K + alpha I)^{-1}, C = B'H B and M = H - H B C^{-1} B'H, generalised least squares have
g = C^{-1} B'H y, and

    a = M y = H (y - B g),      y - fitted values = alpha a,      tr K M = tr K H - p + alpha tr C^{-1} B'H H B

so the trace of the map from y to fitted values is tr K M + p. A sample that is left out, with b estimated from the
others, has the residual a_i / M_ii, of variance tau / M_ii. At a new sample with the row u of the basis the error of
the prediction w'y, w = H k_x + H B C^{-1} d, of an observation has the variance

    tau (alpha + k(x, x) - k_x'H k_x + d'C^{-1} d),      d = u - B'H k_x,

where the noise has the variance tau alpha; for another variance there is a further term as in ``smoother.py``, with
c = a and n - p contrasts.

The density is that of the n - p contrasts that no b changes (restricted likelihood), the largest over tau with
J = y'M y = a'(K + alpha I) a and N = n - p:

    -(N + N log(2 pi J / N) + log det(K + alpha I) + log det C) / 2        with tau = J / N.

C. R. Henderson (1975), Biometrics 31; D. A. Harville (1977), Journal of the American Statistical Association 72.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.machines.ridge.precision import Precision
from multikernel.machines.ridge.smoother import CRITERIA, Smoother, VarianceScales
from multikernel.numerics.cholesky import cholesky, solved


@dataclass(frozen=True, eq=False)
class RestrictedSmoother:
    """A solution of the ridge machine with columns without penalty; samples have weight 1.

    Parameters
    ----------
    precision : H
    coef : array (n, t), a of each target
    basis : array (n, p), B
    rest : array (n, t), the residuals of the targets, where these are not alpha a
    """

    precision: Precision
    coef: Array
    basis: Array
    rest: Array | None = None

    @property
    def weight(self) -> Array:
        return self.precision.weight

    @property
    def count(self) -> float:
        return float(len(self.coef))

    @property
    def residuals(self) -> Array:
        """y less fitted values, shape (n, t)."""
        return self._alone.residuals

    @property
    def target_variance(self) -> Array:
        """The mean of the squared targets about F b, shape (t,)."""
        return self._alone.target_variance

    @cached_property
    def _alone(self) -> Smoother:
        """The smoother of y - F b."""
        return Smoother(self.precision, self.coef, False, self.rest)

    @cached_property
    def _image(self) -> Array:
        """H B."""
        return self.precision.solve(self.basis)

    @cached_property
    def _factor(self) -> Array:
        """The Cholesky factor of C."""
        return cholesky(product(self.basis.T, self._image))

    @cached_property
    def _half(self) -> Array:
        """X = L^{-1} B'H for C = L L', shape (p, n): M = H - X'X."""
        return np.asarray(solve_triangular(self._factor, self._image.T, lower=True))

    @property
    def degrees_of_freedom(self) -> float:
        """tr K M, without the columns."""
        both = product(self._image.T, self._image)
        inner = float(np.trace(solved(self._factor, both)))
        return max(self.precision.degrees_of_freedom - self.basis.shape[1] + self.precision.alpha * inner, 0.0)

    @property
    def trace(self) -> float:
        """The trace of the map from targets to fitted values."""
        return self.degrees_of_freedom + self.basis.shape[1]

    @cached_property
    def _diagonal(self) -> Array:
        """M_ii; not below what rounding leaves of H_ii, where a sample alone determines a coefficient."""
        return np.maximum(self.precision.diagonal - (self._half**2).sum(axis=0), 1e-14 * self.precision.diagonal)

    @cached_property
    def left_out(self) -> Array:
        """The residuals of samples that are left out one by one, shape (n, t)."""
        return np.asarray(self.residuals / (self.precision.alpha * self._diagonal[:, None]))

    @cached_property
    def left_out_deviations(self) -> Array:
        """The standard deviations of the residuals ``left_out``, (n, t)."""

        def lengths() -> Array:
            half = self._half
            terms = product(product(half, half.T), half) - 2.0 * self.precision.solve(half.T).T
            return np.asarray((self.precision.own_squared_weights + (half * terms).sum(axis=0)) / self._diagonal**2)

        return self.scales.deviations(self.precision.alpha, 1.0 / self._diagonal, lengths)

    def criterion(self, name: str, noise: Array | None = None) -> Array:
        """The criterion of a ``Smoother``."""
        rss = (self.residuals**2).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return CRITERIA[name](self, rss, self.residual_variance if noise is None else noise)

    @property
    def residual_variance(self) -> Array:
        """The squared residuals over n less the trace, shape (t,)."""
        return np.asarray((self.residuals**2).sum(axis=0) / (self.count - self.trace))

    @property
    def _contrasts(self) -> int:
        """N."""
        return len(self.coef) - self.basis.shape[1]

    @property
    def scales(self) -> VarianceScales:
        """tau and sigma^2."""
        degrees = self.degrees_of_freedom
        scale = self._alone.energy / self._contrasts
        return VarianceScales.of(
            scale, self.precision.alpha, self._alone.energies, (degrees, self._contrasts - degrees)
        )

    @property
    def scale(self) -> Array:
        """tau, shape (t,)."""
        return self.scales.function

    def deviations(self, cross: Array, prior: Array, rows: Array) -> Array:
        """Standard deviations of the errors of predictions of new observations, shape (r, t).

        Parameters
        ----------
        cross, prior : as for a ``Smoother``
        rows : array (r, p), the new samples in the basis
        """
        d = rows - np.column_stack([self.precision.values_at(cross, column) for column in self._image.T])
        of_columns = (solve_triangular(self._factor, d.T, lower=True) ** 2).sum(axis=0)
        variances = self.precision.alpha + self.precision.conditional_variance(cross, prior) + of_columns

        def lengths() -> Array:
            e = solved(self._factor, d.T)
            twice = self.precision.solve(self._image)
            along = np.column_stack([self.precision.values_at(cross, column) for column in twice.T])
            squares = 1.0 + self.precision.squared_weights(cross) + 2.0 * (along * e.T).sum(axis=1)
            return np.asarray(squares + (product(self._image, e) ** 2).sum(axis=0))

        return self.scales.deviations(self.precision.alpha, variances, lengths)

    @property
    def log_evidence(self) -> Array:
        """The restricted log density of each target, the largest over tau: shape (t,)."""
        N = self._contrasts
        determinant = self.precision.log_determinant + 2.0 * float(np.log(np.diagonal(self._factor)).sum())
        with np.errstate(divide="ignore"):
            return np.asarray(-0.5 * (N + N * np.log(2.0 * np.pi * self._alone.energy / N) + determinant))
