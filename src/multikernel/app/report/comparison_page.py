"""The report of ``multikernel compare``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from multikernel.app.jobs.compare import Comparison, MethodScores
from multikernel.app.report.page import BASELINE, LEARNED, page
from multikernel.reproduce.pages.html import inline_svg

_WIDE = 10.0  # times the least seconds: beyond it an axis from zero would hide the short ones


def render(comparison: Comparison) -> str:
    """The report as HTML text."""
    ordered = sorted(comparison.results, key=lambda result: -result.mean)
    return page(
        "comparison.html.j2",
        comparison=comparison,
        name=Path(comparison.file).name,
        results=ordered,
        headline=headline(comparison),
        scores=scores(comparison, (4.7, 3.4)),
        seconds=seconds(comparison, (4.7, 3.4)),
        command=shlex.join(
            [
                *("multikernel", "compare", comparison.file, "--target", comparison.target),
                *("--folds", str(comparison.folds), "--seed", str(comparison.seed)),
            ]
        ),
    )


def scores(comparison: Comparison, size: tuple[float, float]) -> Markup:
    """The scores as a drawing, the best method above."""
    ordered = sorted(comparison.results, key=lambda result: -result.mean)
    title = f"Scores on held-out folds of {Path(comparison.file).name}"
    return Markup(inline_svg(lambda ax: _scores(ax, ordered, comparison), title, size))


def seconds(comparison: Comparison, size: tuple[float, float]) -> Markup:
    """What the methods cost as a drawing, in the same order."""
    ordered = sorted(comparison.results, key=lambda result: -result.mean)
    title = f"Seconds of choosing and fitting of {Path(comparison.file).name}"
    return Markup(inline_svg(lambda ax: _seconds(ax, ordered), title, size))


def headline(comparison: Comparison) -> str:
    """The result in two sentences: the best method, and how the automatic estimator stands beside it."""
    ordered = sorted(comparison.results, key=lambda result: -result.mean)
    best = ordered[0]
    own = next((result for result in ordered if result.method == "automatic"), None)
    name = "The automatic estimator" if own is best else f"The method {best.method!r}"
    said = f"{name} has the highest mean {comparison.measure}, {best.mean:.3f} ± {best.std:.3f}."
    if own is not None and own is not best:
        said += f" The automatic estimator reaches {own.mean:.3f} ± {own.std:.3f}."
        return f"{said} {_beside(own, best)}"
    if len(ordered) < 2:
        return said
    return f"{said} {_beside(best, ordered[1])}"


def _beside(one: MethodScores, other: MethodScores) -> str:
    difference = np.array(one.scores) - np.array(other.scores)
    ahead = int((difference > 1e-12).sum())
    behind = int((difference < -1e-12).sum())
    equal = len(difference) - ahead - behind
    return (
        f"Against {other.method!r} it is ahead in {ahead} of {len(difference)} folds, equal in {equal} and behind in "
        f"{behind}."
    )


def _scores(ax: Any, ordered: list[MethodScores], comparison: Comparison) -> None:
    for row, result in enumerate(ordered):
        color = _color(result)
        ax.plot(result.scores, [row] * len(result.scores), "o", color=color, markersize=4, alpha=0.35)
        ax.errorbar(result.mean, row, xerr=result.std, fmt="o", color=color, markersize=7, linewidth=2, capsize=3)
        ax.annotate(f"{result.mean:.3f}", (result.mean, row), (0, 8), textcoords="offset points", ha="center")
    ax.set_xlabel(comparison.measure)
    _name_rows(ax, ordered)


def _seconds(ax: Any, ordered: list[MethodScores]) -> None:
    for row, result in enumerate(ordered):
        ax.plot(result.seconds, row, "s", color=_color(result), markersize=7)
        ax.annotate(f"{result.seconds:.2g} s", (result.seconds, row), (0, 8), textcoords="offset points", ha="center")
    times = [result.seconds for result in ordered]
    if max(times) > _WIDE * min(times):
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.margins(x=0.12)
        ax.set_xlabel("seconds, logarithmic")
    else:
        ax.set_xlim(0.0, 1.15 * max(times))
        ax.set_xlabel("seconds")
    ax.xaxis.set_major_formatter(lambda value, position: f"{value:g}")
    _name_rows(ax, ordered)


def _color(result: MethodScores) -> str:
    return LEARNED if result.method == "automatic" else BASELINE


def _name_rows(ax: Any, ordered: list[MethodScores]) -> None:
    ax.set_yticks(range(len(ordered)), [result.method for result in ordered])
    ax.set_ylim(len(ordered) - 0.5, -0.8)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
