"""The table of a search, and which of its candidates is the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._parameters import FINITE
from multikernel._typing import Array

SIMPLER = {"lam": 1, "alpha": 1, "C": -1}  # the direction in which a parameter makes a model simpler
_EQUAL = 1e-12  # of the best score: scores that differ by less are equal


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


def results(candidates: Sequence[dict[str, Any]], found: Sequence[Sequence[Scored]]) -> dict[str, Any]:
    """The table of GridSearchCV; of one metric without a name the key is "score".

    Parameters
    ----------
    candidates : their parameters
    found : for each candidate what it did on each fold
    """
    table: dict[str, Any] = {"params": list(candidates)}
    for name in sorted({name for params in candidates for name in params}):
        table[f"param_{name}"] = [params.get(name) for params in candidates]
    for metric in found[0][0].scores:
        scores = np.array([[fold.scores[metric] for fold in folds] for folds in found])
        mean = scores.mean(axis=1)
        table |= {f"split{s}_test_{metric}": scores[:, s] for s in range(scores.shape[1])}
        table[f"mean_test_{metric}"] = mean
        table[f"std_test_{metric}"] = scores.std(axis=1)
        table[f"rank_test_{metric}"] = 1 + (mean[:, None] < mean[None, :]).sum(axis=1)
    table["mean_fit_time"] = np.array([[fold.seconds for fold in folds] for folds in found]).mean(axis=1)
    return table


def best(
    table: dict[str, Any], metric: str, folds: int, simpler: Array | None, complexity: list[tuple[float, ...]]
) -> int:
    """The simplest of the best mean scores, the first of equally simple ones; or within one standard error of it.

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
    first = min(np.flatnonzero(mean >= highest - _EQUAL * abs(highest)).tolist(), key=lambda c: complexity[c])
    if simpler is None:
        return first
    error = table[f"std_test_{metric}"][first] * np.sqrt(folds / max(folds - 1, 1)) / np.sqrt(folds)
    return int(np.nanargmax(np.where(mean >= mean[first] - error, simpler, np.nan)))


def simplicity(candidates: Sequence[dict[str, Any]]) -> Array:
    """For each candidate how simple its model is: the one parameter of the model that says so.

    Raises
    ------
    ValueError : where there is none, or more than one
    """
    known = sorted({name for params in candidates for name in params if name in SIMPLER})
    if len(known) != 1:
        raise ValueError(
            f"one_standard_error needs exactly one of {', '.join(SIMPLER)} in param_grid, to tell which model is "
            f"simpler; got {', '.join(known) or 'none of them'}"
        )
    return np.array([SIMPLER[known[0]] * float(params.get(known[0], np.nan)) for params in candidates])


def complexity(params: dict[str, Any], kernels: int) -> tuple[float, ...]:
    """Which of two models is the simpler: that with fewer kernels, then by the parameters of ``SIMPLER`` in turn."""
    known = {name: value for name, value in params.items() if FINITE.accepts(value)}  # what "auto" becomes is not
    return (kernels, *(-direction * float(known.get(name, 0.0)) for name, direction in SIMPLER.items()))
