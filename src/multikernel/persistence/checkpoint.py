"""Finished parts of long work, each saved in a separate file, so that work that was killed resumes.

A piece of work (a path, a search, a fit of many pairs of classes) has a folder in the directory that the user names.
The name of the folder consists of a description of the work and a digest of everything that the result depends on:
data, parameters, and the version of this package. Other data or parameters are another piece of work, so one directory
serves many. A part is a file that is written completely or not at all; a file that cannot be read counts as a part that
is not finished.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from multikernel._rules import abbreviated
from multikernel._warnings import PredictionWarning, keeping, warn_once
from multikernel._workers import time_is_up
from multikernel.files import path_of, replacing, write_whole
from multikernel.persistence.archive import Archive, write
from multikernel.persistence.digest import digest
from multikernel.persistence.reader import Reader
from multikernel.persistence.writer import Writer

T = TypeVar("T")
_PLAN = "work.json"


@dataclass(frozen=True)
class Checkpoint:
    """The place where the parts of one piece of work are saved.

    Parameters
    ----------
    folder : Path of this piece of work; None where nothing is saved
    within : the name of the part to which these parts belong; empty for parts of the work itself
    """

    folder: Path | None = None
    within: str = ""

    @classmethod
    def of(cls, directory: str | os.PathLike[str] | None, work: str, *key: Any) -> Checkpoint:
        """The checkpoint of a piece of work; without a directory one that saves nothing.

        Parameters
        ----------
        directory : str, path or None, as the user gave it; created where it does not exist
        work : a short description of the work
        key : everything that the result depends on, except the version of this package

        Raises
        ------
        OSError : where the directory cannot be created
        TypeError : where the key contains an object that cannot be compared with that of a later call
        """
        if directory is None:
            return UNKEPT
        directory_path = path_of(directory, "checkpoint")
        if directory_path.exists() and not directory_path.is_dir():
            raise NotADirectoryError(
                f"checkpoint {directory_path} is a file: name a directory, which is made where it is not there"
            )
        folder = directory_path / f"{_slug(work)}-{digest(version('multikernel'), work, *key)}"
        folder.mkdir(parents=True, exist_ok=True)
        _keep_plan(folder, work, [])
        return cls(folder)

    def under(self, name: str) -> Checkpoint:
        """The checkpoint for parts of a part."""
        if self.folder is None:
            return self
        return Checkpoint(self.folder, f"{self.within}{name}, ")

    def expect(self, names: Sequence[str]) -> None:
        """State the parts of the work, so that ``checkpoints`` can list those that remain."""
        if self.folder is not None and not self.within:
            _keep_plan(self.folder, _plan(self.folder)["work"], names)

    def part(self, name: str, make: Callable[[], T]) -> T:
        """The result of ``make``: read where the part is finished, otherwise computed and saved, with its warnings.

        A result is not saved where the time was up, because it may be cut.

        Raises
        ------
        TypeError : where the result contains a value that has no plain form
        """
        if self.folder is None:
            return make()
        file = self.folder / _file_of(self.within + name)
        result_and_warnings = _read(file, self.within + name)
        if result_and_warnings is None:
            result, messages = keeping(make)
            result_and_warnings = result, [(text, category.__name__) for text, category in messages]
            if not time_is_up():
                _write(file, self.within + name, result_and_warnings)
        result, warnings = result_and_warnings
        warn_once((text, _CATEGORIES.get(category, UserWarning)) for text, category in warnings)
        return result


UNKEPT = Checkpoint()


@dataclass(frozen=True)
class KeptWork:
    """A piece of work in a directory of checkpoints.

    Parameters
    ----------
    name : the description of the work
    finished : tuple of str, the parts that are saved
    left : tuple of str, the parts that remain
    folder : the folder of the saved parts; remove it to start again
    """

    name: str
    finished: tuple[str, ...]
    left: tuple[str, ...]
    folder: Path

    def __str__(self) -> str:
        return f"{self.name}: {len(self.finished)} of {len(self.finished) + len(self.left)} parts are finished"


def checkpoints(directory: str | os.PathLike[str]) -> list[KeptWork]:
    """The pieces of work in a directory of checkpoints, with their finished and remaining parts.

    Parameters
    ----------
    directory : the one that was given as ``checkpoint``

    Raises
    ------
    NotADirectoryError : where there is no such directory
    TypeError : where ``directory`` is neither a string nor a path
    ValueError : where no directory can have that name

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import EasyMKLClassifier, checkpoints
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = EasyMKLClassifier(multiclass="ovo", checkpoint=folder).fit(X, y)
    ...     print(*checkpoints(folder))
    fit of EasyMKLClassifier: 3 of 3 parts are finished
    """
    path = path_of(directory, "checkpoints: directory")
    if not path.is_dir():
        raise NotADirectoryError(f"checkpoints: there is no directory {abbreviated(directory)}")
    works = []
    for folder in sorted(path.iterdir()):
        if (folder / _PLAN).is_file():
            plan = _plan(folder)
            saved_names = {name for name in plan["parts"] if (folder / _file_of(name)).is_file()}
            finished_names, remaining_names = (
                [name for name in plan["parts"] if (name in saved_names) is is_finished]
                for is_finished in (True, False)
            )
            works.append(KeptWork(plan["work"], tuple(finished_names), tuple(remaining_names), folder))
    return works


_CATEGORIES: dict[str, type[Warning]] = {
    category.__name__: category for category in (UserWarning, RuntimeWarning, PredictionWarning, ConvergenceWarning)
}


def _write(file: Path, name: str, result_and_warnings: Any) -> None:
    writer = Writer()
    header = {"part": name, "kept": writer.encode(result_and_warnings, name)}
    with replacing(file) as temporary:
        write(temporary, header, writer.arrays)


def _read(file: Path, name: str) -> Any:
    """The result and the warnings of a part in a file; None where it does not exist, is damaged, or of another part."""
    if not file.is_file():
        return None
    try:
        with file.open("rb") as content, zipfile.ZipFile(content) as unpacked:
            archive = Archive(unpacked, os.fstat(content.fileno()).st_size)
            header = archive.header()
            if not archive.sealed or header["part"] != name:
                return None
            return Reader(archive.array, archive.take).decode(header["kept"])
    except Exception:  # a damaged file may lead to any error: the part is computed again
        return None


def _file_of(name: str) -> str:
    return f"{_slug(name)}-{blake2b(name.encode(), digest_size=4).hexdigest()}.part"


def _slug(words: str) -> str:
    """Words in the form of a file name, 60 characters at most."""
    return re.sub(r"[^\w.=-]+", "-", words)[:60].strip("-")


def _plan(folder: Path) -> dict[str, Any]:
    """The description of the work, and its parts."""
    try:
        plan = json.loads((folder / _PLAN).read_text(encoding="utf-8"))
        return {"work": str(plan["work"]), "parts": [str(name) for name in plan["parts"]]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {"work": folder.name, "parts": []}


def _keep_plan(folder: Path, work: str, names: Sequence[str]) -> None:
    """Save the description of the work and its parts, in addition to those that the file lists already."""
    planned_names = _plan(folder)["parts"]
    all_names = list(dict.fromkeys([*planned_names, *names]))
    if all_names != planned_names or not (folder / _PLAN).is_file():
        write_whole(folder / _PLAN, json.dumps({"work": work, "parts": all_names}, indent=1).encode())
