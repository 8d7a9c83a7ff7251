"""Coefficients of ridge regression, and what they prove.

The predictor K C has the primal value |K C|^2 + |Y - K C|^2 / alpha, |K C|^2 = tr C'K C, and any A has the dual value
2 <A, Y> - <A, K A> - alpha <A, A>, whatever rounding did to either. With D = A - C and R = Y - K C - alpha A

    primal - dual = |R|^2 / alpha + <D, K D>,

free of cancellation. At the solution A = C, or A = C + P / alpha where P makes a function that is zero. A multiple of A
may have the larger dual value: the best one has <A, Y>^2 / (alpha <A, A> + <A, K A>).

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

# The gap beyond which rounding of K decides what the problem is, and coefficients are no solution. Of 1392 systems with
# alphas of 1e-22 to 1e-8 of the mean self-value 743 had a gap above 0.1, and 549 one below 0.01; half or twice of this
# number is another answer for 35 and for 26 of them.
PROVED_GAP = 0.05


@dataclass(frozen=True, eq=False)
class Solved:
    """A predictor and a dual point.

    Parameters
    ----------
    coef, factor : arrays (n, t), C and A
    value, upper : float, the dual value of A and the primal value of C
    gap : float, upper - value relative to upper; infinite where these are no solution
    beyond : array (n, t), P, where C lacks P / alpha: alpha C + P is what the predictor leaves of the targets
    """

    coef: Array
    factor: Array
    value: float
    upper: float
    gap: float
    beyond: Array | None = None

    @classmethod
    def at(cls, gram: Gram, Y: Array, alpha: float, coef: Array) -> Solved:
        """Coefficients that are both C and A."""
        return cls.of(Y, gram.multiply(coef), alpha, coef)

    @classmethod
    def of(cls, Y: Array, KA: Array, alpha: float, coef: Array) -> Solved:
        """The same with their product known."""
        with np.errstate(all="ignore"):  # coefficients that are NaN or infinite have an infinite gap
            residual = Y - KA - alpha * coef
            excess = float((residual * residual).sum() / alpha)
            value = float((coef * (Y + residual)).sum())
        if not 0.0 <= value + excess < np.inf:  # no value is negative: the matrix has a negative eigenvalue
            return _nothing(Y, alpha)
        return cls(coef, coef, value, value + excess, relative(excess, value + excess))

    def less(self, nothing: float) -> Solved:
        """The same with values less that of no kernel."""
        value = self.value - nothing
        upper = self.upper - nothing
        return replace(self, value=value, upper=upper, gap=relative(self.upper - self.value, upper))

    def doubted(self, gram: Gram, Y: Array, alpha: float) -> Solved:
        """The same with values that are true whatever rounding hides of K."""
        with np.errstate(all="ignore"):
            hidden = gram.hidden(self.factor)
            return _scaled(self.coef, self.factor, Y, alpha, self.value - hidden, self.upper + hidden)


def direct(gram: Gram, Y: Array, alpha: float) -> Solved:
    """The solution by one factorisation; of an infinite gap where it fails."""
    try:
        found = Solved.at(gram, Y, alpha, gram.solve_shifted(alpha, Y))
    except LinAlgError:
        return _nothing(Y, alpha)
    if found.gap <= ROUNDING:
        return found
    return found.doubted(gram, Y, alpha)


def spectral(spectrum: RidgeSpectrum, gram: Gram, Y: Array, alpha: float) -> Solved:
    """The solution for one alpha by the spectrum of the Gram; C = A unless rounding of P / alpha is seen in K A."""
    coef = spectrum.coef(alpha)
    beyond = spectrum.outside / alpha
    plain = Solved.at(gram, Y, alpha, coef + beyond)
    if plain.gap <= ROUNDING:
        return plain
    return best(plain.doubted(gram, Y, alpha), _apart(gram, Y, alpha, coef, beyond))


def best(*found: Solved) -> Solved:
    """The solution that proves most; of those that prove nothing, that of the lowest value."""
    return min(found, key=lambda each: (each.gap, each.upper))


def reduced(gram: Gram, Y: Array, alpha: float, near: Array) -> Solved:
    """The solution ``near`` these coefficients, with values less |Y|^2 / alpha, for an alpha that is large beside K."""
    F = gram.multiply(near)
    with np.errstate(all="ignore"):
        A = (Y - F) / alpha
        KA = gram.multiply(A)
        value = -float(np.vdot(F, F) / alpha + np.vdot(A, KA))
        upper = value + float(np.vdot(F - KA, F - KA)) / alpha
    if np.isfinite(upper):
        return Solved(A, A, value, upper, relative(upper - value, upper))
    return _nothing(Y, alpha)


def _apart(gram: Gram, Y: Array, alpha: float, coef: Array, beyond: Array) -> Solved:
    """C, and A = C + D times the best number."""
    with np.errstate(all="ignore"):
        KC = gram.multiply(coef)
        factor = coef + beyond
        left = Y - KC
        residual = left - alpha * beyond - alpha * coef
        excess = float(np.vdot(residual, residual)) / alpha + max(float(np.vdot(beyond, gram.multiply(beyond))), 0.0)
        upper = float(np.vdot(coef, KC) + np.vdot(left, left) / alpha)
        found = _scaled(coef, factor, Y, alpha, upper - excess - gram.hidden(factor), upper)
        return replace(found, beyond=alpha * beyond)


def _scaled(coef: Array, factor: Array, Y: Array, alpha: float, value: float, upper: float) -> Solved:
    """With the best multiple of A, whose dual value is at least this ``value``."""
    linear = float(np.vdot(factor, Y))
    curved = 2.0 * linear - value  # alpha <A, A> + <A, K A>
    # coefficients with a larger value than the predictor zero, but for rounding, are no solution
    known = upper <= (1.0 + 1e-9) * float(np.vdot(Y, Y)) / alpha
    if not (known and linear >= 0.0 and 0.0 < curved < np.inf):
        return _nothing(Y, alpha)
    scale = linear / curved
    value = scale * linear
    return Solved(coef, scale * factor, value, upper, relative(upper - value, upper))


def _nothing(Y: Array, alpha: float) -> Solved:
    """What is known where rounding leaves no solution: the predictor zero, and that no value is negative."""
    zero = np.zeros_like(Y)
    upper = float(np.vdot(Y, Y)) / alpha
    return Solved(zero, zero, 0.0, upper, relative(upper, upper) if np.isfinite(upper) else np.inf, Y)
