"""Many samples, few centres of kernels: which samples take part in which step, and the ridge of a kernel.

1. A fifth of the samples, in whole folds, is held out from the choice of the model; a kernel is learned on some of the
   others (``Parted``).
2. Its scales are improved on some thousands of these, through landmarks (``LandmarkRows``;
   ``learned_scales/landmarks.py``).
3. It is trained on all others by many centres (``machines/ridge/centres.py``), with the ridge of least error on the
   samples held out (``least_ridge``). Then the sums over the samples held out are added to those over the others, so
   that the final model is trained on all samples.

Kernels between samples and centres are computed tile by tile, and are not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from multikernel._arrays import part_of
from multikernel._folds import FOLDS, in_first_folds, in_proportion
from multikernel._linalg import mirror
from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.banks.single import over_few_rows
from multikernel.machines.ridge.centres import CentresFactor, CentreSums, Tile

# Number of samples beyond which kernels are trained on centres. With 5000 samples, candidates trained in this way, with
# scales improved through landmarks, were better on eight of nine data sets, and as good on the ninth, as those trained
# exactly with kernels chosen on 1000; fewer samples were not compared. Scales with the kernel of all of 4,000 samples
# of 20 features took 13 s and had .890 correct labels, centres took 6 s and had .887; with 8,000 samples the kernel of
# all takes five times as long.
MANY = 4000
# Centres where no time limit is given, and for the choice of a ridge where all samples are centres at the end. On
# protein (20,000 rows, one kernel) 1000, 3000 and 6000 centres have R2 .545, .595 and .615, in 1, 4 and 16 seconds.
CENTRES = 3000
COMPARED = 10_000  # held-out samples for comparisons: a proportion of errors then has a standard error of at most 0.005
REFINED = 8000  # samples that scales are learned on
# Twice as many, in twice the time, gained 0.002 of R2 on protein and 0.006 on kin8nm. Centres are at least as many.
LANDMARKS = 500
STEPS = 20  # ridges differ from those found on few samples by a factor of at most 2^20
GAP = 1e-3  # of machines on centres, relative: errors of samples held out have a standard error of more than 0.01
TILE = 2048  # rows of a kernel with centres at a time


@dataclass(frozen=True, eq=False)
class Parted:
    """Row numbers: to learn from, to compare on, and the other rows of the folds of the latter.

    Kernels are chosen on some of ``to_choose_on``: the rows to learn from, or all rows if those are one fold, as with a
    splitter of two folds.
    """

    learning: Array
    compared: Array
    rest: Array
    to_choose_on: Array

    @classmethod
    def of(cls, rows: Array, strata: Array, first: Array, second: Array, seed: int) -> Parted:
        """A division of some samples.

        Parameters
        ----------
        rows : int array, the samples
        strata : int array (n,): each part gets its share of every stratum
        first, second : int arrays (n,), the folds to choose on, and those of which some are held out
        seed : int
        """
        held_out = in_first_folds(second[rows], 1.0 / FOLDS)
        out = rows[held_out]
        compared = out[in_proportion(strata[out], COMPARED, seed)]
        learning = rows[~held_out]
        several = len(np.unique(first[learning])) > 1
        return cls(learning, compared, np.setdiff1d(out, compared), learning if several else rows)


def compared_first(count: int) -> int:
    """How many of ``count`` samples in a random order are used for comparisons, where folds do not determine them."""
    return min(COMPARED, count // FOLDS)


@dataclass(frozen=True, eq=False)
class LandmarkRows:
    """Row numbers: to train on, held out, and the landmarks among the former."""

    train: Array
    held: Array
    landmarks: Array

    @classmethod
    def of(cls, rows: Array, strata: Array, folds: Array, seed: int, times: int = 1) -> LandmarkRows:
        """Some thousands of these samples; none are held out if all are in one fold.

        ``times`` multiplies the usual number of landmarks.
        """
        rows = rows[in_proportion(strata[rows], REFINED, seed)]
        held_out = in_first_folds(folds[rows], 2.0 / FOLDS)
        train = rows[~held_out]
        return cls(train, rows[held_out], train[in_proportion(strata[train], times * LANDMARKS, seed)])


def symmetric(values: Callable[[slice], Array], count: int) -> Array:
    """The kernel matrix of ``count`` centres; ``values`` returns some of its rows, and is called on several threads.

    Entries on both sides of the diagonal may differ by rounding: those below it are used.
    """
    K = np.empty((count, count))

    def rows(tile: slice) -> None:
        K[tile] = values(tile)

    over_few_rows(rows, count, count)
    mirror(K)
    return K


def tiles(kernel: Callable[[Array], Array], rows: Array, Y: Array, weight: Array | None) -> Iterator[Tile]:
    """A pass over samples.

    Parameters
    ----------
    kernel : of row numbers (r,), the kernel between these samples and the centres (r, M)
    rows : int array, the samples
    Y, weight : arrays (n, t) and (n,) or None, targets and weights of all samples
    """
    for start in range(0, len(rows), TILE):
        check_interrupted()
        tile = rows[start : start + TILE]
        yield Tile(kernel(tile), Y[tile], part_of(weight, tile))


def least_ridge(
    K: Array,
    sums: CentreSums,
    compared: Array,
    error: Callable[[Array], float],
    alpha: float,
    steps: Sequence[int],
    fit_intercept: bool = True,
    as_good: float = 0.0,
) -> tuple[float, Array]:
    """The ridge of least error on samples held out, and their predictions.

    Parameters
    ----------
    K : array (M, M), the kernel matrix of the centres
    sums : CentreSums of the samples that are trained on
    compared : array (r, M), the kernel between the samples held out and the centres
    error : of predictions (r, t)
    alpha : float, the first ridge
    steps : the steps of the search, in powers of 2, coarse ones first
    fit_intercept : bool
    as_good : float >= 0, the relative increase of the error that is accepted for a larger ridge: its coefficients are
        smaller, which matters where the error hardly depends on the ridge
    """
    about, mean = sums.about(fit_intercept)
    tried: dict[int, tuple[float, Array]] = {}

    def of(step: int) -> float:
        """The error for the ridge 2^step alpha."""
        if step not in tried:
            coef = CentresFactor.of(K, sums, alpha * 2.0**step).coefficients(about.products)
            predicted = compared @ coef.astype(compared.dtype) + mean
            tried[step] = error(predicted), predicted
        return tried[step][0]

    step = lowest_step(of, steps)
    enough = (1.0 + as_good) * of(step)
    while as_good and step < STEPS and of(step + 1) <= enough:
        step += 1
    return alpha * 2.0**step, tried[step][1]


def lowest_step(error: Callable[[int], float], steps: Sequence[int]) -> int:
    """The integer at which a function with one minimum is least, found from 0 by steps of these lengths.

    Of each length both signs are tried, the given one first. ``error`` may be called several times for a number.
    """
    best = 0
    for length in steps:
        for step in (length, -length):
            while abs(best + step) <= STEPS and error(best + step) < error(best):
                best += step
    return best
