"""How many threads of a process, and of those that it started, have work: asked again and again, on Linux.

Run as a program, so that looking takes no part in the work: it looks until its input ends, then prints what it saw.
"""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_BETWEEN = 0.02  # seconds


def busy(process: str, but: str = "") -> int:
    """Threads that run or wait for a core, and those of the processes that they started, less one of these."""
    count = 0
    for thread in Path("/proc", process, "task").glob("*"):
        with suppress(OSError):  # it has ended since
            count += (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R"
            started = (thread / "children").read_text().split()
            count += sum(busy(other, but) for other in started if other != but)
    return count


def counted(act: Callable[[], T], process: int) -> tuple[T, list[int]]:
    """What a function returns, and how many threads had work at each look while it ran."""
    words = [sys.executable, __file__, str(process)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as looking:
        result = act()
        told, _ = looking.communicate()
    return result, [int(word) for word in told.split()]


if __name__ == "__main__":
    import os

    seen = []
    while not select.select([sys.stdin], [], [], _BETWEEN)[0]:
        seen.append(busy(sys.argv[1], str(os.getpid())))
    print(*seen)
