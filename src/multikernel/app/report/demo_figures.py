"""The figures of the report."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import MaxNLocator

from multikernel.app.demo.results import Study
from multikernel.app.report.page import BASELINE, LEARNED, OUTSIDE
from multikernel.reproduce.pages.html import inline_svg

_SHORT = {"easymkl": "EasyMKL", "average": "average", "best": "best single", "svc": "SVC, RBF"}


def draw(name: str, study: Study) -> str:
    """A figure of the report ("scores", "weights", "ratios" or "timings") as inline SVG."""
    plot, title = _FIGURES[name]
    return inline_svg(lambda ax: plot(ax, study), f"{title} on {study.name}", (4.7, 3.1))


def _weights(ax: Any, study: Study) -> None:
    """The learned weight of every degree, beside equal weights."""
    values = study.learned.weights
    ax.bar(range(len(values)), values, color=LEARNED, width=0.72)
    equal = 1 / len(values)
    ax.axhline(equal, color=BASELINE, linestyle="--", linewidth=1.2)
    ax.annotate("equal weights", (-0.4, equal), (0, 4), textcoords="offset points", fontsize=9.5)
    ax.set(xlabel="degree", ylabel="weight")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(False, axis="x")


def _ratios(ax: Any, study: Study) -> None:
    """The spectral ratio of every degree, with those of the learned and of the average kernel."""
    learned = study.learned
    degrees = range(len(learned.ratios))
    ax.plot(degrees, learned.ratios, "o-", color=BASELINE, markersize=4, linewidth=1.2)
    ax.annotate("one degree", (degrees[-1], learned.ratios[-1]), (-6, 2), textcoords="offset points", ha="right")
    for value, name, color, style, width in (
        (learned.ratio, "learned kernel", LEARNED, "-", 1.8),
        (learned.average_ratio, "average", BASELINE, "--", 1.2),
    ):
        ax.axhline(value, color=color, linestyle=style, linewidth=width)
        ax.annotate(f"{name} {value:.2f}", (0, value), (0, 4), textcoords="offset points")
    ax.set(xlabel="degree", ylabel="spectral ratio")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _scores(ax: Any, study: Study) -> None:
    """The area under the curve of every method: mean over the folds and one standard deviation."""
    for row, score in enumerate(study.scores):
        color = _color(score.key)
        ax.errorbar(score.mean, row, xerr=score.std, fmt="o", color=color, markersize=7, linewidth=2, capsize=3)
        ax.annotate(f"{score.mean:.3f}", (score.mean, row), (0, 8), textcoords="offset points", ha="center")
    left, right = ax.get_xlim()
    ax.set_xlim(left, min(right, 1.0 + 0.02 * (1.0 - left)))  # no area is above 1, though a bar may point there
    _name_rows(ax, study)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set(xlabel="area under the ROC curve")


def _timings(ax: Any, study: Study) -> None:
    """Seconds of one fit and of the whole choice of parameters, for every method."""
    for row, score in enumerate(study.scores):
        color = _color(score.key)
        ends = (score.fit_seconds, score.search_seconds)
        ax.plot(ends, (row, row), color=color, linewidth=2, alpha=0.45)
        for value, marker in zip(ends, "os", strict=True):
            ax.plot(value, row, marker, color=color, markersize=7)
            ax.annotate(duration(value), (value, row), (0, 8), textcoords="offset points", ha="center")
    ax.set_xscale("log")
    ax.margins(x=0.12)
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda value, position: f"{value:g} s" if value >= 0.1 else f"{value * 1e3:g} ms")
    _name_rows(ax, study)
    ax.set(xlabel="●  one fit     ■  choice and fit")


_FIGURES = {
    "scores": (_scores, "Area under the ROC curve"),
    "weights": (_weights, "Weights by degree"),
    "ratios": (_ratios, "Spectral ratio by degree"),
    "timings": (_timings, "Fit times"),
}


def duration(seconds: float) -> str:
    """Seconds with two digits, in milliseconds below a tenth."""
    number, unit = (seconds * 1e3, "ms") if seconds < 0.0995 else (seconds, "s")
    return (f"{number:#.2g}".removesuffix(".") if number < 99.5 else f"{number:.0f}") + f" {unit}"


def _name_rows(ax: Any, study: Study) -> None:
    """One method a row: its short name on the axis, the first on top, with place for the number above its marker."""
    ax.set_yticks(range(len(study.scores)), [_SHORT.get(s.key, s.label.lower()) for s in study.scores])
    ax.set_ylim(len(study.scores) - 0.6, -0.75)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")


def _color(key: str) -> str:
    return {"easymkl": LEARNED, "svc": OUTSIDE}.get(key, BASELINE)
