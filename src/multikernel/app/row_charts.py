"""Charts of pages and reports with a row for each name: bars with whiskers, scores fold by fold, sources, and times.

Short names are written on the left of the marks, long ones above them, where there is more room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from markupsafe import Markup

from multikernel.app.drawing import SHEET, Drawing, Scale, counted, number
from multikernel.app.short_names import apart, room

_LETTER = 8.0  # the width of a letter, at most; bold ones on a phone are as wide
_BESIDE = 20  # letters of the longest name that is written on the left of the marks
_EDGE = 8.0


@dataclass(frozen=True)
class NamedRows:
    """The positions of rows and of their names on a sheet.

    Parameters
    ----------
    names : as they are written
    left : where the marks begin
    row_height : with the name where it is above the marks
    top : where the first row begins
    names_above : whether names are above the marks instead of on their left
    """

    names: Sequence[str]
    left: float
    row_height: float
    top: float
    names_above: bool

    @classmethod
    def of(cls, names: Sequence[str], row_height: float, top: float = 0.0) -> Self:
        """Rows with these names.

        Parameters
        ----------
        names : in full
        row_height : of the marks, without a name above them
        top : where the first row begins
        """
        longest = max(map(room, names))
        if longest <= _BESIDE:
            return cls(names, max(80.0, _LETTER * longest + 2 * _EDGE), row_height, top, False)
        return cls(apart(names, int((SHEET - 2 * _EDGE) / _LETTER)), _EDGE, row_height + 18.0, top, True)

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.top + self.row_height * len(self.names)

    def middle(self, row: int) -> float:
        """The height at which the marks of a row are centred."""
        name_height = 18.0 if self.names_above else 0.0
        return self.top + self.row_height * row + name_height + (self.row_height - name_height) / 2

    def write(self, drawing: Drawing, row: int, kind: str = "t") -> None:
        """The name of a row."""
        if self.names_above:
            drawing.text(self.left, self.top + self.row_height * row + 15, self.names[row], "start", f"{kind} halo")
        else:
            drawing.text(self.left - _EDGE, self.middle(row) + 4, self.names[row], "end", kind)


def bars(title: str, rows: Sequence[tuple[str, float, float, str]], axis: str) -> Markup:
    """A bar for each row, which is its name, its value, half the length of its whisker, and its tip."""
    high = max([value + spread for _, value, spread, _ in rows] + [1e-12])
    low = min([value - spread for _, value, spread, _ in rows] + [0.0])
    if not any(value < 0 for _, value, _, _ in rows):
        low = 0.0
    layout = NamedRows.of([name for name, *_ in rows], 26.0)
    scale = Scale(low, high * 1.02, layout.left, SHEET - 60)
    drawing = Drawing(SHEET, layout.bottom + 46, title)
    drawing.bottom(scale, layout.bottom + 4, axis, 0)
    for k, (_, value, spread, tip) in enumerate(rows):
        y = layout.middle(k)
        layout.write(drawing, k)
        start, end = sorted((scale(0.0), scale(value)))
        drawing.bar(start, y - 8, end - start, 16, "c0" if value >= 0 else "c1", tip)
        if spread > 0:
            drawing.line(scale(max(low, value - spread)), y, scale(value + spread), y, "whisker")
        words = number(round(value, 3) if high > 0.02 else value)
        drawing.text(scale(max(value + spread, 0.0)) + 6, y + 4, words, "start", "t small")
    return drawing.svg()


def counts(title: str, bins: Sequence[tuple[str, int]], total: int) -> Markup:
    """A bar for each class.

    Parameters
    ----------
    title : str
    bins : the name of each class and the number of its rows
    total : the number of rows
    """
    layout = NamedRows.of([name for name, _ in bins], 22.0)
    scale = Scale(0, max(count for _, count in bins), layout.left, SHEET - 60)
    drawing = Drawing(SHEET, layout.bottom + 6, title)
    for k, (name, count) in enumerate(bins):
        y = layout.middle(k)
        layout.write(drawing, k)
        tip = f"{name}: {counted(count, 'row')} ({count / total:.1%})"
        drawing.bar(layout.left, y - 8, scale(count) - layout.left, 16, "c0", tip)
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
    measure : the name of the score
    intervals : the ends of the interval of a mean, by the name of the method
    """
    intervals = intervals or {}
    values = [value for _, scores in rows for value in scores]
    values += [end for name, _ in rows for end in intervals.get(name, ())]
    low = max(min(values), -1.0)
    high = max(values)
    margin = (high - low) * 0.06 or 0.05 * abs(high) or 1e-3
    top = high + margin
    if high <= 1.0:
        top = min(top, 1.02)
    layout = NamedRows.of([name for name, _ in rows], 34.0)
    scale = Scale(low - margin, top, layout.left, SHEET - 60)
    drawing = Drawing(SHEET, layout.bottom + 46, title)
    drawing.bottom(scale, layout.bottom + 4, f"{measure} on held-out rows", 0, percent=measure == "accuracy")
    for k, (name, scores) in enumerate(rows):
        y = layout.middle(k)
        mean = sum(scores) / len(scores)
        step = min(3.2, 30.0 / len(scores))  # so that many folds stay within their row
        layout.write(drawing, k, "t strong" if k == 0 else "t")
        for fold, value in enumerate(scores):
            level = y + step * (fold - (len(scores) - 1) / 2)  # so that equal scores do not hide each other
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


def sources(values_of_sources: Mapping[str, Any], measure: str, source_word: str = "source") -> Markup:
    """What each source is worth: its score alone, the score of all others, and the difference to the score of all.

    Parameters
    ----------
    values_of_sources : the scores of all sources and of a constant prediction, and a row for each source
    measure : the name of the score
    source_word : the word for a source
    """
    rows = values_of_sources["sources"]
    score_of_all = values_of_sources["score"]
    constant = values_of_sources["constant"]
    values = [score_of_all, constant, *(row[name] for row in rows for name in ("alone", "without"))]
    margin = (max(values) - min(values)) * 0.05 or 1e-3
    layout = NamedRows.of([row["source"] for row in rows], 34.0, top=20.0)
    scale = Scale(min(values) - margin, max(values) + margin, layout.left, SHEET - 70)
    drawing = Drawing(SHEET, layout.bottom + 44, f"What each {source_word} is worth")
    drawing.bottom(scale, layout.bottom + 2, f"{measure} on held-out rows", 18, percent=measure == "accuracy")
    drawing.line(scale(constant), 18, scale(constant), layout.bottom + 2, "rule")
    drawing.line(scale(score_of_all), 18, scale(score_of_all), layout.bottom + 2, "whisker")
    drawing.text(scale(score_of_all), 12, "all", "middle", "t small")
    if abs(scale(score_of_all) - scale(constant)) > 70:
        drawing.text(max(scale(constant), 34.0), 12, "constant", "middle", "t small")
    for k, row in enumerate(rows):
        y = layout.middle(k)
        name = row["source"]
        error = "" if row["se"] is None else f" ± {score(row['se'], measure)}"
        adds = f"adds {score(row['adds'], measure)}{error}"
        start, end = sorted((scale(row["without"]), scale(score_of_all)))
        layout.write(drawing, k)
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
    layout = NamedRows.of([name for name, _ in rows], 34.0)
    drawing = Drawing(SHEET, layout.bottom + 46, title)
    scale = Scale(0.7 * min(values), 1.4 * max(values), layout.left, SHEET - 30, logarithmic=True)
    drawing.bottom(scale, layout.bottom + 4, "seconds, logarithmic", 0)
    for row, (name, kinds) in enumerate(rows):
        y = layout.middle(row) + 3
        layout.write(drawing, row, "t strong" if row == 0 else "t")
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


def weight_rows(weights: Mapping[str, Any], count: int = 15) -> list[tuple[str, float, float, str]]:
    """The largest weights, as rows of bars."""
    rows = []
    for row in weights["rows"][:count]:
        if row["weight"] > 0.0 or row["frequency"] > 0.0:
            words = f"{row['name']}: weight {row['weight']:.3f}"
            if row["spread"] is not None:
                words += f", deviation over the folds {row['spread']:.3f}, used in {row['frequency']:.0%} of them"
            rows.append((row["name"], row["weight"], row["spread"] or 0.0, words))
    return rows
