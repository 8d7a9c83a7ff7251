"""Scales through landmarks: value and gradient beside the formulas in double precision, and what they find."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel._workers import limited
from multikernel.kernels import RBF, Laplacian, Matern
from multikernel.procedures.learned_scales.forms import Separate
from multikernel.procedures.learned_scales.landmarks import LandmarkError, LandmarkSamples, scales_by_landmarks
from multikernel.procedures.learned_scales.metrics import FullMetric, LowRankMetric

KERNELS = [RBF(), Laplacian(), Matern()]


def error_of(kernel, n=400, p=6, owner=None, form=None, weighted=False, **parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, p)).astype(np.float32)
    Y = np.column_stack([np.sin(2.0 * X[:, 0]) * X[:, 1], X[:, 2]]) + 0.1 * rng.normal(size=(2 * n, 2)) + 2.0
    owner = np.arange(p) if owner is None else owner
    weight = rng.uniform(0.1, 3.0, 2 * n) if weighted else np.ones(2 * n)
    first, rest = (
        LandmarkSamples(X[rows], Y[rows], weight[rows] if weighted else None) for rows in (slice(n), slice(n, None))
    )
    form = Separate(np.ones(owner.max() + 1), owner) if form is None else form
    return LandmarkError(kernel, form, first, rest, X[:60], **parameters)


def loss(error, v, alpha):
    """The problem as the head of the file has it, with kernels from differences."""
    scales, p = error.form.scales(v), error.landmarks.shape[1]
    if isinstance(error.form, Separate):
        scales = np.diag(scales[error.form.owner])
    M = scales.reshape(p, p)

    def K(X):
        apart = X.astype(float)[:, None] - error.landmarks.astype(float)
        if error.kernel.degree == 1:
            return error.kernel.profile(np.abs(apart) @ np.diag(M))
        return error.kernel.profile(np.einsum("ilj,jk,ilk->il", apart, M, apart))

    s, w = (np.ones(len(part.Y)) if part.weight is None else part.weight for part in (error.train, error.held_out))
    mean = np.average(error.train.Y, axis=0, weights=s) if error.fit_intercept else 0.0
    C, Z = K(error.train.X), K(error.landmarks)
    values, vectors = np.linalg.eigh(Z)
    half = np.sqrt(alpha * np.maximum(values, 0.0))[:, None] * vectors.T
    # the columns themselves, as normal equations of smooth kernels lose all digits
    columns = np.vstack([np.sqrt(s)[:, None] * C, half])
    targets = np.vstack([np.sqrt(s)[:, None] * (error.train.Y - mean), np.zeros((len(Z), error.train.Y.shape[1]))])
    A = np.linalg.lstsq(columns, targets)[0]
    left = K(error.held_out.X) @ A - (error.held_out.Y - mean)
    prior = error.penalty / w.sum() * error.form.prior(v)[0]
    return np.log((w[:, None] * left**2).sum() / w.sum()) + prior


def check_derivatives(error, u):
    value, gradient = error.at(u)

    def expected(at):
        return loss(error, at[:-1], np.exp(at[-1]))

    # without an intercept, sums in single precision are of a target that is not centred
    digits = 1e-4 if error.fit_intercept else 5e-4
    assert value == pytest.approx(expected(u), abs=digits)
    slopes = [(expected(u + step) - expected(u - step)) / 2e-5 for step in 1e-5 * np.eye(len(u))]
    np.testing.assert_allclose(gradient, slopes, atol=2e-3 * np.abs(slopes).max())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_value_and_gradient(kernel, weighted):
    error = error_of(
        kernel, owner=np.array([0, 1, 2, 2, 3, 3]), weighted=weighted, penalty=5.0, fit_intercept=not weighted
    )
    check_derivatives(error, np.log(np.array([0.3, 0.1, 0.05, 0.02, 0.5])))


@pytest.mark.parametrize("form", [FullMetric(np.ones(4)), LowRankMetric(np.ones(4), 2)], ids=["full", "rank 2"])
def test_value_and_gradient_of_a_metric(form):
    error = error_of(Matern(), n=200, p=4, form=form, penalty=2.0)
    check_derivatives(error, 0.4 * np.random.default_rng(1).normal(size=form.size + 1))


@pytest.mark.parametrize("form", [Separate(np.array([2.0, 0.5, 1.0]), np.arange(3)), FullMetric(np.array([2.0, 0.5]))])
def test_scales_are_those_of_their_parameters(form):
    v = np.array([0.3, -0.2, 0.1])
    np.testing.assert_allclose(form.scales(form.parameters(form.scales(v))), form.scales(v), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_columns_that_do_not_matter_get_small_scales(kernel):
    error = error_of(kernel)
    start = np.log(np.full(6, 0.1))
    found = scales_by_landmarks(error, start, 1.0)
    assert found.loss < 0.8 * np.exp(error.value(start, 1.0))
    scales = np.exp(found.parameters)
    assert scales[:2].min() > 10.0 * scales[3:].max()
    assert found.n_iter == len(found.history) >= 1
    assert found.settled
    assert np.log(found.loss) == pytest.approx(loss(error, found.parameters, found.alpha), abs=0.1)


def test_a_scale_that_was_zero_can_come_back():
    error = error_of(Laplacian())
    start = error.form.parameters(np.array([0.0, 0.5, 0.5, 0.0, 0.0, 0.0]))
    found = scales_by_landmarks(error, start, 1.0)
    assert found.loss == pytest.approx(scales_by_landmarks(error, np.log(np.full(6, 0.1)), 1.0).loss, rel=0.01)
    assert error.value(error.form.parameters(np.zeros(6)), 1.0) == np.inf


def test_without_time_the_start_is_returned():
    error = error_of(RBF())
    start = np.log(np.full(6, 0.1))
    with limited(1e-9):
        found = scales_by_landmarks(error, start, 1.0)
    np.testing.assert_allclose(found.parameters, start)
    assert found.certificate.value > 1e-3
    assert not found.settled
    assert not scales_by_landmarks(error, start, 1.0, max_iter=2).settled
