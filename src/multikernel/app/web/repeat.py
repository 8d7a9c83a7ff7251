"""An exported run, or one that a person wrote, once more: all that the application finds, without its pages."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from multikernel.app.jobs.methods import check
from multikernel.app.web.forms import check_family, methods
from multikernel.app.web.learning.families import FAMILIES
from multikernel.app.web.learning.findings import found
from multikernel.app.web.learning.recipe import AUTOMATIC, COMPARISON, KINDS, Recipe
from multikernel.datasets import Task
from multikernel.files import write_whole


def repeated(run: Path, table: Path, out: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """What the run finds: scores on held-out folds, weights, the path. Its model, if it has one, is written to ``out``.

    Parameters
    ----------
    run : the exported TOML
    table : the exported table
    out : the model file
    tell : called with a line for each stage

    Raises
    ------
    ValueError : where the file is no such export
    """
    try:
        recipe = Recipe.from_json(tomllib.loads(run.read_text(encoding="utf-8")))
        _check(recipe)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{run} is no run that the application has exported: {error}") from None
    stages: list[str] = []

    def heard(stage: str, part: float, said: str = "") -> None:
        if stage not in stages:
            stages.append(stage)
            tell(stage)

    with tempfile.TemporaryDirectory() as folder:
        found(recipe.to_json(), table, Path(folder), heard)
        result: dict[str, Any] = json.loads((Path(folder) / "result.json").read_text())
        if recipe.method != COMPARISON:
            write_whole(out, (Path(folder) / "model.mk").read_bytes())
    return result


def _check(recipe: Recipe) -> None:
    """ValueError where a part is none that a form of the application could have given."""
    _one_of("task", recipe.task, get_args(Task))
    for name, kind in recipe.columns.items():
        _one_of(f"columns: {name}", kind, KINDS)
    if recipe.method not in (AUTOMATIC, COMPARISON):
        known = methods(recipe.task)
        _one_of("method", recipe.method, [*known, AUTOMATIC, COMPARISON])
        check(known[recipe.method].kind, recipe.parameters)
        if recipe.path:
            _one_of("path", recipe.path, known[recipe.method].paths)
    for view, words in recipe.kernels.items():
        _one_of("kernels: view", view, list(recipe.by_view))
        for word in words:
            _one_of(f"kernels: {view!r}", word, list(FAMILIES))
            check_family(word, recipe.kernel_parameters.get(view, {}).get(word, {}))


def _one_of(what: str, given: object, known: Any) -> None:
    if given not in known:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, known))}, got {given!r}")
