"""The settings of a run from their file, run.toml, for the forms of a data set."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, fields
from typing import Any

from multikernel.app.tables.table import listed
from multikernel.app.web.choices import DataChoice, cells
from multikernel.app.web.exports import check_recipe
from multikernel.app.web.forms import as_typed, family_fields, methods
from multikernel.app.web.learning.measuring import seed_of
from multikernel.app.web.learning.recipe import AUTOMATIC, COMPARISON, Recipe
from multikernel.app.web.run_file import in_brief, recipe_of
from multikernel.app.web.store import DataSet

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
        recipe = recipe_of(text)
        check_recipe(recipe)
        choice = _choice(recipe, data)
        views = list(DataChoice.of(data, choice).recipe(data, recipe.task).by_view)
        strange = [view for view in recipe.kernels if view not in views]
        if strange:
            if strange[0]:
                own = f"the file {in_brief(strange[0])}"
            else:
                own = "a single file"
            if len(views) > 1:
                here = f"has the files {listed(views)}"
            else:
                here = "is a single file"
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


def _measuring(recipe: Recipe, names: Collection[str]) -> dict[str, str]:
    """The fields about how a run is measured, as a person would type them; a test file is not beside this table."""
    measured = recipe.measured
    if measured.column and measured.column not in names:
        raise ValueError(
            f"The settings hold out rows by the column {in_brief(measured.column)}, which this data set does not have."
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
            f"{data.name} has no column {listed(list(map(in_brief, absent)))}, which the settings name; it has "
            f"{listed(list(map(in_brief, names)))}."
        )
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
