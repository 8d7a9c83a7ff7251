"""All experiments, and what every published number is bound to."""

from __future__ import annotations

from collections.abc import Iterator

from multikernel.reproduce import dpp, nkrr, report, rls2, smkl
from multikernel.reproduce.experiment import Experiment
from multikernel.reproduce.published import PAPERS, Row
from multikernel.reproduce.verdict import Binding

EXPERIMENTS: tuple[Experiment, ...] = (
    *nkrr.EXPERIMENTS,
    *dpp.EXPERIMENTS,
    *rls2.EXPERIMENTS,
    *report.EXPERIMENTS,
    *smkl.EXPERIMENTS,
)
_BY_KEY = {each.key: each for each in EXPERIMENTS}


def experiment(key: str) -> Experiment:
    """The experiment of this key, such as "nkrr/table1"."""
    return _BY_KEY[key]


def chosen(paper: str, table: int | None = None, figure: int | None = None) -> tuple[Experiment, ...]:
    """The experiments of a paper, or of all; those of one table or figure.

    Raises
    ------
    ValueError : where there is none
    """
    of = [each for each in EXPERIMENTS if paper in ("all", each.paper)]
    wanted = [
        each for each in of if (table is None and figure is None) or table in each.tables or figure in each.figures
    ]
    if not wanted:
        tables, figures = (sorted({n for each in of for n in getattr(each, kind)}) for kind in ("tables", "figures"))
        raise ValueError(
            f"{paper} has no such table or figure here: there are tables {tables} and figures {figures}; "
            f"papers are {', '.join(PAPERS)} and all"
        )
    return tuple(wanted)


def bindings(row: Row) -> Iterator[tuple[Experiment, Binding]]:
    """The experiments that say how a published number follows, with what they say."""
    for each in EXPERIMENTS:
        if each.paper == row.paper and (binding := each.bind(row)) is not None:
            yield each, binding
