"""Files and named data sets as one table, read by a separate process with limits of memory and time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile

from multikernel.app.web.private import UMASK, private_file
from multikernel.app.web.settings import Settings
from multikernel.app.web.views import ViewsOfModel

_COMMAND = [sys.executable, "-m", "multikernel.app.web.reader"]
_LIMITS = ("unpacked_limit", "most_columns", "most_rows", "most_cells", "read_memory")
_WORDS = 300  # characters of the error output of a broken process in a sentence
_SLOTS = threading.BoundedSemaphore(2)  # processes that read files at the same time


@dataclass(frozen=True)
class LoadedTable:
    """A loaded table; its cells are in ``table.csv`` of the folder.

    Parameters
    ----------
    name : str, of the file or the files
    n_rows, n_columns : int
    views : dict from views to their columns; empty where there is a single view
    note : str, remarks about the files
    match : dict, how the rows of several files were matched, with the samples that are missing in some file
    written : dict from columns of numbers to the decimal mark and the unit
    """

    name: str
    n_rows: int
    n_columns: int
    views: dict[str, list[str]]
    note: str
    match: dict[str, Any]
    written: dict[str, list[str]]


def load_uploads(
    files: Sequence[UploadFile],
    key: str,
    folder: Path,
    settings: Settings,
    model: ViewsOfModel | None = None,
    written: Mapping[str, Sequence[str]] | None = None,
    sheet: str = "",
) -> LoadedTable:
    """Load one or several files, matched by a column; ValueError where they cannot be read.

    Parameters
    ----------
    files : the uploaded files
    key : the column that names the rows of several files; "" to find it
    folder : the folder of the table
    settings : the limits
    model : the views of the model whose new samples the files contain
    written : how the numbers of the model's columns were written in training
    sheet : which sheet of Excel files to read; "" for the first with content
    """
    paths = [folder / f"upload-{k}" for k in range(len(files))]
    try:
        for path, file in zip(paths, files, strict=True):
            private_file(path)
            with path.open("wb") as target:
                shutil.copyfileobj(file.file, target)
        file_orders = [
            {"name": file.filename or "", "path": str(path)} for file, path in zip(files, paths, strict=True)
        ]
        order = {
            "files": file_orders,
            "key": key,
            "model": None if model is None else asdict(model),
            "written": written or {},
            "sheet": sheet,
        }
        return _read(order, folder, settings)
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


def _load_file(path: Path, folder: Path, settings: Settings) -> LoadedTable:
    """Load a file of this computer."""
    return _read({"files": [{"name": path.name, "path": str(path)}], "key": ""}, folder, settings)


def _load_included(name: str, folder: Path, settings: Settings) -> LoadedTable:
    """Load a data set of ``multikernel.datasets`` by its name."""
    return _read({"files": [], "key": "", "set": name}, folder, settings)


def _read(order: dict[str, Any], folder: Path, settings: Settings) -> LoadedTable:
    limits = {name: getattr(settings, name) for name in _LIMITS}
    answer = answer_of_process(_COMMAND, order | {"folder": str(folder), "limits": limits}, settings)
    return LoadedTable(**answer)


def answer_of_process(
    command: Sequence[str],
    order: Mapping[str, Any],
    settings: Settings,
    instead: str = "write it again, as CSV for instance",
) -> dict[str, Any]:
    """The answer of a process that opens files of a person.

    Parameters
    ----------
    command : the command of the process
    order : the order, which the process reads as JSON
    settings : the limit of time
    instead : what the person can do where a file breaks the process

    Raises
    ------
    ValueError : where the process refuses the file, breaks, or takes too long
    """
    with _reading_slot(settings.read_seconds):
        try:
            ended = subprocess.run(
                command,
                input=json.dumps(order),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=settings.read_seconds,
                umask=UMASK,
            )
        except subprocess.TimeoutExpired:
            raise ValueError(
                f"Reading took longer than {settings.read_seconds:g} s, and was given up; give fewer rows, or CSV."
            ) from None
    if ended.returncode != 0 or not ended.stdout:
        if ended.returncode < 0:
            how = f"signal {-ended.returncode}"
        else:
            how = f"status {ended.returncode}"
        error_output = " ".join(ended.stderr.split())[-_WORDS:]
        raise ValueError(
            f"The file broke the program that reads it ({how}); {instead}."
            + (f" Its last words: {error_output}" if error_output else "")
        )
    answer: dict[str, Any] = json.loads(ended.stdout)
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer


@contextmanager
def _reading_slot(seconds: float) -> Iterator[None]:
    if not _SLOTS.acquire(timeout=seconds):
        raise ValueError("Other files are being read at the moment; try again in a minute.")
    try:
        yield
    finally:
        _SLOTS.release()


BUNDLED = {
    "breast_cancer": "Is a tumour benign? 569 patients, 30 measurements of cells",
    "wine": "Which of three growers made a wine? 178 wines, 13 chemical values",
    "iris": "Which of three species is a flower? 150 flowers, 4 lengths",
    "diabetes": "How far goes the disease in a year? 442 patients, 10 measurements",
    "digits": "Which digit was written? 1797 pictures of 8 x 8 points",
}
_WHOLE = ".csv.gz"  # files that are read as uploads are, with their categories and missing cells


def sets_of_directory(settings: Settings) -> tuple[dict[str, str], str]:
    """The data sets of the directory, as a dict from names to descriptions, and the problem with the directory."""
    if not os.environ.get("MULTIKERNEL_DATA"):
        return {}, ""
    from multikernel.datasets import DataDirectory  # takes a while to import

    try:
        directory = DataDirectory.find(None)
    except (ValueError, OSError) as error:
        return {}, str(error)
    descriptions = {}
    for name, source in (directory.sources if directory else {}).items():
        fits = (source.n or 0) <= settings.most_rows and (source.d or 0) < settings.most_columns
        if fits and all(file.path.is_file() for file in source.files):
            words = [{"classification": "classes", "regression": "numbers"}.get(source.task or "", "")]
            words += [f"{source.n} rows"] if source.n else []
            words += [f"{source.d} columns"] if source.d else []
            descriptions[name] = ", ".join(filter(None, words))
    return descriptions, ""


def load_by_name(name: str, folder: Path, settings: Settings) -> LoadedTable:
    """Load a data set of the directory or of ``BUNDLED``; ValueError where it cannot be read."""
    from multikernel.datasets import DataDirectory

    directory = DataDirectory.find(None)
    source = directory.sources.get(name) if directory else None
    if source is not None and len(source.files) == 1 and source.files[0].path.name.endswith(_WHOLE):
        return replace(_load_file(source.files[0].path, folder, settings), name=name)
    return _load_included(name, folder, settings)
