"""What ``multikernel reproduce`` does: measure what is missing, then write the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from multikernel.reproduce.catalogue import chosen
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.experiment import Experiment
from multikernel.reproduce.pages import ExperimentCost, write_pages
from multikernel.reproduce.results import Ledger
from multikernel.reproduce.running import finished, in_order, results_of, run, stamp_of

CELLS = "cells.jsonl"  # in the directory of the report


def reproduce(
    paper: str,
    out: Path,
    *,
    table: int | None = None,
    figure: int | None = None,
    quick: bool = False,
    data_dir: Path | None = None,
    jobs: int = 1,
    also: Sequence[str] = (),
    report: Callable[[str], None] = print,
) -> Path:
    """Measure the experiments of a paper, or of all, and write their report.

    Parameters
    ----------
    paper : str, "nkrr", "dpp", "rls2", "report", "smkl" or "all"
    out : Path, the directory of the report; finished cells are kept in it
    table, figure : int or None, only the experiments of this one
    quick : bool, a few cells of each experiment
    data_dir : Path or None, as in ``datasets.load``
    jobs : int, how many processes
    also : versions of the package whose finished cells count, too
    report : called with each line of progress

    Returns
    -------
    Path, the first page

    Raises
    ------
    ValueError : where the paper has no such table or figure, and where cells could not be measured
    """
    experiments = chosen(paper, table, figure)
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out / CELLS, also)
    source = DataSource(data_dir)
    stale = sum(ledger.stale(stamp_of(each)) for each in experiments)
    if stale:
        report(f"{stale} cells in {out / CELLS} are of another version, protocol or tolerance, and are measured again")
    missing = sorted({c["data"] for e in experiments for c in e.cells(quick) if not source.has(c.get("data", ""))})
    if missing:
        report(f"left out, since the data are not there: {', '.join(missing)}")
    failed = None
    try:
        run(experiments, ledger, source, quick=quick, jobs=jobs, report=report)
    except ValueError as error:  # some cells: the others have a report all the same
        failed = error
    results = {each.key: results_of(each, ledger, quick) for each in experiments}
    costs = [_cost(each, ledger, quick) for each in experiments]
    facts = {"extent": "a few cells of each experiment (--quick)" if quick else "all cells"}
    if also:
        facts["cells of earlier versions"] = ", ".join(also)
    first = write_pages(out, experiments, results, costs, facts)
    if failed is not None:
        raise failed
    return first


def _cost(experiment: Experiment, ledger: Ledger, quick: bool) -> ExperimentCost:
    """What the finished cells of an experiment took."""
    seconds = [line["seconds"] for line in finished(experiment, ledger).values()]
    count = len(in_order(experiment.cells(quick)))
    return ExperimentCost(
        f"{experiment.paper}: {experiment.title}", len(seconds), max(count, len(seconds)), sum(seconds)
    )
