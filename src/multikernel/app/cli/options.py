"""Options that several commands have, and their completions in the shell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multikernel.app.cli.config import take_config
from multikernel.app.cli.console import named_file
from multikernel.app.cli.kernel_words import WORDS, parse
from multikernel.app.cli.words import KINDS, assigned, declared

if TYPE_CHECKING:
    from multikernel.app.jobs.methods import FitRequest
    from multikernel.app.tables.table import CsvTable
    from multikernel.datasets import Task
    from multikernel.kernels import KernelFamily

_LARGEST = 5_000_000  # bytes of a file whose columns are read for completion, at most


def kernel_words(incomplete: str) -> Iterator[tuple[str, str]]:
    """The words of --kernels with their meanings."""
    yield from ((word.syntax, word.about) for word in WORDS.values() if word.syntax.startswith(incomplete))


def columns_of(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """The columns of the table that is already on the command line; none where it cannot be read."""
    from multikernel.streams import Records

    path = Path(str(next(iter(ctx.args), "")))  # where the line ends in an option, arguments have no names yet
    try:
        if path.stat().st_size <= _LARGEST:
            yield from (name for name in Records.of(path).names if name.startswith(incomplete))
    except (OSError, ValueError):
        return


def typed_columns(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """The columns, each with all types that --type may declare."""
    column, sign, _ = incomplete.rpartition("=")
    names = [column] if sign else columns_of(ctx, incomplete)
    yield from (word for name in names for kind in KINDS if (word := f"{name}={kind}").startswith(incomplete))


def parameter_names(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """The parameters of the method that is already on the command line, or of the automatic estimator."""
    from multikernel.app.jobs.methods import estimators_of, parameters_of

    method = ctx.params.get("method")
    for estimator in estimators_of(method):
        for parameter in parameters_of(estimator):
            if f"{parameter.name}=".startswith(incomplete):
                yield f"{parameter.name}=", parameter.kind


TaskName = StrEnum("TaskName", "auto classification regression")
# The keys of methods.METHODS, repeated because that module imports all estimators.
MethodName = StrEnum(
    "MethodName",
    "easymkl l1mkl lpmkl localized gated smkl rls2 twolayers polynomial hkl gmkl gmklsvr linearrls2 scales ridgecv "
    "average alignment proportional best",
)
EPILOG = "\n\n\b\nKernels (repeat --kernels to join several):\n" + "\n".join(
    f"  {word.syntax:16}{word.about}" for word in WORDS.values()
)

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA.CSV",
        help="CSV (.gz too), Excel or Parquet file with column names in row 1; - for CSV on standard input.",
        callback=named_file,
    ),
]
Sheet = Annotated[
    str | None, typer.Option(metavar="NAME", help="The sheet of an Excel file [default: the one with content].")
]
Views = Annotated[
    list[str] | None,
    typer.Option(
        "--view",
        metavar="[NAME=]FILE",
        help="A further file of the same samples, repeatable; each file has separate kernels.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that identifies the rows of several files [default: the one that does].",
        autocompletion=columns_of,
    ),
]
MissingName = StrEnum("MissingName", "drop keep")
Missing = Annotated[
    MissingName,
    typer.Option(
        help="Samples that some file lacks: drop leaves them out, keep completes them from their other files."
    ),
]
Target = Annotated[str, typer.Option(help="The column to predict.", autocompletion=columns_of)]
TaskOption = Annotated[TaskName, typer.Option(help="auto: words and few distinct integers are classes.")]
Kernels = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD",
        help="Kernels to combine, repeatable; the words are listed below.",
        autocompletion=kernel_words,
    ),
]
Lam = Annotated[
    float | None, typer.Option(min=0, max=1, help="Margin machine: from 0, a hard margin, to 1, the class means.")
]
LossWeight = Annotated[float | None, typer.Option("--C", help="Support vector machine: weight of the loss.")]
Alpha = Annotated[float | None, typer.Option(help="Squared loss: the ridge.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the estimator, repeatable; `multikernel methods METHOD` lists them.",
        autocompletion=parameter_names,
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COLUMN=KIND",
        help="What a column holds, repeatable: number, category, date or text [default: follows from its cells].",
        autocompletion=typed_columns,
    ),
]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column not to learn from, repeatable.", autocompletion=columns_of),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column whose rows of one value, of one patient say, folds hold out together; not learned from.",
        autocompletion=columns_of,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column of times, dates or numbers: folds test on rows later than all that they learn from.",
        autocompletion=columns_of,
    ),
]
Memory = Annotated[
    str | None, typer.Option(help="Bytes for a file that is read in chunks, such as 2GB; a larger one is read so.")
]
LearnProba = Annotated[
    bool, typer.Option("--proba", help="Learn probabilities of the classes, too; the automatic estimator does so.")
]
Approximation = Annotated[str | None, typer.Option(help="Kernels by few features each: nystroem, fourier or auto.")]
Rank = Annotated[int | None, typer.Option(min=1, help="How many features a kernel has then.")]
CheckpointFile = Annotated[
    Path | None, typer.Option(help="File that keeps the state of a fit in chunks, so that an interrupted fit resumes.")
]
Seed = Annotated[int, typer.Option(min=0, help="Shuffles the folds.")]
Report = Annotated[Path | None, typer.Option(metavar="REPORT.HTML", help="Write a report as one file.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file to write where it exists.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON, and nothing else on stdout.")]
DataDir = Annotated[Path | None, typer.Option(help="Directory of data files [default: $MULTIKERNEL_DATA].")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Work on the cluster of this Dask scheduler, such as tcp://10.0.0.1:8786."),
]
CheckpointDir = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint", metavar="DIR", help="Keep finished parts there: the same command resumes after it was stopped."
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="RUN.TOML",
        help="Options from a file that --save-config wrote; those of the command line win.",
        is_eager=True,
        callback=take_config,
    ),
]
SaveConfig = Annotated[
    Path | None,
    typer.Option("--save-config", metavar="RUN.TOML", help="Write the options of this run to a file, for --config."),
]


def family_of(words: list[str] | None, method: str | None = None) -> KernelFamily | None:
    """The kernels of the words of --kernels; a usage error where a word is wrong.

    Products of kernels of centred features have no linear part, so ``polynomial`` does not centre features.
    """
    try:
        return parse(words or [], standardized=method != "polynomial")
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--kernels") from None


def task_of(name: TaskName) -> Task | None:
    """The named task; None where the task follows from the table."""
    if name is TaskName.auto:
        return None
    if name is TaskName.classification:
        return "classification"
    return "regression"


def request_of(
    target: str,
    method: MethodName | None,
    task: TaskName,
    kernels: list[str] | None,
    numbers: tuple[float | None, float | None, float | None],
    settings: list[str] | None,
    seed: int,
    proba: bool = False,
    types: list[str] | None = None,
) -> FitRequest:
    """The options of a fit as one value; usage errors where a word of --kernels, --set or --type is wrong."""
    family = family_of(kernels, method)
    from multikernel.app.jobs.methods import FitRequest

    try:
        parameters = assigned(settings or [])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from None
    return FitRequest(target, method, task_of(task), family, *numbers, seed, parameters, proba, types_of(types))


def of_table(request: FitRequest, table: CsvTable) -> FitRequest:
    """The options with the full names of columns in a table of several files."""
    from multikernel.app.tables.views import target_of

    types = {table.full_name(name): kind for name, kind in request.types.items()}
    return replace(request, target=target_of(table, request.target), types=types)


def types_of(words: list[str] | None) -> dict[str, str]:
    """The types of columns in the words of --type; a usage error where a word is wrong."""
    try:
        return declared(words or [])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--type") from None
