"""Finished parts of long work, each kept in a file of its own, so that work that was killed resumes.

A piece of work (a path, a search, a fit of many pairs of classes) has a folder in the directory that the user names,
called by what the work is and by a digest of everything that its result depends on: data, parameters, and the version
of this package. Other data or parameters are another piece of work, so one directory serves many. A part is a file that
is written whole or not at all; a file that cannot be read is a part that is not finished.
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
    """Where the parts of one piece of work are kept.

    Parameters
    ----------
    folder : of this piece of work; None where nothing is kept
    within : the part that the parts named here belong to; empty for those of the work itself
    """

    folder: Path | None = None
    within: str = ""

    @classmethod
    def of(cls, directory: str | os.PathLike[str] | None, work: str, *key: Any) -> Checkpoint:
        """The checkpoint of a piece of work; one that keeps nothing where there is no directory.

        Parameters
        ----------
        directory : as the user named it; made where it is not there
        work : what is done, in a few words
        key : everything that the result depends on, beside the version of this package

        Raises
        ------
        OSError : where the directory cannot be made
        TypeError : where the key holds an object that cannot be compared with that of the next time
        """
        if directory is None:
            return UNKEPT
        here = path_of(directory, "checkpoint")
        if here.exists() and not here.is_dir():
            raise NotADirectoryError(
                f"checkpoint {here} is a file: name a directory, which is made where it is not there"
            )
        folder = here / f"{_slug(work)}-{digest(version('multikernel'), work, *key)}"
        folder.mkdir(parents=True, exist_ok=True)
        _keep_plan(folder, work, [])
        return cls(folder)

    def under(self, name: str) -> Checkpoint:
        """For parts of a part."""
        if self.folder is None:
            return self
        return Checkpoint(self.folder, f"{self.within}{name}, ")

    def expect(self, names: Sequence[str]) -> None:
        """Say which parts the work has, so that what is left is known."""
        if self.folder is not None and not self.within:
            _keep_plan(self.folder, _plan(self.folder)["work"], names)

    def part(self, name: str, make: Callable[[], T]) -> T:
        """What ``make`` returns: from the file where the part is finished; else made now and kept, with its warnings.

        What ended because its time was up is not kept.

        Raises
        ------
        TypeError : where the part holds something that has no plain form
        """
        if self.folder is None:
            return make()
        file = self.folder / _file_of(self.within + name)
        kept = _read(file, self.within + name)
        if kept is None:
            made, messages = keeping(make)
            kept = made, [(text, category.__name__) for text, category in messages]
            if not time_is_up():
                _write(file, self.within + name, kept)
        made, warned = kept
        warn_once((text, _CATEGORIES.get(category, UserWarning)) for text, category in warned)
        return made


UNKEPT = Checkpoint()


@dataclass(frozen=True)
class KeptWork:
    """A piece of work in a directory of checkpoints.

    Parameters
    ----------
    name : what is done
    finished : tuple of str, the parts that are kept
    left : tuple of str, the parts that are left to do
    folder : where they are; remove it to start again
    """

    name: str
    finished: tuple[str, ...]
    left: tuple[str, ...]
    folder: Path

    def __str__(self) -> str:
        return f"{self.name}: {len(self.finished)} of {len(self.finished) + len(self.left)} parts are finished"


def checkpoints(directory: str | os.PathLike[str]) -> list[KeptWork]:
    """What a directory of checkpoints holds, and what is left to do.

    Parameters
    ----------
    directory : as ``checkpoint`` named it

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
    found = []
    for folder in sorted(path.iterdir()):
        if (folder / _PLAN).is_file():
            plan = _plan(folder)
            finished = {name for name in plan["parts"] if (folder / _file_of(name)).is_file()}
            done, left = ([name for name in plan["parts"] if (name in finished) is kept] for kept in (True, False))
            found.append(KeptWork(plan["work"], tuple(done), tuple(left), folder))
    return found


_CATEGORIES: dict[str, type[Warning]] = {
    category.__name__: category for category in (UserWarning, RuntimeWarning, PredictionWarning, ConvergenceWarning)
}


def _write(file: Path, name: str, kept: Any) -> None:
    writer = Writer()
    header = {"part": name, "kept": writer.encode(kept, name)}
    with replacing(file) as temporary:
        write(temporary, header, writer.arrays)


def _read(file: Path, name: str) -> Any:
    """What a file keeps of the part of that name; None where it is not there, not whole, or of another part."""
    if not file.is_file():
        return None
    try:
        with file.open("rb") as content, zipfile.ZipFile(content) as unpacked:
            archive = Archive(unpacked, os.fstat(content.fileno()).st_size)
            header = archive.header()
            if not archive.sealed or header["part"] != name:
                return None
            return Reader(archive.array, archive.take).decode(header["kept"])
    except Exception:  # whatever a damaged file leads to: the part is made again
        return None


def _file_of(name: str) -> str:
    return f"{_slug(name)}-{blake2b(name.encode(), digest_size=4).hexdigest()}.part"


def _slug(words: str) -> str:
    """Words as the name of a file may have them, 60 characters at most."""
    return re.sub(r"[^\w.=-]+", "-", words)[:60].strip("-")


def _plan(folder: Path) -> dict[str, Any]:
    """What the work is called, and its parts."""
    try:
        plan = json.loads((folder / _PLAN).read_text(encoding="utf-8"))
        return {"work": str(plan["work"]), "parts": [str(name) for name in plan["parts"]]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {"work": folder.name, "parts": []}


def _keep_plan(folder: Path, work: str, names: Sequence[str]) -> None:
    """Write down what the work is called and its parts, beside those that were known."""
    known = _plan(folder)["parts"]
    parts = list(dict.fromkeys([*known, *names]))
    if parts != known or not (folder / _PLAN).is_file():
        write_whole(folder / _PLAN, json.dumps({"work": work, "parts": parts}, indent=1).encode())
