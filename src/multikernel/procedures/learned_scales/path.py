"""Paths of scales along a decreasing penalty, and the choice of the penalty by samples that no scale was fitted to.

While the penalty is large, the common scale and the ridge converge; as it falls, the scales of the most relevant
features begin to differ. The minimum at the end of such a path predicts better than one found with a small penalty from
the beginning (R^2 of new samples .879 instead of .863 on cpu, .879 instead of .870 on servo, .893 instead of .888 on
housing).

It may still be a bad minimum where few features of many are relevant. Scales that are proposed by each feature's
evidence and by gradients (starts.py) are therefore tried as soon as the penalty lets scales differ: they replace the
path so far if their held-out error is clearly lower, and are a second start if it is not higher.

Scales are fitted to the folds, and the more so the smaller the penalty. How much is measured by leaving out each fold
from everything that chooses scales,

    outer error    sum over three folds V of |r_V|^2 / n,    the scales of r_V from the folds other than V

and the penalty of the lowest outer error is chosen. (The largest penalty within one standard error of it hides relevant
features where samples are few.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from multikernel._folds import FOLDS
from multikernel._typing import Array
from multikernel._workers import on_threads
from multikernel.banks.threads import n_threads
from multikernel.procedures.learned_scales.curvature import trial_at
from multikernel.procedures.learned_scales.descent import descent_from
from multikernel.procedures.learned_scales.error import ScalesError, Trial
from multikernel.procedures.learned_scales.starts import Equal, beginning, proposed

PENALTIES = (30.0, 10.0, 3.0, 1.0)


@dataclass(frozen=True, eq=False)
class Chosen:
    """A penalty, E at the end of the path to it, and its outer error; NaN where that was not measured."""

    penalty: float
    trial: Trial
    outer: float


def trials_along_path(
    error: ScalesError, equal: Equal, penalties: Sequence[float], tol: float, max_iter: int
) -> list[Trial]:
    """E at the minima for a decreasing sequence of penalties, each found from the one before."""
    trials: list[Trial] = []
    error = replace(error, penalty=penalties[0])
    trial = beginning(error, equal)
    joined = min(value for value in penalties if value >= 3.0)  # where the second start joins the path
    for penalty in penalties:
        before = error.penalty
        error = replace(error, penalty=penalty)
        trial = error.repriced(trial, before)
        starts = _starts_with_proposal(error, trial, equal) if penalty == joined else [trial]
        ends = [descent_from(error, start, max(tol, 0.03), max_iter).best for start in starts]
        trial = min(ends, key=lambda end: end.value)
        trials.append(trial)
    return trials


def _starts_with_proposal(error: ScalesError, trial: Trial, equal: Equal) -> list[Trial]:
    """The starts of a descent: the path so far, the proposed scales, or both.

    Proposed scales alone are used only where they lower the error by a fifth: less may be an effect of the folds.
    """
    u = proposed(error, equal)
    proposal = None if u is None else trial_at(error, u)
    if proposal is None or proposal.loss > trial.loss:
        return [trial]
    if proposal.loss < 0.8 * trial.loss:
        return [proposal]
    return [trial, proposal]


def with_given_penalty(error: ScalesError, equal: Equal, tol: float, max_iter: int) -> Chosen:
    """The end of the path to the penalty of the error."""
    ladder = [*(value for value in PENALTIES if value > error.penalty), error.penalty]
    return Chosen(error.penalty, trials_along_path(error, equal, ladder, tol, max_iter)[-1], np.nan)


def with_chosen_penalty(error: ScalesError, equal: Equal, tol: float, max_iter: int) -> Chosen:
    """The end of the path for the penalty of least outer error; paths on all samples and without folds run at once."""
    folds = error.held_out.folds.merged(FOLDS).tests()[:3]  # three are left out, one after the other
    path_of_all = partial(trials_along_path, error, equal, PENALTIES, tol, max_iter)
    paths_without_fold = [partial(_outer_errors, error, rows, equal, tol, max_iter) for rows in folds]
    tasks: list[Callable[[], Any]] = [path_of_all, *paths_without_fold]
    trials, *outer_errors = on_threads(tasks, n_threads())
    outer = np.sum(outer_errors, axis=0)
    first = int(np.argmin(outer))
    count = float((error.held_out.ones[np.concatenate(folds)] ** 2).sum())
    return Chosen(PENALTIES[first], trials[first], float(outer[first]) / count)


def _outer_errors(error: ScalesError, rows: Array, equal: Equal, tol: float, max_iter: int) -> list[float]:
    """The squared error of these samples for each penalty, with scales from the path on the other samples."""
    error_without = error.on(np.setdiff1d(np.arange(len(error.held_out.Y)), rows))
    path = trials_along_path(error_without, equal, PENALTIES, tol, max_iter)
    return [float(error.squares(trial.u)[rows].sum()) for trial in path]


def can_choose(error: ScalesError) -> bool:
    """Whether at least two folds with weight remain when one is left out."""
    folds = error.held_out.folds.merged(FOLDS)
    return replace(error.held_out, folds=folds).used > 2 and bool(len(error.form.varied) > 1)
