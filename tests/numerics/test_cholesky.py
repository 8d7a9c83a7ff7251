"""The one way in for Cholesky factorisations, beside NumPy's, and that no file of the package goes another way."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import multikernel
from multikernel.machines.ridge import half_factor
from multikernel.numerics import cholesky, lapack

_SOURCE = Path(multikernel.__file__).parent
_OTHER_WAYS = r"\b[sdcz]?p[of]trf\b|\bp[of]sv\b|cho_factor|linalg\.cholesky|linalg import .*cholesky|assume_a|\bsygv"


@pytest.fixture(params=["by address", "by wrapper"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of at most five rows; with the routines that SciPy publishes, and with its wrappers."""
    monkeypatch.setattr(cholesky, "CHOLESKY_ROWS", 5)
    if request.param == "by wrapper":
        none = {precision: dict.fromkeys(routines) for precision, routines in lapack._ROUTINES.items()}
        monkeypatch.setattr(lapack, "_ROUTINES", none)


def positive(n: int, dtype: type) -> np.ndarray:
    F = np.random.default_rng(n).normal(size=(n, n + 4))
    return np.array(F @ F.T / n + np.eye(n), dtype=dtype, order="F")


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [1, 5, 6, 11, 23, 64])
def test_factor(n: int, lower: bool, dtype: type) -> None:
    K = positive(n, dtype)
    A = K.copy(order="F")
    assert cholesky.factorise(A, lower)
    L = np.tril(A) if lower else np.triu(A).T
    np.testing.assert_allclose(L, np.linalg.cholesky(K), rtol=2e2 * np.finfo(dtype).eps, atol=2e2 * np.finfo(dtype).eps)
    other = np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)
    np.testing.assert_array_equal(A[other], K[other], "the other triangle is not written to")


@pytest.mark.usefixtures("way")
def test_block_of_an_array() -> None:
    whole = np.full((20, 20), 7.0, order="F")
    whole[3:16, 4:17] = K = positive(13, float)
    assert cholesky.factorise(whole[3:16, 4:17])
    np.testing.assert_allclose(np.tril(whole[3:16, 4:17]), np.linalg.cholesky(K), rtol=1e-12, atol=1e-13)
    whole[3:16, 4:17] = 7.0
    np.testing.assert_array_equal(whole, 7.0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("row", "column", "value"), [(12, 12, -1.0), (2, 2, 0.0), (12, 0, np.nan), (0, 0, np.inf)])
def test_no_factor(row: int, column: int, value: float) -> None:
    K = positive(13, float)
    K[row, column] = K[column, row] = value
    assert not cholesky.factorise(K.copy(order="F"))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        cholesky.factor_of(K)


@pytest.mark.parametrize("A", [np.eye(3)[:2].T, np.arange(9.0).reshape(3, 3)])
def test_refused_layout(A: np.ndarray) -> None:
    with pytest.raises(ValueError, match="Fortran order"):
        cholesky.factorise(A)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("columns", [None, 0, 3])
def test_solved(lower: bool, columns: int | None) -> None:
    K = positive(6, float)
    B = np.random.default_rng(0).normal(size=6 if columns is None else (6, columns))
    found = cholesky.solved(cholesky.factor_of(K.copy(order="F"), lower), B, lower)
    np.testing.assert_allclose(found, np.linalg.solve(K, B), rtol=1e-12, atol=1e-13)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n", [1, 2, 9, 24, 33])
def test_half_factor(n: int) -> None:
    K = positive(n, float)
    factor = half_factor.HalfFactor.of(np.ascontiguousarray(K), 0.5, half_factor.space(n))
    assert factor is not None
    b = np.arange(1.0, n + 1)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(K + 0.5 * np.eye(n), b), rtol=1e-4)


def test_only_way_in() -> None:
    """LAPACK's factorisation of a large matrix on several threads may end the process."""
    files = [file for file in _SOURCE.rglob("*.py") if "reproduce" not in file.parts]
    found = [str(file.relative_to(_SOURCE)) for file in files if re.search(_OTHER_WAYS, file.read_text())]
    assert sorted(found) == ["_arrays.py", "numerics/lapack.py"]  # matrices of other libraries, and what is called here


def test_blocks_that_lapack_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    for name in ("divide", "reduce"):
        monkeypatch.setattr(cholesky, name, lambda *given, **options: None)
    monkeypatch.setattr(cholesky, "factored", lambda A, lower: sizes.append(len(A)) or True)
    column = np.broadcast_to(np.ones(1), (17_001, 17_001))
    assert cholesky._halved(column, lower=True)
    assert sum(sizes) == 17_001
    assert max(sizes) <= 4000


@pytest.mark.study
def test_large_matrices_do_not_end_the_process() -> None:
    """17,000 rows on two threads, at which OpenBLAS's own factorisation ends it; 2.3 GB, half a minute."""
    program = """if True:
        import numpy as np
        from multikernel.numerics import cholesky, lapack
        n = 17_000
        A = np.full((n, n), 1.0, order="F")
        A.flat[:: n + 1] += 2.0
        assert cholesky.factorise(A)
        x = cholesky.solved(A, np.ones(n))
        np.testing.assert_allclose(x, 1.0 / (n + 2.0), rtol=1e-10)
    """
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr.decode()
