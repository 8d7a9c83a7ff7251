"""Ridge regression by the kernels of few centres, on any number of samples.

With n samples x_i of targets y_i and weights s_i, M centres z_m, and C the matrix of k(x_i, z_m), shape (n, M),

    min over A of  P(A) = sum_i s_i |y_i - c - (C A)_i|^2 + alpha tr A'K A,

c the weighted mean of the targets, or 0 without an intercept,

where K is the kernel matrix of the centres: kernel ridge regression over the functions that the centres span
(Nystroem's method; Rudi, Carratino and Rosasco 2017). The minimiser solves

    (C'SC + alpha K) A = C'S (Y - c),        S = diag(s)                                                           (1)

**By sums.** C is computed tile by tile, and only C'SC and C'SY are stored: one pass over the samples, n M^2 operations,
and for every alpha one factorisation of M x M numbers. The sums over two sets of samples can be added, so that one of
them can be held out first. Products are in double precision, also where C is in single. Where entries of C have a
relative rounding error u, a function with coefficients A is evaluated with errors whose squares add up to about
u^2 tr(C'SC) |A|^2 / M over the samples. M times this is added to P: without it, the functions of a smooth kernel would
have large coefficients of opposite signs whose sum is mostly rounding.

**By steps.** ``refined`` solves (1) to a tolerance by conjugate gradients with the matrix by sums as preconditioner;
the residual is computed from the tiles in double precision. With the sums of a part of the samples as preconditioner,
multiplied by n over their number, this is Falkon (the paper above, algorithm 1): steps of n M operations each, instead
of n M^2. The residual bounds the distance from the minimum: with the residuals R = Y - c - C A and U = C'S R / alpha,
Fenchel's dual of P has at R a value that is smaller than P(A) by

    alpha tr (K A - U)' K^{-1} (K A - U),                                                                          (2)

and alpha (K A - U) is the residual of equation (1), up to its sign. K^{-1} needs a definite matrix, so K is here the
kernel matrix with the least multiple of the unit matrix added that makes it definite despite rounding (``definite``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from operator import add
from typing import Any, NamedTuple

import numpy as np

from multikernel._floats import EPS, ROUNDING, SINGULAR, TINY
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate, relative
from multikernel.numerics.cholesky import factorise, solved
from multikernel.numerics.conjugate_gradients import MOST_STEPS, preconditioned_steps
from multikernel.statistics import Moments, Summing

# Bound of the rounding error of tr A'(C'C)A, relative to tr C'C tr A'A: in fits of 900 and 1,400 samples by 120 and 400
# smooth kernels, comparison with extended precision showed errors of the duality gap of up to 1.3 EPS of it.
_OF_SUMS = 16.0 * EPS


class Tile(NamedTuple):
    """Some samples: the kernel between them and the centres (r, M), targets (r, t), and weights (r,) or None."""

    kernel: Array
    target: Array
    weight: Array | None = None


Tiles = Callable[[], Iterable[Tile]]  # a pass over the samples; every call begins a new pass
# A pass, too: of a function of tiles and a function that merges its values, the value for all samples.
Over = Callable[[Callable[[Iterable[Tile]], Any], Callable[[Any, Any], Any]], Any]


@dataclass(frozen=True, eq=False)
class CentreSums:
    """The sums of equation (1), and their rounding error.

    Parameters
    ----------
    moments : Moments, with the kernels of the centres as features
    rounding : float, u^2, or the relative rounding error of a sum in double precision
    """

    moments: Moments
    rounding: float = ROUNDING

    def merge(self, other: CentreSums) -> CentreSums:
        """The sums over the samples of both."""
        return CentreSums(self.moments.merge(other.moments), max(self.rounding, other.rounding))

    def about(self, fit_intercept: bool = True) -> tuple[Moments, Array]:
        """The sums for targets less their constant, and this constant (t,): their mean, or 0 without an intercept."""
        if fit_intercept:
            mean = self.moments.means
        else:
            mean = np.zeros_like(self.moments.means)
        return self.moments.about(mean), mean


def in_turn(tiles: Tiles) -> Over:
    """Passes over samples of this process, one tile after the other."""
    return lambda function, merge: function(tiles())


def summed(tiles: Iterable[Tile]) -> CentreSums:
    """The sums of equation (1), in one pass.

    Raises
    ------
    ValueError : where there are no tiles, and where a kernel or a target is not finite
    """
    total: Summing | None = None
    rounding = ROUNDING
    for tile in tiles:
        check_interrupted()
        if tile.kernel.dtype == np.float32:
            rounding = max(ROUNDING, float(np.finfo(np.float32).eps) ** 2)
        C = np.asarray(tile.kernel, dtype=float)
        if total is None:
            total = Summing(C.shape[1], tile.target.shape[1])
        total.add(C, tile.target, tile.weight)
    if total is None:
        raise ValueError("ridge regression by centres needs samples, and got no tile of them")
    moments = total.moments()
    if not (np.isfinite(moments.squares).all() and np.isfinite(moments.products).all()):
        raise ValueError("ridge regression by centres: kernels and targets must be finite numbers")
    return CentreSums(moments, rounding)


@dataclass(frozen=True, eq=False)
class CentresFactor:
    """The factor of C'SC + alpha K, by sums.

    Parameters
    ----------
    factor : array (M, M), whose lower triangle is the Cholesky factor
    """

    factor: Array

    @classmethod
    def of(cls, K: Array, sums: CentreSums, alpha: float) -> CentresFactor:
        """From the kernel matrix (M, M) of the centres and the sums."""
        return cls.of_squares(K, sums.moments.squares, sums.rounding, alpha)

    @classmethod
    def of_squares(cls, K: Array, squares: Array, rounding: float, alpha: float) -> CentresFactor:
        """From the kernel matrix (M, M) of the centres, C'SC, and u^2.

        Raises
        ------
        ValueError : where the matrix is not positive definite even with 1e-4 of its trace added to the diagonal: then K
            is not a kernel matrix
        """
        trace = float(np.trace(squares)) or 1.0  # where all kernels are zero, so are the coefficients

        def matrix() -> Array:
            A = np.asfortranarray(alpha * _by_columns(K))
            A += _by_columns(squares)
            return A

        return cls(_factored(matrix, rounding * trace, trace)[1])

    def coefficients(self, right: Array) -> Array:
        """The solution of (1) for this right side (M, t)."""
        return solved(self.factor, right)


def _by_columns(M: Array) -> Array:
    """A symmetric matrix stored by columns: the matrix itself, or its transpose, which is equal."""
    if M.flags.f_contiguous:
        return M
    return M.T


@dataclass(frozen=True, eq=False)
class CentresSolution:
    """f(x) = sum_m coef_m k(x, z_m) + intercept.

    Parameters
    ----------
    coef : array (M, t)
    intercept : array (t,)
    certificate : Certificate, the duality gap (2) relative to P(A); NaN where it was not computed
    n_iter : int, steps of conjugate gradients
    value : float, P(A); NaN where it was not computed
    """

    coef: Array
    intercept: Array
    certificate: Certificate = field(default_factory=lambda: Certificate("duality gap", float("nan")))
    n_iter: int = 0
    value: float = float("nan")


def by_sums(K: Array, sums: CentreSums, alpha: float, fit_intercept: bool = True) -> CentresSolution:
    """The solution by sums alone, without a certificate.

    Parameters
    ----------
    K : array (M, M), the kernel matrix of the centres
    sums : CentreSums of all samples
    alpha : float > 0
    fit_intercept : bool
    """
    about, mean = sums.about(fit_intercept)
    coef = CentresFactor.of(K, sums, alpha).coefficients(about.products)
    return CentresSolution(coef, mean)


def refined(
    K: Array,
    over: Over,
    alpha: float,
    sums: CentreSums,
    fraction: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 100,
    fit_intercept: bool = True,
    start: Array | None = None,
) -> CentresSolution:
    """The solution to a duality gap of ``tol``, relative to P, or the best one that the steps or the time allow.

    Parameters
    ----------
    K : array (M, M), the kernel matrix of the centres, in double precision
    over : passes over all samples
    alpha : float > 0
    sums : CentreSums of all samples, or of a part of them, for the preconditioner
    fraction : float in (0, 1], the weight of the samples of ``sums``, relative to that of all samples
    tol : float > 0
    max_iter : int, steps at most, a pass over the samples each
    fit_intercept : bool
    start : array (M, t), coefficients to begin with; by default those by the sums
    """
    preconditioner = CentresFactor.of(K, replace(sums, moments=sums.moments.times(1.0 / fraction)), alpha)
    K, of_centres = definite(K)
    about, mean = sums.about(fit_intercept)
    if fraction < 1.0 and fit_intercept:
        total, count = over(_target_sums, _both)
        mean = total / count
    A = preconditioner.coefficients(about.products / fraction) if start is None else start
    square = float(about.target_squares.sum()) / fraction

    def value_and_residual(A: Array) -> tuple[float, Array]:
        squares, residual = over(partial(_residuals, mean, A), _both)
        of_kernel = alpha * (K @ A)
        return squares + float((A * of_kernel).sum()), residual - of_kernel

    quadratic = _Quadratic(
        K, of_centres, alpha, square, value_and_residual, lambda V: over(partial(_squares_times, V), add)
    )
    return replace(_descended(quadratic, preconditioner, A, tol, max_iter), intercept=mean)


def certified(
    K: Array, sums: CentreSums, alpha: float, tol: float = 1e-6, fit_intercept: bool = True
) -> CentresSolution:
    """The solution by sums, to a duality gap of ``tol``, which includes a bound of the rounding error of the sums.

    Parameters
    ----------
    K : array (M, M), the kernel matrix of the centres, in double precision
    sums : CentreSums of all samples, of kernels in double precision
    alpha : float > 0
    tol : float > 0
    fit_intercept : bool
    """
    about, mean = sums.about(fit_intercept)
    preconditioner = CentresFactor.of(K, sums, alpha)
    K, of_centres = definite(K)
    square = float(about.target_squares.sum())

    def value_and_residual(A: Array) -> tuple[float, Array]:
        applied = about.squares @ A + alpha * (K @ A)
        value = square - 2.0 * float((A * about.products).sum()) + float((A * applied).sum())
        return value, about.products - applied

    quadratic = _Quadratic(K, of_centres, alpha, square, value_and_residual, lambda V: about.squares @ V)
    solution = _descended(quadratic, preconditioner, preconditioner.coefficients(about.products), 0.5 * tol, MOST_STEPS)
    rounding = _OF_SUMS * float(np.trace(about.squares)) * float((solution.coef**2).sum())
    gap = solution.certificate.value + relative(rounding, solution.value, quadratic.floor)
    return replace(solution, intercept=mean, certificate=Certificate("duality gap", gap))


@dataclass(frozen=True, eq=False)
class _Quadratic:
    """P as a function of A.

    Parameters
    ----------
    K, of_centres : arrays (M, M), the kernel matrix of the centres, and its factor
    alpha : float > 0
    square : float, tr (Y - c)'S (Y - c)
    value_and_residual : of A, P(A) and the residual of equation (1)
    squares : of V, C'SC V
    """

    K: Array
    of_centres: Array
    alpha: float
    square: float
    value_and_residual: Callable[[Array], tuple[float, Array]]
    squares: Callable[[Array], Array]

    @property
    def floor(self) -> float:
        """A value that counts as zero: 1e-12 of that without kernels."""
        return max(SINGULAR * self.square, TINY)

    def applied(self, V: Array) -> Array:
        """(C'SC + alpha K) V."""
        return self.squares(V) + self.alpha * (self.K @ V)


def _descended(P: _Quadratic, preconditioner: CentresFactor, A: Array, tol: float, max_iter: int) -> CentresSolution:
    """Minimise P from A on by preconditioned conjugate gradients."""
    zeros = np.zeros(A.shape[1])
    best = CentresSolution(A, zeros)
    steps = 0
    while True:
        value, residual = P.value_and_residual(A)
        gap = relative(_squared_length(P.of_centres, residual) / P.alpha, value, P.floor)
        lower = not gap >= best.certificate.value
        if lower:
            best = CentresSolution(A, zeros, Certificate("duality gap", gap), steps, value)
        if gap <= tol or not lower or steps >= max_iter or time_is_up():
            return replace(best, n_iter=steps)
        # the recursive residual of conjugate gradients drifts from the true one, so they are restarted once it is small
        enough = 0.25 * tol * P.alpha * max(value, P.floor)
        for step in islice(preconditioned_steps(P.applied, preconditioner.coefficients, residual), max_iter - steps):
            A = A + step.change
            steps += 1
            if _squared_length(P.of_centres, step.residual) <= enough or time_is_up():
                break


def _squared_length(factor: Array, V: Array) -> float:
    """tr V' K^{-1} V by the factor of K."""
    return float((V * solved(factor, V)).sum())


def definite(K: Array) -> tuple[Array, Array]:
    """The kernel matrix of centres, its diagonal increased until it is definite despite rounding, and its factor.

    Raises
    ------
    ValueError : where 1e-4 of its mean diagonal entry is not enough
    """
    size = float(np.trace(K)) / len(K) or 1.0
    ridge, factor = _factored(lambda: np.array(K, order="F"), ROUNDING * size, size)
    raised = np.array(K, order="F")
    raised.flat[:: len(K) + 1] += ridge
    return raised, factor


def _factored(matrix: Callable[[], Array], smallest: float, size: float) -> tuple[float, Array]:
    """The ridge added to the diagonal of a matrix, and the Cholesky factor; ``matrix`` returns it in Fortran order.

    The ridge is ``smallest`` times the first power of ten for which the matrix is definite.

    Raises
    ------
    ValueError : where 1e-4 of ``size`` is not enough
    """
    ridge = smallest
    while ridge <= 1e-4 * size < np.inf:
        A = matrix()
        A.flat[:: len(A) + 1] += ridge
        if factorise(A):
            return ridge, A
        ridge *= 10.0
    raise ValueError("ridge regression by centres: the kernel matrix of the centres is not positive semi-definite")


def _both(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """The sums of two parts of the samples."""
    return one[0] + other[0], one[1] + other[1]


def _target_sums(tiles: Iterable[Tile]) -> tuple[Any, float]:
    """s'Y, and the sum of the weights."""
    total: Array | float = 0.0
    count = 0.0
    for tile in tiles:
        s = np.ones(len(tile.target)) if tile.weight is None else tile.weight
        total = total + s @ tile.target
        count += float(s.sum())
    return total, count


def _residuals(mean: Array, A: Array, tiles: Iterable[Tile]) -> tuple[float, Array]:
    """tr R'S R and C'S R of the residuals R, in double precision: one pass."""
    total = 0.0
    image = np.zeros_like(A)
    for tile in tiles:
        check_interrupted()
        C = np.asarray(tile.kernel, dtype=float)
        R = tile.target - mean - C @ A
        weighted = R if tile.weight is None else tile.weight[:, None] * R
        total += float((R * weighted).sum())
        image += C.T @ weighted
    return total, image


def _squares_times(V: Array, tiles: Iterable[Tile]) -> Array:
    """C'SC V, in double precision: one pass."""
    image = np.zeros_like(V)
    for tile in tiles:
        check_interrupted()
        C = np.asarray(tile.kernel, dtype=float)
        values = C @ V
        image += C.T @ (values if tile.weight is None else tile.weight[:, None] * values)
    return image
