"""Charts of a model at samples: what exchanging a cell does, a map of samples, and matrices of kernels."""

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
    group : int, its place among the groups
    tip : str, what it says
    href : str, where it leads; "" for nowhere
    ringed : bool
    """

    x: float
    y: float
    group: int
    tip: str
    href: str = ""
    ringed: bool = False


def dependence_line(
    column: str,
    places: Sequence[float],
    bands: tuple[Sequence[float], Sequence[float], Sequence[float]],
    ends: tuple[float, float],
    what: str,
    *,
    dates: bool = False,
    refits: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Markup:
    """The mean answer along a column of numbers or dates, and the interval around it.

    Parameters
    ----------
    column : its name
    places : the values, in order; of dates days since 1970
    bands : lowest, mean and highest answer at each value
    ends : of the axis of answers
    what : the answer is
    dates : whether values are days
    refits : the ends of the mean answers of models of other rows at each value, drawn as bars
    """
    width = SHEET
    height = 230.0
    low, mean, high = bands
    drawing = Drawing(width, height + 44, f"{what} by {column}")
    across = Scale(places[0], places[-1], _LEFT, width - 18)
    up = Scale(*ends, height, _TOP)
    if dates:
        for day in (places[0], (places[0] + places[-1]) / 2, places[-1]):
            drawing.line(across(day), _TOP, across(day), height, "grid")
            anchor = "end" if day == places[-1] else "middle"
            drawing.text(across(day), height + 16, _day(day), anchor, "t small")
        drawing.text((_LEFT + width) / 2, height + 34, column, "middle", "t small")
    else:
        drawing.bottom(across, height, column, _TOP)
    drawing.left(up, _LEFT, what, width - 18)
    upper = [(across(x), up(y)) for x, y in zip(places, high, strict=True)]
    lower = [(across(x), up(y)) for x, y in zip(places, low, strict=True)]
    drawing.area([*upper, *lower[::-1]], "c0")
    drawing.curve([(across(x), up(y)) for x, y in zip(places, mean, strict=True)], "c0")
    for x, least, middle, most in zip(places, low, mean, high, strict=True):
        value = _day(x) if dates else f"{x:.6g}"
        tip = f"{column} = {value}: {what} {number(middle)}, of 80% of the samples {number(least)} to {number(most)}"
        if refits is not None:
            k = places.index(x)
            tip += f", mean of refits {number(refits[0][k])} to {number(refits[1][k])}"
            drawing.line(across(x), up(refits[0][k]), across(x), up(refits[1][k]), "whisker")
        drawing.dot(across(x), up(middle), 3.5, "c0", tip)
    return drawing.svg()


def _day(value: float) -> str:
    return (_EPOCH + timedelta(days=round(value))).isoformat()


def dependence_levels(
    column: str,
    names: Sequence[str],
    bands: tuple[Sequence[float], Sequence[float], Sequence[float]],
    ends: tuple[float, float],
    what: str,
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
    what : the answer is
    refits : the ends of the mean answers of models of other rows at each level, drawn as bars
    """
    places = NamedRows.of(names, 26.0, top=20.0)
    drawing = Drawing(SHEET, places.bottom + 46, f"{what} by {column}")
    across = Scale(*ends, places.left, SHEET - 24)
    drawing.text(places.left, 12, column, "start", "t small")
    drawing.bottom(across, places.bottom + 2, what, 18)
    for k, (name, least, middle, most) in enumerate(zip(names, *bands, strict=True)):
        y = places.middle(k)
        places.write(drawing, k)
        drawing.line(across(least), y, across(most), y, "span c0")
        tip = f"{column} = {name}: {what} {number(middle)}, of 80% of the samples {number(least)} to {number(most)}"
        if refits is not None:
            tip += f", mean of refits {number(refits[0][k])} to {number(refits[1][k])}"
            drawing.line(across(refits[0][k]), y, across(refits[1][k]), y, "whisker")
        drawing.dot(across(middle), y, 6, "c0", tip)
    return drawing.svg()


_SIGNS = ("circle", "square", "triangle", "diamond", "cross", "star")  # of classes, which colours tell apart as well


def sample_map(
    points: Sequence[MapPoint], groups: Sequence[str], axes: tuple[str, str], *, in_order: bool = False
) -> Markup:
    """Samples as signs on a map, with a legend; those with a mistake have a ring.

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
    across = Scale(*_with_room(xs), 14, width - 14)
    up = Scale(*_with_room(ys), height, top + 8)
    drawing.line(14, height, width - 14, height)
    drawing.line(14, top + 8, 14, height)
    drawing.text((14 + width) / 2, height + 18, axes[0], "middle", "t small")
    drawing.text(18, top + 18, axes[1], "start", "t small")
    for point in sorted(points, key=lambda point: point.x):
        x = across(point.x)
        y = up(point.y)
        if point.ringed:
            drawing.ring(x, y, 8)
        drawing.sign(
            x, y, 4.5, _sign(point.group, in_order), _colour(point.group, in_order), point.tip, href=point.href
        )
    return drawing.svg()


def _with_room(values: Sequence[float]) -> tuple[float, float]:
    low = min(values)
    high = max(values)
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room


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
    """Matrices side by side, each with its name, and marks where a class begins.

    Parameters
    ----------
    names : of the matrices
    files : PNG files of them
    cuts : the classes with the part of the samples before each of them; empty of numbers
    """
    across = min(_COLUMNS, len(names))
    each = _PICTURE + 26.0
    tall = _PICTURE + 40.0
    drawing = Drawing(each * across + 4, tall * -(-len(names) // _COLUMNS), "Kernel matrices")
    short = apart(names, 22)
    for k, (name, file) in enumerate(zip(short, files, strict=True)):
        x = 14.0 + each * (k % _COLUMNS)
        y = 24.0 + tall * (k // _COLUMNS)
        drawing.text(x, y - 8, name, "start", "t strong" if k == 0 else "t")
        drawing.image(x, y, _PICTURE, file, f"Matrix of {names[k]}")
        for _, part in cuts[1:]:
            place = _PICTURE * part
            drawing.line(x - 6, y + place, x - 1, y + place)
            drawing.line(x + place, y + _PICTURE + 1, x + place, y + _PICTURE + 6)
    return drawing.svg()
