"""What a page says about each column of a table: what it holds, its gaps, and what is suspicious about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from multikernel.app.tables.table import CsvTable
from multikernel.app.web.learning.recipe import Kind
from multikernel.app.web.learning.samples import as_strings, values
from multikernel.datasets import Column, Task
from multikernel.tables import Cells, type_of
from multikernel.tables import Column as Typed

# Columns that predict the target alone are looked for on so many rows and columns, and have such a score.
_ROWS = 1000
_COLUMNS = 200
_ALONE = 0.999
_TARGETS = ("target", "class", "label", "outcome", "y")
_GAPS = 0.5  # share of missing cells that is worth a word
_NUMBERS = 0.9  # share of numbers from which a column may be one of numbers


@dataclass(frozen=True)
class About:
    """One column.

    Parameters
    ----------
    name : str
    kind : what its cells are
    use : bool, whether it is learned from unless the person says otherwise
    n, missing, distinct : int
    examples : tuple of str, some cells
    marks : tuple of sentences, what is suspicious
    """

    name: str
    kind: Kind
    use: bool
    n: int
    missing: int
    distinct: int
    examples: tuple[str, ...]
    marks: tuple[str, ...]


def profile(table: CsvTable) -> list[About]:
    """What each column holds; of columns with the same cells the first is used."""
    first: dict[tuple[str, ...], str] = {}
    found = []
    for column in table.columns.values():
        about = _about(column)
        twin = first.setdefault(tuple(column.cells), about.name)
        if twin != about.name and about.distinct > 1:
            mark = f"The same cells as {twin}: it adds nothing."
            about = replace(about, use=False, marks=(*about.marks, mark))
        found.append(about)
    return found


def _about(column: Column) -> About:
    strings = as_strings(column)
    found = type_of(column.name, Cells(column.name, "strings", strings))
    counts = Counter(cell for cell in strings if cell is not None)
    n = len(strings)
    known = counts.total()
    readable = known > 0 and bool(np.isfinite(values(column, "number")).sum() >= _NUMBERS * known)
    kind: Kind = "number" if found.type == "identifier" and readable else "category"
    if found.type in ("number", "category", "date", "text"):
        kind = found.type
    marks = _marks(found, n, known, len(counts))
    examples = tuple(cell for cell, _ in counts.most_common(3))
    use = found.used and not column.name.startswith("_")
    return About(column.name, kind, use, n, n - known, len(counts), examples, marks)


def _marks(found: Typed, n: int, known: int, distinct: int) -> tuple[str, ...]:
    """What is suspicious about a column."""
    marks = []
    if found.type == "identifier":
        marks.append("Identifier: it names its row, and nothing can be learned from it.")
    elif found.type == "empty" and distinct:
        marks.append("Constant: one value only, so it cannot help.")
    elif found.type == "empty":
        marks.append("Empty: no cell has a value.")
    elif found.type == "date":
        marks.append("Date: learned from as the day, and the place in the year and the week.")
    if found.strange:
        marks.append(f"{', '.join(map(repr, found.strange[:3]))}: not a {found.type}, and counted as missing.")
    if 0 < known < (1 - _GAPS) * n:
        marks.append(f"{(n - known) / n:.0%} of its cells are missing.")
    return tuple(marks)


def likely_target(columns: list[About]) -> str:
    """The column that is called like a target, or the last that could be one."""
    for name in _TARGETS:
        for about in columns:
            if about.name.lower().rpartition(": ")[2] == name and about.distinct > 1:
                return about.name
    able = [
        about.name for about in columns if about.use and about.distinct > 1 and about.kind in ("number", "category")
    ]
    if able:
        return able[-1]
    return columns[-1].name


def leaks(table: CsvTable, columns: Mapping[str, Kind], y: Any, rows: Any, task: Task) -> list[str]:
    """Columns that predict the target alone, almost exactly."""
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    part = np.random.default_rng(0).permutation(len(y))[:_ROWS]
    truth = y[part]
    found = []
    if len(truth) < 10 or (task == "classification" and np.unique(truth, return_counts=True)[1].min() < 3):
        return []
    if task == "regression":
        tree: Any = DecisionTreeRegressor(min_samples_leaf=2, random_state=0)
    else:
        tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0, class_weight="balanced")
    for name, kind in list(columns.items())[:_COLUMNS]:
        cells = pd.Series(values(table.columns[name], kind)).iloc[rows].iloc[part]
        if kind == "number":
            codes = cells.to_numpy(dtype=float)
        else:
            codes = pd.factorize(cells)[0].astype(float)
        ordered = np.unique(np.where(np.isnan(codes), -np.inf, codes), return_inverse=True)[1]
        x = ordered.astype(float)[:, None]  # trees see the order alone, and round numbers to single precision
        if len(np.unique(x)) < 2 or (kind != "number" and len(np.unique(x)) > len(x) / 3):
            continue
        score = "balanced_accuracy" if task == "classification" else "r2"
        reached = float(np.mean(cross_val_score(tree, x, truth, cv=3, scoring=score)))
        if task == "regression":
            reached = max(reached, _monotone(x[:, 0], truth))
        if reached > _ALONE:
            found.append(name)
    return found


def _monotone(x: Any, y: Any) -> float:
    ranks = pd.DataFrame({"x": x, "y": y}).rank()
    return abs(float(ranks["x"].corr(ranks["y"])))
