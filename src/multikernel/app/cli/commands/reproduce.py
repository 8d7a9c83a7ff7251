"""``multikernel reproduce``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from multikernel.app.cli import options
from multikernel.app.cli.console import one_line_failures, show_json

PaperName = StrEnum("PaperName", "nkrr dpp rls2 report smkl all")


def reproduce(
    paper: Annotated[PaperName, typer.Argument(help="The paper, or all of them.")],
    table: Annotated[int | None, typer.Option(help="Only what stands in this table.")] = None,
    figure: Annotated[int | None, typer.Option(help="Only what stands in this figure.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few cells of each experiment, in minutes.")] = False,
    data_dir: options.DataDir = None,
    out: Annotated[Path, typer.Option(help="Directory of the report and of the finished cells.")] = Path("reproduced"),
    jobs: Annotated[int, typer.Option(min=1, help="Processes, each with one thread of linear algebra.")] = 1,
    also: Annotated[
        list[str] | None, typer.Option(metavar="VERSION", help="Finished cells of this version count, too; repeatable.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Repeat the experiments of the papers, measured beside published.

    Finished cells are kept in the directory, so a run that was stopped goes on where it was. The report is index.html.
    """
    with one_line_failures():
        from functools import partial

        from multikernel.reproduce.command import reproduce as measure

        tell = partial(typer.echo, err=True)
        first = measure(
            paper.value,
            out,
            table=table,
            figure=figure,
            quick=quick,
            data_dir=data_dir,
            jobs=jobs,
            also=also or (),
            tell=tell,
        )
        if as_json:
            show_json("reproduce", {"report": str(first)})
        else:
            typer.echo(f"report written to {first}")
