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
from multikernel.banks.single import scaled_distances, weighted_differences
from multikernel.banks.threads import one_blas_thread, over_rows
from multikernel.certificate import Certificate
from multikernel.kernels import DistanceKernel
from multikernel.machines.ridge.centres import CentredRidge
from multikernel.numerics.lbfgs import lbfgs, remembering
from multikernel.statistics import Moments
from multikernel.tuning import PIECE_VALUES

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
        with one_blas_thread(0):
            K, slopes = self._entries(Z, by_column)
            C, slopes_train = self._entries(self.train, by_column)
            H, slopes_held = self._entries(self.held, by_column)
        Y = self.targets - self.mean
        K = K.astype(float)
        machine = CentredRidge.of(0.5 * (K + K.T), _squares(C), alpha, rounding=float(np.finfo(np.float32).eps))
        A = machine.coefficients(C.T @ Y)
        E = H @ A.astype(np.float32) - (self.held_targets - self.mean)
        L = machine.coefficients(H.T @ E)
        left = Y - C @ A.astype(np.float32)
        back = C @ L.astype(np.float32)
        with one_blas_thread(0):
            by_column = by_column * (
                self._sums(self.held, slopes_held, [(E, A)])
                + self._sums(self.train, slopes_train, [(left, L), (-back, A)])
                + self._sums(Z, slopes, [(-alpha * L, A)])
            )
        total = float((E * E).sum())
        gradient = np.append(
            np.bincount(self.owner, by_column, len(scales)), -alpha * float((L * (K @ A)).sum())
        )
        return float(np.log(total / len(E))), 2.0 / total * gradient

    def _entries(self, X: Array, by_column: Array) -> tuple[Array, Array]:
        """The kernel and its slopes between samples and landmarks."""
        shape = (len(X), len(self.landmarks))
        K, slopes = np.empty(shape, np.float32), np.empty(shape, np.float32)

        def part(rows: slice) -> None:
            D = scaled_distances(X[rows], self.landmarks, by_column, self.kernel.degree)
            K[rows], slopes[rows] = self.kernel.profile_and_slope(D)

        over_rows(part, len(X), _height(shape[1]))
        return K, slopes

    def _sums(self, X: Array, slopes: Array, factors: Sequence[tuple[Array, Array]]) -> Array:
        """sum_il W_il f'_il |x_ij - z_lj|^q for each column, W the sum of the products of the factors."""
        left, right = (np.hstack([pair[k] for pair in factors]).astype(np.float32) for k in (0, 1))

        def part(rows: slice) -> Array:
            W = left[rows] @ right.T
            W *= slopes[rows]
            return weighted_differences(X[rows], self.landmarks, W, self.kernel.degree)

        return np.asarray(np.sum(over_rows(part, len(X), _height(len(self.landmarks))), axis=0))


def scales_by_landmarks(
    error: LandmarkError, scales: Array, alpha: float, tol: float = 1e-2, max_iter: int = 100
) -> LandmarkScales:
    """Descent from given scales by limited-memory quasi-Newton steps.

    Parameters
    ----------
    error : LandmarkError
    scales : array (groups,) >= 0, where it begins; scales of 0 begin at a thousandth of the largest
    alpha : float > 0
    tol : float, the stationarity at which to stop
    max_iter : int, steps at most
    """
    start = np.log(np.append(np.maximum(scales, 1e-3 * scales.max()), alpha))
    best = (np.inf, start, np.zeros_like(start))
    steps = 0

    def value(u: Array) -> tuple[float, Array]:
        nonlocal best
        found = error.at(u)
        if found[0] < best[0]:
            best = (found[0], u.copy(), found[1])
        return found

    def goes_on(u: Array, at: float, gradient: Array) -> bool:
        nonlocal steps
        steps += 1
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
        steps,
    )


def _height(landmarks: int) -> int:
    """Rows that a thread works on at a time: what they take stays in the cache."""
    return max(1, PIECE_VALUES // 8 // max(1, landmarks))


def _squares(C: Array) -> Moments:
    """C'C as sums over samples, of which nothing else is needed."""
    none = np.zeros((C.shape[1], 0))
    return Moments(squared(C), none, none.sum(axis=1), none[0], none[0], float(len(C)))
