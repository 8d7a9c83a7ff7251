"""A look at the memory before much of it is asked for: a sentence in place of an end by the system."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container

_HALF = 0.5  # of the memory, that one thing may take


@cache
def total_memory() -> float:
    """How many bytes this process may ever have: those of the machine, or of the limits it runs under."""
    most = [float("inf")]
    with suppress(AttributeError, ValueError, OSError):  # a system that does not tell
        most.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    for path in _LIMITS:
        with suppress(OSError, ValueError):
            most.append(float(Path(path).read_text()))
    return min(bytes for bytes in most if bytes > 0)


def fits(bytes: float) -> bool:
    """Whether something so large, of which there is one, is kept in memory."""
    return bytes <= _HALF * total_memory()


def check_memory(values: float, what: str, instead: str, itemsize: int = 8) -> None:
    """Refuse what this machine cannot hold.

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
    needed, most = values * itemsize, total_memory()
    if needed > most:
        raise MemoryError(f"{what} takes {needed / 1e9:.3g} GB, and there are {most / 1e9:.3g} GB in all: {instead}")
