"""The choices of a person on a data set (target, types and columns), and the recipe that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from multikernel.app.tables.table import CsvTable, read_table
from multikernel.app.web.learning.measures import MEASURES
from multikernel.app.web.learning.measuring import Measuring, seed_of
from multikernel.app.web.learning.recipe import Kind, Missing, Recipe
from multikernel.app.web.learning.samples import target_of, targets_of, unreadable_cells, without_lacking_rows
from multikernel.app.web.profile import ColumnProfile, leaks, likely_target, profile
from multikernel.app.web.store import DataSet
from multikernel.datasets import Task


@lru_cache(maxsize=4)
def cells(path: Path) -> CsvTable:
    """The table of a data set."""
    return read_table(path)


# the columns of each view, where samples that lack a view are left out; () where they are kept
Columns = tuple[tuple[str, ...], ...]


@lru_cache(maxsize=8)
def learned_cells(path: Path, views: Columns) -> CsvTable:
    """The samples to learn from; ValueError where every sample lacks a view."""
    if views:
        return without_lacking_rows(cells(path), views)
    return cells(path)


def _cells_or_all(path: Path, views: Columns) -> CsvTable:
    """The samples to learn from, or all samples where each of them lacks a view."""
    try:
        return learned_cells(path, views)
    except ValueError:
        return cells(path)


@lru_cache(maxsize=16)
def _profile(path: Path, views: Columns) -> tuple[ColumnProfile, ...]:
    return tuple(profile(_cells_or_all(path, views)))


@lru_cache(maxsize=64)
def _unreadable_count(path: Path, views: Columns, name: str, kind: Kind) -> int:
    return len(unreadable_cells(_cells_or_all(path, views).columns[name], kind))


@dataclass(frozen=True)
class DataChoice:
    """The choices on a data set, with proposals where nothing was chosen yet.

    Parameters
    ----------
    columns : tuple of ColumnProfile, all columns of the table
    target : str
    task : "classification", "regression", or None where the target decides
    kinds : dict from columns to their types
    learned_columns : set of the columns to learn from
    misread : dict from columns to the number of their cells that cannot be read as the chosen type
    missing : "drop" or "keep", whether samples that lack a view are left out or kept
    views : the columns to learn from, by view, where samples that lack a view are left out; () where they are kept
    measuring : dict, the fields of the form about how a run is measured, as text
    other_targets : tuple of str, further targets of the same model
    """

    columns: tuple[ColumnProfile, ...]
    target: str
    task: Task | None
    kinds: dict[str, Kind]
    learned_columns: frozenset[str]
    misread: dict[str, int]
    missing: Missing = "drop"
    views: Columns = ()
    measuring: Mapping[str, str] = field(default_factory=dict)
    other_targets: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: DataSet, choice: Mapping[str, Any] | None = None) -> DataChoice:
        """The choices on a data set: those of a page, or the latest stored ones."""
        if choice is None:
            choice = data.detail.get("choice", {})
        missing: Missing = choice.get("missing", "drop")
        column_lists = data.detail.get("views", {}).values() if missing == "drop" else ()
        views = tuple(map(tuple, column_lists))
        columns = _profile(data.table, views)
        target = choice.get("target") or likely_target(list(columns))
        chosen_kinds = choice.get("kinds", {})
        kinds = {column.name: column.kind for column in columns} | chosen_kinds
        use_by_column = {column.name: column.use for column in columns} | choice.get("used", {})
        other_targets = tuple(name for name in choice.get("others", []) if name in kinds and name != target)
        learned_columns = frozenset(
            name for name, use in use_by_column.items() if use and name not in (target, *other_targets)
        )
        counts = {name: _unreadable_count(data.table, views, name, kind) for name, kind in chosen_kinds.items()}
        misread = {name: count for name, count in counts.items() if count}
        measuring_fields = choice.get("measuring", {})
        group_column = measuring_fields.get("group") if measuring_fields.get("how") == "groups" else None
        available_columns = learned_columns - {group_column}
        learned_views = tuple(
            view_columns
            for names in views
            if (view_columns := tuple(name for name in names if name in available_columns))
        )
        task = choice.get("task")
        return cls(
            columns,
            target,
            task,
            kinds,
            learned_columns,
            misread,
            missing,
            learned_views,
            measuring_fields,
            other_targets,
        )

    def samples(self, data: DataSet) -> CsvTable:
        """The samples to learn from; all samples where each of them lacks a view."""
        return _cells_or_all(data.table, self.views)

    def recipe(self, data: DataSet, task: Task, **changes: Any) -> Recipe:
        """The recipe of a run with these choices; ``changes`` are further settings."""
        measured = self.measured(task)
        used_columns = self.learned_columns - ({measured.column} if measured.how == "groups" else set())
        columns = {column.name: self.kinds[column.name] for column in self.columns if column.name in used_columns}
        if not columns:
            raise ValueError("No column is left to learn from; tick at least one that is no target.")
        for column in self.columns:
            if column.name in columns and self.misread.get(column.name) == column.n - column.missing:
                raise ValueError(
                    f"No cell of {column.name!r} can be read as a {self.kinds[column.name]}; choose another type, or "
                    "untick it."
                )
        views = data.detail.get("views", {})
        key = data.detail.get("match", {}).get("key", "")
        written = {name: marks for name, marks in data.detail.get("written", {}).items() if name in columns}
        settings = {"missing": self.missing, "key": key, "written": written}
        settings |= {
            "other_targets": list(self.other_targets),
            "measured": measured,
            "seed": seed_of(self.measuring.get("seed", "")),
        }
        if self.balanced and task == "classification":
            settings["parameters"] = {"class_weight": "balanced"}
        return Recipe(data.name, self.target, task, columns, views, **{**settings, **changes})

    def measured(self, task: Task) -> Measuring:
        """How a run is measured; ValueError where a field has a value that is not allowed."""
        fields = dict(self.measuring)
        if fields.get("measure") not in list(MEASURES[task])[1:]:  # the default, or a measure of the other task
            fields["measure"] = ""
        return Measuring.of_form(fields)

    @property
    def balanced(self) -> bool:
        """Whether rare classes weigh as much as common ones."""
        return bool(self.measuring.get("balanced"))


@dataclass(frozen=True)
class Target:
    """Facts about the target.

    Parameters
    ----------
    task : what is learned
    values : its known values; of several targets the values of the first, in the rows in which all are known
    unknown : int, the number of rows without a value of each target
    leaks : the columns that alone predict a target almost exactly
    classes : int, their number; 0 where numbers are predicted
    """

    task: Task
    values: Any
    unknown: int
    leaks: tuple[str, ...]
    classes: int = 0


def target(data: DataSet, choice: DataChoice) -> Target:
    """The facts about the chosen target; ValueError where the column cannot be a target."""
    columns = tuple((name, choice.kinds[name]) for name in sorted(choice.learned_columns))
    try:
        return _target(data.table, choice.views, (choice.target, *choice.other_targets), choice.task, columns)
    except ValueError as error:
        raise ValueError(str(error).replace(str(data.table), data.name)) from None


@lru_cache(maxsize=32)
def _target(
    path: Path, views: Columns, names: tuple[str, ...], task: Task | None, columns: tuple[tuple[str, Kind], ...]
) -> Target:
    table = learned_cells(path, views)
    y, learned_task, rows = target_of(table, names[0], task)
    if len(names) > 1:
        recipe = Recipe("", names[0], learned_task, dict(columns), other_targets=list(names[1:]))
        y, _, rows = targets_of(table, recipe)
    leaking: dict[str, None] = {}
    for target_values in y.T if y.ndim > 1 else [y]:
        try:
            leaking |= dict.fromkeys(leaks(table, dict(columns), target_values, rows, learned_task))
        except ValueError:  # a column is not of its chosen type; a run reports it in full
            break
    classes = len(set(y.tolist())) if learned_task == "classification" else 0
    first_target = y if y.ndim == 1 else y[:, 0]
    return Target(learned_task, first_target, len(table.columns[names[0]].cells) - len(y), tuple(leaking), classes)
