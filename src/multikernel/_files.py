"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_writable(path: Path) -> None:
    """OSError where the file could not be written: called before the work whose result it will hold."""
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a directory")
    if path.exists() and not path.is_file():
        raise OSError(f"cannot write {path}: it is a device, and no file; give the name of a file")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the directory {path.parent} does not exist")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write {path}: the directory {path.parent} is not writable")


def check_new(path: Path, *, force: bool, inputs: tuple[Path, ...] = ()) -> None:
    """OSError where a file cannot be written, is one of those to be read, or is there and was not meant to be replaced.

    Parameters
    ----------
    path : the file to write
    force : whether a file of that name may be replaced
    inputs : files that will be read
    """
    check_writable(path)
    if not path.exists():
        return
    if any(other.exists() and path.samefile(other) for other in inputs):
        raise FileExistsError(f"cannot write {path}: it is the file to be read; give another name to --out")
    if not force:
        raise FileExistsError(f"cannot write {path}: it exists; give another name to --out, or --force to replace it")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to, which takes the place of a file, and its mode, when all went well; else nothing is left.

    A link stays a link: the file that it names is replaced. OSError where that is not possible.
    """
    check_writable(path)
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield temporary
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old content or the new, never a part; OSError where that is not possible."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
