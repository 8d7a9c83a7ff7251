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
    """The unit of measurement: a data set, a method, a setting and a repetition.

    Parameters
    ----------
    fields : pairs of a name and a value; ``data`` is the name of the data set, "" for synthetic samples
    needs : a cell that is measured before, and whose result is used to measure this one; None if there is none
    """

    fields: tuple[tuple[str, Scalar], ...]
    needs: Cell | None = None

    @classmethod
    def of(cls, **fields: Scalar) -> Cell:
        return cls(tuple(fields.items()))

    def after(self, needs: Cell) -> Cell:
        """This cell, to be measured with the result of another one."""
        return replace(self, needs=needs)

    def followed_by(self, **fields: Scalar) -> Cell:
        """A cell that is measured with the result of this one: its fields, changed or extended by ``fields``."""
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


class Scope(StrEnum):
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
    see : str, a sentence about what the figure shows
    draw : called with axes and the results of the cells that it shows
    where : fields of these cells; where no such cell is finished, the figure is left out
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
    protocol : str, what is done, in plain sentences, and the choices that the paper does not state
    cells : function of a bool: the cells of a quick run for True, those of a usual run for False
    measure : function of a cell, the data source, and the result of the cell that it needs ({} if there is none)
    bind : function of a published number of this paper: how the number follows from the cells; None where it belongs
        to another experiment
    tables, figures : the numbers of the paper's tables and figures that are repeated
    variants : the variants that are measured beside "stated", each with a plain sentence
    fitted : the variants that were chosen by looking at the published numbers
    version : int, raised whenever the protocol changes, so that results of the earlier protocol are not used
    tol : float, the relative certificate that the fits reach
    seconds : float, the estimated time of a cell, before any was measured
    draw : figures of the report
    whole : all cells of the paper's experiment, where a usual run has a part of them; otherwise None
    part : a description of this part, and how long the other cells take
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

    def planned(self, scope: Scope) -> Sequence[Cell]:
        """The cells of a run."""
        if scope is Scope.WHOLE and self.whole is not None:
            return self.whole()
        return self.cells(scope is Scope.QUICK)

    @property
    def key(self) -> str:
        return f"{self.paper}/{self.name}"
