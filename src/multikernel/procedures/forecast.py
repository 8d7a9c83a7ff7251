"""How long the two ways to learn weights with a support vector machine will take, from what is known beforehand.

A pass over m stored matrices reads m n^2 / 2 entries, in a factored bank it makes the matrix of n^2 entries of q
features, and m products of length n. On top of two passes

    a step of the interior point method  factors a matrix of order n to which m kernels have been added; some 17 steps
    a turn of machines                   solves one machine from the last one, and the problem of their mixtures

How many turns there will be follows from the domain: few where weights of the best kernels grow smoothly with their
scores, and the more kernels, the more where a small change of the scores moves weights from one kernel to another. The
constants are nanoseconds, measured with one thread; only their ratios matter for the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel.domains import Separable
from multikernel.problem import Problem

_ENTRY = 0.6  # of a stored matrix in a pass
_OPERATION = 1.0 / 30.0  # of the linear algebra library, a multiplication and an addition counting as two
_PAIR = 6.0  # of samples in a machine
_VALUE = 2.0  # of a product of a kernel in numpy's arithmetic
_MIXTURES, _STEP = 8e6, 1e6  # of the smallest problem of the mixtures, and of the smallest step
_STEPS = 17
_FIRST, _ROOT = 4.0, 2.0  # turns: the first ones, and those for each root of the number of kernels
_SMOOTH = 10.0  # how much fewer turns there are where weights follow the scores smoothly
_USUAL, _DIGIT = 1e-3, 0.12  # for each digit beyond the usual gap a further part of the turns


@dataclass(frozen=True)
class Forecast:
    """How many steps, and how many seconds each of them takes."""

    steps: float
    each: float

    @property
    def seconds(self) -> float:
        """Of all steps."""
        return self.steps * self.each


def interior_steps(problem: Problem) -> Forecast:
    """The interior point method."""
    m, n = len(problem.bank), problem.bank.shape[0]
    added = 2.0 * m * n**2 if m > 1 else 0.0
    each = 2.0 * _pass(problem) + _OPERATION * (n**3 / 3.0 + added) + _VALUE * m * n + _STEP
    return Forecast(_STEPS, 1e-9 * each)


def turns(problem: Problem, domain: Separable, tol: float) -> Forecast:
    """Machines and the problem of their mixtures by turns."""
    m, n = len(problem.bank), problem.bank.shape[0]
    count = _FIRST + _ROOT * np.sqrt(m) / (1.0 + _SMOOTH * _smoothness(domain, m))
    count *= 1.0 + _DIGIT * max(0.0, np.log10(_USUAL / tol))
    each = 2.0 * _pass(problem) + _PAIR * n**2 + _STEPS * _VALUE * m * count**2 + _VALUE * m * n + _MIXTURES
    return Forecast(float(count), 1e-9 * each)


def _smoothness(domain: Separable, m: int) -> float:
    """The curvature of the domain's constraint at its centre, relative to its slope: p - 1 for a norm p."""
    delta = domain.start(m) - domain.offset(m)
    _, slope, curvature = domain.constraint(delta)
    return float(delta[0] * curvature[0] / slope[0])


def _pass(problem: Problem) -> float:
    """Nanoseconds of a pass."""
    bank = problem.bank
    m, n = len(bank), bank.shape[0]
    return _ENTRY * m * n**2 / 2.0 if bank.n_features is None else _OPERATION * bank.n_features * n**2
