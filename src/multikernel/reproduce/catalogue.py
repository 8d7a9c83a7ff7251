"""All experiments, and what every published number is bound to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from multikernel.reproduce import dpp, facts, nkrr, report, rls2, smkl
from multikernel.reproduce.experiment import Experiment
from multikernel.reproduce.published import PAPERS, PublishedNumber
from multikernel.reproduce.results import Results
from multikernel.reproduce.verdict import (
    DIFFERING,
    STATED,
    Binding,
    Constant,
    Mark,
    Measured,
    NotComparable,
    Query,
    Verdict,
    agreement,
    mark_of,
)

EXPERIMENTS: tuple[Experiment, ...] = (
    *nkrr.EXPERIMENTS,
    facts.NKRR,
    *dpp.EXPERIMENTS,
    facts.DPP,
    *rls2.EXPERIMENTS,
    facts.RLS2,
    *report.EXPERIMENTS,
    facts.REPORT,
    *smkl.EXPERIMENTS,
    facts.SMKL,
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


def bindings(row: PublishedNumber) -> Iterator[tuple[Experiment, Binding]]:
    """The experiments that say how a published number follows, with what they say."""
    for each in EXPERIMENTS:
        if each.paper == row.paper and (binding := each.bind(row)) is not None:
            yield each, binding


def judged(row: PublishedNumber, results: Mapping[str, Results]) -> Verdict:
    """The verdict on one published number; ``results`` by the key of the experiment."""
    for experiment, binding in bindings(row):
        return _judged(row, experiment, binding, results.get(experiment.key, Results(())))
    raise LookupError(f"no experiment says anything of {row}")


def _judged(row: PublishedNumber, experiment: Experiment, binding: Binding, results: Results) -> Verdict:
    if isinstance(binding, NotComparable):
        return Verdict(row, Mark.NOT_COMPARABLE, cause=binding.reason)
    if isinstance(binding, Constant):
        measured = Measured(binding.value)
        return Verdict(row, mark_of(row, measured, "neither"), {STATED: measured}, cause=binding.cause)
    measured_by = _by_variant(binding, experiment, results)
    agreements = {name: agreement(row, measured) for name, measured in measured_by.items()}
    if STATED not in measured_by:
        return Verdict(row, Mark.NOT_RUN, measured_by, agreements)
    if binding.instead:
        return Verdict(row, Mark.NOT_COMPARABLE, measured_by, cause=binding.instead)
    mark = mark_of(row, measured_by[STATED], binding.better)
    agreeing = tuple(name for name, each in agreements.items() if name != STATED and each.within)
    fitted = tuple(name for name in agreeing if name in experiment.fitted)
    if mark in DIFFERING:
        cause, known = (binding.cause, binding.known)
    else:
        cause, known = ("", "")
    return Verdict(row, mark, measured_by, agreements, cause, known, agreeing, fitted, binding.quoted)


def _by_variant(query: Query, experiment: Experiment, results: Results) -> dict[str, Measured]:
    """What each variant gave; cells without a variant are as stated."""
    found = {}
    cells = results.where(**query.where)
    for name in (STATED, *experiment.variants):
        if name == query.stated != STATED:
            continue
        read = name in query.readings
        wanted = query.stated if read or name == STATED else name
        of = Results(tuple(e for e in cells if e[0].get("variant", STATED) == wanted))
        measured = (replace(query, summary=query.readings[name]) if read else query).measured(of.found)
        if measured is not None:
            found[name] = measured
    return found
