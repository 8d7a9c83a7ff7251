"""Files and folders that only the user of the application can read, whatever the umask and their previous mode."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UMASK = 0o077  # of the processes that read files and learn


def private_folder(folder: Path) -> Path:
    """A folder that only this user can read, created if needed; OSError where it belongs to another user.

    Parameters
    ----------
    folder : its path
    """
    for above in reversed(folder.parents):  # their modes decide who can replace the folder by another one
        if not above.exists():
            above.mkdir(exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    _restrict(folder, 0o700)
    return folder


def private_file(path: Path, *, recreate: bool = False) -> None:
    """Create a file that only this user can read, or restrict an existing file.

    Parameters
    ----------
    path : the file
    recreate : whether an existing file is deleted first, so that a process that has it open cannot read the new one
    """
    if recreate:
        path.unlink(missing_ok=True)
    flags = os.O_CREAT | os.O_WRONLY
    if recreate:
        flags |= os.O_EXCL
    os.close(os.open(path, flags, 0o600))
    _restrict(path, 0o600)


def restrict_tree(folder: Path) -> None:
    """Restrict all files and folders inside a folder, such as those of earlier versions of the application.

    Parameters
    ----------
    folder : its path
    """
    for parent, folders, files in os.walk(folder):  # does not follow links
        for name in folders:
            _restrict(Path(parent) / name, 0o700)
        for name in files:
            _restrict(Path(parent) / name, 0o600)


def _restrict(path: Path, mode: int) -> None:
    if os.name != "posix" or path.is_symlink():
        return
    if path.stat().st_mode & 0o777 == mode:
        return
    try:
        path.chmod(mode)
    except OSError as error:
        raise OSError(
            f"{path} may be read by other users, and this cannot be changed ({error.strerror}); give a folder of your "
            "own by --home"
        ) from None


@contextmanager
def exclusive_lock(path: Path) -> Iterator[bool]:
    """Lock a file until the context or the process ends; yields False where another process has the lock.

    Parameters
    ----------
    path : the file, created if needed
    """
    try:
        import fcntl
    except ImportError:  # on Windows
        yield True
        return
    private_file(path)
    exclusive = True
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # other errors mean that the file system has no locks
            exclusive = error.errno != errno.EWOULDBLOCK
        yield exclusive
