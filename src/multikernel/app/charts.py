"""Charts of pages and reports with two axes: histograms, lines, paths, curves, and confusion matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from multikernel.app.drawing import SHEET, Drawing, Scale, counted, intervals, label, number
from multikernel.app.row_charts import counts
from multikernel.app.short_names import apart, room, shortened

_LEFT = 56.0  # where the horizontal axis of a chart begins
_TOP = 26.0
_SIDE = 300.0
_LETTER = 8.0  # the width of a letter, at most
_BESIDE = 12  # letters of the longest name that is written at the end of its curve


def path(result: Mapping[str, Any], measure: str) -> Markup:
    """Mean scores along a parameter with their standard errors, and the best mean less (or plus) one standard error."""
    values = result["values"]
    mean = result["mean"]
    error = result["error"]
    width = SHEET
    height = 260.0
    percent = measure == "accuracy"
    drawing = Drawing(width, height + 44, f"Path: {measure} along {result['parameter']}")
    x_scale = Scale(min(values), max(values), _LEFT, width - 14, logarithmic=min(values) > 0)
    low = min(m - e for m, e in zip(mean, error, strict=True))
    high = max(m + e for m, e in zip(mean, error, strict=True))
    less_is_better = result.get("less_is_better", False)
    if less_is_better:  # scores far from the best would flatten the other ones
        high = min(high, result["line"] + 4 * (result["line"] - low))
    else:
        low = max(low, result["line"] - 4 * (high - result["line"]) - 0.02)
    y_scale = Scale(low, high, height, _TOP)
    drawing.bottom(x_scale, height, result["parameter"], _TOP)
    drawing.left(y_scale, _LEFT, measure, width - 14, percent)

    def clipped(value: float) -> float:
        return y_scale(min(max(value, low), high))

    upper = [(x_scale(v), clipped(m + e)) for v, m, e in zip(values, mean, error, strict=True)]
    lower = [(x_scale(v), clipped(m - e)) for v, m, e in zip(values, mean, error, strict=True)]
    drawing.area([*upper, *lower[::-1]], "c0")
    drawing.curve([(x_scale(v), clipped(m)) for v, m in zip(values, mean, strict=True)], "c0")
    if result.get("training"):
        drawing.curve([(x_scale(v), clipped(s)) for v, s in zip(values, result["training"], strict=True)], "c2")
    drawing.line(_LEFT, y_scale(result["line"]), width - 14, y_scale(result["line"]), "rule")
    for k, (v, m, e) in enumerate(zip(values, mean, error, strict=True)):
        mark = ""
        if k == result["chosen"]:
            mark = " (chosen)"
        elif k == result["best"]:
            mark = " (lowest)" if less_is_better else " (highest)"
        tip = f"{result['parameter']} = {label(v)}{mark}: {measure} {number(m)} ± {number(e)}"
        if result["kernels"]:
            tip += f", {result['kernels'][k]:.3g} kernels with weight"
        if result["freedom"]:
            tip += f", {result['freedom'][k]:.3g} degrees of freedom"
        if k == result["chosen"]:
            drawing.dot(x_scale(v), clipped(m), 7, "c1", tip)
        else:
            drawing.dot(x_scale(v), clipped(m), 4, "c0", tip)
    words = f"best {'+' if less_is_better else '−'} one standard error"
    drawing.text(_LEFT + 4, y_scale(result["line"]) - 5, words, "start", "t small halo")
    return drawing.svg()


def rocs(curves: Sequence[Mapping[str, Any]]) -> Markup:
    """True positive rates against false positive rates, a curve for each class that has points."""
    drawing, x_scale, y_scale = _square("ROC curve", "false alarms", "found")
    curves = [curve for curve in curves if curve["points"]]
    names = apart([curve["label"] for curve in curves], 20)
    for k, curve in enumerate(curves):
        points = [(x_scale(x), y_scale(y)) for x, y in curve["points"]]
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


def calibration(result: Mapping[str, Any]) -> Markup:
    """Observed frequencies against predicted probabilities."""
    drawing, x_scale, y_scale = _square("Calibration", "predicted probability", "observed frequency")
    largest_count = max(b["count"] for b in result["bins"])
    drawing.curve([(x_scale(b["said"]), y_scale(b["came"])) for b in result["bins"]], "c0")
    for b in result["bins"]:
        tip = f"predicted {b['said']:.0%}, observed {b['came']:.0%}, in {counted(b['count'], 'row')}"
        drawing.dot(x_scale(b["said"]), y_scale(b["came"]), 4 + 7 * (b["count"] / largest_count) ** 0.5, "c0", tip)
    return drawing.svg()


def _square(title: str, x_label: str, y_label: str) -> tuple[Drawing, Scale, Scale]:
    """A sheet with both axes from 0 to 1, and its diagonal."""
    drawing = Drawing(_LEFT + _SIDE + 20, _TOP + _SIDE + 44, title)
    x = Scale(0, 1, _LEFT, _LEFT + _SIDE)
    y = Scale(0, 1, _TOP + _SIDE, _TOP)
    drawing.bottom(x, _TOP + _SIDE, x_label, _TOP, percent=True)
    drawing.left(y, _LEFT, y_label, _LEFT + _SIDE, percent=True)
    drawing.line(x(0), y(0), x(1), y(1), "rule")
    return drawing, x, y


def residuals(result: Mapping[str, Any]) -> Markup:
    """True values against predictions, with the prediction interval around the diagonal if there is one."""
    points = result["points"]
    width = result.get("width", 0.0)
    lowest = min(min(p) for p in points)
    highest = max(max(p) for p in points)
    margin = 0.04 * (highest - lowest)
    low = lowest - margin
    high = highest + margin
    drawing = Drawing(SHEET, 400, "Predictions beside the truth")
    x = Scale(low, high, _LEFT + 14, SHEET - 14)
    y = Scale(low, high, 356, _TOP)
    ends = ((low, low), (high, high))
    upper = [(x(a), y(min(b + width, high))) for a, b in (ends[0], (high - width, high - width), ends[1])]
    lower = [(x(a), y(max(b - width, low))) for a, b in (ends[1], (low + width, low + width), ends[0])]
    drawing.area([*upper, *lower], "c0")
    drawing.bottom(x, 356, "predicted", _TOP)
    drawing.left(y, _LEFT + 14, "true value", SHEET - 14)
    drawing.line(x(low), y(low), x(high), y(high), "rule")
    for predicted, truth in points:
        covered = not width or abs(truth - predicted) <= width
        tip = f"predicted {number(predicted)}, true {number(truth)}, off by {number(truth - predicted)}"
        drawing.dot(x(predicted), y(truth), 3, "c0 faint" if covered else "c1", tip, focus=False)
    return drawing.svg()


def distribution(title: str, values: Any, classes: bool) -> tuple[Markup, int]:
    """A chart of how many rows have each class, or are in each interval of numbers; and the number of its bars.

    Parameters
    ----------
    title : str
    values : of the rows
    classes : whether they are classes
    """
    bins = _bins_of(values, classes, 30)
    if classes and max(room(name) for name, _ in bins) * _LETTER > (SHEET - 8) / len(bins):
        bins = _bins_of(values, classes, _MOST_CLASSES)
        return counts(title, bins, len(values)), len(bins)
    return _histogram(title, bins, len(values), classes), len(bins)


def _histogram(title: str, bins: Sequence[tuple[str, int]], total: int, classes: bool) -> Markup:
    """A vertical bar for each bin.

    Parameters
    ----------
    title : str
    bins : the name and the count of each: a class, an interval "low to high" without a gap to the next, or a number
    total : the number of rows
    classes : whether bins are classes, whose names are all written
    """
    height = 120.0
    left = 4.0
    bar_width = (SHEET - 2 * left) / len(bins)
    drawing = Drawing(SHEET, height + 40, title)
    scale = Scale(0, max(count for _, count in bins), height, 18)
    counts_fit = max(room(str(count)) for _, count in bins) * _LETTER <= bar_width
    for k, (name, count) in enumerate(bins):
        x = left + k * bar_width
        tip = f"{name}: {counted(count, 'row')} ({count / total:.1%})"
        drawing.bar(x + bar_width * 0.06, scale(count), bar_width * 0.88, height - scale(count), "c0", tip)
        if counts_fit:
            drawing.text(x + bar_width / 2, scale(count) - 5, str(count), "middle", "t small")
        if classes:
            drawing.text(x + bar_width / 2, height + 17, name, "middle", "t small")
    if not classes:
        names = [name for name, _ in bins]
        drawing.text(left, height + 17, names[0].partition(" to ")[0], "start", "t small")
        drawing.text(SHEET - left, height + 17, names[-1].rpartition(" to ")[2], "end", "t small")
        if len(bins) >= 3:
            start, interval, _ = names[len(bins) // 2].partition(" to ")
            middle = float(len(bins) // 2)
            if not interval:
                middle += 0.5
            drawing.text(left + middle * bar_width, height + 17, start, "middle", "t small")
    drawing.line(left, height, SHEET - left, height)
    return drawing.svg()


def lines(
    title: str,
    x: Sequence[float],
    curves: Sequence[tuple[str, Sequence[float]]],
    names: tuple[str, str],
    levels: Sequence[tuple[str, float]] = (),
) -> Markup:
    """Curves over the same values, on a logarithmic scale where these span more than a factor of 30.

    Parameters
    ----------
    title : str
    x : the values, in any order
    curves : the name of each curve, and its height at each value; an empty name is not written, and where one is long
        all are in a legend below
    names : of the horizontal and the vertical axis
    levels : horizontal lines, each with a name
    """
    height = 250.0
    order = sorted(range(len(x)), key=lambda k: x[k])
    heights = [value for _, curve in curves for value in curve] + [value for _, value in levels]
    low = min([0.0, *heights])
    high = max([0.0, *heights]) * 1.04
    longest = max(room(name) for name, _ in curves)
    labels_at_ends = longest <= _BESIDE
    right = SHEET - 16
    height_below = 44
    if not labels_at_ends:
        height_below += 18 * len(curves)
    elif longest:
        right = SHEET - 110
    drawing = Drawing(SHEET, height + height_below, title)
    x_scale = Scale(min(x), max(x), _LEFT, right, logarithmic=min(x) > 0 and max(x) >= 30 * min(x))
    y_scale = Scale(low, high if high > low else 1.0, height, _TOP)
    drawing.bottom(x_scale, height, names[0], _TOP)
    drawing.left(y_scale, _LEFT, names[1], right)
    for k, (name, curve) in enumerate(curves):
        drawing.curve([(x_scale(x[i]), y_scale(curve[i])) for i in order], f"c{k % 6}")
        for i in order:
            tip = f"{name or names[1]} at {label(x[i])}: {number(curve[i])}"
            drawing.dot(x_scale(x[i]), y_scale(curve[i]), 3, f"c{k % 6}", tip, focus=False)
    if labels_at_ends:
        label_heights = _without_overlap([y_scale(curve[order[-1]]) + 4 for _, curve in curves])
        for k, ((name, _), label_y) in enumerate(zip(curves, label_heights, strict=True)):
            drawing.text(right + 6, label_y, name, "start", f"t small ink{k % 6}")
    else:
        for k, (name, _) in enumerate(curves):
            y = height + 56 + 18 * k
            drawing.sign(_LEFT + 6, y - 4, 5, "square", f"c{k % 6}", "")
            drawing.text(_LEFT + 18, y, shortened(name, int((SHEET - _LEFT - 18) / _LETTER)), "start", "t small")
    for name, value in levels:
        drawing.line(_LEFT, y_scale(value), right, y_scale(value), "rule")
        drawing.text(_LEFT + 4, y_scale(value) - 5, f"{name} {number(value)}", "start", "t small")
    return drawing.svg()


def _without_overlap(heights: Sequence[float], gap: float = 13.0) -> list[float]:
    """Positions of labels moved up as little as it takes that none overlaps the next; the lowest label stays."""
    separated = list(heights)
    limit = max(heights, default=0.0) + gap
    for k in sorted(range(len(heights)), key=lambda k: -heights[k]):
        limit = separated[k] = min(heights[k], limit - gap)
    return separated


def _bins_of(values: Any, classes: bool, limit: int) -> list[tuple[str, int]]:
    """The counts of the commonest classes, or of numbers in up to 20 intervals.

    Parameters
    ----------
    values : of the rows
    classes : whether they are classes
    limit : the number of classes at most; where there are no more, they are sorted by name
    """
    import numpy as np

    if classes:
        labels, sizes = np.unique(values, return_counts=True)
        order = np.argsort(-sizes, kind="stable")[:limit]
        if len(labels) <= limit:
            order = np.sort(order)
        return [(str(labels[k]), int(sizes[k])) for k in order]
    limit = min(20, max(5, int(len(values) ** 0.5)))
    if np.abs(values).max() < 2.0**52 and (values == np.round(values)).all():  # integers, all of them exact
        return _integer_bins(values, limit)
    sizes, edges = np.histogram(values, bins=limit)
    return list(zip(intervals(edges.tolist()), sizes.tolist(), strict=True))


def _integer_bins(values: Any, limit: int) -> list[tuple[str, int]]:
    """The counts of integers in intervals of equally many integers, or of each integer where there are few."""
    import numpy as np

    low = int(values.min())
    high = int(values.max())
    width = -((low - high - 1) // limit)
    starts = range(low, high + 1, width)
    sizes = np.bincount((values - low).astype(int) // width, minlength=len(starts))
    ends = [min(start + width - 1, high) for start in starts]
    names = [f"{start} to {end}" if end > start else f"{start}" for start, end in zip(starts, ends, strict=True)]
    return [(name.replace("-", "−"), int(size)) for name, size in zip(names, sizes, strict=True)]


_SLANTED = 5.2  # the height, and about the width, that a letter takes at 40 degrees
_MOST_CLASSES = 12


def drawn_classes(counts: Sequence[Sequence[int]]) -> list[int]:
    """The indices of the classes that a confusion matrix has room for: those with the most mistakes."""
    k = len(counts)
    if k <= _MOST_CLASSES:
        return list(range(k))
    mistakes = [sum(counts[i]) + sum(row[i] for row in counts) - 2 * counts[i][i] for i in range(k)]
    return sorted(sorted(range(k), key=lambda i: -mistakes[i])[:_MOST_CLASSES])


def confusion(
    counts: Sequence[Sequence[int]], classes: Sequence[str], address: Callable[[int, int], str] | None = None
) -> Markup:
    """True classes in rows, predicted ones in columns; a larger share of the true class has a stronger colour.

    Parameters
    ----------
    counts : a row for each true class
    classes : their names
    address : the address that a cell links to, from the indices of its true and its predicted class; None for no links
    """
    indices = drawn_classes(counts)
    side = max(28.0, min(72.0, 280.0 / len(indices)))
    letters = int(side / 8)
    names = apart([classes[i] for i in indices], 14)
    slanted = max(map(room, names)) > letters
    top = 38.0
    left = 16.0 + _LETTER * max(4, *map(room, names))
    right = 8.0
    if slanted:
        top = 24.0 + _SLANTED * max(map(room, names))
        right += _SLANTED * room(names[-1])
    drawing = Drawing(left + side * len(indices) + right, top + side * len(indices) + 26, "Confusion matrix")
    drawing.text(left + side * len(indices) / 2, 14, "predicted", "middle", "t small")
    drawing.text(left - 8, top - 8, "true", "end", "t small")
    for row, i in enumerate(indices):
        if slanted:
            drawing.slanted(left + side * (row + 0.5), top - 6, names[row])
        else:
            drawing.text(left + side * (row + 0.5), top - 8, names[row], "middle", "t small")
        total = max(sum(counts[i]), 1)
        y = top + side * row
        drawing.text(left - 8, y + side / 2 + 4, names[row], "end", "t small")
        for column, j in enumerate(indices):
            share = counts[i][j] / total
            fraction = f"{counts[i][j]} of {counted(total, 'row')}"
            tip = f"{fraction} of class {classes[i]} predicted as {classes[j]} ({share:.0%})"
            kind = "c0" if i == j else "c1"
            level = f"level{round(10 * share)}"
            x = left + side * column
            href = address(i, j) if address is not None and counts[i][j] else ""
            drawing.bar(x + 1, y + 1, side - 2, side - 2, f"{kind} {level}", tip, href=href)
            drawing.text(x + side / 2, y + side / 2 + 4, str(counts[i][j]), "middle", "t cell")
    return drawing.svg()
