"""The settings of a run from the text of their file, run.toml."""

from __future__ import annotations

from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields
from typing import Any

from multikernel.app.toml import read_toml
from multikernel.app.web.learning.measuring import Measuring
from multikernel.app.web.learning.recipe import Recipe

_KINDS: dict[str, tuple[type, str]] = {  # by the annotations of a recipe
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
    """The settings of a file, whose parts are of the right kinds.

    Parameters
    ----------
    text : the TOML

    Raises
    ------
    ValueError : in a sentence, where it is none, or a part is of another kind
    """
    stored = read_toml(text)
    known = {field.name: field for field in fields(Recipe)}
    for name, value in stored.items():
        if name not in known:
            raise ValueError(f"The file has a setting {in_brief(name)}, and a run has none of this name.")
        kind, word = _KINDS.get(str(known[name].type).partition("[")[0], (object, ""))
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"The setting {name} of the file is {in_brief(value)}, and has to be {word}.")
    for name, field in known.items():
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
        if not (isinstance(words, dict) and all(isinstance(own, dict) for own in words.values())):
            raise ValueError(f"The setting kernel_parameters.{key} of the file has to hold a table for each family.")
    return Recipe.from_json(stored)


def _check_measured(stored: dict[str, Any]) -> None:
    """ValueError where how a run is measured is described by other settings than it has."""
    known = {field.name: field for field in fields(Measuring)}
    for name, value in stored.items():
        if name not in known:
            raise ValueError(f"The file has a setting measured.{in_brief(name)}, and a run has none of this name.")
        whole = isinstance(known[name].default, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else str):
            what = "a whole number" if whole else "a word"
            raise ValueError(f"The setting measured.{name} of the file is {in_brief(value)}, and has to be {what}.")


def in_brief(value: object) -> str:
    """A value as a sentence shows it.

    Parameters
    ----------
    value : whatever a file holds
    """
    text = repr(value)
    if len(text) <= 60:
        return text
    return f"{text[:60]}…"
