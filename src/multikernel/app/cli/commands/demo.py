"""``multikernel demo``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from multikernel._files import check_new, write_whole
from multikernel.app.cli import options
from multikernel.app.cli.console import ConsoleWatch, one_line_failures, show_json, show_table


def demo(
    data: Annotated[
        list[str] | None,
        typer.Option(help="Data set, repeatable [default: breast_cancer, and ionosphere where it is found]."),
    ] = None,
    data_dir: options.DataDir = None,
    out: Annotated[Path, typer.Option(help="The report to write.")] = Path("report.html"),
    folds: Annotated[int, typer.Option(min=2, help="Outer folds, which test.")] = 10,
    seed: options.Seed = 0,
    max_degree: Annotated[int, typer.Option(min=1, help="Largest degree of the polynomial kernels.")] = 10,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Compare EasyMKL with its baselines; write a report.

    The main job on real data: nested cross-validation of the area under the curve, and one self-contained HTML file.
    """
    with one_line_failures():
        check_new(out, force=force)
        from multikernel import datasets
        from multikernel.app.demo.results import Plan
        from multikernel.app.demo.study import compare
        from multikernel.app.report.demo_page import render, summary_rows

        names = data or ["breast_cancer"]
        if not data and any(entry.name == "ionosphere" for entry in datasets.available(data_dir)):
            names.append("ionosphere")
        loaded = [datasets.load(name, data_dir) for name in dict.fromkeys(names)]  # a wrong name fails before any work
        plan = Plan(folds=folds, seed=seed, max_degree=max_degree)
        studies = []
        for dataset in loaded:
            with ConsoleWatch().steps(folds, dataset.name) as observe:
                studies.append(compare(dataset, plan, observe))
            if not as_json:
                header, rows = summary_rows(studies[-1])
                show_table(f"{dataset.name}: area under the ROC curve, {folds} folds", header, rows)
        write_whole(out, render(studies, plan, out, data_dir).encode())
        if as_json:
            show_json("demo", {"studies": [asdict(study) for study in studies], "report": str(out)})
        else:
            typer.echo(f"report written to {out}")
