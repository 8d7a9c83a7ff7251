"""The report of ``multikernel compare``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from multikernel.app import row_charts
from multikernel.app.jobs.compare import Comparison, MethodScores
from multikernel.app.report.page import page


def render(comparison: Comparison, command: Sequence[str]) -> str:
    """The report as HTML text; ``command`` has the words of the command that writes it again."""
    return page(
        "comparison.html.j2",
        comparison=comparison,
        name=Path(comparison.file).name,
        results=comparison.best_first,
        headline=headline(comparison),
        scores=scores(comparison),
        seconds=seconds(comparison),
        command=shlex.join(command),
    )


def scores(comparison: Comparison) -> Markup:
    """A drawing of the scores, the best method first."""
    title = f"Scores on held-out folds of {Path(comparison.file).name}"
    return row_charts.folds(
        title, [(result.method, result.scores) for result in comparison.best_first], comparison.measure
    )


def seconds(comparison: Comparison) -> Markup:
    """A drawing of the times of the methods, in the order of ``scores``."""
    title = f"Seconds of choosing and fitting of {Path(comparison.file).name}"
    rows = [(result.method, [("choice and fit", result.seconds)]) for result in comparison.best_first]
    return row_charts.times(title, rows)


def headline(comparison: Comparison) -> str:
    """The result in two sentences: the best method, and how it compares with the automatic estimator or the next."""
    ordered = comparison.best_first
    best = ordered[0]
    automatic = next((result for result in ordered if result.method == "automatic"), None)
    name = "The automatic estimator"
    if automatic is not best:
        name = f"The method {best.method!r}"
    text = f"{name} has the highest mean {comparison.measure}, {best.mean:.3f} ± {best.std:.3f}."
    if automatic is not None and automatic is not best:
        text += f" The automatic estimator reaches {automatic.mean:.3f} ± {automatic.std:.3f}."
        return f"{text} {_comparison_sentence(automatic, best)}"
    if len(ordered) < 2:
        return text
    return f"{text} {_comparison_sentence(best, ordered[1])}"


def _comparison_sentence(method: MethodScores, other: MethodScores) -> str:
    return f"Against {other.method!r} it is {folds_ahead(method.scores, other.scores)}."


def folds_ahead(scores: Sequence[float], other_scores: Sequence[float]) -> str:
    """The numbers of folds in which scores are above other scores, equal and below, in words."""
    difference = np.array(scores) - np.array(other_scores)
    ahead = int((difference > 1e-12).sum())
    behind = int((difference < -1e-12).sum())
    equal = len(difference) - ahead - behind
    return f"ahead in {ahead} of {len(difference)} folds, equal in {equal} and behind in {behind}"
