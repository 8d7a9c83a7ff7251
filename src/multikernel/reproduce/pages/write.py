"""The pages as HTML, each one file that needs no other file and no network."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from multikernel.files import write_whole
from multikernel.html import inline_svg, provenance, templates
from multikernel.reproduce.catalogue import bindings, verdict_on
from multikernel.reproduce.experiment import Experiment, Figure
from multikernel.reproduce.pages.numbers import NumbersOfFigure
from multikernel.reproduce.pages.tables import (
    Counts,
    ExperimentCost,
    TableLine,
    VariantCount,
    headline,
    table_line,
    variant_counts,
)
from multikernel.reproduce.published import AUTHORS, PAPERS, Kind, published
from multikernel.reproduce.results import Results
from multikernel.reproduce.verdict import STATED, Mark, Verdict


@dataclass(frozen=True)
class Section:
    """One experiment on a page.

    Parameters
    ----------
    experiment : Experiment
    results : of the cells of this run
    whole_results : of the finished cells of a whole run; the same where the experiment is not cut
    verdicts : on the published numbers
    """

    experiment: Experiment
    results: Results
    whole_results: Results
    verdicts: tuple[Verdict, ...]

    def of(self, *kinds: Kind) -> list[Verdict]:
        """The verdicts on numbers of these kinds."""
        return [verdict for verdict in self.verdicts if verdict.row.kind in kinds]

    @property
    def places(self) -> dict[str, list[TableLine]]:
        """The results of each table or figure of the paper."""
        lines_by_place: dict[str, list[TableLine]] = {}
        for verdict in self.of(Kind.RESULT):
            lines_by_place.setdefault(verdict.row.place, []).append(table_line(verdict))
        return lines_by_place

    @property
    def variants(self) -> dict[str, str]:
        """The variants that were measured."""
        measured = {name for verdict in self.verdicts for name in verdict.measured} | set(
            self.results.values("variant")
        )
        return {name: text for name, text in self.experiment.variants.items() if name in measured}

    @cached_property
    def variant_counts(self) -> list[VariantCount]:
        """The numbers of results that each variant reproduces; empty where there are no variants."""
        if not self.variants:
            return []
        return variant_counts(self.verdicts, [STATED, *self.variants])

    @cached_property
    def figures(self) -> list[DrawnFigure]:
        """The figures that have results."""
        drawn = []
        for figure in self.experiment.draw:
            results, note = self._cells_of_figure(figure)
            if results:
                drawn.append(_drawn(figure, results, f"{figure.see} {note}".strip()))
        return drawn

    def _cells_of_figure(self, figure: Figure) -> tuple[Results, str]:
        """The cells that a figure shows, and a sentence that says whether this is the whole protocol or a part.

        These are the cells of a whole run where all of them are finished, otherwise those of this run. The sentence is
        empty where the experiment is not cut.
        """
        usual = self.results.where(**figure.where)
        if self.experiment.whole is None:
            return usual, ""
        cells = Results(tuple((dict(cell.fields), {}) for cell in self.experiment.whole()))
        needed_cells = cells.where(**figure.where)
        if [fields for fields, _ in usual] == [fields for fields, _ in needed_cells]:
            return usual, ""
        finished = self.whole_results.where(**figure.where)
        if len(finished) == len(needed_cells):
            return finished, "The whole protocol."
        return usual, "A part of the protocol."


@dataclass(frozen=True)
class DrawnFigure:
    """A figure on a page: its title, a sentence about it, the picture, and the numbers that it shows."""

    title: str
    see: str
    picture: Markup
    numbers: NumbersOfFigure


def _drawn(figure: Figure, results: Results, see: str) -> DrawnFigure:
    tables = []

    def draw(axes: Any) -> None:
        figure.draw(axes, results)
        tables.append(NumbersOfFigure.of(axes))

    picture = Markup(inline_svg(draw, figure.title, (5.4, 3.4)))
    return DrawnFigure(figure.title, see, picture, tables[0])


@dataclass(frozen=True)
class Page:
    """The page of one paper."""

    paper: str
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        return PAPERS[self.paper]

    @property
    def authors(self) -> str:
        return AUTHORS[self.paper]

    @property
    def file(self) -> str:
        return f"{self.paper}.html"

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return [verdict for section in self.sections for verdict in section.verdicts]

    @cached_property
    def counts(self) -> Counts:
        return Counts.of(self.verdicts)

    @property
    def differing(self) -> list[TableLine]:
        """The results that differ, except those that another reading of the paper reproduces."""
        return [
            table_line(v)
            for v in self.verdicts
            if v.row.kind is Kind.RESULT and v.differs and set(v.agreeing) == set(v.fitted)
        ]

    @property
    def facts(self) -> dict[str, list[TableLine]]:
        """The printed numbers that are not results: sizes of data, and constants of the protocol."""
        kinds = {"Sizes of the data": Kind.SIZE, "Constants of the protocol": Kind.PROTOCOL}
        lines_by_title = {
            title: [table_line(v) for v in self.verdicts if v.row.kind is kind] for title, kind in kinds.items()
        }
        return {title: lines for title, lines in lines_by_title.items() if lines}

    @property
    def times(self) -> list[TableLine]:
        """The published running times, which are those of another processor."""
        return [table_line(v) for v in self.verdicts if v.row.kind is Kind.TIME]

    @property
    def errata(self) -> list[list[str]]:
        return errata(self.paper)


def page(
    paper: str, experiments: Sequence[Experiment], results: Mapping[str, Results], whole_results: Mapping[str, Results]
) -> Page:
    """The sections of a paper: its experiments, each with the published numbers that it is bound to."""
    verdicts: dict[str, list[Verdict]] = {experiment.key: [] for experiment in experiments}
    for row in published():
        if row.paper == paper:
            owner = next(experiment.key for experiment, _ in bindings(row))
            if owner in verdicts:
                verdicts[owner].append(verdict_on(row, results))
    sections = [
        Section(experiment, results[experiment.key], whole_results[experiment.key], tuple(verdicts[experiment.key]))
        for experiment in experiments
    ]
    return Page(paper, tuple(sections))


def write_pages(
    out: Path,
    experiments: Sequence[Experiment],
    results: Mapping[str, Results],
    whole_results: Mapping[str, Results],
    costs: Sequence[ExperimentCost],
    facts: Mapping[str, str],
    checked: str = "",
    quick: bool = False,
) -> Path:
    """Write a page for each paper that has experiments, and ``index.html``, whose path is returned.

    ``headline.md`` has the counts of the first page for other documents.

    Parameters
    ----------
    out : Path, the directory
    experiments : the requested ones
    results : the finished cells of each experiment, by its key
    whole_results : those of a whole run, by the key of the experiment; figures show them where all are finished
    costs : of each experiment
    facts : further facts about the run
    checked : sentences about the cells that were measured again
    quick : bool, whether only a few cells of each experiment were measured
    """
    papers = [paper for paper in PAPERS if any(experiment.paper == paper for experiment in experiments)]
    pages = [
        page(paper, [experiment for experiment in experiments if experiment.paper == paper], results, whole_results)
        for paper in papers
    ]
    environment = templates("multikernel.reproduce.pages")
    environment.globals |= provenance() | {"facts": facts}
    for paper_page in pages:
        text = environment.get_template("paper.html.j2").render(page=paper_page)
        write_whole(out / paper_page.file, text.encode())
    verdicts = [verdict for paper_page in pages for verdict in paper_page.verdicts]
    total = Counts.of(verdicts)
    sentences = headline(verdicts, quick)
    text = environment.get_template("index.html.j2").render(
        pages=pages,
        total=total,
        headline=sentences,
        others=_other_counts(verdicts),
        costs=costs,
        cost=ExperimentCost.of(costs),
        checked=checked,
        parts=[
            (f"{experiment.paper}: {experiment.title}", experiment.part)
            for experiment in experiments
            if experiment.part
        ],
    )
    write_whole(out / "index.html", text.encode())
    text = environment.get_template("headline.md.j2").render(pages=pages, total=total, headline=sentences)
    write_whole(out / "headline.md", text.encode())
    return out / "index.html"


def _other_counts(verdicts: Sequence[Verdict]) -> list[tuple[str, int, int, int]]:
    """For each kind of number that is not a result: its name, and the counts of all, of agreeing and differing ones."""
    words = {Kind.SIZE: "sizes of data sets", Kind.PROTOCOL: "constants of protocols"}
    counts = []
    for kind, name in words.items():
        of_kind = [v for v in verdicts if v.row.kind is kind]
        counts.append(
            (name, len(of_kind), sum(v.mark is Mark.WITHIN for v in of_kind), sum(v.differs for v in of_kind))
        )
    return counts


def errata(paper: str) -> list[list[str]]:
    """The errors of a paper, after a line of headings; the documentation shows the same file."""
    file = files("multikernel.reproduce.pages").joinpath("errata", f"{paper}.csv")
    return list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
