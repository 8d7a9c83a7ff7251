"""``fit`` and ``predict`` for files that are read in chunks: Parquet, and CSV files larger than the memory given."""

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

_METHOD = "rls2"  # without --method: weights of few kernels, from sums
_CELLS = 4.0  # times its size that a CSV file takes where it is read at once
_BYTES = 80.0  # that a cell of a Parquet file takes as a string of up to 20 signs


@dataclass(frozen=True)
class StreamOptions:
    """How a file is read in chunks; None for what was not given.

    Parameters
    ----------
    memory : text such as "2GB"
    checkpoint : file of the state
    leave_out : columns that are no features
    """

    memory: str | None = None
    checkpoint: Path | None = None
    leave_out: tuple[str, ...] = ()

    def applies(self, path: Path, approximate: bool = False) -> bool:
        """Whether the file is read in chunks: a directory, more than fits the memory, or Parquet where that is asked.

        Parameters
        ----------
        path : the file
        approximate : whether kernels are to be approximated, which is asked for where samples are many
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
            asked = approximate or self.memory is not None or self.checkpoint is not None
            return asked or not path.is_file() or _BYTES * cells_of(path) > bytes_of(None)
        return path.is_file() and _CELLS * unpacked_size(path) > bytes_of(self.memory)

    def source(
        self, path: Path, target: str | None, features: tuple[str, ...] | None = None, *, comma: bool = False
    ) -> Any:
        """The rows of the file; ``comma`` says that decimals follow a comma where that is not clear."""
        parquet = _is_parquet(path)
        make: Any = streams.parquet if parquet else streams.csv
        given: dict[str, Any] = {"memory": self.memory, "checkpoint": self.checkpoint}
        if comma and not parquet:
            given["decimal"] = ","
        if features is not None:
            return make(path, target, features=features, **given)
        found = make(path, target, **given)
        if not self.leave_out:
            return found
        unknown = [name for name in self.leave_out if name not in found.names]
        if unknown:
            raise ValueError(f"{path} has no column {unknown[0]!r}, which --leave-out names")
        kept = tuple(name for name in found.taken if name not in self.leave_out)
        if not kept:
            raise ValueError(f"--leave-out leaves no column of {path} to learn from")
        return make(path, target, features=kept, **given)

    def written(self, path: Path, before: Mapping[str, Any] | None = None) -> WrittenNumbers:
        """How the numbers of the file, or the first one of a directory, are written; a warning says what is unusual."""
        if _is_parquet(path):
            return WrittenNumbers()
        if path.is_dir():
            first = next(iter(sorted(path.glob("*.csv*"))), path)
        else:
            first = path
        found = written_in(first, before)
        if found.note:
            warnings.warn(f"{first}: {found.note}", PredictionWarning, stacklevel=2)
        return found


def train_automatic(
    path: Path, request: FitRequest, streaming: StreamOptions, watch: Watch
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The automatic estimator, the metadata of its file, and what was learned, by names."""
    source = streaming.source(path, request.target)
    task = request.task or _task(path, request.target, np.asarray(_head(path, source).y))
    model = automatic_model(request, task)
    with watch.fitting("fit"):
        model.fit(source)
    metadata = {
        "stream": {"features": list(source.taken), "target": request.target},
        **learned_of(source, streaming.written(path)),
    }
    rest = [name for name in source.names if name not in source.taken and name != request.target]
    return model, metadata, automatic_summary(model, request.target, model.n_samples_, source.taken, rest)


def _head(path: Path, source: Any) -> Any:
    """The first rows; ValueError where there is none."""
    head = next(islice(source.chunks(), 1), None)
    if head is None:
        raise ValueError(f"{path} has no row")
    return head


def train(
    path: Path, request: FitRequest, streaming: StreamOptions, watch: Watch
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The model, the metadata of its file, and what was learned, by names."""
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
    given = {"approximation": "nystroem"} | dict(request.parameters)
    decided = replace(request, method=request.method or _METHOD, parameters=given, task=task)
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


def describe(found: Mapping[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """What ``fit`` prints: tables, each as its title, its header and its rows."""
    facts = [
        ["method", found["method"]],
        ["task", found["task"]],
        ["features", str(len(found["features"]))],
        ["kernels", str(found["kernels"])],
        [f"{found['measure']}, on the first rows", f"{found['score_first_rows']:.4f}"],
        ["error of the approximate kernels, at most", f"{found['approximation_error']:.2g}"],
        [f"relative {found['certificate']['kind']}", f"{found['certificate']['value']:.1e}"],
    ]
    largest = sorted(found["weights"], key=lambda each: -each["weight"])[:PRINTED_WEIGHTS]
    rows = [[each["kernel"], f"{each['weight']:.4f}"] for each in largest]
    title = f"Largest weights ({len(rows)} of {found['kernels']})"
    return [("Model", ["", ""], facts), (title, ["kernel", "weight"], rows)]


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))


def watched_rows(path: Path, metadata: Mapping[str, Any], streaming: StreamOptions) -> WatchedRows:
    """The rows that a model learned from a stream is to predict, with what is to be said of them once they are read."""
    written = streaming.written(path, metadata.get("numerals", {}))
    rows = streaming.source(path, None, tuple(metadata["stream"]["features"]), comma=written.comma)
    return WatchedRows(rows, path, TrainingRanges.of(metadata))


def _task(path: Path, target: str, y: Array) -> Task:
    """What the target of the first rows is, as of a file that is read at once; truth values are classes."""
    if y.dtype.kind not in "iuf":
        return "classification"
    cells = [f"{value:.17g}" for value in y.tolist()]
    return decide(Column(str(path), target, cells, range(len(cells))), None)[1]
