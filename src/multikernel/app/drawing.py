"""A drawing: scales, axes and marks, as SVG in the fonts and colours of the page (classes c0, c1, ... of its style).

Each mark has a sentence (its tip), which the script of the page shows at the pointer and at the focus, and which a
screen reader reads aloud.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from math import ceil, cos, floor, log10, pi, sin

from markupsafe import Markup

from multikernel.app.short_names import room, shortened


@dataclass(frozen=True)
class Scale:
    """Map numbers from ``low`` to ``high`` to positions from ``start`` to ``end``, by logarithms if ``logarithmic``."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low = self._in(self.low)
        high = self._in(self.high)
        fraction = (self._in(value) - low) / (high - low) if high > low else 0.5
        return self.start + fraction * (self.end - self.start)

    def _in(self, value: float) -> float:
        if self.logarithmic:
            return log10(value)
        return value

    @property
    def ticks(self) -> list[float]:
        """Round numbers, about five."""
        if self.logarithmic and self.high >= 10.0 * self.low:
            low = floor(log10(self.low))
            high = ceil(log10(self.high))
            times = (1, 2, 5) if self.high < 300.0 * self.low else (1,)
            candidates = [k * 10.0**power for power in range(low, high + 1, max(1, (high - low) // 5)) for k in times]
            return [tick for tick in candidates if self.low * (1 - 1e-9) <= tick <= self.high * (1 + 1e-9)]
        span = self.high - self.low
        if span <= 0:
            return [self.low]
        raw = span / 5
        power = floor(log10(raw))
        step = next(times * 10.0**power for times in (1, 2, 5, 10) if times * 10.0**power >= raw * 0.999)
        begin = ceil(self.low / step - 1e-9)
        final = floor(self.high / step + 1e-9)
        return [round(k * step, -power) for k in range(begin, final + 1)]


SHEET = 440.0  # the width of a chart: two fit side by side, and the letters can be read on a phone
_TICK_LETTER = 8.0  # the width of a letter at a tick, where a phone shows larger ones
_TIP_LENGTH = 400  # characters of the sentence of a mark, at most
_SHAPES = {  # the corners of signs of radius 1, which look about as large as the circle of this radius
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": ((0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    "diamond": ((0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)),
    "cross": tuple(
        (a * 1.2, b * 1.2)
        for a, b in (
            (-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35), (1, 0.35), (0.35, 0.35),
            (0.35, 1), (-0.35, 1), (-0.35, 0.35), (-1, 0.35), (-1, -0.35), (-0.35, -0.35),
        )
    ),
    "star": tuple((r * sin(k * pi / 5), -r * cos(k * pi / 5)) for k, r in enumerate(5 * (1.35, 0.6))),
}  # fmt: skip


@dataclass
class Drawing:
    """SVG elements on a sheet of ``width`` x ``height``, drawn in the order in which they were added."""

    width: float
    height: float
    title: str
    elements: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, anchor: str = "start", kind: str = "t") -> None:
        """Words whose base line is at y."""
        self.elements.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'
        )

    def slanted(self, x: float, y: float, words: str, kind: str = "t small") -> None:
        """Words that rise to the right from a point."""
        transform = f'transform="translate({x:.1f} {y:.1f}) rotate(-40)"'
        self.elements.append(f'<text {transform} class="{kind}">{escape(words)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> None:
        """A straight line."""
        self.elements.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def curve(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """Points joined by lines."""
        self.elements.append(f'<polyline points="{_coordinates(points)}" class="curve {kind}"/>')

    def area(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """The area that points enclose."""
        self.elements.append(f'<polygon points="{_coordinates(points)}" class="area {kind}"/>')

    def bar(self, x: float, y: float, width: float, height: float, kind: str, tip: str, *, href: str = "") -> None:
        """A bar with a tip, and with a link if ``href`` is given; a bar of length 0 is drawn as a line."""
        position = f'x="{x:.1f}" y="{y + min(height - 1.0, 0.0):.1f}"'
        size = f'width="{max(width, 1.0):.1f}" height="{max(height, 1.0):.1f}"'
        self._mark(f'<rect {position} {size} rx="2" class="{kind}"/>', tip, focus=True, href=href)

    def dot(self, x: float, y: float, radius: float, kind: str, tip: str, *, focus: bool = True) -> None:
        """A dot with a tip; ``focus=False``, for dots of which there are many, keeps it out of the tab order."""
        self._mark(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{kind}"/>', tip, focus=focus)

    def sign(self, x: float, y: float, radius: float, shape: str, kind: str, tip: str, *, href: str = "") -> None:
        """A sign of a shape, with a tip and a link if ``tip`` and ``href`` are given."""
        if shape == "circle":
            element = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{kind}"/>'
        else:
            corners = [(x + radius * a, y + radius * b) for a, b in _SHAPES[shape]]
            element = f'<polygon points="{_coordinates(corners)}" class="{kind}"/>'
        if tip:
            self._mark(element, tip, focus=False, href=href)
        else:
            self.elements.append(element)

    def ring(self, x: float, y: float, radius: float) -> None:
        """A ring around a sign."""
        self.elements.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="ring"/>')

    def image(self, x: float, y: float, side: float, file: bytes, description: str) -> None:
        """A square PNG file, whose pixels are not smoothed when it is enlarged."""
        position = f'x="{x:.1f}" y="{y:.1f}" width="{side:g}" height="{side:g}"'
        self.elements.append(f'<rect {position} class="frame"/>')
        data = f"data:image/png;base64,{b64encode(file).decode()}"
        link = f'href="{data}" role="img" aria-label="{escape(description)}"'
        self.elements.append(f'<image {position} {link} image-rendering="pixelated"/>')

    def _mark(self, shape: str, tip: str, *, focus: bool, href: str = "") -> None:
        sentence = escape(shortened(tip, _TIP_LENGTH))
        if href:
            self.elements.append(
                f'<a class="mark" href="{escape(href)}" aria-label="{sentence}" data-tip="{sentence}">{shape}</a>'
            )
        elif focus:
            self.elements.append(
                f'<g class="mark" tabindex="0" role="img" aria-label="{sentence}" data-tip="{sentence}">{shape}</g>'
            )
        else:
            self.elements.append(shape.replace("/>", f' data-tip="{sentence}"/>'))

    def bottom(self, scale: Scale, y: float, name: str, top: float, percent: bool = False) -> None:
        """The axis below, with lines up to ``top``."""
        free_from = -1e9  # the position at which the next label may begin
        for tick in scale.ticks:
            words = label(tick, percent)
            half = _TICK_LETTER * len(words) / 2
            self.line(scale(tick), top, scale(tick), y, "grid")
            if scale(tick) - half >= free_from:
                self.text(scale(tick), y + 16, words, "middle", "t small")
                free_from = scale(tick) + half + _TICK_LETTER
        words = shortened(name, int(self.width / _TICK_LETTER))
        half = min(_TICK_LETTER * room(words), self.width) / 2
        middle = min(max((scale.start + scale.end) / 2, half), self.width - half)
        self.text(middle, y + 34, words, "middle", "t small")

    def left(self, scale: Scale, x: float, name: str, right: float, percent: bool = False) -> None:
        """The axis to the left, with lines up to ``right``."""
        for tick in scale.ticks:
            self.line(x, scale(tick), right, scale(tick), "grid")
            self.text(x - 6, scale(tick) + 4, label(tick, percent), "end", "t small")
        words = shortened(name, int(self.width / _TICK_LETTER))
        self.text(2, scale.end - 12, words, "start", "t small")

    def svg(self) -> Markup:
        """The drawing as an element of a page."""
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}"'
        head = f'<svg {size} role="group" aria-label="{escape(shortened(self.title, _TIP_LENGTH))}" class="chart">'
        return Markup(head + "".join(self.elements) + "</svg>")


def label(value: float, percent: bool = False) -> str:
    """A number at a tick, with the digits that distinguish it from other ticks: 1500000 is 1.5e6."""
    if percent:
        return f"{value * 100:.10g}%".replace("-", "−")
    text = f"{value:.10g}"
    if value and not 1e-3 <= abs(value) < 1e6:
        digits, power = f"{value:.9e}".split("e")
        text = f"{float(digits):.10g}e{int(power)}"
    return text.replace("-", "−")


def intervals(ends: Sequence[float]) -> list[str]:
    """The names of the intervals between ascending numbers, with enough digits to distinguish their ends."""
    width = (ends[-1] - ends[0]) / len(ends)
    digits = max(4, 2 + ceil(log10(max(map(abs, ends)) / width)))
    names = [label(float(f"{end:.{digits}g}")) for end in ends]
    return [f"{low} to {high}" for low, high in pairwise(names)]


def number(value: float | None, digits: int = 3) -> str:
    """A number for reading: a price of 243512.8 is 243513, not 2.4e+05."""
    if value is None:
        return "–"
    size = abs(value)
    if 1e4 <= size < 1e9:
        text = f"{value:.0f}"
    elif 1e-3 <= size < 1e4 or size < 1e-12:
        text = f"{value:.{digits}f}"
    else:
        text = f"{value:.{4 if size >= 1e9 else 2}g}"
    return (text.removeprefix("-") if float(text) == 0 else text).replace("-", "−")


def counted(count: int, word: str) -> str:
    """A number of things: 1 row, 2 rows."""
    if count == 1:
        return f"1 {word}"
    return f"{count} {word}s"


def _coordinates(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
