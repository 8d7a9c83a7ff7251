"""``fit`` and ``predict`` for files that are read in chunks: Parquet, and CSV files larger than ``--memory``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from multikernel import PredictionWarning, streams
from multikernel.app.jobs.fit import automatic_summary
from multikernel.app.jobs.methods import PRINTED_WEIGHTS, FitRequest, automatic_model, make_model, score_name
from multikernel.app.jobs.stream_rows import WatchedRows, WrittenNumbers, learned_of, written_in
from multikernel.app.jobs.watch import Watch
from multikernel.app.tables.files import is_excel, unpacked_size
from multikernel.app.tables.parquet import cells_of
from multikernel.app.tables.training_ranges import TrainingRanges
from multikernel.datasets import Column, Task, decide
from multikernel.kernels import for_columns
from multikernel.streams import bytes_of
from multikernel.typing import Array

_METHOD = "rls2"  # the default of --method: it learns the weights of few kernels from sums over the rows
_CELLS = 4.0  # memory of a CSV file that is read at once, in units of its size
_BYTES = 80.0  # memory of a cell of a Parquet file as a string of up to 20 characters


@dataclass(frozen=True)
class StreamOptions:
    """How a file is read in chunks; None for an option that the user did not give.

    Parameters
    ----------
    memory : text such as "2GB"
    checkpoint : file of the state
    leave_out : columns that are not learned from
    """

    memory: str | None = None
    checkpoint: Path | None = None
    leave_out: tuple[str, ...] = ()

    def applies(self, path: Path, approximate: bool = False) -> bool:
        """Whether the file is read in chunks: a directory, a file larger than the memory, or Parquet on request.

        Parameters
        ----------
        path : the file
        approximate : whether kernels are to be approximated, which is for many samples
        """
        if path.is_dir():
            return True
        if is_excel(path):
            if self.memory is not None or self.checkpoint is not None:
                raise ValueError(
                    f"{path} is an Excel file, which is read at once; leave --memory and --checkpoint out, or save its "
                    "sheet as CSV"
                )
            return False
        if path.suffix.lower() == ".parquet":
            in_chunks = approximate or self.memory is not None or self.checkpoint is not None
            return in_chunks or not path.is_file() or _BYTES * cells_of(path) > bytes_of(None)
        return path.is_file() and _CELLS * unpacked_size(path) > bytes_of(self.memory)

    def source(
        self, path: Path, target: str | None, features: tuple[str, ...] | None = None, *, comma: bool = False
    ) -> Any:
        """The rows of the file; ``comma`` says that the comma is the decimal mark where a number is ambiguous."""
        parquet = _is_parquet(path)
        make: Any = streams.parquet if parquet else streams.csv
        arguments: dict[str, Any] = {"memory": self.memory, "checkpoint": self.checkpoint}
        if comma and not parquet:
            arguments["decimal"] = ","
        if features is not None:
            return make(path, target, features=features, **arguments)
        rows = make(path, target, **arguments)
        if not self.leave_out:
            return rows
        unknown_names = [name for name in self.leave_out if name not in rows.names]
        if unknown_names:
            raise ValueError(f"{path} has no column {unknown_names[0]!r}, which --leave-out names")
        names = tuple(name for name in rows.taken if name not in self.leave_out)
        if not names:
            raise ValueError(f"--leave-out leaves no column of {path} to learn from")
        return make(path, target, features=names, **arguments)

    def written(self, path: Path, training_numerals: Mapping[str, Any] | None = None) -> WrittenNumbers:
        """How the numbers of the file, or the first one of a directory, are written; a warning says what is unusual."""
        if _is_parquet(path):
            return WrittenNumbers()
        if path.is_dir():
            first_file = next(iter(sorted(path.glob("*.csv*"))), path)
        else:
            first_file = path
        numbers = written_in(first_file, training_numerals)
        if numbers.note:
            warnings.warn(f"{first_file}: {numbers.note}", PredictionWarning, stacklevel=2)
        return numbers


def train_automatic(
    path: Path, request: FitRequest, streaming: StreamOptions, watch: Watch
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The automatic estimator, the metadata of its file, and the summary of what was learned."""
    source = streaming.source(path, request.target)
    task = request.task or _task(path, request.target, np.asarray(_head(path, source).y))
    model = automatic_model(request, task)
    with watch.fitting("fit"):
        model.fit(source)
    metadata = {
        "stream": {"features": list(source.taken), "target": request.target},
        **learned_of(source, streaming.written(path)),
    }
    left_out = [name for name in source.names if name not in source.taken and name != request.target]
    return model, metadata, automatic_summary(model, request.target, model.n_samples_, source.taken, left_out)


def _head(path: Path, source: Any) -> Any:
    """The first rows; ValueError where there is none."""
    head = next(islice(source.chunks(), 1), None)
    if head is None:
        raise ValueError(f"{path} has no row")
    return head


def train(
    path: Path, request: FitRequest, streaming: StreamOptions, watch: Watch
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The model, the metadata of its file, and the summary of what was learned."""
    if request.types:
        raise ValueError(f"{path} is read in chunks, which --type does not reach; declare the types in the file")
    if request.proba:
        raise ValueError(
            f"{path} is read in chunks, in which the automatic estimator alone learns probabilities; leave --proba "
            "out, or the options of a method"
        )
    source = streaming.source(path, request.target)
    head = _head(path, source)
    task = request.task or _task(path, request.target, np.asarray(head.y))
    parameters = {"approximation": "nystroem"} | dict(request.parameters)
    decided = replace(request, method=request.method or _METHOD, parameters=parameters, task=task)
    if request.kernels is None:
        family = for_columns(head.X)
    else:
        family = request.kernels.standardized()
    model = make_model(replace(decided, kernels=family), task)
    with watch.fitting("fit"):
        model.fit(source)
    model = streams.without_sums(model)
    weights = np.atleast_2d(model.weights_).mean(axis=0).tolist()
    metadata = {
        "stream": {"features": list(source.taken), "target": request.target},
        **learned_of(source, streaming.written(path)),
    }
    return (
        model,
        metadata,
        {
            "method": type(model).__name__,
            "task": task,
            "target": request.target,
            "features": list(source.taken),
            "score_first_rows": float(model.score(head.X, head.y)),
            "measure": score_name(task),
            "certificate": asdict(model.certificate_),
            "kernels": len(weights),
            "approximation_error": float(np.max(model.approximation_error_)),
            "weights": [
                {"kernel": str(name), "weight": weight}
                for name, weight in zip(model.kernel_names_, weights, strict=True)
            ],
        },
    )


def describe(summary: Mapping[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """The tables that ``fit`` prints, each as its title, its header and its rows."""
    facts = [
        ["method", summary["method"]],
        ["task", summary["task"]],
        ["features", str(len(summary["features"]))],
        ["kernels", str(summary["kernels"])],
        [f"{summary['measure']}, on the first rows", f"{summary['score_first_rows']:.4f}"],
        ["error of the approximate kernels, at most", f"{summary['approximation_error']:.2g}"],
        [f"relative {summary['certificate']['kind']}", f"{summary['certificate']['value']:.1e}"],
    ]
    largest = sorted(summary["weights"], key=lambda entry: -entry["weight"])[:PRINTED_WEIGHTS]
    rows = [[entry["kernel"], f"{entry['weight']:.4f}"] for entry in largest]
    title = f"Largest weights ({len(rows)} of {summary['kernels']})"
    return [("Model", ["", ""], facts), (title, ["kernel", "weight"], rows)]


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))


def watched_rows(path: Path, metadata: Mapping[str, Any], streaming: StreamOptions) -> WatchedRows:
    """The rows that a model of a stream has to predict, which are compared with training while they are read."""
    numbers = streaming.written(path, metadata.get("numerals", {}))
    rows = streaming.source(path, None, tuple(metadata["stream"]["features"]), comma=numbers.comma)
    return WatchedRows(rows, path, TrainingRanges.of(metadata))


def _task(path: Path, target: str, y: Array) -> Task:
    """The task, from the target in the first rows, as for a file that is read at once; truth values are classes."""
    if y.dtype.kind not in "iuf":
        return "classification"
    cells = [f"{value:.17g}" for value in y.tolist()]
    return decide(Column(str(path), target, cells, range(len(cells))), None)[1]
