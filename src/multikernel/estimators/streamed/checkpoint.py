"""The state of a pass on disk: written completely or not at all, so that a pass that was killed resumes from it."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from multikernel.files import path_of, replacing
from multikernel.persistence import archive
from multikernel.persistence.digest import digest
from multikernel.persistence.reader import Reader
from multikernel.persistence.writer import Writer
from multikernel.statistics import Moments
from multikernel.streams import Chunk, Source


@dataclass(frozen=True, eq=False)
class KeptPass:
    """The state of a pass.

    Parameters
    ----------
    chosen : what was chosen before the pass, such as scales
    rows : int, how many rows were added
    sums : tuple of Moments over these rows; empty before the pass
    """

    chosen: Any
    rows: int = 0
    sums: tuple[Moments, ...] = ()


@dataclass(frozen=True)
class PassFile:
    """The file where the state of a pass is saved.

    Parameters
    ----------
    path : Path; None where nothing is saved
    key : str, a digest of the model, its parameters and the identity of the rows
    """

    path: Path | None = None
    key: str = ""

    @classmethod
    def of(cls, model: Any, source: Source) -> PassFile:
        """The file that a source names, for a pass of a model; passes on a cluster are not saved.

        Raises
        ------
        TypeError : where a parameter of the model has no digest
        """
        if source.checkpoint is None or source.together:
            return cls()
        return cls(path_of(source.checkpoint, "checkpoint"), digest(version("multikernel"), model, source.identity))

    def read(self) -> KeptPass | None:
        """The saved state of a pass that was interrupted; None where there is no file.

        Raises
        ------
        ValueError : where the file is of another pass, or no checkpoint
        """
        if self.path is None or not self.path.exists():
            return None
        with _opened(self.path) as (content, header):
            state = None
            if header["key"] == self.key:
                state = Reader(content.array, content.take).decode(header["kept"])
                if not isinstance(state, KeptPass):
                    raise ValueError("it holds something else")
        if state is None:
            raise self.of_another()
        return state

    def of_another(self) -> ValueError:
        """The error for a file of another pass."""
        return ValueError(
            f"the checkpoint {self.path} belongs to other rows, to a file that has changed since, to other parameters, "
            "or to another version of multikernel: remove it, or give another name"
        )

    def write(self, state: KeptPass) -> None:
        """Save a state, if there is a file for it.

        Raises
        ------
        OSError : where the file cannot be written; an earlier file stays unchanged
        """
        if self.path is None:
            return
        writer = Writer()
        header = {"key": self.key, "kept": writer.encode(state, "checkpoint")}
        try:
            with replacing(self.path) as temporary:
                archive.write(temporary, header, writer.arrays, [zipfile.ZIP_STORED])
        except OSError as error:
            raise OSError(
                f"the checkpoint {self.path} could not be written at row {state.rows} ({error.strerror or error}): "
                "make room and fit again, which resumes from the last one that was written"
            ) from None

    def go_on(
        self,
        source: Source,
        state: KeptPass,
        add: Callable[[Chunk], None],
        sums: Callable[[], tuple[Moments, ...]],
        report: Callable[[int], None],
    ) -> None:
        """Add the remaining rows of a source, and save the state from time to time.

        Parameters
        ----------
        source : Source
        state : the state to begin with
        add : (chunk) -> None, adds its rows to the sums
        sums : () -> the sums over all rows so far
        report : (rows) -> None, is called after each chunk with the number of rows so far
        """
        done = written = state.rows
        for chunk in source.chunks(done):
            add(chunk)
            done += len(chunk)
            report(done)
            if self.path is not None and done - written >= source.every:
                self.write(replace(state, rows=done, sums=sums()))
                written = done


@contextmanager
def removed_at_the_end(source: Source) -> Iterator[None]:
    """A context for a fit to a source, which removes the source's checkpoint when the fit succeeds.

    Raises
    ------
    TypeError, ValueError : before the fit, where the name is invalid, or the file exists and is no checkpoint
    """
    if source.checkpoint is None:
        yield
        return
    path = path_of(source.checkpoint, "checkpoint")
    if path.exists():
        with _opened(path):  # refuses another file
            pass
    yield
    path.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[archive.Archive, dict[str, Any]]]:
    """The content of a checkpoint and its header; ValueError where the file is no checkpoint, or reading it fails."""
    try:
        with path.open("rb") as content, zipfile.ZipFile(content) as unpacked:
            archive_content = archive.Archive(unpacked, os.fstat(content.fileno()).st_size)
            header = archive_content.header()
            if not archive_content.sealed:
                raise ValueError("the digest of its header is missing")
            if "key" not in header:
                raise ValueError("it holds something else")
            yield archive_content, header
    except Exception as error:  # whatever a damaged file leads to
        raise ValueError(
            f"{path} is no checkpoint of a fit, or is damaged ({error}): remove it, or give another name"
        ) from None
