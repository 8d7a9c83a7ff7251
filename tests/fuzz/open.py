"""Kinds of cases that are known to fail: a list to be emptied. Each entry says why, and which cases it is about."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.claims import Case
from fuzz.judge import Verdict

Finding = Verdict | Exception

OPEN: tuple[tuple[str, Callable[[Case, Finding], bool]], ...] = ()


def open_question(case: Case, found: Finding) -> str | None:
    """Why this case is let off; None where it is not."""
    return next((reason for reason, about in OPEN if about(case, found)), None)
