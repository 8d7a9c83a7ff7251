"""The settings of a run from its file, run.toml, as input for the forms of a data set."""

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

# the settings that the forms have, and those that follow from the data set
_IN_FORMS = {
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
class FormSettings:
    """The settings of a file as input for the forms of a data set.

    Parameters
    ----------
    choice : dict, the choices on the page of the data set
    how : "method", "automatic", "comparison" or "worth", the button that starts such a run
    typed : dict from the fields of the method's form to their texts; empty where no method is named
    ticked : dict from the indices of the views to their families of kernels
    ignored : list of str, the settings that no form has
    """

    choice: dict[str, Any]
    how: str
    typed: dict[str, str]
    ticked: dict[int, list[str]]
    ignored: list[str]

    @classmethod
    def of(cls, text: str, data: DataSet) -> FormSettings:
        """Read the settings of a file for a data set.

        Parameters
        ----------
        text : the TOML
        data : the data set, which may differ from that of the run

        Raises
        ------
        ValueError : where the file is not of a run, or needs columns or views that the data set does not have
        """
        recipe = recipe_of(text)
        check_recipe(recipe)
        choice = _choice(recipe, data)
        views = list(DataChoice.of(data, choice).recipe(data, recipe.task).by_view)
        unknown_views = [view for view in recipe.kernels if view not in views]
        if unknown_views:
            if unknown_views[0]:
                settings_source = f"the file {in_brief(unknown_views[0])}"
            else:
                settings_source = "a single file"
            if len(views) > 1:
                dataset_source = f"has the files {listed(views)}"
            else:
                dataset_source = "is a single file"
            raise ValueError(f"The settings have kernels for {settings_source}, and this data set {dataset_source}.")
        if recipe.worth and len(views) < 2:
            raise ValueError("The settings ask what each file is worth, and this data set is a single file.")
        ignored = _ignored_settings(recipe)
        if recipe.worth or recipe.method in (AUTOMATIC, COMPARISON):
            ignored += sorted(f"parameters: {name}" for name in recipe.parameters)
            return cls(choice, "worth" if recipe.worth else recipe.method, {}, {}, ignored)
        method = methods(recipe.task)[recipe.method]
        field_names = {field.name for field in method.fields}
        ignored += sorted(f"parameters: {name}" for name in recipe.parameters if name not in field_names)
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
        return cls(choice, "method", typed, ticked, ignored)


def _measuring(recipe: Recipe, names: Collection[str]) -> dict[str, str]:
    """The fields of the form about how a run is measured; a test file is left out, as it is not stored here."""
    measured = recipe.measured
    if measured.column and measured.column not in names:
        raise ValueError(
            f"The settings hold out rows by the column {in_brief(measured.column)}, which this data set does not have."
        )
    field_texts = {"seed": str(seed_of(str(recipe.seed)) or ""), "measure": measured.measure}
    if measured.how != "file":
        field_texts |= {"how": measured.how, {"groups": "group"}.get(measured.how, "time"): measured.column}
        field_texts |= {
            "folds": str(measured.folds or ""),
            "repeats": str(measured.repeats if measured.repeats > 1 else ""),
        }
    if recipe.parameters.get("class_weight") == "balanced":
        field_texts["balanced"] = "on"
    return {name: value for name, value in field_texts.items() if value}


def _choice(recipe: Recipe, data: DataSet) -> dict[str, Any]:
    """The choices on the page of the data set; ValueError where it lacks a column."""
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


def _ignored_settings(recipe: Recipe) -> list[str]:
    """The settings that no form has, and that differ from their defaults."""
    ignored = ["measured: the test file"] if recipe.measured.how == "file" else []
    for field in fields(Recipe):
        default = field.default if field.default is not NO_DEFAULT else None
        if field.default_factory is not NO_DEFAULT:
            default = field.default_factory()
        if field.name not in _IN_FORMS | _OF_DATA | {"parameters"} and getattr(recipe, field.name) != default:
            ignored.append(field.name)
    return ignored
