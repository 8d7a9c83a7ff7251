"""``multikernel report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multikernel.app.cli import options
from multikernel.app.cli.console import check_new, one_line_failures, read, show_json
from multikernel.files import write_whole


def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL.MK", help="A model that fit has written.")],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA.CSV]", help="Rows with the target, on which the model is tested.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The report to write.")] = Path("report.html"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write what a model learned as one HTML file.

    The kernels and their weights, how it was chosen, and its certificate; with a table of rows whose target is known,
    how well the model predicts them.
    """
    with one_line_failures():
        check_new(out, force=force, inputs=(model,) if data is None else (model, data))
        from multikernel.app.jobs.inspect import inspect
        from multikernel.app.report.model_page import render

        found = inspect(model, None if data is None else read(data))
        write_whole(out, render(found).encode())
        if as_json:
            show_json("report", found.to_json() | {"report": str(out)})
        else:
            typer.echo(f"report written to {out}")
