"""The words of ``--set``: parameters and their values, written as text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

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
