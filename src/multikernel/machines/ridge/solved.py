"""Coefficients of ridge regression, and the bounds that follow from them.

The predictor K C has the primal value |K C|^2 + |Y - K C|^2 / alpha, |K C|^2 = tr C'K C, and any A has the dual value
2 <A, Y> - <A, K A> - alpha <A, A>, for any C and A, also with rounding errors. With D = A - C and R = Y - K C - alpha A

    primal - dual = |R|^2 / alpha + <D, K D>,

without cancellation. At the solution A = C, or A = C + P / alpha where the function of P is zero. A multiple of A may
have a larger dual value: the best one has <A, Y>^2 / (alpha <A, A> + <A, K A>).

For large alpha both values are nearly |Y|^2 / alpha. With A = C = (Y - F) / alpha for any F they are, less that number,

    dual = -|F|^2 / alpha - <A, K A>,        primal = dual + |F - K A|^2 / alpha.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from multikernel._floats import ROUNDING
from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.certificate import relative
from multikernel.machines.ridge.spectrum import RidgeSpectrum

# With a larger gap the problem is determined by rounding of K, and coefficients do not count as a solution. Of 1392
# systems with alphas of 1e-22 to 1e-8 of the mean self-value 743 had a gap above 0.1, and 549 one below 0.01; half or
# twice this limit changes the decision for 35 and for 26 of them.
PROVED_GAP = 0.05


@dataclass(frozen=True, eq=False)
class Solved:
    """A predictor and a dual point.

    Parameters
    ----------
    coef, factor : arrays (n, t), C and A
    value, upper : float, the dual value of A and the primal value of C
    gap : float, upper - value relative to upper; infinite where C and A are not a solution
    beyond : array (n, t), P, where C lacks P / alpha: the residuals of the targets are then alpha C + P
    """

    coef: Array
    factor: Array
    value: float
    upper: float
    gap: float
    beyond: Array | None = None

    @classmethod
    def at(cls, gram: Gram, Y: Array, alpha: float, coef: Array) -> Solved:
        """The pair whose C and A are both these coefficients."""
        return cls.of(Y, gram.multiply(coef), alpha, coef)

    @classmethod
    def of(cls, Y: Array, KA: Array, alpha: float, coef: Array) -> Solved:
        """The same for a known product of the matrix with the coefficients."""
        with np.errstate(all="ignore"):  # coefficients that are NaN or infinite have an infinite gap
            residual = Y - KA - alpha * coef
            excess = float((residual * residual).sum() / alpha)
            value = float((coef * (Y + residual)).sum())
        if not 0.0 <= value + excess < np.inf:  # no value is negative: the matrix has a negative eigenvalue
            return _zero_predictor(Y, alpha)
        return cls(coef, coef, value, value + excess, relative(excess, value + excess))

    def less(self, nothing: float) -> Solved:
        """The pair with values less ``nothing``, the value without a kernel."""
        value = self.value - nothing
        upper = self.upper - nothing
        return replace(self, value=value, upper=upper, gap=relative(self.upper - self.value, upper))

    def with_hidden_rounding(self, gram: Gram, Y: Array, alpha: float) -> Solved:
        """The pair with values that are bounds for every K within its rounding errors."""
        with np.errstate(all="ignore"):
            hidden = gram.hidden(self.factor)
            return _scaled(self.coef, self.factor, Y, alpha, self.value - hidden, self.upper + hidden)


def direct(gram: Gram, Y: Array, alpha: float) -> Solved:
    """The solution by one factorisation; the zero predictor where it fails."""
    try:
        solved = Solved.at(gram, Y, alpha, gram.solve_shifted(alpha, Y))
    except LinAlgError:
        return _zero_predictor(Y, alpha)
    if solved.gap <= ROUNDING:
        return solved
    return solved.with_hidden_rounding(gram, Y, alpha)


def spectral(spectrum: RidgeSpectrum, gram: Gram, Y: Array, alpha: float) -> Solved:
    """The solution for one alpha by the spectrum of the Gram; C = A unless P / alpha has visible rounding in K A."""
    coef = spectrum.coef(alpha)
    beyond = spectrum.outside / alpha
    plain = Solved.at(gram, Y, alpha, coef + beyond)
    if plain.gap <= ROUNDING:
        return plain
    return best(plain.with_hidden_rounding(gram, Y, alpha), _with_separate_factor(gram, Y, alpha, coef, beyond))


def best(*solutions: Solved) -> Solved:
    """The solution with the smallest gap; if gaps are infinite, the one with the lowest value."""
    return min(solutions, key=lambda solution: (solution.gap, solution.upper))


def reduced(gram: Gram, Y: Array, alpha: float, coef: Array) -> Solved:
    """The solution near ``coef``, with values less |Y|^2 / alpha, for an alpha that is large relative to K."""
    F = gram.multiply(coef)
    with np.errstate(all="ignore"):
        A = (Y - F) / alpha
        KA = gram.multiply(A)
        value = -float(np.vdot(F, F) / alpha + np.vdot(A, KA))
        upper = value + float(np.vdot(F - KA, F - KA)) / alpha
    if np.isfinite(upper):
        return Solved(A, A, value, upper, relative(upper - value, upper))
    return _zero_predictor(Y, alpha)


def _with_separate_factor(gram: Gram, Y: Array, alpha: float, coef: Array, beyond: Array) -> Solved:
    """The pair of C and the best multiple of A = C + ``beyond``."""
    with np.errstate(all="ignore"):
        KC = gram.multiply(coef)
        factor = coef + beyond
        residual_of_predictor = Y - KC
        residual = residual_of_predictor - alpha * beyond - alpha * coef
        excess = float(np.vdot(residual, residual)) / alpha + max(float(np.vdot(beyond, gram.multiply(beyond))), 0.0)
        upper = float(np.vdot(coef, KC) + np.vdot(residual_of_predictor, residual_of_predictor) / alpha)
        solved = _scaled(coef, factor, Y, alpha, upper - excess - gram.hidden(factor), upper)
        return replace(solved, beyond=alpha * beyond)


def _scaled(coef: Array, factor: Array, Y: Array, alpha: float, value: float, upper: float) -> Solved:
    """The pair with the best multiple of A, where the dual value of A is at least ``value``."""
    linear = float(np.vdot(factor, Y))
    curved = 2.0 * linear - value  # alpha <A, A> + <A, K A>
    # coefficients with a larger value than the zero predictor, up to rounding, are not a solution
    plausible = upper <= (1.0 + 1e-9) * float(np.vdot(Y, Y)) / alpha
    if not (plausible and linear >= 0.0 and 0.0 < curved < np.inf):
        return _zero_predictor(Y, alpha)
    scale = linear / curved
    value = scale * linear
    return Solved(coef, scale * factor, value, upper, relative(upper - value, upper))


def _zero_predictor(Y: Array, alpha: float) -> Solved:
    """The result where rounding prevents a solution: the zero predictor, and the bound 0."""
    zero = np.zeros_like(Y)
    upper = float(np.vdot(Y, Y)) / alpha
    return Solved(zero, zero, 0.0, upper, relative(upper, upper) if np.isfinite(upper) else np.inf, Y)
