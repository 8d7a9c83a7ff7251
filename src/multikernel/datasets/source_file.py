"""A file of a data directory, checked against its sha256 and unpacked; errors name the file."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SourceFile:
    """A file and the sha256 that the manifest states for it, None where it states none."""

    path: Path
    sha256: str | None = None

    def __str__(self) -> str:
        return str(self.path)

    def read(self) -> bytes:
        """The bytes on the disk; ValueError where their sha256 is another, FileNotFoundError where there is no file."""
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
        """The bytes that gzip packed; ValueError where the file is damaged."""
        try:
            return gzip.decompress(self.read())
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{self}: not a whole gzip file ({error})") from None

    def text(self) -> str:
        """The unpacked bytes as text; ValueError where they are not UTF-8."""
        return decode(self.unpack(), self)


def decode(content: bytes, where: object) -> str:
    """Bytes as UTF-8 with or without a byte order mark; ValueError names ``where`` and the row that is not."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{where}: row {line} is not UTF-8 ({error.reason})") from None
