"""``multikernel values``: what each column of a table, or each group of columns, is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multikernel.app.cli import options
from multikernel.app.cli.config import check_config, save_config
from multikernel.app.cli.console import (
    ConsoleWatch,
    OtherFiles,
    TableOptions,
    check_new,
    one_line_failures,
    read,
    show_results,
    show_table,
    write_report,
)
from multikernel.app.cli.options import MethodName, MissingName, TaskName, of_table, request_of

if TYPE_CHECKING:
    from multikernel.app.jobs.source_values import Worth

Sources = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME=COLUMNS",
        help="A group of columns that is measured as one, such as clinic=age,pressure or 'genes=gene_*', repeatable; "
        "columns of no group are left out [default: each column by itself, of several files each file].",
    ),
]
Permutations = Annotated[
    int, typer.Option(min=0, help="Permutations of each column or source for its p-value; each is a fit in every fold.")
]
Pairs = Annotated[
    bool, typer.Option("--pairs/--no-pairs", help="Whether two columns or sources repeat or complete each other.")
]


def values(
    ctx: typer.Context,
    data: options.Data,
    target: options.Target,
    sheet: options.Sheet = None,
    views: options.Views = None,
    key: options.Key = None,
    missing: options.Missing = MissingName.drop,
    sources: Sources = None,
    method: Annotated[MethodName | None, typer.Option(help="[default: the automatic estimator]")] = None,
    task: options.TaskOption = TaskName.auto,
    types: options.Types = None,
    leave_out: options.LeaveOut = None,
    groups: options.Groups = None,
    time: options.Time = None,
    kernels: options.Kernels = None,
    settings: options.Set = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Folds that test [default: 5, or as many as the rows allow].")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often the folds are drawn.")] = 1,
    permutations: Permutations = 0,
    pairs: Pairs = True,
    seed: options.Seed = 0,
    report: options.Report = None,
    force: options.Force = False,
    as_json: options.Json = False,
    config: options.Config = None,
    save_config_to: options.SaveConfig = None,
) -> None:
    """Say what each column of a CSV file is worth: alone, and in addition to the others.

    With --source it is each group of columns that has a name, such as the values of one laboratory; with --view, each
    of several files. On held-out folds: the score of a model of this column only, that of a model of all others, and
    what the column adds to these, with a standard error. For s columns these are 1 + 2 s fits in each fold, and
    s (s - 1) / 2 for the pairs. The weights of a model do not say this: of two columns that repeat each other, either
    may have them.
    """
    with one_line_failures():
        request = request_of(target, method, task, kernels, (None, None, None), settings, seed, types=types)
        other_files = OtherFiles(views, key, missing.value)
        if report is not None:
            check_new(report, force=force, inputs=other_files.paths(data), option="--report")
        check_config(save_config_to, force=force)
        from multikernel.app.jobs.source_values import worth_of

        table = read(data, TableOptions(other_files, sheet, leave_out, groups, time, target=target))
        worth = worth_of(
            table,
            of_table(request, table),
            sources or [],
            ConsoleWatch(),
            folds=folds,
            repeats=repeats,
            permutations=permutations,
            pairs=pairs,
        )
        write_report(report, lambda: _page(worth))
        save_config(ctx, save_config_to)
        show_results(
            "values",
            worth.to_json(),
            report,
            as_json,
            lambda: _show(other_files.title(data), worth.source_word, worth.values),
        )


def _page(worth: Worth) -> str:
    from multikernel.app.report.page import values_page

    return values_page(worth)


def _show(files: str, source_word: str, values: Mapping[str, Any]) -> None:
    """Print the tables of the sources and of their pairs; ``source_word`` is the word for a source."""
    from multikernel.app.jobs.source_values import header_of, pair_rows, rows_of

    title = (
        f"{files}: {values['measure']} on {values['folds']} held-out folds, {values['score']:.4f} with all "
        f"{source_word}s, {values['constant']:.4f} with a constant prediction"
    )
    show_table(title, header_of(values, source_word), rows_of(values))
    typer.echo(
        f"alone: a model of this {source_word} only; without: of all others; adds: the score of all less that of the "
        "others, +- its standard error"
    )
    if values["pairs"]:
        title = f"Pairs of {source_word}s: below 0 they repeat each other, above 0 they complete each other"
        show_table(title, [source_word, "and", "interaction"], pair_rows(values), text=(1,))
