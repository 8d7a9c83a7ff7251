"""What ``bank.normalized()`` and its like make: the base does not know the wrappers, which know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FORMS: dict[str, Callable[..., Any]] = {}


def register_form(name: str, make: Callable[..., Any]) -> None:
    """Tell what ``bank.normalized()`` and its like make: this file does not know the wrappers, which know it.

    Parameters
    ----------
    name : "normalized", "centered", "distances", "scaled", "weighed" or "rows"
    make : function of a bank, and of what the method is given beside it
    """
    FORMS[name] = make
