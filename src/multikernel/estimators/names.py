"""Short names of kernels, for figures."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ENDINGS = (".normalized()", ".centered()")


def short_names(names: Sequence[str], longest: int = 52) -> list[str]:
    """The names with numbers rounded to four digits, without an ending that all share, and with long ones abbreviated.

    Parameters
    ----------
    names : the names of kernels
    longest : int, the most characters of a name
    """
    short = [re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.4g}", name) for name in names]
    for ending in _ENDINGS:
        if all(name.endswith(ending) for name in short):
            short = [name.removesuffix(ending) for name in short]
    half = longest // 2
    return [name if len(name) <= longest else f"{name[:half]}…{name[1 - half :]}" for name in short]
