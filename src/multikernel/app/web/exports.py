"""A run as Python code, and as TOML for the command line; and such a TOML file run once more."""

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
from multikernel.app.web.learning.findings import found
from multikernel.app.web.learning.measures import MEASURES, Measure, measure_of
from multikernel.app.web.learning.measuring import TEST_FILE
from multikernel.app.web.learning.recipe import AUTOMATIC, COMPARISON, KINDS, MISSING, Recipe
from multikernel.app.web.run_file import in_brief, recipe_of
from multikernel.datasets import Task
from multikernel.files import write_whole

# of each task the automatic estimator and the splitter into folds
_NAMES = {
    "classification": ("MultiKernelClassifier", "StratifiedKFold"),
    "regression": ("MultiKernelRegressor", "KFold"),
}


def code(recipe: Recipe, dtype: str) -> str:
    """A script that repeats the run.

    Parameters
    ----------
    recipe : what it learned by
    dtype : str, of the target: "int", "float" or "str"
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
            measure=_named(recipe, recipe.measured.measure),
            chosen_by=_named(recipe, chosen_by),
        )
    )


def _named(recipe: Recipe, measure: str) -> Measure | None:
    """A measure that is not the score of an estimator."""
    if measure:
        return measure_of(recipe.task, measure, len(recipe.targets))
    return None


def taken_home(recipe: Recipe) -> Recipe:
    """The recipe with the test file by the name that it has beside an exported run."""
    if recipe.measured.how != "file":
        return recipe
    return replace(recipe, measured=replace(recipe.measured, file=TEST_FILE))


def _environment() -> Environment:
    loader = PackageLoader("multikernel.app.web")
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["literal"] = lambda value: pformat(value, sort_dicts=False, width=100)
    return made


def _families(recipe: Recipe) -> list[tuple[str, list[str]]]:
    """Each view with the expressions of its families."""
    found: dict[str, list[str]] = {view: [] for view in recipe.by_view}
    for view, word, changed in recipe.families:
        made = FAMILIES[word].code(changed)
        found[view].append(made if FAMILIES[word].by_type else f"encoded(part, own, {made})")
    return list(found.items())


def _arguments(recipe: Recipe) -> str:
    given = [f"{name}={value!r}" for name, value in recipe.parameters.items()]
    if recipe.automatic:
        return ", ".join([f"random_state={recipe.seed}", "types=COLUMNS", *given])
    if hasattr(getattr(mk, recipe.method), "random_state"):
        given = [f"random_state={recipe.seed}", *given]
    if recipe.scales:
        return ", ".join(given)
    return "".join(f", {each}" for each in given)


def repeated(run: Path, table: Path, out: Path, report: Callable[[str], None]) -> dict[str, Any]:
    """What the run finds: scores on held-out folds, weights, the path. Its model, if it has one, is written to ``out``.

    Parameters
    ----------
    run : the exported TOML
    table : the exported table
    out : the model file
    report : called with a line for each stage

    Raises
    ------
    ValueError : where the file is no such export
    """
    try:
        with run.open("rb") as file:
            recipe = recipe_of(settings_in(file))
        check_recipe(recipe)
        recipe = _as_learned(recipe)
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{run} is no run that the application has exported: {error}") from None
    stages: list[str] = []

    def once(stage: str, part: float, said: str = "") -> None:
        if stage not in stages:
            stages.append(stage)
            report(stage)

    with tempfile.TemporaryDirectory() as folder:
        found(recipe.to_json(), table, Path(folder), once)
        result: dict[str, Any] = json.loads((Path(folder) / "result.json").read_text())
        if recipe.leaves_model:
            write_whole(out, (Path(folder) / "model.mk").read_bytes())
    return result


def check_recipe(recipe: Recipe) -> None:
    """ValueError where a part is none that a form of the application could have given."""
    _one_of("task", recipe.task, get_args(Task))
    _one_of("missing", recipe.missing, MISSING)
    _one_of("measured: measure", recipe.measured.measure, ["", *MEASURES[recipe.task]])
    _one_of("chosen_by", recipe.chosen_by, ["", *MEASURES[recipe.task]])
    for name in recipe.targets:
        if name in recipe.columns:
            raise ValueError(f"The settings learn from {in_brief(name)}, which is what they predict.")
        if recipe.targets.count(name) > 1:
            raise ValueError(f"The settings name the target {in_brief(name)} twice.")
    if recipe.measured.file != Path(recipe.measured.file).name:
        raise ValueError(f"the test file lies beside the table, got {recipe.measured.file!r}")
    for name, kind in recipe.columns.items():
        _one_of(f"columns: {name}", kind, KINDS)
    if recipe.named:
        known = methods_for(recipe.task, bool(recipe.other_targets))
        _one_of("method", recipe.method, [*known, AUTOMATIC, COMPARISON])
        check(known[recipe.method].kind, recipe.parameters)
        if recipe.path:
            _one_of("path", recipe.path, known[recipe.method].paths)
    elif recipe.automatic and recipe.task == "classification":
        check(mk.MultiKernelClassifier, recipe.parameters)
    elif recipe.automatic:
        check(mk.MultiKernelRegressor, recipe.parameters)
    for view, words in recipe.kernels.items():
        _one_of("kernels: view", view, list(recipe.by_view))
        for word in words:
            _one_of(f"kernels: {view!r}", word, list(FAMILIES))
            check_family(word, recipe.kernel_parameters.get(view, {}).get(word, {}))


def _as_learned(recipe: Recipe) -> Recipe:
    """The recipe by what learns it: linear RLS2 is RLS2 with linear kernels of the columns, as in the form."""
    form = methods(recipe.task)[recipe.method] if recipe.named else None
    if form is None or form.kind.__name__ == recipe.method:
        return recipe
    return replace(recipe, method=form.kind.__name__, kernels={view: list(form.families) for view in recipe.by_view})


def _one_of(what: str, given: object, known: Any) -> None:
    if given not in known:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, known))}, got {given!r:.60}")
