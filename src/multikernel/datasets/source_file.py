"""A file of a data directory, checked against its sha256 and unpacked; errors name the file."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SourceFile:
    """A file and its sha256 according to the manifest, None where the manifest has none."""

    path: Path
    sha256: str | None = None

    def __str__(self) -> str:
        return str(self.path)

    def read(self) -> bytes:
        """The bytes of the file; ValueError where their sha256 differs, FileNotFoundError where there is no file."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            raise FileNotFoundError(f"the data directory has no file {self.path}") from None
        if self.sha256 is not None:
            digest = hashlib.sha256(content).hexdigest()
            if digest != self.sha256.lower():
                raise ValueError(f"{self}: the sha256 of the file is {digest}, the manifest says {self.sha256}")
        return content

    def unpack(self) -> bytes:
        """The unpacked bytes of a gzip file; ValueError where the file is damaged."""
        try:
            return gzip.decompress(self.read())
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{self}: not a whole gzip file ({error})") from None

    def text(self) -> str:
        """The unpacked bytes as text; ValueError where they are not UTF-8."""
        return decode(self.unpack(), self)


def decode(content: bytes, source: object) -> str:
    """Bytes decoded as UTF-8, with or without a byte order mark; ValueError names ``source`` and the first bad row."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{source}: row {line} is not UTF-8 ({error.reason})") from None
