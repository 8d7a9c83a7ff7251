"""Ridge regression as a linear map and as a Gaussian process: against dense formulas, sample by sample."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from multikernel.machines.ridge.precision import DensePrecision, FactoredPrecision
from multikernel.machines.ridge.restricted import RestrictedSmoother
from multikernel.machines.ridge.smoother import Smoother, VarianceScales

Array = Any
N, Q, ALPHA = 12, 4, 0.7
RNG = np.random.default_rng(0)
G = RNG.normal(size=(N, Q))
K = G @ G.T
Y = 3.0 + RNG.normal(size=(N, 2))
COUNT = RNG.integers(1, 4, N)
CASES = list(product((True, False), (np.ones(N), COUNT.astype(float))))


def averaging(weight: Array, intercept: bool) -> Array:
    """What makes the mean of a target."""
    return weight / weight.sum() if intercept else np.zeros(len(weight))


def coefficients(K: Array, Y: Array, weight: Array, intercept: bool) -> Array:
    mean = averaging(weight, intercept) @ Y
    return np.linalg.solve(K + ALPHA * np.diag(1.0 / weight), Y - mean)


def smoothers(weight: Array, intercept: bool) -> list[Smoother]:
    a = coefficients(K, Y, weight, intercept)
    forms = (DensePrecision(ALPHA, weight, K), FactoredPrecision(ALPHA, weight, G))
    return [Smoother(form, a, intercept) for form in forms]


def variance(linear: Array, own: Array, cross: Array, weight: Array) -> float:
    """Of f(x) + noise - sum_i linear_i y_i, where f has the covariance K and noise the variance alpha / s."""
    return float(
        own - 2.0 * linear @ cross + linear @ K @ linear + ALPHA * (linear**2 / weight).sum() + ALPHA
    )  # of one new observation


@pytest.mark.parametrize(("intercept", "weight"), CASES)
def test_hat_matrix_and_samples_left_out(intercept: bool, weight: Array) -> None:
    mean = averaging(weight, intercept)
    H = np.linalg.inv(K + ALPHA * np.diag(1.0 / weight))
    F = K @ H @ (np.eye(N) - np.outer(np.ones(N), mean)) + np.outer(np.ones(N), mean)
    for model in smoothers(weight, intercept):
        assert model.degrees_of_freedom == pytest.approx(np.trace(K @ H))
        assert model.trace == pytest.approx(np.trace(F))
        np.testing.assert_allclose(model.residuals, Y - F @ Y, atol=1e-12)
        for i in range(N):
            rest = np.delete(np.arange(N), i)
            own = averaging(weight[rest], intercept)
            a = np.linalg.solve((K + ALPHA * np.diag(1.0 / weight))[np.ix_(rest, rest)], np.eye(N - 1))
            linear = np.zeros(N)
            linear[rest] = K[i, rest] @ a @ (np.eye(N - 1) - np.outer(np.ones(N - 1), own)) + own
            np.testing.assert_allclose(model.left_out[i], Y[i] - linear @ Y, atol=1e-12)
            known = np.sqrt(variance(linear, K[i, i], K[i], weight) * model.scale)
            np.testing.assert_allclose(model.left_out_deviations[i], known)


@pytest.mark.parametrize(("intercept", "weight"), CASES)
def test_coefficients_without_what_makes_a_zero_function_say_the_same_with_the_residuals(
    intercept: bool, weight: Array
) -> None:
    beyond = np.eye(N) - G @ np.linalg.pinv(G)
    for model in smoothers(weight, intercept):
        less = Smoother(model.precision, model.coef - beyond @ model.coef, intercept, rest=model.residuals)
        for part in ("left_out", "scale", "left_out_deviations", "log_evidence"):
            np.testing.assert_allclose(getattr(less, part), getattr(model, part), rtol=1e-9, err_msg=part)


@pytest.mark.parametrize(("intercept", "weight"), CASES)
def test_new_observations_and_the_scale(intercept: bool, weight: Array) -> None:
    mean, S = averaging(weight, intercept), K + ALPHA * np.diag(1.0 / weight)
    P, H, g = np.eye(N) - np.outer(np.ones(N), mean), np.linalg.inv(S), np.array([0.3, -1.0, 2.0, 0.5])
    known = variance((G @ g) @ H @ P + mean, g @ g, G @ g, weight)
    dense, factored = smoothers(weight, intercept)
    for model, cross in ((dense, (G @ g)[None]), (factored, g[None])):
        np.testing.assert_allclose(model.deviations(cross, np.array([g @ g]))[0], np.sqrt(known * model.scale))
    if (weight == 1.0).all():  # the expected value of J is tau times this trace
        z = Y - mean @ Y
        np.testing.assert_allclose(dense.scale, (z * (H @ z)).sum(axis=0) / np.trace(P.T @ H @ P @ S))


@pytest.mark.parametrize(("intercept", "weight"), CASES)
@pytest.mark.parametrize("alpha", [1e-3, 1e-6])
def test_an_alpha_too_small_to_be_the_ratio(intercept: bool, weight: Array, alpha: float) -> None:
    """The noise is that of weighted least squares on the features, and deviations are those of such a process."""
    y = G @ RNG.normal(size=(Q, 2)) + 5.0 * RNG.normal(size=(N, 2)) / np.sqrt(weight)[:, None] + 3.0 * intercept
    mean, R = averaging(weight, intercept), np.diag(alpha / weight)
    P, H = np.eye(N) - np.outer(np.ones(N), mean), np.linalg.inv(K + R)
    a, root = H @ P @ y, np.sqrt(weight)[:, None]
    columns = np.column_stack([G, np.ones(N)]) if intercept else G
    noise = np.linalg.lstsq(root * columns, root * y)[1] / (weight.sum() - columns.shape[1])
    g = np.array([0.3, -1.0, 2.0, 0.5])
    for form, cross in (
        (DensePrecision(alpha, weight, K), (G @ g)[None]),
        (FactoredPrecision(alpha, weight, G), g[None]),
    ):
        model = Smoother(form, a, intercept)
        np.testing.assert_allclose(model.scales.noise, noise, rtol=0.02)
        tau, sigma = model.scales.function, model.scales.noise

        def variance(w: Array, own: float, k: Array, tau: Array = tau, sigma: Array = sigma) -> Array:
            return tau * (own - 2.0 * w @ k + w @ K @ w) + sigma * (1.0 + (w**2 / weight).sum())

        found = model.deviations(cross, np.array([g @ g]))[0] ** 2
        np.testing.assert_allclose(found, variance((G @ g) @ H @ P + mean, g @ g, G @ g), rtol=1e-4)
        for i in range(N):
            rest = np.delete(np.arange(N), i)
            own = averaging(weight[rest], intercept)
            linear = np.zeros(N)
            linear[rest] = K[i, rest] @ np.linalg.inv((K + R)[np.ix_(rest, rest)]) @ (np.eye(N - 1) - own) + own
            found = model.left_out_deviations[i] ** 2
            np.testing.assert_allclose(found, variance(linear, K[i, i], K[i]), rtol=1e-4)


@pytest.mark.parametrize("degrees", [(0.5, 12.0), (12.0, 1.5)])
def test_parts_of_few_degrees_of_freedom_are_compared_too(degrees: tuple[float, float]) -> None:
    """tau by the function is 3, and by the residuals the same or a millionth; J says 2."""
    function, noise = np.full(2, 3.0 * degrees[0]), 0.7 * degrees[1] * np.array([3.0, 3e-6])
    scales = VarianceScales.of(np.full(2, 2.0), 0.7, (function, noise), degrees)
    np.testing.assert_allclose(scales.function, [2.0, 3.0])
    np.testing.assert_allclose(scales.noise, [1.4, 2.1e-6])


def test_an_alpha_too_small_beside_columns_without_penalty() -> None:
    F = np.column_stack([np.ones(N), RNG.normal(size=N)])
    B = np.linalg.qr(F)[0]
    y = G @ RNG.normal(size=(Q, 1)) + 5.0 * RNG.normal(size=(N, 1)) + F @ [[3.0], [2.0]]
    alpha, g, u = 1e-3, np.array([0.3, -1.0, 2.0, 0.5]), np.array([0.5, -0.2])
    H = np.linalg.inv(K + alpha * np.eye(N))
    M = H - H @ B @ np.linalg.inv(B.T @ H @ B) @ B.T @ H
    model = RestrictedSmoother(DensePrecision(alpha, np.ones(N), K), M @ y, B)
    tau, sigma = model.scales.function, model.scales.noise
    left = np.linalg.lstsq(np.column_stack([G, F]), y)[1]
    np.testing.assert_allclose(sigma, left / (N - Q - 2), rtol=0.02)
    k = G @ g
    w = M @ k + H @ B @ np.linalg.inv(B.T @ H @ B) @ u
    known = tau * (g @ g - 2.0 * w @ k + w @ K @ w) + sigma * (1.0 + w @ w)
    np.testing.assert_allclose(model.deviations(k[None], np.array([g @ g]), u[None])[0] ** 2, known, rtol=1e-5)
    for i in range(N):
        linear = -M[i] / M[i, i]
        linear[i] = 0.0
        known = tau * (K[i, i] - 2.0 * linear @ K[i] + linear @ K @ linear) + sigma * (1.0 + linear @ linear)
        np.testing.assert_allclose(model.left_out_deviations[i] ** 2, known, rtol=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
def test_criteria_are_their_formulas(intercept: bool) -> None:
    """Of the textbook, from the matrix of the fitted values; the evidence is a density that SciPy knows."""
    one = np.full(N, 1.0 / N) * intercept
    S, noise = K + ALPHA * np.eye(N), np.array([0.3, 2.0])
    z = Y - one @ Y
    F = K @ np.linalg.inv(S) @ (np.eye(N) - np.outer(np.ones(N), one)) + np.outer(np.ones(N), one)
    rss, df = ((Y - F @ Y) ** 2).sum(axis=0), float(np.trace(F))
    tau = [float(each @ np.linalg.solve(S, each)) / N for each in z.T]
    for model in smoothers(np.ones(N), intercept):
        np.testing.assert_allclose(model.criterion("cp", noise), rss / N + 2.0 * df * noise / N)
        np.testing.assert_allclose(model.criterion("aic", noise), rss / noise + 2.0 * df)
        np.testing.assert_allclose(model.criterion("bic", noise), rss / noise + np.log(N) * df)
        np.testing.assert_allclose(model.criterion("gcv"), (rss / N) / (1.0 - df / N) ** 2)
        np.testing.assert_allclose(model.criterion("loo"), (model.left_out**2).mean(axis=0))
        density = [multivariate_normal(cov=t * S).logpdf(each) for t, each in zip(tau, z.T, strict=True)]
        np.testing.assert_allclose(model.criterion("evidence"), -np.array(density))


@pytest.mark.parametrize("intercept", [True, False])
def test_a_weight_of_two_is_a_sample_that_is_there_twice(intercept: bool) -> None:
    rows = np.repeat(np.arange(N), COUNT)
    again, one = K[np.ix_(rows, rows)], np.ones(len(rows))
    twice = Smoother(DensePrecision(ALPHA, one, again), coefficients(again, Y[rows], one, intercept), intercept)
    for model in smoothers(COUNT.astype(float), intercept):
        for part in ("degrees_of_freedom", "trace", "scale", "log_evidence", "residual_variance"):
            np.testing.assert_allclose(getattr(model, part), getattr(twice, part), err_msg=part)
        for name in ("cp", "aic", "bic", "gcv", "evidence"):
            np.testing.assert_allclose(model.criterion(name), twice.criterion(name), err_msg=name)


def test_weights_that_count_no_sample_are_refused_and_others_not() -> None:
    with pytest.raises(ValueError, match=r"add up to 0\.12"):
        _ = smoothers(np.full(N, 0.01), True)[0].scale
    for model in smoothers(np.full(N, 0.8 / N), False):
        with pytest.warns(UserWarning, match="fits all samples"):
            assert (model.scale > 0).all()


def test_a_function_that_fits_all_samples_leaves_no_noise() -> None:
    """A number of degrees of freedom that is that of the samples makes no warning of a division."""
    precision = DensePrecision(1e-30, np.ones(N), np.eye(N))
    for model in (Smoother(precision, Y, True), RestrictedSmoother(precision, Y, np.full((N, 1), N**-0.5))):
        assert model.trace == model.count
        assert np.isinf(model.criterion("cp")).all()
