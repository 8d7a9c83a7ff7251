"""Finished cells, measured once more: ``python -m multikernel.reproduce.again DIR --data-dir DATA --also VERSION``.

Two samples: cells that are drawn at random from all, each as likely as another, to see whether today's code gives the
numbers that are kept and in which time; and of each experiment the longest cell up to a limit, in the same process as
the drawn ones of it, to see how much memory it takes, which cells of earlier versions do not say. Writes
DIR/again.jsonl, which the first page reports.
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

NAME = "again.jsonl"
_UNEQUAL = {"seconds", "certificate", "inner gap"}  # times, and how far below its limit a gap ended
_CLOSE = 1e-6
_ROUNDING = 1e-9  # a weight that is zero comes out as 1e-17 or so: relative to this, not to itself
_TIMES = {"dpp/times", "nkrr/steps"}  # experiments whose results are times


@dataclass(frozen=True)
class Check:
    """A cell that was measured again.

    Parameters
    ----------
    experiment, fields : which
    drawn : bool, whether it is one of those drawn at random
    before, now : float, processor seconds
    package : str, the version that measured it now
    megabytes : float, the most memory of its process, which measures cells of this experiment only
    difference : float, the largest relative difference of two numbers, infinite where they have another form
    number : str, the name of the number that differs most
    """

    experiment: str
    fields: Mapping[str, Any]
    drawn: bool
    before: float
    now: float
    package: str
    megabytes: float
    difference: float
    number: str = ""


def read(directory: Path) -> list[Check]:
    """The checks of a directory; none where none were made."""
    file = directory / NAME
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Check(**json.loads(text)) for text in lines]


def farthest(old: Any, new: Any, place: str = "") -> tuple[float, str]:
    """The largest relative difference of two results, but for times and certificates, and the name of its number."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        if old.keys() != new.keys():
            return math.inf, place
        parts = [farthest(old[name], new[name], f"{place} {name}".strip()) for name in sorted(old.keys() - _UNEQUAL)]
        return max(parts, default=(0.0, place))
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return math.inf, place
        return max((farthest(a, b, place) for a, b in zip(old, new, strict=True)), default=(0.0, place))
    numbers = isinstance(old, int | float) and isinstance(new, int | float)
    if old == new or (numbers and math.isnan(old) and math.isnan(new)):
        return 0.0, place
    if not numbers or not math.isfinite(old) or not math.isfinite(new):
        return math.inf, place
    return abs(old - new) / max(abs(old), abs(new), _ROUNDING), place


@dataclass(frozen=True)
class CellAgain:
    """A cell to measure again, with its finished line and what it is given."""

    key: str
    cell: Cell
    line: Line
    given: Mapping[str, Any]
    drawn: bool


def chosen(ledger: Ledger, source: DataSource, count: int, limit: float, seed: int) -> list[CellAgain]:
    """The sample, and of each experiment the longest cell that takes at most ``limit`` seconds, by experiment."""
    every = []
    longest = []
    for experiment in EXPERIMENTS:
        done = finished(experiment, ledger)
        own = [
            CellAgain(
                experiment.key, cell, done[cell.fields], done[cell.needs.fields]["found"] if cell.needs else {}, True
            )
            for cell in in_order(experiment.cells(False))
            if cell.fields in done
            and source.has(cell.get("data", ""))
            and "test digits" not in done[cell.fields]["found"]
        ]
        every += own
        short = [each for each in own if each.line["seconds"] <= limit]
        longest += sorted(short, key=lambda each: each.line["seconds"])[-1:]
    places = np.random.default_rng(seed).choice(len(every), size=min(count, len(every)), replace=False)
    drawn = [every[place] for place in sorted(places)]
    others = [CellAgain(e.key, e.cell, e.line, e.given, False) for e in longest if e not in drawn]
    order = [experiment.key for experiment in EXPERIMENTS]
    return sorted([*drawn, *others], key=lambda each: order.index(each.key))


def _process() -> Executor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def check(sample: Sequence[CellAgain], source: DataSource, pool: Callable[[], Executor] = _process) -> Iterator[Check]:
    """Measure them, those of an experiment one after another in a process of their own."""
    packages = {experiment.key: stamp_of(experiment).package for experiment in EXPERIMENTS}
    for key in dict.fromkeys(each.key for each in sample):
        with pool() as process:
            for each in sample:
                if each.key != key:
                    continue
                now = process.submit(measured, source, key, each.cell, each.given).result()
                found = json.loads(json.dumps(dict(now.found), default=plain))
                apart, number = farthest(each.line["found"], found)
                yield Check(
                    experiment=key,
                    fields=dict(each.cell.fields),
                    drawn=each.drawn,
                    before=each.line["seconds"],
                    now=round(now.seconds, 3),
                    package=packages[key],
                    megabytes=now.megabytes,
                    difference=0.0 if key in _TIMES else apart,
                    number=number,
                )


def said(checks: Sequence[Check]) -> str:
    """What came out, in sentences; empty where nothing was checked."""
    drawn = [each for each in checks if each.drawn]
    if not drawn:
        return ""
    before = sum(each.before for each in drawn)
    now = sum(each.now for each in drawn)
    same = sum(each.difference == 0.0 for each in drawn)
    close = sum(0.0 < each.difference <= _CLOSE for each in drawn)
    apart = sorted((each for each in drawn if each.difference > _CLOSE), key=lambda each: -each.difference)
    versions = ", ".join(dict.fromkeys(each.package for each in drawn))
    longest = max(each.before for each in drawn)
    others = "; ".join(f"{each.number or 'a number'} of {each.experiment} by {each.difference:.2g}" for each in apart)
    return (
        f"{len(drawn)} cells of at most {longest:.0f} seconds, drawn at random, were measured again by version "
        f"{versions}: {same} gave the kept numbers to all digits, {close} others to {_CLOSE:g}. "
        + (f"The largest relative differences of the {len(apart)} others: {others}. " if apart else "")
        + f"They took {now:.0f} processor seconds, for {before:.0f} that are kept."
    )


def main() -> None:
    """Draw, measure, and write what came out."""
    parser = argparse.ArgumentParser(prog="python -m multikernel.reproduce.again", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--also", action="append", default=[])
    given = parser.parse_args()
    source = DataSource(given.data_dir)
    ledger = Ledger(given.directory / "cells.jsonl", given.also)
    checks = []
    for each in check(chosen(ledger, source, given.count, given.limit, given.seed), source):
        checks.append(each)
        print(
            f"{each.experiment} {each.before} s, now {each.now} s, apart by {each.difference:.2g} {each.number}",
            flush=True,
        )
    text = "".join(json.dumps(asdict(each)) + "\n" for each in checks)
    write_whole(given.directory / NAME, text.encode())


if __name__ == "__main__":
    main()
