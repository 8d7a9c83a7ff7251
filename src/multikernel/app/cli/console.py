"""The output of a job: a line for a failure, a bar for progress, and tables or JSON; in a pipe, plain lines only."""

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

STANDARD_INPUT = Path("-")  # the argument that stands for standard input
_INPUT = "standard input"
_SILENCE = 10.0  # seconds after which a fit reports its progress in a pipe
_PIPE_WIDTH = 240  # columns of a table in a pipe, where lines need not be wrapped


class WrongUseError(ValueError):
    """Options that contradict each other, or have no effect."""


@contextmanager
def one_line_failures() -> Iterator[None]:
    """Turn an error of the library into one line on stderr, and its warnings into a line each.

    The exit status is 2 for options that contradict each other, otherwise 1.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _once_for_each_text()
        try:
            yield
        except BrokenPipeError:  # the reader of the output has ended, as head does; typer then ends without a message
            raise
        except KeyboardInterrupt:
            typer.echo("error: stopped before the end", err=True)
            raise typer.Exit(1) from None
        except (ValueError, OSError, KeyError, MemoryError) as error:
            typer.echo(f"error: {sentence(error)}", err=True)
            raise typer.Exit(2 if isinstance(error, WrongUseError) else 1) from None


@contextmanager
def reporting_checkpoints(checkpoint: Path | None) -> Iterator[None]:
    """When a job is stopped, say on stderr which of its parts are finished in a directory of checkpoints."""
    try:
        yield
    except BaseException:
        if checkpoint is not None and checkpoint.is_dir():
            from multikernel.persistence import checkpoints

            for job in checkpoints(checkpoint):
                if job.left:
                    typer.echo(f"{job}, kept in {checkpoint}; the same command resumes from there", err=True)
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


def _once_for_each_text() -> Callable[..., None]:
    shown_texts: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in shown_texts:
            shown_texts.add(text)
            typer.echo(f"warning: {text}", err=True)

    return show


def begin(action: str) -> None:
    """Say on a terminal what a command does, before it loads its libraries.

    Parameters
    ----------
    action : such as "Reading model.mk"
    """
    if sys.stderr.isatty():
        typer.echo(f"{action} ...", err=True)


class ConsoleWatch:
    """Reports the progress of a job on stderr, on a terminal or in a pipe."""

    @contextmanager
    def steps(self, total: int, title: str) -> Iterator[Observe]:
        """Show the progress of a job of ``total`` steps; call the yielded function with a word after each step."""
        if not sys.stderr.isatty():
            yield lambda word: typer.echo(f"{title}: {word} of {total}", err=True)
            return
        with _bar(title, total, "{task.completed:.0f}/{task.total:.0f}") as update:
            yield lambda word: update(advance=1, description=f"{title}, {word}")

    def expecting(self, sentence: str) -> None:
        """Print the forecast of a fit."""
        typer.echo(sentence, err=True)

    @contextmanager
    def fitting(self, title: str) -> Iterator[None]:
        """Show the progress of a fit: a bar with certificate and remaining time; in a pipe a line every ten seconds."""
        if not sys.stderr.isatty():
            with listening(_lines_after_silence(title)):
                yield
            return
        shares: dict[int, float] = {}  # the finished share of each problem of the fit
        with _bar(title, 1.0, "{task.percentage:.0f} %") as update:

            def show(progress: Progress) -> None:
                shares[progress.problem] = progress.part
                update(completed=sum(shares.values()) / progress.problems, description=f"{title}, {progress.summary}")

            with listening(show):
                yield


def _lines_after_silence(title: str) -> Callable[[Progress], None]:
    last = perf_counter()

    def show(progress: Progress) -> None:
        nonlocal last
        if perf_counter() - last >= _SILENCE:
            last = perf_counter()
            typer.echo(f"{title}: {progress}", err=True)

    return show


@contextmanager
def _bar(title: str, total: float, count: str) -> Iterator[Callable[..., None]]:
    """A bar on stderr that is removed at the end; the yielded function updates it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn(count), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield partial(progress.update, progress.add_task(title, total=total))


def check_new(path: Path, *, force: bool, inputs: tuple[Path, ...] = (), option: str = "--out") -> None:
    """OSError where a file cannot be written, is an input file, or exists and is not to be replaced.

    Parameters
    ----------
    path : the file to write
    force : whether a file of that name may be replaced
    inputs : files that will be read
    option : by which the user gave the name
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
    """The table that a command reads, and the columns that decide which rows folds hold out together.

    Parameters
    ----------
    other_files : the further files
    sheet : of Excel files; None where each has one sheet with content
    leave_out : the columns not to learn from
    groups, time : the column of groups, or of times
    of_first : whether samples that are not in the first file, which has the target, are left out in any case
    target : the column to predict; None where the command has no target
    """

    other_files: OtherFiles = field(default_factory=OtherFiles)
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


def read(path: Path, options: TableOptions) -> CsvTable:
    """The table of a file, or of several joined files; remarks on it go to stderr, since results go to stdout.

    Parameters
    ----------
    path : the file, or the first of several; "-" for standard input
    options : the other files, and the columns for special uses
    """
    from multikernel.app.tables.files import check_sheet, read_file
    from multikernel.app.tables.views import ViewTables, files_by_view

    other_files = options.other_files
    sheet = options.sheet or ""
    check_sheet(sheet, other_files.paths(path))
    if path == STANDARD_INPUT and other_files.words:
        raise WrongUseError("with --view each file has a name, by which its view is known; give a file in place of -")
    if other_files.words or ("=" in str(path) and not path.exists()):
        files = files_by_view([str(path), *(other_files.words or ())])
        keep = other_files.missing == "keep"
        table = ViewTables.read(
            files, other_files.key or "", keep=keep, of_first=options.of_first, sheet=sheet
        ).joined()
    elif path == STANDARD_INPUT:
        table = _from_standard_input()
    else:
        table = read_file(path, sheet)
    if table.note:
        typer.echo(table.note, err=True)
    table = table.without([table.full_name(name) for name in options.leave_out or ()])
    groups, time = (None if name is None else table.full_name(name) for name in (options.groups, options.time))
    return table.grouped(groups).timed(time)


def named_file(path: Path | None) -> Path | None:
    """The path of an argument; a usage error where it is empty, as from a shell variable that is not set."""
    if path is not None and path == Path():
        raise typer.BadParameter("the name is empty, or '.'; give that of a file or of another folder")
    return path


def check_exist(*paths: Path) -> None:
    """OSError where an input file does not exist; called before libraries are loaded, which takes longer.

    Parameters
    ----------
    paths : files, "-" or NAME=FILE
    """
    for path in paths:
        if path != STANDARD_INPUT and "=" not in str(path):
            path.stat()


def _from_standard_input() -> CsvTable:
    """The table from the CSV text on standard input."""
    from multikernel.app.tables.files import read_bytes

    if sys.stdin is None:
        raise ValueError(f"{_INPUT} is closed; give a file in place of -")
    return read_bytes(sys.stdin.buffer.read(), _INPUT)


def write_report(report: Path | None, page: Callable[[], str]) -> None:
    """Write the page of a report where the user requested one."""
    if report is not None:
        write_whole(report, page().encode())


def show_results(
    command: str, results: Mapping[str, Any], report: Path | None, as_json: bool, show: Callable[[], None]
) -> None:
    """Print the results of a command and the path of their report: as one JSON document, or by ``show``."""
    if as_json:
        show_json(command, {**results, "report": None if report is None else str(report)})
        return
    show()
    if report is not None:
        typer.echo(f"report written to {report}")


def show_json(command: str, results: Mapping[str, Any]) -> None:
    """Print the results of a command as one JSON document, in which numbers that are not finite are null."""
    typer.echo(json.dumps({"command": command, "version": version("multikernel")} | _json_value(results), indent=2))


def _json_value(value: Any) -> Any:
    """A value converted to the types of JSON."""
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if hasattr(value, "tolist"):
        return _json_value(value.tolist())
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
    text_console = Console(file=io.StringIO(), width=_PIPE_WIDTH, color_system=None, force_terminal=False)
    text_console.print(table)
    lines = [line.rstrip() for line in text_console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    typer.echo("\n".join([title, *lines]))
