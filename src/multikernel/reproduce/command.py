"""What ``multikernel reproduce`` does: measure what is missing, then write the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from multikernel.reproduce.catalogue import chosen
from multikernel.reproduce.pages import write_pages
from multikernel.reproduce.results import Ledger
from multikernel.reproduce.running import finished, results_of, run, stamp_of
from multikernel.reproduce.sources import Source

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
    tell: Callable[[str], None] = print,
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
    tell : called with each line of progress

    Returns
    -------
    Path, the first page

    Raises
    ------
    ValueError : where the paper has no such table or figure, and where cells could not be measured
    """
    experiments = chosen(paper, table, figure)
    out.mkdir(parents=True, exist_ok=True)
    ledger, source = Ledger(out / CELLS), Source(data_dir)
    stale = sum(ledger.stale(stamp_of(each)) for each in experiments)
    if stale:
        tell(f"{stale} cells in {out / CELLS} are of another version, protocol or tolerance, and are measured anew")
    missing = sorted({c["data"] for e in experiments for c in e.cells(quick) if not source.has(c.get("data", ""))})
    if missing:
        tell(f"left out, since the data are not there: {', '.join(missing)}")
    run(experiments, ledger, source, quick=quick, jobs=jobs, tell=tell)
    results = {each.key: results_of(each, ledger, quick) for each in experiments}
    hours = sum(line["seconds"] for each in experiments for line in finished(each, ledger).values()) / 3600
    facts = {
        "extent": "a few cells of each experiment (--quick)" if quick else "all cells",
        "core-hours": f"{hours:.2f}",
    }
    return write_pages(out, experiments, results, facts)
