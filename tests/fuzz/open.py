"""Kinds of cases that are known to fail: a list to be emptied. Each entry says why, and which cases it is about."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.families import Case
from fuzz.judge import Broken, Verdict

Finding = Verdict | Exception

OPEN: tuple[tuple[str, Callable[[Case, Finding], bool]], ...] = (
    (
        "NumPy warns of an overflow where kernels of samples in single precision leave its range",
        lambda case, found: _single(case) and isinstance(found, Broken) and "overflow" in str(found),
    ),
)


def open_question(case: Case, found: Finding) -> str | None:
    """Why this case is let off; None where it is not."""
    return next((reason for reason, about in OPEN if about(case, found)), None)


def _single(case: Case) -> bool:
    kind = case.kind
    return kind.single if hasattr(kind, "single") else kind.sample.single
