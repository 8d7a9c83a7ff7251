"""Scales inside a kernel, learned on many samples through few landmarks.

With a kernel k(x, z) = f(sum_k s_k D_k(x, z)), M landmarks z, samples T to train on and samples V held out,

    min over s > 0, alpha > 0 of    log (1 / |V|) |Y_V - K_VZ A|^2 + penalty / |V| * prior(s),
    A = B^{-1} K_TZ' Y_T,           B = K_TZ' K_TZ + alpha K_ZZ,

targets without their mean over T: the held-out error of ridge regression over the functions that the landmarks span. An
evaluation takes |T| M^2 + (|T| + |V|) M p operations, in place of the n^3 of all samples, and its memory is a few
numbers for each sample and landmark. Samples of weight w count as rows that are multiplied with w^(1/2), and |V| is the
sum of the weights then.

The gradient. With the residuals E = K_VZ A - Y_V, and L = B^{-1} K_VZ' E, a change of the kernel changes |E|^2 / 2 by

    <E A', dK_VZ> + <(Y_T - K_TZ A) L' - (K_TZ L) A', dK_TZ> - alpha <L A', dK_ZZ>,

one of log alpha by - alpha <L, K_ZZ A>. With the slopes f' of the same entries these are sums over pairs of samples

    sum_il W_il f'_il D_k(x_i, z_l)

for each scale k. Kernels, slopes and these sums are in single precision; B, A and L are in double. How parameters
become scales, of columns or of a metric, and their prior are a form's (forms.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._floats import SINGULAR, TINY
from multikernel._linalg import squared
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.banks.single import ScaledPoints, over_few_rows
from multikernel.certificate import Certificate
from multikernel.kernels import DistanceKernel
from multikernel.machines.ridge.centres import CentredRidge
from multikernel.numerics.lbfgs import lbfgs, remembering
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.learned_scales.forms import FARTHEST, Form

_ROUNDED = float(np.finfo(np.float32).eps) ** 2  # what single precision makes of a sum of squares


@dataclass(frozen=True, eq=False)
class LandmarkSamples:
    """Some samples of the problem.

    Parameters
    ----------
    X : array (r, p) in single precision
    Y : array (r, t)
    weight : array (r,) > 0; None where all are 1
    """

    X: Array
    Y: Array
    weight: Array | None = None

    @property
    def count(self) -> float:
        """The sum of the weights."""
        return float(len(self.Y) if self.weight is None else self.weight.sum())

    def rooted(self, values: Array) -> Array:
        """Rows times the roots of the weights, in the precision of the rows."""
        if self.weight is None:
            return values
        return values * np.sqrt(self.weight).astype(values.dtype)[:, None]


@dataclass(frozen=True, eq=False)
class LandmarkScales:
    """Scales that were found.

    Parameters
    ----------
    parameters : array, of the scales
    alpha : float, the ridge for the samples that were trained on
    loss : float, the mean squared error of the samples held out, summed over targets
    certificate : Certificate, the largest derivative of the problem's value in a parameter
    settled : bool, whether the descent ended by its own rule, and not for lack of steps or time
    history : the stationarity along the way
    """

    parameters: Array
    alpha: float
    loss: float
    certificate: Certificate
    settled: bool
    history: tuple[float, ...]

    @property
    def n_iter(self) -> int:
        """Points of the descent, among them the first."""
        return len(self.history)


@dataclass(frozen=True, eq=False)
class LandmarkError:
    """The problem at the head of this file.

    Parameters
    ----------
    kernel : DistanceKernel, with f
    form : Form of the scales
    train, held : LandmarkSamples, T and V
    landmarks : array (M, p) in single precision, z
    fit_intercept : bool, whether the mean is taken off
    penalty : float >= 0
    """

    kernel: DistanceKernel
    form: Form
    train: LandmarkSamples
    held: LandmarkSamples
    landmarks: Array
    fit_intercept: bool = True
    penalty: float = 0.0

    @property
    def mean(self) -> Array:
        """Of the targets to train on, shape (t,); 0 without an intercept."""
        if self.fit_intercept:
            return np.asarray(np.average(self.train.Y, axis=0, weights=self.train.weight))
        return np.zeros(self.train.Y.shape[1])

    def at(self, parameters: Array) -> tuple[float, Array]:
        """The value, and the gradient in the parameters of the scales and in the logarithm of alpha."""
        check_interrupted()
        v = parameters[:-1]
        alpha = float(np.exp(parameters[-1]))
        Z = self.landmarks
        points = self.form.points(v, Z, self.kernel.degree)
        K, slopes = self._entries(LandmarkSamples(Z, Z), points)
        C, slopes_train = self._entries(self.train, points)
        H, slopes_held = self._entries(self.held, points)
        mean = self.mean
        Y = self.train.rooted(self.train.Y - mean)
        K = K.astype(float)
        machine = CentredRidge.of_squares(0.5 * (K + K.T), squared(C), _ROUNDED, alpha)
        A = machine.coefficients(_product(C.T, Y))
        E = _product(H, A) - self.held.rooted(self.held.Y - mean)
        L = machine.coefficients(_product(H.T, E))
        left = Y - _product(C, A)
        back = _product(C, L)
        slope = (
            self._sums(self.held.X, slopes_held, [(E, A)])
            + self._sums(self.train.X, slopes_train, [(left, L), (-back, A)])
            + self._sums(Z, slopes, [(-alpha * L, A)])
        )
        total = float((E * E).sum()) + self.floor
        prior, direction = self.prior(v)
        gradient = np.append(self.form.pulled(v, slope), -alpha * float((L * (K @ A)).sum()))
        value = float(np.log(total / self.held.count)) + prior
        return value, 2.0 / total * gradient + np.append(direction, 0.0)

    @property
    def floor(self) -> float:
        """Of the squared error, which a logarithm is taken of: 1e-12 of that of constants."""
        constant = self.held.rooted(self.held.Y - self.mean)
        return max(SINGULAR * float((constant * constant).sum()), TINY)

    def prior(self, v: Array) -> tuple[float, Array]:
        """penalty / |V| times the prior of the scales, and its gradient."""
        value, direction = self.form.prior(v)
        factor = self.penalty / self.held.count
        return factor * value, factor * direction

    def value(self, v: Array, alpha: float) -> float:
        """The value alone; infinite where no scale is positive."""
        if np.isfinite(v).all():
            return self.at(np.append(v, np.log(alpha)))[0]
        return np.inf

    def _entries(self, samples: LandmarkSamples, points: ScaledPoints) -> tuple[Array, Array]:
        """The kernel and its slopes between samples and landmarks, rows times the roots of the weights."""
        shape = (len(samples.X), len(self.landmarks))
        K = np.empty(shape, np.float32)
        slopes = np.empty(shape, np.float32)

        def part(rows: slice) -> None:
            K[rows], slopes[rows] = self.kernel.profile_and_slope(points.distances(samples.X[rows]))

        over_few_rows(part, *shape)
        return samples.rooted(K), samples.rooted(slopes)

    def _sums(self, X: Array, slopes: Array, factors: Sequence[tuple[Array, Array]]) -> Array:
        """sum_il W_il f'_il D_k(x_i, z_l) for each scale, W the sum of the products of the factors."""
        left, right = (np.hstack([pair[k] for pair in factors]).astype(np.float32) for k in (0, 1))

        def part(rows: slice) -> Array:
            W = left[rows] @ right.T
            W *= slopes[rows]
            return self.form.weighted(X[rows], self.landmarks, W, self.kernel.degree)

        return np.asarray(np.sum(over_few_rows(part, len(X), len(self.landmarks)), axis=0))


def scales_by_landmarks(
    error: LandmarkError,
    start: Array,
    alpha: float,
    tol: float = 1e-3,
    max_iter: int = 100,
    observe: Observer = silent,
) -> LandmarkScales:
    """Descent from given scales by limited-memory quasi-Newton steps.

    It ends at a stationarity of ``tol``, and where three steps together have lowered the logarithm of the error by less
    than a tenth of its standard error, (2 / |V|)^(1/2): more would fit the samples held out.

    Parameters
    ----------
    error : LandmarkError
    start : array, the parameters of the scales where it begins
    alpha : float > 0
    tol : float, the stationarity at which to stop
    max_iter : int, steps at most
    observe : called after each step
    """
    begun = np.append(start, np.log(alpha))
    best = (np.inf, begun, np.full(len(begun), np.nan))
    values: list[float] = []
    history: list[float] = []
    settled = False
    little = 0.1 * np.sqrt(2.0 / error.held.Y.size)

    def value(u: Array) -> tuple[float, Array]:
        nonlocal best
        found = error.at(u)
        if found[0] < best[0]:
            best = (found[0], u.copy(), found[1])
        return found

    def goes_on(u: Array, at: float, gradient: Array) -> bool:
        nonlocal settled
        certificate = _stationarity(gradient)
        values.append(at)
        history.append(certificate.value)
        observe(Event(len(history), certificate))
        settled = certificate.reached(tol) or (len(values) > 3 and values[-4] - at < little)
        return not (settled or time_is_up())

    function = remembering(value)
    first = function(begun)
    if goes_on(begun, *first):
        lbfgs(function, begun, max_iter, goes_on, (begun - FARTHEST, begun + FARTHEST))
        settled = settled or not (len(history) > max_iter or time_is_up())  # no step leads further down
    lowest, u, gradient = best
    v = u[:-1]
    return LandmarkScales(
        v,
        float(np.exp(u[-1])),
        float(np.exp(lowest - error.prior(v)[0])),
        _stationarity(gradient),
        settled,
        tuple(history),
    )


def _stationarity(gradient: Array) -> Certificate:
    return Certificate("stationarity", float(np.abs(gradient).max(initial=0.0)))


def _product(C: Array, V: Array) -> Array:
    """C V, with both in single precision."""
    return np.asarray(C @ V.astype(np.float32), dtype=float)
