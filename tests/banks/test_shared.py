"""Problems that share their passes get what each would get alone."""

from __future__ import annotations

from threading import current_thread
from typing import Any

import joblib
import numpy as np
import pytest

from multikernel.banks import KernelBank, precomputed
from multikernel.banks.shared import SharedBank, together
from multikernel.banks.threads import over_rows, threads_of


def a_bank(m: int = 5, n: int = 12) -> KernelBank:
    F = np.random.default_rng(0).normal(size=(m, n, 7))
    return precomputed(F @ F.transpose(0, 2, 1))


def asks(steps: int, seed: int) -> Any:
    """A problem that makes passes of all kinds, ``steps`` times, each depending on the one before."""

    def problem(bank: KernelBank) -> list[np.ndarray]:
        found, u = [], np.random.default_rng(seed).normal(size=bank.shape[0])
        for _ in range(steps):
            w = np.abs(bank.quad(u))
            K = bank.combine(w / w.sum()).dense()
            Z = bank.apply(u[:, None])[:, :, 0]
            u = K @ u / np.linalg.norm(K @ u)
            found += [w, K, Z]
        return found

    return problem


def test_each_problem_gets_its_own_answers() -> None:
    bank, problems = a_bank(), [asks(steps, seed) for seed, steps in enumerate((3, 1, 5, 0))]
    for found, problem in zip(together(bank, problems), problems, strict=True):
        for got, want in zip(found, problem(bank), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_pass_is_made_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    bank, made = a_bank(), []
    one_pass = type(bank).combine_all
    monkeypatch.setattr(type(bank), "combine_all", lambda self, W: made.append(len(W)) or one_pass(self, W))
    together(bank, [lambda shared: shared.combine(np.ones(5)).dense() for _ in range(4)])
    assert made == [4]


def test_the_passes_of_problems_are_shared_out_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    def problem(_: KernelBank) -> list[str]:
        return over_rows(lambda rows: current_thread().name, 4, 1)

    for names in together(a_bank(), [problem, problem]):
        assert all(name.startswith("multikernel-rows") for name in names)


def test_each_problem_sees_whether_the_matrices_are_distances() -> None:
    found = together(a_bank().distances(), [lambda shared: shared.of_distances] * 2)
    assert found == [True, True]


def test_an_error_of_one_problem_does_not_stop_the_others() -> None:
    ended = []

    def fails(bank: KernelBank) -> None:
        bank.quad(np.ones(12))
        raise RuntimeError("this one")

    def goes_on(bank: KernelBank) -> None:
        for _ in range(3):
            bank.quad(np.ones(12))
        ended.append(True)

    with pytest.raises(RuntimeError, match="this one"):
        together(a_bank(), [fails, goes_on, goes_on])
    assert ended == [True, True]


def test_an_error_of_a_pass_reaches_who_asked() -> None:
    with pytest.raises(ValueError, match="a bank of 5 kernels got an array with 3 weights"):
        together(a_bank(), [lambda bank: bank.combine(np.ones(3)), lambda bank: bank.combine(np.ones(3))])


def test_everything_else_is_the_banks_own() -> None:
    bank = a_bank()

    def look(shared: KernelBank) -> None:
        assert isinstance(shared, SharedBank)
        assert (len(shared), shared.shape, shared.square) == (5, (12, 12), True)
        rows = np.array([1, 4, 6])
        np.testing.assert_allclose(shared.diagonal(), bank.diagonal())
        np.testing.assert_allclose(shared.block(rows, rows).matrices(), bank.block(rows, rows).matrices())
        np.testing.assert_allclose(shared.exact([1, 3]).matrices(), bank.exact([1, 3]).matrices())
        np.testing.assert_allclose(shared.quad(np.eye(12)[:, :3]), bank.quad(np.eye(12)[:, :3]))

    together(bank, [look, look])


@pytest.mark.parametrize("n_jobs", [None, 1, 3, -1, -2, -100])
def test_jobs_are_counted_as_joblib_counts_them(n_jobs: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", str(joblib.cpu_count()))
    assert threads_of(n_jobs) == joblib.effective_n_jobs(n_jobs)
