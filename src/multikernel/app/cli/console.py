"""What a user sees of a job: a line for a failure, a bar for progress, tables or JSON; in a pipe, plain lines only."""

from __future__ import annotations

import io
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from multikernel.app.jobs.watch import Observe
from multikernel.files import check_writable, write_whole
from multikernel.observer import Progress, listening

if TYPE_CHECKING:
    from multikernel.app.tables.table import CsvTable

STANDARD_INPUT = Path("-")  # in place of a file
_INPUT = "standard input"
_SILENCE = 10.0  # seconds after which a fit says in a pipe how far it is
_PIPE_WIDTH = 240  # columns of a table in a pipe, where lines need not be wrapped


class WrongUseError(ValueError):
    """Options that contradict each other, or say nothing."""


@contextmanager
def one_line_failures() -> Iterator[None]:
    """Turn an error of the library into one line on stderr, and its warnings into a line each.

    The exit status is 2 for options that contradict each other, and else 1.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _showing_each_once()
        try:
            yield
        except BrokenPipeError:  # who reads our output has stopped reading, as head does; typer ends quietly
            raise
        except KeyboardInterrupt:
            typer.echo("error: stopped before the end", err=True)
            raise typer.Exit(1) from None
        except (ValueError, OSError, KeyError, MemoryError) as error:
            typer.echo(f"error: {sentence(error)}", err=True)
            raise typer.Exit(2 if isinstance(error, WrongUseError) else 1) from None


@contextmanager
def reporting_what_is_left(checkpoint: Path | None) -> Iterator[None]:
    """Say on stderr what a directory of checkpoints holds of the work that is stopped, for the command that goes on."""
    try:
        yield
    except BaseException:
        if checkpoint is not None and checkpoint.is_dir():
            from multikernel.persistence import checkpoints

            for work in checkpoints(checkpoint):
                if work.left:
                    typer.echo(f"{work}, kept in {checkpoint}; the same command resumes from there", err=True)
        raise


def sentence(error: BaseException) -> str:
    """The message of an error on one line, without error numbers and without the quotes of a KeyError."""
    if isinstance(error, MemoryError):
        cause = " ".join(str(error).split())
        return "there is not enough memory for this job" + (f": {cause}" if cause else "")
    if isinstance(error, OSError) and error.strerror is not None and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror is not None:
        return f"the results cannot be written: {error.strerror}"
    if isinstance(error, KeyError) and error.args:
        text = str(error.args[0])
    else:
        text = str(error)
    return " ".join(text.split()) or type(error).__name__


def _showing_each_once() -> Callable[..., None]:
    earlier: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in earlier:
            earlier.add(text)
            typer.echo(f"warning: {text}", err=True)

    return show


def begin(what: str) -> None:
    """Say on a terminal what a command does, before it loads the libraries that it does it with.

    Parameters
    ----------
    what : a word for it
    """
    if sys.stderr.isatty():
        typer.echo(f"{what} ...", err=True)


class ConsoleWatch:
    """The watch of a job on a terminal or in a pipe, on stderr."""

    @contextmanager
    def steps(self, total: int, title: str) -> Iterator[Observe]:
        """Show the progress of a job of ``total`` steps: call what is yielded after each step, with a word about it."""
        if not sys.stderr.isatty():
            yield lambda what: typer.echo(f"{title}: {what} of {total}", err=True)
            return
        with _bar(title, total, "{task.completed:.0f}/{task.total:.0f}") as update:
            yield lambda what: update(advance=1, description=f"{title}, {what}")

    def expecting(self, what: str) -> None:
        """Say what a fit will take."""
        typer.echo(what, err=True)

    @contextmanager
    def fitting(self, title: str) -> Iterator[None]:
        """Show how far a fit is: a bar with certificate and time left, in a pipe a line after each long silence."""
        if not sys.stderr.isatty():
            with listening(_now_and_then(title)):
                yield
            return
        parts: dict[int, float] = {}  # how far each problem of the fit is
        with _bar(title, 1.0, "{task.percentage:.0f} %") as update:

            def show(progress: Progress) -> None:
                parts[progress.problem] = progress.part
                update(completed=sum(parts.values()) / progress.problems, description=f"{title}, {progress.summary}")

            with listening(show):
                yield


def _now_and_then(title: str) -> Callable[[Progress], None]:
    last = perf_counter()

    def show(progress: Progress) -> None:
        nonlocal last
        if perf_counter() - last >= _SILENCE:
            last = perf_counter()
            typer.echo(f"{title}: {progress}", err=True)

    return show


@contextmanager
def _bar(title: str, total: float, count: str) -> Iterator[Callable[..., None]]:
    """A bar on stderr that vanishes at the end; what is yielded updates it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn(count), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield partial(progress.update, progress.add_task(title, total=total))


def check_new(path: Path, *, force: bool, inputs: tuple[Path, ...] = (), option: str = "--out") -> None:
    """OSError where a file cannot be written, is one of those to be read, or is there and was not meant to be replaced.

    Parameters
    ----------
    path : the file to write
    force : whether a file of that name may be replaced
    inputs : files that will be read
    option : what the user gave the name by
    """
    check_writable(path)
    if not path.exists():
        return
    if any(other.exists() and path.samefile(other) for other in inputs):
        raise FileExistsError(f"cannot write {path}: it is the file to be read; give another name to {option}")
    if not force:
        raise FileExistsError(
            f"cannot write {path}: it exists; give another name to {option}, or --force to replace it"
        )


@dataclass(frozen=True)
class OtherFiles:
    """The options about further files of the same samples.

    Parameters
    ----------
    words : list of str, FILE or NAME=FILE, or None
    key : the column that names the rows, or None
    missing : "drop" or "keep"
    """

    words: Sequence[str] | None = None
    key: str | None = None
    missing: str = "drop"

    def __post_init__(self) -> None:
        if not self.words and (self.key or self.missing == "keep"):
            raise WrongUseError(
                "--key and --missing keep are about the rows of several files; give the others by --view"
            )

    def paths(self, first: Path) -> tuple[Path, ...]:
        """All files."""
        words = (str(first), *(self.words or ()))
        return tuple(Path(word) if Path(word).exists() else Path(word.partition("=")[2] or word) for word in words)

    def title(self, first: Path) -> str:
        """The names of all files."""
        return " + ".join(path.name for path in self.paths(first))


@dataclass(frozen=True)
class TableOptions:
    """Which table a command reads, and which of its rows folds hold out together.

    Parameters
    ----------
    others : the further files
    sheet : of Excel files; None where each has one with content
    leave_out : the columns not to learn from
    groups, time : the column of groups, or of times
    of_first : whether samples that the first file lacks are left out in any case, since it has the target
    target : the column to predict, where one is named
    """

    others: OtherFiles = field(default_factory=OtherFiles)
    sheet: str | None = None
    leave_out: Sequence[str] | None = None
    groups: str | None = None
    time: str | None = None
    of_first: bool = True
    target: str | None = None

    def __post_init__(self) -> None:
        if self.target is not None and self.target in (self.leave_out or ()):
            raise WrongUseError(
                f"--leave-out {self.target!r} is the target, which is never learned from; name another column"
            )
        for option, column in (("--groups", self.groups), ("--time", self.time)):
            if column is not None and column == self.target:
                raise WrongUseError(f"{option} {column!r} is the target; name another column")
        if self.groups is not None and self.time is not None:
            raise WrongUseError(
                "--groups and --time exclude each other: folds hold out whole groups, or rows later than all others"
            )


def read(path: Path, given: TableOptions) -> CsvTable:
    """A table without some columns, and with groups; notes on it go to stderr, since results go to stdout.

    Parameters
    ----------
    path : the file, or the first of several; "-" for standard input
    given : how it is read
    """
    from multikernel.app.tables.files import check_sheet, read_file
    from multikernel.app.tables.views import ViewTables, files_by_view

    others = given.others
    sheet = given.sheet or ""
    check_sheet(sheet, others.paths(path))
    if path == STANDARD_INPUT and others.words:
        raise WrongUseError("with --view each file has a name, by which its view is known; give a file in place of -")
    if others.words or ("=" in str(path) and not path.exists()):
        files = files_by_view([str(path), *(others.words or ())])
        keep = others.missing == "keep"
        table = ViewTables.read(files, others.key or "", keep=keep, of_first=given.of_first, sheet=sheet).joined()
    elif path == STANDARD_INPUT:
        table = _from_standard_input()
    else:
        table = read_file(path, sheet)
    if table.note:
        typer.echo(table.note, err=True)
    table = table.without([table.full_name(name) for name in given.leave_out or ()])
    groups, time = (None if name is None else table.full_name(name) for name in (given.groups, given.time))
    return table.grouped(groups).timed(time)


def named_file(path: Path | None) -> Path | None:
    """The path of an argument; a usage error where its name was empty, as that of a variable that is not set."""
    if path is not None and path == Path():
        raise typer.BadParameter("the name is empty, or '.'; give that of a file or of another folder")
    return path


def check_there(*paths: Path) -> None:
    """OSError where a file that is to be read is not there: called before libraries are loaded, which takes longer.

    Parameters
    ----------
    paths : files, "-" or NAME=FILE
    """
    for path in paths:
        if path != STANDARD_INPUT and "=" not in str(path):
            path.stat()


def _from_standard_input() -> CsvTable:
    """The table that another program writes to this one."""
    from multikernel.app.tables.files import read_bytes

    if sys.stdin is None:
        raise ValueError(f"{_INPUT} is closed; give a file in place of -")
    return read_bytes(sys.stdin.buffer.read(), _INPUT)


def write_report(report: Path | None, page: Callable[[], str]) -> None:
    """Write the page of a report where one is asked for."""
    if report is not None:
        write_whole(report, page().encode())


def show_found(
    command: str, results: Mapping[str, Any], report: Path | None, as_json: bool, show: Callable[[], None]
) -> None:
    """Print the results of a command, and where their report is: as one JSON document, or as ``show`` prints them."""
    if as_json:
        show_json(command, {**results, "report": None if report is None else str(report)})
        return
    show()
    if report is not None:
        typer.echo(f"report written to {report}")


def show_json(command: str, results: Mapping[str, Any]) -> None:
    """Print the results of a command as one JSON document; what is no finite number is null."""
    typer.echo(json.dumps({"command": command, "version": version("multikernel")} | _plain(results), indent=2))


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def show_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, text: Sequence[int] = (0,)
) -> None:
    """Print a table on stdout, in a pipe without rules; the columns in ``text`` (positions) are aligned to the left."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    table = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False, show_header=any(columns))
    for j, name in enumerate(columns):
        table.add_column(name, justify="left" if j in text else "right", no_wrap=not terminal)
    for row in rows:
        table.add_row(*map(Text, row))  # as Text, so that brackets in a name are not markup
    if terminal:
        Console(highlight=False).print(Text(title, style="bold"), table)
        return
    plain = Console(file=io.StringIO(), width=_PIPE_WIDTH, color_system=None, force_terminal=False)
    plain.print(table)
    lines = [line.rstrip() for line in plain.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    typer.echo("\n".join([title, *lines]))
