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

_HERE = f"{zlib.crc32(platform.node().encode()):08x}"  # tells machines that share a folder apart
_NAMED = 50  # characters of a file's name in the name of its temporary file, which must not be too long for the system


def path_of(given: Any, what: str) -> Path:
    """The path that a user gives.

    Parameters
    ----------
    given : str or path-like
    what : how a sentence calls it, such as "save: path"

    Raises
    ------
    TypeError : where it is neither a string nor a path
    ValueError : where no file can have that name
    """
    name = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(name, str):
        raise TypeError(
            f"{what} must be the name of a file or directory, a string or a pathlib.Path; got "
            f"{abbreviated(given)} of type {type(given).__name__}"
        )
    if not name:
        raise ValueError(f"{what} is an empty string; give the name of a file or directory")
    try:
        os.lstat(name)
    except (ValueError, OSError) as error:
        if isinstance(error, ValueError):  # a NUL, or half of a surrogate pair
            raise ValueError(f"{what} is {name!a}, which holds a character that no file's name may hold") from None
        if error.errno == errno.ENAMETOOLONG:
            raise ValueError(f"{what} is {abbreviated(name)}, which is too long for the name of a file") from None
    return Path(name)


def check_writable(path: Path) -> None:
    """OSError where the file could not be written: called before the work whose result it will hold."""
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
    """The file that a path leads to; OSError where links lead back to themselves."""
    try:
        return path.resolve()
    except (RuntimeError, OSError) as error:  # of Python up to 3.12, and later
        if isinstance(error, OSError) and error.errno != errno.ELOOP:
            raise
        raise OSError(f"cannot write {path}: it is a link that leads back to itself; give the name of a file") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to, which takes the place of a file, and its mode, when all went well; else nothing is left.

    A link stays a link: the file that it names is replaced. OSError where that is not possible.
    """
    check_writable(path)
    path = path.resolve()
    _clear_what_was_left(path)
    temporary = path.with_name(f".{path.name[:_NAMED]}.{_HERE}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        yield temporary
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        _reach_the_disk(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _clear_what_was_left(path: Path) -> None:
    """Remove what killed processes of this machine left behind when they wrote the file."""
    for left in path.parent.glob(f".{glob.escape(path.name[:_NAMED])}.{_HERE}-*-*"):
        process = left.name.rsplit("-", 2)[1]
        if process.isdigit() and not _runs(int(process)):
            left.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Whether a process is there; taken for granted where a look would end it, as on Windows."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _reach_the_disk(path: Path) -> None:
    """Wait until a file is on the disk, so that no loss of power leaves its name with half of its content."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old content or the new, never a part; OSError where that is not possible."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
