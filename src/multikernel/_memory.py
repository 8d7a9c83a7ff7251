"""A look at the memory before much of it is asked for: a sentence in place of an end by the system."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

_FEW = 1e-3  # of the memory, that is taken without a look at what is left, which takes .4 ms
_ROOT = Path("/")


@cache
def total_memory() -> float:
    """How many bytes this process may ever have: those of the machine, or of the container that it runs in."""
    return min(_machine_memory(), *(_number(limit) for limit, _, _ in _limits(_ROOT)), float("inf"))


def available_memory(root: Path = _ROOT) -> float:
    """How many bytes this process may take beside what is taken already: what the machine, its container or a limit of
    this process leaves.

    Parameters
    ----------
    root : where ``proc`` and ``sys`` are

    Notes
    -----
    A container's memory is what the files of control groups say, of version 1 or 2: the limit less what is in use, of
    which the system takes back the part of files that nobody has read lately. Where the system does not tell what is
    left, as on macOS, this is the memory of the machine. Limits of a process are those of ``ulimit -d`` and ``-v``.
    """
    machine = total_memory()
    left = min(machine, _left_on_machine(root), _left_to_process(root))
    for limit, usage, statistics in _limits(root):
        most = _number(limit)
        if most < machine:  # a larger one is none
            left = min(left, most - _in_use(usage, statistics))
    return max(0.0, left)


def fits(bytes: float) -> bool:
    """Whether something so large, of which there is one, is kept in memory: it may take half of what is available."""
    return bytes <= 0.5 * available_memory()


def check_memory(values: float, what: str, instead: str, itemsize: int = 8) -> None:
    """Refuse what this machine cannot hold now.

    Parameters
    ----------
    values : how many numbers
    what : what holds them, the beginning of the sentence
    instead : what to do, its end
    itemsize : int, bytes of a number

    Raises
    ------
    MemoryError : with both, and the bytes
    """
    needed = values * itemsize
    if needed <= _FEW * total_memory():
        return
    most = available_memory()
    if needed > most:
        raise MemoryError(f"{what} takes {needed / 1e9:.3g} GB, and {most / 1e9:.3g} GB are available: {instead}")


def _machine_memory() -> float:
    """The bytes of the machine; infinite where the system does not tell."""
    with suppress(AttributeError, ValueError, OSError):
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return float("inf")


def _left_on_machine(root: Path) -> float:
    """The bytes that can be taken without swapping, as Linux estimates them; elsewhere all that the machine has."""
    with suppress(OSError, ValueError):
        return 1024.0 * _entry(root / "proc/meminfo", "MemAvailable:")
    return _machine_memory()


def _left_to_process(root: Path) -> float:
    """The bytes that limits of this process leave, as Linux tells them; infinite where there are none."""
    left = float("inf")
    with suppress(OSError, ValueError):
        lines = (root / "proc/self/limits").read_text().splitlines()
        for limit, taken in (("Max data size", "VmData:"), ("Max address space", "VmSize:")):
            values = [line.removeprefix(limit).split()[0] for line in lines if line.startswith(limit)]
            if values and values[0].isdecimal():  # else the word unlimited
                left = min(left, float(values[0]) - 1024.0 * _entry(root / "proc/self/status", taken))
    return left


def _limits(root: Path) -> list[tuple[Path, Path, tuple[Path, str]]]:
    """Files with the limit, and what is in use, of each control group around this process that has them.

    The third is the file and the entry that tell how much of what is in use are files nobody has read lately.
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
    """Of a control group, and of all around it: each has a limit of its own."""
    if controllers not in ("", "memory"):
        return []
    inner = Path(group.lstrip("/"))
    if controllers:
        folders = [mount / "memory" / each for each in (inner, *inner.parents)]
        limit, usage, entry = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
    else:
        folders = [mount / each for each in (inner, *inner.parents)]
        limit, usage, entry = "memory.max", "memory.current", "inactive_file"
    return [(folder / limit, folder / usage, (folder / "memory.stat", entry)) for folder in folders]


def _number(file: Path) -> float:
    """The number of a file; infinite where it holds none, as where a limit is the word max."""
    with suppress(OSError, ValueError):
        return float(file.read_text())
    return float("inf")


def _in_use(usage: Path, statistics: tuple[Path, str]) -> float:
    """The bytes that a control group uses and that the system cannot take back; 0 where it does not tell."""
    with suppress(OSError, ValueError):
        used, reclaimed = float(usage.read_text()), 0.0
        with suppress(OSError, ValueError):
            reclaimed = _entry(*statistics)
        return max(0.0, used - reclaimed)
    return 0.0


def _entry(file: Path, name: str) -> float:
    """The number that stands behind a name in a file of such lines."""
    for line in file.read_text().splitlines():
        words = line.split()
        if words[:1] == [name]:
            return float(words[1])
    raise ValueError(f"{file} has no {name}")
