"""Scales inside a kernel, learned on many samples through few of them, and ridge regression on centres with these.

1. A fifth of the samples, whole folds, is held out. On a thousand of the others scales, ridge and penalty are found as
   on few samples (``search.py``).
2. From there the held-out error of some thousands falls further, through landmarks (``landmarks.py``).
3. Ridge regression with these scales, by the kernels of many centres, has the ridge of least error on the samples held
   out, and is then trained on all (``machines/ridge/centres.py``). With ``loss="logistic"`` labels -1 and +1 then have
   logistic losses, on the same centres and with the same scales, and a ridge of their own
   (``machines/logistic/centres.py``). Where every sample is a centre, the kernel of all is solved for at once
   (``machines/ridge/all_samples.py``).

Of samples that are read in chunks, the first two steps see a uniform sample alone, and the third all (``RowsBeyond``).

What is posed is in ``posed.py``, the last step in ``trained.py``; which samples take part in which step, in
``procedures/centres.py``. Learning is not sure to end at scales that are stationary for all samples: what is known is
the stationarity of the error through landmarks, and the duality gap of the machine with the scales found.
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

_WIDEST = 0.05  # mean distance at which a descent in single precision begins, in those that halve the kernel


def scales_of_many(
    posed: PosedScales,
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
    posed : PosedScales
    centres : int >= 1, how many; or a number in (0, 1), the error of the kernel matrix for which there are enough
    penalty : float >= 0 or None, as for ``learned_scales``
    tol : float, the stationarity at which the first descents stop; those through landmarks at a tenth of it
    max_iter : int, steps of a descent at most
    observe : called after each step through landmarks
    beyond : RowsBeyond, the rows of which the samples are some; None where these are all
    """
    kept = None if beyond is None else beyond.kept
    units = SampleUnits.of(posed) if kept is None else kept.units
    posed = replace(posed, Y=units.targets(posed.Y), weight=units.weights(posed.weight))
    total = len(posed.rows) if beyond is None else beyond.total
    parted = _parted(posed, beyond)
    chosen = kept or _chosen(posed, units, parted, centres, total, penalty, tol, max_iter, observe)
    trained = trained_machine(posed, parted, chosen, beyond, total)
    squared = units.target.squared
    errors = trained.errors
    constant = trained.constant
    if posed.loss == "squared":
        errors = squared(errors)
        constant = squared(constant)
    found = replace(
        chosen.first,
        objective=float(errors.sum()),
        certificate=None,
        converged=trained.solution.certificate.reached(tol),
        scales=chosen.scales[None, :],
        means=posed.form.means,
        alpha=units.weight * trained.alpha,
        errors=errors,
        equal=squared(chosen.first.equal),
        constant=float(constant.sum()),
        outer=squared(chosen.first.outer),
        centred=CentredScales(chosen.centres, None, trained.matrix_error),
    )
    return _with_descent(found, chosen.further), units.solution(trained.solution, posed.loss)


def _parted(posed: PosedScales, beyond: RowsBeyond | None) -> Parted:
    """Which samples are held out: whole folds, or the first of a random order."""
    if beyond is not None:
        first = compared_first(len(posed.rows))
        return Parted(posed.rows[first:], posed.rows[:first], posed.rows[:0], posed.rows[first:])
    labels = posed.folds.labels
    return Parted.of(posed.rows, posed.strata, labels, labels, posed.seed)


def _chosen(
    posed: PosedScales,
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
        first = _found_first(posed, parted, penalty, tol, max_iter)
    with limited(CHOICE_TIME * seconds_left()):
        further = _learned_further(posed, parted, first, tol, max_iter, observe)
    scales = first.scales[0]
    alpha = first.alpha
    if further is not None:
        scales = posed.form.scales(further.parameters)
        alpha = further.alpha
    return ChosenScales(units, first, further, scales, alpha, centres_of(posed, scales, centres, total))


def _with_descent(found: LearnedScales, further: LandmarkScales | None) -> LearnedScales:
    """What is known of the descent through landmarks."""
    assert found.centred is not None
    if further is None:
        return replace(found, n_iter=0, history=())
    centred = replace(found.centred, certificate=further.certificate)
    return replace(found, n_iter=further.n_iter, history=further.history, centred=centred)


# -- 1 and 2: scales ---------------------------------------------------------------------------------------------------


def _found_first(posed: PosedScales, parted: Parted, penalty: float | None, tol: float, max_iter: int) -> LearnedScales:
    rows = posed.some(parted.to_choose_on, ALL_SAMPLES)
    return learned_scales(
        posed.bank.block(rows, rows),
        posed.combination,
        HeldOut(posed.Y[rows], posed.folds.of_rows(rows), posed.fit_intercept),
        penalty=penalty,
        tol=tol,
        max_iter=max_iter,
        seed=posed.seed,
        sample_weight=posed.weights(rows),
        rank=posed.rank,
    )


def _learned_further(
    posed: PosedScales, parted: Parted, first: LearnedScales, tol: float, max_iter: int, observe: Observer
) -> LandmarkScales | None:
    """The end of the descent through landmarks; None where no samples are left to hold out, or no time."""
    rows = LandmarkRows.of(parted.to_choose_on, posed.strata, posed.folds.labels, posed.seed)
    if not len(rows.held) or time_is_up():
        return None
    error = LandmarkError(
        posed.combination.kernels[0],
        posed.standard,
        posed.samples(rows.train),
        posed.samples(rows.held),
        posed.single(rows.landmarks),
        posed.fit_intercept,
        first.penalty,
    )
    starts = _starts(posed, first)
    start, alpha = min(starts, key=lambda each: error.value(*each))
    found = scales_by_landmarks(error, start, alpha, INNER * tol, max_iter, observe)
    if time_is_up():
        warn_of_cut_choice("the descent by which scales are learned on some thousands of samples was cut short")
    elif not found.settled:
        warn_user(
            f"learned scales: the descent on some thousands of samples was ended by max_iter={max_iter}, at a "
            f"{found.certificate} of its error: raise max_iter",
            ConvergenceWarning,
        )
    return found


def _starts(posed: PosedScales, first: LearnedScales) -> list[tuple[Array, float]]:
    """Parameters and ridges from which a descent may begin: those found first, and equal scales.

    The wider a kernel, the more its entries differ in their last digits alone, which single precision has not. Scales
    of wide kernels are enlarged: with a ridge in proportion of a power, the functions are nearly the same.
    """
    form = posed.form
    scales = first.scales[0]
    half = half_distance(posed.combination.kernels[0])
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
