"""``multikernel repeat``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from multikernel.app.cli import options
from multikernel.app.cli.console import check_new, one_line_failures, show_json, show_table

_SHOWN = 10  # weights


def repeat(
    run: Annotated[Path, typer.Argument(metavar="RUN.TOML", help="A run that the browser application has exported.")],
    data: Annotated[Path | None, typer.Option(help="Its table [default: table.csv beside it].")] = None,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.mk"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Repeat a run of the browser application: the same scores, weights and path, the same model.

    The file may also be written by hand: whatever a form of the application can ask for, such as several views with
    kernels of their own, stands in it. A comparison leaves no model.
    """
    with one_line_failures():
        check_new(out, force=force, inputs=(run,))
        from multikernel.app.web.repeat import repeated

        found = repeated(run, data or run.parent / "table.csv", out, lambda line: typer.echo(line, err=True))
        learned = "scores" in found
        if as_json:
            show_json("repeat", found | {"model": str(out) if learned else None})
            return
        for title, header, rows in _tables(found):
            show_table(title, header, rows)
        if learned:
            typer.echo(f"model written to {out}")


def _tables(found: dict[str, Any]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """What a person reads of it: titles, headers and rows."""
    learned = "scores" in found
    scores = found["scores"] if learned else {row["method"]: row["scores"] for row in found["comparison"]}
    rows = [[name, *(f"{score:.6f}" for score in each)] for name, each in scores.items()]
    header = ["", *(f"fold {k + 1}" for k in range(len(rows[0]) - 1))]
    yield f"{found['measure']} on held-out folds", header, rows
    if not learned:
        return
    weights = found["weights"]
    if weights["views"]:
        own = [[row["name"], f"{row['part']:.1%}", f"{row['spread']:.1%}"] for row in weights["views"]]
        yield "Weights of each view", ["view", "part of the sum", "deviation"], own
    largest = weights["rows"][:_SHOWN]
    own = [[row["name"], f"{row['weight']:.4f}", f"{row['spread']:.4f}"] for row in largest]
    yield f"Largest weights ({len(own)} of {len(weights['rows'])})", [weights["what"], "weight", "deviation"], own
    if found["path"]:
        yield _path(found)
    if found["freedom"]:
        own = [[", ".join(f"{value:.4g}" for value in found["freedom"])]]
        yield "Degrees of freedom", [""], own


def _path(found: dict[str, Any]) -> tuple[str, list[str], list[list[str]]]:
    own, rows = found["path"], []
    for k, value in enumerate(own["values"]):
        mark = "chosen" if k == own["chosen"] else "highest" if k == own["best"] else ""
        freedom = [f"{own['freedom'][k]:.4g}"] if own["freedom"] else []
        rows.append([f"{value:g}", f"{own['mean'][k]:.4f}", f"{own['error'][k]:.4f}", *freedom, mark])
    header = [
        own["parameter"],
        found["measure"],
        "standard error",
        *(["degrees of freedom"] * bool(own["freedom"])),
        "",
    ]
    return "The path", header, rows
