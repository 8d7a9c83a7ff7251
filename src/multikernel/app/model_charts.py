"""Charts of a model on samples: how its answer depends on a column, a map of samples, and kernel matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from markupsafe import Markup

from multikernel.app.drawing import SHEET, Drawing, Scale, number
from multikernel.app.row_charts import NamedRows
from multikernel.app.short_names import apart, shortened

_EPOCH = date(1970, 1, 1)
_LEFT = 56.0
_TOP = 26.0


@dataclass(frozen=True)
class MapPoint:
    """A sample on a map.

    Parameters
    ----------
    x, y : float
    group : int, the index of its group
    tip : str, its sentence
    href : str, the address that it links to; "" for none
    ringed : bool, whether a ring marks it as a mistake
    """

    x: float
    y: float
    group: int
    tip: str
    href: str = ""
    ringed: bool = False


def dependence_line(
    column: str,
    values: Sequence[float],
    bands: tuple[Sequence[float], Sequence[float], Sequence[float]],
    ends: tuple[float, float],
    answer: str,
    *,
    dates: bool = False,
    refits: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Markup:
    """The mean answer along a column of numbers or dates, and the interval around it.

    Parameters
    ----------
    column : its name
    values : of the column, in order; dates as days since 1970
    bands : lowest, mean and highest answer at each value
    ends : of the axis of answers
    answer : the name of the answer
    dates : whether values are days
    refits : the ends of the mean answers of models of other rows at each value, drawn as bars
    """
    width = SHEET
    height = 230.0
    low, mean, high = bands
    drawing = Drawing(width, height + 44, f"{answer} by {column}")
    x_scale = Scale(values[0], values[-1], _LEFT, width - 18)
    y_scale = Scale(*ends, height, _TOP)
    if dates:
        for day in (values[0], (values[0] + values[-1]) / 2, values[-1]):
            drawing.line(x_scale(day), _TOP, x_scale(day), height, "grid")
            anchor = "end" if day == values[-1] else "middle"
            drawing.text(x_scale(day), height + 16, _day(day), anchor, "t small")
        drawing.text((_LEFT + width) / 2, height + 34, column, "middle", "t small")
    else:
        drawing.bottom(x_scale, height, column, _TOP)
    drawing.left(y_scale, _LEFT, answer, width - 18)
    upper = [(x_scale(x), y_scale(y)) for x, y in zip(values, high, strict=True)]
    lower = [(x_scale(x), y_scale(y)) for x, y in zip(values, low, strict=True)]
    drawing.area([*upper, *lower[::-1]], "c0")
    drawing.curve([(x_scale(x), y_scale(y)) for x, y in zip(values, mean, strict=True)], "c0")
    for x, lowest, middle, highest in zip(values, low, mean, high, strict=True):
        value = _day(x) if dates else f"{x:.6g}"
        interval = f"of 80% of the samples {number(lowest)} to {number(highest)}"
        tip = f"{column} = {value}: {answer} {number(middle)}, {interval}"
        if refits is not None:
            k = values.index(x)
            tip += f", mean of refits {number(refits[0][k])} to {number(refits[1][k])}"
            drawing.line(x_scale(x), y_scale(refits[0][k]), x_scale(x), y_scale(refits[1][k]), "whisker")
        drawing.dot(x_scale(x), y_scale(middle), 3.5, "c0", tip)
    return drawing.svg()


def _day(value: float) -> str:
    return (_EPOCH + timedelta(days=round(value))).isoformat()


def dependence_levels(
    column: str,
    names: Sequence[str],
    bands: tuple[Sequence[float], Sequence[float], Sequence[float]],
    ends: tuple[float, float],
    answer: str,
    *,
    refits: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Markup:
    """The mean answer for each level of a category, and the interval around it.

    Parameters
    ----------
    column : its name
    names : its levels
    bands : lowest, mean and highest answer at each level
    ends : of the axis of answers
    answer : the name of the answer
    refits : the ends of the mean answers of models of other rows at each level, drawn as bars
    """
    layout = NamedRows.of(names, 26.0, top=20.0)
    drawing = Drawing(SHEET, layout.bottom + 46, f"{answer} by {column}")
    x_scale = Scale(*ends, layout.left, SHEET - 24)
    drawing.text(layout.left, 12, column, "start", "t small")
    drawing.bottom(x_scale, layout.bottom + 2, answer, 18)
    for k, (name, lowest, middle, highest) in enumerate(zip(names, *bands, strict=True)):
        y = layout.middle(k)
        layout.write(drawing, k)
        drawing.line(x_scale(lowest), y, x_scale(highest), y, "span c0")
        tip = (
            f"{column} = {name}: {answer} {number(middle)}, of 80% of the samples {number(lowest)} to {number(highest)}"
        )
        if refits is not None:
            tip += f", mean of refits {number(refits[0][k])} to {number(refits[1][k])}"
            drawing.line(x_scale(refits[0][k]), y, x_scale(refits[1][k]), y, "whisker")
        drawing.dot(x_scale(middle), y, 6, "c0", tip)
    return drawing.svg()


_SIGNS = ("circle", "square", "triangle", "diamond", "cross", "star")  # of classes, beside their colours


def sample_map(
    points: Sequence[MapPoint], groups: Sequence[str], axes: tuple[str, str], *, in_order: bool = False
) -> Markup:
    """Samples as signs on a map, with a legend; samples that are predicted wrongly have a ring.

    Parameters
    ----------
    points : the samples
    groups : the names of the groups
    axes : the names of the axes
    in_order : whether groups are intervals of numbers, which have shades of one colour
    """
    width = 620.0
    lines = -(-len(groups) // 3)
    top = 12.0 + 20.0 * lines
    height = top + 420.0
    drawing = Drawing(width, height + 44, "Map of samples")
    for k, name in enumerate(groups):
        x = 12.0 + 200.0 * (k % 3)
        y = 12.0 + 20.0 * (k // 3)
        drawing.sign(x, y, 5, _sign(k, in_order), _colour(k, in_order), "")
        drawing.text(
            x + 12, y + 4, shortened(name, 18), "start", "t small"
        )  # fits on a phone, too, where letters are larger
    xs = [point.x for point in points]
    ys = [point.y for point in points]
    x_scale = Scale(*_with_room(xs), 14, width - 14)
    y_scale = Scale(*_with_room(ys), height, top + 8)
    drawing.line(14, height, width - 14, height)
    drawing.line(14, top + 8, 14, height)
    drawing.text((14 + width) / 2, height + 18, axes[0], "middle", "t small")
    drawing.text(18, top + 18, axes[1], "start", "t small")
    for point in sorted(points, key=lambda point: point.x):
        x = x_scale(point.x)
        y = y_scale(point.y)
        if point.ringed:
            drawing.ring(x, y, 8)
        drawing.sign(
            x, y, 4.5, _sign(point.group, in_order), _colour(point.group, in_order), point.tip, href=point.href
        )
    return drawing.svg()


def _with_room(values: Sequence[float]) -> tuple[float, float]:
    low = min(values)
    high = max(values)
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin


def _sign(group: int, in_order: bool) -> str:
    if in_order:
        return "circle"
    return _SIGNS[group % len(_SIGNS)]


def _colour(group: int, in_order: bool) -> str:
    if in_order:
        return f"q{group}"
    return f"c{group % 6}"


_PICTURE = 190.0  # the side of a matrix
_COLUMNS = 2  # of matrices; three would be too small on a phone


def pictures(names: Sequence[str], files: Sequence[bytes], cuts: Sequence[tuple[str, float]]) -> Markup:
    """Matrices side by side, each with its name, and with marks where a class begins.

    Parameters
    ----------
    names : of the matrices
    files : PNG files of them
    cuts : the classes, each with the share of the samples before it; empty where the target is a number
    """
    columns = min(_COLUMNS, len(names))
    cell_width = _PICTURE + 26.0
    cell_height = _PICTURE + 40.0
    drawing = Drawing(cell_width * columns + 4, cell_height * -(-len(names) // _COLUMNS), "Kernel matrices")
    labels = apart(names, 22)
    for k, (name, file) in enumerate(zip(labels, files, strict=True)):
        x = 14.0 + cell_width * (k % _COLUMNS)
        y = 24.0 + cell_height * (k // _COLUMNS)
        drawing.text(x, y - 8, name, "start", "t strong" if k == 0 else "t")
        drawing.image(x, y, _PICTURE, file, f"Matrix of {names[k]}")
        for _, fraction in cuts[1:]:
            offset = _PICTURE * fraction
            drawing.line(x - 6, y + offset, x - 1, y + offset)
            drawing.line(x + offset, y + _PICTURE + 1, x + offset, y + _PICTURE + 6)
    return drawing.svg()
