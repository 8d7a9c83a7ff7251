"""``multikernel fit``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multikernel.app.cli import options
from multikernel.app.cli.config import check_config, save_config
from multikernel.app.cli.console import (
    ConsoleWatch,
    OtherFiles,
    TableOptions,
    WrongUseError,
    check_exist,
    check_new,
    one_line_failures,
    read,
    show_json,
    show_table,
)
from multikernel.app.cli.options import MethodName, MissingName, TaskName, of_table, request_of

if TYPE_CHECKING:
    from multikernel.app.jobs.fit_stream import StreamOptions
    from multikernel.app.jobs.methods import FitRequest
    from multikernel.app.tables.table import CsvTable
_PATIENCE = 10.0  # seconds to wait for a scheduler


@contextmanager
def working_on(scheduler: str | None) -> Iterator[None]:
    """Work on the cluster of the scheduler with this address; None is this process.

    Raises
    ------
    ValueError : where Dask is not installed, or no scheduler answers
    """
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("--scheduler takes a cluster of Dask: pip install multikernel[dask]") from None
    from joblib import parallel_config

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client = Client(scheduler, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        if str(error):
            reason = str(error).splitlines()[0]
        else:
            reason = type(error).__name__
        raise ValueError(
            f"no scheduler of Dask answers at {scheduler!r} ({reason}); `dask scheduler` starts one and prints its "
            "address"
        ) from None
    with client, parallel_config(backend="dask", client=client, n_jobs=-1):
        yield


def fit(
    ctx: typer.Context,
    data: options.Data,
    target: options.Target,
    sheet: options.Sheet = None,
    views: options.Views = None,
    key: options.Key = None,
    missing: options.Missing = MissingName.drop,
    method: Annotated[
        MethodName | None,
        typer.Option(
            help="[default: the automatic estimator; with an option of kernels or machine, easymkl or average]"
        ),
    ] = None,
    task: options.TaskOption = TaskName.auto,
    types: options.Types = None,
    leave_out: options.LeaveOut = None,
    groups: options.Groups = None,
    time: options.Time = None,
    kernels: options.Kernels = None,
    lam: options.Lam = None,
    C: options.LossWeight = None,
    alpha: options.Alpha = None,
    settings: options.Set = None,
    proba: options.LearnProba = False,
    approximation: options.Approximation = None,
    rank: options.Rank = None,
    memory: options.Memory = None,
    checkpoint: options.CheckpointFile = None,
    seed: options.Seed = 0,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.mk"),
    force: options.Force = False,
    scheduler: options.Scheduler = None,
    as_json: options.Json = False,
    config: options.Config = None,
    save_config_to: options.SaveConfig = None,
) -> None:
    """Learn from a CSV file and write a model.

    Without further options, the automatic estimator recognises numbers, categories, dates and text, takes missing
    cells, and chooses kernels and their regularisation; it says what it did.

    With a method, text columns are spread over one 0/1 column for each category, and all features are scaled to [0, 1],
    or for the linear method (linearrls2) to mean 0 and deviation 1.
    Missing cells are refused. Where none of --lam, --C and --alpha is given, three inner folds choose the parameter
    that the method has; ridgecv and scales choose by themselves. --kernels, --lam, --C or --alpha without --method
    select easymkl where the target holds classes, and average where it holds numbers.

    A directory, a file larger than the memory, and a Parquet file with --memory, --checkpoint, --approximation or
    --rank are read in chunks. The automatic estimator chooses on a sample of the rows and trains on all; of the
    methods, rls2, ridgecv, average, and polynomial with --set degree=1 learn so, on approximate kernels.

    With --scheduler, problems, folds and candidates are tasks of a cluster of Dask.

    Columns whose name begins with an underscore are left out, and those of --leave-out. --type says what a column holds
    where its cells do not show it, such as a code that is a category. --groups names the column of what was measured
    several times. Delimiters and decimal commas are recognised in the file.

    Several files of the same samples (--view) are joined by the column that identifies the rows (--key); the first one
    has the target. Each file is a view with separate kernels, and is named after the file. Its columns are called
    "view: column"; options may leave the view out where only one file has the column.
    """
    with one_line_failures():
        check_exist(data)
        from multikernel.app.jobs.fit_stream import StreamOptions

        request = request_of(target, method, task, kernels, (lam, C, alpha), settings, seed, proba, types)
        other_files = OtherFiles(views, key, missing.value)
        table_options = TableOptions(other_files, sheet, leave_out, groups, time, target=target)
        check_new(out, force=force, inputs=other_files.paths(data))
        check_config(save_config_to, force=force)
        approximation_options = {"approximation": approximation, "rank": rank}
        request = replace(
            request,
            parameters={k: v for k, v in approximation_options.items() if v is not None} | dict(request.parameters),
        )
        with working_on(scheduler):
            results, show = _train(data, table_options, request, StreamOptions(memory, checkpoint), out)
        save_config(ctx, save_config_to)
        if as_json:
            show_json("fit", results | {"model": str(out)})
            return
        show()
        typer.echo(f"model written to {out}")


def _train(
    data: Path,
    table_options: TableOptions,
    request: FitRequest,
    streaming: StreamOptions,
    out: Path,
) -> tuple[dict[str, Any], Callable[[], None]]:
    """Fit to the table at once or in chunks, and write the model; the results, and a function that prints them."""
    other_files = table_options.other_files
    if other_files.words and (streaming.memory or streaming.checkpoint):
        raise WrongUseError("several files are read at once, not in chunks; leave --memory and --checkpoint out")
    approximate = not {"approximation", "rank"}.isdisjoint(request.parameters)
    if other_files.words or not streaming.applies(data, approximate):
        if streaming.checkpoint is not None:
            raise WrongUseError(
                f"{data} is read at once, and --checkpoint keeps the state of a fit in chunks; leave it out, or give "
                "--memory less than the file"
            )
        table = read(data, table_options)
        return _train_on_table(table, of_table(request, table), out)
    for option, column in (("--groups", table_options.groups), ("--time", table_options.time)):
        if column is not None:
            raise ValueError(f"{data} is read in chunks, which knows no folds for {option}; leave it out")
    if table_options.sheet:
        raise ValueError(f"{data} is read in chunks, and --sheet names a sheet of an Excel file; leave it out")
    return _train_on_stream(data, request, replace(streaming, leave_out=tuple(table_options.leave_out or ())), out)


def _train_on_table(table: CsvTable, request: FitRequest, out: Path) -> tuple[dict[str, Any], Callable[[], None]]:
    """Fit to a table and write the model; the results, and a function that prints them."""
    from multikernel.persistence import save

    if request.automatic:
        from multikernel.app.jobs.fit import automatic_metadata, automatic_summary, of_time, train_automatic

        model, columns = train_automatic(table, request, ConsoleWatch())
        save(model, out, metadata=automatic_metadata(model, columns, table, request))
        left_out = [name for name in table.columns if name not in columns.numeric and name != request.target]
        results = automatic_summary(model, request.target, table.n, list(columns.numeric), left_out)
        results["sentences"] += of_time(table)
        text = "\n".join([model.explain(), *of_time(table)])
        return results, lambda: typer.echo(text)
    from multikernel.app.jobs import fit as jobs

    trained = jobs.train(table, request, ConsoleWatch())
    save(trained.saved, out, metadata=trained.samples.metadata)
    return jobs.summary(trained), lambda: _tables(jobs.describe(trained))


def _train_on_stream(
    path: Path, request: FitRequest, streaming: StreamOptions, out: Path
) -> tuple[dict[str, Any], Callable[[], None]]:
    """Fit to a file that is read in chunks and write the model; the results, and a function that prints them."""
    from multikernel.app.jobs import fit_stream
    from multikernel.persistence import save

    if request.automatic and {"approximation", "rank"}.isdisjoint(request.parameters):
        model, metadata, results = fit_stream.train_automatic(path, request, streaming, ConsoleWatch())
        save(model, out, metadata=metadata)
        return results, lambda: typer.echo(model.explain())
    model, metadata, results = fit_stream.train(path, request, streaming, ConsoleWatch())
    save(model, out, metadata=metadata)
    return results, lambda: _tables(fit_stream.describe(results))


def _tables(tables: Any) -> None:
    for title, header, rows in tables:
        show_table(title, header, rows)
