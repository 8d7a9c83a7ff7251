"""Work that is killed without warning loses nothing that was finished, and goes on to the same result."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import works

import multikernel


def parts(folder: Path) -> dict[Path, int]:
    """The finished parts, with when they were written."""
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*.part")}


def kill(work: str, folder: Path, ready: Callable[[], bool]) -> bool:
    """Start a piece of work in a process of its own and kill it once that is ready; whether it was still running."""
    with subprocess.Popen([sys.executable, works.__file__, work, str(folder)]) as process:
        while process.poll() is None and not ready():
            time.sleep(0.005)
        running = process.poll() is None
        process.kill()
    return running


@pytest.mark.parametrize("work", ["path"])
def test_what_was_finished_is_not_done_again(tmp_path: Path, work: str) -> None:
    assert kill(work, tmp_path, lambda: len(parts(tmp_path)) >= 4)
    before = parts(tmp_path)
    (state,) = multikernel.checkpoints(tmp_path)
    assert state.left
    np.testing.assert_array_equal(works.WORKS[work](tmp_path), works.WORKS[work](None))
    after = parts(tmp_path)
    assert before.items() < after.items()
    assert not multikernel.checkpoints(tmp_path)[0].left


@pytest.mark.study
@pytest.mark.parametrize("work", ["path", "search", "pairs"])
def test_work_killed_at_twenty_random_moments(tmp_path: Path, work: str) -> None:
    """Each of twenty processes is killed some time after its imports, the work begun anew once it is finished."""
    truth, random, killed = works.WORKS[work](None), np.random.default_rng(0), 0
    for moment in range(200):
        folder = tmp_path / str(killed // 4)  # four in a row on the same work
        before, end = parts(folder), time.monotonic() + random.uniform(1.5, 4.5)
        killed += kill(work, folder, lambda end=end: time.monotonic() > end)  # type: ignore[misc]
        assert before.items() <= parts(folder).items(), f"a finished part was lost at moment {moment}"
        if killed == 20:
            break
    assert killed == 20
    for folder in tmp_path.iterdir():
        np.testing.assert_array_equal(works.WORKS[work](folder), truth)


@pytest.mark.study
def test_a_save_killed_at_twenty_random_moments(tmp_path: Path) -> None:
    """The file of the model is always a whole one, and nothing else is left beside it after the next save."""
    truth, random, file = works.save(None), np.random.default_rng(0), tmp_path / "model.mk"
    for _ in range(20):
        first = time.monotonic()
        kill("save", tmp_path, lambda: file.exists() and time.monotonic() > first + 1.0)  # noqa: B023
        time.sleep(random.uniform(0, 0.02))
        np.testing.assert_array_equal(multikernel.load(file).dual_coef_.ravel(), truth)
    multikernel.save(multikernel.load(file), file)
    assert [each.name for each in tmp_path.iterdir()] == ["model.mk"]
