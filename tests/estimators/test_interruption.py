"""Ctrl-C ends a fit, on whatever threads its problems are solved."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import joblib
import numpy as np
import pytest

from multikernel import kernels
from multikernel._workers import Interrupted, check_interrupted, on_threads, run_for_user
from multikernel.banks import DenseGram, KernelBank, bind_kernels
from multikernel.banks.shared import Passes, SharedBank, together
from multikernel.machines import HingeMachine, MarginMachine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends a signal of POSIX")

MINUTES = """
import faulthandler
import os
import threading
import time

import numpy as np
from multikernel import L1MKLClassifier, kernels

rng = np.random.default_rng(0)
X, y = rng.normal(size=(1000, 5)), rng.integers(0, 10, 1000)
model = L1MKLClassifier(kernels.rbf_grid(np.logspace(-4, 1, 12)), C=1e9, tol=1e-14)
print("begins", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    for _ in range(3000):
        time.sleep(0.01)
        if not any(thread.name.startswith("multikernel-problem") for thread in threading.enumerate()):
            print("interrupted, and no thread goes on", flush=True)
            break
    else:
        faulthandler.dump_traceback(all_threads=True)
os._exit(0)  # without waiting for threads
"""


def test_a_fit_of_minutes_on_many_threads_ends_soon_after_a_signal() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MINUTES], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert out == "interrupted, and no thread goes on\n", (process.returncode, errors)


def goes_on(began: threading.Semaphore, ended: list[type[BaseException]]) -> Any:
    """Work that never ends by itself."""
    began.release()
    try:
        while True:
            check_interrupted()
            time.sleep(0.001)
    except BaseException as error:
        ended.append(type(error))
        raise


def interrupt_two(began: threading.Semaphore) -> None:
    """Send Ctrl-C to the main thread after two works began."""

    def send() -> None:
        began.acquire()
        began.acquire()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=send, daemon=True).start()


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Ctrl-C is heard, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def until(condition: Callable[[], bool]) -> bool:
    return any(condition() or bool(time.sleep(0.01)) for _ in range(3000))


BANK = bind_kernels(kernels.rbf_grid([0.1, 1.0]), np.random.default_rng(0).normal(size=(20, 2)))


def on_joblib(works: list[Callable[[], Any]]) -> list[Any]:
    return on_threads(works, n_jobs=len(works))


def on_shared_passes(works: list[Callable[[], Any]]) -> list[Any]:
    def problem(work: Callable[[], Any]) -> Callable[[KernelBank], Any]:
        return lambda bank: work()

    return together(BANK, [problem(work) for work in works])


@pytest.mark.parametrize("run", [on_joblib, on_shared_passes])
def test_work_on_threads_ends_where_the_main_thread_is_interrupted(run: Any) -> None:
    began, ended = threading.Semaphore(0), []  # type: ignore[var-annotated]
    interrupt_two(began)
    with pytest.raises(KeyboardInterrupt):
        run([lambda: goes_on(began, ended), lambda: goes_on(began, ended)])
    assert until(lambda: len(ended) == 2)
    assert set(ended) == {Interrupted}


def test_problems_that_wait_for_a_pass_end_as_well() -> None:
    began, ended = threading.Semaphore(0), []  # type: ignore[var-annotated]

    def waits(bank: KernelBank) -> None:
        began.release()
        try:
            bank.combine(np.ones(2))
        except BaseException as error:
            ended.append(type(error))
            raise

    interrupt_two(began)
    with pytest.raises(KeyboardInterrupt):
        together(BANK, [lambda bank: goes_on(began, ended), waits])
    assert until(lambda: len(ended) == 2)
    assert set(ended) == {Interrupted}


def test_a_problem_ends_that_waits_for_others_which_never_began() -> None:
    passes, ended = Passes(BANK, running=2), []  # type: ignore[var-annotated]
    began = threading.Event()

    def waits() -> None:
        began.set()
        try:
            SharedBank(BANK, passes).combine(np.ones(2))
        except BaseException as error:
            ended.append(type(error))

    def interrupted_after_the_first(works: list[Callable[[], Any]]) -> list[Any]:
        threading.Thread(target=works[0], daemon=True).start()
        began.wait()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_for_user([waits, waits], interrupted_after_the_first)
    assert until(lambda: ended == [Interrupted])


def test_work_is_on_threads_whatever_backend_is_asked_for() -> None:
    """Processes could neither share the matrices nor hear of an interruption."""
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert on_threads([os.getpid, os.getpid], n_jobs=2) == [os.getpid()] * 2
        assert on_threads([os.getpid, os.getpid], n_jobs=None) == [os.getpid()] * 2


def test_work_that_fails_ends_the_work_beside_it() -> None:
    ended: list[type[BaseException]] = []

    def fails() -> None:
        raise ValueError("of its own")

    with pytest.raises(ValueError, match="of its own"):
        on_threads([fails, lambda: goes_on(threading.Semaphore(0), ended)], n_jobs=2)
    assert until(lambda: ended == [Interrupted])


@pytest.mark.parametrize("machine", [HingeMachine(C=1e9, tol=1e-16), MarginMachine(lam=0.0, tol=1e-16)])
def test_long_solutions_of_machines_can_be_interrupted(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled loops return to Python after a while."""
    from multikernel.machines.margin import machine as margin
    from multikernel.machines.support import ascent

    monkeypatch.setattr(ascent, "PIECE", 1000)
    monkeypatch.setattr(margin, "PIECE", 1000)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat([-1.0, 1.0], 30)
    asked: list[int] = []
    for module in (ascent, margin):
        monkeypatch.setattr(module, "check_interrupted", lambda: asked.append(1))
    whole = machine.solve(DenseGram(X @ X.T + 1.0), y)
    assert len(asked) >= max(2, whole.n_iter / 16)
    monkeypatch.undo()
    again = machine.solve(DenseGram(X @ X.T + 1.0), y)
    np.testing.assert_allclose(whole.value, again.value, rtol=1e-3)
