"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def check_writable(path: Path) -> None:
    """OSError where the file could not be written: called before the work whose result it will hold."""
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a directory")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the directory {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"cannot write {path}: the directory {path.parent} is not writable")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old content or the new, never a part; OSError where that is not possible."""
    check_writable(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
