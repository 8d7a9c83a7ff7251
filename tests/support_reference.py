"""Slow, obviously right: the problems of support vector machines, each written as its formula says.

Values come from a conic solver; primal and dual values of given points are recomputed here, from the formulas of the
losses alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

import reference as ref

Array = Any


@dataclass(frozen=True)
class Problem:
    """One machine's problem for a kernel matrix and a target."""

    conic: Callable[[Array, Array], float]  # the optimum
    primal: Callable[[Array, Array, Array, float], float]  # at coefficients and an intercept
    dual: Callable[[Array, Array, Array], float]  # at the same coefficients
    feasible: Callable[[Array, Array], Array]  # how far coefficients are from satisfying each condition, >= 0


def _conic(K: Array, objective: Callable[[Any], Any], conditions: Callable[[Any], list[Any]], n: int) -> float:
    b = cp.Variable(n)
    F = ref.root(K)
    quadratic = cp.sum_squares(F @ b) if len(F) else 0.0
    return ref.conic(cp.Problem(cp.Maximize(objective(b) - 0.5 * quadratic), conditions(b)))


def _above(x: Array) -> Array:
    return np.maximum(x, 0.0)


def hinge(C: float, intercept: bool, weight: tuple[float, float] = (1.0, 1.0)) -> Problem:
    """max |b|_1 - 1/2 b'Kb over 0 <= y b <= C w, sum b = 0; min 1/2 |f|^2 + C sum w max(0, 1 - y f)."""

    def upper(y: Array) -> Array:
        return C * np.where(y < 0, *weight)

    return Problem(
        conic=lambda K, y: _conic(
            K,
            lambda b: cp.sum(cp.multiply(y, b)),
            lambda b: [cp.multiply(y, b) >= 0, cp.multiply(y, b) <= upper(y)] + ([cp.sum(b) == 0] if intercept else []),
            len(y),
        ),
        primal=lambda K, y, b, c: 0.5 * b @ K @ b + upper(y) @ _above(1.0 - y * (K @ b + c)),
        dual=lambda K, y, b: y @ b - 0.5 * b @ K @ b,
        feasible=lambda y, b: np.concatenate([_above(-y * b), _above(y * b - upper(y)), [intercept * abs(b.sum())]]),
    )


def squared_hinge(C: float, intercept: bool) -> Problem:
    """max 2 |b|_1 - b'(K + I/C) b over y b >= 0, sum b = 0; min |f|^2 + C sum max(0, 1 - y f)^2."""
    return Problem(
        conic=lambda K, y: (
            2.0
            * _conic(
                K,
                lambda b: cp.sum(cp.multiply(y, b)) - 0.5 / C * cp.sum_squares(b),
                lambda b: [cp.multiply(y, b) >= 0] + ([cp.sum(b) == 0] if intercept else []),
                len(y),
            )
        ),
        primal=lambda K, y, b, c: b @ K @ b + C * np.sum(_above(1.0 - y * (K @ b + c)) ** 2),
        dual=lambda K, y, b: 2.0 * y @ b - b @ K @ b - b @ b / C,
        feasible=lambda y, b: np.append(_above(-y * b), intercept * abs(b.sum())),
    )


def epsilon(C: float, width: float, intercept: bool) -> Problem:
    """max y'b - eps |b|_1 - 1/2 b'Kb over |b| <= C, sum b = 0; min 1/2 |f|^2 + C sum max(0, |y - f| - eps)."""
    return Problem(
        conic=lambda K, y: _conic(
            K,
            lambda b: y @ b - width * cp.norm1(b),
            lambda b: [cp.abs(b) <= C] + ([cp.sum(b) == 0] if intercept else []),
            len(y),
        ),
        primal=lambda K, y, b, c: 0.5 * b @ K @ b + C * np.sum(_above(np.abs(y - K @ b - c) - width)),
        dual=lambda K, y, b: y @ b - width * np.abs(b).sum() - 0.5 * b @ K @ b,
        feasible=lambda y, b: np.append(_above(np.abs(b) - C), intercept * abs(b.sum())),
    )


def one_class(nu: float) -> Problem:
    """max -1/2 b'Kb over 0 <= b <= 1 / (nu n), sum b = 1; min 1/2 |f|^2 + 1 / (nu n) sum max(0, -(f + c)) + c."""
    return Problem(
        conic=lambda K, y: _conic(
            K, lambda b: 0.0, lambda b: [b >= 0, b <= 1.0 / (nu * len(y)), cp.sum(b) == 1.0], len(y)
        ),
        primal=lambda K, y, b, c: 0.5 * b @ K @ b + np.sum(_above(-K @ b - c)) / (nu * len(y)) + c,
        dual=lambda K, y, b: -0.5 * b @ K @ b,
        feasible=lambda y, b: np.concatenate([_above(-b), _above(b - 1.0 / (nu * len(y))), [abs(b.sum() - 1.0)]]),
    )
