"""``multikernel bench``."""

from __future__ import annotations

from typing import Annotated

import typer

from multikernel.app.cli import options
from multikernel.app.cli.console import ConsoleWatch, one_line_failures, read, show_json, show_table
from multikernel.app.cli.options import MethodName, TaskName, wish_of


def bench(
    data: options.Data,
    target: options.Target,
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
        wish = wish_of(target, None, task, kernels, (None, None, None), None, 0)
        from multikernel.app.jobs.time_methods import rows_of, time_methods

        names = [each.value for each in method] if method else None
        found = time_methods(read(data), wish, names, repeat, ConsoleWatch())
        if as_json:
            show_json("bench", found.to_json())
            return
        title = f"{data.name}: one fit of {found.samples} samples and {found.features} features"
        show_table(title, ["method", "seconds", "kernels", "steps", "gap"], rows_of(found))
