"""The progress of a fit, from what estimators report: steps with a certificate, or lines about candidates."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from time import perf_counter
from typing import Protocol

from multikernel.observer import Progress, listening

_OFTEN = 0.2  # seconds between two lines
# Each line about a candidate counts as this share of the remaining fit, because the number of lines is not known: the
# four lines of a fit to 480 rows came after .16, .59, .75 and .84 of its time, and count as .40, .64, .78 and .87.
_LINE = 0.4


class Report(Protocol):
    """Receives the progress of a run."""

    def __call__(self, stage: str, part: float, said: str = "") -> None:
        """The stage, the share of the run that is done, and a message."""
        ...


class _Lines(io.TextIOBase):
    """Standard output during a fit: each line that the automatic estimator prints is a step of the progress."""

    def __init__(self, report: Report, stage: str, start: float, width: float) -> None:
        self.report = report
        self.stage = stage
        self.start = start
        self.width = width
        self.count = 0

    def write(self, text: str) -> int:
        for line in filter(None, map(str.strip, text.splitlines())):
            self.count += 1
            share = self.start + self.width * (1.0 - (1.0 - _LINE) ** self.count)
            self.report(self.stage, share, line.partition("] ")[2] or line)
        return len(text)


@contextmanager
def fitting(report: Report, stage: str, start: float, width: float) -> Iterator[None]:
    """Report the progress of the fit in this context: the run goes from ``start`` to ``start + width``, as shares."""
    report(stage, start)
    done: dict[int, float] = {}
    last_report = perf_counter()

    def show(progress: Progress) -> None:
        nonlocal last_report
        done[progress.problem] = progress.part
        if perf_counter() - last_report < _OFTEN:
            return
        last_report = perf_counter()
        if progress.problems > 1:
            of = f"problem {progress.problem} of {progress.problems}, "
        else:
            of = ""
        kind = {"duality gap": "gap"}.get(progress.certificate.kind, progress.certificate.kind)
        said = f"{of}step {progress.step}, {kind} {progress.certificate.value:.1e} (tol {progress.tol:.0e})"
        report(stage, start + width * min(sum(done.values()) / progress.problems, 0.95), said)

    with listening(show), redirect_stdout(_Lines(report, stage, start, width)):
        yield
