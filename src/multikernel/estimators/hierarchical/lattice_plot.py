"""A lattice of subsets as a figure: a column for each size of subset, a disc for each node, lines to its parents.

The figure shows the nodes with weight and their ancestors. If these are more than 40, it shows the 40 nodes of largest
weight, each with lines to the largest of its subsets that are drawn. Columns are sorted so that lines are short: in
several sweeps, the nodes of each column are put in the order of the mean height of their neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from multikernel._floats import TINY
from multikernel._typing import Array
from multikernel.estimators.bars import SHOWN

_ROW, _LETTER, _LINES = 0.3, 0.078, 0.9  # inches: between nodes, for a letter, for lines between two columns
_INK, _QUIET = "#4a7fe0", "#aab1bf"

Node = tuple[int, ...]


def draw_lattice(nodes: Sequence[Node], weights: Array, names: Sequence[str] | Array, ax: Any = None) -> Any:
    """The nodes with weight, and their ancestors, on the axes or on new ones; returns the axes.

    Parameters
    ----------
    nodes : subsets of the base kernels, sorted tuples
    weights : array (len(nodes),) >= 0, the areas of the discs
    names : the names of the base kernels
    ax : axes of matplotlib; new ones are as large as the lattice needs
    """
    import matplotlib.pyplot as plt

    weights = np.asarray(weights, dtype=float)
    shown, caption = _chosen(nodes, weights)
    lines = _lines([nodes[k] for k in shown])
    labels = [_short([str(names[i]) for i in nodes[k]]) for k in shown]
    columns = _columns([len(nodes[k]) for k in shown], lines)
    x, y, ends, size = _positions(columns, labels)
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set(xlim=(-0.25, size[0] - 0.25), ylim=(-size[1] + 0.5, 0.25))
    ax.axis("off")
    ax.set_title(caption, loc="left", fontsize="small", color="0.35")
    for above, node in lines:
        ax.plot([x[above], ends[above], x[node]], y[[above, above, node]], color=_QUIET, linewidth=0.7, zorder=1)
    areas = np.minimum(weights[shown] / _unit(nodes, weights), 1.0) * 240.0  # square points
    empty = areas == 0.0
    ax.scatter(x[empty], y[empty], s=16.0, facecolor="white", edgecolor=_QUIET, linewidth=1.0, zorder=2)
    ax.scatter(x[~empty], y[~empty], s=np.maximum(areas[~empty], 3.0), color=_INK, linewidth=0.0, zorder=2)
    for node_x, node_y, label in zip(x, y, labels, strict=True):
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        ax.text(node_x + 0.15, node_y, label, fontsize=8.5, va="center", bbox=box, zorder=3)
    return ax


def _unit(nodes: Sequence[Node], weights: Array) -> float:
    """The largest weight except that of the constant, which can be much larger than the others."""
    positive_weights = [weight for node, weight in zip(nodes, weights, strict=True) if node and weight > 0]
    return float(max(positive_weights, default=max(weights.max(initial=0.0), TINY)))


def _chosen(nodes: Sequence[Node], weights: Array) -> tuple[list[int], str]:
    """Which nodes are drawn, and how the plot describes them."""
    heavy = [k for k, weight in enumerate(weights) if weight > 0]
    if not heavy:
        return [], "no node has weight"
    closed = [k for k, v in enumerate(nodes) if any(set(v) <= set(nodes[w]) for w in heavy)]
    caption = f"area: weight, the largest {_unit(nodes, weights):.3g}"
    if len(closed) <= SHOWN:
        ancestors = len(closed) - len(heavy)
        return closed, caption + (f"; ancestors without weight: {ancestors}" if ancestors else "")
    largest = sorted(sorted(heavy, key=lambda k: -weights[k])[:SHOWN])
    return largest, f"{caption}; the {len(largest)} largest of {len(heavy)} nodes with weight"


def _lines(nodes: Sequence[Node]) -> list[tuple[int, int]]:
    """Pairs of a node and a superset of it, with no other node between them."""
    sets = [set(w) for w in nodes]
    pairs = []
    for k, w in enumerate(sets):
        below = [j for j, v in enumerate(sets) if v < w]
        pairs += [(j, k) for j in below if not any(sets[j] < sets[i] for i in below)]
    return pairs


def _columns(levels: Sequence[int], lines: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The nodes of each size that occurs, sorted from top to bottom so that lines are short."""
    columns = [[k for k, level in enumerate(levels) if level == size] for size in sorted(set(levels))]
    neighbours: list[list[int]] = [[] for _ in levels]
    for above, node in lines:
        neighbours[above].append(node)
        neighbours[node].append(above)
    height = np.zeros(len(levels))

    def centre(k: int) -> float:
        """The mean height of a node's neighbours; its own where it has none."""
        return float(np.mean(height[neighbours[k] or [k]]))

    for sweep in range(6):  # alternately to the right and to the left
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            if sweep > 0:
                column.sort(key=centre)
            for row, k in enumerate(column):
                height[k] = row - 0.5 * len(column)
    return columns


def _positions(columns: list[list[int]], labels: Sequence[str]) -> tuple[Array, Array, Array, tuple[float, float]]:
    """Coordinates x, y of the nodes and x of the end of their column's labels, in inches; the size of the figure."""
    x, y, ends = np.zeros((3, len(labels)))
    tallest, offset = max((len(column) for column in columns), default=1), 0.0
    for column in columns:
        x[column] = offset
        y[column] = -_ROW * (np.arange(len(column)) + 0.5 * (tallest - len(column)))
        ends[column] = offset + 0.2 + _LETTER * max(len(labels[k]) for k in column)
        offset = float(ends[column[0]]) + _LINES
    return x, y, ends, (max(offset - _LINES + 0.4, 3.0), _ROW * tallest + 0.6)


def _short(factors: Sequence[str], limit: int = 40) -> str:
    """The product as text; factors are abbreviated to their ends where it has more than ``limit`` characters."""
    half = max(4, (limit // max(len(factors), 1) - 1) // 2)
    text = " * ".join(factors) or "1"
    if len(text) <= limit:
        return text
    return " * ".join(f if len(f) <= 2 * half + 1 else f"{f[:half]}…{f[-half:]}" for f in factors)
