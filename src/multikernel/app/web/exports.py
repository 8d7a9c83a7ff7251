"""A run as Python code and as TOML for the command line, and the repetition of a run from its TOML file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from pprint import pformat
from typing import Any, get_args

from jinja2 import Environment, PackageLoader, StrictUndefined

import multikernel as mk
from multikernel.app.jobs.methods import OUTER_FOLDS, check
from multikernel.app.toml import settings_in
from multikernel.app.web.forms import check_family, methods, methods_for
from multikernel.app.web.learning.families import FAMILIES, path_values
from multikernel.app.web.learning.findings import execute_run
from multikernel.app.web.learning.measures import MEASURES, Measure, measure_of
from multikernel.app.web.learning.measuring import TEST_FILE
from multikernel.app.web.learning.recipe import AUTOMATIC, COMPARISON, KINDS, MISSING, Recipe
from multikernel.app.web.run_file import in_brief, recipe_of
from multikernel.datasets import Task
from multikernel.files import write_whole

# for each task the automatic estimator and the class that draws folds
_NAMES = {
    "classification": ("MultiKernelClassifier", "StratifiedKFold"),
    "regression": ("MultiKernelRegressor", "KFold"),
}


def code(recipe: Recipe, dtype: str) -> str:
    """A Python script that repeats the run.

    Parameters
    ----------
    recipe : the settings of the run
    dtype : str, the type of the target: "int", "float" or "str"
    """
    views = recipe.by_view
    automatic, splitter = _NAMES[recipe.task]
    values: list[Any] = []
    chosen_by = ""
    if recipe.path:
        values = path_values(recipe.path, recipe.path_count)
        chosen_by = recipe.chosen_by
    return (
        _environment()
        .get_template("run.py.j2")
        .render(
            recipe=recipe,
            several=len(views) > 1,
            dtype=dtype,
            splitter=splitter,
            folds=OUTER_FOLDS,
            estimator=automatic if recipe.automatic else recipe.method,
            arguments=_arguments(recipe),
            families=_families(recipe),
            values=values,
            measure=_measure_by_name(recipe, recipe.measured.measure),
            chosen_by=_measure_by_name(recipe, chosen_by),
        )
    )


def _measure_by_name(recipe: Recipe, measure: str) -> Measure | None:
    """The measure of this name; None for "", the score of the estimator."""
    if measure:
        return measure_of(recipe.task, measure, len(recipe.targets))
    return None


def with_exported_test_file(recipe: Recipe) -> Recipe:
    """The recipe with the name of the test file as it is beside an exported run."""
    if recipe.measured.how != "file":
        return recipe
    return replace(recipe, measured=replace(recipe.measured, file=TEST_FILE))


def _environment() -> Environment:
    loader = PackageLoader("multikernel.app.web")
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["literal"] = lambda value: pformat(value, sort_dicts=False, width=100)
    return environment


def _families(recipe: Recipe) -> list[tuple[str, list[str]]]:
    """The Python expressions of the families of each view."""
    expressions: dict[str, list[str]] = {view: [] for view in recipe.by_view}
    for view, word, changed in recipe.families:
        expression = FAMILIES[word].code(changed)
        expressions[view].append(expression if FAMILIES[word].by_type else f"encoded(view, types, {expression})")
    return list(expressions.items())


def _arguments(recipe: Recipe) -> str:
    arguments = [f"{name}={value!r}" for name, value in recipe.parameters.items()]
    if recipe.automatic:
        return ", ".join([f"random_state={recipe.seed}", "types=COLUMNS", *arguments])
    if hasattr(getattr(mk, recipe.method), "random_state"):
        arguments = [f"random_state={recipe.seed}", *arguments]
    if recipe.scales:
        return ", ".join(arguments)
    return "".join(f", {argument}" for argument in arguments)


def repeated(run: Path, table: Path, out: Path, report: Callable[[str], None]) -> dict[str, Any]:
    """Repeat an exported run, write its model, if it has one, to ``out``, and return its findings.

    Parameters
    ----------
    run : the exported TOML
    table : the exported table
    out : the model file
    report : called with the name of each stage

    Raises
    ------
    ValueError : where the file is not an exported run
    """
    try:
        with run.open("rb") as file:
            recipe = recipe_of(settings_in(file))
        check_recipe(recipe)
        recipe = _with_fitted_estimator(recipe)
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{run} is no run that the application has exported: {error}") from None
    stages: list[str] = []

    def once(stage: str, part: float, said: str = "") -> None:
        if stage not in stages:
            stages.append(stage)
            report(stage)

    with tempfile.TemporaryDirectory() as folder:
        execute_run(recipe.to_json(), table, Path(folder), once)
        result: dict[str, Any] = json.loads((Path(folder) / "result.json").read_text())
        if recipe.leaves_model:
            write_whole(out, (Path(folder) / "model.mk").read_bytes())
    return result


def check_recipe(recipe: Recipe) -> None:
    """ValueError where a setting has a value that no form of the application can produce."""
    _check_one_of("task", recipe.task, get_args(Task))
    _check_one_of("missing", recipe.missing, MISSING)
    _check_one_of("measured: measure", recipe.measured.measure, ["", *MEASURES[recipe.task]])
    _check_one_of("chosen_by", recipe.chosen_by, ["", *MEASURES[recipe.task]])
    for name in recipe.targets:
        if name in recipe.columns:
            raise ValueError(f"The settings learn from {in_brief(name)}, which is what they predict.")
        if recipe.targets.count(name) > 1:
            raise ValueError(f"The settings name the target {in_brief(name)} twice.")
    if recipe.measured.file != Path(recipe.measured.file).name:
        raise ValueError(f"the test file lies beside the table, got {recipe.measured.file!r}")
    for name, kind in recipe.columns.items():
        _check_one_of(f"columns: {name}", kind, KINDS)
    if recipe.named:
        method_forms = methods_for(recipe.task, bool(recipe.other_targets))
        _check_one_of("method", recipe.method, [*method_forms, AUTOMATIC, COMPARISON])
        check(method_forms[recipe.method].kind, recipe.parameters)
        if recipe.path:
            _check_one_of("path", recipe.path, method_forms[recipe.method].paths)
    elif recipe.automatic and recipe.task == "classification":
        check(mk.MultiKernelClassifier, recipe.parameters)
    elif recipe.automatic:
        check(mk.MultiKernelRegressor, recipe.parameters)
    for view, words in recipe.kernels.items():
        _check_one_of("kernels: view", view, list(recipe.by_view))
        for word in words:
            _check_one_of(f"kernels: {view!r}", word, list(FAMILIES))
            check_family(word, recipe.kernel_parameters.get(view, {}).get(word, {}))


def _with_fitted_estimator(recipe: Recipe) -> Recipe:
    """The recipe with the fitted estimator: linear RLS2 is fitted as RLS2 with linear kernels of the columns."""
    form = methods(recipe.task)[recipe.method] if recipe.named else None
    if form is None or form.kind.__name__ == recipe.method:
        return recipe
    return replace(recipe, method=form.kind.__name__, kernels={view: list(form.families) for view in recipe.by_view})


def _check_one_of(setting: str, value: object, allowed: Any) -> None:
    if value not in allowed:
        raise ValueError(f"{setting} must be one of {', '.join(map(repr, allowed))}, got {value!r:.60}")
