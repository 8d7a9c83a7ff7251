"""All experiments, and the verdicts on all published numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from multikernel.reproduce import dpp, nkrr, report, rls2, sizes_and_constants, smkl
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
    sizes_and_constants.NKRR,
    *dpp.EXPERIMENTS,
    sizes_and_constants.DPP,
    *rls2.EXPERIMENTS,
    sizes_and_constants.RLS2,
    *report.EXPERIMENTS,
    sizes_and_constants.REPORT,
    *smkl.EXPERIMENTS,
    sizes_and_constants.SMKL,
)
_INDECISIVE = (
    "Two standard errors of the difference are more than half of the published number, so that hardly any number "
    "would differ."
)
_QUOTED = "The paper quotes this number from others."
_BY_KEY = {item.key: item for item in EXPERIMENTS}


def experiment(key: str) -> Experiment:
    """The experiment of this key, such as "nkrr/table1"."""
    return _BY_KEY[key]


def experiments_of(paper: str, table: int | None = None, figure: int | None = None) -> tuple[Experiment, ...]:
    """The experiments of a paper, or of all papers; with ``table`` or ``figure`` only the experiments of this one.

    Raises
    ------
    ValueError : where there is none
    """
    of_paper = [item for item in EXPERIMENTS if paper in ("all", item.paper)]
    experiments = [
        item
        for item in of_paper
        if (table is None and figure is None) or table in item.tables or figure in item.figures
    ]
    if not experiments:
        tables, figures = (
            sorted({n for item in of_paper for n in getattr(item, kind)}) for kind in ("tables", "figures")
        )
        raise ValueError(
            f"{paper} has no such table or figure here: there are tables {tables} and figures {figures}; "
            f"papers are {', '.join(PAPERS)} and all"
        )
    return tuple(experiments)


def bindings(row: PublishedNumber) -> Iterator[tuple[Experiment, Binding]]:
    """The experiments that measure or explain a published number, with their bindings."""
    for item in EXPERIMENTS:
        if item.paper == row.paper and (binding := item.bind(row)) is not None:
            yield item, binding


def verdict_on(row: PublishedNumber, results: Mapping[str, Results]) -> Verdict:
    """The verdict on one published number; ``results`` by the key of the experiment."""
    bound = next(bindings(row), None)
    if bound is None:
        raise LookupError(f"no experiment says anything of {row}")
    experiment, binding = bound
    return _verdict_by(row, experiment, binding, results.get(experiment.key, Results(())))


def _verdict_by(row: PublishedNumber, experiment: Experiment, binding: Binding, results: Results) -> Verdict:
    if isinstance(binding, NotComparable):
        return Verdict(row, Mark.NOT_COMPARABLE, cause=binding.reason, quoted=binding.quoted)
    if isinstance(binding, Constant):
        measured = Measured(binding.value)
        return Verdict(row, mark_of(row, measured, "neither"), {STATED: measured}, cause=binding.cause)
    measured_by = _by_variant(binding, experiment, results)
    compared = binding.compared(row)
    same_samples = binding.same_samples
    agreements = {name: agreement(compared, measured, same_samples) for name, measured in measured_by.items()}
    if STATED not in measured_by:
        return Verdict(row, Mark.NOT_RUN, measured_by, agreements)
    if binding.instead:
        return Verdict(row, Mark.NOT_COMPARABLE, measured_by, cause=binding.instead)
    if binding.quoted:
        return Verdict(row, Mark.NOT_COMPARABLE, measured_by, agreements, _QUOTED, quoted=True)
    mark = mark_of(compared, measured_by[STATED], binding.better, same_samples)
    if mark is Mark.NOT_COMPARABLE:
        return Verdict(row, mark, measured_by, cause=_INDECISIVE)
    agreeing = tuple(name for name in binding.causes if name in agreements and agreements[name].within)
    fitted = tuple(name for name in agreeing if name in experiment.fitted)
    if mark in DIFFERING:
        cause = binding.causes[agreeing[0]] if agreeing else binding.cause
        remark = binding.remark
    else:
        cause = remark = ""
    return Verdict(row, mark, measured_by, agreements, cause, remark, agreeing, fitted)


def _by_variant(query: Query, experiment: Experiment, results: Results) -> dict[str, Measured]:
    """The measured number of each variant; cells without a variant are as the paper states."""
    measured_by = {}
    cells = results.where(**query.where)
    for name in (STATED, *experiment.variants):
        if name == query.stated != STATED:
            continue
        is_summary = name in query.summaries
        if is_summary:
            variant = query.summaries_of.get(name, query.stated)
        else:
            variant = query.stated if name == STATED else name
        variant_cells = Results(tuple(e for e in cells if e[0].get("variant", STATED) == variant))
        variant_query = replace(query, summary=query.summaries[name]) if is_summary else query
        measured = variant_query.measured(variant_cells.measurements)
        if measured is not None:
            measured_by[name] = measured
    return measured_by
