"""Forecasts of the time and memory of procedures.

The cost of a procedure is estimated from that of a bank (``BankCost``: kernels, samples, the cost of a pass) and from
the parameters that determine the number of steps. ``support_mkl`` chooses by it between its two methods; estimators
report it before a fit. In addition to two passes over the kernels

    a step of the interior point method  factors a matrix of order n to which m kernels have been added; some 17 steps
    a round of machines                  solves one machine from the last one, and the problem of their mixtures

The number of rounds depends on the domain: it is small where weights depend smoothly on the scores; it grows with the
number of kernels where a small change of the scores moves weights from one kernel to another. The constants are seconds
of one thread; only their ratios matter for a choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._work import Work
from multikernel.banks.base import MEMORY
from multikernel.banks.cost import BankCost
from multikernel.banks.factor_gram import few_features
from multikernel.banks.packing import half_size
from multikernel.domains import Separable
from multikernel.procedures.centres import COMPARED, TILE, compared_first
from multikernel.tuning import (
    ALL_SAMPLES,
    BLAS_OPERATION,
    BUFFER_VALUES,
    FEATURE_COPIES,
    INTERIOR_FEATURES,
    INTERIOR_SAMPLES,
    INTERIOR_STEPS,
    KERNEL_VALUE,
    MACHINE_FRESH,
    MACHINE_PAIR,
    MARGIN_FACTORISATIONS,
    MIXTURE_PROBLEM,
    NUMPY_VALUE,
    PASS_ENTRY,
    RIDGE_CV_MATRICES,
    RIDGE_MATRICES,
    RLS2_COPIED,
    RLS2_FEWER_STEPS,
    RLS2_HALF_FROM,
    RLS2_MATRICES_HALF,
    RLS2_WORKING,
    RLS2_WORKING_PART,
    RLS2_WORKING_PART_LATE,
    ROUNDS_COPIES,
    ROUNDS_FIRST,
    ROUNDS_PER_DIGIT,
    ROUNDS_PER_ROOT,
    ROUNDS_PRODUCTS,
    ROUNDS_SMOOTH,
    ROUNDS_USUAL_GAP,
    SMALLEST_STEP,
    SUPPORT_MATRICES,
    SUPPORT_MATRICES_MANY,
    TILE_VALUES,
)

_CENTRE_MATRICES = 6.0  # of squares of the centres in memory at a time: K, sums, and a factor
_LANDMARK_VALUES = 1.2e7  # numbers while scales are learned: tests/estimators/test_forecast_memory.py


@dataclass(frozen=True)
class StepsCost:
    """The number of steps, and the work of each."""

    count: float
    each: Work

    @property
    def seconds(self) -> float:
        """The seconds of all steps, on the machine on which the constants were measured."""
        return self.count * self.each.seconds

    @property
    def work(self) -> Work:
        """The work of all steps."""
        return self.count * self.each


@dataclass(frozen=True)
class Cost:
    """The cost of solving a problem, without that of its bank.

    Parameters
    ----------
    work : Work, or None if unknown
    bytes : float, the memory in use at a time
    """

    work: Work | None
    bytes: float = 0.0

    def __add__(self, later: Cost) -> Cost:
        """The cost of one after the other."""
        if self.work is None or later.work is None:
            work = None
        else:
            work = self.work + later.work
        return Cost(work, max(self.bytes, later.bytes))

    def __rmul__(self, times: float) -> Cost:
        """The cost of ``times`` repetitions, one after the other."""
        return replace(self, work=None if self.work is None else times * self.work)


# -- a support vector machine with kernel weights ----------------------------------------------------------------------


def interior_steps(bank: BankCost) -> StepsCost:
    """The interior point method."""
    m = bank.m
    n = float(bank.n)
    added = 2.0 * m * n**2 if m > 1 else 0.0
    return StepsCost(
        INTERIOR_STEPS,
        2.0 * bank.sweep
        + Work(
            algebra=BLAS_OPERATION * (n**3 / 3.0 + added),
            steps=NUMPY_VALUE * m * n + SMALLEST_STEP,
        ),
    )


def machine_rounds(bank: BankCost, domain: Separable, tol: float) -> StepsCost:
    """Machines and the problem of their mixtures, one after the other."""
    m = bank.m
    n = float(bank.n)
    count = ROUNDS_FIRST + ROUNDS_PER_ROOT * np.sqrt(m) / (1.0 + ROUNDS_SMOOTH * _smoothness(domain, m))
    count *= 1.0 + ROUNDS_PER_DIGIT * max(0.0, np.log10(ROUNDS_USUAL_GAP / tol))
    steps = MACHINE_PAIR * n**2 + INTERIOR_STEPS * NUMPY_VALUE * m * count**2 + NUMPY_VALUE * m * n + MIXTURE_PROBLEM
    return StepsCost(float(count), 2.0 * bank.sweep + Work(steps=steps))


def _smoothness(domain: Separable, m: int) -> float:
    """The curvature of the domain's constraint at its centre, relative to its slope: p - 1 for a norm p."""
    delta = domain.start(m) - domain.offset(m)
    _, slope, curvature = domain.constraint(delta)
    return float(delta[0] * curvature[0] / slope[0])


def support(bank: BankCost, domain: Separable, tol: float) -> Cost:
    """The procedure ``support_mkl``, by the method that it chooses."""
    n = float(bank.n)
    q = bank.features
    if q is not None and few_features(q, bank.n):
        step = Work(
            algebra=4.0 * BLAS_OPERATION * n * float(q) ** 2,
            steps=SMALLEST_STEP + 10.0 * NUMPY_VALUE * n * q,
        )
        if n * float(q) ** 2 > INTERIOR_FEATURES:
            copies = ROUNDS_COPIES
        else:
            copies = FEATURE_COPIES
        return Cost(INTERIOR_STEPS * step + Work(steps=SMALLEST_STEP), copies * _features(bank))
    inside = interior_steps(bank)
    cheaper = inside
    if domain.constrained:
        alternating = machine_rounds(bank, domain, tol)
        cheaper = alternating if alternating.seconds < inside.seconds else inside
    # kernels stored in single precision are evaluated again for the certificate
    certified = 2.0 * bank.exact
    if bank.exact.seconds:
        certified = certified + Work(steps=MACHINE_PAIR * n**2)
    return Cost(cheaper.work + certified + Work(steps=SMALLEST_STEP), 8.0 * _support_values(bank, domain))


def _support_values(bank: BankCost, domain: Separable) -> float:
    """Matrix entries in memory at a time: for all samples, unless kernels are computed on demand for many of them.

    Rounds of machines, which are used for many samples, store the sum of the kernels. On demand a machine stores at
    most the rows of its support vectors, and the interior point method uses some of the samples.
    """
    n = float(bank.n)
    if not domain.constrained:
        return SUPPORT_MATRICES * n**2
    if not bank.on_demand:
        if bank.n <= INTERIOR_SAMPLES or bank.n * bank.m > ROUNDS_PRODUCTS:
            return SUPPORT_MATRICES * n**2
        return SUPPORT_MATRICES_MANY * n**2
    return min(SUPPORT_MATRICES * n**2, max(n, np.sqrt(SUPPORT_MATRICES) * INTERIOR_SAMPLES) ** 2)


def _matrices(bank: BankCost, count: float) -> float:
    """The bytes of ``count`` matrices of all samples, or of their features where these are fewer."""
    n = float(bank.n)
    order = n if bank.features is None else min(n, float(bank.features))
    return count * 8.0 * n * order


def _features(bank: BankCost) -> float:
    """The bytes of the features of all samples, in the precision in which they are stored."""
    return bank.held or 8.0 * float(bank.n) * float(bank.features or 0)


def _of_samples(bank: BankCost, work: Work) -> Work | None:
    """Work on matrices of all samples; None where steps are on few features instead, whose work is not estimated."""
    if bank.features is None or 2 * bank.features > bank.n:
        return work
    return None


# -- machines at given weights -----------------------------------------------------------------------------------------


def hinge(bank: BankCost) -> Cost:
    """A support vector machine at given weights."""
    n = float(bank.n)
    q = bank.features
    if q is not None and few_features(q, bank.n):
        return Cost(Work(algebra=20.0 * BLAS_OPERATION * n * float(q) ** 2, steps=SMALLEST_STEP), 8.0 * n * q)
    return Cost(bank.sweep + Work(steps=MACHINE_FRESH * MACHINE_PAIR * n**2 + SMALLEST_STEP), 8.0 * n**2)


def margin(bank: BankCost) -> Cost:
    """The margin between two hulls at given weights."""
    n = float(bank.n)
    q = bank.features
    if q is not None and few_features(q, bank.n):
        return Cost(
            Work(algebra=20.0 * BLAS_OPERATION * n * float(q) ** 2, steps=SMALLEST_STEP),
            FEATURE_COPIES * _features(bank),
        )
    return Cost(
        bank.sweep
        + Work(
            algebra=MARGIN_FACTORISATIONS * BLAS_OPERATION * n**3 / 3.0,
            steps=MACHINE_PAIR * n**2 + SMALLEST_STEP,
        ),
        2.0 * 8.0 * n**2,
    )


def ridge(bank: BankCost) -> Cost:
    """Ridge regression at given weights."""
    n = float(bank.n)
    q = bank.features
    if q is not None and q < bank.n:
        return Cost(Work(algebra=2.0 * BLAS_OPERATION * n * float(q) ** 2, steps=SMALLEST_STEP), 2.0 * 8.0 * n * q)
    return Cost(
        bank.sweep + Work(algebra=BLAS_OPERATION * n**3 / 3.0, memory=NUMPY_VALUE * n**2, steps=SMALLEST_STEP),
        (8.0 if bank.on_demand else 16.0) * n**2,  # of the matrix and its factor, which may overwrite the matrix
    )


# -- procedures --------------------------------------------------------------------------------------------------------


def easymkl(bank: BankCost) -> Cost:
    """The margin of the sum of the kernels, and a score of each kernel."""
    return margin(bank) + Cost(bank.sweep + bank.exact)


def rls2(bank: BankCost, tol: float = 1e-4) -> Cost:
    """Newton steps, most of them on few kernels, from the solution on a part of many samples."""
    m = bank.m
    n = float(bank.n)
    count = 6.0 + np.log2(m)
    fraction = RLS2_WORKING_PART
    if n > ALL_SAMPLES:
        count /= RLS2_FEWER_STEPS
        fraction = RLS2_WORKING_PART_LATE
    working = max(min(m, RLS2_WORKING), m * fraction)
    step = Work(
        algebra=BLAS_OPERATION * (n**3 / 3.0 + n**2 * working),
        memory=NUMPY_VALUE * n**2,
        steps=SMALLEST_STEP,
    )
    pass_over_working = Work(memory=2.0 * PASS_ENTRY * working * n**2)  # which are stored, whatever the others are
    copied = 8.0 * int(max(min(m, RLS2_COPIED), m * RLS2_WORKING_PART_LATE)) * half_size(bank.n)
    if bank.held or bank.features is not None or copied > MEMORY:
        copied = 0.0
    work = count * (step + pass_over_working) + 3.0 * bank.sweep + bank.exact + Work(steps=SMALLEST_STEP)
    in_single = bank.features is None and bank.n >= RLS2_HALF_FROM and tol >= 1e-5  # procedures/rls2/point.py decides
    return Cost(_of_samples(bank, work), _matrices(bank, RLS2_MATRICES_HALF if in_single else RIDGE_MATRICES) + copied)


def polynomial(bank: BankCost, degree: int) -> Cost:
    """A power of a sum of kernels with ridge regression: second derivatives in each step."""
    n = float(bank.n)
    step = Work(
        algebra=BLAS_OPERATION * (n**3 + 2.0 * bank.m * n**2),
        memory=4.0 * NUMPY_VALUE * degree * n**2,
        steps=SMALLEST_STEP,
    )
    work = 6.0 * (step + 2.0 * bank.sweep) + Work(steps=SMALLEST_STEP)
    return Cost(_of_samples(bank, work), _matrices(bank, 4.0))


def quasi_newton(bank: BankCost, machine: Cost) -> Cost:
    """A machine in each step; the number of steps does not depend on the samples."""
    n = float(bank.n)
    values = Work(
        algebra=0.5 * BLAS_OPERATION * n**3 / 3.0,
        arithmetic=6.0 * NUMPY_VALUE * n**2,
        steps=SMALLEST_STEP,
    )
    return replace(35.0 * (machine + Cost(2.0 * bank.sweep + values)), bytes=machine.bytes + 3.0 * 8.0 * n**2)


def ridge_cv(bank: BankCost, folds: int) -> Cost:
    """Gauss-Newton steps, each of an inverse and of a pass with a column for each fold."""
    m = bank.m
    n = float(bank.n)
    columns = min(folds, 10)
    step = Work(
        algebra=BLAS_OPERATION * (2.0 * n**3 + 2.0 * columns * m * n**2 + 4.0 * n * m**2),
        steps=SMALLEST_STEP,
    )
    work = 18.0 * (step + 2.0 * bank.sweep) + Work(steps=SMALLEST_STEP)
    return Cost(
        _of_samples(bank, work),
        _matrices(bank, RIDGE_CV_MATRICES if bank.features is None else FEATURE_COPIES),
    )


def many_targets(bank: BankCost, folds: int, targets: int, by_folds: bool = True) -> Cost:
    """Weights for each target from shared candidates, of which there are some forty plus one or two for each target.

    With ``by_folds`` the inverse of a candidate may be stored in the blocks of the folds, for held-out errors. A
    candidate takes an inverse. A target takes three models of a column for each fold and the factor of its machine;
    or, where that is less, twice the products of nearby.py, and one target in twenty needs separate candidates.
    """
    m = bank.m
    n = float(bank.n)
    columns = min(folds, 10)
    candidates = 40.0 + 1.2 * targets
    algebra = candidates * 2.0 * n**3 + targets * (6.0 * columns * m * n**2 + 40.0 * n**2 + n**3 / 3.0)
    few = 40.0 + 0.05 * targets
    nearby = few * 2.0 * n**3 + targets * 4.0 * folds * (5.0 + 8.0 * m + m**2) * n**2
    if nearby < algebra:
        candidates = few
        algebra = nearby
    work = Work(algebra=BLAS_OPERATION * algebra, steps=candidates * SMALLEST_STEP + SMALLEST_STEP)
    work = work + candidates * bank.sweep
    copied = 0.0  # with matrices, targets are read without copies
    if bank.features is not None:
        copied = 3.0 * min(n * targets, float(BUFFER_VALUES))
    block = min(targets * m**2, float(BUFFER_VALUES))
    of_targets = 8.0 * (n * targets + copied + 8.0 * TILE_VALUES + block * (1.0 + 8.0 / m))
    # an inverse and its blocks, or with evidence a factor and its inverse; of many samples half of the inverse
    n_matrices = 1.0 if by_folds and folds <= 10 and n * n > BUFFER_VALUES else 2.0
    matrices = _matrices(bank, n_matrices if bank.features is None else FEATURE_COPIES)
    return Cost(_of_samples(bank, work), matrices + of_targets)


def own_ridges(bank: BankCost, folds: int, targets: int) -> Cost:
    """A ridge for each target with one kernel: some hundred inverses and factors, and three models for each target."""
    n = float(bank.n)
    candidates = min(100.0, 10.0 + targets)
    algebra = candidates * 2.4 * n**3 + targets * (6.0 * min(folds, 10) * n**2 + 40.0 * n**2)
    work = Work(algebra=BLAS_OPERATION * algebra, steps=candidates * SMALLEST_STEP)
    return Cost(work, 8.0 * n * (n + 3.0 * targets))


def learned_scales(bank: BankCost, kernels: int) -> Cost:
    """Scales inside some kernels, by held-out errors: the number of steps is not known.

    Each kernel after the first needs memory for its matrix and its slope.
    """
    return Cost(None, (RIDGE_MATRICES + 2.0 * (kernels - 1)) * 8.0 * float(bank.n) ** 2)


def centre_sums(rows: float, centres: float) -> Work:
    """The kernels between samples (rows) and centres, and the sums of their products."""
    values = rows * centres
    return Work(algebra=BLAS_OPERATION * values * centres, arithmetic=KERNEL_VALUE * values)


def centres_within(values: float, at_once: int = 1) -> int:
    """The largest number of centres of kernels that fits into memory.

    Parameters
    ----------
    values : float, how many numbers may be in memory
    at_once : int, how many kernels have sums at the same time
    """
    matrices = _CENTRE_MATRICES + at_once - 1
    half_linear = 0.5 * (COMPARED + TILE) / matrices  # kernels with the samples compared and with those of a tile
    return int(np.sqrt(half_linear**2 + values / matrices) - half_linear)


def scales_by_centres(n: int, centres: int) -> Cost:
    """Scales inside a kernel through few of n samples, and ridge regression by the kernels of centres.

    While scales are learned, memory is needed for the kernel between some thousands of samples and few landmarks; later
    for that between the centres and the samples compared and those of a tile.
    """
    columns = compared_first(n) + 2.0 * TILE  # a tile, and a copy in double precision
    values = _CENTRE_MATRICES * float(centres) ** 2 + columns * centres
    return Cost(None, 8.0 * max(values, _LANDMARK_VALUES))


def scales_by_all(n: int, centres: int) -> Cost:
    """The cost where all samples are centres at the end: half a factor; ``centres`` are those for choosing a ridge."""
    return Cost(None, max(scales_by_centres(n, min(n, centres)).bytes, 2.0 * float(n) ** 2 + 8.0 * _LANDMARK_VALUES))


def scale_steps(n: int, columns: int, scales: int) -> StepsCost:
    """Scales of features inside one kernel by held-out errors: an inverse, products with it, and distances in a step.

    Parameters
    ----------
    n, columns : int, samples and their features
    scales : int, one for all features or several; a single one takes half as many steps
    """
    step = Work(algebra=BLAS_OPERATION * (6.0 * float(n) ** 3 + 3.0 * float(n) ** 2 * columns))
    return StepsCost(30.0 if scales == 1 else 60.0, step)


def held_out_ridge(n: int, ridges: int) -> Work:
    """Held-out errors of ridge regression with one kernel, for several ridges: an inverse each."""
    return Work(algebra=BLAS_OPERATION * 2.0 * ridges * float(n) ** 3)
