"""``multikernel path``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from multikernel.app.cli import options
from multikernel.app.cli.config import check_config, save_config
from multikernel.app.cli.console import (
    ConsoleWatch,
    OtherFiles,
    TableOptions,
    WrongUseError,
    check_new,
    one_line_failures,
    read,
    reporting_checkpoints,
    show_results,
    show_table,
    write_report,
)
from multikernel.app.cli.options import MethodName, TaskName, request_of

if TYPE_CHECKING:
    from multikernel.app.jobs.follow_path import Followed


def path(
    ctx: typer.Context,
    data: options.Data,
    target: options.Target,
    sheet: options.Sheet = None,
    method: Annotated[
        MethodName | None, typer.Option(help="[default: easymkl for classes, average for numbers]")
    ] = None,
    parameter: Annotated[
        str | None, typer.Option(help="The parameter to follow [default: what regularises the method].")
    ] = None,
    values: Annotated[
        str | None, typer.Option(metavar="V1,V2,...", help="Its values [default: some that suit the parameter].")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=2, max=1000, help="How many values, where --values does not list them.")
    ] = None,
    task: options.TaskOption = TaskName.auto,
    types: options.Types = None,
    leave_out: options.LeaveOut = None,
    groups: options.Groups = None,
    time: options.Time = None,
    kernels: options.Kernels = None,
    settings: options.Set = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Folds that test each value [default: 5, or as many as the rows allow].")
    ] = None,
    seed: options.Seed = 0,
    report: options.Report = None,
    checkpoint: options.CheckpointDir = None,
    force: options.Force = False,
    as_json: options.Json = False,
    config: options.Config = None,
    save_config_to: options.SaveConfig = None,
) -> None:
    """Follow a method over the values of one parameter.

    For each value: the score on held-out folds and on the training sample, the kernels with a positive weight, and the
    certificate. Two values are marked: the best, and the simplest model within one standard error of it.
    """
    with one_line_failures(), reporting_checkpoints(checkpoint):
        request = request_of(target, method, task, kernels, (None, None, None), settings, seed, types=types)
        if report is not None:
            check_new(report, force=force, inputs=(data,), option="--report")
        check_config(save_config_to, force=force)
        from multikernel.app.jobs.follow_path import follow, numbers_of

        if values is not None and count is not None:
            raise WrongUseError(
                "--values lists the values, and --count says how many there are to be; give one of them"
            )
        numbers = None if values is None else numbers_of(values)
        table = read(data, TableOptions(OtherFiles(), sheet, leave_out, groups, time, target=target))
        followed = follow(table, request, parameter, numbers, folds, ConsoleWatch(), checkpoint, count)
        write_report(report, lambda: _page(followed))
        save_config(ctx, save_config_to)
        show_results("path", followed.to_json(), report, as_json, lambda: _show(data.name, followed))


def _page(followed: Followed) -> str:
    from multikernel.app.report.page import path_page

    return path_page(followed)


def _show(file: str, followed: Followed) -> None:
    """The table of the values."""
    from multikernel.app.jobs.follow_path import header_of, rows_of

    score = f"{followed.measure} on {len(followed.scores)} held-out folds"
    title = f"{file}: {followed.method} over {followed.parameter}, {score}"
    header = header_of(followed)
    show_table(title, header, rows_of(followed), text=(len(header) - 1,))
