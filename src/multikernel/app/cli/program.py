"""The program ``multikernel``: its commands and what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from multikernel.app.cli.commands.browser import app as application
from multikernel.app.cli.commands.browser import repeat
from multikernel.app.cli.commands.compare import bench, compare
from multikernel.app.cli.commands.experiments import demo, reproduce
from multikernel.app.cli.commands.fit import fit
from multikernel.app.cli.commands.lists import datasets, methods
from multikernel.app.cli.commands.path import path
from multikernel.app.cli.commands.use import predict, report
from multikernel.app.cli.commands.values import values
from multikernel.app.cli.options import EPILOG

# Without rich's boxes and colours, help and usage errors are the same text on a terminal, in a pipe and in a log.
app = typer.Typer(
    name="multikernel",
    help="Multiple kernel learning with a certificate of optimality.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Command(TyperCommand):
    """A command that refuses a second target: the parser would use the last one without a message."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if sum(word.partition("=")[0] == "--target" for word in args) > 1:
            ctx.fail("--target is given several times, and names one column; the browser application learns several")
        return super().parse_args(ctx, args)


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        typer.echo(f"multikernel {version('multikernel')}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


_COMMANDS: tuple[tuple[Callable[..., None], str | None], ...] = (
    (fit, EPILOG),
    (predict, None),
    (path, EPILOG),
    (compare, None),
    (values, EPILOG),
    (report, None),
    (application, None),
    (repeat, None),
    (bench, EPILOG),
    (methods, None),
    (datasets, None),
    (demo, None),
    (reproduce, None),
)
for command, words in _COMMANDS:
    app.command(name=command.__name__, cls=_Command, epilog=words)(command)
