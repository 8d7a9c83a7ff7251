"""Names of files that a user gives, and files that are written completely or not at all."""

from __future__ import annotations

import errno
import glob
import os
import platform
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from multikernel._rules import abbreviated

_HERE = f"{zlib.crc32(platform.node().encode()):08x}"  # distinguishes machines that share a folder
_NAMED = 50  # characters of a file's name in that of its temporary file, whose length the system limits


def path_of(file_name: Any, argument: str) -> Path:
    """The path of a name that a user gives.

    Parameters
    ----------
    file_name : str or path-like
    argument : the name of the argument in a message, such as "save: path"

    Raises
    ------
    TypeError : where it is neither a string nor a path
    ValueError : where no file can have that name
    """
    name = os.fspath(file_name) if isinstance(file_name, os.PathLike) else file_name
    if not isinstance(name, str):
        raise TypeError(
            f"{argument} must be the name of a file or directory, a string or a pathlib.Path; got "
            f"{abbreviated(file_name)} of type {type(file_name).__name__}"
        )
    if not name:
        raise ValueError(f"{argument} is an empty string; give the name of a file or directory")
    try:
        os.lstat(name)
    except (ValueError, OSError) as error:
        if isinstance(error, ValueError):  # a NUL, or half of a surrogate pair
            raise ValueError(f"{argument} is {name!a}, which holds a character that no file's name may hold") from None
        if error.errno == errno.ENAMETOOLONG:
            raise ValueError(f"{argument} is {abbreviated(name)}, which is too long for the name of a file") from None
    return Path(name)


def check_writable(path: Path) -> None:
    """OSError where the file could not be written; called before the work whose result will be written to it."""
    if path.name == "-":
        raise OSError(
            "cannot write '-': it is no name of a file; give one, or leave it out where results may be printed"
        )
    target = _target(path)
    if path.is_symlink() and not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {path}: it is a link to {target}, and the directory {target.parent} does not exist"
        )
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a directory")
    if path.exists() and not path.is_file():
        raise OSError(f"cannot write {path}: it is a device, and no file; give the name of a file")
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the directory {path.parent} does not exist")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write {path}: the directory {path.parent} is not writable")


def _target(path: Path) -> Path:
    """The file to which a path leads; OSError where links form a circle."""
    try:
        return path.resolve()
    except (RuntimeError, OSError) as error:  # up to Python 3.12, and in later versions
        if isinstance(error, OSError) and error.errno != errno.ELOOP:
            raise
        raise OSError(f"cannot write {path}: it is a link that leads back to itself; give the name of a file") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file, which after success replaces the file of this path and takes its mode; otherwise it is removed.

    A link remains a link: the file to which it leads is replaced. OSError where that is not possible.
    """
    check_writable(path)
    path = path.resolve()
    _remove_leftovers(path)
    temporary = path.with_name(f".{path.name[:_NAMED]}.{_HERE}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        yield temporary
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        _flush_to_disk(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files of this path that killed processes of this machine left behind."""
    for leftover in path.parent.glob(f".{glob.escape(path.name[:_NAMED])}.{_HERE}-*-*"):
        process = leftover.name.rsplit("-", 2)[1]
        if process.isdigit() and not _is_running(int(process)):
            leftover.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Whether a process runs; True where the check itself would end the process, as on Windows."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _flush_to_disk(path: Path) -> None:
    """Wait until a file is on the disk, so that a power failure cannot leave it with part of its content."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old content or the new, never a part; OSError where that is not possible."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
