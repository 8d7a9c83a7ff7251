"""Fits on threads and processes: the same result as alone, and no more threads than there are cores."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import everyone
import numpy as np
import pytest
from busy_threads import counted
from everyone import NAMES, answer
from joblib import Parallel, cpu_count, delayed
from threadpoolctl import ThreadpoolController, threadpool_info

from multikernel.banks.threads import one_blas_thread, over_rows

SOME = ["EasyMKLClassifier", "RLS2Regressor", "LpMKLClassifier", "MultipleKernelRidgeCV"]
SIX = [*SOME, "GMKLSupportRegressor", "HKLClassifier"]
Way = Callable[[list[str], int], list[Any]]
TOLERANCE = 1e-10  # of the largest value


@cache
def alone(name: str, n: int) -> Any:
    """The answer of this thread, to which those of all ways of working are compared."""
    return answer(name, n)


def agree(found: Any, truth: Any) -> bool:
    return bool(np.abs(found - truth).max() <= TOLERANCE * np.abs(truth).max())


@pytest.mark.study
def test_many_fits_at_once_on_threads_are_the_fits_one_by_one() -> None:
    """Their linear algebra asks for threads of its own in each; afterwards the limits are what they were."""
    before = [(library["filepath"], library["num_threads"]) for library in threadpool_info()]
    truth = [alone(name, 60) for name in SOME]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda name: answer(name, 60), SOME * 2))
    assert all(map(agree, found, truth * 2))
    assert [(library["filepath"], library["num_threads"]) for library in threadpool_info()] == before


def test_a_thread_that_shares_out_its_work_does_not_wait_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    found = over_rows(lambda some: over_rows(lambda part: part.start, 10 * some.stop, 10), 4, 1)
    assert found == [list(range(0, 10 * n, 10)) for n in (1, 2, 3, 4)]


def test_any_thread_limits_linear_algebra_and_any_other_ends_it() -> None:
    """As where problems are solved on threads, which begin and end in no order, after others of the main thread."""
    libraries = ThreadpoolController()

    def threads() -> list[int]:
        return [library.num_threads for library in libraries.lib_controllers if library.user_api == "blas"]

    def all_one() -> bool:
        return set(threads()) == {1}

    with libraries.limit(limits=2, user_api="blas"):
        pass  # so that the main thread has set a limit before
    entered, leave = [one_blas_thread(10) for _ in range(3)], ThreadPoolExecutor(3)
    original = threads()
    try:
        libraries.limit(limits=2, user_api="blas")
        with libraries.limit():
            pass
        several = threads()  # of libraries that other tests have loaded some may know one thread only
        assert 2 in several
        with one_blas_thread(10):
            assert all_one()
        assert threads() == several
        for each in entered:
            leave.submit(each.__enter__).result()
            assert all_one()
        entered[0].__exit__(None, None, None)
        leave.submit(entered[1].__exit__, None, None, None).result()
        assert all_one()
        leave.submit(entered[2].__exit__, None, None, None).result()
        assert threads() == several
    finally:
        leave.shutdown()
        libraries.limit(limits=max(original), user_api="blas")
        with libraries.limit():
            pass


@pytest.mark.study
@pytest.mark.parametrize(("n", "names"), [(120, NAMES), (600, SIX)], ids=["every estimator", "600 samples"])
def test_one_thread_and_two_give_the_same_result(tmp_path: Path, n: int, names: list[str]) -> None:
    """In processes whose libraries have one thread and two; those of 600 samples divide a matrix among them."""
    told = []
    for threads in ("1", "2"):
        file = tmp_path / f"{threads}.npz"
        limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), threads)
        subprocess.run(
            [sys.executable, everyone.__file__, str(file), str(n), *names], check=True, env=dict(os.environ) | limits
        )
        told.append(np.load(file))
    different = {name for name in names if not agree(told[1][name], told[0][name])}
    assert different == set()


def by_joblib(backend: str) -> Way:
    return lambda names, n: Parallel(n_jobs=2, backend=backend)(delayed(answer)(name, n) for name in names)


def by_processes(start: str) -> Way:
    def run(names: list[str], n: int) -> list[Any]:
        import multiprocessing

        with multiprocessing.get_context(start).Pool(2) as pool:
            return pool.starmap(answer, [(name, n) for name in names])

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
    truth, found = [alone(name, 120) for name in NAMES], WAYS[way](NAMES, 120)
    different = [name for name, one, other in zip(NAMES, found, truth, strict=True) if not agree(one, other)]
    assert different == []


@pytest.mark.study
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted where Linux tells of them")
@pytest.mark.filterwarnings("ignore:This process")
@pytest.mark.parametrize("way", WAYS)
def test_many_fits_at_once_leave_no_core_to_several_threads(way: str) -> None:
    """Joblib leaves each of its processes its part of the cores; processes of Python's own have all of them each."""
    truth = [alone(name, 200) for name in SIX]
    found, seen = counted(lambda: WAYS[way](SIX * 2, 200), os.getpid())
    different = [name for name, one, other in zip(SIX * 2, found, truth * 2, strict=True) if not agree(one, other)]
    assert different == []
    cores = cpu_count()
    print(f"{way}: {np.mean(seen):.2f} threads had work on average, {np.quantile(seen, 0.95):.0f} in 95 of 100 looks")
    assert np.mean(seen) <= (cores if way in ("threads", "loky") else 2 * cores) + 0.5
