"""A confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from multikernel.app.web.charts.drawing import Drawing, shortened

_LEFT, _TOP, _MOST = 110.0, 44.0, 12


def confusion(counts: Sequence[Sequence[int]], classes: Sequence[str]) -> Markup:
    """True classes down, predicted ones across; the more of a true class, the fuller the cell."""
    k = min(len(classes), _MOST)
    side = max(30.0, min(72.0, 320.0 / k))
    drawing = Drawing(_LEFT + side * k + 8, _TOP + side * k + 26, "Confusion matrix")
    drawing.text(_LEFT + side * k / 2, 14, "predicted", "middle", "t small")
    for j in range(k):
        drawing.text(
            _LEFT + side * (j + 0.5), _TOP - 8, shortened(classes[j], max(3, int(side / 8))), "middle", "t small"
        )
    for i in range(k):
        total = max(sum(counts[i]), 1)
        drawing.text(_LEFT - 8, _TOP + side * (i + 0.5) + 4, shortened(classes[i], 14), "end", "t small")
        for j in range(k):
            part = counts[i][j] / total
            tip = f"{counts[i][j]} of {total} rows that are {classes[i]} are called {classes[j]} ({part:.0%})"
            kind = "c0" if i == j else "c1"
            level = f"level{round(10 * part)}"
            x, y = _LEFT + side * j, _TOP + side * i
            drawing.bar(x + 1, y + 1, side - 2, side - 2, f"{kind} {level}", tip)
            drawing.text(x + side / 2, y + side / 2 + 4, str(counts[i][j]), "middle", "t cell")
    drawing.text(_LEFT - 8, _TOP - 8, "true", "end", "t small")
    return drawing.svg()
