"""The words of ``--set`` and ``--type``: parameters and their values, columns and what they hold, written as text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

KINDS = ("number", "category", "date", "text")  # repeated because their own module imports the library
_LISTED = ", ".join(KINDS)
_WORDS = {"none": None, "true": True, "false": False}


def value_of(text: str) -> Any:
    """A value as Python writes it (0.5, [1, 2], None); any other text is itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def assigned(texts: Sequence[str]) -> dict[str, Any]:
    """The values of texts such as "lam=0.5"; ValueError where one is written otherwise or a name comes twice."""
    values: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.strip()
        if not sign or not name.isidentifier() or not value.strip():
            raise ValueError(f"{text!r} is written like lam=0.5: a parameter, an equals sign and its value")
        if name in values:
            raise ValueError(f"{name!r} is set twice; set it once")
        values[name] = value_of(value.strip())
    return values


def declared(texts: Sequence[str]) -> dict[str, str]:
    """What texts such as "code=category" declare; ValueError where one is written otherwise or a column comes twice.

    The last equals sign counts, for a name of a column may have one.
    """
    types: dict[str, str] = {}
    for text in texts:
        column, _, kind = text.rpartition("=")
        if not column or kind.strip() not in KINDS:
            raise ValueError(f"{text!r} is written like code=category: a column, an equals sign and one of {_LISTED}")
        if column in types:
            raise ValueError(f"{column!r} is declared twice; declare it once")
        types[column] = kind.strip()
    return types
