"""Classes of many samples: one machine of logistic losses by the sum of the kernels that a blend needs.

Squared losses of labels -1 and 1 also penalise scores beyond the label, of samples that are surely right. With the
kernels k_m of the candidates, their ridges alpha_m of least squared error, and their shares w_m in the blend, the
answer is

    min over a, c of  sum_i s_i log(1 + exp(-y_i f_i)) + alpha / 2 a'Ka,   f = C a + c,   k = sum_m (w_m / alpha_m) k_m,

on few centres (``machines/logistic/centres.py``), a column of labels for each class. In these units every kernel alone
has a ridge of 1. alpha is the one of least loss on the samples held out, where biases and one factor of the scores make
probabilities of them, as in the blend. It is chosen with the few centres by which candidates are compared. With these
the machine is also compared with the blend of squared losses, and the one of less loss is trained.

Machines in leaves (``in_leaves.py``) have no centres, and are not part of the sum. Their scores, of squared losses, are
calibrated together with those of the sum, with a separate factor.
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
from multikernel.auto.search import FitProblem, Member, Tried
from multikernel.banks.threads import slices
from multikernel.certificate import ROUGH
from multikernel.machines.logistic.centres import LogisticSamples, logistic_by_centres
from multikernel.machines.ridge.centres import CentresSolution, CentreSums, Tile, by_sums, summed
from multikernel.procedures.centres import GAP, TILE, Parted, lowest_step, symmetric
from multikernel.tuning import PRODUCT_ROWS

# Columns of labels up to which the machine is tried. With 1 and 6 a fit took up to a fifth longer (8000 rows); with 26
# (letter) the machine took longer than everything else in the fit.
MOST_COLUMNS = 6
_FIRST = 0.25  # of the ridge of squared losses, the first that is tried: second derivatives of the loss are at most 1/4


@dataclass(frozen=True, eq=False)
class LogisticRows:
    """Samples of the problem at the head of this file, with their kernel.

    Parameters
    ----------
    kernel : from samples to their kernel with the centres, in single precision
    K : array (M, M), the kernel of the centres
    C : array (n, M) in single precision, the kernel of the samples with the centres
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
        problem: FitProblem,
        similarity: Similarity,
        rows: Array,
        Z: PreparedSamples,
        first: int | None = None,
        report: Callable[[int], object] = lambda _: None,
    ) -> LogisticRows:
        """The rows with their kernel; ``sums`` are over the ``first`` rows, or over all where None is given."""
        kernel = similarity.to(Z, np.float32)
        task = problem.task.of_rows(rows)
        C = np.empty((len(rows), len(Z)), np.float32)
        for tile_rows in slices(len(rows), TILE):
            check_interrupted()
            C[tile_rows] = kernel(problem.samples.of(rows[tile_rows]))
            report(tile_rows.stop)

        def tile(tile_rows: slice) -> Tile:
            return Tile(C[tile_rows], task.Y[tile_rows], part_of(task.weight, tile_rows))

        sums = summed(tile(tile_rows) for tile_rows in slices(len(rows) if first is None else first, TILE))
        of_centres = similarity.to(Z)  # in double precision, without which a sum of kernels may not be definite
        K = symmetric(lambda tile_rows: of_centres(Z.of(np.arange(len(Z))[tile_rows])), len(Z))
        return cls(kernel, K, C, task.Y, task.weight, sums)

    def solved(
        self, alpha: float, rows: slice, start: CentresSolution | None, tol: float = GAP
    ) -> CentresSolution | None:
        """The machine of some rows, unfinished where the time is up; None where rounding prevents a solution.

        Steps begin at ``start``, or at ridge regression, and are preconditioned by the sums of the first rows.
        """
        C = self.C[rows]
        weight = part_of(self.weight, rows)
        buffer = np.empty((PRODUCT_ROWS, C.shape[1]))

        def kernels() -> Iterator[Array]:
            for block in slices(len(C), PRODUCT_ROWS):
                tile = buffer[: block.stop - block.start]
                tile[:] = C[block]
                yield tile

        samples = LogisticSamples(kernels, self.labels[rows], weight)
        try:
            if start is None:
                # with second derivatives of 1/4, as they are at 0, logarithms of odds are twice its values
                squared = by_sums(self.K, self.sums, 4.0 * alpha)
                start = CentresSolution(2.0 * squared.coef, 2.0 * squared.intercept)
            solution = logistic_by_centres(self.K, samples, self.sums, alpha, tol, start=start)
        except ValueError:
            return None
        if solution.certificate.reached(tol) or time_is_up():
            return solution
        return None

    def scores(self, problem: FitProblem, solution: CentresSolution, rows: Array) -> Array:
        """The scores of other samples by a machine, shape (r, k)."""
        kernel = [self.kernel(problem.samples.of(rows[block])) for block in slices(len(rows), TILE)]
        values = np.concatenate([product(K, solution.coef) for K in kernel])
        return problem.goal.scores(values + solution.intercept)


@dataclass(frozen=True, eq=False)
class LogisticSum:
    """A sum of kernels and its ridge.

    Parameters
    ----------
    blend : Blend of the candidates by squared losses, whose shares are w_m
    parts : tuple of Similarity, the kernels of those with a weight
    ridges : array (m,), alpha_m
    alpha : float
    value : float, the held-out loss by few centres, with the machines in leaves; infinite where no machine was solved
    alone : float, the held-out loss of the sum alone, by which the ridge was chosen
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
        problem: FitProblem,
        trials: Sequence[Tried],
        blend: Blend,
        parted: Parted,
        rows: Array,
        Z: Array,
        leaf_scores: Array,
    ) -> LogisticSum:
        """The sum with the ridge of least held-out loss, for these rows and centres.

        Parameters
        ----------
        problem : FitProblem of classes
        trials : Tried, with the ridges of squared losses
        blend : Blend of these, at least one of which has a weight
        parted : Parted
        rows, Z : int arrays, samples to train on, and those that are centres
        leaf_scores : array (b, r, k), the scores of the held-out samples by machines in leaves
        """
        members = [trials[m] for m in blend.used.tolist()]
        ridges = np.array([member.alpha for member in members])
        first = cls(blend, tuple(member.similarity for member in members), ridges, _FIRST)
        machine = LogisticRows.of(problem, first.similarity, rows, problem.samples.of(Z))
        solution: CentresSolution | None = None
        losses: dict[int, float] = {}
        scores: dict[int, Array] = {}

        def loss(step: int) -> float:
            """The loss with 2^step times the first ridge; infinite without a solution."""
            nonlocal solution
            if step not in losses:
                new_solution = machine.solved(2.0**step * _FIRST, slice(None), solution, ROUGH)
                losses[step] = np.inf
                if new_solution is not None and new_solution.certificate.reached(ROUGH):
                    solution = new_solution
                    scores[step] = machine.scores(problem, new_solution, parted.compared)
                    losses[step] = calibrated(problem, parted, scores[step], leaf_scores[:0]).objective
            return losses[step]

        step = lowest_step(loss, (-2,))
        value = alone = loss(step)
        if len(leaf_scores) and step in scores:
            value = calibrated(problem, parted, scores[step], leaf_scores).objective
        return replace(first, alpha=2.0**step * _FIRST, value=value, alone=alone)


@dataclass(frozen=True, eq=False)
class LogisticAnswer:
    """The trained machine of logistic losses.

    Parameters
    ----------
    members : tuple of Member, one for each kernel: by the shares w_m, their scores add up to those of the machine
    scores : array (r, k), of the held-out samples, by the machine that was trained without them
    cut : bool, whether the time ended while it was trained
    """

    members: tuple[Member, ...]
    scores: Array
    cut: bool


def trained_sum(
    problem: FitProblem,
    chosen: LogisticSum,
    parted: Parted,
    rows: Array,
    Z: PreparedSamples,
    report: Callable[[int], object],
) -> LogisticAnswer | None:
    """The machine on these rows and centres; None where rounding prevents a solution.

    Parameters
    ----------
    problem, chosen, parted : the problem of the fit, the sum that was chosen, and the division of its samples
    rows : int array, the samples to train on
    Z : PreparedSamples, the centres
    report : called with the number of rows whose kernel is computed
    """
    learning = np.intersect1d(parted.learning, rows)
    order = np.append(learning, np.setdiff1d(rows, learning))
    machine = LogisticRows.of(problem, chosen.similarity, order, Z, len(learning), report)
    learning_solution = machine.solved(chosen.alpha, slice(len(learning)), None, ROUGH)
    if learning_solution is None:
        solution = None
    else:
        solution = machine.solved(chosen.alpha, slice(None), learning_solution)
    if learning_solution is None or solution is None:
        return None
    scores = machine.scores(problem, learning_solution, parted.compared)
    coef, intercept = (problem.goal.scores(values) for values in (solution.coef, solution.intercept))
    members = (
        Member(similarity, coef / ridge, intercept, _mean_size(similarity, Z))
        for similarity, ridge in zip(chosen.parts, chosen.ridges.tolist(), strict=True)
    )
    return LogisticAnswer(tuple(members), scores, not solution.certificate.reached(GAP))


def calibrated(problem: FitProblem, parted: Parted, scores: Array, leaf_scores: Array) -> Blend:
    """The factors of held-out scores (r, k), and of those (b, r, k) by machines in leaves, with the biases."""
    weight = part_of(problem.task.weight, parted.compared)
    return problem.goal.blend(np.concatenate([scores[None], leaf_scores]), parted.compared, weight, False)


def _mean_size(similarity: Similarity, Z: PreparedSamples) -> float:
    """The mean of k(z, z)."""
    blocks = [Z.of(np.arange(len(Z))[block]) for block in slices(len(Z), PRODUCT_ROWS)]
    return sum(float(np.trace(similarity(block, block))) for block in blocks) / len(Z) or 1.0
