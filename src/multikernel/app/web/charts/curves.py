"""A path with its band, receiver operating curves, calibration, and predictions beside the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from multikernel.app.web.charts.drawing import Drawing, Scale, label
from multikernel.app.web.site import number

_LEFT, _TOP, _SIDE = 56.0, 26.0, 300.0


def path(found: Mapping[str, Any], measure: str) -> Markup:
    """Mean scores along a parameter, one standard error around them, and the line of the rule."""
    values, mean, error = found["values"], found["mean"], found["error"]
    width, height, percent = 560.0, 280.0, measure == "accuracy"
    drawing = Drawing(width, height + 44, f"Path: {measure} along {found['parameter']}")
    across = Scale(min(values), max(values), _LEFT, width - 14, logarithmic=min(values) > 0)
    low = min(m - e for m, e in zip(mean, error, strict=True))
    high = max(m + e for m, e in zip(mean, error, strict=True))
    low = max(low, found["line"] - 4 * (high - found["line"]) - 0.02)  # scores far below would flatten the rest
    up = Scale(low, high, height, _TOP)
    drawing.bottom(across, height, found["parameter"], _TOP)
    drawing.left(up, _LEFT, measure, width - 14, percent)
    held = [max(value, low) for value in mean]
    upper = [(across(v), up(max(m + e, low))) for v, m, e in zip(values, mean, error, strict=True)]
    lower = [(across(v), up(max(m - e, low))) for v, m, e in zip(values, mean, error, strict=True)]
    drawing.area([*upper, *lower[::-1]], "c0")
    drawing.curve([(across(v), up(m)) for v, m in zip(values, held, strict=True)], "c0")
    drawing.line(_LEFT, up(found["line"]), width - 14, up(found["line"]), "rule")
    drawing.text(_LEFT + 4, up(found["line"]) - 5, "best − one standard error", "start", "t small")
    for k, (v, m, e) in enumerate(zip(values, held, error, strict=True)):
        what = " (chosen)" if k == found["chosen"] else " (highest)" if k == found["best"] else ""
        used = f", {found['kernels'][k]:.3g} kernels with weight" if found["kernels"] else ""
        free = f", {found['freedom'][k]:.3g} degrees of freedom" if found["freedom"] else ""
        tip = f"{found['parameter']} = {label(v)}{what}: {measure} {number(mean[k])} ± {number(e)}{used}{free}"
        drawing.dot(across(v), up(m), 7 if k == found["chosen"] else 4, "c1" if k == found["chosen"] else "c0", tip)
    return drawing.svg()


def rocs(curves: Sequence[Mapping[str, Any]]) -> Markup:
    """True against false alarms, a curve for each class."""
    drawing, across, up = _square("ROC curve", "false alarms", "found")
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
            f"{curve['label'][:18]}: area {curve['area']:.3f}",
            "end",
            f"t small ink{k % 6}",
        )
    return drawing.svg()


def calibration(found: Mapping[str, Any]) -> Markup:
    """How often it came true against what was said."""
    drawing, across, up = _square("Calibration", "probability that was said", "came true")
    most = max(b["count"] for b in found["bins"])
    drawing.curve([(across(b["said"]), up(b["came"])) for b in found["bins"]], "c0")
    for b in found["bins"]:
        tip = f"said {b['said']:.0%}, came true {b['came']:.0%}, in {b['count']} rows"
        drawing.dot(across(b["said"]), up(b["came"]), 4 + 7 * (b["count"] / most) ** 0.5, "c0", tip)
    return drawing.svg()


def _square(title: str, across: str, up: str) -> tuple[Drawing, Scale, Scale]:
    """A sheet from 0 to 1 both ways, with its diagonal."""
    drawing = Drawing(_LEFT + _SIDE + 20, _TOP + _SIDE + 44, title)
    x, y = Scale(0, 1, _LEFT, _LEFT + _SIDE), Scale(0, 1, _TOP + _SIDE, _TOP)
    drawing.bottom(x, _TOP + _SIDE, across, _TOP, percent=True)
    drawing.left(y, _LEFT, up, _LEFT + _SIDE, percent=True)
    drawing.line(x(0), y(0), x(1), y(1), "rule")
    return drawing, x, y


def residuals(found: Mapping[str, Any]) -> Markup:
    """Predictions against the truth, with the interval around the diagonal."""
    points, width = found["points"], found["width"]
    low, high = min(min(p) for p in points), max(max(p) for p in points)
    room = 0.04 * (high - low)
    low, high = low - room, high + room
    drawing = Drawing(480, 400, "Predictions beside the truth")
    x, y = Scale(low, high, _LEFT + 14, 466), Scale(low, high, 356, _TOP)
    ends = ((low, low), (high, high))
    upper = [(x(a), y(min(b + width, high))) for a, b in (ends[0], (high - width, high - width), ends[1])]
    lower = [(x(a), y(max(b - width, low))) for a, b in (ends[1], (low + width, low + width), ends[0])]
    drawing.area([*upper, *lower], "c0")
    drawing.bottom(x, 356, "predicted", _TOP)
    drawing.left(y, _LEFT + 14, "true value", 466)
    drawing.line(x(low), y(low), x(high), y(high), "rule")
    for predicted, truth in points:
        inside = abs(truth - predicted) <= width
        tip = f"predicted {number(predicted)}, true {number(truth)}, off by {number(truth - predicted)}"
        drawing.dot(x(predicted), y(truth), 3, "c0 faint" if inside else "c1", tip, focus=False)
    return drawing.svg()
