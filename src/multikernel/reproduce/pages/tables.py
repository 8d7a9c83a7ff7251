"""The rows of the report, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multikernel.reproduce.published import Kind
from multikernel.reproduce.verdict import STATED, Agreement, Mark, Measured, Verdict

SIGNS = {
    Mark.WITHIN: "✓ within",
    Mark.BETTER: "▲ better",
    Mark.WORSE: "▼ worse",
    Mark.OTHER: "≠ differs",
    Mark.NOT_COMPARABLE: "not comparable",
    Mark.NOT_RUN: "not run",
}


@dataclass(frozen=True)
class Counts:
    """The numbers of published results by their verdict.

    Parameters
    ----------
    within : results that agree as the paper states them, by a measure of agreement
    by_deviation, by_errors : of these, within one published deviation, and within two standard errors of the difference
    by_digits : of these, numbers without any deviation that round to the published one, or lie in the published range
    strictly_judged : judged results to which another measure than the published deviation applies
    with_deviation : judged results with a published deviation
    variant : results that agree only in a variant that was not chosen by looking at the published numbers
    fitted : results that agree only in a variant that was
    better, worse, other : results that agree in no variant, by how they differ as stated
    unexplained : of these three, results without a known cause
    not_comparable : results without a verdict: not measured, or measured on something else, or too variable
    not_run : results without a measured number as stated
    """

    within: int
    by_deviation: int
    by_errors: int
    by_digits: int
    strictly_judged: int
    with_deviation: int
    variant: int
    fitted: int
    better: int
    worse: int
    other: int
    unexplained: int
    not_comparable: int
    not_run: int

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> Counts:
        """The counts of some verdicts; numbers that are not results are ignored."""
        results = [v for v in verdicts if v.row.kind is Kind.RESULT]
        within = [v for v in results if v.mark is Mark.WITHIN]
        differing = [v for v in results if v.differs]
        in_no_variant = [v for v in differing if not v.agreeing]
        agreements = [v.agreement[STATED] for v in within]
        fitted = sum(bool(v.agreeing) and set(v.agreeing) == set(v.fitted) for v in differing)

        def marked(mark: Mark, among: Sequence[Verdict] = in_no_variant) -> int:
            return sum(v.mark is mark for v in among)

        return cls(
            within=len(within),
            by_deviation=sum(bool(a.deviation) for a in agreements),
            by_errors=sum(bool(a.errors) and a.decisive for a in agreements),
            by_digits=sum(a.errors is None and not a.deviation for a in agreements),
            strictly_judged=sum(
                v.agreement[STATED].errors is not None or v.row.deviation is None for v in (*within, *differing)
            ),
            with_deviation=sum(v.row.deviation is not None for v in (*within, *differing)),
            variant=len(differing) - len(in_no_variant) - fitted,
            fitted=fitted,
            better=marked(Mark.BETTER),
            worse=marked(Mark.WORSE),
            other=marked(Mark.OTHER),
            unexplained=sum(not v.explained for v in in_no_variant),
            not_comparable=marked(Mark.NOT_COMPARABLE, results),
            not_run=marked(Mark.NOT_RUN, results),
        )

    @property
    def judged(self) -> int:
        """The number of results that are compared with a measured number."""
        return self.within + self.variant + self.fitted + self.better + self.worse + self.other

    @property
    def strictly(self) -> int:
        """The results that agree by another measure than one published deviation."""
        return self.by_errors + self.by_digits

    @property
    def total(self) -> int:
        return self.judged + self.not_comparable + self.not_run

    def share(self, count: int) -> str:
        """A count in percent of the judged results."""
        if self.judged:
            return f"{100 * count / self.judged:.0f} %"
        return "-"

    @property
    def stated_share(self) -> str:
        return self.share(self.within)

    @property
    def variant_share(self) -> str:
        return self.share(self.within + self.variant)

    @property
    def fitted_share(self) -> str:
        return self.share(self.within + self.variant + self.fitted)


@dataclass(frozen=True)
class ExperimentCost:
    """The time and the memory of an experiment.

    Parameters
    ----------
    title : str
    finished, count : the number of finished cells, and of all cells
    seconds : float, of a processor, for the finished cells
    megabytes : float, the peak memory of a process that measured cells; 0 where it is unknown
    """

    title: str
    finished: int
    count: int
    seconds: float
    megabytes: float = 0.0

    @classmethod
    def of(cls, costs: Sequence[ExperimentCost]) -> ExperimentCost:
        """The cost of all experiments together."""
        return cls(
            "in all",
            sum(c.finished for c in costs),
            sum(c.count for c in costs),
            sum(c.seconds for c in costs),
            max((c.megabytes for c in costs), default=0.0),
        )

    @property
    def hours(self) -> str:
        return f"{self.seconds / 3600:.2f}"

    @property
    def each(self) -> str:
        """Seconds of a cell."""
        if self.finished:
            return f"{self.seconds / self.finished:.2g}"
        return "-"

    @property
    def memory(self) -> str:
        """In gigabytes."""
        if self.megabytes:
            return f"{self.megabytes / 1000:.2f}"
        return "-"


def number(value: float | str, like: str = "") -> str:
    """A number with one digit more than the published one, ``like``; a word is returned unchanged."""
    if isinstance(value, str):
        return value or "left out"
    if not np.isfinite(value):
        return "not finite"
    if like.strip("<>~").replace(".", "").replace("-", "").isdigit():
        digits = len(like.partition(".")[2]) + 1
    else:
        digits = 2
    if abs(value) < 1e5:
        return f"{value:.{digits}f}"
    return f"{value:.3g}"


def printed(measured: Measured, like: str) -> str:
    """A measured number with its deviation, or its ends."""
    if measured.low is not None and measured.high is not None:
        if measured.low.is_integer() and measured.high.is_integer():
            return f"{measured.low:.0f} to {measured.high:.0f}"
        return f"{number(measured.low, '0.0')} to {number(measured.high, '0.0')}"
    if measured.deviation == 0.0 and number(measured.value, like).rstrip("0").rstrip(".") == like:
        return like
    if not isinstance(measured.value, str) and float(measured.value).is_integer() and not measured.deviation:
        return f"{measured.value:.0f}"
    if measured.deviation:
        spread = f" ({number(measured.deviation, like)})"
    else:
        spread = ""
    return number(measured.value, like) + spread


def measure(agreement: Agreement | None, by_errors: bool) -> str:
    """One measure of agreement, as a tick; empty where it does not apply."""
    if agreement is None:
        return ""
    agrees = agreement.errors if by_errors else agreement.deviation
    if agrees is None:
        return ""
    if agrees:
        return "✓"
    return "–"


@dataclass(frozen=True)
class TableLine:
    """One published number as a line of a table, each cell as text."""

    place: str
    data: str
    method: str
    what: str
    published: str
    stated: str
    count: str
    by_deviation: str
    by_errors: str
    sign: str
    style: str
    variants: str
    remark: str
    ratio: str


def table_line(verdict: Verdict) -> TableLine:
    """A published number beside the measured ones, with the verdict."""
    row = verdict.row
    spread = f" ({row.deviation:g})" if row.deviation else ""
    stated_number = verdict.measured.get(STATED)
    variants = []
    for name, measured in verdict.measured.items():
        if name != STATED:
            tick = ""
            if name in verdict.agreement and verdict.agreement[name].within:
                tick = " ✓" if name in verdict.agreeing or not verdict.differs else " (✓)"
            times = ""
            if measured.count > 1 and stated_number is not None and measured.count != stated_number.count:
                times = f" in {measured.count}"
            variants.append(f"{name} {printed(measured, row.value)}{times}{tick}")
    sign = SIGNS[verdict.mark]
    style = verdict.mark.name.lower().replace("_", "-")
    remark = verdict.cause
    if verdict.differs:
        style += " differs"
        if verdict.agreeing:
            if set(verdict.agreeing) == set(verdict.fitted):
                kind = "fitted"
            else:
                kind = "reading"
            sign += f" ({kind} ✓)"
            style += " agreeing"
        else:
            remark = remark or f"The cause is not known. {verdict.remark[:1].upper()}{verdict.remark[1:]}".strip()
    agreement = verdict.agreement.get(STATED)
    if verdict.quoted:
        sign = "quoted" if agreement is None else f"quoted, {'agrees' if agreement.within else 'differs'}"
    measured_text = ""
    count = ""
    if stated_number:
        measured_text = printed(stated_number, row.value)
        if stated_number.count > 1:
            count = str(stated_number.count)
    return TableLine(
        place=row.place,
        data=row.data,
        method=row.method,
        what=", ".join(filter(None, (row.setting, row.metric))),
        published=(row.value or "left out") + spread,
        stated=measured_text,
        count=count,
        by_deviation=measure(agreement, by_errors=False),
        by_errors=measure(agreement, by_errors=True),
        sign=sign,
        style=style,
        variants="; ".join(variants),
        remark=remark[:1].upper() + remark[1:],
        ratio=_ratio(row.value, stated_number),
    )


def _ratio(value: str, measured: Measured | None) -> str:
    """The published time divided by the measured one."""
    if measured is None or isinstance(measured.value, str) or not value.replace(".", "").isdigit():
        return ""
    if measured.value:
        return f"{float(value) / measured.value:.3g}"
    return ""


@dataclass(frozen=True)
class VariantCount:
    """The numbers of results of an experiment that one variant reproduces.

    Parameters
    ----------
    name : "stated", or the variant
    judged : the number of its results
    by_deviation, by_errors, within : the numbers that agree by the first measure, by the second, and by any
    """

    name: str
    judged: int
    by_deviation: int
    by_errors: int
    within: int


def variant_counts(verdicts: Sequence[Verdict], names: Sequence[str]) -> list[VariantCount]:
    """The counts of each variant separately, so that no row takes the variant that fits it best."""
    counts = []
    for name in names:
        agreements = [
            v.agreement[name] for v in verdicts if name in v.agreement and v.row.kind is Kind.RESULT and not v.quoted
        ]
        counts.append(
            VariantCount(
                name,
                len(agreements),
                sum(bool(a.deviation) for a in agreements),
                sum(bool(a.errors) and a.decisive for a in agreements),
                sum(a.within for a in agreements),
            )
        )
    return [count for count in counts if count.judged]


def headline(verdicts: Sequence[Verdict], quick: bool = False) -> str:
    """The state of the reproduction in a few sentences, or of a quick run, whose numbers are of too few cells."""
    counts = Counts.of(verdicts)
    differing = counts.better + counts.worse + counts.other
    text = "This is a quick run: its verdicts are those of a few cells of each experiment. " if quick else ""
    text += (
        f"Of {counts.judged} published results, {counts.within} ({counts.stated_share}) are reproduced as the papers "
        f"state the experiments: {counts.by_deviation} of the {counts.with_deviation} with a published standard "
        f"deviation lie within this deviation, and {counts.strictly} of the {counts.strictly_judged} to which a "
        "stricter measure applies, two standard errors of the difference or all printed digits, agree by this one. "
        f"{counts.variant} more {'is' if counts.variant == 1 else 'are'} reproduced in another reading of what a paper "
        f"leaves open ({counts.variant_share} in all), {counts.fitted} only where parameters, samples or preparations "
        f"were found by looking at the published numbers ({counts.fitted_share} in all), and {differing} in no variant "
        "that counts: "
        f"{counts.better} are better, {counts.worse} worse, {counts.other} neither; for {counts.unexplained} of these "
        "no cause is known."
    )
    quoted = [verdict for verdict in verdicts if verdict.quoted and verdict.row.kind is Kind.RESULT]
    if counts.not_comparable > len(quoted):
        text += f" {counts.not_comparable - len(quoted)} more results are not compared, each with its reason."
    if not quoted:
        return text
    measured = [verdict.agreement[STATED].within for verdict in quoted if verdict.agreement]
    return (
        f"{text} {len(quoted)} numbers are quoted by a paper from others, and are not counted: {len(measured)} of "
        f"them are measured here, and {sum(measured)} are reproduced."
    )
