"""What is left of the memory, of a machine and of a container, as the system's files say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from multikernel import _memory
from multikernel._memory import available_memory, check_memory

GB = 10**9
V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/memory"
NONE = str(2**63 - 4096)  # how version 1 says that there is no limit


def system(root: Path, group: str, files: dict[str, object]) -> Path:
    """A system of 64 GB with 32 GB left, and control groups with these files."""
    for name, content in {
        "proc/meminfo": "MemTotal: 1 kB\nMemAvailable:   31250000 kB\n",
        "proc/self/cgroup": group,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(str(content))
    return root


CASES = {
    "no container": ("0::/\n", {}, 32),
    "no control groups": ("", {}, 32),
    "version 2, no limit": ("0::/a\n", {f"{V2}/a/memory.max": "max\n", f"{V2}/a/memory.current": GB}, 32),
    "version 2": (
        "0::/a\n",
        {
            f"{V2}/a/memory.max": 8 * GB,
            f"{V2}/a/memory.current": 5 * GB,
            f"{V2}/a/memory.stat": f"anon {3 * GB}\nactive_file {GB}\ninactive_file {GB}\n",
        },
        4,
    ),
    "version 2, seen from within": ("0::/a/b\n", {f"{V2}/memory.max": 8 * GB, f"{V2}/memory.current": 5 * GB}, 3),
    "version 2, the group around it": (
        "0::/a/b\n",
        {
            f"{V2}/a/b/memory.max": 8 * GB,
            f"{V2}/a/b/memory.current": GB,
            f"{V2}/a/memory.max": 9 * GB,
            f"{V2}/a/memory.current": 7 * GB,
        },
        2,
    ),
    "version 1": (
        "5:cpu,cpuacct:/x\n4:memory:/a\n0::/\n",
        {
            f"{V1}/a/memory.limit_in_bytes": 8 * GB,
            f"{V1}/a/memory.usage_in_bytes": 5 * GB,
            f"{V1}/a/memory.stat": f"inactive_file 1\ntotal_inactive_file {2 * GB}\n",
            f"{V1}/memory.limit_in_bytes": NONE,
            f"{V1}/memory.usage_in_bytes": 60 * GB,
        },
        5,
    ),
    "more is used than allowed": ("0::/a\n", {f"{V2}/a/memory.max": GB, f"{V2}/a/memory.current": 2 * GB}, 0),
    "files that say nothing": ("0::/a\n", {f"{V2}/a/memory.max": 8 * GB, f"{V2}/a/memory.current": "?"}, 8),
}


@pytest.mark.parametrize(("group", "files", "left"), CASES.values(), ids=CASES)
def test_the_smaller_of_machine_and_container(
    group: str, files: dict[str, object], left: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_memory, "total_memory", lambda: 64.0 * GB)
    assert available_memory(system(tmp_path, group, files)) == left * GB


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        ("Max data size             unlimited            unlimited            bytes\n", 32),
        (f"Max data size             {3 * GB}           unlimited            bytes\n", 2),
        (f"Max address space         {5 * GB}           {5 * GB}             bytes\n", 1),
        (f"Max data size             {GB // 2}          {GB}                 bytes\n", 0),
    ],
)
def test_the_limits_of_a_process_count(
    limits: str, left: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_memory, "total_memory", lambda: 64.0 * GB)
    status = f"VmSize: {4 * GB // 1024} kB\nVmData: {GB // 1024} kB\n"
    files: dict[str, object] = {"proc/self/limits": limits, "proc/self/status": status}
    assert available_memory(system(tmp_path, "", files)) == pytest.approx(left * GB, abs=1024)


def test_a_system_that_tells_nothing_has_what_the_machine_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "total_memory", lambda: 1.0 * GB)
    assert available_memory(tmp_path) == GB


def test_what_is_refused_is_judged_by_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "total_memory", lambda: 64.0 * GB)
    monkeypatch.setattr(_memory, "available_memory", lambda: 2.0 * GB)
    check_memory(0.2 * GB, "a matrix", "take less")
    with pytest.raises(MemoryError, match=r"a matrix takes 2\.4 GB, and 2 GB are available: take less"):
        check_memory(0.3 * GB, "a matrix", "take less")
