"""An experiment of a paper: what is measured, cell by cell, and which published numbers follow from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from typing import Any

from multikernel.reproduce.data import DataSource
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.results import Results
from multikernel.reproduce.verdict import Binding

Scalar = str | int | float


@dataclass(frozen=True)
class Cell:
    """A data set, a method, a setting and a repetition: what is measured in one go.

    Parameters
    ----------
    fields : pairs of a name and a value; ``data`` names the data set that is loaded, or is "" for made-up samples
    needs : a cell that is measured before, and whose result this one is given; None if there is none
    """

    fields: tuple[tuple[str, Scalar], ...]
    needs: Cell | None = None

    @classmethod
    def of(cls, **fields: Scalar) -> Cell:
        return cls(tuple(fields.items()))

    def after(self, needs: Cell) -> Cell:
        """This cell, to be measured with what another one gave."""
        return replace(self, needs=needs)

    def followed_by(self, **fields: Scalar) -> Cell:
        """The cell with these fields in place of its own, or behind them, that is measured with what this one gave."""
        return Cell.of(**{**dict(self.fields), **fields}).after(self)

    def __getitem__(self, name: str) -> Any:
        return dict(self.fields)[name]

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or the default where the cell has none of this name."""
        return dict(self.fields).get(name, default)

    def __str__(self) -> str:
        return " ".join(str(value) for _, value in self.fields if value != "")


def grid(**choices: Sequence[Scalar]) -> list[Cell]:
    """A cell for each combination; the last name changes fastest."""
    return [Cell(tuple(zip(choices, values, strict=True))) for values in product(*choices.values())]


class Extent(StrEnum):
    """How much of an experiment is measured."""

    QUICK = "a few cells of each experiment (--quick)"
    USUAL = "all cells of a usual run"
    WHOLE = "all cells, also of the experiments that a usual run cuts (--whole)"


@dataclass(frozen=True)
class Figure:
    """A figure of the report.

    Parameters
    ----------
    title : str
    see : str, a sentence of what there is to see
    draw : called with axes and those results of the experiment
    where : fields of the cells that it shows; without any it is left out
    """

    title: str
    see: str
    draw: Callable[[Any, Results], None]
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Parameters
    ----------
    paper, name : str, such as "nkrr" and "table1"
    title : str, a few words
    protocol : str, what is done, in plain sentences, with what the paper leaves open
    cells : called with True for a quick run of a few cells, and with False for a usual one
    measure : what is found in one cell, given the data and what the cell that it needs gave
    bind : for a published number of this paper how it follows from the cells; None for one of another experiment
    tables, figures : the numbers of the paper's tables and figures that this one repeats
    variants : the names of what is measured beside "stated", each with a plain sentence
    fitted : those of them that were chosen by looking at the published numbers
    version : int, raised whenever the protocol changes, so that earlier results are not taken for its own
    tol : float, the relative certificate that the fits reach
    seconds : float, what a cell takes about, before any was measured
    draw : figures of the report
    whole : all cells of the paper's experiment, where a usual run has a part of them; else None
    part : which part that is, and how long the rest takes
    """

    paper: str
    name: str
    title: str
    protocol: str
    cells: Callable[[bool], Sequence[Cell]]
    measure: Callable[[Cell, DataSource, Mapping[str, Any]], Mapping[str, Any]]
    bind: Callable[[PublishedNumber], Binding | None] = lambda row: None
    tables: tuple[int, ...] = ()
    figures: tuple[int, ...] = ()
    variants: Mapping[str, str] = field(default_factory=dict)
    fitted: frozenset[str] = frozenset()
    version: int = 1
    tol: float = 1e-6
    seconds: float = 1.0
    draw: tuple[Figure, ...] = ()
    whole: Callable[[], Sequence[Cell]] | None = None
    part: str = ""

    def planned(self, extent: Extent) -> Sequence[Cell]:
        """The cells of a run."""
        if extent is Extent.WHOLE and self.whole is not None:
            return self.whole()
        return self.cells(extent is Extent.QUICK)

    @property
    def key(self) -> str:
        return f"{self.paper}/{self.name}"
