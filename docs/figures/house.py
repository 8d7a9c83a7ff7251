"""Draws docs/images/house.svg: the packages of the library from top to bottom; imports run downward only.

python docs/figures/house.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

OUT = Path(__file__).parents[1] / "images" / "house.svg"
WIDE, HIGH, GAP, LEFT, TOP = 820, 50, 12, 20, 96
FLOORS: list[tuple[str, list[tuple[str, str]]]] = [
    ("#945ecf", [("app", "command line, report"), ("reproduce", "five papers, measured again")]),
    ("#945ecf", [("auto", "an answer without tuning: tables, candidates, their blend")]),
    (
        "#2f7ed8",
        [
            ("paths", "along a parameter"),
            ("selection", "searches on one bank"),
            ("inspection", "importance, stability"),
            ("testing", "suites for all parts"),
        ],
    ),
    ("#2f7ed8", [("estimators", "scikit-learn classes: parameters, labels, problems on one bank, predictors")]),
    (
        "#e8743b",
        [
            ("procedures", "EasyMKL, interior point, RLS2, held-out errors, HKL"),
            ("optimizers", "SimpleMKL, SILP, level, quasi-Newton"),
        ],
    ),
    (
        "#e8743b",
        [("problem", "value, gradient, gap: the certificate"), ("diagnostics", "of matrices, of weights")],
    ),
    (
        "#19a979",
        [
            ("combinations", "weights to one kernel"),
            ("machines", "the problem for a fixed kernel"),
            ("domains", "where weights live"),
        ],
    ),
    ("#19a979", [("banks", "m kernel matrices as one operator; bind() chooses its form")]),
    ("#19a979", [("kernels", "what to compute, free of data; what each states about itself")]),
    ("#19a979", [("persistence", "models and finished parts of work in files, without pickle")]),
]


def main() -> None:
    height = TOP + len(FLOORS) * (HIGH + GAP) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE + 2 * LEFT} {height}" role="img" '
        'aria-label="The rooms of the package, one floor above the other" font-family="system-ui, sans-serif">',
        f'<path d="M {LEFT} {TOP - 14} L {LEFT + WIDE / 2} 14 L {LEFT + WIDE} {TOP - 14} Z" fill="none" '
        'stroke="#8a8d93" stroke-width="2"/>',
        text(LEFT + WIDE / 2, 62, "your script, your table", 15, "#8a8d93"),
    ]
    for floor, (colour, rooms) in enumerate(FLOORS):
        y = TOP + floor * (HIGH + GAP)
        share = (WIDE - GAP * (len(rooms) - 1)) / len(rooms)
        for place, (name, about) in enumerate(rooms):
            x = LEFT + place * (share + GAP)
            parts += [
                f'<rect x="{x:.1f}" y="{y}" width="{share:.1f}" height="{HIGH}" rx="5" fill="{colour}"/>',
                text(x + share / 2, y + 21, name, 15, "white", bold=True),
                text(x + share / 2, y + 39, about, 11.5, "white"),
            ]
    foot = TOP + len(FLOORS) * (HIGH + GAP) + 16
    parts.append(text(LEFT + WIDE / 2, foot, "imports run downward only; datasets stands beside", 12, "#8a8d93"))
    OUT.write_text("\n".join([*parts, "</svg>"]) + "\n")


def text(x: float, y: float, words: str, size: float, colour: str, bold: bool = False) -> str:
    """Words in the middle of a place."""
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{x:.1f}" y="{y}" font-size="{size}"{weight}'
    return f'<text {place} text-anchor="middle" fill="{colour}">{escape(words)}</text>'


if __name__ == "__main__":
    main()
