"""The commands of ``multikernel``. Libraries that take long to import are imported in them, so that --help is quick."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from multikernel._files import check_new, write_whole
from multikernel.app.cli.console import ConsoleWatch, one_line_failures, show_table
from multikernel.app.cli.kernel_words import WORDS, parse

if TYPE_CHECKING:
    from multikernel.app.tables.table import Table
    from multikernel.datasets.dataset import Task
    from multikernel.kernels import KernelFamily

# Without rich's boxes and colours, help and usage errors are the same text on a terminal, in a pipe and in a log.
app = typer.Typer(
    name="multikernel",
    help="Multiple kernel learning with a certificate of optimality.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataDir = Annotated[Path | None, typer.Option(help="Directory of data files [default: $MULTIKERNEL_DATA].")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file to write where it exists.")]
_WORDS = "\n\n\b\nKernels (repeat --kernels to join several):\n" + "\n".join(
    f"  {word.form:16}{word.about}" for word in WORDS.values()
)
PaperName = StrEnum("PaperName", "nkrr dpp rls2 report smkl all")
TaskName = StrEnum("TaskName", "auto classification regression")
# The keys of models.METHODS, repeated because that module imports all estimators.
MethodName = StrEnum("MethodName", "easymkl l1mkl lpmkl smkl rls2 polynomial hkl ridgecv average alignment best")


def _kernels(words: list[str] | None) -> KernelFamily | None:
    try:
        return parse(words or [])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--kernels") from None


def _task(name: TaskName) -> Task | None:
    if name is TaskName.auto:
        return None
    return "classification" if name is TaskName.classification else "regression"


def _read(path: Path) -> Table:
    """A table; what is unusual about it is said, on stderr since predictions may go to stdout."""
    from multikernel.app.tables.table import read_table

    table = read_table(path)
    if table.note:
        typer.echo(table.note, err=True)
    return table


def _version(asked: bool) -> None:
    if asked:
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


@app.command()
def demo(
    data: Annotated[
        list[str] | None,
        typer.Option(help="Data set, repeatable [default: breast_cancer, and ionosphere where it is found]."),
    ] = None,
    data_dir: DataDir = None,
    out: Annotated[Path, typer.Option(help="The report to write.")] = Path("report.html"),
    folds: Annotated[int, typer.Option(min=2, help="Outer folds, which test.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Shuffles the folds.")] = 0,
    max_degree: Annotated[int, typer.Option(min=1, help="Largest degree of the polynomial kernels.")] = 10,
    force: Force = False,
) -> None:
    """Compare EasyMKL with its baselines; write a report.

    The main job on real data: nested cross-validation of the area under the curve, and one self-contained HTML file.
    """
    with one_line_failures():
        check_new(out, force=force)
        from multikernel import datasets
        from multikernel.app.demo.results import Plan
        from multikernel.app.demo.study import compare
        from multikernel.app.report.page import render, summary_rows

        names = data or ["breast_cancer"]
        if not data and any(entry.name == "ionosphere" for entry in datasets.available(data_dir)):
            names.append("ionosphere")
        loaded = [datasets.load(name, data_dir) for name in dict.fromkeys(names)]  # a wrong name fails before any work
        plan = Plan(folds=folds, seed=seed, max_degree=max_degree)
        studies = []
        for dataset in loaded:
            with ConsoleWatch().steps(folds, dataset.name) as observe:
                studies.append(compare(dataset, plan, observe))
            header, rows = summary_rows(studies[-1])
            show_table(f"{dataset.name}: area under the ROC curve, {folds} folds", header, rows)
        write_whole(out, render(studies, plan, out, data_dir).encode())
        typer.echo(f"report written to {out}")


@app.command(epilog=_WORDS)
def fit(
    table: Annotated[Path, typer.Argument(metavar="DATA.CSV", help="CSV file (.gz too) with column names in row 1.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    method: Annotated[
        MethodName | None,
        typer.Option(
            help="[default: the automatic estimator; with an option of kernels or machine, easymkl or average]"
        ),
    ] = None,
    task: Annotated[TaskName, typer.Option(help="auto: words and few distinct integers are classes.")] = TaskName.auto,
    kernels: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="Kernels to combine, repeatable; the words are listed below."),
    ] = None,
    lam: Annotated[
        float | None, typer.Option(min=0, max=1, help="Margin machine: from 0, a hard margin, to 1, the class means.")
    ] = None,
    c: Annotated[float | None, typer.Option("--C", help="Support vector machine: weight of the loss.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Squared loss: the ridge.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Shuffles the folds of the cross-validation.")] = 0,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.mk"),
    force: Force = False,
) -> None:
    """Learn from a CSV file and write a model.

    Without further options, the automatic estimator tells numbers, categories, dates and text apart, takes missing
    cells, and chooses kernels and their regularisation; it says what it did.

    With a method, text columns are spread over one 0/1 column for each category, and all features are scaled to [0, 1].
    Missing cells are refused. Where none of --lam, --C and --alpha is given, three inner folds choose the parameter
    that the method has; ridgecv chooses by itself. --kernels, --lam, --C or --alpha without --method stand for easymkl
    where the target holds classes, and for average where it holds numbers.

    Columns whose name begins with an underscore are left out. Delimiters and decimal commas are told from the file.
    """
    family = _kernels(kernels)
    with one_line_failures():
        check_new(out, force=force, inputs=(table,))
        from multikernel.app.jobs.methods import Wish
        from multikernel.persistence import save

        wish = Wish(target, method, _task(task), family, lam, c, alpha, seed)
        cells = _read(table)
        if wish.automatic:
            from multikernel.app.jobs.fit_automatic import learn

            model, columns = learn(cells, target, wish.task, seed, ConsoleWatch())
            save(model, out, metadata={"columns": columns.numeric})
            typer.echo(model.explain())
        else:
            from multikernel.app.jobs.fit_method import describe, train

            trained = train(cells, wish, ConsoleWatch())
            save(trained.model, out, metadata={"table": trained.encoding.to_json()})
            for title, header, rows in describe(trained):
                show_table(title, header, rows)
        typer.echo(f"model written to {out}")


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL.MK", help="A model that fit has written.")],
    table: Annotated[Path, typer.Argument(metavar="NEW.CSV", help="CSV file with the columns of the training file.")],
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of the classes, not decision values.")] = False,
    out: Annotated[Path | None, typer.Option(help="CSV file to write [default: standard output].")] = None,
    force: Force = False,
) -> None:
    """Predict the rows of a CSV file.

    Writes a CSV file with a column "prediction" and, for classes, decision values, in the order of the rows. A label
    that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    with one_line_failures():
        if out is not None:
            check_new(out, force=force, inputs=(model, table))
        from multikernel.app.jobs.predict import predictions

        text, count = predictions(model, _read(table), proba)
        if out is None:
            typer.echo(text, nl=False)
        else:
            write_whole(out, text.encode())
            typer.echo(f"{count} predictions written to {out}")


@app.command()
def compare(
    table: Annotated[Path, typer.Argument(metavar="DATA.CSV", help="CSV file (.gz too) with column names in row 1.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    task: Annotated[TaskName, typer.Option(help="auto: words and few distinct integers are classes.")] = TaskName.auto,
    folds: Annotated[int, typer.Option(min=2, help="Outer folds, which test.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Shuffles the folds.")] = 0,
) -> None:
    """Compare the automatic estimator with others on a CSV file.

    Nested cross-validation: learned kernel weights, one tuned Gaussian kernel, a random forest and gradient boosting
    meet the same folds and the same columns.
    """
    with one_line_failures():
        from multikernel.app.jobs.compare import contest, rows_of

        cells = _read(table)
        with ConsoleWatch().steps(5, table.name) as observe:
            measure, results = contest(cells, target, _task(task), folds, seed, observe)
        title = f"{table.name}: {measure} on {folds} held-out folds, with seconds of choosing and fitting"
        show_table(title, ["method", measure, "seconds"], rows_of(results))


@app.command()
def reproduce(
    paper: Annotated[PaperName, typer.Argument(help="The paper, or all of them.")],
    table: Annotated[int | None, typer.Option(help="Only what stands in this table.")] = None,
    figure: Annotated[int | None, typer.Option(help="Only what stands in this figure.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few cells of each experiment, in minutes.")] = False,
    data_dir: DataDir = None,
    out: Annotated[Path, typer.Option(help="Directory of the report and of the finished cells.")] = Path("reproduced"),
    jobs: Annotated[int, typer.Option(min=1, help="Processes, each with one thread of linear algebra.")] = 1,
) -> None:
    """Repeat the experiments of the papers, measured beside published.

    Finished cells are kept in the directory, so a run that was stopped goes on where it was. The report is index.html.
    """
    with one_line_failures():
        from functools import partial

        from multikernel.reproduce.command import reproduce as measure

        tell = partial(typer.echo, err=True)
        first = measure(
            paper.value, out, table=table, figure=figure, quick=quick, data_dir=data_dir, jobs=jobs, tell=tell
        )
        typer.echo(f"report written to {first}")


@app.command()
def datasets(data_dir: DataDir = None) -> None:
    """List the data sets that can be loaded by name."""
    with one_line_failures():
        from multikernel.datasets import available

        rows = [[e.name, e.task, e.origin, str(e.n), "text" if e.d is None else str(e.d)] for e in available(data_dir)]
        show_table("Data sets", ["name", "task", "from", "rows", "features"], rows, text=(0, 1, 2))
