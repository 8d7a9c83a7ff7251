"""The published numbers, one line for each, in the order of the papers."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

PAPERS = {
    "nkrr": "Cortes, Mohri and Rostamizadeh (2009), Learning non-linear combinations of kernels",
    "dpp": "Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials",
    "rls2": "Dinuzzo, Kernel machines with two layers and multiple kernel learning",
    "report": "Li, Venturi and Xu, Learning the kernel for classification and regression",
    "smkl": "Xu, Jin, Zhu, Lyu and King (2010), Smooth optimization for effective multiple kernel learning",
}
AUTHORS = {
    "nkrr": "Cortes and others",
    "dpp": "Donini and Aiolli",
    "rls2": "Dinuzzo",
    "report": "Li and others",
    "smkl": "Xu and others",
}
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?")
_BOUND = re.compile(r"([<>~])(\d+(?:\.\d+)?)")


class Kind(StrEnum):
    """The kind of a published number; only results are judged and counted."""

    RESULT = "result"
    SIZE = "size"  # of a data set
    PROTOCOL = "protocol"  # a constant that the paper sets
    TIME = "time"  # seconds, on the authors' processor
    BLANK = "blank"  # a cell without a number


@dataclass(frozen=True)
class PublishedNumber:
    """One published number.

    Parameters
    ----------
    paper : str, a key of ``PAPERS``
    place : str, such as "Table 1", "Figure 3" or "text 4.1"
    data, method, setting, metric : str, in the paper's words
    value : str, as printed: a number, a range "1.40-1.70", a bound "<25" or ">7", an order of magnitude "~0.005", or a
        word; empty for a dash in the paper
    deviation : float or None, the published standard deviation
    repetitions : int, the number of repetitions of which the published number is the mean
    kind : Kind
    """

    paper: str
    place: str
    data: str
    method: str
    setting: str
    metric: str
    value: str
    deviation: float | None
    repetitions: int = 1
    kind: Kind = Kind.RESULT

    @property
    def limits(self) -> tuple[float, float] | None:
        """The least and the largest number that agree with this value; None for a word.

        These are the numbers that round to the printed one; for an order of magnitude, those from half to twice of it.
        """
        bound = _BOUND.fullmatch(self.value)
        if bound is not None:
            number = float(bound[2])
            return {"<": (-math.inf, number), ">": (number, math.inf), "~": (0.5 * number, 2.0 * number)}[bound[1]]
        ends = _RANGE.fullmatch(self.value)
        if ends is None:
            return None
        low = ends[1]
        high = ends[2] or low
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
        PublishedNumber(
            **{name: line[name] for name in ("paper", "place", "data", "method", "setting", "metric", "value")},
            deviation=float(line["deviation"]) if line["deviation"] else None,
            repetitions=int(line["repetitions"] or 1),
            kind=Kind(line["kind"]),
        )
        for line in csv.DictReader(text.splitlines())
    )
