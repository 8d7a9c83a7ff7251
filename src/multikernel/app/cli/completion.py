"""What the shell offers after the tabulator key: columns of the file, words of --kernels, names for --set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from multikernel.app.cli.kernel_words import WORDS
from multikernel.app.cli.words import KINDS

_LARGEST = 5_000_000  # bytes of a file that is read while somebody waits for its columns


def kernel_words(incomplete: str) -> Iterator[tuple[str, str]]:
    """The words of --kernels with what they mean."""
    yield from ((word.form, word.about) for word in WORDS.values() if word.form.startswith(incomplete))


def columns_of(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """The columns of the table that stands on the line already; none where it cannot be read."""
    from multikernel.streams import Records

    path = Path(str(next(iter(ctx.args), "")))  # where the line ends in an option, arguments are not shared out yet
    try:
        if path.stat().st_size <= _LARGEST:
            yield from (name for name in Records.of(path).names if name.startswith(incomplete))
    except (OSError, ValueError):
        return


def typed_columns(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """The columns with each type that --type may declare."""
    column, sign, _ = incomplete.rpartition("=")
    names = [column] if sign else columns_of(ctx, incomplete)
    yield from (word for name in names for kind in KINDS if (word := f"{name}={kind}").startswith(incomplete))


def parameter_names(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """The parameters of the method that stands on the line already, or of the automatic estimator."""
    from multikernel.app.jobs.methods import estimators_of, parameters_of

    method = ctx.params.get("method")
    for estimator in estimators_of(method):
        for parameter in parameters_of(estimator):
            if f"{parameter.name}=".startswith(incomplete):
                yield f"{parameter.name}=", parameter.kind
