"""Checks of the available memory before much of it is allocated: an error instead of a killed process."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

_FEW = 1e-3  # of the memory: smaller allocations are not checked, because a check takes .4 ms
_ROOT = Path("/")


@cache
def total_memory() -> float:
    """The bytes that this process may have in total: those of the machine, or of its container."""
    return min(_machine_memory(), *(_number(limit) for limit, _, _ in _limits(_ROOT)), float("inf"))


def available_memory(root: Path = _ROOT) -> float:
    """The bytes that this process may still allocate, by the limits of the machine, its container and the process.

    Parameters
    ----------
    root : the directory of ``proc`` and ``sys``

    Notes
    -----
    The available memory of a container is read from the files of control groups, version 1 or 2: the limit minus the
    memory in use, without the cache of files that were not read lately, which the system can take back. Where the
    system does not report available memory, as on macOS, the result is the memory of the machine. Limits of a process
    are those of ``ulimit -d`` and ``-v``.
    """
    machine = total_memory()
    remaining = min(machine, _remaining_on_machine(root), _remaining_for_process(root))
    for limit, usage, statistics in _limits(root):
        limit_bytes = _number(limit)
        if limit_bytes < machine:  # a larger one has no effect
            remaining = min(remaining, limit_bytes - _in_use(usage, statistics))
    return max(0.0, remaining)


def fits(bytes: float) -> bool:
    """Whether a single object of so many bytes is stored: it may take half of the available memory."""
    return bytes <= 0.5 * available_memory()


def check_memory(values: float, label: str, instead: str, itemsize: int = 8) -> None:
    """Refuse an allocation that exceeds the available memory.

    Parameters
    ----------
    values : the number of numbers
    label : their purpose, the beginning of the message
    instead : advice, the end of the message
    itemsize : int, bytes of a number

    Raises
    ------
    MemoryError : with the label, the bytes and the advice
    """
    needed = values * itemsize
    if needed <= _FEW * total_memory():
        return
    available = available_memory()
    if needed > available:
        raise MemoryError(f"{label} takes {needed / 1e9:.3g} GB, and {available / 1e9:.3g} GB are available: {instead}")


def _machine_memory() -> float:
    """The bytes of the machine; infinite where the system does not report them."""
    with suppress(AttributeError, ValueError, OSError):
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return float("inf")


def _remaining_on_machine(root: Path) -> float:
    """The bytes that can be allocated without swapping, as estimated by Linux; elsewhere all bytes of the machine."""
    with suppress(OSError, ValueError):
        return 1024.0 * _entry(root / "proc/meminfo", "MemAvailable:")
    return _machine_memory()


def _remaining_for_process(root: Path) -> float:
    """The bytes that remain within the limits of this process on Linux; infinite without limits."""
    remaining = float("inf")
    with suppress(OSError, ValueError):
        lines = (root / "proc/self/limits").read_text().splitlines()
        for limit, usage_entry in (("Max data size", "VmData:"), ("Max address space", "VmSize:")):
            values = [line.removeprefix(limit).split()[0] for line in lines if line.startswith(limit)]
            if values and values[0].isdecimal():  # otherwise it is the word unlimited
                remaining = min(remaining, float(values[0]) - 1024.0 * _entry(root / "proc/self/status", usage_entry))
    return remaining


def _limits(root: Path) -> list[tuple[Path, Path, tuple[Path, str]]]:
    """The files with the limit and the memory in use, for each control group around this process that has them.

    The third item is the file and the entry with the memory of cached files that were not read lately.
    """
    with suppress(OSError):
        return [
            files
            for line in (root / "proc/self/cgroup").read_text().splitlines()
            for files in _files_of_group(root / "sys/fs/cgroup", *line.split(":", 2)[1:])
            if files[0].is_file()
        ]
    return []


def _files_of_group(mount: Path, controllers: str, group: str) -> list[tuple[Path, Path, tuple[Path, str]]]:
    """The files of a control group and of all groups around it, each of which has a limit."""
    if controllers not in ("", "memory"):
        return []
    inner = Path(group.lstrip("/"))
    if controllers:
        folders = [mount / "memory" / group_path for group_path in (inner, *inner.parents)]
        limit, usage, entry = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
    else:
        folders = [mount / group_path for group_path in (inner, *inner.parents)]
        limit, usage, entry = "memory.max", "memory.current", "inactive_file"
    return [(folder / limit, folder / usage, (folder / "memory.stat", entry)) for folder in folders]


def _number(file: Path) -> float:
    """The number in a file; infinite where there is none, such as for the limit max."""
    with suppress(OSError, ValueError):
        return float(file.read_text())
    return float("inf")


def _in_use(usage: Path, statistics: tuple[Path, str]) -> float:
    """The bytes that a control group uses and that the system cannot take back; 0 where they are not reported."""
    with suppress(OSError, ValueError):
        used_bytes, reclaimed = float(usage.read_text()), 0.0
        with suppress(OSError, ValueError):
            reclaimed = _entry(*statistics)
        return max(0.0, used_bytes - reclaimed)
    return 0.0


def _entry(file: Path, name: str) -> float:
    """The number after a name, in a file with a name and a number in each line."""
    for line in file.read_text().splitlines():
        words = line.split()
        if words[:1] == [name]:
            return float(words[1])
    raise ValueError(f"{file} has no {name}")
