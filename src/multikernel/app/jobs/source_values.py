"""``values``: what each column of a table is worth, or each source, a group of columns, or each of several files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multikernel.app.jobs.method_samples import MethodSamples
from multikernel.app.jobs.methods import FitRequest, automatic_model, count_of_folds, with_search
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.columns import ColumnKinds
from multikernel.app.tables.encoding import TableEncoding
from multikernel.app.tables.table import CsvTable, read_target
from multikernel.app.tables.views import split
from multikernel.datasets import Task
from multikernel.inspection import source_values

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Worth:
    """What the sources of a table are worth.

    Parameters
    ----------
    file, target, method : str
    samples : int
    what : str, what a source is: a "column", a "source" of several columns, or a "view", one of several files
    found : dict, as ``plain`` makes it
    """

    file: str
    target: str
    method: str
    samples: int
    what: str
    found: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Everything by names."""
        return {"target": self.target, "method": self.method, "samples": self.samples, **self.found}


def plain(values: Any) -> dict[str, Any]:
    """What ``source_values`` returned as dictionaries, lists, strings and numbers; None where there is no number."""
    rows = [{name: _known(value) for name, value in row.items()} for row in values.to_dict("records")]
    about = {name: values.attrs[name] for name in ("score", "constant", "measure", "folds", "permutations")}
    about["error"] = _known(values.attrs["error"])
    pairs = [{name: _known(value) for name, value in pair.items()} for pair in values.attrs["pairs"]]
    return {**about, "sources": rows, "pairs": pairs}


def worth_of(
    table: CsvTable,
    request: FitRequest,
    words: Sequence[str],
    watch: Watch,
    *,
    folds: int | None,
    repeats: int,
    permutations: int,
    pairs: bool,
) -> Worth:
    """What each source is worth to the method that was requested, or to the automatic estimator.

    Parameters
    ----------
    table : the table
    request : the method, the target, and what columns hold
    words : the sources, such as "genes=gene_*"; each column is a source where there is none
    watch : receives the progress
    folds, repeats, permutations, pairs : as ``source_values`` takes them

    Raises
    ------
    ValueError : where the table, the words or an option do not allow it
    """
    y, task, found = read_target(table, request.target, request.task)
    columns = [column.name for column in found]
    if words and table.views:
        raise ValueError("--source groups the columns of one file; of several files each is a source, so leave it out")
    sources = {} if table.views else sources_of(words, columns)
    held_out = table.held_out
    if held_out.times is not None and repeats > 1:
        raise ValueError("--repeats draws folds anew, and --time leaves nothing to draw; leave one of them out")
    folds = count_of_folds(table, request.target, y, task, folds)
    if request.automatic:
        model, X, own = _automatic(table, request, task, found, sources)
    else:
        model, X, own = _by_method(table, request, sources)
    splits: Any = folds
    if held_out.times is not None:
        splits = held_out.folds(y, task, folds, request.seed)
    with watch.steps(folds * repeats, Path(table.file).name) as observe:
        values = source_values(
            model,
            X,
            y,
            splits,
            held_out.within_folds(folds),
            sources=own,
            repeats=repeats,
            permutations=permutations,
            pairs=pairs,
            random_state=request.seed,
            observe=lambda done, total: observe(f"fold {done}"),
        )
    name = type(model).__name__ if request.automatic else request.chosen(task)
    if table.views:
        what = "view"
    else:
        what = "source" if words else "column"
    return Worth(table.file, request.target, name, len(y), what, plain(values))


def sources_of(words: Sequence[str], columns: Sequence[str]) -> dict[str, list[str]]:
    """The columns of each source, in the order of the table.

    Parameters
    ----------
    words : such as "genes=gene_*" and "clinic=age,pressure", with the wildcards of a shell, where no column has
        this very name; none for each column
    columns : those that there are

    Raises
    ------
    ValueError : where a word is written otherwise, names no column, or one that another source has
    """
    if not words:
        return {name: [name] for name in columns}
    found: dict[str, dict[str, None]] = {}
    for word in words:
        name, sign, listed = word.partition("=")
        patterns = [pattern.strip() for pattern in listed.split(",") if pattern.strip()]
        if not sign or not name.strip() or not patterns:
            raise ValueError(
                f"--source {word!r} is written like genes=gene_* or clinic=age,pressure: a name, an equals sign and "
                "columns"
            )
        taken: set[str] = set()
        for pattern in patterns:
            named = [pattern] if pattern in columns else [each for each in columns if fnmatchcase(each, pattern)]
            if not named:
                raise ValueError(f"--source {word!r}: no column to learn from is named {pattern!r}")
            taken.update(named)
        own = found.setdefault(name.strip(), {})  # used as a set, for a dictionary keeps the order of its keys
        own.update(dict.fromkeys(column for column in columns if column in taken))
    for column in columns:
        owners = [name for name, own in found.items() if column in own]
        if len(owners) > 1:
            raise ValueError(
                f"--source: column {column!r} is in {owners[0]!r} and in {owners[1]!r}; give it to one source"
            )
    return {name: list(own) for name, own in found.items()}


def header_of(found: Mapping[str, Any], what: str) -> list[str]:
    """The head of the table that ``rows_of`` gives, of sources that are called so."""
    return [what, "alone", "without", "adds", *(["p"] if found["permutations"] else [])]


def rows_of(found: Mapping[str, Any]) -> list[list[str]]:
    """The lines of the table of sources."""
    return [
        [
            row["source"],
            f"{row['alone']:.4f}",
            f"{row['without']:.4f}",
            _difference(row["adds"], row["se"]),
            *([_text(row["p"], ".3g")] if found["permutations"] else []),
        ]
        for row in found["sources"]
    ]


def pair_rows(found: Mapping[str, Any]) -> list[list[str]]:
    """The lines of the table of pairs, those that repeat each other most first."""
    ordered = sorted(found["pairs"], key=lambda pair: float(pair["interaction"]))
    return [[pair["first"], pair["second"], _difference(pair["interaction"], pair["se"])] for pair in ordered]


def _difference(value: float, error: float | None) -> str:
    """A difference with its standard error, and no minus before a zero."""
    return f"{round(value, 4) + 0.0:+.4f} +- {_text(error, '.4f')}"


def _automatic(
    table: CsvTable, request: FitRequest, task: Task, found: Any, sources: Mapping[str, list[str]]
) -> tuple[Any, Any, Mapping[str, list[str]] | None]:
    """The automatic estimator, the columns as it takes them, and those of each source; None where these are views."""
    table.check_types(request.types, request.target)
    model = automatic_model(replace(request, types={}), task)
    X = _as_declared(ColumnKinds.learn(found, request.types).frame(table), request.types)
    if table.views:
        return model, split(X, table.by_view(X.columns)), None
    return model, X, sources


def _by_method(
    table: CsvTable, request: FitRequest, sources: Mapping[str, list[str]]
) -> tuple[Any, Any, Mapping[str, list[str]] | None]:
    """A method with its search, the columns, and those of each source; None where these are views."""
    samples = MethodSamples.of(table, request, as_numbers=not table.views)
    model = samples.pipeline(with_search(samples.model(request), request, samples.task, samples.y, table.held_out))
    if table.views:
        return model, samples.X, None
    if "table" not in samples.metadata:
        kept = {name: [column for column in own if column in samples.features] for name, own in sources.items()}
        X = _as_declared(samples.X, request.types)
        return model, X, {name: own for name, own in kept.items() if own}
    spread = {each.name: each.names for each in TableEncoding.from_json(dict(samples.metadata["table"])).features}
    parts = {name: [part for column in own for part in spread[column]] for name, own in sources.items()}
    return model, samples.X, parts


def _as_declared(X: pd.DataFrame, types: Mapping[str, str]) -> pd.DataFrame:
    """Columns of the types that are declared, which a model of some sources cannot be given by their names."""
    for name, kind in types.items():
        if kind in ("date", "text"):
            raise ValueError(f"--type {name}={kind}: a column is a {kind} here where its cells show it; leave it out")
    return X.astype({name: kind for name, kind in types.items() if kind == "category" and name in X})


def _known(value: Any) -> Any:
    if isinstance(value, float) and isnan(value):
        return None
    return value


def _text(value: float | None, form: str) -> str:
    if value is None:
        return "-"
    return format(value, form)
