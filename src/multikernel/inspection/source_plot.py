"""The interactions of pairs of sources and the figure, from the frame of ``source_values``."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel.estimators.bars import COLORS, GREY, INK
from multikernel.estimators.names import short_names


def source_pairs(values: Any) -> Any:
    """Whether the sources repeat or complete each other, pair by pair.

    Parameters
    ----------
    values : what ``source_values`` returned

    Returns
    -------
    pandas.DataFrame with a row for each pair and the columns ``first``, ``second``, ``interaction`` and ``se``: the
        score of both, less the score of each alone, plus that of a constant prediction. Below 0 the two repeat each
        other, above 0 they complete each other.

    Raises
    ------
    ValueError : where the frame is none that ``source_values`` returned
    """
    import pandas as pd

    return pd.DataFrame(_attribute(values, "pairs"), columns=["first", "second", "interaction", "se"])


def plot_source_values(values: Any, ax: Any = None) -> Any:
    """The score of each source alone and of all sources without it, beside that of all; needs matplotlib.

    Parameters
    ----------
    values : what ``source_values`` returned
    ax : axes of matplotlib; new ones by default

    Returns
    -------
    The axes

    Raises
    ------
    ValueError : where the frame is none that ``source_values`` returned
    """
    import matplotlib.pyplot as plt

    score, constant, measure = (_attribute(values, name) for name in ("score", "constant", "measure"))
    count = len(values)
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 1.4 + 0.45 * count), layout="constrained")
    heights = np.arange(count)
    ax.axvline(score, color=INK, lw=1, label=f"all sources, {score:.3g}")
    ax.axvline(constant, color=GREY, lw=1, ls=":", label=f"constant prediction, {constant:.3g}")
    blue, orange = COLORS[:2]
    bar_starts, width = np.minimum(values["without"], score), np.abs(values["adds"])
    ax.barh(heights, width, 0.34, left=bar_starts, color=blue, alpha=0.35, label="what it adds")
    ax.errorbar(values["without"], heights, xerr=values["se"], fmt="o", color=blue, ms=6, lw=1.2, label="without it")
    ax.plot(values["alone"], heights, "D", mfc="white", mec=orange, mew=1.6, ms=6, label="alone")
    for row, adds, error, p in zip(heights, values["adds"], values["se"], values["p"], strict=True):
        words = f"adds {adds:+.3f} \u00b1 {error:.3f}" + ("" if np.isnan(p) else f", p = {p:.2g}")
        ax.annotate(words, (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize="small", color=INK)
    ax.set_yticks(heights, short_names([str(name) for name in values["source"]]), fontsize="small")
    ax.set_ylim(count - 0.5, -0.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"held-out {measure}")
    ax.legend(frameon=False, fontsize="small", ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return ax


def _attribute(values: Any, name: str) -> Any:
    attributes = getattr(values, "attrs", {})
    if name not in attributes:
        raise ValueError("the frame is none that source_values returned: its attrs are missing")
    return attributes[name]
