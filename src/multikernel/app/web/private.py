"""Files and folders that only the user who runs the application can read, whatever the umask and their mode before."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UMASK = 0o077  # of the processes that read files and learn


def private_folder(folder: Path) -> Path:
    """A folder of this user alone, made where it is not there; OSError in a sentence where it is another user's.

    Parameters
    ----------
    folder : its path
    """
    for above in reversed(folder.parents):  # whose mode decides, too, who may put another folder in the place of ours
        if not above.exists():
            above.mkdir(exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    _restrict(folder, 0o700)
    return folder


def private_file(path: Path, *, new: bool = False) -> None:
    """A file of this user alone, made where it is not there.

    Parameters
    ----------
    path : the file
    new : whether one that is there is deleted first, so that who has it open reads nothing of what is written
    """
    if new:
        path.unlink(missing_ok=True)
    flags = os.O_CREAT | os.O_WRONLY
    if new:
        flags |= os.O_EXCL
    os.close(os.open(path, flags, 0o600))
    _restrict(path, 0o600)


def restrict_tree(folder: Path) -> None:
    """The same for all that lies in a folder, as files of earlier versions of the application do.

    Parameters
    ----------
    folder : its path
    """
    for where, folders, files in os.walk(folder):  # does not follow links
        for name in folders:
            _restrict(Path(where) / name, 0o700)
        for name in files:
            _restrict(Path(where) / name, 0o600)


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
def held_alone(path: Path) -> Iterator[bool]:
    """Hold a file until the end, or until the process ends in whatever way; gives whether no other process holds it.

    Parameters
    ----------
    path : the file, made where it is not there
    """
    try:
        import fcntl
    except ImportError:  # on Windows
        yield True
        return
    private_file(path)
    alone = True
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # others mean that a file system has no locks
            alone = error.errno != errno.EWOULDBLOCK
        yield alone
