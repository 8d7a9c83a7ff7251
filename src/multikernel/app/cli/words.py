"""The words of ``--set`` and ``--type``: parameters and their values, columns and their types, as text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

KINDS = ("number", "category", "date", "text")  # repeated because the module that defines them imports the library
_LISTED = ", ".join(KINDS)
_WORDS = {"none": None, "true": True, "false": False}


def value_of(text: str) -> Any:
    """The value of a Python literal (0.5, [1, 2], None); any other text is returned unchanged."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def assigned(texts: Sequence[str]) -> dict[str, Any]:
    """The values of texts such as "lam=0.5"; ValueError where a text has another form or a name occurs twice."""
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
    """Types by column, of texts such as "code=category"; ValueError for another form or where a column occurs twice.

    The last equals sign of a text separates the two, as the name of a column may have one.
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
