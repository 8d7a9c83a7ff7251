"""Many samples, few centres of kernels: which samples take part in which step, and the ridge of a kernel.

1. A fifth of the samples, whole folds, is held out of everything until the answer is trained; a kernel is learned on
   some of the others (``Parted``).
2. Its scales are learned further on some thousands of these, through landmarks (``landmark_rows``;
   ``learned_scales/landmarks.py``).
3. It is trained on all others by many centres (``machines/ridge/centres.py``), with the ridge of least error on the
   samples held out (``least_ridge``). Sums over these then complete those over the others: the answer is trained on
   all samples.

Kernels between samples and centres are made tile by tile, and are not kept.
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
from multikernel.machines.ridge.centres import CentredRidge, CentreSums, Tile

# Samples beyond which kernels are trained on centres. Of 5000, candidates that are learned further and trained so were
# better on eight of nine sets, and as good on the ninth, than trained exactly with kernels chosen on 1000; fewer were
# not compared. Scales with the kernel of all of 4,000 samples of 20 features took 13 s and had .890 right labels, where
# centres took 6 s and had .887; of 8,000 it takes five times as long.
MANY = 4000
# Centres where no time is given, and to choose a ridge by where all samples are centres at the end. On protein (20,000
# rows, one kernel) 1000, 3000 and 6000 centres have R2 .545, .595 and .615, in 1, 4 and 16 seconds.
CENTRES = 3000
COMPARED = 10_000  # of those that are held out: a part of wrong labels then has a standard error of 0.005 or less
REFINED = 8000  # samples that scales are learned on
# Twice as many, in twice the time, gained 0.002 of R2 on protein and 0.006 on kin8nm. Centres are as many at least.
LANDMARKS = 500
STEPS = 20  # ridges are at most 2^20 times larger or smaller than those found on few samples
GAP = 1e-3  # of machines on centres, relative: errors of samples held out have a standard error of more than 0.01
TILE = 2048  # rows of a kernel with centres at a time


@dataclass(frozen=True, eq=False)
class Parted:
    """Row numbers: to learn from, to compare on, and the rest of the folds that the latter are from.

    Kernels are found on some of ``to_choose_on``: those to learn from, or all where these are one fold of what holds
    samples out, as with a splitter of two folds.
    """

    learning: Array
    compared: Array
    rest: Array
    to_choose_on: Array

    @classmethod
    def of(cls, rows: Array, strata: Array, first: Array, second: Array, seed: int) -> Parted:
        """Of some samples.

        Parameters
        ----------
        rows : int array, the samples that take part
        strata : int array (n,), of which each part gets its share
        first, second : int arrays (n,), the folds to choose on, and those of which some are held out
        seed : int
        """
        held = in_first_folds(second[rows], 1.0 / FOLDS)
        out = rows[held]
        compared = out[in_proportion(strata[out], COMPARED, seed)]
        learning = rows[~held]
        several = len(np.unique(first[learning])) > 1
        return cls(learning, compared, np.setdiff1d(out, compared), learning if several else rows)


def compared_first(count: int) -> int:
    """How many of so many samples in a random order are compared on, where they are not held out by folds."""
    return min(COMPARED, count // FOLDS)


@dataclass(frozen=True, eq=False)
class LandmarkRows:
    """Row numbers: to train on, held out, and the landmarks among the former."""

    train: Array
    held: Array
    landmarks: Array

    @classmethod
    def of(cls, rows: Array, strata: Array, folds: Array, seed: int, times: int = 1) -> LandmarkRows:
        """Some thousands of these samples; none are held out where they are of one fold.

        ``times`` multiplies the usual number of landmarks.
        """
        rows = rows[in_proportion(strata[rows], REFINED, seed)]
        held = in_first_folds(folds[rows], 2.0 / FOLDS)
        train = rows[~held]
        return cls(train, rows[held], train[in_proportion(strata[train], times * LANDMARKS, seed)])


def symmetric(values: Callable[[slice], Array], count: int) -> Array:
    """The kernel matrix of so many centres, of which ``values`` are some rows; rows on several threads.

    Rounding may make entries on both sides of the diagonal different: those below it are taken.
    """
    K = np.empty((count, count))

    def rows(part: slice) -> None:
        K[part] = values(part)

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
        part = rows[start : start + TILE]
        yield Tile(kernel(part), Y[part], part_of(weight, part))


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
    """The ridge of least error on samples held out, and what they are predicted to be.

    Parameters
    ----------
    K : array (M, M), the kernel matrix of the centres
    sums : CentreSums of the samples that are trained on
    compared : array (r, M), the kernel between the samples held out and the centres
    error : of predictions (r, t)
    alpha : float, the ridge from which others are tried
    steps : by how many doublings, coarse ones first
    fit_intercept : bool
    as_good : float >= 0, the part of the error by which that of a larger ridge may be larger: coefficients are smaller
        then, which matters where the error hardly depends on the ridge
    """
    about, mean = sums.about(fit_intercept)
    tried: dict[int, tuple[float, Array]] = {}

    def of(step: int) -> float:
        """The error of the ridge that is 2^step times the one given."""
        if step not in tried:
            coef = CentredRidge.of(K, sums, alpha * 2.0**step).coefficients(about.products)
            predicted = compared @ coef.astype(compared.dtype) + mean
            tried[step] = error(predicted), predicted
        return tried[step][0]

    step = lowest_step(of, steps)
    enough = (1.0 + as_good) * of(step)
    while as_good and step < STEPS and of(step + 1) <= enough:
        step += 1
    return alpha * 2.0**step, tried[step][1]


def lowest_step(error: Callable[[int], float], steps: Sequence[int]) -> int:
    """The whole number at which a function with one minimum is least, from 0 by steps of these lengths.

    Steps of a length's own sign are tried first. ``error`` is called again with numbers that it was called with.
    """
    best = 0
    for length in steps:
        for step in (length, -length):
            while abs(best + step) <= STEPS and error(best + step) < error(best):
                best += step
    return best
