"""Cases of which some run with every change, and the others with the studies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(step: int, cases: Iterable[Any]) -> list[Any]:
    """The first of every ``step`` cases as they are, the others marked as study.

    A step that shares no divisor with the lengths of a product's factors keeps every value of every factor.
    """
    kept = []
    for number, case in enumerate(cases):
        values = case if isinstance(case, tuple) else (case,)
        kept.append(pytest.param(*values, marks=[pytest.mark.study] if number % step else []))
    return kept
