"""The encoding of a text file: UTF-8, UTF-16 where its mark says so, or Windows-1252, as Excel writes in Europe."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from io import DEFAULT_BUFFER_SIZE
from pathlib import Path
from typing import IO

WINDOWS = "cp1252"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UNDEFINED = bytes.fromhex("81 8d 8f 90 9d")  # in Windows-1252
_ESCAPED = re.compile("[\udc80-\udcff]")
_NOT_ASCII = re.compile("[^\0-\x7f]")

Opener = Callable[[Path], AbstractContextManager[IO[bytes]]]


def encoding_of(path: Path, opened: Opener) -> str:
    """The encoding of a file, UTF-8 where it is none of these.

    Parameters
    ----------
    path : the file
    opened : opens it for reading bytes, decompressed
    """
    about = path.stat()
    return _encoding(path, opened, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=1024)
def _encoding(path: Path, opened: Opener, changed: int, size: int) -> str:
    """The encoding, cached until the time of change or the size differs: each pass over the rows asks for it."""
    with opened(path) as file:
        if file.peek(2).startswith(_UTF16):  # type: ignore[attr-defined]
            return "utf-16"
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while block := file.read(DEFAULT_BUFFER_SIZE):
                decoder.decode(block)
            decoder.decode(b"", True)
        except UnicodeDecodeError:
            pass
        else:
            return "utf-8-sig"
    if _is_windows(path, opened):
        return WINDOWS
    return "utf-8-sig"


def _is_windows(path: Path, opened: Opener) -> bool:
    """Whether text that is no UTF-8 can be Windows-1252: it is damaged UTF-8 where most characters beyond ASCII are."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    escaped = beyond = 0
    with opened(path) as file:
        while block := file.read(DEFAULT_BUFFER_SIZE):
            if len(block.translate(None, _UNDEFINED + b"\0")) < len(block):
                return False
            text = decoder.decode(block)
            escaped += len(_ESCAPED.findall(text))
            beyond += len(_NOT_ASCII.findall(text))
    return escaped > beyond - escaped
