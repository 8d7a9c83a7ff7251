"""TOML of plain values: Python cannot write it, and reads some files only in hours or not at all."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, BinaryIO

_BARE = re.compile(r"[A-Za-z0-9_-]+")  # a key that needs no quotes
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_NESTED = re.compile(
    rf"(?:^|[\[{{,])[ \t]*(?:{_PART}[ \t]*\.[ \t]*){{50}}", re.MULTILINE
)  # keys read in quadratic time
_LONGEST = 1 << 20  # bytes; the settings of a run are a few thousand


def settings_in(file: BinaryIO) -> str:
    """The text of a file of settings, which may begin with a byte order mark.

    Parameters
    ----------
    file : the file, of which at most one byte more than the limit is read

    Raises
    ------
    ValueError : in a sentence, where it is too large, or not text in UTF-8
    """
    content = file.read(_LONGEST + 1)
    if len(content) > _LONGEST:
        raise ValueError(f"The file is larger than {_LONGEST >> 20} MB, which no file of settings is.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("The file is no text in UTF-8; save it as one.") from None


def read_toml(text: str) -> dict[str, Any]:
    """The settings in the text of a file.

    Parameters
    ----------
    text : the TOML

    Raises
    ------
    ValueError : in a sentence, where it is not TOML, or would take long to read
    """
    if _NESTED.search(text):
        raise ValueError("The file has keys of fifty parts, and settings have three at most.")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for a number with too many digits
        raise ValueError(f"The file is no TOML ({error}).") from None


def toml(values: Mapping[str, Any], head: str = "") -> str:
    """The TOML text of dictionaries, lists, strings and numbers; values that are None are left out.

    Parameters
    ----------
    values : by their keys
    head : the dotted key of the table that contains them
    """
    plain_values = {key: value for key, value in values.items() if not isinstance(value, Mapping) and value is not None}
    tables = {key: value for key, value in values.items() if isinstance(value, Mapping) and value}
    lines = [f"[{head}]"] if head and plain_values else []
    lines += [f"{_key(key)} = {_value(value)}" for key, value in plain_values.items()]
    sections = ["\n".join(lines)] if lines else []
    for key, table in tables.items():
        sections.append(toml(table, f"{head}.{_key(key)}" if head else _key(key)).rstrip("\n"))
    return "\n\n".join(sections) + "\n"


def _key(key: str) -> str:
    if _BARE.fullmatch(key):
        return key
    return _string(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _string(value)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
