"""The settings of a run from their file, run.toml, for the forms of a data set."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, fields
from typing import Any

from multikernel.app.tables.table import listed
from multikernel.app.web.choices import DataChoice, cells
from multikernel.app.web.exports import check_recipe
from multikernel.app.web.forms import as_typed, family_fields, methods
from multikernel.app.web.learning.measuring import Measuring, seed_of
from multikernel.app.web.learning.recipe import AUTOMATIC, COMPARISON, Recipe
from multikernel.app.web.store import DataSet

_KINDS: dict[str, tuple[type, str]] = {  # by the annotations of a recipe
    "str": (str, "a word"),
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "dict": (dict, "a table"),
    "Task": (str, "a word"),
    "Missing": (str, "a word"),
    "Measuring": (dict, "a table"),
    "list": (list, "a list"),
}
# what the forms take, or what follows from the data set
_TAKEN = {
    "target",
    "task",
    "columns",
    "views",
    "missing",
    "method",
    "kernels",
    "kernel_parameters",
    "path",
    "path_count",
    "path_folds",
    "chosen_by",
    "worth",
    "measured",
    "seed",
    "other_targets",
}
_OF_DATA = {"data", "key", "written"}


@dataclass(frozen=True)
class TakenSettings:
    """What a file says, as the forms of a data set hold it.

    Parameters
    ----------
    choice : dict, what is chosen on the page of the data set
    how : "method", "automatic", "comparison" or "worth", the button that learns so
    typed : dict from the fields of the method's form to their texts; empty where no method is named
    ticked : dict from the places of the views to their families of kernels
    left : list of str, the settings that no form has, and that are not taken
    """

    choice: dict[str, Any]
    how: str
    typed: dict[str, str]
    ticked: dict[int, list[str]]
    left: list[str]

    @classmethod
    def of(cls, text: str, data: DataSet) -> TakenSettings:
        """Of a file, for a data set.

        Parameters
        ----------
        text : the TOML
        data : the data set, which may be another than that of the run

        Raises
        ------
        ValueError : in a sentence, where it is no such file, or asks for what the data set has not
        """
        recipe = _recipe(text)
        check_recipe(recipe)
        choice = _choice(recipe, data)
        views = list(DataChoice.of(data, choice).recipe(data, recipe.task).by_view)
        strange = [view for view in recipe.kernels if view not in views]
        if strange:
            own = f"the file {_short(strange[0])}" if strange[0] else "a single file"
            here = f"has the files {listed(views)}" if len(views) > 1 else "is a single file"
            raise ValueError(f"The settings have kernels for {own}, and this data set {here}.")
        if recipe.worth and len(views) < 2:
            raise ValueError("The settings ask what each file is worth, and this data set is a single file.")
        left = _left(recipe)
        if recipe.worth or recipe.method in (AUTOMATIC, COMPARISON):
            left += sorted(f"parameters: {name}" for name in recipe.parameters)
            return cls(choice, "worth" if recipe.worth else recipe.method, {}, {}, left)
        method = methods(recipe.task)[recipe.method]
        known = {field.name for field in method.fields}
        left += sorted(f"parameters: {name}" for name in recipe.parameters if name not in known)
        of_path = {
            "path_count": recipe.path_count or "",
            "path_folds": recipe.path_folds or "",
            "chosen_by": recipe.chosen_by,
        }
        typed = {"method": recipe.method, "path": recipe.path} | as_typed(method.fields, "p-", recipe.parameters)
        typed |= {name: str(value) for name, value in of_path.items() if value}
        ticked = {}
        for k, view in enumerate(views):
            ticked[k] = recipe.kernels.get(view) or ["types"]
            for word in ticked[k]:
                changed = recipe.kernel_parameters.get(view, {}).get(word, {})
                typed |= as_typed(family_fields(word), f"k{k}-{word}-", changed)
        return cls(choice, "method", typed, ticked, left)


def _recipe(text: str) -> Recipe:
    """The settings of a file, whose parts are of the right kinds."""
    try:
        stored = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of a number of too many digits
        raise ValueError(f"The file is no TOML ({error}); give the run.toml of a run.") from None
    known = {field.name: field for field in fields(Recipe)}
    for name, value in stored.items():
        if name not in known:
            raise ValueError(f"The file has a setting {_short(name)}, and a run has none of this name.")
        kind, word = _KINDS.get(str(known[name].type).partition("[")[0], (object, ""))
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"The setting {name} of the file is {_short(value)}, and has to be {word}.")
    for name, field in known.items():
        needed = field.default is NO_DEFAULT and field.default_factory is NO_DEFAULT
        if needed and name not in (*stored, "data"):
            raise ValueError(f"The file has no setting {name}, which every run has; give the run.toml of a run.")
    _check_measured(stored.get("measured", {}))
    if not all(isinstance(name, str) for name in stored.get("other_targets", [])):
        raise ValueError("The setting other_targets of the file has to be a list of names.")
    for name in ("views", "kernels"):
        for key, words in stored.get(name, {}).items():
            if not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
                raise ValueError(
                    f"The setting {name}.{key} of the file is {_short(words)}, and has to be a list of names."
                )
    for key, words in stored.get("kernel_parameters", {}).items():
        if not (isinstance(words, dict) and all(isinstance(own, dict) for own in words.values())):
            raise ValueError(f"The setting kernel_parameters.{key} of the file has to hold a table for each family.")
    return Recipe.from_json(stored)


def _check_measured(stored: dict[str, Any]) -> None:
    """ValueError where how a run is measured is described by other settings than it has."""
    known = {field.name: field for field in fields(Measuring)}
    for name, value in stored.items():
        if name not in known:
            raise ValueError(f"The file has a setting measured.{_short(name)}, and a run has none of this name.")
        whole = isinstance(known[name].default, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else str):
            what = "a whole number" if whole else "a word"
            raise ValueError(f"The setting measured.{name} of the file is {_short(value)}, and has to be {what}.")


def _measuring(recipe: Recipe, names: Collection[str]) -> dict[str, str]:
    """The fields about how a run is measured, as a person would type them; a test file is not beside this table."""
    measured = recipe.measured
    if measured.column and measured.column not in names:
        raise ValueError(
            f"The settings hold out rows by the column {_short(measured.column)}, which this data set does not have."
        )
    found = {"seed": str(seed_of(str(recipe.seed)) or ""), "measure": measured.measure}
    if measured.how != "file":
        found |= {"how": measured.how, {"groups": "group"}.get(measured.how, "time"): measured.column}
        found |= {"folds": str(measured.folds or ""), "repeats": str(measured.repeats if measured.repeats > 1 else "")}
    if recipe.parameters.get("class_weight") == "balanced":
        found["balanced"] = "on"
    return {name: value for name, value in found.items() if value}


def _choice(recipe: Recipe, data: DataSet) -> dict[str, Any]:
    """What is chosen on the page of the data set; ValueError where it lacks a column."""
    names = cells(data.table).columns
    absent = [name for name in (*recipe.targets, *recipe.columns) if name not in names]
    if absent:
        raise ValueError(
            f"{data.name} has no column {listed(list(map(_short, absent)))}, which the settings name; it has "
            f"{listed(list(map(_short, names)))}."
        )
    for name in recipe.targets:
        if name in recipe.columns:
            raise ValueError(f"The settings learn from {_short(name)}, which is what they predict.")
    return {
        "target": recipe.target,
        "others": recipe.other_targets,
        "task": recipe.task,
        "kinds": dict(recipe.columns),
        "used": {name: name in recipe.columns for name in names},
        "missing": recipe.missing,
        "measuring": _measuring(recipe, names),
    }


def _left(recipe: Recipe) -> list[str]:
    """The settings that differ from what a form of the application gives, and that no form has."""
    left = ["measured: the test file"] if recipe.measured.how == "file" else []
    for field in fields(Recipe):
        default = field.default if field.default is not NO_DEFAULT else None
        if field.default_factory is not NO_DEFAULT:
            default = field.default_factory()
        if field.name not in _TAKEN | _OF_DATA | {"parameters"} and getattr(recipe, field.name) != default:
            left.append(field.name)
    return left


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
