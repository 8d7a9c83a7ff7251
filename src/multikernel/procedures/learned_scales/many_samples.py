"""Scales inside a kernel, learned on many samples through few of them, and ridge regression on centres with these.

1. A fifth of the samples, in whole folds, is held out. On a thousand of the others, scales, ridge and penalty are found
   as on few samples (``search.py``).
2. From these scales a descent through landmarks (``landmarks.py``) lowers the held-out error of some thousands.
3. Ridge regression with these scales, by the kernels of many centres, gets the ridge of least error on the samples held
   out, and is then trained on all (``machines/ridge/centres.py``). With ``loss="logistic"``, labels -1 and +1 have
   logistic losses, on the same centres and with the same scales, but with a separate ridge
   (``machines/logistic/centres.py``). Where every sample is a centre, one system for the kernel of all samples is
   solved (``machines/ridge/all_samples.py``).

Of samples that are read in chunks, the first two steps use a uniform sample only, and the third all (``RowsBeyond``).

The problem is defined in ``posed.py``, the last step in ``trained.py``, and which samples take part in which step in
``procedures/centres.py``. The scales need not be stationary for all samples: certified are the stationarity of the
error through landmarks, and the duality gap of the machine with these scales.
"""

from __future__ import annotations

from dataclasses import replace

from sklearn.exceptions import ConvergenceWarning

from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel._workers import CHOICE_TIME, limited, seconds_left, time_is_up, warn_of_cut_choice
from multikernel.certificate import INNER
from multikernel.machines.ridge.centres import CentresSolution
from multikernel.observer import Observer, silent
from multikernel.procedures.centres import LandmarkRows, Parted, compared_first
from multikernel.procedures.learned_scales.error import half_distance
from multikernel.procedures.learned_scales.landmarks import LandmarkError, LandmarkScales, scales_by_landmarks
from multikernel.procedures.learned_scales.posed import ChosenScales, PosedScales, RowsBeyond, SampleUnits
from multikernel.procedures.learned_scales.search import CentredScales, LearnedScales, learned_scales
from multikernel.procedures.learned_scales.trained import centres_of, trained_machine
from multikernel.procedures.ridge_cv.residuals import HeldOut
from multikernel.tuning import ALL_SAMPLES

_WIDEST = 0.05  # least mean distance at the start of a descent in single precision; 1 is where the kernel is half


def scales_of_many(
    problem: PosedScales,
    centres: float,
    penalty: float | None,
    tol: float = 1e-2,
    max_iter: int = 100,
    observe: Observer = silent,
    beyond: RowsBeyond | None = None,
) -> tuple[LearnedScales, CentresSolution]:
    """Scales and ridge, and the ridge regression on centres with these, of all samples.

    Parameters
    ----------
    problem : PosedScales
    centres : int >= 1, how many; or a number in (0, 1), the error of the kernel matrix that they may have
    penalty : float >= 0 or None, as for ``learned_scales``
    tol : float, the stationarity at which the first descents stop; those through landmarks at a tenth of it
    max_iter : int, steps of a descent at most
    observe : called after each step through landmarks
    beyond : RowsBeyond, all rows of the source that the samples are drawn from; None where the samples are all
    """
    earlier = None if beyond is None else beyond.kept
    units = SampleUnits.of(problem) if earlier is None else earlier.units
    problem = replace(problem, Y=units.targets(problem.Y), weight=units.weights(problem.weight))
    total = len(problem.rows) if beyond is None else beyond.total
    parted = _parted(problem, beyond)
    chosen = earlier or _chosen(problem, units, parted, centres, total, penalty, tol, max_iter, observe)
    trained = trained_machine(problem, parted, chosen, beyond, total)
    squared = units.target.squared
    errors = trained.errors
    constant = trained.constant
    if problem.loss == "squared":
        errors = squared(errors)
        constant = squared(constant)
    learned = replace(
        chosen.first,
        objective=float(errors.sum()),
        certificate=None,
        converged=trained.solution.certificate.reached(tol),
        scales=chosen.scales[None, :],
        means=problem.form.means,
        alpha=units.weight * trained.alpha,
        errors=errors,
        equal=squared(chosen.first.equal),
        constant=float(constant.sum()),
        outer=squared(chosen.first.outer),
        centred=CentredScales(chosen.centres, None, trained.matrix_error),
    )
    return _with_descent(learned, chosen.further), units.solution(trained.solution, problem.loss)


def _parted(problem: PosedScales, beyond: RowsBeyond | None) -> Parted:
    """Which samples are held out: whole folds, or the first of a random order."""
    if beyond is not None:
        first = compared_first(len(problem.rows))
        return Parted(problem.rows[first:], problem.rows[:first], problem.rows[:0], problem.rows[first:])
    labels = problem.folds.labels
    return Parted.of(problem.rows, problem.strata, labels, labels, problem.seed)


def _chosen(
    problem: PosedScales,
    units: SampleUnits,
    parted: Parted,
    centres: float,
    total: int,
    penalty: float | None,
    tol: float,
    max_iter: int,
    observe: Observer,
) -> ChosenScales:
    with limited(CHOICE_TIME * seconds_left()):
        first = _first_scales(problem, parted, penalty, tol, max_iter)
    with limited(CHOICE_TIME * seconds_left()):
        descent = _descend_by_landmarks(problem, parted, first, tol, max_iter, observe)
    scales = first.scales[0]
    alpha = first.alpha
    if descent is not None:
        scales = problem.form.scales(descent.parameters)
        alpha = descent.alpha
    return ChosenScales(units, first, descent, scales, alpha, centres_of(problem, scales, centres, total))


def _with_descent(learned: LearnedScales, descent: LandmarkScales | None) -> LearnedScales:
    """The scales with the steps and the certificate of the descent through landmarks."""
    assert learned.centred is not None
    if descent is None:
        return replace(learned, n_iter=0, history=())
    centred = replace(learned.centred, certificate=descent.certificate)
    return replace(learned, n_iter=descent.n_iter, history=descent.history, centred=centred)


# -- 1 and 2: scales ---------------------------------------------------------------------------------------------------


def _first_scales(
    problem: PosedScales, parted: Parted, penalty: float | None, tol: float, max_iter: int
) -> LearnedScales:
    rows = problem.subsample(parted.to_choose_on, ALL_SAMPLES)
    return learned_scales(
        problem.bank.block(rows, rows),
        problem.combination,
        HeldOut(problem.Y[rows], problem.folds.of_rows(rows), problem.fit_intercept),
        penalty=penalty,
        tol=tol,
        max_iter=max_iter,
        seed=problem.seed,
        sample_weight=problem.weights(rows),
        rank=problem.rank,
    )


def _descend_by_landmarks(
    problem: PosedScales, parted: Parted, first: LearnedScales, tol: float, max_iter: int, observe: Observer
) -> LandmarkScales | None:
    """The end of the descent through landmarks; None where no sample can be held out, or time is up."""
    rows = LandmarkRows.of(parted.to_choose_on, problem.strata, problem.folds.labels, problem.seed)
    if not len(rows.held) or time_is_up():
        return None
    error = LandmarkError(
        problem.combination.kernels[0],
        problem.standard,
        problem.samples(rows.train),
        problem.samples(rows.held),
        problem.single(rows.landmarks),
        problem.fit_intercept,
        first.penalty,
    )
    starts = _starts(problem, first)
    start, alpha = min(starts, key=lambda scales_and_ridge: error.value(*scales_and_ridge))
    descent = scales_by_landmarks(error, start, alpha, INNER * tol, max_iter, observe)
    if time_is_up():
        warn_of_cut_choice("the descent by which scales are learned on some thousands of samples was cut short")
    elif not descent.settled:
        warn_user(
            f"learned scales: the descent on some thousands of samples was ended by max_iter={max_iter}, at a "
            f"{descent.certificate} of its error: raise max_iter",
            ConvergenceWarning,
        )
    return descent


def _starts(problem: PosedScales, first: LearnedScales) -> list[tuple[Array, float]]:
    """Parameters and ridges from which a descent may begin: those of the first scales, and equal scales.

    Entries of a wide kernel differ only in their last digits, which single precision does not have. So scales of wide
    kernels are enlarged: with a ridge that is multiplied by a power of the same factor, the functions are nearly equal.
    """
    form = problem.form
    scales = first.scales[0]
    half = half_distance(problem.combination.kernels[0])
    total = form.total(scales)
    # 0 where all features are constant
    if total > 0.0:
        larger = max(1.0, _WIDEST * half / total)
    else:
        larger = 1.0
    starts = [(form.parameters(larger * scales), first.alpha * larger**power) for power in (1.0, 1.5, 2.0)]
    if form.wide is form:  # a metric of low rank has no equal scales
        starts += [(form.equal(half), ridge) for ridge in (1e-2, 1.0)]
    if larger > 1.0:
        return starts
    return starts[2:]
