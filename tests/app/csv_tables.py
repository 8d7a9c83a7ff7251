"""Small CSV files with a category, a number and three kinds of target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from typer.testing import Result

HEADER = "age,colour,height"
Invoke = Callable[..., Result]


def _rows(n: int, seed: int) -> list[tuple[int, str, float]]:
    rng = np.random.default_rng(seed)
    return [
        (int(rng.integers(20, 60)), str(rng.choice(["blue", "green", "red"])), round(float(rng.normal(170, 10)), 1))
        for _ in range(n)
    ]


def write_table(path: Path, kind: str | None, n: int = 60, seed: int = 0) -> Path:
    """``kind`` of the target: "number" labels, "word" labels (three classes), "real" values or None."""
    lines = [HEADER + (",target" if kind else "")]
    for age, colour, height in _rows(n, seed):
        level = int(age > 40) + int(colour == "red")
        target = {
            "number": str(3 + 4 * int(level > 0)),
            "word": ["no", "maybe", "yes"][level],
            "real": f"{0.1 * age + height / 20 + (colour == 'red'):.3f}",
        }
        lines.append(f"{age},{colour},{height}" + (f",{target[kind]}" if kind else ""))
    path.write_text("\n".join(lines) + "\n")
    return path
