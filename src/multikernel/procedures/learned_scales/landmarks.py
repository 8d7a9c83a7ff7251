"""Scales inside a kernel, learned on many samples through few landmarks.

For a kernel k(x, z) = f(sum_k s_k D_k(x, z)), M landmarks z, training samples T and held-out samples V, solve

    min over s > 0, alpha > 0 of    log (1 / |V|) |Y_V - K_VZ A|^2 + penalty / |V| * prior(s),
    A = B^{-1} K_TZ' Y_T,           B = K_TZ' K_TZ + alpha K_ZZ,

with targets less their mean over T: the held-out error of ridge regression over the functions that the landmarks span.
An evaluation takes |T| M^2 + (|T| + |V|) M p operations, not n^3 as for all samples, and memory of a few numbers for
each sample and landmark. Rows of samples of weight w are multiplied by w^(1/2), and |V| is then the sum of the weights.

The gradient. With the residuals E = K_VZ A - Y_V, and L = B^{-1} K_VZ' E, a change of the kernel changes |E|^2 / 2 by

    <E A', dK_VZ> + <(Y_T - K_TZ A) L' - (K_TZ L) A', dK_TZ> - alpha <L A', dK_ZZ>,

and a change of log alpha changes it by - alpha <L, K_ZZ A>. With the slopes f' of the same entries these are sums over
pairs of samples

    sum_il W_il f'_il D_k(x_i, z_l)

for each scale k. Kernels, slopes and these sums are in single precision; B, A and L are in double. A form (forms.py)
maps parameters to scales, of columns or of a metric, and defines their prior.
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
from multikernel.machines.ridge.centres import CentresFactor
from multikernel.numerics.lbfgs import lbfgs, remembering
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.learned_scales.forms import FARTHEST, Form

_ROUNDED = float(np.finfo(np.float32).eps) ** 2  # the relative rounding of a sum of squares in single precision


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
    """The result of a descent through landmarks.

    Parameters
    ----------
    parameters : array, of the scales
    alpha : float, the ridge for the samples that were trained on
    loss : float, the mean squared error of the samples held out, summed over targets
    certificate : Certificate, the largest derivative of the problem's value in a parameter
    settled : bool, whether the descent ended by its stopping rule, and not for lack of steps or time
    history : the stationarity after each step
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
    train, held_out : LandmarkSamples, T and V
    landmarks : array (M, p) in single precision, z
    fit_intercept : bool, whether the mean is taken off
    penalty : float >= 0
    """

    kernel: DistanceKernel
    form: Form
    train: LandmarkSamples
    held_out: LandmarkSamples
    landmarks: Array
    fit_intercept: bool = True
    penalty: float = 0.0

    @property
    def mean(self) -> Array:
        """The mean of the training targets, shape (t,); 0 without an intercept."""
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
        H, slopes_held = self._entries(self.held_out, points)
        mean = self.mean
        Y = self.train.rooted(self.train.Y - mean)
        K = K.astype(float)
        machine = CentresFactor.of_squares(0.5 * (K + K.T), squared(C), _ROUNDED, alpha)
        A = machine.coefficients(_product(C.T, Y))
        E = _product(H, A) - self.held_out.rooted(self.held_out.Y - mean)
        L = machine.coefficients(_product(H.T, E))
        residuals = Y - _product(C, A)
        back = _product(C, L)
        slope = (
            self._sums(self.held_out.X, slopes_held, [(E, A)])
            + self._sums(self.train.X, slopes_train, [(residuals, L), (-back, A)])
            + self._sums(Z, slopes, [(-alpha * L, A)])
        )
        total = float((E * E).sum()) + self.floor
        prior, direction = self.prior(v)
        gradient = np.append(self.form.pulled(v, slope), -alpha * float((L * (K @ A)).sum()))
        value = float(np.log(total / self.held_out.count)) + prior
        return value, 2.0 / total * gradient + np.append(direction, 0.0)

    @property
    def floor(self) -> float:
        """1e-12 of the squared error of constants, added to the squared error so that its logarithm is finite."""
        constant = self.held_out.rooted(self.held_out.Y - self.mean)
        return max(SINGULAR * float((constant * constant).sum()), TINY)

    def prior(self, v: Array) -> tuple[float, Array]:
        """penalty / |V| times the prior of the scales, and its gradient."""
        value, direction = self.form.prior(v)
        factor = self.penalty / self.held_out.count
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

        def fill(rows: slice) -> None:
            K[rows], slopes[rows] = self.kernel.profile_and_slope(points.distances(samples.X[rows]))

        over_few_rows(fill, *shape)
        return samples.rooted(K), samples.rooted(slopes)

    def _sums(self, X: Array, slopes: Array, factors: Sequence[tuple[Array, Array]]) -> Array:
        """sum_il W_il f'_il D_k(x_i, z_l) for each scale, W the sum of the products of the factors."""
        left, right = (np.hstack([pair[k] for pair in factors]).astype(np.float32) for k in (0, 1))

        def sums_of_rows(rows: slice) -> Array:
            W = left[rows] @ right.T
            W *= slopes[rows]
            return self.form.weighted(X[rows], self.landmarks, W, self.kernel.degree)

        return np.asarray(np.sum(over_few_rows(sums_of_rows, len(X), len(self.landmarks)), axis=0))


def scales_by_landmarks(
    error: LandmarkError,
    start: Array,
    alpha: float,
    tol: float = 1e-3,
    max_iter: int = 100,
    observe: Observer = silent,
) -> LandmarkScales:
    """Descend from given scales by limited-memory quasi-Newton steps.

    The descent ends at a stationarity of ``tol``, or where three steps together have lowered the logarithm of the error
    by less than a tenth of its standard error, (2 / |V|)^(1/2): further steps would fit the samples held out.

    Parameters
    ----------
    error : LandmarkError
    start : array, the parameters of the scales where it begins
    alpha : float > 0
    tol : float, the stationarity at which to stop
    max_iter : int, steps at most
    observe : called after each step
    """
    first_point = np.append(start, np.log(alpha))
    best = (np.inf, first_point, np.full(len(first_point), np.nan))
    values: list[float] = []
    history: list[float] = []
    settled = False
    least_gain = 0.1 * np.sqrt(2.0 / error.held_out.Y.size)

    def value(u: Array) -> tuple[float, Array]:
        nonlocal best
        value_and_gradient = error.at(u)
        if value_and_gradient[0] < best[0]:
            best = (value_and_gradient[0], u.copy(), value_and_gradient[1])
        return value_and_gradient

    def goes_on(u: Array, error_value: float, gradient: Array) -> bool:
        nonlocal settled
        certificate = _stationarity(gradient)
        values.append(error_value)
        history.append(certificate.value)
        observe(Event(len(history), certificate))
        settled = certificate.reached(tol) or (len(values) > 3 and values[-4] - error_value < least_gain)
        return not (settled or time_is_up())

    function = remembering(value)
    first = function(first_point)
    if goes_on(first_point, *first):
        lbfgs(function, first_point, max_iter, goes_on, (first_point - FARTHEST, first_point + FARTHEST))
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
