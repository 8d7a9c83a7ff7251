"""``multikernel repeat``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multikernel._files import check_new
from multikernel.app.cli import options
from multikernel.app.cli.console import one_line_failures, show_json, show_table


def repeat(
    run: Annotated[Path, typer.Argument(metavar="RUN.TOML", help="A run that the browser application has exported.")],
    data: Annotated[Path | None, typer.Option(help="Its table [default: table.csv beside it].")] = None,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.mk"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Repeat a run of the browser application: the same scores on held-out folds, the same model."""
    with one_line_failures():
        check_new(out, force=force, inputs=(run,))
        from multikernel.app.web.repeat import repeated

        found = repeated(run, data or run.parent / "table.csv", out, lambda line: typer.echo(line, err=True))
        if as_json:
            show_json("repeat", found | {"model": str(out)})
            return
        rows = [[name, *(f"{score:.6f}" for score in scores)] for name, scores in found["scores"].items()]
        header = ["", *(f"fold {k + 1}" for k in range(len(rows[0]) - 1))]
        show_table(f"{found['measure']} on held-out folds", header, rows)
        typer.echo(f"model written to {out}")
