"""The settings of a run from the text of its file, run.toml."""

from __future__ import annotations

from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields
from typing import Any

from multikernel.app.toml import read_toml
from multikernel.app.web.learning.measuring import Measuring
from multikernel.app.web.learning.recipe import Recipe

# by the annotation of a field of Recipe: the type of its TOML value, and the name of the type in sentences
_KINDS: dict[str, tuple[type, str]] = {
    "str": (str, "a word"),
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "dict": (dict, "a table"),
    "Task": (str, "a word"),
    "Missing": (str, "a word"),
    "Measuring": (dict, "a table"),
    "list": (list, "a list of columns"),
}


def recipe_of(text: str) -> Recipe:
    """The settings of a file, whose types have been checked.

    Parameters
    ----------
    text : the TOML

    Raises
    ------
    ValueError : where the file is no TOML, or a setting is unknown, missing or of another type
    """
    stored = read_toml(text)
    settings_by_name = {field.name: field for field in fields(Recipe)}
    for name, value in stored.items():
        if name not in settings_by_name:
            raise ValueError(f"The file has a setting {in_brief(name)}, and a run has none of this name.")
        kind, word = _KINDS.get(str(settings_by_name[name].type).partition("[")[0], (object, ""))
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"The setting {name} of the file is {in_brief(value)}, and has to be {word}.")
    for name, field in settings_by_name.items():
        needed = field.default is NO_DEFAULT and field.default_factory is NO_DEFAULT
        if needed and name not in (*stored, "data"):
            raise ValueError(f"The file has no setting {name}, which every run has; give the run.toml of a run.")
    _check_measured(stored.get("measured", {}))
    if not all(isinstance(name, str) for name in stored.get("other_targets", [])):
        raise ValueError("The setting other_targets of the file has to be a list of columns.")
    for name in ("views", "kernels"):
        for key, words in stored.get(name, {}).items():
            if not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
                raise ValueError(
                    f"The setting {name}.{key} of the file is {in_brief(words)}, and has to be a list of names."
                )
    for key, words in stored.get("kernel_parameters", {}).items():
        if not (isinstance(words, dict) and all(isinstance(parameters, dict) for parameters in words.values())):
            raise ValueError(f"The setting kernel_parameters.{key} of the file has to hold a table for each family.")
    return Recipe.from_json(stored)


def _check_measured(stored: dict[str, Any]) -> None:
    """ValueError where a setting of ``Measuring`` is unknown or of another type."""
    settings_by_name = {field.name: field for field in fields(Measuring)}
    for name, value in stored.items():
        if name not in settings_by_name:
            raise ValueError(f"The file has a setting measured.{in_brief(name)}, and a run has none of this name.")
        integer = isinstance(settings_by_name[name].default, int)
        if isinstance(value, bool) or not isinstance(value, int if integer else str):
            expected = "a whole number" if integer else "a word"
            raise ValueError(f"The setting measured.{name} of the file is {in_brief(value)}, and has to be {expected}.")


def in_brief(value: object) -> str:
    """A value in at most 61 characters, for a sentence.

    Parameters
    ----------
    value : any value of a file
    """
    text = repr(value)
    if len(text) <= 60:
        return text
    return f"{text[:60]}…"
