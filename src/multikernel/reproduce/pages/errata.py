"""What is printed in the papers and is not right."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Erratum:
    """One of them.

    Parameters
    ----------
    paper, where, printed, right, see : str; ``see`` says how to find out
    """

    paper: str
    where: str
    printed: str
    right: str
    see: str


def errata(paper: str) -> list[Erratum]:
    """Those of a paper."""
    text = files("multikernel.reproduce.pages").joinpath("errata.csv").read_text(encoding="utf-8")
    return [Erratum(**line) for line in csv.DictReader(text.splitlines()) if line["paper"] == paper]
