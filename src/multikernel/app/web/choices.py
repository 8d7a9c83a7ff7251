"""What a person has chosen on a data set: target, kinds and columns; from the store to a recipe."""

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
from multikernel.app.web.learning.samples import complete, target_of, targets_of, unread
from multikernel.app.web.profile import About, leaks, likely_target, profile
from multikernel.app.web.store import DataSet
from multikernel.datasets import Task


@lru_cache(maxsize=4)
def cells(path: Path) -> CsvTable:
    """The table of a data set."""
    return read_table(path)


Columns = tuple[tuple[str, ...], ...]  # those of each view that no sample may lack; () where samples may lack one


@lru_cache(maxsize=8)
def learned_cells(path: Path, views: Columns) -> CsvTable:
    """The samples that are learned from; ValueError where each of them lacks a view."""
    if views:
        return complete(cells(path), views)
    return cells(path)


def _shown(path: Path, views: Columns) -> CsvTable:
    """The same, or all samples where each of them lacks a view."""
    try:
        return learned_cells(path, views)
    except ValueError:
        return cells(path)


@lru_cache(maxsize=16)
def _profile(path: Path, views: Columns) -> tuple[About, ...]:
    return tuple(profile(_shown(path, views)))


@lru_cache(maxsize=64)
def _misread(path: Path, views: Columns, name: str, kind: Kind) -> int:
    return len(unread(_shown(path, views).columns[name], kind))


@dataclass(frozen=True)
class DataChoice:
    """What is chosen, or proposed where nothing is yet.

    Parameters
    ----------
    columns : tuple of About, all of the table
    target : str
    task : "classification", "regression", or None where the target decides
    kinds : dict from columns to what they hold
    used : set of the columns to learn from
    misread : dict from columns to how many of their cells cannot be read as the kind that a person chose
    missing : "drop" or "keep", what becomes of samples that lack a view
    views : the columns to learn from of each view, none of which a sample may lack all; () where it may
    measuring : dict, the fields about how a run is measured, as they were typed
    others : tuple of str, further targets of the same model
    """

    columns: tuple[About, ...]
    target: str
    task: Task | None
    kinds: dict[str, Kind]
    used: frozenset[str]
    misread: dict[str, int]
    missing: Missing = "drop"
    views: Columns = ()
    measuring: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: DataSet, chosen: Mapping[str, Any] | None = None) -> DataChoice:
        """On a data set: what was chosen last, or what a page has shown."""
        if chosen is None:
            chosen = data.detail.get("choice", {})
        missing: Missing = chosen.get("missing", "drop")
        every = data.detail.get("views", {}).values() if missing == "drop" else ()
        views = tuple(map(tuple, every))
        columns = _profile(data.table, views)
        target = chosen.get("target") or likely_target(list(columns))
        by_hand = chosen.get("kinds", {})
        kinds = {each.name: each.kind for each in columns} | by_hand
        used = {each.name: each.use for each in columns} | chosen.get("used", {})
        others = tuple(name for name in chosen.get("others", []) if name in kinds and name != target)
        learned_from = frozenset(name for name, use in used.items() if use and name not in (target, *others))
        counts = {name: _misread(data.table, views, name, kind) for name, kind in by_hand.items()}
        misread = {name: count for name, count in counts.items() if count}
        typed = chosen.get("measuring", {})
        grouped = typed.get("group") if typed.get("how") == "groups" else None
        taken = learned_from - {grouped}
        learned = tuple(own for names in views if (own := tuple(name for name in names if name in taken)))
        task = chosen.get("task")
        return cls(columns, target, task, kinds, learned_from, misread, missing, learned, typed, others)

    def samples(self, data: DataSet) -> CsvTable:
        """Those that are learned from; all of them where each lacks a view."""
        return _shown(data.table, self.views)

    def recipe(self, data: DataSet, task: Task, **more: Any) -> Recipe:
        """What a run learns by."""
        measured = self.measured(task)
        used = self.used - ({measured.column} if measured.how == "groups" else set())
        columns = {each.name: self.kinds[each.name] for each in self.columns if each.name in used}
        if not columns:
            raise ValueError("No column is left to learn from; tick at least one that is no target.")
        for each in self.columns:
            if each.name in columns and self.misread.get(each.name) == each.n - each.missing:
                raise ValueError(
                    f"No cell of {each.name!r} can be read as a {self.kinds[each.name]}; choose another type, or "
                    "untick it."
                )
        views = data.detail.get("views", {})
        key = data.detail.get("match", {}).get("key", "")
        written = {name: own for name, own in data.detail.get("written", {}).items() if name in columns}
        given = {"missing": self.missing, "key": key, "written": written}
        given |= {
            "other_targets": list(self.others),
            "measured": measured,
            "seed": seed_of(self.measuring.get("seed", "")),
        }
        if self.balanced and task == "classification":
            given["parameters"] = {"class_weight": "balanced"}
        return Recipe(data.name, self.target, task, columns, views, **{**given, **more})

    def measured(self, task: Task) -> Measuring:
        """How a run is measured; ValueError where a field is not what it may be."""
        typed = dict(self.measuring)
        if typed.get("measure") not in list(MEASURES[task])[1:]:  # the first is the default, others of another target
            typed["measure"] = ""
        return Measuring.of_form(typed)

    @property
    def balanced(self) -> bool:
        """Whether rare classes weigh as much as common ones."""
        return bool(self.measuring.get("balanced"))


@dataclass(frozen=True)
class Target:
    """The target, looked at.

    Parameters
    ----------
    task : what is learned
    values : its known cells; of several targets those of the first where all are known
    unknown : int, rows without it, or without one of several
    leaks : columns that predict it, or one of several, alone
    classes : int, 0 of numbers
    """

    task: Task
    values: Any
    unknown: int
    leaks: tuple[str, ...]
    classes: int = 0


def target(data: DataSet, choice: DataChoice) -> Target:
    """What the chosen target is; ValueError where it cannot be one."""
    columns = tuple((n, choice.kinds[n]) for n in sorted(choice.used))
    try:
        return _target(data.table, choice.views, (choice.target, *choice.others), choice.task, columns)
    except ValueError as error:
        raise ValueError(str(error).replace(str(data.table), data.name)) from None


@lru_cache(maxsize=32)
def _target(
    path: Path, views: Columns, names: tuple[str, ...], task: Task | None, columns: tuple[tuple[str, Kind], ...]
) -> Target:
    table = learned_cells(path, views)
    y, decided, rows = target_of(table, names[0], task)
    if len(names) > 1:
        given = Recipe("", names[0], decided, dict(columns), other_targets=list(names[1:]))
        y, _, rows = targets_of(table, given)
    found: dict[str, None] = {}
    for own in y.T if y.ndim > 1 else [y]:
        try:
            found |= dict.fromkeys(leaks(table, dict(columns), own, rows, decided))
        except ValueError:  # a column is not of the kind that was chosen; learning says so in full
            break
    classes = len(set(y.tolist())) if decided == "classification" else 0
    first = y if y.ndim == 1 else y[:, 0]
    return Target(decided, first, len(table.columns[names[0]].cells) - len(y), tuple(found), classes)
