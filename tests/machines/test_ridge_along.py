"""Ridge regression for many alphas from one tridiagonal form, against a system solved for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel.banks import DenseGram
from multikernel.machines.ridge.along import along
from multikernel.machines.ridge.tridiagonal import RidgeTridiagonal

Array = Any
ALPHAS = np.geomspace(1e-3, 1e6, 7)


def matrix(n: int, rank: int, unit: float = 1.0, dtype: Any = float) -> Array:
    F = np.random.default_rng(n).normal(size=(n, rank))
    return (unit * (F @ F.T)).astype(dtype)


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize(("n", "rank", "t"), [(1, 1, 1), (2, 2, 1), (3, 1, 2), (40, 40, 1), (41, 30, 3)])
def test_every_alpha_is_a_system(n: int, rank: int, t: int, unit: float) -> None:
    K, Y = matrix(n, rank), np.random.default_rng(1).normal(size=(n, t))
    found = along(DenseGram(unit * K), Y, unit * ALPHAS)
    for alpha, each in zip(ALPHAS, found, strict=True):
        want = np.linalg.solve(K + alpha * np.eye(n), Y)
        np.testing.assert_allclose(unit * each.coef, want, atol=1e-9 * np.abs(want).max())
        assert each.gap <= 1e-13


@pytest.mark.parametrize("K", [np.zeros((6, 6)), np.diag([0.0, 0.0, 1.0, 2.0, 0.0, 3.0]), np.ones((6, 6))])
def test_matrices_with_a_null_space(K: Array) -> None:
    Y = np.arange(1.0, 7.0)[:, None]
    for alpha, each in zip([1e-9, 1e-3, 1.0], along(DenseGram(K), Y, [1e-9, 1e-3, 1.0]), strict=True):
        function = Y - alpha * np.linalg.solve(K + alpha * np.eye(6), Y)
        np.testing.assert_allclose(K @ each.coef, function, atol=1e-6)
        assert each.gap <= 1e-6


def test_single_precision_is_solved_in_double() -> None:
    K, y = matrix(50, 50, dtype=np.float32), np.random.default_rng(2).normal(size=(50, 1))
    form = RidgeTridiagonal.of(DenseGram(K), y)
    want = np.linalg.solve(K.astype(float) + 0.1 * np.eye(50), y)
    np.testing.assert_allclose(form.solve(0.1), want, rtol=1e-9)


def test_a_matrix_that_is_no_kernel_is_refused() -> None:
    K = matrix(20, 20) - 5.0 * np.eye(20)
    with pytest.raises(ValueError, match="no negative eigenvalues"):
        along(DenseGram(K), np.ones((20, 1)), [100.0, 1000.0])


def test_a_system_that_fails_is_no_number() -> None:
    form = RidgeTridiagonal.of(DenseGram(np.zeros((3, 3))), np.ones((3, 1)))
    assert np.isnan(form.solve(-1.0)).all()
