"""The bytes of one file, checked against its sum and unpacked, with errors that name the file."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SourceFile:
    """A file of the data directory and, where the manifest has it, its sha256."""

    path: Path
    sha256: str | None = None

    def __str__(self) -> str:
        return str(self.path)

    def read(self) -> bytes:
        """The bytes as they lie on the disk."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            raise FileNotFoundError(f"the data directory has no file {self.path}") from None
        if self.sha256 is not None:
            found = hashlib.sha256(content).hexdigest()
            if found != self.sha256.lower():
                raise ValueError(f"{self}: the sha256 of the file is {found}, the manifest says {self.sha256}")
        return content

    def unpack(self) -> bytes:
        """The bytes after gzip is undone."""
        try:
            return gzip.decompress(self.read())
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{self}: not a whole gzip file ({error})") from None

    def text(self) -> str:
        """The unpacked bytes as UTF-8."""
        return decode(self.unpack(), self)


def decode(content: bytes, where: object) -> str:
    """UTF-8 with or without a byte order mark; ``where`` names the file in the error."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{where}: row {line} is not UTF-8 ({error.reason})") from None
