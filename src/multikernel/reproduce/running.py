"""Measuring cells: those that are not in the file yet, on processes, each kept as soon as it is finished."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from multikernel.reproduce.data import DataSource
from multikernel.reproduce.experiment import Cell, Experiment, Extent
from multikernel.reproduce.results import Ledger, Results, Stamp

Report = Callable[[str], None]
Fields = tuple[tuple[str, Any], ...]
_STATUS = Path("/proc/self/status")  # what Linux says of this process
_REFERENCES = Path("/proc/self/clear_refs")  # 5, written to it, lets the peak of the memory begin anew


@dataclass(frozen=True)
class Outcome:
    """What a cell gave.

    Parameters
    ----------
    found : by name
    seconds : float, of a processor
    megabytes : float, the most memory that the process held meanwhile, with what it had held before the cell; 0 where
        the system does not say. Where it cannot begin anew, as on macOS, the most that the process has held so far
    """

    found: Mapping[str, Any]
    seconds: float
    megabytes: float


@dataclass(frozen=True)
class CellTask:
    """One cell of one experiment."""

    experiment: Experiment
    cell: Cell


def stamp_of(experiment: Experiment) -> Stamp:
    """What cells of an experiment must have been computed with to count."""
    return Stamp.of(experiment.key, experiment.version, experiment.tol)


def finished(experiment: Experiment, ledger: Ledger) -> dict[Fields, Any]:
    """The finished cells of an experiment by their fields: the lines of the file."""
    return {tuple(line["fields"].items()): line for line in ledger.lines(stamp_of(experiment))}


def results_of(experiment: Experiment, ledger: Ledger, extent: Extent = Extent.USUAL) -> Results:
    """What there is of an experiment, in the order of its cells."""
    done = finished(experiment, ledger)
    cells = [cell for cell in experiment.planned(extent) if cell.fields in done]
    return Results(tuple((dict(cell.fields), done[cell.fields]["found"]) for cell in cells))


def run(
    experiments: Sequence[Experiment], ledger: Ledger, source: DataSource, *, extent: Extent, jobs: int, report: Report
) -> None:
    """Measure what is missing of some experiments.

    Parameters
    ----------
    experiments : in the order in which they are run
    ledger : where finished cells are kept
    source : where the data are; cells whose data are not there are left out
    extent : Extent, how much of each
    jobs : int, how many processes; with 1 everything happens in this one
    report : called with a line for each finished cell
    """
    done = {experiment.key: finished(experiment, ledger) for experiment in experiments}
    tasks = [
        CellTask(experiment, cell)
        for experiment in experiments
        for cell in in_order(experiment.planned(extent))
        if cell.fields not in done[experiment.key] and source.has(cell.get("data", ""))
    ]
    clock = _Clock(tasks, jobs)
    failures = list[str]()
    with _one_sentence(), _workers(jobs, source) as submit:
        for task, future in _outcomes(tasks, done, submit, 1 if jobs == 1 else 2 * jobs):
            try:
                outcome = future.result()
            except Exception as error:  # the other cells are measured all the same
                failures.append(f"{task.experiment.key} {task.cell}: {type(error).__name__}: {error}")
                report(f"failed: {failures[-1]}")
                done[task.experiment.key][task.cell.fields] = {"found": None}
                continue
            done[task.experiment.key][task.cell.fields] = {"found": outcome.found}
            ledger.add(stamp_of(task.experiment), dict(task.cell.fields), **vars(outcome))
            seconds = outcome.seconds
            report(f"{task.experiment.key} {task.cell}: {seconds:.1f} s, {clock.after(task, seconds)}")
    if failures:
        raise ValueError(f"{len(failures)} cells could not be measured; the first: {failures[0]}")


@contextmanager
def _one_sentence() -> Iterator[None]:
    """ValueError where a process that measures was killed, after which no further cell can be measured."""
    try:
        yield
    except BrokenExecutor:
        raise ValueError(
            "a process that measured cells was killed, as the system does where memory is short; finished cells are "
            "kept: run this again, with fewer --jobs"
        ) from None


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell once, after the one that it needs."""
    every: dict[Fields, Cell] = {}
    for cell in cells:
        for one in (cell.needs, cell):
            if one is not None:
                every.setdefault(one.fields, one)
    return list(every.values())


def _outcomes(
    tasks: Sequence[CellTask],
    done: Mapping[str, Mapping[Fields, Any]],
    submit: Callable[..., Future[Outcome]],
    most: int,
) -> Iterator[tuple[CellTask, Future[Outcome]]]:
    """Every task as it is finished, at most ``most`` at a time; one starts once the cell that it needs is there."""
    waiting = list(tasks)
    running = dict[Future[Outcome], CellTask]()
    while waiting or running:
        ready = (place for place, task in enumerate(waiting) if _given(task, done) is not None)
        for place in reversed(list(islice(ready, most - len(running)))):
            task = waiting.pop(place)
            running[submit(task.experiment.key, task.cell, _given(task, done))] = task
        if not running:  # what the others need could not be measured
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future


def _given(task: CellTask, done: Mapping[str, Mapping[Fields, Any]]) -> Mapping[str, Any] | None:
    """What the cell that the task needs gave; None while it is not there."""
    needs = task.cell.needs
    if needs is None:
        return {}
    line = done[task.experiment.key].get(needs.fields)
    if line is None:
        return None
    return line["found"]


class _Clock:
    """How many cells are left, and how long they will take."""

    def __init__(self, tasks: Sequence[CellTask], jobs: int) -> None:
        self._jobs = jobs
        self._count = 0
        self._total = len(tasks)
        self._left: dict[str, int] = {}
        self._seconds: dict[str, list[float]] = {}
        self._first = {task.experiment.key: task.experiment.seconds for task in tasks}
        for task in tasks:
            key = task.experiment.key
            self._left[key] = self._left.get(key, 0) + 1
            self._seconds.setdefault(key, [])

    def after(self, task: CellTask, seconds: float) -> str:
        """What is said once a task is finished."""
        key = task.experiment.key
        self._count += 1
        self._left[key] -= 1
        self._seconds[key].append(seconds)
        each = {name: sum(taken) / len(taken) if taken else self._first[name] for name, taken in self._seconds.items()}
        left = sum(each[name] * count for name, count in self._left.items()) / self._jobs
        return f"cell {self._count} of {self._total}, {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


@contextmanager
def _workers(jobs: int, source: DataSource) -> Iterator[Callable[..., Future[Outcome]]]:
    """A function that measures a cell, here or on another process."""
    if jobs == 1:
        yield lambda *task: _at_once(source, *task)
        return
    context = multiprocessing.get_context("spawn")  # a process that has threads cannot be forked safely
    with ProcessPoolExecutor(jobs, context, _end_with_parent) as pool:
        try:
            yield lambda *task: pool.submit(measured, source, *task)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _at_once(source: DataSource, *task: Any) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    try:
        future.set_result(measured(source, *task))
    except Exception as error:
        future.set_exception(error)
    return future


def measured(source: DataSource, key: str, cell: Cell, given: Mapping[str, Any]) -> Outcome:
    """What is found in a cell, with linear algebra on one thread, and what it took."""
    from multikernel.reproduce.catalogue import experiment  # which imports every experiment

    with suppress(OSError):
        _REFERENCES.write_text("5")
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was reached stands in the results
        found = experiment(key).measure(cell, source, given)
    return Outcome(found, time.process_time() - start, _peak_memory())


def _peak_memory() -> float:
    """The most megabytes that this process has held; 0 where the system does not say."""
    if _STATUS.exists():
        known = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)
        return float(known.get("VmHWM", "0").split()[0]) / 1024.0
    try:
        import resource
    except ImportError:  # on Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0**2  # bytes on macOS


def _end_with_parent() -> None:
    """End this process once the one that started it has ended, even where that was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
