"""Files and named sets as one table, read by a process of its own with limits of memory and of time."""

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
_WORDS = 300  # characters of the last words of a process that broke
_PLACES = threading.BoundedSemaphore(2)  # processes that read files at a time


@dataclass(frozen=True)
class Loaded:
    """A table that was read; its cells are in ``table.csv`` of the folder.

    Parameters
    ----------
    name : str, of the file or the files
    n_rows, n_columns : int
    views : dict from views to their columns; empty where there is one
    note : str, what was unusual
    match : dict, how the rows of several files were matched, with the samples that some file lacks
    written : dict from columns of numbers to the mark before decimals and the unit
    """

    name: str
    n_rows: int
    n_columns: int
    views: dict[str, list[str]]
    note: str
    match: dict[str, Any]
    written: dict[str, list[str]]


def uploaded(
    files: Sequence[UploadFile],
    key: str,
    folder: Path,
    settings: Settings,
    model: ViewsOfModel | None = None,
    written: Mapping[str, Sequence[str]] | None = None,
    sheet: str = "",
) -> Loaded:
    """One or several files, matched by a column; ValueError in a sentence where they cannot be read.

    Parameters
    ----------
    files : as they came
    key : the column that names the rows of several; "" to find it
    folder : where the table is left
    settings : the limits
    model : the views of a model, whose new samples these are to be
    written : how the numbers of its columns were written in training
    sheet : which sheet of Excel files to read; "" for the first with content
    """
    paths = [folder / f"upload-{k}" for k in range(len(files))]
    try:
        for path, each in zip(paths, files, strict=True):
            private_file(path)
            with path.open("wb") as kept:
                shutil.copyfileobj(each.file, kept)
        given = [{"name": each.filename or "", "path": str(path)} for each, path in zip(files, paths, strict=True)]
        order = {
            "files": given,
            "key": key,
            "model": None if model is None else asdict(model),
            "written": written or {},
            "sheet": sheet,
        }
        return _read(order, folder, settings)
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


def opened(path: Path, folder: Path, settings: Settings) -> Loaded:
    """A file of this machine."""
    return _read({"files": [{"name": path.name, "path": str(path)}], "key": ""}, folder, settings)


def named(name: str, folder: Path, settings: Settings) -> Loaded:
    """A set that ``multikernel.datasets`` knows by this name."""
    return _read({"files": [], "key": "", "set": name}, folder, settings)


def _read(order: dict[str, Any], folder: Path, settings: Settings) -> Loaded:
    limits = {name: getattr(settings, name) for name in _LIMITS}
    answer = asked(_COMMAND, order | {"folder": str(folder), "limits": limits}, settings)
    return Loaded(**answer)


def asked(
    command: Sequence[str],
    order: Mapping[str, Any],
    settings: Settings,
    instead: str = "write it again, as CSV for instance",
) -> dict[str, Any]:
    """What a process that opens a person's files answers.

    Parameters
    ----------
    command : that starts it
    order : what it is to do
    settings : the limit of time
    instead : what to do where a file breaks the process

    Raises
    ------
    ValueError : in a sentence, where it refuses, breaks, or takes too long
    """
    with _place(settings.read_seconds):
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
        last = " ".join(ended.stderr.split())[-_WORDS:]
        raise ValueError(
            f"The file broke the program that reads it ({how}); {instead}."
            + (f" Its last words: {last}" if last else "")
        )
    answer: dict[str, Any] = json.loads(ended.stdout)
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer


@contextmanager
def _place(seconds: float) -> Iterator[None]:
    if not _PLACES.acquire(timeout=seconds):
        raise ValueError("Other files are being read at the moment; try again in a minute.")
    try:
        yield
    finally:
        _PLACES.release()


BUNDLED = {
    "breast_cancer": "Is a tumour benign? 569 patients, 30 measurements of cells",
    "wine": "Which of three growers made a wine? 178 wines, 13 chemical values",
    "iris": "Which of three species is a flower? 150 flowers, 4 lengths",
    "diabetes": "How far goes the disease in a year? 442 patients, 10 measurements",
    "digits": "Which digit was written? 1797 pictures of 8 x 8 points",
}
_WHOLE = ".csv.gz"  # files that are read as they are, with their categories and missing cells


def own_sets(settings: Settings) -> tuple[dict[str, str], str]:
    """The sets of the directory by name, with a line about each, and what is wrong with the directory."""
    if not os.environ.get("MULTIKERNEL_DATA"):
        return {}, ""
    from multikernel.datasets import DataDirectory  # takes a while to import

    try:
        directory = DataDirectory.find(None)
    except (ValueError, OSError) as error:
        return {}, str(error)
    found = {}
    for name, source in (directory.sources if directory else {}).items():
        fits = (source.n or 0) <= settings.most_rows and (source.d or 0) < settings.most_columns
        if fits and all(file.path.is_file() for file in source.files):
            words = [{"classification": "classes", "regression": "numbers"}.get(source.task or "", "")]
            words += [f"{source.n} rows"] if source.n else []
            words += [f"{source.d} columns"] if source.d else []
            found[name] = ", ".join(filter(None, words))
    return found, ""


def of_name(name: str, folder: Path, settings: Settings) -> Loaded:
    """One of these sets; ValueError where it cannot be read."""
    from multikernel.datasets import DataDirectory

    directory = DataDirectory.find(None)
    source = directory.sources.get(name) if directory else None
    if source is not None and len(source.files) == 1 and source.files[0].path.name.endswith(_WHOLE):
        return replace(opened(source.files[0].path, folder, settings), name=name)
    return named(name, folder, settings)
