"""Parameters that are numbers, and the sentence that says where one is not what it has to be."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np


def whole(value: Any, what: str, least: int = 0) -> int:
    """The value as an int; ValueError, in the name of ``what``, where it is no whole number >= ``least``."""
    if not (isinstance(value, int | float | np.number) and value >= least and float(value).is_integer()):
        raise ValueError(f"{what} must be a whole number >= {least}, got {value}")
    return int(value)


def positive(value: Any, what: str, or_zero: bool = False) -> float:
    """The value as a float; ValueError, in the name of ``what``, where it is not finite and > 0 (or >= 0)."""
    if not (isinstance(value, int | float | np.number) and isfinite(value) and (value > 0 or (or_zero and value == 0))):
        raise ValueError(f"{what} must be a finite number {'>=' if or_zero else '>'} 0, got {value}")
    return float(value)
