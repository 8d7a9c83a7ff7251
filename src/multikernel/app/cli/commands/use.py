"""``multikernel predict`` and ``multikernel report``: the commands that read a model file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from multikernel.app.cli import options
from multikernel.app.cli.config import check_config, save_config
from multikernel.app.cli.console import (
    STANDARD_INPUT,
    OtherFiles,
    TableOptions,
    WrongUseError,
    begin,
    check_exist,
    check_new,
    named_file,
    one_line_failures,
    read,
    show_json,
)
from multikernel.app.cli.options import MissingName
from multikernel.files import write_whole


def predict(
    ctx: typer.Context,
    model: Annotated[
        Path, typer.Argument(metavar="MODEL.MK", help="A model that fit has written.", callback=named_file)
    ],
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW.CSV",
            help="File with the columns of the training file; - for CSV on standard input.",
            callback=named_file,
        ),
    ],
    views: options.Views = None,
    key: options.Key = None,
    missing: options.Missing = MissingName.drop,
    sheet: options.Sheet = None,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of the classes, not decision values.")] = False,
    out: Annotated[Path | None, typer.Option(help="CSV file to write [default: standard output].")] = None,
    memory: options.Memory = None,
    force: options.Force = False,
    as_json: options.Json = False,
    config: options.Config = None,
    save_config_to: options.SaveConfig = None,
) -> None:
    """Predict the rows of a CSV file.

    Writes a CSV file with a column "prediction" and, for classes, decision values, in the order of the rows. A label
    that a spreadsheet would run as a formula gets an apostrophe in front. A model that was learned in chunks predicts
    in chunks, also from and to Parquet files.

    A model of several files takes them by --view, as fit does; the first one may be NAME=FILE, too. If files are left
    out, the model predicts from the others, and a warning names those that are missing. With several files, the first
    column that is written identifies the rows.
    """
    with one_line_failures():
        other_files = OtherFiles(views, key, missing.value)
        if out is not None:
            check_new(out, force=force, inputs=(model, *other_files.paths(new)))
        check_config(save_config_to, force=force)
        if other_files.words and memory is not None:
            raise WrongUseError("several files are read at once, not in chunks; leave --memory out")
        check_exist(model, new)
        begin(f"Reading {model}")
        if not other_files.words and _in_chunks(model, new, proba, memory, out, {"--json": as_json, "--sheet": sheet}):
            save_config(ctx, save_config_to)
            return
        if memory is not None:
            raise WrongUseError(f"{model} was not learned in chunks, and reads files at once; leave --memory out")
        from multikernel.app.jobs.predict import predictions

        results = predictions(model, read(new, TableOptions(other_files, sheet, of_first=False)), proba)
        if out is not None:
            write_whole(out, results.to_csv().encode())
        save_config(ctx, save_config_to)
        if as_json:
            show_json("predict", results.to_json() | {"out": None if out is None else str(out)})
        elif out is None:
            typer.echo(results.to_csv(), nl=False)
        else:
            typer.echo(f"{len(results.labels)} predictions written to {out}")


def _in_chunks(
    model: Path, data: Path, proba: bool, memory: str | None, out: Path | None, refused_options: Mapping[str, object]
) -> bool:
    """Whether the model was learned in chunks; then its predictions are written, chunk by chunk.

    ``refused_options`` has the values of options that are only for tables that are read at once.
    """
    from multikernel.persistence import read as read_model

    fitted, metadata = read_model(model)
    if "stream" not in metadata:
        return False
    for option, value in refused_options.items():
        if value:
            raise WrongUseError(f"{model} was learned in chunks, and predicts files in chunks; leave {option} out")
    if data == STANDARD_INPUT:
        raise ValueError(f"{model} was learned in chunks, and predicts files in chunks; give a file in place of -")
    from multikernel import streams
    from multikernel.app.jobs.fit_stream import StreamOptions, watched_rows
    from multikernel.streams import harmless

    rows = watched_rows(data, metadata, StreamOptions(memory))
    if proba and not hasattr(fitted, "predict_proba"):
        raise ValueError(f"{model} was learned in chunks and gives no probabilities; leave --proba out")
    method: Literal["predict", "predict_proba"] = "predict"
    names = ["prediction"]
    if proba:
        method = "predict_proba"
        names = [f"probability {label}" for label in fitted.classes_]
    if out is not None:
        typer.echo(f"{streams.write_predictions(fitted, rows.source, out, method)} predictions written to {out}")
        rows.tell()
        return True
    typer.echo(_csv([names]), nl=False)
    for chunk in streams.predict(fitted, rows.source, method):
        lines = chunk if proba else chunk[:, None]
        typer.echo(_csv([map(harmless, line) for line in lines.tolist()]), nl=False)
    rows.tell()
    return True


def _csv(lines: Iterable[Iterable[object]]) -> str:
    """Lines of cells as CSV, where a cell that holds a comma or a quote is quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def report(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL.MK", help="A model that fit has written.", callback=named_file)
    ],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA.CSV]", help="Rows with the target, on which the model is tested.")
    ] = None,
    views: options.Views = None,
    key: options.Key = None,
    missing: options.Missing = MissingName.drop,
    sheet: options.Sheet = None,
    out: Annotated[Path, typer.Option(help="The report to write.")] = Path("report.html"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write what a model learned as one HTML file.

    The kernels and their weights, how it was chosen, and its certificate; with a table of rows whose target is known,
    how well the model predicts them.
    """
    with one_line_failures():
        other_files = OtherFiles(views, key, missing.value)
        if data is None and views:
            raise WrongUseError("--view names further files; give the first one, with the target, without --view")
        check_new(out, force=force, inputs=(model, *other_files.paths(data)) if data else (model,))
        check_exist(model, *([] if data is None else [data]))
        begin(f"Reading {model}")
        from multikernel.app.jobs.inspect import inspect
        from multikernel.app.report.page import model_page

        table = read(data, TableOptions(other_files, sheet)) if data else None
        inspected = inspect(model, table)
        write_whole(out, model_page(inspected).encode())
        if as_json:
            show_json("report", inspected.to_json() | {"report": str(out)})
        else:
            typer.echo(f"report written to {out}")
