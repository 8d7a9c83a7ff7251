"""Scales inside kernels, weights of the kernels and ridge of least held-out error.

    min over w, s > 0 of  log L(sum_r w_r f_r(sum_k s_rk D_k)) + penalty / n * sum_r sum of squares_k(log s_rk)

(error.py). The problem is not convex. Equal scales of several widths are tried first, with several ridges, on some of
the samples where there are many. Descents (descent.py) start from the best of them, and from scales that gradients
propose (starts.py): on these samples while the penalty falls (path.py), and then on all samples. The end is no worse
than the best equal scales, except for a metric of low rank, which has no equal scales.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._memory import check_memory
from multikernel._typing import Array
from multikernel._workers import time_is_up, warn_of_cut_choice
from multikernel.banks import KernelBank
from multikernel.banks.products import ColumnProductsBank
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import Certificate
from multikernel.combinations import Profiles
from multikernel.observer import Observer, silent
from multikernel.procedures.base import Weights
from multikernel.procedures.learned_scales.descent import DescentEnd, descent_from
from multikernel.procedures.learned_scales.error import ScalesError, mean_distances
from multikernel.procedures.learned_scales.forms import Form, Separate
from multikernel.procedures.learned_scales.metrics import FullMetric, LowRankMetric
from multikernel.procedures.learned_scales.path import can_choose, with_chosen_penalty, with_given_penalty
from multikernel.procedures.learned_scales.starts import at_point, equal_scales
from multikernel.procedures.ridge_cv.residuals import HeldOut
from multikernel.procedures.units import RegressionUnits
from multikernel.tuning import SCALES_ONE_THREAD

USUAL_PENALTY = 3.0  # where none is given, and there are too few folds to choose it


@dataclass(frozen=True, eq=False)
class CentredScales:
    """How scales were learned through few of many samples.

    Parameters
    ----------
    rows : int array (M,), the samples that are the centres of the kernel
    certificate : Certificate, the stationarity of the error through landmarks; None where it was not lowered
    error : float, of the kernel matrix: |K - C K_ZZ^{-1} C'| / |K|, estimated on some of the samples
    """

    rows: Array
    certificate: Certificate | None
    error: float


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedScales(Weights):
    """Weights of the kernels that sum to 1, the scales inside the kernels, and the ridge for both.

    Parameters
    ----------
    scales : array (R, m), the scales of the m distances in each of R kernels, or a metric (c, c) row by row
    means : array (m,) or (c,), the mean distances over pairs of samples, the inverse units of the scales
    alpha : float, the ridge
    errors : array (t,), the mean squared held-out error of each target
    equal : float, the least held-out error of equal scales that was found, the sum over the targets
    constant : float, the held-out error of the constant predictor, the sum over the targets
    outer : float, the held-out error, on some of the samples, of scales that are learned without the samples held out;
        NaN where the penalty was given
    penalty : float, the one given or chosen
    centred : CentredScales, where scales were learned through few of many samples; else None
    """

    scales: Array
    means: Array
    alpha: float
    errors: Array
    equal: float
    constant: float
    outer: float
    penalty: float
    centred: CentredScales | None = None

    @property
    def theta(self) -> Array:
        """The parameters of the combination."""
        return np.concatenate([self.values, self.scales.ravel()])


def learned_scales(
    bank: KernelBank,
    combination: Profiles,
    held_out: HeldOut,
    penalty: float | None = USUAL_PENALTY,
    tol: float = 1e-2,
    max_iter: int = 100,
    seed: int = 0,
    observe: Observer = silent,
    sample_weight: Array | None = None,
    rank: int | None = None,
) -> LearnedScales:
    """Scales, weights and ridge of least penalised held-out error.

    Parameters
    ----------
    bank : KernelBank of distances, of shape (n, n); a ColumnProductsBank of all pairs of columns for a metric
    combination : Profiles
    held_out : the targets and the folds
    penalty : float >= 0, one over the prior variance of the logarithms of the scales; None chooses it by outer errors
    tol : the stationarity at which to stop: the relative change of the error, to first order, if one parameter changes
        by a factor e
    max_iter : steps at most on some, and on all, of the samples
    seed : of the samples on which the steps begin
    observe : called after each step on all samples
    sample_weight : array (n,) >= 0, what the squared error of each sample is multiplied with
    rank : of a metric; full if not given
    """
    units = RegressionUnits.of(held_out.Y)
    n = len(held_out.Y)
    held_out = replace(held_out, Y=held_out.Y / units.target)
    if sample_weight is not None:
        held_out = held_out.weighted(sample_weight)
    matrices = 3.0 + len(combination.kernels)
    check_memory(matrices * n * n, f"learning scales inside kernels of {n} samples", "take a part of the samples")
    first = USUAL_PENALTY if penalty is None else penalty
    error = ScalesError(bank, combination, held_out, first, form_of(bank, rank, seed, sample_weight))
    subsample = _on_subsample(error, 500, seed)  # on which the steps begin; equal scales are compared on half of them
    with one_blas_thread(0):
        equal = equal_scales(subsample, _on_subsample(error, 250, seed))
        if penalty is None and can_choose(subsample):
            choice = with_chosen_penalty(subsample, equal, tol, max_iter)
        else:
            choice = with_given_penalty(subsample, equal, tol, max_iter)
        error = replace(error, penalty=choice.penalty)
    if time_is_up():
        if penalty is None:
            compared = "the first scales and the penalty"
        else:
            compared = "the first scales"
        warn_of_cut_choice(f"the descents were cut short by which {compared} are compared")
    with one_blas_thread(n, SCALES_ONE_THREAD):
        loss = equal.loss(error)
        start = at_point(error, choice.trial.u)
        if start.loss > loss and error.widened is error:  # up to the prior, which is 0 for equal scales
            start = at_point(error, error.equal(equal.weight, equal.width))
        run = descent_from(error, start, tol, max_iter, observe)
    return _result(error, run, loss, choice.outer, tol, units)


def form_of(bank: KernelBank, rank: int | None, seed: int, sample_weight: Array | None) -> Form:
    """A metric where the bank has the products of its columns, else a scale for each distance."""
    if not isinstance(bank, ColumnProductsBank):
        return Separate.of(bank, mean_distances(bank, seed, sample_weight))
    form = FullMetric(mean_distances(bank.separate, seed, sample_weight))
    if rank is None or rank >= len(form.varied):
        return form
    return LowRankMetric(form.means, rank)


def _on_subsample(error: ScalesError, count: int, seed: int) -> ScalesError:
    """The error on ``count`` of the samples; on all where there are no more, or all but one fold would be empty."""
    n = len(error.held_out.Y)
    if n > count:
        subsample = error.on(np.sort(np.random.default_rng(seed).permutation(n)[:count]))
    else:
        subsample = error
    if subsample.held_out.used > 1:
        return subsample
    return error


def _result(
    error: ScalesError, run: DescentEnd, equal: float, outer: float, tol: float, units: RegressionUnits
) -> LearnedScales:
    """The result, with weights that sum to 1: their scale goes into the ridge."""
    R = len(error.combination.kernels)
    theta = error.theta(run.best.u)
    total = float(theta[:R].sum())
    errors = units.squared(run.best.errors)
    return LearnedScales(
        values=theta[:R] / total,
        objective=float(errors.sum()),
        certificate=run.certificate,
        converged=run.certificate.reached(tol),
        n_iter=len(run.history) - 1,
        history=run.history,
        scales=theta[R:].reshape(len(error.halves), -1),
        means=error.form.means,
        alpha=1.0 / total,
        errors=errors,
        equal=units.squared(equal),
        constant=units.squared(error.held_out.constant()),
        outer=units.squared(outer),
        penalty=error.penalty,
    )
