"""The part of a response that repeats, and the best score that any model can reach, from repeats of samples.

Let y_r(i) be R responses to sample i, a signal and noise that is independent between repeats, P the mean over the
repeats of the variance over the samples, and V the variance of the mean response. Their expectations are

    E P = SP + NP,        E V = SP + NP / R,

with the power of the signal SP and of the noise NP, so that SP = (R V - P) / (R - 1) has no bias (Sahani and Linden,
"How linear are auditory cortical responses?", NIPS 15, 2003, equation 1). From it follow

    explainable variance                         SP / P
    the R2 that the signal itself would have     SP / V against the mean response, SP / P against a single one
    its correlation                              the root of these: CC_max

(Hsu, Borst and Theunissen, Network 15, 2004; Schoppe, Harper, Willmore, King and Schnupp, Frontiers in Computational
Neuroscience 10, 2016). A score divided by its ceiling is the signal power explained of Sahani and Linden for R2, and
CC_norm of Schoppe et al. for the correlation.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import check_array

from multikernel._arrays import refuse_masked, unmasked
from multikernel._parameters import FINITE, FLAG
from multikernel._rules import Choice
from multikernel._typing import Array
from multikernel.banks.threads import slices
from multikernel.tuning import BUFFER_VALUES

_SCORINGS = Choice(("r2", "correlation"))
_AGAINST = Choice(("mean", "single"))


def explainable_variance(repeats: Any, *, bias_correction: bool = True) -> Any:
    """The part of the variance of a response that is the same in every repeat.

    Parameters
    ----------
    repeats : array (R, n, t) of R >= 2 responses of t targets to the same n samples, or (R, n) for one target
    bias_correction : bool, default True
        Whether the noise that remains in a mean over R repeats is subtracted: SP / P, which is negative for some
        targets without a signal. Otherwise V / P, which is about 1 / R for targets without a signal.

    Returns
    -------
    array (t,), or float for one target; 0 where responses do not vary

    Raises
    ------
    ValueError : for another shape, a single repeat or sample, and for numbers that are not finite

    References
    ----------
    Sahani and Linden (2003), How linear are auditory cortical responses?, NIPS 15, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import explainable_variance
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.normal(size=(500, 2)) * [2.0, 0.0]
    >>> explainable_variance(signal + rng.normal(size=(10, 500, 2))).round(1)
    array([0.8, 0. ])
    """
    FLAG.check(bias_correction, "explainable_variance: bias_correction")
    single, of_mean, signal = _powers(repeats, "explainable_variance")
    return _ratio(signal if bias_correction else of_mean, single, repeats)


def noise_ceiling(
    repeats: Any,
    *,
    scoring: Literal["r2", "correlation"] = "r2",
    against: Literal["mean", "single"] = "mean",
) -> Any:
    """The score that the signal itself would have: the highest score that can be expected of any model.

    Parameters
    ----------
    repeats : array (R, n, t) of R >= 2 responses of t targets to the same n samples, or (R, n) for one target
    scoring : {"r2", "correlation"}, default "r2"
    against : {"mean", "single"}, default "mean"
        Whether models are scored against the mean of these R responses, or against a single one.

    Returns
    -------
    array (t,) in [0, 1], or float for one target; 0 where no signal is found

    Raises
    ------
    ValueError : for another shape, a single repeat or sample, and for numbers that are not finite

    References
    ----------
    Schoppe, Harper, Willmore, King and Schnupp (2016), Measuring the performance of neural models, Frontiers in
    Computational Neuroscience 10; Hsu, Borst and Theunissen (2004), Quantifying variability in neural responses and its
    application for the validation of model predictions, Network 15.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import noise_ceiling
    >>> rng = np.random.default_rng(0)
    >>> repeats = rng.normal(size=500) + rng.normal(size=(4, 500))
    >>> round(noise_ceiling(repeats), 1), round(noise_ceiling(repeats, against="single"), 1)
    (0.8, 0.5)
    """
    _SCORINGS.check(scoring, "noise_ceiling: scoring")
    _AGAINST.check(against, "noise_ceiling: against")
    single, of_mean, signal = _powers(repeats, "noise_ceiling")
    ceiling = _ratio(np.maximum(signal, 0.0), of_mean if against == "mean" else single, repeats)
    if scoring == "r2":
        return ceiling
    return np.sqrt(ceiling)


def normalized_scores(scores: Any, ceiling: Any, *, minimum: float = 0.0) -> Any:
    """Scores divided by the noise ceiling of their target; NaN where the ceiling is too low to divide by.

    Parameters
    ----------
    scores : array (t,), or (m, t) of scores that are split over kernels; or a float; of the samples of ``ceiling``
    ceiling : array (t,) or float, as ``noise_ceiling`` returns it for the same scoring
    minimum : float >= 0, default 0
        Targets with a ceiling of at most this have NaN: a small ceiling is uncertain, and so are scores divided by it.

    Returns
    -------
    array of the shape of the scores, or float; above 1 for some targets, as scores and ceilings are estimates

    Raises
    ------
    ValueError : for shapes that do not fit, and for a minimum that is not a number >= 0

    Examples
    --------
    >>> from multikernel import normalized_scores
    >>> normalized_scores([0.2, 0.1, 0.0], [0.8, 0.2, 0.0])
    array([0.25, 0.5 ,  nan])
    """
    FINITE.check(minimum, "normalized_scores: minimum")
    values = np.asarray(unmasked(scores), dtype=float)
    limit = np.asarray(unmasked(ceiling), dtype=float)
    if minimum < 0 or limit.shape != values.shape[values.ndim - limit.ndim :]:
        raise ValueError(
            "normalized_scores: give a minimum >= 0 and one ceiling for each target, got scores of shape "
            f"{values.shape}, ceilings of shape {limit.shape} and minimum={minimum!r}"
        )
    is_reliable = np.broadcast_to(limit > minimum, values.shape)
    ratios = np.divide(values, limit, out=np.full(values.shape, np.nan), where=is_reliable)
    if ratios.ndim == 0:
        return float(ratios)
    return ratios


def _powers(repeats: Any, name: str) -> tuple[Array, Array, Array]:
    """P, V and SP of every target, arrays (t,), in units of the target in which no square is beyond floating point."""
    refuse_masked(repeats, "repeats")
    values = check_array(repeats, ensure_2d=False, allow_nd=True, dtype=(np.float64, np.float32), input_name="repeats")
    if values.ndim not in (2, 3) or min(values.shape[:2]) < 2:
        raise ValueError(
            f"{name}: repeats must have the shape (repeats, samples, targets) or (repeats, samples), with at least two "
            f"repeats and two samples; got shape {values.shape}"
        )
    R, n = values.shape[:2]
    values = values.reshape(R, n, -1)
    single, of_mean = np.empty((2, values.shape[2]))
    for columns in slices(values.shape[2], max(1, BUFFER_VALUES // (R * n))):
        block = values[:, :, columns].astype(float)
        block = np.ldexp(block, -np.frexp(np.abs(block).max(axis=(0, 1)))[1])  # to [-1, 1], without rounding
        single[columns] = block.var(axis=1, ddof=1).mean(axis=0)
        of_mean[columns] = block.mean(axis=0).var(axis=0, ddof=1)
        constant = np.ptp(block, axis=1).max(axis=0) == 0
        single[columns][constant] = 0.0
        of_mean[columns][constant] = 0.0  # rounding of the mean may leave some
    return single, of_mean, (R * of_mean - single) / (R - 1)


def _ratio(numerator: Array, denominator: Array, repeats: Any) -> Any:
    """The ratio for each target, zero where the denominator is zero; a float for one target."""
    ratios = np.divide(numerator, denominator, out=np.zeros(len(denominator)), where=denominator > 0)
    if np.ndim(repeats) == 2:
        return float(ratios[0])
    return ratios
