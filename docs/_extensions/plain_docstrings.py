"""Lets docstrings be plain text: their mathematics is shown as it is written, and private machinery is left out.

In docstrings |x| is a norm, a_ an attribute and an indented block a formula; in reStructuredText these would be a
substitution, a link and a quotation. What stands in ``double backquotes`` and under Examples is left alone.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

MACHINERY = {"against", "banks", "bind", "fit_bank", "check_parameters", "kernel_keys", "publish", "problem_names"}
MACHINERY |= {"fit_along", "fit_folds", "in_units"}


def escaped(line: str) -> str:
    """Signs that reStructuredText would read as its own, made plain outside of ``literals``."""
    parts = re.split(r"(``.*?``)", line)
    parts[::2] = [re.sub(r"(\||\*|`|(?<=\w)_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def plain(lines: list[str]) -> list[str]:
    """A docstring with formulas as literal blocks, and other signs as they are meant."""
    out: list[str] = []
    section, in_formula = "", False
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", following) and line.strip():
            section = line.strip()
        indented, blank = line.startswith("    "), not line.strip()
        if section == "Examples" or re.fullmatch(r"-{3,}", line):
            out.append(line)
        elif section in ("", "Notes", "References"):
            if indented and not in_formula and (not out or not out[-1].strip()):
                out += [".. code-block:: text", ""]
                in_formula = True
            elif not indented and not blank:
                in_formula = False
            out.append(line if in_formula or blank else escaped(line))
        elif indented or blank:
            out.append(escaped(line))
        else:
            name, sign, kind = line.partition(" : ")
            out.append(name + sign + escaped(kind) if sign else name)
    return out


def on_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = plain(lines)


def skip(app: Sphinx, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn documents, and what estimators are asked for by other rooms of the package only."""
    if name in MACHINERY:
        return True
    home = getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", None)
    return True if home and not home.startswith("multikernel") else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", on_docstring, priority=100)
    app.connect("autodoc-skip-member", skip)
    return {"version": "1", "parallel_read_safe": True}
