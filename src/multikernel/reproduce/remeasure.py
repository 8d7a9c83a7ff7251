"""Finished cells, measured once more: ``python -m multikernel.reproduce.remeasure DIR --data-dir DATA --also VERSION``.

There are two samples. Cells drawn at random, all with the same probability, show whether the present code gives the
stored numbers, and in which time. The longest cell of each experiment up to a limit of time, measured in the same
process as the drawn cells of the experiment, shows how much memory the experiment takes, which cells of earlier
versions do not record. The result is written to DIR/remeasured.jsonl, which the first page reports.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.files import write_whole
from multikernel.reproduce.catalogue import EXPERIMENTS
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.experiment import Cell
from multikernel.reproduce.results import Ledger, Line, plain
from multikernel.reproduce.running import finished, in_order, measured, stamp_of

NAME = "remeasured.jsonl"
_UNEQUAL = {
    "seconds",
    "certificate",
    "certificate of the weights",
    "inner gap",
}  # times, and gaps, of which only the limit is reproducible
_CLOSE = 1e-6
_ROUNDING = 1e-9  # numbers below are compared relative to this: a weight of zero may be computed as 1e-17
_TIMES = {"dpp/times"}  # experiments whose results are times


@dataclass(frozen=True)
class Check:
    """A cell that was measured again.

    Parameters
    ----------
    experiment, fields : the experiment and the fields of the cell
    drawn : bool, whether it was drawn at random
    before, now : float, processor seconds of the stored and of the new measurement
    package : str, the version of the new measurement
    megabytes : float, the peak memory of its process, which measures cells of this experiment only
    difference : float or None, the largest relative difference of two numbers, infinite where results differ in
        structure; None where the results are times
    number : str, the name of the number that differs most
    """

    experiment: str
    fields: Mapping[str, Any]
    drawn: bool
    before: float
    now: float
    package: str
    megabytes: float
    difference: float | None
    number: str = ""


def read(directory: Path) -> list[Check]:
    """The checks of a directory; empty where no cell was measured again."""
    file = directory / NAME
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Check(**json.loads(text)) for text in lines]


def farthest(stored: Any, remeasured: Any, path: str = "") -> tuple[float, str]:
    """The largest relative difference of two results, without times and certificates, and the path to this number."""
    if isinstance(stored, Mapping) and isinstance(remeasured, Mapping):
        if stored.keys() - _UNEQUAL != remeasured.keys() - _UNEQUAL:
            return math.inf, path
        differences = [
            farthest(stored[name], remeasured[name], f"{path} {name}".strip())
            for name in sorted(stored.keys() - _UNEQUAL)
        ]
        return max(differences, default=(0.0, path))
    if isinstance(stored, list) and isinstance(remeasured, list):
        if len(stored) != len(remeasured):
            return math.inf, path
        return max((farthest(a, b, path) for a, b in zip(stored, remeasured, strict=True)), default=(0.0, path))
    numbers = isinstance(stored, int | float) and isinstance(remeasured, int | float)
    if stored == remeasured or (numbers and math.isnan(stored) and math.isnan(remeasured)):
        return 0.0, path
    if not numbers or not math.isfinite(stored) or not math.isfinite(remeasured):
        return math.inf, path
    return abs(stored - remeasured) / max(abs(stored), abs(remeasured), _ROUNDING), path


@dataclass(frozen=True)
class StoredCell:
    """A cell to measure again, with its stored line and the result of the cell that it needs."""

    key: str
    cell: Cell
    line: Line
    prerequisite: Mapping[str, Any]
    drawn: bool


def cells_to_check(ledger: Ledger, source: DataSource, count: int, limit: float, seed: int) -> list[StoredCell]:
    """The random sample, and of each experiment the longest cell of at most ``limit`` seconds, by experiment."""
    candidates = []
    longest = []
    for experiment in EXPERIMENTS:
        finished_lines = finished(experiment, ledger)
        measurable = [
            StoredCell(
                experiment.key,
                cell,
                finished_lines[cell.fields],
                finished_lines[cell.needs.fields]["found"] if cell.needs else {},
                True,
            )
            for cell in in_order(experiment.cells(False))
            if cell.fields in finished_lines
            and source.has(cell.get("data", ""))
            and "test digits" not in finished_lines[cell.fields]["found"]
        ]
        candidates += measurable
        short_cells = [check for check in measurable if check.line["seconds"] <= limit]
        longest += sorted(short_cells, key=lambda check: check.line["seconds"])[-1:]
    indices = np.random.default_rng(seed).choice(len(candidates), size=min(count, len(candidates)), replace=False)
    drawn = [candidates[index] for index in sorted(indices)]
    longest_cells = [StoredCell(e.key, e.cell, e.line, e.prerequisite, False) for e in longest if e not in drawn]
    order = [experiment.key for experiment in EXPERIMENTS]
    return sorted([*drawn, *longest_cells], key=lambda check: order.index(check.key))


def _process() -> Executor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def check(sample: Sequence[StoredCell], source: DataSource, pool: Callable[[], Executor] = _process) -> Iterator[Check]:
    """Measure cells again; those of an experiment one after another in one process, which measures no others."""
    packages = {experiment.key: stamp_of(experiment).package for experiment in EXPERIMENTS}
    for key in dict.fromkeys(item.key for item in sample):
        with pool() as process:
            for item in sample:
                if item.key != key:
                    continue
                outcome = process.submit(measured, source, key, item.cell, item.prerequisite).result()
                remeasured = json.loads(json.dumps(dict(outcome.measurement), default=plain))
                difference, number = farthest(item.line["found"], remeasured)
                yield Check(
                    experiment=key,
                    fields=dict(item.cell.fields),
                    drawn=item.drawn,
                    before=item.line["seconds"],
                    now=round(outcome.seconds, 3),
                    package=packages[key],
                    megabytes=outcome.megabytes,
                    difference=None if key in _TIMES else difference,
                    number=number,
                )


def summary(checks: Sequence[Check]) -> str:
    """The result of the checks in sentences; "" where no cell was drawn."""
    drawn = [check for check in checks if check.drawn]
    if not drawn:
        return ""
    seconds_before = sum(check.before for check in drawn)
    seconds_now = sum(check.now for check in drawn)
    differences_of_drawn = [check.difference for check in drawn if check.difference is not None]
    same_count = sum(difference == 0.0 for difference in differences_of_drawn)
    close_count = sum(0.0 < difference <= _CLOSE for difference in differences_of_drawn)
    different = sorted(
        (check for check in drawn if (check.difference or 0.0) > _CLOSE), key=lambda check: -(check.difference or 0.0)
    )
    times_count = len(drawn) - len(differences_of_drawn)
    versions = ", ".join(dict.fromkeys(check.package for check in drawn))
    longest = max(check.before for check in drawn)
    differences = "; ".join(
        f"{check.number or 'a number'} of {check.experiment} by {check.difference:.2g}" for check in different
    )
    return (
        f"{len(drawn)} cells of at most {longest:.0f} seconds, drawn at random, were measured again by version "
        f"{versions}: {same_count} gave the kept numbers in all digits, and {close_count} others to a relative "
        f"{_CLOSE:g}. "
        + (f"The results of {times_count} are times, which were not compared. " if times_count else "")
        + (f"The largest relative differences of the {len(different)} others: {differences}. " if different else "")
        + f"They took {seconds_now:.0f} processor seconds, where the kept measurements took {seconds_before:.0f}."
    )


def main() -> None:
    """Draw cells, measure them, and write the checks."""
    parser = argparse.ArgumentParser(prog="python -m multikernel.reproduce.remeasure", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--also", action="append", default=[])
    arguments = parser.parse_args()
    source = DataSource(arguments.data_dir)
    ledger = Ledger(arguments.directory / "cells.jsonl", arguments.also)
    checks = []
    for result in check(cells_to_check(ledger, source, arguments.count, arguments.limit, arguments.seed), source):
        checks.append(result)
        times = f"{result.before} s, now {result.now} s"
        apart = "" if result.difference is None else f", apart by {result.difference:.2g} {result.number}"
        print(f"{result.experiment} {times}{apart}", flush=True)
    text = "".join(json.dumps(asdict(result)) + "\n" for result in checks)
    write_whole(arguments.directory / NAME, text.encode())


if __name__ == "__main__":
    main()
