"""A run as Python code, and as TOML for the command line: both give the same numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pprint import pformat
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

import multikernel as mk
from multikernel.app.web.learning.estimators import path_values
from multikernel.app.web.learning.families import FAMILIES
from multikernel.app.web.learning.findings import FOLDS
from multikernel.app.web.learning.recipe import Recipe


def code(recipe: Recipe, dtype: str) -> str:
    """A script that repeats the run.

    Parameters
    ----------
    recipe : what it learned by
    dtype : str, of the target: "int", "float" or "str"
    """
    classes, views = recipe.task == "classification", recipe.by_view
    automatic = "MultiKernelClassifier" if classes else "MultiKernelRegressor"
    return (
        _environment()
        .get_template("run.py.j2")
        .render(
            recipe=recipe,
            several=len(views) > 1,
            dtype=dtype,
            splitter="StratifiedKFold" if classes else "KFold",
            folds=FOLDS,
            estimator=automatic if recipe.automatic else recipe.method,
            arguments=_arguments(recipe),
            families=[_family(recipe, *each) for each in recipe.families],
            values=path_values(recipe.path) if recipe.path else [],
        )
    )


def _environment() -> Environment:
    loader = PackageLoader("multikernel.app.web")
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["literal"] = lambda value: pformat(value, sort_dicts=False, width=100)
    return made


def _family(recipe: Recipe, view: str, word: str, changed: Mapping[str, Any]) -> tuple[str, str, str]:
    """How the names of its kernels begin, the expression of its columns, and that of the family."""
    own = f"X[VIEWS[{view!r}]]" if len(recipe.by_view) > 1 else "X"
    made, by_type = FAMILIES[word].code(changed), FAMILIES[word].by_type
    return f"{view}: " if view else "", own, made if by_type else f"encoded(part, {made})"


def _arguments(recipe: Recipe) -> str:
    given = [f"{name}={value!r}" for name, value in recipe.parameters.items()]
    if recipe.automatic:
        return ", ".join([f"random_state={recipe.seed}", "types=COLUMNS", *given])
    seed = [f"random_state={recipe.seed}"] if hasattr(getattr(mk, recipe.method), "random_state") else []
    return "".join(f", {each}" for each in [*seed, *given])


def toml(values: Mapping[str, Any], head: str = "") -> str:
    """Dictionaries, lists, strings and numbers as TOML; what is None is left out."""
    plain = {key: value for key, value in values.items() if not isinstance(value, dict) and value is not None}
    tables = {key: value for key, value in values.items() if isinstance(value, dict) and value}
    lines = [f"[{head}]"] if head and plain else []
    lines += [f"{json.dumps(key)} = {_written(value)}" for key, value in plain.items()]
    parts = ["\n".join(lines)] if lines else []
    for key, value in tables.items():
        parts.append(toml(value, f"{head}.{json.dumps(key)}" if head else json.dumps(key)).rstrip("\n"))
    return "\n\n".join(parts) + "\n"


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
