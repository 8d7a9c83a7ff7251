"""Classes of many samples: one machine of logistic losses by the sum of the kernels that a blend needs.

Squared losses of labels -1 and 1 ask of samples that are surely right to be no more than that. With the kernels k_m of
the candidates, their ridges alpha_m of least squared error and their shares w_m in the blend, the answer is

    min over a, c of  sum_i s_i log(1 + exp(-y_i f_i)) + alpha / 2 a'Ka,   f = C a + c,   k = sum_m (w_m / alpha_m) k_m,

on few centres (``machines/logistic/centres.py``), a column of labels for each class. In these units every kernel alone
has a ridge of 1. alpha is the one of least loss on the samples held out, where biases and one factor of the scores make
probabilities of them, as in the blend. It is found with the few centres that candidates are compared by, and there the
machine is compared with the blend of squared losses: the one of less loss is trained.

Machines in leaves (``in_leaves.py``) have no centres, and are no part of the sum. Their scores of squared losses stand
beside those of the sum wherever these are calibrated, with a factor of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from multikernel._arrays import part_of
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.auto.choice import Blend
from multikernel.auto.samples import PreparedSamples, Similarity, WeightedSimilarity
from multikernel.auto.search import Member, Posed, Tried
from multikernel.banks.threads import slices
from multikernel.certificate import ROUGH
from multikernel.machines.logistic.centres import LogisticSamples, logistic_by_centres
from multikernel.machines.ridge.centres import CentresSolution, CentreSums, Tile, by_sums, summed
from multikernel.procedures.centres import GAP, TILE, Parted, lowest_step, symmetric
from multikernel.tuning import PRODUCT_ROWS

# Columns of labels up to which it is tried. With 1 and 6 a fit took up to a fifth longer (8000 rows); with 26 (letter)
# the machine took longer than all the rest of the fit.
MOST_COLUMNS = 6
_FIRST = 0.25  # of the ridge of squared losses, as second derivatives are at most: with it, and by quarters, others


@dataclass(frozen=True, eq=False)
class LogisticRows:
    """Samples of the problem at the head of this file, with their kernel.

    Parameters
    ----------
    kernel : from samples to their kernel with the centres, in single precision
    K : array (M, M), the kernel of the centres
    C : array (n, M) in single precision, that of the samples with the centres
    labels : array (n, t) of -1 and 1
    weight : array (n,), or None
    sums : CentreSums of the first samples
    """

    kernel: Callable[[PreparedSamples], Array]
    K: Array
    C: Array
    labels: Array
    weight: Array | None
    sums: CentreSums

    @classmethod
    def of(
        cls,
        posed: Posed,
        similarity: Similarity,
        rows: Array,
        Z: PreparedSamples,
        first: int | None = None,
        report: Callable[[int], object] = lambda _: None,
    ) -> LogisticRows:
        """Of samples and centres; the sums are of so many first rows, all where None is given."""
        kernel = similarity.to(Z, np.float32)
        task = posed.task.of_rows(rows)
        C = np.empty((len(rows), len(Z)), np.float32)
        for part in slices(len(rows), TILE):
            check_interrupted()
            C[part] = kernel(posed.samples.of(rows[part]))
            report(part.stop)

        def tile(part: slice) -> Tile:
            return Tile(C[part], task.Y[part], part_of(task.weight, part))

        sums = summed(tile(part) for part in slices(len(rows) if first is None else first, TILE))
        of_centres = similarity.to(Z)  # in double precision, without which a sum of kernels may not be definite
        K = symmetric(lambda part: of_centres(Z.of(np.arange(len(Z))[part])), len(Z))
        return cls(kernel, K, C, task.Y, task.weight, sums)

    def solved(
        self, alpha: float, rows: slice, start: CentresSolution | None, tol: float = GAP
    ) -> CentresSolution | None:
        """The machine of some rows, or where the time is up what there is of it; None where rounding leaves none.

        It begins at ``start``, or at ridge regression; its steps are made of the sums of the first rows.
        """
        C = self.C[rows]
        weight = part_of(self.weight, rows)
        some = np.empty((PRODUCT_ROWS, C.shape[1]))

        def kernels() -> Iterator[Array]:
            for part in slices(len(C), PRODUCT_ROWS):
                own = some[: part.stop - part.start]
                own[:] = C[part]
                yield own

        samples = LogisticSamples(kernels, self.labels[rows], weight)
        try:
            if start is None:
                # with second derivatives of 1/4, as they are at 0, logarithms of odds are twice its values
                squared = by_sums(self.K, self.sums, 4.0 * alpha)
                start = CentresSolution(2.0 * squared.coef, 2.0 * squared.intercept)
            found = logistic_by_centres(self.K, samples, self.sums, alpha, tol, start=start)
        except ValueError:
            return None
        if found.certificate.reached(tol) or time_is_up():
            return found
        return None

    def scores(self, posed: Posed, solution: CentresSolution, rows: Array) -> Array:
        """What a machine says of other samples, shape (r, k)."""
        kernel = [self.kernel(posed.samples.of(rows[part])) for part in slices(len(rows), TILE)]
        values = np.concatenate([product(K, solution.coef) for K in kernel])
        return posed.goal.scores(values + solution.intercept)


@dataclass(frozen=True, eq=False)
class LogisticSum:
    """A sum of kernels and its ridge.

    Parameters
    ----------
    blend : Blend of the candidates by squared losses, whose shares are w_m
    parts : tuple of Similarity, the kernels of those with a weight
    ridges : array (m,), alpha_m
    alpha : float
    value : float, the loss of samples held out, with few centres and the machines beside; infinite without a machine
    alone : float, that of the sum alone, for which the ridge is the best
    """

    blend: Blend
    parts: tuple[Similarity, ...]
    ridges: Array
    alpha: float
    value: float = np.inf
    alone: float = np.inf

    @property
    def similarity(self) -> WeightedSimilarity:
        """The sum."""
        return WeightedSimilarity(self.parts, self.blend.shares / self.ridges)

    @classmethod
    def of(
        cls,
        posed: Posed,
        found: Sequence[Tried],
        blend: Blend,
        parted: Parted,
        rows: Array,
        Z: Array,
        beside: Array,
    ) -> LogisticSum:
        """With the ridge of least loss, found on these rows and centres.

        Parameters
        ----------
        posed : Posed, of classes
        found : Tried, with the ridges of squared losses
        blend : Blend of these, one of which has a weight at least
        parted : Parted
        rows, Z : int arrays, samples to train on, and those that are centres
        beside : array (b, r, k), what machines beside the sum say of the samples held out
        """
        used = [found[m] for m in blend.used.tolist()]
        ridges = np.array([each.alpha for each in used])
        first = cls(blend, tuple(each.similarity for each in used), ridges, _FIRST)
        machine = LogisticRows.of(posed, first.similarity, rows, posed.samples.of(Z))
        solution: CentresSolution | None = None
        tried: dict[int, float] = {}
        scores: dict[int, Array] = {}

        def loss(step: int) -> float:
            """That of 2^step times the ridge; infinite without a solution."""
            nonlocal solution
            if step not in tried:
                found = machine.solved(2.0**step * _FIRST, slice(None), solution, ROUGH)
                tried[step] = np.inf
                if found is not None and found.certificate.reached(ROUGH):
                    solution = found
                    scores[step] = machine.scores(posed, found, parted.compared)
                    tried[step] = calibrated(posed, parted, scores[step], beside[:0]).objective
            return tried[step]

        step = lowest_step(loss, (-2,))
        value = alone = loss(step)
        if len(beside) and step in scores:
            value = calibrated(posed, parted, scores[step], beside).objective
        return replace(first, alpha=2.0**step * _FIRST, value=value, alone=alone)


@dataclass(frozen=True, eq=False)
class LogisticAnswer:
    """What was trained.

    Parameters
    ----------
    members : tuple of Member, whose parts add up to the machine's scores by the shares w_m
    scores : array (r, k), of the samples held out, by the sum that was trained without them
    cut : bool, whether the time ended while it was trained
    """

    members: tuple[Member, ...]
    scores: Array
    cut: bool


def trained_sum(
    posed: Posed, chosen: LogisticSum, parted: Parted, rows: Array, Z: PreparedSamples, report: Callable[[int], object]
) -> LogisticAnswer | None:
    """The machine on these rows and centres; None where rounding leaves none.

    Parameters
    ----------
    posed, chosen, parted : what there is to do, and what was chosen
    rows : int array, the samples to train on
    Z : PreparedSamples, the centres
    report : is told how many rows have their kernel
    """
    learning = np.intersect1d(parted.learning, rows)
    order = np.append(learning, np.setdiff1d(rows, learning))
    machine = LogisticRows.of(posed, chosen.similarity, order, Z, len(learning), report)
    without = machine.solved(chosen.alpha, slice(len(learning)), None, ROUGH)
    if without is None:
        whole = None
    else:
        whole = machine.solved(chosen.alpha, slice(None), without)
    if without is None or whole is None:
        return None
    scores = machine.scores(posed, without, parted.compared)
    coef, intercept = (posed.goal.scores(values) for values in (whole.coef, whole.intercept))
    members = (
        Member(part, coef / ridge, intercept, _mean_size(part, Z))
        for part, ridge in zip(chosen.parts, chosen.ridges.tolist(), strict=True)
    )
    return LogisticAnswer(tuple(members), scores, not whole.certificate.reached(GAP))


def calibrated(posed: Posed, parted: Parted, scores: Array, beside: Array) -> Blend:
    """The factors of scores (r, k) of the samples held out and of those (b, r, k) beside them, and biases."""
    weight = part_of(posed.task.weight, parted.compared)
    return posed.goal.blend(np.concatenate([scores[None], beside]), parted.compared, weight, False)


def _mean_size(similarity: Similarity, Z: PreparedSamples) -> float:
    """The mean of k(z, z)."""
    blocks = [Z.of(np.arange(len(Z))[part]) for part in slices(len(Z), PRODUCT_ROWS)]
    return sum(float(np.trace(similarity(block, block))) for block in blocks) / len(Z) or 1.0
