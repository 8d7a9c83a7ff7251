"""A Gaussian of directions: its distance is a metric over all columns, learned on many samples through landmarks.

    k(x, z) = exp(-(x - z)'M (x - z)),    M symmetric and positive definite

Scales of single columns are the metrics with a diagonal M. For a target that depends on few sums of columns, a general
metric counts differences along these sums only (``procedures/learned_scales/metrics.py``). It is not among the
candidates of few samples, since it has a parameter for each pair of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel._work import Work
from multikernel._workers import time_is_up
from multikernel.auto.candidates import FAR, SEARCH_STEPS, KernelAndRidge, KernelCandidate, LabelledSamples
from multikernel.auto.samples import DistanceSimilarity, PreparedSamples, Similarity, TurnedSimilarity
from multikernel.auto.task import RidgeTask
from multikernel.kernels import RBF
from multikernel.machines.ridge.centres import Tile, by_sums, summed
from multikernel.procedures import forecast
from multikernel.procedures.learned_scales.landmarks import LandmarkError, LandmarkSamples, scales_by_landmarks
from multikernel.procedures.learned_scales.metrics import FullMetric
from multikernel.procedures.learned_scales.search import USUAL_PENALTY
from multikernel.procedures.learned_scales.starts import WIDER

# The least decrease of the logarithm of the error for which the metric is turned again. With turns first, the held-out
# error on a target of three directions in fifteen columns was .0576 after 2.7 processor seconds; without them it was
# .0597 after 4.1.
_GAIN = 0.05
# Held-out samples for each parameter at least, so that 8000 samples have a metric of up to 39 columns
_SAMPLES_EACH = 4


@dataclass(frozen=True)
class FullMetricGaussian(KernelCandidate):
    """A Gaussian with a metric over all columns, which begins at one width."""

    name: str = "Gaussian, a metric"

    def learn(self, samples: PreparedSamples, task: RidgeTask) -> KernelAndRidge | None:
        """None: few samples are too few for a metric."""
        return None

    def learn_further(
        self,
        fitted: KernelAndRidge,
        other_kernels: Sequence[Similarity],
        least_error: float,
        train: LabelledSamples,
        held_out: LabelledSamples,
        landmarks: LabelledSamples,
    ) -> KernelAndRidge | None:
        """A metric that begins with one width; None for categories, too many columns, or too large an error."""
        if not isinstance(fitted.similarity, DistanceSimilarity):  # a metric already
            return None
        X, V, Z = (labelled.samples.plain.astype(np.float32) for labelled in (train, held_out, landmarks))
        means = ((Z - np.roll(Z, 1, axis=0)) ** 2).mean(axis=0, dtype=float)
        metric = FullMetric(means)
        if (
            len(metric.varied) < 2
            or _SAMPLES_EACH * metric.size > len(V)
            or len(np.unique(train.samples.owner)) < len(means)
        ):
            return None
        error = LandmarkError(
            RBF(1.0), metric, LandmarkSamples(X, train.Y), LandmarkSamples(V, held_out.Y), Z, penalty=USUAL_PENALTY
        )
        try:
            start = _turned_start(error, metric.equal(float(fitted.similarity.scales @ means)), fitted.alpha)
            if error.value(start, fitted.alpha) > np.log(FAR * least_error):
                return None
            best = scales_by_landmarks(error, start, fitted.alpha, max_iter=SEARCH_STEPS)
        except ValueError:  # no kernel matrix in single precision
            return None
        values, vectors = np.linalg.eigh(metric.scales(best.parameters).reshape(len(means), -1))
        turn = np.sqrt(np.maximum(values, 0.0)) * vectors
        part_of_direction = values * ((X[: len(Z)] @ vectors).var(axis=0))
        directions = (
            int(np.searchsorted(np.cumsum(np.sort(part_of_direction)[::-1]), 0.9 * part_of_direction.sum())) + 1
        )
        learned = f"{directions} of {len(means)} directions have nine tenths of the distance"
        return KernelAndRidge(TurnedSimilarity(RBF(1.0), turn), best.alpha, learned, time_is_up(), best.loss)

    def work(self, n: int, p: int) -> Work:
        return forecast.scale_steps(n, p, p).work


def _turned_start(error: LandmarkError, v: Array, alpha: float) -> Array:
    """The first parameters: roots of average outer products of gradients, computed again as long as the error falls."""
    best = v
    lowest = error.value(v, alpha)
    while not time_is_up():
        outer = _outer_product(error, best, alpha)
        total = error.form.total(error.form.scales(best))
        proposals = [error.form.proposed(outer, wider * total) for wider in WIDER]
        values = [error.value(proposal, alpha) for proposal in proposals]
        if not min(values) < lowest - _GAIN:
            break
        best, lowest = proposals[int(np.argmin(values))], min(values)
    return best


def _outer_product(error: LandmarkError, v: Array, alpha: float) -> Array:
    """The mean of g g' over the training samples, with g the gradient of ridge regression with this metric.

    With a the coefficients of the landmarks z_l, g = 2 M sum_l a_l f'(D_l) (x - z_l).
    """
    X, Z = error.train.X, error.landmarks
    points = error.form.points(v, Z, 2)
    K = error.kernel.profile(points.distances(Z)).astype(float)
    C, slopes = error.kernel.profile_and_slope(points.distances(X))
    sums = summed([Tile(C, error.train.Y)])
    solution = by_sums(0.5 * (K + K.T), sums, alpha)
    metric = error.form.scales(v).reshape(X.shape[1], -1)
    outer = np.zeros_like(metric)
    for a in solution.coef.T.astype(np.float32):
        weights = slopes * a
        g = 2.0 * (X * weights.sum(axis=1)[:, None] - weights @ Z).astype(float) @ metric
        outer += g.T @ g / len(g)
    return outer
