"""Problems of which zero weights are the optimum: degree 2 with the penalty strength |theta|^2.

At theta = 0 the coefficients are Y / alpha, and to second order

    J(K(theta)) + strength |theta|^2 = |Y|^2 / alpha + theta'(strength I - B)theta,
    B_jk = tr Y'(K_j o K_k)Y / alpha^2,

so that zero weights are a local minimum where the strength is at least the largest eigenvalue of B; by hidden convexity
they are then the global one. The entries of B are >= 0, so power iteration finds the eigenvalue, with a pass over the
kernels in each step.
"""

from __future__ import annotations

import numpy as np

from multikernel._floats import TINY
from multikernel._warnings import warn_user
from multikernel.certificate import Certificate
from multikernel.combinations import HadamardPower
from multikernel.domains import Orthant
from multikernel.machines import DualSolution
from multikernel.problem import Problem
from multikernel.procedures.base import Weights, within
from multikernel.procedures.hidden_convexity import HiddenConvexProblem, hidden_convex

_POWER_STEPS = 400  # of power iteration at most
_SETTLED = 1e-12  # relative: an eigenvalue that grows less in a step is known


def collapsed(problem: Problem, tol: float) -> tuple[Weights, DualSolution] | None:
    """Zero weights where they are optimal, with a warning; None where they are not, and for other problems."""
    domain = problem.domain
    if not (isinstance(domain, Orthant) and problem.combination == HadamardPower(2) and hidden_convex(problem)):
        return None
    known, zero = HiddenConvexProblem.of(problem), np.zeros(problem.size)
    at, x, largest = known.evaluate(zero), np.ones(problem.size), 0.0
    for _ in range(_POWER_STEPS):
        x = x / max(float(np.linalg.norm(x)), TINY)
        q = 0.5 * problem.combination.pullback(problem.bank, x, at.dual.factor)
        before, largest, x = largest, float(x @ q), q
        if largest > domain.strength:
            return None
        if largest <= before * (1.0 + _SETTLED):
            break
    gap = Certificate.gap(at.upper, known.bound(at, x))
    warn_of_collapse(f"as it is from {largest:.3g} on")
    weights = Weights(zero, at.upper, gap, gap.reached(tol), 1, (gap.value,), zero, known.bound(at, x))
    return weights, within(weights, at.dual)


def warn_of_collapse(where: str) -> None:
    """Say that every weight is 0, and what to do; ``where`` tells from which penalty on, or how far that is known."""
    warn_user(
        f"polynomial kernel learning: the penalty outweighs what the kernels explain ({where}), so every weight is 0 "
        "and the predictor is constant; lower the penalty, or alpha."
    )
