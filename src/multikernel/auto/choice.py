"""The weight of each candidate in the answer, from its predictions of samples that it was not trained on.

Numbers:   min over the simplex of |Y - sum_m w_m F_m|^2 / n + 10 M / n * |w - 1/M|^2 * min_m |Y - F_m|^2 / n
Classes:   min over w >= 0, b of the mean logistic loss of the scores sum_m w_m F_m / s_m + b
               + M / (5 n) * |w - mean w|^2 + (|w|^2 + |b|^2) / n

The pull towards equal weights keeps the choice from following the chance of few samples; candidates that differ little
then share the weight, which predicts better than the best of them alone. M weights that are fitted to n samples predict
others worse by about M / n of the error, and the pull is in proportion of this. For classes the same problem calibrates
the probabilities: the scores are their logarithms, and the last term is a normal prior that keeps them finite where
candidates make no error. Where each candidate with a weight costs training on many samples, the pull of classes is
30 / n, so that few have one.

Candidates of one table have scores of similar size, and s_m = 1. Candidates of different sources do not: ridge
regression on the words of long texts predicts values near zero, almost all of the right sign, and on short texts that
occur twice values near 1 and 0. For several sources s_m is therefore the spread of the scores, so that equal weights
are equal parts of the answer (docs/results/sources.md has the figures).

Both problems are convex. The point x that a solver returns gives a lower bound for the value at any other point z:

Numbers:   F(z) >= F(x) - grad F(x)'x + min_m grad F(x)_m
Classes:   F(z) >= F(x) + sum_i min_{z_i} [ grad F(x)_i (z_i - x_i) + (z_i - x_i)^2 / n ], z_i >= 0 for weights
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from multikernel._floats import ROUNDING
from multikernel._typing import Array
from multikernel.duality import fall_in_box, fall_in_simplex
from multikernel.procedures import simplex_least_squares

# In M / n of the least error, and of the loss. On sets of 142 to 800 samples 10 was best of 0 to 80 and .1 of 0 to 3.2,
# hardly better than .2, which is better with the ten to twenty candidates of several sources (docs/results/tables.md).
_PULL = 10.0
_PULL_OF_CLASSES = 0.2
# In 1 / n, where a machine by the sum of the kernels with a weight follows: with .2 M three were summed on adult, where
# two are enough, in four times the seconds. Log losses of three sets of 20,000 rows are the same to .0001.
PULL_OF_FEW = 30.0


@dataclass(frozen=True, eq=False)
class Blend:
    """Weights of the candidates (M,), and for classes the biases of their scores (k,).

    Parameters
    ----------
    weights : array (M,) >= 0
    bias : array (k,), or (t,) zeros for numbers
    objective : float, the value of the problem
    gap : float, no other weights and biases have a value smaller by more than this part of it; NaN where unknown
    """

    weights: Array
    bias: Array
    objective: float = float("nan")
    gap: float = float("nan")

    @property
    def used(self) -> Array:
        """Candidates with a weight."""
        return np.flatnonzero(self.weights > 0)

    @property
    def shares(self) -> Array:
        """The positive weights, divided by their sum."""
        positive = self.weights[self.used]
        return positive / positive.sum()


def blend_numbers(predicted: Array, Y: Array, weight: Array | None) -> Blend:
    """The blend of candidates' predictions (M, n, t)."""
    M = len(predicted)
    root = np.ones(len(Y)) if weight is None else np.sqrt(weight)
    design = np.reshape(predicted * root[:, None], (M, -1)).T / np.sqrt(len(Y))
    target = np.ravel(Y * root[:, None]) / np.sqrt(len(Y))
    best = float(((design - target[:, None]) ** 2).sum(axis=0).min())
    pull = np.sqrt(_PULL * M / len(Y) * max(best, np.finfo(float).tiny))
    columns = np.vstack([design, pull * np.eye(M)])
    aim = np.append(target, np.full(M, pull / M))

    w = simplex_least_squares(columns, aim)
    residuals = columns @ w - aim
    value = float(residuals @ residuals)
    slope = 2.0 * (columns.T @ residuals)
    return Blend(w, np.zeros(Y.shape[1]), value, _relative_gain(fall_in_simplex(slope, w), value))


def blend_classes(
    predicted: Array, labels: Array, weight: Array | None, several: bool = False, pull: float | None = None
) -> Blend:
    """The blend of candidates' scores (M, n, k), one for each class; of those of several sources by their spread.

    ``pull`` is that towards equal weights, in 1 / n; M / 5 if not given.
    """
    M, n, k = predicted.shape
    sizes = _spreads(predicted) if several else np.ones(M)
    predicted = predicted / sizes[:, None, None]
    if weight is None:
        weight = np.ones(n)
    count = float(weight.sum())
    share = weight / count
    truth = np.eye(k)[labels]
    if pull is None:
        pull = _PULL_OF_CLASSES * M

    def problem(x: Array) -> tuple[float, Array]:
        w = x[:M]
        bias = x[M:]
        deviations = w - w.mean()
        scores = np.tensordot(w, predicted, 1) + bias
        value = -float(share @ log_softmax(scores, axis=1)[np.arange(n), labels])
        value += (pull * float(deviations @ deviations) + float(x @ x)) / count
        slope = share[:, None] * (softmax(scores, axis=1) - truth)
        by_weights = np.tensordot(predicted, slope, 2) + 2.0 * pull / count * deviations
        return value, np.append(by_weights, slope.sum(axis=0)) + 2.0 / count * x

    start = np.append(np.full(M, 2.0 / M), np.zeros(k))
    bounds = [(0.0, None)] * M + [(None, None)] * k
    # slopes have to be this small: the bound below divides their squares by the small curvature of the prior
    minimum = minimize(
        problem, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": ROUNDING, "gtol": 1e-9}
    )
    value, slope = problem(minimum.x)
    lowest = np.append(np.zeros(M), np.full(k, -np.inf))
    gain = fall_in_box(slope, minimum.x, lowest, np.inf, 2.0 / count)  # the curvature of the prior
    return Blend(minimum.x[:M] / sizes, minimum.x[M:], value, _relative_gain(gain, value))


def _spreads(predicted: Array) -> Array:
    """The standard deviation of each candidate's scores (M, n, k); 1 where they are all the same."""
    spreads = predicted.std(axis=(1, 2))
    return np.where(spreads > 0.0, spreads, 1.0)


def _relative_gain(gain: float, value: float) -> float:
    """The possible gain as a part of the value; zero where rounding makes it negative."""
    if value > 0.0:
        return max(gain, 0.0) / value
    return 0.0
