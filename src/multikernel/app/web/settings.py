"""The settings of the application: its folder and its limits."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Settings:
    """The settings with which the application was started.

    Parameters
    ----------
    home : Path, the folder of the data sets, the runs and their list
    hosts : tuple of str, the host names under which it is served, without ports
    root_path : str, the prefix of its addresses behind a proxy, such as "/kernels"
    read_only : bool, whether nothing can be changed
    upload_limit : int, bytes of a request
    unpacked_limit : int, bytes of an unpacked table
    most_columns, most_rows : int, limits of a table
    most_cells : int, the limit of a sheet of Excel
    read_seconds : float, after which the reading of a file is ended
    read_memory : int, bytes that the reading of a file may take
    run_seconds : float, after which a run is ended
    run_memory : int, bytes that a run may take
    ready : bool, whether a process that has loaded its libraries waits for the next run
    """

    home: Path
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    root_path: str = ""
    read_only: bool = False
    upload_limit: int = 64 * MEGABYTE
    unpacked_limit: int = 256 * MEGABYTE
    most_columns: int = 2_000
    most_rows: int = 200_000
    most_cells: int = 5_000_000  # 38 s and 0.5 GB; a file of the largest upload holds as many numbers
    read_seconds: float = 120.0
    read_memory: int = 2048 * MEGABYTE
    run_seconds: float = 3600.0
    run_memory: int = 4096 * MEGABYTE
    ready: bool = True

    def check_columns(self, count: int) -> None:
        """ValueError where a table has too many columns."""
        if count > self.most_columns:
            raise ValueError(
                f"The table has {count} columns, and {self.most_columns} are the most that a page can show; leave some "
                "out, or learn with the command line."
            )

    def check_unpacked(self, size: int) -> None:
        """ValueError where a file of so many bytes is too large."""
        if size > self.unpacked_limit:
            raise ValueError(
                f"The file unpacks to more than {self.unpacked_limit >> 20} MB, the most that is taken; give fewer "
                "rows."
            )

    @property
    def data(self) -> Path:
        """The folder of the data sets."""
        return self.home / "data"

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.home / "runs"

    @property
    def models(self) -> Path:
        """The folder of the uploaded models."""
        return self.home / "models"


def default_home() -> Path:
    """The folder in which this platform stores the data of an application."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "multikernel"


def limit_memory(size: int) -> None:
    """Limit the bytes that this process may allocate."""
    _limit("RLIMIT_DATA", size)


def limit_file_size(size: int) -> None:
    """Limit the bytes of each file that this process may write."""
    _limit("RLIMIT_FSIZE", size)


def _limit(name: str, size: int) -> None:
    try:
        import resource
    except ImportError:  # on Windows
        return
    resource.setrlimit(getattr(resource, name), (size, size))
