"""The printed algorithm for degrees 1 and 2: gradient steps, scaled back to the sphere around weights 1.

    theta' = 1 + Lambda (theta - step g - 1) / |theta - step g - 1|,      step times 0.8 whenever F has risen

The algorithm starts from weights 1. It ends where a step is shorter than a bound, which the paper does not state, or
after fifty steps, the largest number that the paper mentions. In the authors' program the bound is 1e-4 in the first
version, and 1e-3 later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from multikernel.reproduce.data import folds
from multikernel.typing import Array

ETA = 1.0
SHRINK = 0.8
MOST = 50  # steps
CHANGE = 1e-3  # the length of a step at which the algorithm ends


@dataclass(frozen=True, eq=False)
class End:
    """The result of the algorithm.

    Parameters
    ----------
    weights : array (p,)
    steps : int
    risen : int, the number of steps in which F rose
    """

    weights: Array
    steps: int
    risen: int


def descent(X: Array, y: Array, degree: int, alpha: float, radius: float, change: float = CHANGE) -> End:
    """The weights of the features; y is without its mean, and a step shorter than ``change`` is the last."""
    theta = np.ones(X.shape[1])
    step = ETA
    last_value = np.inf
    risen = 0
    steps = 0
    step_length = np.inf
    while step_length >= change and steps < MOST:
        coef, S = _dual(X, y, theta, degree, alpha)
        value = float(y @ coef)
        if value > last_value:
            step = step * SHRINK
            risen = risen + 1
        last_value = value
        Z = X * coef[:, None]
        slope = -degree * ((Z.T @ (S if degree == 2 else np.ones_like(S))) * Z.T).sum(axis=1)
        outward = theta - step * slope - 1.0
        length = float(np.linalg.norm(outward))
        next_theta = 1.0 + radius * outward / length if length > 0 else theta
        step_length = float(np.linalg.norm(next_theta - theta))
        theta = next_theta
        steps = steps + 1
    return End(theta, steps, risen)


def _dual(X: Array, y: Array, theta: Array, degree: int, alpha: float) -> tuple[Array, Array]:
    S = (X * theta) @ X.T
    K = S**degree
    K.flat[:: len(y) + 1] += alpha
    return linalg.solve(K, y, assume_a="pos"), S


def choice(
    X: Array,
    y: Array,
    degree: int,
    alphas: Sequence[float],
    radii: Sequence[float],
    count: int,
    seed: int,
    change: float = CHANGE,
) -> dict[str, Any]:
    """The least error over folds, the shares of runs that reached the limit of steps, and in which F rose.

    Also the mean number of steps of a run, and the fewest and the most.
    """
    squares = np.zeros((len(alphas), len(radii)))
    ends = []
    for train, test in folds(y, count, seed, stratified=False):
        mean = float(y[train].mean())
        for i, alpha in enumerate(alphas):
            for j, radius in enumerate(radii):
                end = descent(X[train], y[train] - mean, degree, alpha, radius, change)
                coef, _ = _dual(X[train], y[train] - mean, end.weights, degree, alpha)
                values = ((X[test] * end.weights) @ X[train].T) ** degree @ coef + mean
                squares[i, j] += float(((values - y[test]) ** 2).sum())
                ends.append(end)
    errors = np.sqrt(squares / len(y))
    return {
        "error": float(errors.min()),
        "not ended": float(np.mean([end.steps == MOST for end in ends])),
        "risen": float(np.mean([end.risen > 0 for end in ends])),
        "steps": float(np.mean([end.steps for end in ends])),
        "fewest and most steps": [min(end.steps for end in ends), max(end.steps for end in ends)],
    }
