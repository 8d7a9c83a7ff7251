"""The options of a run as a TOML file: written by --save-config, read by --config.

    [fit]
    data = "table.csv"
    target = "y"
    seed = 0

    [fit.set]
    tol = 0.001

There is a table for each command, and in it a key for each option, which is the name of the option without dashes; one
file may have tables of several commands. Options on the command line override those of the file. Paths are relative to
the directory in which the command runs, as on the command line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer

from multikernel.app.cli.console import check_new
from multikernel.app.cli.words import assigned, value_of
from multikernel.app.toml import read_toml, settings_in, toml
from multikernel.files import write_whole

_NOT_OF_A_RUN = frozenset({"config", "save-config", "force", "json", "help"})


def take_config(ctx: typer.Context, path: Path | None) -> Path | None:
    """Make the options in a file the defaults of a command; a usage error where the file has none of this command."""
    if path is None or ctx.resilient_parsing:
        return path
    command = str(ctx.info_name)
    try:
        lists = {param.name for param in ctx.command.params if getattr(param, "multiple", False)}
        ctx.default_map = _defaults(path, command, _keys(ctx), lists)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.strerror:
            message = f"{path}: {error.strerror}"
        else:
            message = str(error)
        raise typer.BadParameter(" ".join(message.split()), param_hint="--config") from None
    return path


def _defaults(path: Path, command: str, names: Mapping[str, str], lists: Collection[str | None]) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            settings = read_toml(settings_in(file))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    options = settings.get(command)
    if not isinstance(options, dict):
        raise ValueError(f"{path} has no options of this command; it needs a table [{command}]")
    for key in options:
        if key not in names:
            close_matches = get_close_matches(key, names, 1)
            guess = f"did you mean {close_matches[0]!r}? It" if close_matches else "it"
            raise ValueError(f"{path}: {command} has no option {key!r:.60}; {guess} has {', '.join(names)}")
    return {
        name: _as_words(path, key, options[key]) if name in lists else options[key]
        for key, name in names.items()
        if key in options
    }


def _as_words(path: Path, key: str, value: Any) -> list[Any]:
    """The words of an option that can be repeated; a table becomes words NAME=VALUE, with texts without quotes."""
    if isinstance(value, dict) and key in ("set", "type"):
        return [f"{name}={item if isinstance(item, str) else repr(item)}" for name, item in value.items()]
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise ValueError(f"{path}: {key} is {value!r:.60}, and has to be a list of words")
    return value


def _keys(ctx: typer.Context) -> dict[str, str]:
    """From the keys of a command's options in a file to the names of the parameters of its function."""
    keys = {}
    for param in ctx.command.params:
        key = max(param.opts, key=len).lstrip("-")
        if param.name and key not in _NOT_OF_A_RUN:
            keys[key] = param.name
    return keys


def check_config(path: Path | None, *, force: bool) -> None:
    """OSError where the file of the options could not be written; called before the work."""
    if path is not None:
        check_new(path, force=force, option="--save-config")


def save_config(ctx: typer.Context, path: Path | None) -> None:
    """Write the options of a run of a command, with the defaults of the options that were not given."""
    if path is not None:
        write_whole(path, config_of(str(ctx.info_name), run_options(ctx)).encode())


def run_options(ctx: typer.Context) -> dict[str, Any]:
    """The options of the run by their keys; those without a value are left out."""
    options: dict[str, Any] = {}
    for key, name in _keys(ctx).items():
        value = ctx.params.get(name)
        if value is None or value == [] or value == ():
            continue
        if key == "set":
            options[key] = {n: _as_value(v) for n, v in assigned(value).items()}
        else:
            options[key] = _plain_value(value)
    return options


def given_words(ctx: typer.Context, without: Collection[str] = ()) -> list[str]:
    """The options that a user gave, on the command line or in a file, as words of a command that repeats the run.

    Parameters
    ----------
    ctx : of the command
    without : keys of options that are left out
    """
    words: list[str] = []
    for key, name in _keys(ctx).items():
        source = ctx.get_parameter_source(name)
        if source is None or source.name == "DEFAULT" or key in (*without, "report", "checkpoint"):
            continue
        value = _plain_value(ctx.params[name])
        for item in value if isinstance(value, list) else [value]:
            words += [f"--{key}", str(item)]
    return words


def config_of(command: str, options: Mapping[str, Any]) -> str:
    """The options of a command as the text of a TOML file; a mapping among them becomes a separate table."""
    head = f"# multikernel {version('multikernel')}: multikernel {command} --config FILE runs this again"
    return f"{head}\n\n{toml({command: options})}"


def _plain_value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value


def _as_value(value: Any) -> Any:
    """A value of --set for a TOML file; values without a TOML type, and texts that look like values, as Python text."""
    if isinstance(value, str):
        if value_of(value) == value:
            return value
        return repr(value)
    simple = (bool, int, float)
    if isinstance(value, simple) or (isinstance(value, list) and all(isinstance(item, simple) for item in value)):
        return value
    return repr(value)
