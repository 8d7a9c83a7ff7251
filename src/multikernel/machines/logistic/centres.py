"""Logistic regression by the kernels of few centres, on any number of samples.

With n samples x_i of labels y_i = -1 or +1 and weights s_i, M centres z_m, and C the matrix of k(x_i, z_m),

    min over a, c of  P(a, c) = sum_i s_i log(1 + exp(-y_i f_i)) + alpha / 2 a'Ka,      f = C a + c,               (1)

K the kernel matrix of the centres. A column of labels for each class is a separate problem; all columns are solved
together, since a pass over C costs about as much for many columns as for one. 1 / (1 + exp(-f)) is a probability.

Newton's steps. With p_i = 1 / (1 + exp(y_i f_i)) the derivative of (1) in a is alpha K a - C'S(y p), the second one
C'DC + alpha K, D = diag(s p (1 - p)). c is always optimal for a, so that D is replaced by D - D 1 1'D / 1'D 1. The
system of a step is solved approximately, by conjugate gradients with the preconditioner d C'SC + alpha K, d the mean of
p (1 - p). This takes passes of n M operations, and a new factor of M x M numbers whenever d has halved or doubled.
(Marteau-Ferey, Bach and Rudi 2019, Globally convergent Newton methods for ill-conditioned generalized self-concordant
losses, use preconditioners from subsets of the samples.)

Certificate. Fenchel's dual of (1) is the largest value of

    sum_i s_i h(q_i) - |C'S(y q)|^2_{K^-1} / (2 alpha)     over q in [0, 1]^n with s'(y q) = 0,

h(q) = - q log q - (1 - q) log(1 - q). At q = p, which is feasible where c is optimal, it is smaller than P by exactly

    |alpha K a - C'S(y p)|^2_{K^-1} / (2 alpha),                                                                   (2)

the squared length of the derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from scipy.special import expit

from multikernel._floats import SINGULAR, TINY
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate, relative
from multikernel.machines.ridge.centres import CentresFactor, CentresSolution, CentreSums, definite
from multikernel.numerics.cholesky import solved
from multikernel.numerics.conjugate_gradients import MOST_STEPS, preconditioned_steps
from multikernel.numerics.line_search import MOST_NEWTON_STEPS, SHORTEST

Kernels = Callable[[], Iterable[Array]]  # a pass over the rows of C, some at a time; every call begins a new pass
_ROUGH = 0.1  # relative residual of conjugate gradients; Newton's steps then converge linearly at this rate
_LONGEST_MOVE = 2.0  # largest change of an intercept in one step, where second derivatives vanish


@dataclass(frozen=True, eq=False)
class LogisticSamples:
    """The samples of (1), several columns of labels at once.

    Parameters
    ----------
    kernels : a pass over the rows of C
    labels : array (n, t) of -1 and +1
    weight : array (n,) >= 0, or None where all are 1
    """

    kernels: Kernels
    labels: Array
    weight: Array | None = None

    @property
    def shares(self) -> Array:
        """The weights as a column."""
        if self.weight is None:
            return np.ones((len(self.labels), 1))
        return self.weight[:, None]

    def losses(self, F: Array) -> Array:
        """The sum of the losses of function values, for each column."""
        return np.asarray((self.shares * np.logaddexp(0.0, -self.labels * F)).sum(axis=0))

    def values(self, A: Array) -> Array:
        """C A."""
        return np.concatenate([C @ A for C in self._checked()])

    def back(self, V: Array) -> Array:
        """C'V."""
        total: Array | float = 0.0
        start = 0
        for C in self._checked():
            total = total + C.T @ V[start : start + len(C)]
            start += len(C)
        return np.asarray(total)

    def curved(self, V: Array, D: Array) -> tuple[Array, Array]:
        """C V and C'D C V, a diagonal D for each column: one pass."""
        total = np.zeros_like(V)
        start = 0
        values = np.empty((len(D), V.shape[1]))
        for C in self._checked():
            rows = slice(start, start + len(C))
            values[rows] = C @ V
            total += C.T @ (D[rows] * values[rows])
            start += len(C)
        return values, total

    def _checked(self) -> Iterable[Array]:
        for C in self.kernels():
            check_interrupted()
            yield C


@dataclass(frozen=True, eq=False)
class _Coefficients:
    """Coefficients with their function values and the value of the problem.

    Parameters
    ----------
    A : array (M, t)
    c : array (t,)
    F : array (n, t), C A + c
    value : array (t,), P of each column
    """

    A: Array
    c: Array
    F: Array
    value: Array


def logistic_by_centres(
    K: Array,
    samples: LogisticSamples,
    sums: CentreSums,
    alpha: float,
    tol: float = 1e-3,
    max_iter: int = 50,
    fit_intercept: bool = True,
    start: CentresSolution | None = None,
) -> CentresSolution:
    """The solution of (1) to a duality gap of ``tol``, relative to P, or the best one that steps or time allow.

    Parameters
    ----------
    K : array (M, M), the kernel matrix of the centres, in double precision
    samples : LogisticSamples
    sums : CentreSums, whose C'SC is used in the preconditioner: of these samples, or of many of them
    alpha : float > 0
    tol : float > 0
    max_iter : int, Newton's steps at most
    fit_intercept : bool
    start : CentresSolution to begin with, such as one for another ridge

    Raises
    ------
    ValueError : where K is no kernel matrix
    """
    K, of_centres = definite(K)
    s = samples.shares
    zeros = np.zeros(samples.labels.shape[1])
    A = np.zeros((len(K), len(zeros))) if start is None else start.coef
    c = zeros if start is None else start.intercept
    F = c + (samples.values(A) if A.any() else np.zeros_like(samples.labels))
    floor = max(SINGULAR * float(s.sum()), TINY)

    def at_best_intercept(A: Array, c: Array, F: Array) -> _Coefficients:
        if fit_intercept:
            moved = _best_intercept(samples.labels, s, F)
            c = c + moved
            F = F + moved
        return _Coefficients(A, c, F, samples.losses(F) + 0.5 * alpha * (A * (K @ A)).sum(axis=0))

    point = at_best_intercept(A, c, F)
    steps = 0
    preconditioner: _Preconditioner | None = None
    while True:
        p = expit(-samples.labels * point.F)
        residual = samples.back(s * samples.labels * p) - alpha * (K @ point.A)
        gap = 0.5 * float((residual * solved(of_centres, residual)).sum()) / alpha
        certificate = Certificate("duality gap", relative(gap, float(point.value.sum()), floor))
        solution = CentresSolution(point.A, point.c, certificate, steps, float(point.value.sum()))
        if certificate.reached(tol) or steps >= max_iter or time_is_up():
            return solution
        D = s * p * (1.0 - p)
        preconditioner = _Preconditioner.of(K, sums, alpha, float(D.sum(axis=0).mean()), preconditioner)
        direction, values = _direction(K, samples, preconditioner.machine, alpha, D, residual, fit_intercept)
        next_point = _along(point, direction, values, at_best_intercept)
        if next_point is None:  # rounding
            return solution
        point = next_point
        steps += 1


@dataclass(frozen=True, eq=False)
class _Preconditioner:
    """The preconditioner.

    Parameters
    ----------
    share : float, d, by which the sum of second derivatives over the samples of ``sums`` equals that over all samples
    machine : CentresFactor
    """

    share: float
    machine: CentresFactor

    @classmethod
    def of(
        cls, K: Array, sums: CentreSums, alpha: float, curvature: float, previous: _Preconditioner | None
    ) -> _Preconditioner:
        """The preconditioner for a sum of second derivatives; the previous one where that is near enough."""
        share = curvature / sums.moments.count
        if previous is not None and 0.5 * previous.share <= share <= 2.0 * previous.share:
            return previous
        moments = replace(sums.moments, squares=share * sums.moments.squares)
        return cls(share, CentresFactor.of(K, CentreSums(moments, sums.rounding), alpha))


def _direction(
    K: Array,
    samples: LogisticSamples,
    preconditioner: CentresFactor,
    alpha: float,
    D: Array,
    residual: Array,
    fit_intercept: bool,
) -> tuple[Array, Array]:
    """An approximate Newton step of each column, and C times it."""
    total = np.maximum(D.sum(axis=0), TINY)
    of_intercept = samples.back(D) if fit_intercept else np.zeros_like(residual)
    values = np.zeros_like(D)  # C times the last direction

    def times(V: Array) -> Array:
        nonlocal values
        values, image = samples.curved(V, D)
        return image + alpha * (K @ V) - of_intercept * ((of_intercept * V).sum(axis=0) / total)

    direction = np.zeros_like(residual)
    along = np.zeros_like(D)
    enough = _ROUGH**2 * (residual * preconditioner.coefficients(residual)).sum(axis=0)
    for step in islice(preconditioned_steps(times, preconditioner.coefficients, residual), MOST_STEPS):
        direction = direction + step.change
        along = along + step.length * values
        if (step.size <= enough).all() or time_is_up():
            break
    return direction, along


def _along(
    point: _Coefficients, step: Array, values: Array, evaluate: Callable[[Array, Array, Array], _Coefficients]
) -> _Coefficients | None:
    """The point after a step that is halved for each column until its value falls; None where no value falls."""
    fraction = np.ones(step.shape[1])
    while fraction.max() > SHORTEST:
        trial = evaluate(point.A + fraction * step, point.c, point.F + fraction * values)
        worse = ~(trial.value <= point.value)
        if not worse.any():
            if (trial.value < point.value).any():
                return trial
            return None
        fraction = np.where(worse, 0.5 * fraction, fraction)
        fraction[fraction <= SHORTEST] = 0.0
    return None


def _best_intercept(labels: Array, s: Array, F: Array) -> Array:
    """The change of the intercept that minimises the losses of each column, by Newton's steps in one number.

    Where all labels are equal there is no minimum: the steps end where the slope is rounding.
    """
    moved = np.zeros(labels.shape[1])
    enough = SINGULAR * float(s.sum())
    for _ in range(MOST_NEWTON_STEPS):
        p = expit(-labels * (F + moved))
        slope = (s * labels * p).sum(axis=0)
        if (np.abs(slope) <= enough).all():
            break
        curvature = (s * p * (1.0 - p)).sum(axis=0)
        with np.errstate(over="ignore"):  # where labels are almost certain; the move is clipped
            moved += np.clip(slope / np.maximum(curvature, TINY), -_LONGEST_MOVE, _LONGEST_MOVE)
    return moved
