"""TOML of plain values, which Python reads and does not write."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")  # keys that need no quotes


def toml(values: Mapping[str, Any], head: str = "") -> str:
    """Dictionaries, lists, strings and numbers as TOML; what is None is left out.

    Parameters
    ----------
    values : by their keys
    head : the dotted key of the table that they stand in
    """
    plain = {key: value for key, value in values.items() if not isinstance(value, Mapping) and value is not None}
    tables = {key: value for key, value in values.items() if isinstance(value, Mapping) and value}
    lines = [f"[{head}]"] if head and plain else []
    lines += [f"{_key(key)} = {_written(value)}" for key, value in plain.items()]
    parts = ["\n".join(lines)] if lines else []
    for key, table in tables.items():
        parts.append(toml(table, f"{head}.{_key(key)}" if head else _key(key)).rstrip("\n"))
    return "\n\n".join(parts) + "\n"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return _quoted(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
