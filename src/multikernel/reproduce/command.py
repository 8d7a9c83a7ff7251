"""The work of ``multikernel reproduce``: measure the missing cells, then write the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from multikernel.reproduce import remeasure
from multikernel.reproduce.catalogue import experiments_of
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.experiment import Experiment, Scope
from multikernel.reproduce.pages.tables import ExperimentCost
from multikernel.reproduce.pages.write import write_pages
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
    whole: bool = False,
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
    table, figure : int or None, only the experiments of this table or figure
    quick, whole : bool, a few cells of each experiment; or also the cells that a usual run leaves out as too long
    data_dir : Path or None, as in ``datasets.load``
    jobs : int, the number of processes
    also : versions of the package whose finished cells are accepted, too
    report : called with each line of progress

    Returns
    -------
    Path, the first page

    Raises
    ------
    ValueError : where the paper has no such table or figure, where a run is to be quick and whole, and where cells
        could not be measured
    """
    if quick and whole:
        raise ValueError("a run is either quick or whole: leave out one of the two")
    if quick:
        scope = Scope.QUICK
    else:
        scope = Scope.WHOLE if whole else Scope.USUAL
    experiments = experiments_of(paper, table, figure)
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out / CELLS, also)
    source = DataSource(data_dir)
    stale = sum(ledger.stale(stamp_of(experiment)) for experiment in experiments)
    if stale:
        report(f"{stale} cells in {out / CELLS} are of another version, protocol or tolerance, and are measured again")
    missing_data = sorted(
        {c["data"] for e in experiments for c in e.planned(scope) if not source.has(c.get("data", ""))}
    )
    if missing_data:
        report(f"left out, since the data are not there: {', '.join(missing_data)}")
    failed = None
    try:
        run(experiments, ledger, source, scope=scope, jobs=jobs, report=report)
    except ValueError as error:  # some cells failed: the report on the others is written first
        failed = error
    results = {experiment.key: results_of(experiment, ledger, scope) for experiment in experiments}
    whole_results = {experiment.key: results_of(experiment, ledger, Scope.WHOLE) for experiment in experiments}
    checks = remeasure.read(out)
    costs = [_cost(experiment, ledger, scope, checks) for experiment in experiments]
    facts = {"run": str(scope)}
    if also:
        facts["cells of other versions"] = ", ".join(also)
    first_page = write_pages(out, experiments, results, whole_results, costs, facts, remeasure.summary(checks), quick)
    if failed is not None:
        raise failed
    return first_page


def _cost(experiment: Experiment, ledger: Ledger, scope: Scope, checks: Sequence[remeasure.Check]) -> ExperimentCost:
    """The time and the memory of the finished cells of a run."""
    cells = in_order(experiment.planned(scope))
    finished_lines = finished(experiment, ledger)
    lines = [finished_lines[cell.fields] for cell in cells if cell.fields in finished_lines]
    peaks = [line.get("megabytes", 0.0) for line in lines]  # lines of earlier versions have none
    peaks += [check.megabytes for check in checks if check.experiment == experiment.key]
    title = f"{experiment.paper}: {experiment.title}"
    seconds = sum(line["seconds"] for line in lines)
    return ExperimentCost(title, len(lines), len(cells), seconds, max(peaks, default=0.0))
