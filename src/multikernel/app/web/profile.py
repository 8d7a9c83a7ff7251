"""The description of each column of a table: its type, its missing cells, and what is suspicious about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from multikernel.app.tables.table import CsvTable
from multikernel.app.web.learning.recipe import Kind
from multikernel.app.web.learning.samples import as_strings, cell_values
from multikernel.datasets import Column, Task
from multikernel.tables import Cells, type_of
from multikernel.tables import Column as Typed

# Columns that alone predict the target, with a score above _ALONE, are searched on so many rows and columns.
_ROWS = 1000
_COLUMNS = 200
_ALONE = 0.999
_TARGETS = ("target", "class", "label", "outcome", "y")
_GAPS = 0.5  # share of missing cells from which a page mentions them
_NUMBERS = 0.9  # share of numbers from which a column may be one of numbers


@dataclass(frozen=True)
class ColumnProfile:
    """The description of a column.

    Parameters
    ----------
    name : str
    kind : the type of its cells
    use : bool, whether it is learned from by default
    n, missing, distinct : int, the numbers of cells, of missing cells, and of different values
    examples : tuple of str, some cells
    marks : tuple of str, sentences about what is suspicious
    """

    name: str
    kind: Kind
    use: bool
    n: int
    missing: int
    distinct: int
    examples: tuple[str, ...]
    marks: tuple[str, ...]


def profile(table: CsvTable) -> list[ColumnProfile]:
    """The descriptions of all columns; of columns with the same cells, only the first is used by default."""
    first_names: dict[tuple[str, ...], str] = {}
    profiles = []
    for column in table.columns.values():
        column_profile = _about(column)
        first_name = first_names.setdefault(tuple(column.cells), column_profile.name)
        if first_name != column_profile.name and column_profile.distinct > 1:
            mark = f"The same cells as {first_name}: it adds nothing."
            column_profile = replace(column_profile, use=False, marks=(*column_profile.marks, mark))
        profiles.append(column_profile)
    return profiles


def _about(column: Column) -> ColumnProfile:
    strings = as_strings(column)
    column_type = type_of(column.name, Cells(column.name, "strings", strings))
    counts = Counter(cell for cell in strings if cell is not None)
    n = len(strings)
    known_count = counts.total()
    readable = known_count > 0 and bool(np.isfinite(cell_values(column, "number")).sum() >= _NUMBERS * known_count)
    kind: Kind = "number" if column_type.type == "identifier" and readable else "category"
    if column_type.type in ("number", "category", "date", "text"):
        kind = column_type.type
    marks = _marks(column_type, n, known_count, len(counts))
    examples = tuple(cell for cell, _ in counts.most_common(3))
    use = column_type.used and not column.name.startswith("_")
    return ColumnProfile(column.name, kind, use, n, n - known_count, len(counts), examples, marks)


def _marks(column_type: Typed, n: int, known_count: int, distinct: int) -> tuple[str, ...]:
    """What is suspicious about a column."""
    marks = []
    if column_type.type == "identifier":
        marks.append("Identifier: it names its row, and nothing can be learned from it.")
    elif column_type.type == "empty" and distinct:
        marks.append("Constant: one value only, so it cannot help.")
    elif column_type.type == "empty":
        marks.append("Empty: no cell has a value.")
    elif column_type.type == "date":
        marks.append("Date: learned from as the day, and the place in the year and the week.")
    if column_type.strange:
        marks.append(
            f"{', '.join(map(repr, column_type.strange[:3]))}: not a {column_type.type}, and counted as missing."
        )
    if 0 < known_count < (1 - _GAPS) * n:
        marks.append(f"{(n - known_count) / n:.0%} of its cells are missing.")
    return tuple(marks)


def likely_target(columns: list[ColumnProfile]) -> str:
    """The column whose name is typical of a target, else the last column that can be a target."""
    for name in _TARGETS:
        for about in columns:
            if about.name.lower().rpartition(": ")[2] == name and about.distinct > 1:
                return about.name
    candidates = [
        about.name for about in columns if about.use and about.distinct > 1 and about.kind in ("number", "category")
    ]
    if candidates:
        return candidates[-1]
    return columns[-1].name


def leaks(table: CsvTable, columns: Mapping[str, Kind], y: Any, rows: Any, task: Task) -> list[str]:
    """The columns that alone predict the target almost exactly."""
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    drawn_rows = np.random.default_rng(0).permutation(len(y))[:_ROWS]
    truth = y[drawn_rows]
    leaking = []
    if len(truth) < 10 or (task == "classification" and np.unique(truth, return_counts=True)[1].min() < 3):
        return []
    if task == "regression":
        tree: Any = DecisionTreeRegressor(min_samples_leaf=2, random_state=0)
    else:
        tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0, class_weight="balanced")
    for name, kind in list(columns.items())[:_COLUMNS]:
        cells = pd.Series(cell_values(table.columns[name], kind)).iloc[rows].iloc[drawn_rows]
        if kind == "number":
            codes = cells.to_numpy(dtype=float)
        else:
            codes = pd.factorize(cells)[0].astype(float)
        ordered = np.unique(np.where(np.isnan(codes), -np.inf, codes), return_inverse=True)[1]
        x = ordered.astype(float)[:, None]  # trees use only the order, and round numbers to single precision
        if len(np.unique(x)) < 2 or (kind != "number" and len(np.unique(x)) > len(x) / 3):
            continue
        score = "balanced_accuracy" if task == "classification" else "r2"
        reached = float(np.mean(cross_val_score(tree, x, truth, cv=3, scoring=score)))
        if task == "regression":
            reached = max(reached, _monotone(x[:, 0], truth))
        if reached > _ALONE:
            leaking.append(name)
    return leaking


def _monotone(x: Any, y: Any) -> float:
    ranks = pd.DataFrame({"x": x, "y": y}).rank()
    return abs(float(ranks["x"].corr(ranks["y"])))
