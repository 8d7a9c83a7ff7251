"""Bars for kernels by name, in groups where there are several problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from multikernel._arrays import part_of
from multikernel._typing import Array

COLORS = ("#4a7fe0", "#dd8a33", "#3f9c6b", "#b5526b", "#7d66c4", "#2fa3b5", "#a58a2c", "#6b7387")
GREY, INK = "#8a92a3", "#39404f"  # of lines and of text
SHOWN = 40  # how many kernels a figure shows at most, those of largest weight
_ROW, _BAR = 0.26, 0.13  # inches


def draw_bars(
    names: Sequence[str], values: Array, groups: Sequence[str], label: str, ax: Any = None, spread: Array | None = None
) -> Any:
    """Horizontal bars, the largest 40 where there are more; returns the axes.

    Parameters
    ----------
    names : of the bars
    values : array (groups, bars)
    groups : names of the groups; one group has no legend, and of more than five the mean is drawn
    label : what the values are
    ax : axes of matplotlib; new ones by default
    spread : array of the shape of values, the half length of a line across each bar's end
    """
    import matplotlib.pyplot as plt

    if len(values) > 5:  # separate bars of more groups would be too thin
        label = f"{label}, mean over {len(values)} problems"
        values, groups = values.mean(axis=0, keepdims=True), groups[:1]
        if spread is not None:
            spread = spread.mean(axis=0, keepdims=True)
    largest = np.argsort(-np.abs(values).max(axis=0), kind="stable")
    shown = np.arange(len(names))
    if len(names) > SHOWN:
        positive = np.abs(values).max(axis=0)[largest] > 0
        shown = largest[: max(1, min(SHOWN, int(positive.sum())))]
        if positive.sum() > SHOWN:
            label += f" (the {len(shown)} largest)"
        else:
            label += f" (0 for the other {len(names) - len(shown)})"
    count = len(values)
    if ax is None:
        height = 0.8 + len(shown) * (_ROW if count == 1 else _ROW / 2 + _BAR * count)
        _, ax = plt.subplots(figsize=(7.0, height), layout="constrained")
    thickness = 0.8 / count
    for g, (group_values, group, color) in enumerate(zip(values, groups, COLORS, strict=False)):
        positions = np.arange(len(shown)) + (g - 0.5 * (count - 1)) * thickness
        error = part_of(spread, (g, shown))
        style = {"color": color, "ecolor": INK, "error_kw": {"lw": 1}}
        ax.barh(positions, group_values[shown], thickness, xerr=error, label=group, **style)
    ax.set_yticks(np.arange(len(shown)), [names[int(k)] for k in shown], fontsize="small")
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if (values >= 0).all():
        ax.set_xlim(left=0)
    ax.set_xlabel(label)
    if count > 1:
        ax.legend(frameon=False, fontsize="small")
    return ax
