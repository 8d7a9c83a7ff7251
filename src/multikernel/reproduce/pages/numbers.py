"""The numbers of a figure as a table, read from the lines that were drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class NumbersOfFigure:
    """A row for each position on the horizontal axis, a column for each labelled line; empty where there is none."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, axes: Any) -> NumbersOfFigure:
        """The numbers of the lines on these axes, in the order of the legend; error bars stand in parentheses.

        The only line of a figure may have no label; then the vertical axis names it. There are no numbers where the
        horizontal axis has no name, because positions on it are then no numbers.
        """
        drawn, labels = axes.get_legend_handles_labels()
        if not drawn:
            drawn, labels = axes.containers or axes.get_lines(), [axes.get_ylabel()]
        if not axes.get_xlabel() or len(drawn) != len(labels):
            return cls((), ())
        lines = {label: _values(each) for each, label in zip(drawn, labels, strict=True)}
        lines = {label: values for label, values in lines.items() if values}
        positions = sorted({x for values in lines.values() for x in values})
        return cls(
            (axes.get_xlabel(), *lines),
            tuple((f"{x:g}", *(values.get(x, "") for values in lines.values())) for x in positions),
        )


def _values(drawn: Any) -> dict[float, str]:
    """The heights of a line by their positions, as text; empty for what is no line, such as an area."""
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

    lengths: list[str] = []
    if isinstance(drawn, ErrorbarContainer):
        line, _, bars = drawn.lines
        ends = [np.reshape(segment, (-1, 2))[:, 1] for bar in bars for segment in bar.get_segments()]
        lengths = [f" ({(end[1] - end[0]) / 2:#.2g})" if len(end) == 2 else "" for end in ends]
    elif isinstance(drawn, Line2D):
        line = drawn
    else:
        return {}
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    heights = [f"{height:#.4g}".rstrip(".") if np.isfinite(height) else "" for height in y]
    if len(lengths) == len(heights):
        heights = [height + length for height, length in zip(heights, lengths, strict=True)]
    return dict(zip(x.tolist(), heights, strict=True))
