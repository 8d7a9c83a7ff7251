"""``values``: what each column of a table is worth, or each group of columns, or each of several files."""

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
    source_word : str, the word for a source: "column", "source" for several columns, or "view" for one of several files
    values : dict, the result of ``plain``
    """

    file: str
    target: str
    method: str
    samples: int
    source_word: str
    values: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The result as a dictionary."""
        return {"target": self.target, "method": self.method, "samples": self.samples, **self.values}


def plain(values: Any) -> dict[str, Any]:
    """The result of ``source_values`` as dictionaries, lists, strings and numbers, with None in place of NaN."""
    rows = [{name: _number_or_none(value) for name, value in row.items()} for row in values.to_dict("records")]
    about = {name: values.attrs[name] for name in ("score", "constant", "measure", "folds", "permutations")}
    about["error"] = _number_or_none(values.attrs["error"])
    pairs = [{name: _number_or_none(value) for name, value in pair.items()} for pair in values.attrs["pairs"]]
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
    request : the method, the target, and the declared types of columns
    words : the sources, such as "genes=gene_*"; without any, each column is a source
    watch : receives the progress
    folds, repeats, permutations, pairs : as ``source_values`` takes them

    Raises
    ------
    ValueError : where the table, the words or an option do not allow it
    """
    y, task, feature_columns = read_target(table, request.target, request.task)
    columns = [column.name for column in feature_columns]
    if words and table.views:
        raise ValueError("--source groups the columns of one file; of several files each is a source, so leave it out")
    sources = {} if table.views else sources_of(words, columns)
    held_out = table.held_out
    if held_out.times is not None and repeats > 1:
        raise ValueError("--repeats draws folds anew, and --time leaves nothing to draw; leave one of them out")
    folds = count_of_folds(table, request.target, y, task, folds)
    if request.automatic:
        model, X, source_columns = _automatic(table, request, task, feature_columns, sources)
    else:
        model, X, source_columns = _by_method(table, request, sources)
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
            sources=source_columns,
            repeats=repeats,
            permutations=permutations,
            pairs=pairs,
            random_state=request.seed,
            observe=lambda step, total: observe(f"fold {step}"),
        )
    name = type(model).__name__ if request.automatic else request.chosen(task)
    if table.views:
        source_word = "view"
    else:
        source_word = "source" if words else "column"
    return Worth(table.file, request.target, name, len(y), source_word, plain(values))


def sources_of(words: Sequence[str], columns: Sequence[str]) -> dict[str, list[str]]:
    """The columns of each source, in the order of the table.

    Parameters
    ----------
    words : such as "genes=gene_*" and "clinic=age,pressure"; a pattern is the name of a column, or has the wildcards of
        a shell; without any, each column is a source
    columns : of the table

    Raises
    ------
    ValueError : where a word is not of this form, or names no column, or a column that another source has
    """
    if not words:
        return {name: [name] for name in columns}
    columns_by_source: dict[str, dict[str, None]] = {}
    for word in words:
        name, sign, column_text = word.partition("=")
        patterns = [pattern.strip() for pattern in column_text.split(",") if pattern.strip()]
        if not sign or not name.strip() or not patterns:
            raise ValueError(
                f"--source {word!r} is written like genes=gene_* or clinic=age,pressure: a name, an equals sign and "
                "columns"
            )
        selected: set[str] = set()
        for pattern in patterns:
            matches = (
                [pattern] if pattern in columns else [column for column in columns if fnmatchcase(column, pattern)]
            )
            if not matches:
                raise ValueError(f"--source {word!r}: no column to learn from is named {pattern!r}")
            selected.update(matches)
        source_columns = columns_by_source.setdefault(
            name.strip(), {}
        )  # used as a set, for a dictionary keeps the order of its keys
        source_columns.update(dict.fromkeys(column for column in columns if column in selected))
    for column in columns:
        owners = [name for name, source_columns in columns_by_source.items() if column in source_columns]
        if len(owners) > 1:
            raise ValueError(
                f"--source: column {column!r} is in {owners[0]!r} and in {owners[1]!r}; give it to one source"
            )
    return {name: list(source_columns) for name, source_columns in columns_by_source.items()}


def header_of(values: Mapping[str, Any], source_word: str) -> list[str]:
    """The header of the table of ``rows_of``; ``source_word`` is the word for a source."""
    return [source_word, "alone", "without", "adds", *(["p"] if values["permutations"] else [])]


def rows_of(values: Mapping[str, Any]) -> list[list[str]]:
    """The lines of the table of sources."""
    return [
        [
            row["source"],
            f"{row['alone']:.4f}",
            f"{row['without']:.4f}",
            _difference(row["adds"], row["se"]),
            *([_text(row["p"], ".3g")] if values["permutations"] else []),
        ]
        for row in values["sources"]
    ]


def pair_rows(values: Mapping[str, Any]) -> list[list[str]]:
    """The lines of the table of pairs, those that repeat each other most first."""
    ordered = sorted(values["pairs"], key=lambda pair: float(pair["interaction"]))
    return [[pair["first"], pair["second"], _difference(pair["interaction"], pair["se"])] for pair in ordered]


def _difference(value: float, error: float | None) -> str:
    """A difference with its standard error, and no minus before a zero."""
    return f"{round(value, 4) + 0.0:+.4f} +- {_text(error, '.4f')}"


def _automatic(
    table: CsvTable, request: FitRequest, task: Task, feature_columns: Any, sources: Mapping[str, list[str]]
) -> tuple[Any, Any, Mapping[str, list[str]] | None]:
    """The automatic estimator, its input, and the columns of each source; None in place of these where it is views."""
    table.check_types(request.types, request.target)
    model = automatic_model(replace(request, types={}), task)
    X = _with_declared_types(ColumnKinds.learn(feature_columns, request.types).frame(table), request.types)
    if table.views:
        return model, split(X, table.by_view(X.columns)), None
    return model, X, sources


def _by_method(
    table: CsvTable, request: FitRequest, sources: Mapping[str, list[str]]
) -> tuple[Any, Any, Mapping[str, list[str]] | None]:
    """A method with its search, its input, and the columns of each source; None in place of these where it is views."""
    samples = MethodSamples.of(table, request, as_numbers=not table.views)
    model = samples.pipeline(with_search(samples.model(request), request, samples.task, samples.y, table.held_out))
    if table.views:
        return model, samples.X, None
    if "table" not in samples.metadata:
        columns_by_source = {
            name: [column for column in source_columns if column in samples.features]
            for name, source_columns in sources.items()
        }
        X = _with_declared_types(samples.X, request.types)
        return model, X, {name: source_columns for name, source_columns in columns_by_source.items() if source_columns}
    names_of_features = {
        feature.name: feature.names for feature in TableEncoding.from_json(dict(samples.metadata["table"])).features
    }
    encoded_columns = {
        name: [feature_name for column in source_columns for feature_name in names_of_features[column]]
        for name, source_columns in sources.items()
    }
    return model, samples.X, encoded_columns


def _with_declared_types(X: pd.DataFrame, types: Mapping[str, str]) -> pd.DataFrame:
    """The columns converted to their declared types, since models of single sources do not receive ``types``."""
    for name, kind in types.items():
        if kind in ("date", "text"):
            raise ValueError(f"--type {name}={kind}: a column is a {kind} here where its cells show it; leave it out")
    return X.astype({name: kind for name, kind in types.items() if kind == "category" and name in X})


def _number_or_none(value: Any) -> Any:
    if isinstance(value, float) and isnan(value):
        return None
    return value


def _text(value: float | None, format_spec: str) -> str:
    if value is None:
        return "-"
    return format(value, format_spec)
