"""The report of ``multikernel path``."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from multikernel.app.jobs.follow_path import Followed, rows_of
from multikernel.app.report.page import BASELINE, LEARNED, page
from multikernel.reproduce.pages.html import inline_svg


def render(followed: Followed) -> str:
    """The report as HTML text."""

    def draw(what: str, title: str) -> Markup:
        return Markup(inline_svg(lambda ax: followed.path.plot(what, ax), title, (5.4, 3.1)))

    return page(
        "path.html.j2",
        followed=followed,
        rows=[[cell.replace("+-", "±") for cell in row] for row in rows_of(followed)],
        best=f"{followed.path.values[followed.best]:.3g}",
        simplest=f"{followed.path.values[followed.simplest]:.3g}",
        scores=Markup(inline_svg(lambda ax: _scores(ax, followed), "Scores along the path", (5.4, 3.1))),
        weights=draw("weights", "Kernel weights along the path"),
        kernels=draw("kernels", "Kernels with a positive weight along the path"),
    )


def _scores(ax: Any, followed: Followed) -> None:
    """Held-out scores with their standard errors, those of training, and the one-standard-error line."""
    values = np.asarray(followed.path.values, dtype=float)
    order = np.argsort(values, kind="stable")
    mean = followed.scores.mean(axis=0)
    error = followed.scores.std(axis=0, ddof=1) / np.sqrt(len(followed.scores))
    if values.min() > 0 and values.max() >= 30 * values.min():
        ax.set_xscale("log")
    ax.errorbar(values[order], mean[order], yerr=error[order], fmt="o-", color=LEARNED, capsize=3, label="held out")
    if followed.path.train_score is not None:
        ax.plot(values[order], followed.path.train_score[order], "o--", color=BASELINE, markersize=3, label="training")
    ax.axhline(mean[followed.best] - error[followed.best], color=BASELINE, linewidth=0.9)
    ax.axvline(values[followed.simplest], color=BASELINE, linewidth=0.9, linestyle=":")
    ax.set(xlabel=followed.parameter, ylabel=followed.measure)
    ax.legend(frameon=False, fontsize="small")
