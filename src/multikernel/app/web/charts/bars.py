"""Bars with whiskers, a histogram, and scores fold by fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from multikernel.app.web.charts.drawing import Drawing, Scale, label, shortened
from multikernel.app.web.site import number

_ROW, _NAMES, _WIDTH = 26.0, 172.0, 500.0


def bars(title: str, rows: Sequence[tuple[str, float, float, str]], axis: str) -> Markup:
    """A bar for each row: its name, its value, the half length of its whisker, and what it says."""
    height = _ROW * len(rows)
    high = max([value + spread for _, value, spread, _ in rows] + [1e-12])
    low = min([value - spread for _, value, spread, _ in rows] + [0.0])
    low = low if any(value < 0 for _, value, _, _ in rows) else 0.0
    scale = Scale(low, high * 1.02, _NAMES, _WIDTH - 60)
    drawing = Drawing(_WIDTH, height + 46, title)
    drawing.bottom(scale, height + 4, axis, 0)
    for k, (name, value, spread, tip) in enumerate(rows):
        y = _ROW * k + 5
        drawing.text(_NAMES - 8, y + 13, shortened(name, 19), "end")
        start, end = sorted((scale(0.0), scale(value)))
        drawing.bar(start, y, end - start, _ROW - 10, "c0" if value >= 0 else "c1", tip)
        if spread > 0:
            middle = y + (_ROW - 10) / 2
            drawing.line(scale(max(low, value - spread)), middle, scale(value + spread), middle, "whisker")
        drawing.text(
            scale(max(value + spread, 0.0)) + 6,
            y + 13,
            number(round(value, 3) if high > 0.02 else value),
            "start",
            "t small",
        )
    return drawing.svg()


def histogram(title: str, bins: Sequence[tuple[str, int]], total: int) -> Markup:
    """A column for each bin, of a name and a count."""
    width, height, left = 520.0, 120.0, 4.0
    most = max(count for _, count in bins)
    each = (width - 2 * left) / len(bins)
    drawing = Drawing(width, height + 40, title)
    scale = Scale(0, most, height, 18)
    for k, (name, count) in enumerate(bins):
        x = left + k * each
        tip = f"{name}: {count} rows ({count / total:.1%})"
        drawing.bar(x + each * 0.06, scale(count), each * 0.88, height - scale(count), "c0", tip)
        if len(bins) <= 12:
            drawing.text(x + each / 2, scale(count) - 5, str(count), "middle", "t small")
            drawing.text(x + each / 2, height + 17, shortened(name, max(3, int(each / 7.5))), "middle", "t small")
    if len(bins) > 12:
        drawing.text(left, height + 17, bins[0][0].partition(" to ")[0], "start", "t small")
        drawing.text(width - left, height + 17, bins[-1][0].partition(" to ")[2] or bins[-1][0], "end", "t small")
    drawing.line(left, height, width - left, height)
    return drawing.svg()


def folds(title: str, rows: Sequence[tuple[str, Sequence[float]]], measure: str) -> Markup:
    """The scores of each method: a dot for each fold, and a bar at their mean."""
    height = 34.0 * len(rows)
    values = [value for _, scores in rows for value in scores]
    low, high = max(min(values), -1.0), max(values)
    room = (high - low) * 0.06 + 1e-3
    top = min(high + room, 1.0 + 0.02) if high <= 1.0 else high + room
    scale = Scale(low - room, top, _NAMES, _WIDTH - 60)
    drawing = Drawing(_WIDTH, height + 46, title)
    drawing.bottom(scale, height + 4, f"{measure} on held-out rows", 0, percent=measure == "accuracy")
    for k, (name, scores) in enumerate(rows):
        y, mean = 34.0 * k + 17, sum(scores) / len(scores)
        drawing.text(_NAMES - 8, y + 4, shortened(name, 17), "end", "t strong" if k == 0 else "t")
        for fold, value in enumerate(scores):
            level = y + 3.2 * (fold - (len(scores) - 1) / 2)  # equal scores do not hide each other
            tip = f"{name}, fold {fold + 1}: {_said(value, measure)}"
            drawing.dot(scale(max(value, scale.low)), level, 3.5, f"c{min(k, 2)} faint", tip, focus=False)
        mid = scale(max(mean, scale.low))
        drawing.bar(mid - 2, y - 11, 4, 22, f"c{min(k, 2)}", f"{name}: mean {_said(mean, measure)}")
        drawing.text(_WIDTH - 54, y + 4, _said(mean, measure), "start", "t small")
    return drawing.svg()


def _said(value: float, measure: str) -> str:
    return f"{value:.1%}" if measure == "accuracy" else f"{value:.3f}".replace("-", "−")


def bins_of(values: Any, classes: bool) -> list[tuple[str, int]]:
    """The counts of classes, or of numbers in up to 20 intervals."""
    import numpy as np

    if classes:
        labels, counts = np.unique(values, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:30]
        return [(str(labels[k]), int(counts[k])) for k in (sorted(order) if len(labels) <= 30 else order)]
    counts, edges = np.histogram(values, bins=min(20, max(5, int(len(values) ** 0.5))))
    return [
        (f"{label(float(f'{a:.4g}'))} to {label(float(f'{b:.4g}'))}", int(n))
        for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def weight_rows(weights: Mapping[str, Any], most: int = 15) -> list[tuple[str, float, float, str]]:
    """The largest weights, as rows of bars."""
    return [
        (
            row["name"],
            row["weight"],
            row["spread"],
            f"{row['name']}: weight {row['weight']:.3f}, deviation over the folds {row['spread']:.3f}, "
            f"used in {row['frequency']:.0%} of them",
        )
        for row in weights["rows"][:most]
        if row["weight"] > 0.0 or row["frequency"] > 0.0
    ]
