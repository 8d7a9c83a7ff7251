"""``multikernel demo`` and ``multikernel reproduce``: experiments on known data."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multikernel.app.cli import options
from multikernel.app.cli.console import ConsoleWatch, check_new, one_line_failures, show_json, show_table
from multikernel.files import write_whole

if TYPE_CHECKING:
    from multikernel.app.demo.several import Job
    from multikernel.app.jobs.compare import Comparison

_FOLDS_OF_JOBS = 5  # outer folds of the jobs with several kernels, at most


def demo(
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="Data set of two classes, repeatable [default: breast_cancer, ionosphere where it is found, and two "
            "jobs that need several kernels]."
        ),
    ] = None,
    data_dir: options.DataDir = None,
    out: Annotated[Path, typer.Option(help="The report to write.")] = Path("report.html"),
    folds: Annotated[int, typer.Option(min=2, help="Outer folds, which test.")] = 10,
    seed: options.Seed = 0,
    max_degree: Annotated[int, typer.Option(min=1, help="Largest degree of the polynomial kernels.")] = 10,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Compare learned kernels with their baselines on real data; write a report.

    Nested cross-validation of EasyMKL on polynomials of two classes; then, on a mixed table and on images in three
    views, of the automatic estimator beside one tuned kernel and gradient boosting. One self-contained HTML file.
    """
    with one_line_failures():
        check_new(out, force=force)
        from multikernel import datasets
        from multikernel.app.demo import several
        from multikernel.app.demo.results import StudyPlan
        from multikernel.app.demo.study import compare
        from multikernel.app.report.demo_page import render, summary_rows

        names = data or ["breast_cancer"]
        if not data and any(entry.name == "ionosphere" for entry in datasets.available(data_dir)):
            names.append("ionosphere")
        loaded = [datasets.load(name, data_dir) for name in dict.fromkeys(names)]  # a wrong name fails before any fit
        plan = StudyPlan(folds=folds, seed=seed, max_degree=max_degree)
        studies = []
        for dataset in loaded:
            with ConsoleWatch().steps(folds, dataset.name) as observe:
                studies.append(compare(dataset, plan, observe))
            if not as_json:
                header, rows = summary_rows(studies[-1])
                show_table(f"{dataset.name}: area under the ROC curve, {folds} folds", header, rows)
        jobs = [] if data else [make() for make in several.JOBS]
        comparisons = [_compare_job(job, min(folds, _FOLDS_OF_JOBS), seed, as_json) for job in jobs]
        write_whole(out, render(studies, plan, out, data_dir, list(zip(jobs, comparisons, strict=True))).encode())
        if as_json:
            results = {
                "studies": [asdict(study) for study in studies],
                "comparisons": [c.to_json() for c in comparisons],
            }
            show_json("demo", results | {"report": str(out)})
        else:
            typer.echo(f"report written to {out}")


def _compare_job(job: Job, folds: int, seed: int, as_json: bool) -> Comparison:
    """The comparison of a job, and its table where results are not printed as JSON."""
    from multikernel.app.demo import several
    from multikernel.app.jobs.compare import rows_of

    with ConsoleWatch().steps(3, job.name) as observe:
        comparison = several.compare(job, folds, seed, observe)
    if not as_json:
        title = f"{job.name}: {comparison.measure} on held-out folds, with seconds of choosing and fitting"
        show_table(title, ["method", comparison.measure, "seconds"], rows_of(comparison))
    return comparison


PaperName = StrEnum("PaperName", "nkrr dpp rls2 report smkl all")


def reproduce(
    paper: Annotated[PaperName, typer.Argument(help="The paper, or all of them.")],
    table: Annotated[int | None, typer.Option(help="Only this table.")] = None,
    figure: Annotated[int | None, typer.Option(help="Only this figure.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few cells of each experiment, in minutes.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Also the parts that a usual run cuts, in days.")] = False,
    data_dir: options.DataDir = None,
    out: Annotated[Path, typer.Option(help="Directory of the report and of the finished cells.")] = Path("reproduced"),
    jobs: Annotated[int, typer.Option(min=1, help="Processes, each with one thread of linear algebra.")] = 1,
    also: Annotated[
        list[str] | None, typer.Option(metavar="VERSION", help="Finished cells of this version count, too; repeatable.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Repeat the experiments of the papers, measured beside published.

    Finished cells are kept in the directory, so a run that was stopped resumes. The report is index.html.
    """
    with one_line_failures():
        from functools import partial

        from multikernel.reproduce.command import reproduce as measure

        show = partial(typer.echo, err=True)
        page = measure(
            paper.value,
            out,
            table=table,
            figure=figure,
            quick=quick,
            whole=whole,
            data_dir=data_dir,
            jobs=jobs,
            also=also or (),
            report=show,
        )
        if as_json:
            show_json("reproduce", {"report": str(page)})
        else:
            typer.echo(f"report written to {page}")
