"""Charts of pages and reports with a row for each name: bars with whiskers, scores fold by fold, sources, and times.

Short names stand beside what is drawn, and long ones above it, where there is more room for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from markupsafe import Markup

from multikernel.app.drawing import SHEET, Drawing, Scale, counted, number
from multikernel.app.short_names import apart, room

_LETTER = 8.0  # the width of a letter, at most; bold ones on a phone are as wide
_BESIDE = 20  # letters of names that leave most of the sheet to what is drawn
_EDGE = 8.0


@dataclass(frozen=True)
class NamedRows:
    """Where rows and their names are on a sheet.

    Parameters
    ----------
    names : as they are written
    left : where what is drawn begins
    each : the height of a row
    top : where the first row begins
    above : whether names stand above what is drawn
    """

    names: Sequence[str]
    left: float
    each: float
    top: float
    above: bool

    @classmethod
    def of(cls, names: Sequence[str], each: float, top: float = 0.0) -> Self:
        """Rows with these names.

        Parameters
        ----------
        names : in full
        each : the height that a row has without its name
        top : where the first row begins
        """
        longest = max(map(room, names))
        if longest <= _BESIDE:
            return cls(names, max(80.0, _LETTER * longest + 2 * _EDGE), each, top, False)
        return cls(apart(names, int((SHEET - 2 * _EDGE) / _LETTER)), _EDGE, each + 18.0, top, True)

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.top + self.each * len(self.names)

    def middle(self, row: int) -> float:
        """The height at which a row is drawn."""
        free = 18.0 if self.above else 0.0
        return self.top + self.each * row + free + (self.each - free) / 2

    def write(self, drawing: Drawing, row: int, kind: str = "t") -> None:
        """The name of a row."""
        if self.above:
            drawing.text(self.left, self.top + self.each * row + 15, self.names[row], "start", f"{kind} halo")
        else:
            drawing.text(self.left - _EDGE, self.middle(row) + 4, self.names[row], "end", kind)


def bars(title: str, rows: Sequence[tuple[str, float, float, str]], axis: str) -> Markup:
    """A bar for each row: its name, its value, the half length of its whisker, and what it says."""
    high = max([value + spread for _, value, spread, _ in rows] + [1e-12])
    low = min([value - spread for _, value, spread, _ in rows] + [0.0])
    if not any(value < 0 for _, value, _, _ in rows):
        low = 0.0
    places = NamedRows.of([name for name, *_ in rows], 26.0)
    scale = Scale(low, high * 1.02, places.left, SHEET - 60)
    drawing = Drawing(SHEET, places.bottom + 46, title)
    drawing.bottom(scale, places.bottom + 4, axis, 0)
    for k, (_, value, spread, tip) in enumerate(rows):
        y = places.middle(k)
        places.write(drawing, k)
        start, end = sorted((scale(0.0), scale(value)))
        drawing.bar(start, y - 8, end - start, 16, "c0" if value >= 0 else "c1", tip)
        if spread > 0:
            drawing.line(scale(max(low, value - spread)), y, scale(value + spread), y, "whisker")
        words = number(round(value, 3) if high > 0.02 else value)
        drawing.text(scale(max(value + spread, 0.0)) + 6, y + 4, words, "start", "t small")
    return drawing.svg()


def counts(title: str, bins: Sequence[tuple[str, int]], total: int) -> Markup:
    """A bar for each class, of a name and the number of its rows.

    Parameters
    ----------
    title : str
    bins : the classes
    total : the number of rows
    """
    places = NamedRows.of([name for name, _ in bins], 22.0)
    scale = Scale(0, max(count for _, count in bins), places.left, SHEET - 60)
    drawing = Drawing(SHEET, places.bottom + 6, title)
    for k, (name, count) in enumerate(bins):
        y = places.middle(k)
        places.write(drawing, k)
        tip = f"{name}: {counted(count, 'row')} ({count / total:.1%})"
        drawing.bar(places.left, y - 8, scale(count) - places.left, 16, "c0", tip)
        drawing.text(scale(count) + 6, y + 4, str(count), "start", "t small")
    return drawing.svg()


def folds(
    title: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    measure: str,
    intervals: Mapping[str, Sequence[float]] | None = None,
) -> Markup:
    """The scores of each method: a dot for each fold, a bar at their mean, and its interval where there is one.

    Parameters
    ----------
    title : str
    rows : the name of each method and its scores
    measure : what scores are called
    intervals : the ends of the interval of a mean, by the name of the method
    """
    intervals = intervals or {}
    values = [value for _, scores in rows for value in scores]
    values += [end for name, _ in rows for end in intervals.get(name, ())]
    low = max(min(values), -1.0)
    high = max(values)
    spare = (high - low) * 0.06 or 0.05 * abs(high) or 1e-3
    top = high + spare
    if high <= 1.0:
        top = min(top, 1.02)
    places = NamedRows.of([name for name, _ in rows], 34.0)
    scale = Scale(low - spare, top, places.left, SHEET - 60)
    drawing = Drawing(SHEET, places.bottom + 46, title)
    drawing.bottom(scale, places.bottom + 4, f"{measure} on held-out rows", 0, percent=measure == "accuracy")
    for k, (name, scores) in enumerate(rows):
        y = places.middle(k)
        mean = sum(scores) / len(scores)
        step = min(3.2, 30.0 / len(scores))  # many folds stay in their row
        places.write(drawing, k, "t strong" if k == 0 else "t")
        for fold, value in enumerate(scores):
            level = y + step * (fold - (len(scores) - 1) / 2)  # equal scores do not hide each other
            tip = f"{name}, fold {fold + 1}: {score(value, measure)}"
            drawing.dot(scale(max(value, scale.low)), level, 3.5, f"c{min(k, 2)} faint", tip, focus=False)
        mid = scale(max(mean, scale.low))
        tip = f"{name}: mean {score(mean, measure)}"
        if name in intervals:
            start, end = intervals[name]
            tip += f", 95% interval {score(start, measure)} to {score(end, measure)}"
            drawing.line(scale(max(start, scale.low)), y, scale(min(end, scale.high)), y, "whisker")
        drawing.bar(mid - 2, y - 11, 4, 22, f"c{min(k, 2)}", tip)
        drawing.text(SHEET - 54, y + 4, score(mean, measure), "start", "t small")
    return drawing.svg()


def sources(found: Mapping[str, Any], measure: str, what: str = "source") -> Markup:
    """What each source is worth: its score alone, that of all others, and what it adds, up to the score of all.

    Parameters
    ----------
    found : the scores of all sources and of a constant prediction, and a row for each source
    measure : what scores are called
    what : what a source is called
    """
    rows = found["sources"]
    whole = found["score"]
    constant = found["constant"]
    values = [whole, constant, *(row[name] for row in rows for name in ("alone", "without"))]
    spare = (max(values) - min(values)) * 0.05 or 1e-3
    places = NamedRows.of([row["source"] for row in rows], 34.0, top=20.0)
    scale = Scale(min(values) - spare, max(values) + spare, places.left, SHEET - 70)
    drawing = Drawing(SHEET, places.bottom + 44, f"What each {what} is worth")
    drawing.bottom(scale, places.bottom + 2, f"{measure} on held-out rows", 18, percent=measure == "accuracy")
    drawing.line(scale(constant), 18, scale(constant), places.bottom + 2, "rule")
    drawing.line(scale(whole), 18, scale(whole), places.bottom + 2, "whisker")
    drawing.text(scale(whole), 12, "all", "middle", "t small")
    if abs(scale(whole) - scale(constant)) > 70:
        drawing.text(max(scale(constant), 34.0), 12, "constant", "middle", "t small")
    for k, row in enumerate(rows):
        y = places.middle(k)
        name = row["source"]
        error = "" if row["se"] is None else f" ± {score(row['se'], measure)}"
        adds = f"adds {score(row['adds'], measure)}{error}"
        start, end = sorted((scale(row["without"]), scale(whole)))
        places.write(drawing, k)
        drawing.bar(start, y - 7, end - start, 14, "c0 faint", f"{name} {adds}")
        drawing.dot(scale(row["alone"]), y, 5, "c1", f"{name} alone: {score(row['alone'], measure)}")
        drawing.dot(scale(row["without"]), y, 5, "c0", f"all without {name}: {score(row['without'], measure)}")
        if row["se"]:
            low = max(row["without"] - row["se"], scale.low)
            high = min(row["without"] + row["se"], scale.high)
            drawing.line(scale(low), y, scale(high), y, "whisker")
        signed = score(row["adds"], measure)
        drawing.text(SHEET - 62, y + 4, signed if row["adds"] < 0 else f"+{signed}", "start", "t small")
    return drawing.svg()


def score(value: float, measure: str) -> str:
    """A score for reading."""
    if measure == "accuracy":
        return f"{value:.1%}".replace("-", "−")
    return number(value)


def times(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Markup:
    """Seconds on a logarithmic scale: a dot for each kind of time of each method.

    Parameters
    ----------
    title : str
    rows : the name of each method, and the kinds of its times with their seconds
    """
    values = [seconds for _, kinds in rows for _, seconds in kinds]
    places = NamedRows.of([name for name, _ in rows], 34.0)
    drawing = Drawing(SHEET, places.bottom + 46, title)
    scale = Scale(0.7 * min(values), 1.4 * max(values), places.left, SHEET - 30, logarithmic=True)
    drawing.bottom(scale, places.bottom + 4, "seconds, logarithmic", 0)
    for row, (name, kinds) in enumerate(rows):
        y = places.middle(row) + 3
        places.write(drawing, row, "t strong" if row == 0 else "t")
        for k, (kind, seconds) in enumerate(kinds):
            drawing.dot(scale(seconds), y, 5, f"c{k}", f"{name}, {kind}: {duration(seconds)}")
            drawing.text(scale(seconds), y - 9, duration(seconds), "middle", "t small")
    return drawing.svg()


def duration(seconds: float) -> str:
    """Seconds with two digits, in milliseconds below a tenth."""
    amount = seconds
    unit = "s"
    if seconds < 0.0995:
        amount = seconds * 1e3
        unit = "ms"
    if amount < 99.5:
        return f"{amount:#.2g}".removesuffix(".") + f" {unit}"
    return f"{amount:.0f} {unit}"


def weight_rows(weights: Mapping[str, Any], most: int = 15) -> list[tuple[str, float, float, str]]:
    """The largest weights, as rows of bars."""
    rows = []
    for row in weights["rows"][:most]:
        if row["weight"] > 0.0 or row["frequency"] > 0.0:
            words = f"{row['name']}: weight {row['weight']:.3f}"
            if row["spread"] is not None:
                words += f", deviation over the folds {row['spread']:.3f}, used in {row['frequency']:.0%} of them"
            rows.append((row["name"], row["weight"], row["spread"] or 0.0, words))
    return rows
