"""``multikernel app``, and ``multikernel repeat`` for the runs that it exports."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from multikernel.app.cli import options
from multikernel.app.cli.console import check_new, one_line_failures, show_json, show_table


def app(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = 8765,
    home: Annotated[
        Path | None, typer.Option(help="Folder of the data sets and runs [default: that of this platform].")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    read_only: Annotated[bool, typer.Option("--read-only", help="Show what is there; refuse every change.")] = False,
    root_path: Annotated[str, typer.Option(help="Prefix of the addresses behind a proxy: /kernels.")] = "",
    host_name: Annotated[
        list[str] | None, typer.Option(help="A name under which a proxy asks for this server, repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Megabytes of an upload at most.")] = 64,
    memory: Annotated[int, typer.Option(min=256, help="Megabytes that a run may take.")] = 4096,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds that a run may take.")] = 3600.0,
) -> None:
    """Open the browser application on this computer.

    It loads a table, learns, shows what was learned, and exports the model and the code. It listens on 127.0.0.1 alone;
    nothing leaves this computer. The address that is opened and printed holds a secret, without which it answers
    nobody; the environment variable MULTIKERNEL_TOKEN sets one that stays the same. Ctrl-C ends it; data sets and runs
    stay.
    """
    with one_line_failures():
        from multikernel.app.web.server import serve
        from multikernel.app.web.settings import MEGABYTE, Settings, default_home

        if home is not None and home.exists() and not home.is_dir():
            raise NotADirectoryError(f"--home {home} is a file; name a folder")
        defaults = Settings(home or default_home())
        root = root_path.rstrip("/")
        if root_path and not root_path.startswith("/"):
            root = f"/{root_path.strip('/')}"
        settings = Settings(
            home=defaults.home.expanduser().resolve(),
            hosts=(*defaults.hosts, *(host_name or [])),
            root_path=root,
            read_only=read_only,
            upload_limit=limit * MEGABYTE,
            unpacked_limit=4 * limit * MEGABYTE,
            run_seconds=seconds,
            run_memory=memory * MEGABYTE,
        )
        key = os.environ.get("MULTIKERNEL_TOKEN", "")
        serve(settings, port, browser=browser, report=typer.echo, key=key)


def repeat(
    run: Annotated[Path, typer.Argument(metavar="RUN.TOML", help="A run that the browser application has exported.")],
    data: Annotated[Path | None, typer.Option(help="Its table [default: table.csv beside it].")] = None,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.mk"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Repeat a run of the browser application: the same scores, weights and path, the same model.

    The file may also be written by hand. It can contain everything that the forms of the application offer, such as
    several views with separate kernels. A comparison, and a run that measures what views are worth, write no model.
    """
    with one_line_failures():
        check_new(out, force=force, inputs=(run,))
        from multikernel.app.web.exports import repeated

        result = repeated(run, data or run.parent / "table.csv", out, lambda line: typer.echo(line, err=True))
        learned = "scores" in result
        if as_json:
            show_json("repeat", result | {"model": str(out) if learned else None})
            return
        typer.echo(result["measured"])
        for title, header, rows in _tables(result):
            show_table(title, header, rows)
        if learned:
            typer.echo(f"model written to {out}")


def _tables(result: dict[str, Any]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """The printed tables of a result: titles, headers and rows."""
    from multikernel.app.jobs.methods import PRINTED_WEIGHTS

    gaps = result.get("sources", {}).get("without", {})
    if any(gaps.values()):
        lines = [[view, f"{result['n'] - count}", f"{count}"] for view, count in gaps.items()]
        yield "Samples that lack a view", ["view", "with it", "without it"], lines
    if "worth" in result:
        from multikernel.app.jobs.source_values import header_of, rows_of

        yield f"{result['measure']} on held-out folds", header_of(result["worth"], "view"), rows_of(result["worth"])
        return
    learned = "scores" in result
    if learned:
        scores = result["scores"]
    else:
        scores = {row["method"]: row["scores"] for row in result["comparison"]}
    rows = [[name, *(f"{score:.6g}" for score in scores_of_folds)] for name, scores_of_folds in scores.items()]
    header = ["", *(f"fold {k + 1}" for k in range(len(rows[0]) - 1))]
    yield f"{result['measure']} on held-out folds", header, rows
    if "targets" in result:
        lines = [
            [target["name"], *(f"{score:.6g}" for score in target["scores"]["own"])] for target in result["targets"]
        ]
        yield "Of each target", header, lines
    if not learned:
        return
    weights = result["weights"]
    if weights["views"]:
        lines = [[row["name"], f"{row['part']:.1%}", _spread(row["spread"], ".1%")] for row in weights["views"]]
        yield "Weights of each view", ["view", "part of the sum", "deviation"], lines
    largest = weights["rows"][:PRINTED_WEIGHTS]
    lines = [[row["name"], f"{row['weight']:.4f}", _spread(row["spread"], ".4f")] for row in largest]
    yield f"Largest weights ({len(lines)} of {len(weights['rows'])})", [weights["what"], "weight", "deviation"], lines
    if result["path"]:
        yield _path(result)
    if result["freedom"]:
        lines = [[", ".join(f"{value:.4g}" for value in result["freedom"])]]
        yield "Degrees of freedom", [""], lines


def _spread(value: float | None, format_spec: str) -> str:
    """A deviation between folds; "" for None."""
    if value is None:
        return ""
    return format(value, format_spec)


def _path(result: dict[str, Any]) -> tuple[str, list[str], list[list[str]]]:
    path = result["path"]
    rows = []
    for k, value in enumerate(path["values"]):
        highest = "lowest" if path["less_is_better"] else "highest"
        mark = {path["best"]: highest, path["chosen"]: "chosen"}.get(k, "")
        freedom = [f"{path['freedom'][k]:.4g}"] if path["freedom"] else []
        rows.append([f"{value:g}", f"{path['mean'][k]:.4f}", f"{path['error'][k]:.4f}", *freedom, mark])
    header = [
        path["parameter"],
        path["measure"],
        "standard error",
        *(["degrees of freedom"] * bool(path["freedom"])),
        "",
    ]
    return "The path", header, rows
