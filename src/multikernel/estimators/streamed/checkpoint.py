"""The state of a pass on disk: written whole or not at all, so that a pass that was killed goes on from there."""

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
    chosen : what was chosen before the pass
    rows : int, how many rows are done
    sums : tuple of Moments over these; empty before the pass
    """

    chosen: Any
    rows: int = 0
    sums: tuple[Moments, ...] = ()


@dataclass(frozen=True)
class PassFile:
    """Where the state of a pass is kept.

    Parameters
    ----------
    path : Path or None, where nothing is kept
    key : str, which is another one for another model, other parameters, and rows that are not the same
    """

    path: Path | None = None
    key: str = ""

    @classmethod
    def of(cls, model: Any, source: Source) -> PassFile:
        """The file that a source names, for a pass of a model; of a cluster nothing is kept.

        Raises
        ------
        TypeError : where a parameter of the model cannot be compared with that of the next time
        """
        if source.checkpoint is None or source.together:
            return cls()
        return cls(path_of(source.checkpoint, "checkpoint"), digest(version("multikernel"), model, source.identity))

    def read(self) -> KeptPass | None:
        """What is kept of a pass that did not come to its end; None where there is no file.

        Raises
        ------
        ValueError : where the file is of another pass, or no checkpoint
        """
        if self.path is None or not self.path.exists():
            return None
        with _opened(self.path) as (found, header):
            kept = None
            if header["key"] == self.key:
                kept = Reader(found.array, found.take).decode(header["kept"])
                if not isinstance(kept, KeptPass):
                    raise ValueError("it holds something else")
        if kept is None:
            raise self.of_another()
        return kept

    def of_another(self) -> ValueError:
        """What is said of a file that is of another pass."""
        return ValueError(
            f"the checkpoint {self.path} belongs to other rows, to a file that has changed since, to other parameters, "
            "or to another version of multikernel: remove it, or give another name"
        )

    def write(self, kept: KeptPass) -> None:
        """Keep a state, where there is a file to keep it in.

        Raises
        ------
        OSError : where the file cannot be written; an earlier one is left as it is
        """
        if self.path is None:
            return
        writer = Writer()
        header = {"key": self.key, "kept": writer.encode(kept, "checkpoint")}
        try:
            with replacing(self.path) as temporary:
                archive.write(temporary, header, writer.arrays, [zipfile.ZIP_STORED])
        except OSError as error:
            raise OSError(
                f"the checkpoint {self.path} could not be written at row {kept.rows} ({error.strerror or error}): make "
                "room and fit again, which resumes from the last one that was written"
            ) from None

    def go_on(
        self,
        source: Source,
        kept: KeptPass,
        add: Callable[[Chunk], None],
        sums: Callable[[], tuple[Moments, ...]],
        report: Callable[[int], None],
    ) -> None:
        """Add the rows of a source that are left, and keep the state now and then.

        Parameters
        ----------
        source : Source
        kept : the state to begin with
        add : of a chunk
        sums : over all rows so far
        report : is told how many rows are done
        """
        done = written = kept.rows
        for chunk in source.chunks(done):
            add(chunk)
            done += len(chunk)
            report(done)
            if self.path is not None and done - written >= source.every:
                self.write(replace(kept, rows=done, sums=sums()))
                written = done


@contextmanager
def removed_at_the_end(source: Source) -> Iterator[None]:
    """A fit to a source: the checkpoint that it names is removed when all went well.

    Raises
    ------
    TypeError, ValueError : before the fit, where it names no file, or one that is there and is no checkpoint
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
    """The content of a checkpoint and its header; ValueError where the file is none, or work with it fails."""
    try:
        with path.open("rb") as content, zipfile.ZipFile(content) as unpacked:
            found = archive.Archive(unpacked, os.fstat(content.fileno()).st_size)
            header = found.header()
            if not found.sealed:
                raise ValueError("the digest of its header is missing")
            if "key" not in header:
                raise ValueError("it holds something else")
            yield found, header
    except Exception as error:  # whatever a damaged file leads to
        raise ValueError(
            f"{path} is no checkpoint of a fit, or is damaged ({error}): remove it, or give another name"
        ) from None
