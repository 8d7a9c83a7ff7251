"""Measuring the cells that are not in the file yet, on processes; each is kept as soon as it is finished."""

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
from multikernel.reproduce.experiment import Cell, Experiment, Scope
from multikernel.reproduce.results import Ledger, Results, Stamp

Report = Callable[[str], None]
Fields = tuple[tuple[str, Any], ...]
_STATUS = Path("/proc/self/status")  # where Linux reports the memory of this process
_REFERENCES = Path("/proc/self/clear_refs")  # writing "5" to it resets the peak of the memory


@dataclass(frozen=True)
class Outcome:
    """The result of measuring a cell.

    Parameters
    ----------
    measurement : dict of numbers and lists
    seconds : float, of a processor
    megabytes : float, the peak memory of the process during the cell, or since its start where the system cannot reset
        the peak, as on macOS; 0 where the system does not report it
    """

    measurement: Mapping[str, Any]
    seconds: float
    megabytes: float


@dataclass(frozen=True)
class CellTask:
    """One cell of one experiment."""

    experiment: Experiment
    cell: Cell


def stamp_of(experiment: Experiment) -> Stamp:
    """The stamp that cells of an experiment must have to be accepted."""
    return Stamp.of(experiment.key, experiment.version, experiment.tol)


def finished(experiment: Experiment, ledger: Ledger) -> dict[Fields, Any]:
    """The finished cells of an experiment by their fields: the lines of the file."""
    return {tuple(line["fields"].items()): line for line in ledger.lines(stamp_of(experiment))}


def results_of(experiment: Experiment, ledger: Ledger, scope: Scope = Scope.USUAL) -> Results:
    """The finished cells of an experiment, in the order of its cells."""
    finished_lines = finished(experiment, ledger)
    cells = [cell for cell in experiment.planned(scope) if cell.fields in finished_lines]
    return Results(tuple((dict(cell.fields), finished_lines[cell.fields]["found"]) for cell in cells))


def run(
    experiments: Sequence[Experiment], ledger: Ledger, source: DataSource, *, scope: Scope, jobs: int, report: Report
) -> None:
    """Measure the missing cells of some experiments.

    Parameters
    ----------
    experiments : in the order in which they are run
    ledger : where finished cells are kept
    source : of the data sets; cells whose data set cannot be loaded are left out
    scope : Scope, which cells of each experiment
    jobs : int, the number of processes; with 1 cells are measured in this process
    report : called with a line for each finished cell
    """
    finished_cells = {experiment.key: finished(experiment, ledger) for experiment in experiments}
    tasks = [
        CellTask(experiment, cell)
        for experiment in experiments
        for cell in in_order(experiment.planned(scope))
        if cell.fields not in finished_cells[experiment.key] and source.has(cell.get("data", ""))
    ]
    clock = _Clock(tasks, jobs)
    failures = list[str]()
    with _broken_pool_as_value_error(), _workers(jobs, source) as submit:
        for task, future in _outcomes(tasks, finished_cells, submit, 1 if jobs == 1 else 2 * jobs):
            try:
                outcome = future.result()
            except Exception as error:  # the other cells are measured nevertheless
                failures.append(f"{task.experiment.key} {task.cell}: {type(error).__name__}: {error}")
                report(f"failed: {failures[-1]}")
                finished_cells[task.experiment.key][task.cell.fields] = {"found": None}
                continue
            finished_cells[task.experiment.key][task.cell.fields] = {"found": outcome.measurement}
            ledger.add(stamp_of(task.experiment), dict(task.cell.fields), **vars(outcome))
            seconds = outcome.seconds
            report(f"{task.experiment.key} {task.cell}: {seconds:.1f} s, {clock.after(task, seconds)}")
    if failures:
        raise ValueError(f"{len(failures)} cells could not be measured; the first: {failures[0]}")


@contextmanager
def _broken_pool_as_value_error() -> Iterator[None]:
    """ValueError where a process that measures cells was killed, after which the pool measures no further cells."""
    try:
        yield
    except BrokenExecutor:
        raise ValueError(
            "a process that measured cells was killed, as the system does where memory is short; finished cells are "
            "kept: run this again, with fewer --jobs"
        ) from None


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell once, after the one that it needs."""
    ordered: dict[Fields, Cell] = {}
    for cell in cells:
        for item in (cell.needs, cell):
            if item is not None:
                ordered.setdefault(item.fields, item)
    return list(ordered.values())


def _outcomes(
    tasks: Sequence[CellTask],
    finished_cells: Mapping[str, Mapping[Fields, Any]],
    submit: Callable[..., Future[Outcome]],
    limit: int,
) -> Iterator[tuple[CellTask, Future[Outcome]]]:
    """Each task when it is finished; ``limit`` are submitted at a time, each after the cell that it needs."""
    pending = list(tasks)
    running = dict[Future[Outcome], CellTask]()
    while pending or running:
        ready = (index for index, task in enumerate(pending) if _prerequisite(task, finished_cells) is not None)
        for index in reversed(list(islice(ready, limit - len(running)))):
            task = pending.pop(index)
            running[submit(task.experiment.key, task.cell, _prerequisite(task, finished_cells))] = task
        if not running:  # the cells that the pending tasks need could not be measured
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future


def _prerequisite(task: CellTask, finished_cells: Mapping[str, Mapping[Fields, Any]]) -> Mapping[str, Any] | None:
    """The measurement of the cell that the task needs; None while it is not finished."""
    needs = task.cell.needs
    if needs is None:
        return {}
    line = finished_cells[task.experiment.key].get(needs.fields)
    if line is None:
        return None
    return line["found"]


class _Clock:
    """The number of finished cells, and an estimate of the remaining time."""

    def __init__(self, tasks: Sequence[CellTask], jobs: int) -> None:
        self._jobs = jobs
        self._count = 0
        self._total = len(tasks)
        self._remaining: dict[str, int] = {}
        self._seconds: dict[str, list[float]] = {}
        self._first = {task.experiment.key: task.experiment.seconds for task in tasks}
        for task in tasks:
            key = task.experiment.key
            self._remaining[key] = self._remaining.get(key, 0) + 1
            self._seconds.setdefault(key, [])

    def after(self, task: CellTask, seconds: float) -> str:
        """A text about the progress, after a task is finished."""
        key = task.experiment.key
        self._count += 1
        self._remaining[key] -= 1
        self._seconds[key].append(seconds)
        mean_seconds = {
            name: sum(seconds_of_cells) / len(seconds_of_cells) if seconds_of_cells else self._first[name]
            for name, seconds_of_cells in self._seconds.items()
        }
        remaining = sum(mean_seconds[name] * count for name, count in self._remaining.items()) / self._jobs
        return f"cell {self._count} of {self._total}, {_duration(remaining)} left"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


@contextmanager
def _workers(jobs: int, source: DataSource) -> Iterator[Callable[..., Future[Outcome]]]:
    """A function that measures a cell, in this process or in another one."""
    if jobs == 1:
        yield lambda *task: _immediate(source, *task)
        return
    context = multiprocessing.get_context("spawn")  # a process that has threads cannot be forked safely
    with ProcessPoolExecutor(jobs, context, _end_with_parent) as pool:
        try:
            yield lambda *task: pool.submit(measured, source, *task)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _immediate(source: DataSource, *task: Any) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    try:
        future.set_result(measured(source, *task))
    except Exception as error:
        future.set_exception(error)
    return future


def measured(source: DataSource, key: str, cell: Cell, prerequisite: Mapping[str, Any]) -> Outcome:
    """The measurement of a cell, with linear algebra on one thread, and its time and memory."""
    from multikernel.reproduce.catalogue import experiment  # imported here, as it imports all experiments

    with suppress(OSError):
        _REFERENCES.write_text("5")
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the certificates that were reached are in the results
        measurement = experiment(key).measure(cell, source, prerequisite)
    return Outcome(measurement, time.process_time() - start, _peak_memory())


def _peak_memory() -> float:
    """The peak memory of this process in megabytes; 0 where the system does not report it."""
    if _STATUS.exists():
        status = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)
        return float(status.get("VmHWM", "0").split()[0]) / 1024.0
    try:
        import resource
    except ImportError:  # on Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0**2  # bytes on macOS


def _end_with_parent() -> None:
    """End this process when the process that started it has ended, even if it was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
