"""``multikernel compare`` and ``multikernel bench``: methods beside each other, by scores and by seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from multikernel.app.cli import options
from multikernel.app.cli.config import check_config, given_words, save_config
from multikernel.app.cli.console import (
    ConsoleWatch,
    OtherFiles,
    TableOptions,
    check_new,
    one_line_failures,
    read,
    reporting_checkpoints,
    show_json,
    show_results,
    show_table,
    write_report,
)
from multikernel.app.cli.options import MethodName, MissingName, TaskName, request_of, task_of, types_of

if TYPE_CHECKING:
    from multikernel.app.jobs.compare import Comparison


def compare(
    ctx: typer.Context,
    data: options.Data,
    target: options.Target,
    sheet: options.Sheet = None,
    views: options.Views = None,
    key: options.Key = None,
    missing: options.Missing = MissingName.drop,
    task: options.TaskOption = TaskName.auto,
    types: options.Types = None,
    leave_out: options.LeaveOut = None,
    groups: options.Groups = None,
    time: options.Time = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A method to compare, repeatable [default: all of them]."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Outer folds, which test [default: 5, or as many as the rows allow].")
    ] = None,
    seed: options.Seed = 0,
    report: options.Report = None,
    checkpoint: options.CheckpointDir = None,
    force: options.Force = False,
    as_json: options.Json = False,
    config: options.Config = None,
    save_config_to: options.SaveConfig = None,
) -> None:
    """Compare the automatic estimator with others on a CSV file.

    Nested cross-validation: learned kernel weights, their plain average, the best single kernel, one tuned Gaussian
    kernel, a random forest and gradient boosting have the same folds and the same columns. With several files, the
    methods that learn kernels have separate kernels for each file; the others use the columns of all files.
    """
    with one_line_failures(), reporting_checkpoints(checkpoint):
        other_files = OtherFiles(views, key, missing.value)
        if report is not None:
            check_new(report, force=force, inputs=other_files.paths(data), option="--report")
        check_config(save_config_to, force=force)
        declared = types_of(types)
        from multikernel.app.jobs.compare import compare_methods
        from multikernel.app.tables.views import target_of

        table = read(data, TableOptions(other_files, sheet, leave_out, groups, time, target=target))
        column = target_of(table, target)
        declared = {table.full_name(name): kind for name, kind in declared.items()}
        comparison = compare_methods(
            table, column, task_of(task), folds, seed, ConsoleWatch(), only or None, checkpoint, declared
        )
        chosen = ["--target", target, "--folds", str(comparison.folds), "--seed", str(seed)]
        command = ["multikernel", "compare", str(data), *chosen, *given_words(ctx, ("data", "target", "folds", "seed"))]
        write_report(report, lambda: _page(comparison, command))
        save_config(ctx, save_config_to)
        show_results(
            "compare", comparison.to_json(), report, as_json, lambda: _show(other_files.title(data), comparison)
        )


def _page(comparison: Comparison, command: list[str]) -> str:
    from multikernel.app.report.comparison_page import render

    return render(comparison, command)


def _show(files: str, comparison: Comparison) -> None:
    """The table of the methods."""
    from multikernel.app.jobs.compare import rows_of

    title = f"{files}: {comparison.measure} on {comparison.folds} held-out folds, with seconds of choosing and fitting"
    show_table(title, ["method", comparison.measure, "seconds"], rows_of(comparison))


def bench(
    data: options.Data,
    target: options.Target,
    sheet: options.Sheet = None,
    method: Annotated[
        list[MethodName] | None, typer.Option(help="A method to time, repeatable [default: all that fit the target].")
    ] = None,
    task: options.TaskOption = TaskName.auto,
    kernels: options.Kernels = None,
    repeat: Annotated[int, typer.Option(min=1, help="Fits of each method, of which the median counts.")] = 3,
    as_json: options.Json = False,
) -> None:
    """Time one fit of each method on a CSV file, with one thread of linear algebra.

    Each method has its own regularisation by default, so what "auto" costs is part of the time; the first fit, which
    compiles functions, does not count.
    """
    with one_line_failures():
        request = request_of(target, None, task, kernels, (None, None, None), None, 0)
        from multikernel.app.jobs.time_methods import rows_of, time_methods

        names = [name.value for name in method] if method else None
        times = time_methods(read(data, TableOptions(sheet=sheet)), request, names, repeat, ConsoleWatch())
        if as_json:
            show_json("bench", times.to_json())
            return
        title = f"{data.name}: one fit of {times.samples} samples and {times.features} features"
        show_table(title, ["method", "seconds", "kernels", "steps", "gap"], rows_of(times))
