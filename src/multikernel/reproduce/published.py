"""The published numbers, as facts: a line for each, in the order of the papers."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

PAPERS = {
    "nkrr": "Cortes, Mohri and Rostamizadeh (2009), Learning non-linear combinations of kernels",
    "dpp": "Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials",
    "rls2": "Dinuzzo, Kernel machines with two layers and multiple kernel learning",
    "report": "Li, Venturi and Xu, Learning the kernel for classification and regression",
    "smkl": "Xu, Jin, Zhu, Lyu and King (2010), Smooth optimization for effective multiple kernel learning",
}
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class PublishedNumber:
    """One published number.

    Parameters
    ----------
    paper : str, a key of ``PAPERS``
    place : str, such as "Table 1", "Figure 3" or "text 4.1"
    data, method, setting, metric : str, in the paper's words
    value : str, as printed: a number, a range "1.40-1.70", or a word; empty for a dash in the paper
    deviation : float or None, the published standard deviation
    """

    paper: str
    place: str
    data: str
    method: str
    setting: str
    metric: str
    value: str
    deviation: float | None

    @property
    def limits(self) -> tuple[float, float] | None:
        """The least and the largest number that prints as this value does; None for a word."""
        found = _RANGE.fullmatch(self.value)
        if found is None:
            return None
        low, high = found[1], found[2] or found[1]
        return float(low) - _half(low), float(high) + _half(high)


def _half(number: str) -> float:
    """Half a unit of the last printed digit."""
    if "." in number:
        return 0.5 * 10.0 ** -len(number.partition(".")[2])
    return 0.5


@cache
def published() -> tuple[PublishedNumber, ...]:
    """All rows of the package's file."""
    text = files("multikernel.reproduce").joinpath("published.csv").read_text(encoding="utf-8")
    return tuple(
        PublishedNumber(**line, deviation=float(deviation) if deviation else None)
        for line in csv.DictReader(text.splitlines())
        for deviation in [line.pop("deviation")]
    )
