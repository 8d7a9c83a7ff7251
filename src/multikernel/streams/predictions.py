"""Predictions for the rows of a source: chunk by chunk, or in a file that is written completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from multikernel._typing import Array
from multikernel.files import path_of, replacing
from multikernel.streams.source import Chunk, Source
from multikernel.tables.numerals import as_float

Method = Literal["predict", "decision_function", "predict_proba"]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # characters with which a formula of a spreadsheet begins


def predict(model: Any, source: Source, method: Method = "predict") -> Iterator[Array]:
    """The predictions for every chunk of a source.

    Parameters
    ----------
    model : a fitted estimator
    source : Source, with or without a target
    method : "predict", "decision_function" or "predict_proba"

    Raises
    ------
    TypeError : where ``source`` is no source, or the model has no such method
    ValueError : where a cell is missing that the model needs, with its place

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import AverageMKLRegressor, streams
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = AverageMKLRegressor(alpha=0.1).fit(X, X[:, 0])
    >>> sum(len(part) for part in streams.predict(model, streams.arrays(X)))
    50
    """
    _check(model, source, method)
    return source.mapped(partial(_predicted, model, method))


def _check(model: Any, source: Source, method: Method) -> None:
    """TypeError or ValueError where there is no source, or the model has no such method."""
    if not isinstance(source, Source):
        raise TypeError(
            f"streams.predict and write_predictions take the rows as a source, got a {type(source).__name__}: give "
            "streams.arrays(X), streams.csv(path) or streams.parquet(path)"
        )
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(map(repr, get_args(Method)))}, got {method!r}")
    if not hasattr(model, method):
        raise TypeError(
            f"{type(model).__name__} has no {method}; give a fitted estimator that has it, or another method"
        )


def _predicted(model: Any, method: Method, chunk: Chunk) -> Array:
    try:
        return np.asarray(getattr(model, method)(chunk.X))
    except ValueError as error:
        reason = str(error)
        if bad := chunk.first_absent():
            reason = f"{bad}: the cell is empty or infinite ({error})"
        raise ValueError(reason) from None


def write_predictions(model: Any, source: Source, path: str | Path, method: Method = "predict") -> int:
    """Write the predictions for every row of a source to a file, in their order; returns how many there are.

    Parameters
    ----------
    model : a fitted estimator
    source : Source, with or without a target
    path : a CSV file, with a column "prediction" (or one for each value of a row), or a Parquet file; a file of that
        name is replaced after all predictions succeeded
    method : as in ``predict``

    Raises
    ------
    TypeError, ValueError : as in ``predict``, where ``path`` is no name that a file can have, and for a source without
        rows
    OSError : where the file cannot be written
    """
    _check(model, source, method)
    path = path_of(path, "write_predictions: path")
    rows = 0
    with replacing(path) as temporary:
        write = _parquet if path.suffix.lower() == ".parquet" else _csv
        for count in write(temporary, predict(model, source, method), _names(model, method)):
            rows += count
        if not rows:
            raise ValueError("write_predictions: the source has no row to predict")
    return rows


def _names(model: Any, method: Method) -> list[str]:
    classes = getattr(model, "classes_", None)
    if method == "predict" or classes is None:
        return ["prediction"]
    word = "probability" if method == "predict_proba" else "decision"
    if method == "predict_proba" or len(classes) > 2:
        return [f"{word} {label}" for label in classes]
    return [word]


def _columns(values: Array, names: list[str]) -> dict[str, Array]:
    if values.ndim == 1:
        return {names[0]: values}
    if len(names) != values.shape[1]:
        names = [f"{names[0]} {j}" for j in range(values.shape[1])]
    return dict(zip(names, values.T, strict=True))


def _csv(path: Path, predictions: Iterator[Array], names: list[str]) -> Iterator[int]:
    import pandas as pd

    with path.open("w", newline="", encoding="utf-8") as file:
        for k, values in enumerate(predictions):
            columns: dict[str, Any] = _columns(values, names)
            if values.dtype.kind not in "biuf":
                columns = {name: [harmless(value) for value in column.tolist()] for name, column in columns.items()}
            pd.DataFrame(columns).to_csv(file, index=False, header=k == 0, lineterminator="\n")
            yield len(values)


def harmless(value: Any) -> Any:
    """A value for a spreadsheet: text that would be run as a formula gets an apostrophe; numbers do not change."""
    if isinstance(value, str) and value.startswith(_FORMULA) and isnan(as_float(value)):
        return f"'{value}"
    return value


def _parquet(path: Path, predictions: Iterator[Array], names: list[str]) -> Iterator[int]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: Any = None
    try:
        for values in predictions:
            table = pa.table({name: pa.array(list(column)) for name, column in _columns(values, names).items()})
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
            yield len(values)
    finally:
        if writer is not None:
            writer.close()


def without_sums(model: Any) -> Any:
    """A copy of a model without the sums over its samples: its file is smaller, but ``partial_fit`` cannot continue.

    Parameters
    ----------
    model : estimator that was fitted to a source; it is not changed
    """
    smaller = copy(model)
    smaller._state = None
    smaller._solved_last = ()
    return smaller
