"""Charts of pages and reports: bars with whiskers, histograms, scores fold by fold, times, lines, paths, curves, and
confusion matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from multikernel.app.drawing import Drawing, Scale, apart, counted, label, number, shortened

_LEFT = 56.0  # of a sheet with axes
_TOP = 26.0
_SIDE = 300.0


def path(found: Mapping[str, Any], measure: str) -> Markup:
    """Mean scores along a parameter, one standard error around them, and the line of the rule."""
    values = found["values"]
    mean = found["mean"]
    error = found["error"]
    width = 560.0
    height = 280.0
    percent = measure == "accuracy"
    drawing = Drawing(width, height + 44, f"Path: {measure} along {found['parameter']}")
    across = Scale(min(values), max(values), _LEFT, width - 14, logarithmic=min(values) > 0)
    low = min(m - e for m, e in zip(mean, error, strict=True))
    high = max(m + e for m, e in zip(mean, error, strict=True))
    less = found.get("less_is_better", False)
    if less:  # scores far from the best would flatten the rest
        high = min(high, found["line"] + 4 * (found["line"] - low))
    else:
        low = max(low, found["line"] - 4 * (high - found["line"]) - 0.02)
    up = Scale(low, high, height, _TOP)
    drawing.bottom(across, height, found["parameter"], _TOP)
    drawing.left(up, _LEFT, measure, width - 14, percent)

    def inside(value: float) -> float:
        return up(min(max(value, low), high))

    upper = [(across(v), inside(m + e)) for v, m, e in zip(values, mean, error, strict=True)]
    lower = [(across(v), inside(m - e)) for v, m, e in zip(values, mean, error, strict=True)]
    drawing.area([*upper, *lower[::-1]], "c0")
    drawing.curve([(across(v), inside(m)) for v, m in zip(values, mean, strict=True)], "c0")
    if found.get("training"):
        drawing.curve([(across(v), inside(s)) for v, s in zip(values, found["training"], strict=True)], "c2")
    drawing.line(_LEFT, up(found["line"]), width - 14, up(found["line"]), "rule")
    drawing.text(
        _LEFT + 4, up(found["line"]) - 5, f"best {'+' if less else '−'} one standard error", "start", "t small"
    )
    for k, (v, m, e) in enumerate(zip(values, mean, error, strict=True)):
        what = ""
        if k == found["chosen"]:
            what = " (chosen)"
        elif k == found["best"]:
            what = " (lowest)" if less else " (highest)"
        tip = f"{found['parameter']} = {label(v)}{what}: {measure} {number(m)} ± {number(e)}"
        if found["kernels"]:
            tip += f", {found['kernels'][k]:.3g} kernels with weight"
        if found["freedom"]:
            tip += f", {found['freedom'][k]:.3g} degrees of freedom"
        if k == found["chosen"]:
            drawing.dot(across(v), inside(m), 7, "c1", tip)
        else:
            drawing.dot(across(v), inside(m), 4, "c0", tip)
    return drawing.svg()


def rocs(curves: Sequence[Mapping[str, Any]]) -> Markup:
    """True against false alarms, a curve for each class that has points."""
    drawing, across, up = _square("ROC curve", "false alarms", "found")
    curves = [curve for curve in curves if curve["points"]]
    names = apart([curve["label"] for curve in curves], 20)
    for k, curve in enumerate(curves):
        points = [(across(x), up(y)) for x, y in curve["points"]]
        drawing.curve(points, f"c{k % 6}")
        for (x, y), (false, true) in zip(points, curve["points"], strict=True):
            tip = f"{curve['label']}: finds {true:.0%} of them at {false:.0%} false alarms"
            drawing.dot(x, y, 5, "ghost", tip, focus=False)
    for k, curve in enumerate(curves):
        drawing.text(
            _LEFT + _SIDE - 8,
            _TOP + _SIDE - 12 - 17 * (len(curves) - 1 - k),
            f"{names[k]}: area {curve['area']:.3f}",
            "end",
            f"t small ink{k % 6}",
        )
    return drawing.svg()


def calibration(found: Mapping[str, Any]) -> Markup:
    """Plot observed frequencies against predicted probabilities."""
    drawing, across, up = _square("Calibration", "predicted probability", "observed frequency")
    most = max(b["count"] for b in found["bins"])
    drawing.curve([(across(b["said"]), up(b["came"])) for b in found["bins"]], "c0")
    for b in found["bins"]:
        tip = f"predicted {b['said']:.0%}, observed {b['came']:.0%}, in {counted(b['count'], 'row')}"
        drawing.dot(across(b["said"]), up(b["came"]), 4 + 7 * (b["count"] / most) ** 0.5, "c0", tip)
    return drawing.svg()


def _square(title: str, across: str, up: str) -> tuple[Drawing, Scale, Scale]:
    """A sheet from 0 to 1 both ways, with its diagonal."""
    drawing = Drawing(_LEFT + _SIDE + 20, _TOP + _SIDE + 44, title)
    x = Scale(0, 1, _LEFT, _LEFT + _SIDE)
    y = Scale(0, 1, _TOP + _SIDE, _TOP)
    drawing.bottom(x, _TOP + _SIDE, across, _TOP, percent=True)
    drawing.left(y, _LEFT, up, _LEFT + _SIDE, percent=True)
    drawing.line(x(0), y(0), x(1), y(1), "rule")
    return drawing, x, y


def residuals(found: Mapping[str, Any]) -> Markup:
    """Predictions against the truth, with the interval around the diagonal if there is one."""
    points = found["points"]
    width = found.get("width", 0.0)
    least = min(min(p) for p in points)
    most = max(max(p) for p in points)
    room = 0.04 * (most - least)
    low = least - room
    high = most + room
    drawing = Drawing(480, 400, "Predictions beside the truth")
    x = Scale(low, high, _LEFT + 14, 466)
    y = Scale(low, high, 356, _TOP)
    ends = ((low, low), (high, high))
    upper = [(x(a), y(min(b + width, high))) for a, b in (ends[0], (high - width, high - width), ends[1])]
    lower = [(x(a), y(max(b - width, low))) for a, b in (ends[1], (low + width, low + width), ends[0])]
    drawing.area([*upper, *lower], "c0")
    drawing.bottom(x, 356, "predicted", _TOP)
    drawing.left(y, _LEFT + 14, "true value", 466)
    drawing.line(x(low), y(low), x(high), y(high), "rule")
    for predicted, truth in points:
        inside = not width or abs(truth - predicted) <= width
        tip = f"predicted {number(predicted)}, true {number(truth)}, off by {number(truth - predicted)}"
        drawing.dot(x(predicted), y(truth), 3, "c0 faint" if inside else "c1", tip, focus=False)
    return drawing.svg()


_ROW = 26.0  # the height of a bar with its gap
_LETTERS = 34  # of a name beside bars; longer ones are cut
_LETTER = 8.0  # the width of a letter, at most; bold ones on a phone are as wide
_BARS = 328.0  # the width of the bars themselves


def _named(names: Sequence[str]) -> tuple[list[str], float, float]:
    """Names as they stand beside bars, their width, and that of the whole chart."""
    short = apart(names, _LETTERS)
    width = max(80.0, _LETTER * max(map(len, short)) + 14.0)
    return short, width, width + _BARS


def bars(title: str, rows: Sequence[tuple[str, float, float, str]], axis: str) -> Markup:
    """A bar for each row: its name, its value, the half length of its whisker, and what it says."""
    height = _ROW * len(rows)
    high = max([value + spread for _, value, spread, _ in rows] + [1e-12])
    low = min([value - spread for _, value, spread, _ in rows] + [0.0])
    if not any(value < 0 for _, value, _, _ in rows):
        low = 0.0
    names, left, width = _named([name for name, *_ in rows])
    scale = Scale(low, high * 1.02, left, width - 60)
    drawing = Drawing(width, height + 46, title)
    drawing.bottom(scale, height + 4, axis, 0)
    for k, (_, value, spread, tip) in enumerate(rows):
        y = _ROW * k + 5
        drawing.text(left - 8, y + 13, names[k], "end")
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
    width = 520.0
    height = 120.0
    left = 4.0
    most = max(count for _, count in bins)
    each = (width - 2 * left) / len(bins)
    drawing = Drawing(width, height + 40, title)
    scale = Scale(0, most, height, 18)
    ends = [name.partition(" to ")[::2] for name, _ in bins]
    intervals = len(bins) > 1 and all(before[1] == after[0] != "" for before, after in pairwise(ends))
    for k, (name, count) in enumerate(bins):
        x = left + k * each
        tip = f"{name}: {counted(count, 'row')} ({count / total:.1%})"
        drawing.bar(x + each * 0.06, scale(count), each * 0.88, height - scale(count), "c0", tip)
        if len(bins) <= 12:
            drawing.text(x + each / 2, scale(count) - 5, str(count), "middle", "t small")
        if len(bins) <= 12 and not intervals:
            drawing.text(x + each / 2, height + 17, shortened(name, max(3, int(each / 7.5))), "middle", "t small")
    if len(bins) > 12 or intervals:
        drawing.text(left, height + 17, bins[0][0].partition(" to ")[0], "start", "t small")
        drawing.text(width - left, height + 17, bins[-1][0].partition(" to ")[2] or bins[-1][0], "end", "t small")
    if intervals and len(bins) >= 3:
        middle = len(bins) // 2
        drawing.text(left + middle * each, height + 17, bins[middle][0].partition(" to ")[0], "middle", "t small")
    drawing.line(left, height, width - left, height)
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
    height = 34.0 * len(rows)
    intervals = intervals or {}
    values = [value for _, scores in rows for value in scores]
    values += [end for name, _ in rows for end in intervals.get(name, ())]
    low = max(min(values), -1.0)
    high = max(values)
    room = (high - low) * 0.06 or 0.05 * abs(high) or 1e-3
    top = high + room
    if high <= 1.0:
        top = min(top, 1.02)
    names, left, width = _named([name for name, _ in rows])
    scale = Scale(low - room, top, left, width - 60)
    drawing = Drawing(width, height + 46, title)
    drawing.bottom(scale, height + 4, f"{measure} on held-out rows", 0, percent=measure == "accuracy")
    for k, (name, scores) in enumerate(rows):
        y = 34.0 * k + 17
        mean = sum(scores) / len(scores)
        step = min(3.2, 30.0 / len(scores))  # many folds stay in their row
        drawing.text(left - 8, y + 4, names[k], "end", "t strong" if k == 0 else "t")
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
        drawing.text(width - 54, y + 4, score(mean, measure), "start", "t small")
    return drawing.svg()


def sources(found: Mapping[str, Any], measure: str) -> Markup:
    """What each source is worth: its score alone, that of all others, and what it adds, up to the score of all.

    Parameters
    ----------
    found : the scores of all sources and of a constant prediction, and a row for each source
    measure : what scores are called
    """
    rows = found["sources"]
    whole = found["score"]
    constant = found["constant"]
    percent = measure == "accuracy"
    height = 34.0 * len(rows)
    values = [whole, constant, *(row[name] for row in rows for name in ("alone", "without"))]
    room = (max(values) - min(values)) * 0.05 or 1e-3
    names, left, width = _named([row["source"] for row in rows])
    scale = Scale(min(values) - room, max(values) + room, left, width - 90)
    drawing = Drawing(width, height + 64, "What each source is worth")
    drawing.bottom(scale, height + 22, f"{measure} on held-out rows", 18, percent=percent)
    drawing.line(scale(constant), 18, scale(constant), height + 22, "rule")
    drawing.line(scale(whole), 18, scale(whole), height + 22, "whisker")
    drawing.text(scale(whole), 12, "all", "middle", "t small")
    if abs(scale(whole) - scale(constant)) > 70:
        drawing.text(scale(constant), 12, "constant", "middle", "t small")
    for k, row in enumerate(rows):
        y = 34.0 * k + 37
        name = row["source"]
        error = "" if row["se"] is None else f" ± {score(row['se'], measure)}"
        adds = f"adds {score(row['adds'], measure)}{error}"
        start, end = sorted((scale(row["without"]), scale(whole)))
        drawing.text(left - 8, y + 4, names[k], "end")
        drawing.bar(start, y - 7, end - start, 14, "c0 faint", f"{name} {adds}")
        drawing.dot(scale(row["alone"]), y, 5, "c1", f"{name} alone: {score(row['alone'], measure)}")
        drawing.dot(scale(row["without"]), y, 5, "c0", f"all without {name}: {score(row['without'], measure)}")
        if row["se"]:
            low = max(row["without"] - row["se"], scale.low)
            high = min(row["without"] + row["se"], scale.high)
            drawing.line(scale(low), y, scale(high), y, "whisker")
        signed = score(row["adds"], measure)
        drawing.text(width - 82, y + 4, signed if row["adds"] < 0 else f"+{signed}", "start", "t small")
    return drawing.svg()


def score(value: float, measure: str) -> str:
    """A score for reading."""
    if measure == "accuracy":
        return f"{value:.1%}".replace("-", "−")
    return number(value)


def lines(
    title: str,
    x: Sequence[float],
    curves: Sequence[tuple[str, Sequence[float]]],
    names: tuple[str, str],
    levels: Sequence[tuple[str, float]] = (),
) -> Markup:
    """Curves over the same values, by the logarithms of these where they span more than a factor of 30.

    Parameters
    ----------
    title : str
    x : the values, in any order
    curves : the name of each curve, and its height at each value; an empty name is not written
    names : of the axes, across and up
    levels : lines across, each with a name
    """
    width = 560.0
    height = 250.0
    order = sorted(range(len(x)), key=lambda k: x[k])
    heights = [value for _, curve in curves for value in curve] + [value for _, value in levels]
    low = min([0.0, *heights])
    drawing = Drawing(width, height + 44, title)
    across = Scale(min(x), max(x), _LEFT, width - 110, logarithmic=min(x) > 0 and max(x) >= 30 * min(x))
    up = Scale(low, max(heights) * 1.04 or 1.0, height, _TOP)
    drawing.bottom(across, height, names[0], _TOP)
    drawing.left(up, _LEFT, names[1], width - 110)
    for k, (name, curve) in enumerate(curves):
        drawing.curve([(across(x[i]), up(curve[i])) for i in order], f"c{k % 6}")
        for i in order:
            tip = f"{name or names[1]} at {label(x[i])}: {number(curve[i])}"
            drawing.dot(across(x[i]), up(curve[i]), 3, f"c{k % 6}", tip, focus=False)
    places = _without_overlap([up(curve[order[-1]]) + 4 for _, curve in curves])
    for k, ((name, _), place) in enumerate(zip(curves, places, strict=True)):
        drawing.text(width - 104, place, shortened(name, 16), "start", f"t small ink{k % 6}")
    for name, value in levels:
        drawing.line(_LEFT, up(value), width - 110, up(value), "rule")
        drawing.text(_LEFT + 4, up(value) - 5, f"{name} {number(value)}", "start", "t small")
    return drawing.svg()


def _without_overlap(places: Sequence[float], least: float = 13.0) -> list[float]:
    """Heights of names as near to these as they can be, the lowest where it is, without one over another."""
    found = list(places)
    limit = max(places, default=0.0) + least
    for k in sorted(range(len(places)), key=lambda k: -places[k]):
        limit = found[k] = min(places[k], limit - least)
    return found


def times(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Markup:
    """Seconds on a logarithmic scale: a dot for each kind of time of each method.

    Parameters
    ----------
    title : str
    rows : the name of each method, and the kinds of its times with their seconds
    """
    height = 34.0 * len(rows)
    values = [seconds for _, kinds in rows for _, seconds in kinds]
    names, left, width = _named([name for name, _ in rows])
    drawing = Drawing(width, height + 46, title)
    scale = Scale(0.7 * min(values), 1.4 * max(values), left, width - 30, logarithmic=True)
    drawing.bottom(scale, height + 4, "seconds, logarithmic", 0)
    for row, (name, kinds) in enumerate(rows):
        y = 34.0 * row + 20
        drawing.text(left - 8, y + 4, names[row], "end", "t strong" if row == 0 else "t")
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


def bins_of(values: Any, classes: bool) -> list[tuple[str, int]]:
    """The counts of classes, or of numbers in up to 20 intervals."""
    import numpy as np

    if classes:
        labels, counts = np.unique(values, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:30]
        if len(labels) <= 30:
            order = np.sort(order)
        return [(str(labels[k]), int(counts[k])) for k in order]
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
            row["spread"] or 0.0,
            f"{row['name']}: weight {row['weight']:.3f}"
            + (
                ""
                if row["spread"] is None
                else f", deviation over the folds {row['spread']:.3f}, used in {row['frequency']:.0%} of them"
            ),
        )
        for row in weights["rows"][:most]
        if row["weight"] > 0.0 or row["frequency"] > 0.0
    ]


_SLANTED = 5.2  # the height, and about the width, that a letter takes at 40 degrees
_MOST_CLASSES = 12


def drawn_classes(counts: Sequence[Sequence[int]]) -> list[int]:
    """The classes that a matrix of mistakes has room for: those with the most mistakes."""
    k = len(counts)
    if k <= _MOST_CLASSES:
        return list(range(k))
    wrong = [sum(counts[i]) + sum(row[i] for row in counts) - 2 * counts[i][i] for i in range(k)]
    return sorted(sorted(range(k), key=lambda i: -wrong[i])[:_MOST_CLASSES])


def confusion(
    counts: Sequence[Sequence[int]], classes: Sequence[str], address: Callable[[int, int], str] | None = None
) -> Markup:
    """True classes down, predicted ones across; the more of a true class, the fuller the cell.

    Parameters
    ----------
    counts : a row for each true class
    classes : their names
    address : what a cell that is not empty leads to, of its true and its predicted class; None for nothing
    """
    drawn = drawn_classes(counts)
    side = max(30.0, min(72.0, 320.0 / len(drawn)))
    letters = int(side / 8)
    heads = apart([classes[i] for i in drawn], 16)
    slanted = max(map(len, heads)) > letters
    top = 24.0 + (_SLANTED * max(map(len, heads)) if slanted else 14.0)
    names = apart([classes[i] for i in drawn], 20)
    left = 16.0 + _LETTER * max(4, *map(len, names))
    right = 8.0 + (_SLANTED * len(heads[-1]) if slanted else 0.0)
    drawing = Drawing(left + side * len(drawn) + right, top + side * len(drawn) + 26, "Confusion matrix")
    drawing.text(left + side * len(drawn) / 2, 14, "predicted", "middle", "t small")
    drawing.text(left - 8, top - 8, "true", "end", "t small")
    for place, i in enumerate(drawn):
        if slanted:
            drawing.slanted(left + side * (place + 0.5), top - 6, heads[place])
        else:
            drawing.text(left + side * (place + 0.5), top - 8, heads[place], "middle", "t small")
        total = max(sum(counts[i]), 1)
        y = top + side * place
        drawing.text(left - 8, y + side / 2 + 4, names[place], "end", "t small")
        for across, j in enumerate(drawn):
            part = counts[i][j] / total
            rows = f"{counts[i][j]} of {counted(total, 'row')}"
            tip = f"{rows} of class {classes[i]} predicted as {classes[j]} ({part:.0%})"
            kind = "c0" if i == j else "c1"
            level = f"level{round(10 * part)}"
            x = left + side * across
            href = address(i, j) if address is not None and counts[i][j] else ""
            drawing.bar(x + 1, y + 1, side - 2, side - 2, f"{kind} {level}", tip, href=href)
            drawing.text(x + side / 2, y + side / 2 + 4, str(counts[i][j]), "middle", "t cell")
    return drawing.svg()
