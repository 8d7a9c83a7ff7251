"""Scales through landmarks: value and gradient beside the formulas in double precision, and what they find."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel._workers import limited
from multikernel.kernels import RBF, Laplacian, Matern
from multikernel.procedures.learned_scales.landmarks import LandmarkError, scales_by_landmarks

KERNELS = [RBF(), Laplacian(), Matern()]


def error_of(kernel, n=600, p=6, owner=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, p)).astype(np.float32)
    Y = np.column_stack([np.sin(2.0 * X[:, 0]) * X[:, 1], X[:, 2]]) + 0.1 * rng.normal(size=(2 * n, 2)) + 2.0
    owner = np.arange(p) if owner is None else owner
    return LandmarkError(kernel, X[:n], X[n:], X[:60], Y[:n], Y[n:], owner)


def loss(error, scales, alpha):
    """The problem as the head of the file has it, with kernels from differences."""
    by_column = scales[error.owner]

    def K(X):
        apart = np.abs(X.astype(float)[:, None] - error.landmarks.astype(float)) ** error.kernel.degree
        return error.kernel.profile(apart @ by_column)

    C, Z = K(error.train), K(error.landmarks)
    A = np.linalg.solve(C.T @ C + alpha * Z, C.T @ (error.targets - error.mean))
    left = K(error.held) @ A - (error.held_targets - error.mean)
    return np.log((left**2).sum() / len(left))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_value_and_gradient(kernel):
    error = error_of(kernel, owner=np.array([0, 1, 2, 2, 3, 3]))
    u = np.log(np.array([0.3, 0.1, 0.05, 0.02, 0.5]))
    value, gradient = error.at(u)

    def expected(at):
        return loss(error, np.exp(at[:-1]), np.exp(at[-1]))

    assert value == pytest.approx(expected(u), abs=1e-4)
    steps = 1e-5 * np.eye(5)
    slopes = [(expected(u + step) - expected(u - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, slopes, atol=2e-3 * np.abs(slopes).max())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_columns_that_do_not_matter_get_small_scales(kernel):
    error = error_of(kernel)
    found = scales_by_landmarks(error, np.full(6, 0.1), 1.0)
    assert found.loss < 0.8 * np.exp(error.at(np.log(np.append(np.full(6, 0.1), 1.0)))[0])
    assert found.scales[:2].min() > 10.0 * found.scales[3:].max()
    assert found.n_iter >= 1
    assert np.log(found.loss) == pytest.approx(loss(error, found.scales, found.alpha), abs=0.1)


def test_a_scale_that_was_zero_can_come_back():
    error = error_of(Laplacian())
    start = np.array([0.0, 0.5, 0.5, 0.0, 0.0, 0.0])
    found = scales_by_landmarks(error, start, 1.0)
    assert found.loss == pytest.approx(scales_by_landmarks(error, np.full(6, 0.1), 1.0).loss, rel=0.01)
    assert error.value(np.zeros(6), 1.0) == np.inf


def test_without_time_the_start_is_returned():
    error = error_of(RBF())
    with limited(1e-9):
        found = scales_by_landmarks(error, np.full(6, 0.1), 1.0)
    np.testing.assert_allclose(found.scales, 0.1)
    assert found.certificate.value > 1e-3
