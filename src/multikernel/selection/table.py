"""The table of a search, and which of its candidates is the best."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array
from multikernel.estimators.simplicity import SIMPLER


@dataclass(frozen=True, eq=False)
class Scored:
    """A candidate on one fold.

    Parameters
    ----------
    scores : the score of each metric
    seconds : float, of the fit
    weights : array (m,) or (problems, m), the kernel weights
    """

    scores: dict[str, float]
    seconds: float
    weights: Array


def results(candidates: Sequence[dict[str, Any]], scores_of_candidates: Sequence[Sequence[Scored]]) -> dict[str, Any]:
    """The table of GridSearchCV: arrays, and lists of parameters; of one metric without a name the key is "score".

    Parameters
    ----------
    candidates : their parameters
    scores_of_candidates : for each candidate its ``Scored`` on every fold
    """
    table: dict[str, Any] = {"params": list(candidates)}
    for name in sorted({name for params in candidates for name in params}):
        table[f"param_{name}"] = [params.get(name) for params in candidates]
    for metric in scores_of_candidates[0][0].scores:
        scores = np.array([[fold.scores[metric] for fold in folds] for folds in scores_of_candidates])
        mean = scores.mean(axis=1)
        table |= {f"split{s}_test_{metric}": scores[:, s] for s in range(scores.shape[1])}
        table[f"mean_test_{metric}"] = mean
        table[f"std_test_{metric}"] = scores.std(axis=1)
        lowest_if_nan = np.where(np.isnan(mean), -np.inf, mean)
        table[f"rank_test_{metric}"] = 1 + (lowest_if_nan[:, None] < lowest_if_nan[None, :]).sum(axis=1)
    table["mean_fit_time"] = np.array([[fold.seconds for fold in folds] for folds in scores_of_candidates]).mean(axis=1)
    return table


def best(table: dict[str, Any], metric: str, one_standard_error: bool, complexity: list[tuple[float, ...]]) -> int:
    """The candidate with the best mean score: the simplest of equal ones, the first of equally simple ones; not NaN.

    Parameters
    ----------
    table : as ``results`` returns it
    metric : the one that decides
    one_standard_error : whether scores within one standard error of the best are as good
    complexity : of each candidate, smaller where it is simpler

    Raises
    ------
    ValueError : where no candidate has a score
    """
    mean = table[f"mean_test_{metric}"]
    if np.isnan(mean).all():
        raise ValueError(
            "every candidate scored NaN: check that the score is defined on each fold, which may need samples of every "
            "class or more than one sample"
        )
    highest = float(np.nanmax(mean))
    # scores that differ by less are equal up to rounding
    first = _simplest(_within(mean, highest, 1e-12 * abs(highest)), complexity)
    if not one_standard_error:
        return first
    scores = [
        values[first] for key, values in table.items() if re.fullmatch(rf"split\d+_test_{re.escape(metric)}", key)
    ]
    if len(scores) > 1:
        standard_error = float(np.std(scores, ddof=1)) / np.sqrt(len(scores))
    else:
        standard_error = 0.0
    return _simplest(_within(mean, mean[first], standard_error), complexity)


def _within(mean: Array, highest: float, margin: float) -> Array:
    """Which scores are within a margin of the highest, also where that is infinite."""
    return mean >= (highest - margin if np.isfinite(highest) else highest)


def _simplest(eligible: Array, complexity: list[tuple[float, ...]]) -> int:
    return min(np.flatnonzero(eligible).tolist(), key=lambda c: complexity[c])


def check_simplicity(candidates: Sequence[dict[str, Any]]) -> None:
    """ValueError where no parameter of the candidates decides which of them is simpler."""
    components = {component for params in candidates for name in params for component in name.split("__")}
    if not components & {*SIMPLER, "kernels"}:
        raise ValueError(
            f"one_standard_error needs kernels or one of {', '.join(SIMPLER)} in param_grid, to decide which model is "
            f"simpler; got {', '.join(sorted(components)) or 'none of them'}"
        )
