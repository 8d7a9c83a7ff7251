"""The rows of the report, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel.reproduce.catalogue import STATED
from multikernel.reproduce.verdict import Mark, Measured, Verdict

SIGNS = {
    Mark.WITHIN: "✓ within",
    Mark.BETTER: "▲ better",
    Mark.WORSE: "▼ worse",
    Mark.NOT_COMPARABLE: "not comparable",
    Mark.NOT_RUN: "not run",
}


@dataclass(frozen=True)
class Counts:
    """How many published numbers have which verdict.

    Parameters
    ----------
    within, better : as the paper states it
    agreeing : worse as stated, and within or better in a named variant
    explained : worse, with a cause that has a name
    unexplained : worse, without
    not_comparable, not_run : without a measured number
    """

    within: int
    better: int
    agreeing: int
    explained: int
    unexplained: int
    not_comparable: int
    not_run: int

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> Counts:
        marks = [v.mark for v in verdicts]
        worse = [v for v in verdicts if v.mark is Mark.WORSE]
        agreeing = sum(bool(v.agreeing) for v in worse)
        explained = sum(bool(v.cause) and not v.agreeing for v in worse)
        return cls(
            marks.count(Mark.WITHIN),
            marks.count(Mark.BETTER),
            agreeing,
            explained,
            len(worse) - agreeing - explained,
            marks.count(Mark.NOT_COMPARABLE),
            marks.count(Mark.NOT_RUN),
        )

    @property
    def comparable(self) -> int:
        return self.within + self.better + self.agreeing + self.explained + self.unexplained

    @property
    def total(self) -> int:
        return self.comparable + self.not_comparable + self.not_run

    @property
    def share(self) -> str:
        """Of the comparable numbers how many are within or better, as stated and with named variants."""
        if not self.comparable:
            return "-"
        good = self.within + self.better
        return f"{100 * good / self.comparable:.0f} % ({100 * (good + self.agreeing) / self.comparable:.0f} %)"


@dataclass(frozen=True)
class ExperimentCost:
    """What an experiment takes.

    Parameters
    ----------
    title : str
    finished, count : how many of its cells are measured, and how many there are
    seconds : float, of a processor, for those that are measured
    """

    title: str
    finished: int
    count: int
    seconds: float

    @classmethod
    def of(cls, costs: Sequence[ExperimentCost]) -> ExperimentCost:
        """All of them together."""
        return cls("in all", sum(c.finished for c in costs), sum(c.count for c in costs), sum(c.seconds for c in costs))

    @property
    def hours(self) -> str:
        return f"{self.seconds / 3600:.2f}"

    @property
    def each(self) -> str:
        """Seconds of a cell."""
        return f"{self.seconds / self.finished:.2g}" if self.finished else "-"


def number(value: float | str, like: str = "") -> str:
    """A number with one digit more than the published one has; a word as it is."""
    if isinstance(value, str):
        return value or "left out"
    if not np.isfinite(value):
        return "not finite"
    if like.replace(".", "").replace("-", "").isdigit():
        digits = len(like.partition(".")[2]) + 1
    else:
        digits = 2
    return f"{value:.{digits}f}" if abs(value) < 1e5 else f"{value:.3g}"


def printed(measured: Measured, like: str) -> str:
    """A measured number with its deviation, or its ends."""
    if measured.low is not None and measured.high is not None:
        return f"{number(measured.low, '0.0')} to {number(measured.high, '0.0')}"
    if not isinstance(measured.value, str) and number(measured.value, like).rstrip("0").rstrip(".") == like:
        return like
    if not isinstance(measured.value, str) and float(measured.value).is_integer() and not measured.deviation:
        return f"{measured.value:.0f}"
    spread = f" ({number(measured.deviation, like)})" if measured.deviation else ""
    return number(measured.value, like) + spread


@dataclass(frozen=True)
class Line:
    """One published number as a line of a table."""

    data: str
    method: str
    what: str
    published: str
    stated: str
    count: str
    sign: str
    style: str
    variants: str
    remark: str


def line(verdict: Verdict) -> Line:
    """A published number beside the measured ones, with the verdict."""
    row = verdict.row
    spread = f" ({row.deviation:g})" if row.deviation else ""
    stated = verdict.measured.get(STATED)
    others = []
    for name, measured in verdict.measured.items():
        if name != STATED:
            tick = " ✓" if name in verdict.agreeing else ""
            others.append(f"{name} {printed(measured, row.value)}{tick}")
    sign = SIGNS[verdict.mark]
    style = verdict.mark.name.lower().replace("_", "-")
    remark = verdict.cause
    if verdict.mark is Mark.WORSE:
        if not verdict.directed:
            sign = "≠ differs"
        if verdict.agreeing:
            sign += " (variant ✓)"
            style += " agreeing"
        else:
            remark = remark or "open"
    return Line(
        data=row.data,
        method=row.method,
        what=", ".join(filter(None, (row.setting, row.metric))),
        published=(row.value or "left out") + spread,
        stated=printed(stated, row.value) if stated else "",
        count=str(stated.count) if stated and stated.count > 1 else "",
        sign=sign,
        style=style,
        variants="; ".join(others),
        remark=remark[:1].upper() + remark[1:],
    )
