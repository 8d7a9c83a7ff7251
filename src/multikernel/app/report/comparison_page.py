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
    """The report as HTML text; ``command`` has the words of the command that makes it again."""
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
    """The scores as a drawing, the best method above."""
    title = f"Scores on held-out folds of {Path(comparison.file).name}"
    return row_charts.folds(title, [(each.method, each.scores) for each in comparison.best_first], comparison.measure)


def seconds(comparison: Comparison) -> Markup:
    """What the methods cost as a drawing, in the same order."""
    title = f"Seconds of choosing and fitting of {Path(comparison.file).name}"
    rows = [(each.method, [("choice and fit", each.seconds)]) for each in comparison.best_first]
    return row_charts.times(title, rows)


def headline(comparison: Comparison) -> str:
    """The result in two sentences: the best method, and how the automatic estimator stands beside it."""
    ordered = comparison.best_first
    best = ordered[0]
    own = next((result for result in ordered if result.method == "automatic"), None)
    name = "The automatic estimator"
    if own is not best:
        name = f"The method {best.method!r}"
    text = f"{name} has the highest mean {comparison.measure}, {best.mean:.3f} ± {best.std:.3f}."
    if own is not None and own is not best:
        text += f" The automatic estimator reaches {own.mean:.3f} ± {own.std:.3f}."
        return f"{text} {_beside(own, best)}"
    if len(ordered) < 2:
        return text
    return f"{text} {_beside(best, ordered[1])}"


def _beside(one: MethodScores, other: MethodScores) -> str:
    return f"Against {other.method!r} it is {folds_ahead(one.scores, other.scores)}."


def folds_ahead(scores: Sequence[float], others: Sequence[float]) -> str:
    """In how many folds scores are above others, equal to them, and below, in words."""
    difference = np.array(scores) - np.array(others)
    ahead = int((difference > 1e-12).sum())
    behind = int((difference < -1e-12).sum())
    equal = len(difference) - ahead - behind
    return f"ahead in {ahead} of {len(difference)} folds, equal in {equal} and behind in {behind}"
