"""Products and factorisations without Python's lock, beside NumPy's, and that they hold no lock."""

from __future__ import annotations

import sys
import threading
import time
from typing import Literal

import numpy as np
import pytest

from multikernel.numerics import lapack


@pytest.fixture(params=["by address", "by wrapper"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What SciPy publishes, and a build of it that publishes nothing that is understood."""
    if request.param == "by wrapper":
        none = {precision: dict.fromkeys(routines) for precision, routines in lapack._ROUTINES.items()}
        monkeypatch.setattr(lapack, "_ROUTINES", none)
        for name in ("_potri", "_gemm"):
            monkeypatch.setattr(lapack, name, None)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("m", "k", "n"), [(7, 5, 3), (1, 4, 1), (3, 0, 2), (0, 2, 3), (2, 3, 0)])
def test_products(m: int, k: int, n: int) -> None:
    rng = np.random.default_rng(0)
    A, B, C = rng.normal(size=(m, k)), rng.normal(size=(n, k)).T, rng.normal(size=(m, n))
    np.testing.assert_allclose(lapack.gemm(A, B), A @ B, rtol=1e-13, atol=1e-14)
    expected = C + 2.0 * A @ B
    found = lapack.gemm(A[:, ::-1], B[::-1], C, 2.0)
    assert found is C
    np.testing.assert_allclose(C, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.usefixtures("way")
def test_products_of_blocks_touch_nothing_beside_them() -> None:
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(9, 12))
    fields = np.zeros(6, dtype=[("number", np.float64), ("letter", "S1")])
    fields["number"] = rng.normal(size=6)
    blocks = {
        "rows": whole[2:5, 3:9],
        "columns": whole.T[2:5, 3:9],
        "one row": whole[2:3, 3:9],
        "one column": whole[3:9, 2:3].T,
        "of every other row": whole[::2, 3:9][:3],
        "of every other column": whole[:3, ::2],
        "backwards": whole[2:3, 8:2:-1],
        "repeated": np.broadcast_to(whole[0, :6], (3, 6)),
        "of fields": fields["number"][:, None].T,
        "in single precision": whole[2:5, 3:9].astype(np.float32),
    }
    for name, A in blocks.items():
        B = rng.normal(size=(8, 6)).T[:, 1:5]
        space = rng.normal(size=(len(A) + 2, 7))
        expected = space.copy()
        expected[1:-1, 2:6] += 0.5 * A.astype(np.float64) @ B
        lapack.gemm(A, B, space[1:-1, 2:6], 0.5)
        np.testing.assert_allclose(space, expected, rtol=1e-13, atol=1e-14, err_msg=name)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_triangles(precision: type, order: Literal["C", "F"]) -> None:
    rng = np.random.default_rng(0)
    close = {"rtol": 1e-4 if precision is np.float32 else 1e-12, "atol": 1e-5 if precision is np.float32 else 1e-13}
    whole = np.asfortranarray(rng.normal(size=(5, 5)) + 4.0 * np.eye(5), dtype=precision)
    lower, upper = np.tril(whole), np.triu(whole)
    for L, own in ((whole, lower), (whole.T, upper.T)):  # only one triangle is read, of an array in either order
        for rows in (slice(0, 6), slice(1, 5)):
            B = np.array(rng.normal(size=(6, 5)), dtype=precision, order=order)
            for transposed in (True, False):
                factor = own.T if transposed else own
                changed = B.copy(order="K")
                lapack.multiply(changed[rows], L, transposed)
                np.testing.assert_allclose(changed[rows], B[rows] @ factor, **close)
                lapack.divide(changed[rows], L, transposed)
                np.testing.assert_allclose(changed, B, **close)
    C = np.asfortranarray(rng.normal(size=(6, 6)), dtype=precision)
    expected = np.tril(C) - np.tril(B @ B.T)
    lapack.reduce(C, B)
    np.testing.assert_allclose(np.tril(C), expected, **close)


@pytest.mark.usefixtures("way")
def test_inverse() -> None:
    A = np.random.default_rng(0).normal(size=(9, 6))
    K = A.T @ A
    inverse = np.array(K, order="F")
    assert lapack.factored(inverse, lower=True)
    assert lapack.inverted(inverse)
    np.testing.assert_allclose(np.tril(inverse), np.tril(np.linalg.inv(K)), rtol=1e-9, atol=1e-12)
    assert not lapack.factored(np.asfortranarray(K - 100.0 * np.eye(6)), lower=True)


def test_arrays_that_do_not_fit_are_refused() -> None:
    """What is computed by address would read and write beyond them."""
    A = np.ones((3, 4))
    square = np.asfortranarray(np.eye(3))
    beside = np.ones((3, 2), order="F")
    with pytest.raises(ValueError, match="A has 4 columns and B has 3 rows"):
        lapack.gemm(A, np.ones((3, 5)))
    wrong = [np.ones((3, 4)), np.ones((3, 5), np.float32), np.ones((3, 5), order="F"), np.ones((3, 10))[:, ::2]]
    for out in wrong:
        with pytest.raises(ValueError, match="out has to be an array of float64 in C order"):
            lapack.gemm(A, np.ones((4, 5)), out)
    refused = pytest.raises(ValueError, match="takes arrays of one precision, in Fortran order")
    for L in (np.tril(A[:, :3] + np.eye(3)), beside, square.astype(np.float32), square[:, ::-1]):
        with refused:
            lapack.inverted(L)
    for B in (beside, beside[:2].T, beside.T.astype(np.float32), np.ones((2, 6))[:, ::2]):
        for change in (lapack.divide, lapack.multiply):
            with refused:
                change(B, square)
        with refused:
            lapack.reduce(square, B.T)
    with refused:
        lapack.factored(np.ones((3, 4), order="F"), lower=True)


def test_other_threads_go_on() -> None:
    """Nobody takes the lock from a thread that holds it here: others have turns only where a call gives it back."""
    A, turns, ended, interval = np.eye(700), [0], threading.Event(), sys.getswitchinterval()

    def count() -> None:
        while not ended.is_set():
            turns[0] += 1
            time.sleep(0.0)

    thread = threading.Thread(target=count)
    sys.setswitchinterval(100.0)
    thread.start()
    try:
        most = 0
        for _ in range(20):  # on however busy a machine
            before = turns[0]
            lapack.gemm(A, A)
            most = max(most, turns[0] - before)
            if most > 5:
                break
    finally:
        sys.setswitchinterval(interval)
        ended.set()
        thread.join()
    assert most > 5


def test_integers_of_another_size_are_not_called() -> None:
    assert lapack._routine(object(), "dpotrf") is None
    assert all(routine is not None for routines in lapack._ROUTINES.values() for routine in routines.values())
