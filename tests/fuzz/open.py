"""Kinds of cases that are known to fail: a list to be emptied. Each entry says why, and which cases it is about."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.families import Case
from fuzz.judge import Broken, Verdict

Finding = Verdict | Exception

OPEN: tuple[tuple[str, Callable[[Case, Finding], bool]], ...] = (
    ("kernels or samples in single precision", lambda case, _: _single(case)),
    (
        "ridge regression whose alpha is below the rounding of its kernels",
        lambda case, found: "alpha" in case.parameters and isinstance(found, Verdict),
    ),
    (
        "kernel values, C and targets of very different size",
        lambda case, found: isinstance(found, Verdict | Broken),
    ),
)


def open_question(case: Case, found: Finding) -> str | None:
    """Why this case is let off; None where it is not."""
    return next((reason for reason, about in OPEN if about(case, found)), None)


def _single(case: Case) -> bool:
    kind = case.kind
    return kind.single if hasattr(kind, "single") else kind.sample.single
