"""The report of ``multikernel report``."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from multikernel.app.jobs.inspect import Inspected, Tested
from multikernel.app.report.page import BASELINE, LEARNED, page
from multikernel.inspection import short_names
from multikernel.reproduce.pages.html import inline_svg

_SHOWN = 20  # kernels with a bar


def render(inspected: Inspected) -> str:
    """The report as HTML text."""
    tested, shown = inspected.tested, min(_SHOWN, len(inspected.names))
    points = tested is not None and tested.confusion is None
    return page(
        "model.html.j2",
        model=inspected,
        shown=shown,
        weights=Markup(inline_svg(lambda ax: _weights(ax, inspected), "Weights", (6.4, 0.9 + 0.26 * shown)))
        if inspected.names
        else None,
        points=Markup(inline_svg(lambda ax: _points(ax, tested), "Predicted against true values", (4.7, 3.6)))
        if points
        else None,
    )


def _weights(ax: Any, inspected: Inspected) -> None:
    names = short_names(list(inspected.names[:_SHOWN]))
    ax.barh(range(len(names)), inspected.weights[:_SHOWN], color=LEARNED, height=0.72)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel("weight")
    ax.grid(False, axis="y")


def _points(ax: Any, tested: Tested | None) -> None:
    assert tested is not None
    ax.axline((float(tested.truth.mean()),) * 2, slope=1.0, color=BASELINE, linewidth=1.0)
    ax.plot(tested.truth, tested.predicted, "o", color=LEARNED, markersize=4, alpha=0.5)
    ax.set(xlabel="true", ylabel="predicted")
