"""Scales inside a kernel, learned on many samples through few landmarks.

With a kernel k(x, z) = f(sum_j s_j |x_j - z_j|^q), M landmarks z, samples T to train on and samples V held out,

    min over s > 0, alpha > 0 of    log (1 / |V|) |Y_V - K_VZ A|^2,
    A = B^{-1} K_TZ' Y_T,           B = K_TZ' K_TZ + alpha K_ZZ,

targets without their mean over T: the held-out error of ridge regression over the functions that the landmarks span. An
evaluation takes |T| M^2 + (|T| + |V|) M p operations, in place of the n^3 of all samples, and its memory is a few
numbers for each sample and landmark.

The gradient. With the residuals E = K_VZ A - Y_V, and L = B^{-1} K_VZ' E, a change of the kernel changes |E|^2 / 2 by

    <E A', dK_VZ> + <(Y_T - K_TZ A) L' - (K_TZ L) A', dK_TZ> - alpha <L A', dK_ZZ>,

one of log alpha by - alpha <L, K_ZZ A>. With the slopes f' of the same entries these are sums over pairs of samples

    sum_il W_il f'_il |x_ij - z_lj|^q

for each column j. Kernels, slopes and these sums are in single precision; B, A and L are in double.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from multikernel._linalg import squared
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.banks.single import ScaledPoints, over_few_rows, weighted_differences
from multikernel.certificate import Certificate
from multikernel.kernels import DistanceKernel
from multikernel.machines.ridge.centres import CentredRidge, CentreSums
from multikernel.numerics.lbfgs import lbfgs, remembering
from multikernel.statistics import Moments

_LEAST = 0.1  # of the largest scale, where smaller ones begin: from 0.001 of it relevant columns did not come back
_FARTHEST = 14.0  # scales differ from the first ones by a factor of e^14 at most, as in descent.py


@dataclass(frozen=True, eq=False)
class LandmarkScales:
    """Scales that were found.

    Parameters
    ----------
    scales : array (groups,)
    alpha : float, the ridge for the samples that were trained on
    loss : float, the mean squared error of the samples held out, summed over targets
    certificate : Certificate, the largest derivative of the logarithm of the loss in a logarithm of a parameter
    n_iter : int
    """

    scales: Array
    alpha: float
    loss: float
    certificate: Certificate
    n_iter: int


@dataclass(frozen=True, eq=False)
class LandmarkError:
    """The problem at the head of this file.

    Parameters
    ----------
    kernel : DistanceKernel, with f and q
    train, held, landmarks : arrays (n, p) in single precision, the samples T, V and z
    targets, held_targets : arrays (n, t), Y_T and Y_V
    owner : int array (p,), the group of each column, whose columns share a scale
    """

    kernel: DistanceKernel
    train: Array
    held: Array
    landmarks: Array
    targets: Array
    held_targets: Array
    owner: Array
    mean: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", self.targets.mean(axis=0))

    def at(self, parameters: Array) -> tuple[float, Array]:
        """The value, and the gradient in the logarithms of the scales (groups,) and of alpha."""
        check_interrupted()
        scales, alpha = np.exp(parameters[:-1]), float(np.exp(parameters[-1]))
        by_column = scales[self.owner]
        Z = self.landmarks
        points = ScaledPoints.of(Z, by_column, self.kernel.degree)
        K, slopes = self._entries(Z, points)
        C, slopes_train = self._entries(self.train, points)
        H, slopes_held = self._entries(self.held, points)
        Y = self.targets - self.mean
        K = K.astype(float)
        machine = CentredRidge.of(0.5 * (K + K.T), _squares(C), alpha)
        A = machine.coefficients(_product(C.T, Y))
        E = _product(H, A) - (self.held_targets - self.mean)
        L = machine.coefficients(_product(H.T, E))
        left = Y - _product(C, A)
        back = _product(C, L)
        by_column = by_column * (
            self._sums(self.held, slopes_held, [(E, A)])
            + self._sums(self.train, slopes_train, [(left, L), (-back, A)])
            + self._sums(Z, slopes, [(-alpha * L, A)])
        )
        total = float((E * E).sum())
        gradient = np.append(np.bincount(self.owner, by_column, len(scales)), -alpha * float((L * (K @ A)).sum()))
        return float(np.log(total / len(E))), 2.0 / total * gradient

    def value(self, scales: Array, alpha: float) -> float:
        """The value alone; infinite where no scale is positive."""
        return self.at(_logarithms(scales, alpha))[0] if scales.any() else np.inf

    def _entries(self, X: Array, points: ScaledPoints) -> tuple[Array, Array]:
        """The kernel and its slopes between samples and landmarks."""
        shape = (len(X), len(self.landmarks))
        K, slopes = np.empty(shape, np.float32), np.empty(shape, np.float32)

        def part(rows: slice) -> None:
            K[rows], slopes[rows] = self.kernel.profile_and_slope(points.distances(X[rows]))

        over_few_rows(part, *shape)
        return K, slopes

    def _sums(self, X: Array, slopes: Array, factors: Sequence[tuple[Array, Array]]) -> Array:
        """sum_il W_il f'_il |x_ij - z_lj|^q for each column, W the sum of the products of the factors."""
        left, right = (np.hstack([pair[k] for pair in factors]).astype(np.float32) for k in (0, 1))

        def part(rows: slice) -> Array:
            W = left[rows] @ right.T
            W *= slopes[rows]
            return weighted_differences(X[rows], self.landmarks, W, self.kernel.degree)

        return np.asarray(np.sum(over_few_rows(part, len(X), len(self.landmarks)), axis=0))


def scales_by_landmarks(
    error: LandmarkError, scales: Array, alpha: float, tol: float = 1e-3, max_iter: int = 100
) -> LandmarkScales:
    """Descent from given scales by limited-memory quasi-Newton steps.

    It ends at a stationarity of ``tol``, and where three steps together have lowered the logarithm of the error by less
    than a tenth of its standard error, (2 / |V|)^(1/2): more would fit the samples held out.

    Parameters
    ----------
    error : LandmarkError
    scales : array (groups,) >= 0, where it begins; those below a tenth of the largest begin there
    alpha : float > 0
    tol : float, the stationarity at which to stop
    max_iter : int, steps at most
    """
    start = _logarithms(scales, alpha)
    best = (np.inf, start, np.zeros_like(start))
    values: list[float] = []
    little = 0.1 * np.sqrt(2.0 / error.held_targets.size)

    def value(u: Array) -> tuple[float, Array]:
        nonlocal best
        found = error.at(u)
        if found[0] < best[0]:
            best = (found[0], u.copy(), found[1])
        return found

    def goes_on(u: Array, at: float, gradient: Array) -> bool:
        values.append(at)
        if len(values) > 3 and values[-4] - at < little:
            return False
        return float(np.abs(gradient).max()) > tol and not time_is_up()

    function = remembering(value)
    first = function(start)
    if goes_on(start, *first):
        lbfgs(function, start, max_iter, goes_on, (start - _FARTHEST, start + _FARTHEST))
    lowest, u, gradient = best
    return LandmarkScales(
        np.exp(u[:-1]),
        float(np.exp(u[-1])),
        float(np.exp(lowest)),
        Certificate("stationarity", float(np.abs(gradient).max())),
        len(values),
    )


def _logarithms(scales: Array, alpha: float) -> Array:
    return np.log(np.append(np.maximum(scales, _LEAST * scales.max()), alpha))


def _product(C: Array, V: Array) -> Array:
    """C V, with both in single precision."""
    return np.asarray(C @ V.astype(np.float32), dtype=float)


def _squares(C: Array) -> CentreSums:
    """C'C as sums over samples, of which nothing else is needed; C is in single precision."""
    none = np.zeros((C.shape[1], 0))
    moments = Moments(squared(C), none, none.sum(axis=1), none[0], none[0], float(len(C)))
    return CentreSums(moments, float(np.finfo(np.float32).eps) ** 2)
