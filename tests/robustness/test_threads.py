"""Fits on threads and processes: the same result as alone, and no more threads than there are cores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import everyone
import numpy as np
import pytest
from everyone import NAMES, answer
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info

SOME = ["EasyMKLClassifier", "RLS2Regressor", "LpMKLClassifier", "MultipleKernelRidgeCV"]
TOLERANCE = 1e-10  # of the largest value


def agree(found: Any, truth: Any) -> bool:
    return bool(np.abs(found - truth).max() <= TOLERANCE * np.abs(truth).max())


def test_many_fits_at_once_on_threads_are_the_fits_one_by_one() -> None:
    """Their linear algebra asks for threads of its own in each; afterwards the limits are what they were."""
    before = [(library["filepath"], library["num_threads"]) for library in threadpool_info()]
    truth = [answer(name, 60) for name in SOME]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda name: answer(name, 60), SOME * 2))
    assert all(map(agree, found, truth * 2))
    assert [(library["filepath"], library["num_threads"]) for library in threadpool_info()] == before


@pytest.mark.study
@pytest.mark.parametrize("n", [120, 600])
def test_one_thread_and_two_give_the_same_result(tmp_path: Path, n: int) -> None:
    """Every estimator, in processes whose libraries have one thread and two."""
    told = []
    for threads in ("1", "2"):
        file = tmp_path / f"{threads}.npz"
        limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), threads)
        subprocess.run([sys.executable, everyone.__file__, str(file), str(n)], check=True, env=_environment() | limits)
        told.append(np.load(file))
    different = {name for name in NAMES if not agree(told[1][name], told[0][name])}
    assert different == set()


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


def by_joblib(backend: str) -> Callable[[list[str]], list[Any]]:
    return lambda names: Parallel(n_jobs=2, backend=backend)(delayed(answer)(name) for name in names)


def by_processes(start: str) -> Callable[[list[str]], list[Any]]:
    def run(names: list[str]) -> list[Any]:
        import multiprocessing

        with multiprocessing.get_context(start).Pool(2) as pool:
            return pool.map(answer, names)

    return run


WAYS = {
    "threads": by_joblib("threading"),
    "loky": by_joblib("loky"),
    "fork": by_processes("fork"),
    "spawn": by_processes("spawn"),
}


@pytest.mark.study
@pytest.mark.filterwarnings("ignore:This process")  # Python's own word about forks of processes with threads
@pytest.mark.parametrize("way", WAYS)
def test_every_estimator_on_other_threads_and_processes(way: str) -> None:
    truth, found = [answer(name) for name in NAMES], WAYS[way](NAMES)
    different = [name for name, one, other in zip(NAMES, found, truth, strict=True) if not agree(one, other)]
    assert different == []
