"""Power series of kernels: Maclaurin coefficients, the fixed weights of the dot-product polynomials, and the errata."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel import bind, kernels
from multikernel.banks.weighted import WeightedBank
from multikernel.kernels import RBF, Linear, Polynomial, PowerSeries

Array = Any


def taylor(function: Callable[[Array], Array], n: int, radius: float) -> Array:
    """The first n Maclaurin coefficients of an analytic function: the Fourier coefficients on a circle."""
    roots = radius * np.exp(2j * np.pi * np.arange(256) / 256)
    coefficients: Array = np.fft.fft(function(roots)).real[:n] / 256 / radius ** np.arange(n)
    return coefficients


def unit_samples(n: int = 30, p: int = 4) -> Array:
    X = np.random.default_rng(0).normal(size=(n, p))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def squared_distances(X: Array) -> Array:
    D: Array = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    return D


# -- coefficients against the functions of t, with |x - z|^2 = 2 - 2t --------------------------------------------------


@pytest.mark.parametrize("constant", [0.0, 0.5, 1.0, 2.0, 3.0])
def test_polynomial_coefficients(constant: float) -> None:
    want = taylor(lambda t: (t + constant) ** 7, 8, 1.0)
    np.testing.assert_allclose(kernels.polynomial_coefficients(7, constant), want, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("gamma", [2.0**e for e in range(-5, 2)])
def test_rbf_coefficients(gamma: float) -> None:
    want = taylor(lambda t: np.exp(-gamma * (2.0 - 2.0 * t)), 11, 1.0)
    np.testing.assert_allclose(kernels.rbf_coefficients(10, gamma), want, rtol=1e-12, atol=2e-16)


@pytest.mark.parametrize("c", [0.25, 1.0, 4.0])
def test_rational_quadratic_and_cauchy_coefficients(c: float) -> None:
    def rational_quadratic(t: Array) -> Array:
        return 1.0 - (2.0 - 2.0 * t) / (2.0 - 2.0 * t + c)

    def cauchy(t: Array) -> Array:
        return 1.0 / (1.0 + (2.0 - 2.0 * t) / c)

    quadratic = kernels.rational_quadratic_coefficients(12, c)
    np.testing.assert_allclose(quadratic, taylor(rational_quadratic, 13, 1.0), rtol=1e-10)
    np.testing.assert_allclose(kernels.cauchy_coefficients(12, c), taylor(cauchy, 13, 1.0), rtol=1e-10)
    np.testing.assert_allclose(quadratic, kernels.cauchy_coefficients(12, c), rtol=1e-14)


def test_printed_coefficients_are_wrong() -> None:
    """Table 1 and equation 10 of Donini and Aiolli (2017) as printed, against the functions themselves."""
    gamma = 0.7
    rbf = taylor(lambda t: np.exp(-gamma * (2.0 - 2.0 * t)), 5, 1.0)
    printed = [np.exp(-2 * gamma) * (2 * gamma) ** (2 * s) / factorial(s) for s in range(5)]
    assert abs(printed[0] - rbf[0]) < 1e-12
    assert min(abs(printed[s] - rbf[s]) for s in range(1, 5)) > 1e-3

    quadratic = taylor(lambda t: 1.0 / (3.0 - 2.0 * t), 5, 1.0)  # c = 1
    printed = [np.prod([2.0 + (j - 1) for j in range(1, s + 1)]) / (factorial(s) * 3.0 ** (s + 1)) for s in range(5)]
    right = [np.prod([2.0 + 2 * (j - 1) for j in range(1, s + 1)]) / (factorial(s) * 3.0 ** (s + 1)) for s in range(5)]
    np.testing.assert_allclose(right, quadratic, rtol=1e-12)
    assert min(abs(printed[s] - quadratic[s]) for s in range(2, 5)) > 1e-3

    cauchy = taylor(lambda t: 1.0 / (1.0 + (2.0 - 2.0 * t) / 2.0), 5, 1.0)  # gamma = 2
    printed = [np.prod(np.arange(s, 0, -2.0)) / (3.0 ** (s + 1) * 2.0**s * factorial(s)) for s in range(5)]
    assert min(abs(printed[s] - cauchy[s]) for s in range(5)) > 1e-2


@pytest.mark.parametrize(
    "coefficients",
    [
        kernels.polynomial_coefficients(400, 2.0, normalize=True),
        kernels.rbf_coefficients(2000, 500.0, normalize=True),
        kernels.rational_quadratic_coefficients(3000, 1e-3, normalize=True),
        kernels.cauchy_coefficients(30, 1e6, normalize=True),
    ],
    ids=["polynomial", "rbf", "rational-quadratic", "cauchy"],
)
def test_normalised_coefficients_are_shares_at_any_size(coefficients: Array) -> None:
    assert (coefficients >= 0).all()
    np.testing.assert_allclose(coefficients.sum(), 1.0, rtol=1e-11)


# -- kernels on samples of unit length ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("gamma", "error"), [(2.0**-5, 8.4e-6), (0.25, 8.4e-6), (1.0, 8.4e-6), (2.0, 3e-3)])
def test_truncated_gaussian_is_near_the_gaussian(gamma: float, error: float) -> None:
    X = unit_samples()
    truth = np.exp(-gamma * squared_distances(X))
    series = PowerSeries(Linear(), kernels.rbf_coefficients(10, gamma))
    assert np.abs(series(X) - truth).max() <= error
    assert np.abs(kernels.truncated_rbf(10, gamma)(X) - truth).max() <= 2 * error
    np.testing.assert_allclose(kernels.truncated_rbf(10, gamma).diagonal(X), 1.0, rtol=1e-12)


def test_long_series_are_the_kernels() -> None:
    X = unit_samples()
    D = squared_distances(X)
    quadratic = PowerSeries(Linear(), kernels.rational_quadratic_coefficients(200, 1.5))
    np.testing.assert_allclose(quadratic(X), 1.0 - D / (D + 1.5), rtol=1e-10)
    cauchy = PowerSeries(Linear(), kernels.cauchy_coefficients(200, 0.8))
    np.testing.assert_allclose(cauchy(X), 1.0 / (1.0 + D / 0.8), rtol=1e-10)
    gaussian = PowerSeries(Linear(), kernels.rbf_coefficients(80, 3.0))
    np.testing.assert_allclose(gaussian(X), RBF(3.0)(X), rtol=1e-10)
    polynomial = PowerSeries(Linear(), kernels.polynomial_coefficients(4, 0.5))
    np.testing.assert_allclose(polynomial(X), Polynomial(4, 0.5)(X), rtol=1e-10, atol=1e-13)


def test_baselines_are_weighted_sums_of_the_homogeneous_polynomials() -> None:
    X = 3.0 * np.random.default_rng(1).normal(size=(12, 3))
    X[4] = 0.0
    K = bind(kernels.homogeneous_polynomials(6), X).matrices()
    shifted = np.array([comb(6, s) * 2.0 ** (6 - s) for s in range(7)]) / 3.0**6
    gaussian = np.array([1.4**s / factorial(s) for s in range(7)])
    for kernel, weights in (
        (kernels.highest_polynomial(6), np.eye(7)[6]),
        (kernels.mean_polynomial(6), np.full(7, 1 / 7)),
        (kernels.shifted_polynomial(6, 2.0), shifted),
        (kernels.truncated_rbf(6, 0.7), gaussian / gaussian.sum()),
        (kernels.weighted_polynomials(np.arange(7.0)), np.arange(7.0)),
    ):
        np.testing.assert_allclose(kernel(X), np.tensordot(weights, K, 1), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X)), rtol=1e-12)
        np.testing.assert_allclose(bind(kernel, X).matrices()[0], kernel(X), rtol=1e-12)


def test_a_sample_of_zeros_has_the_constant_term_with_every_sample() -> None:
    X = np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, 0.5]])
    K = kernels.weighted_polynomials([0.2, 0.3, 0.5])(X)
    np.testing.assert_allclose(K[0], 0.2)
    np.testing.assert_allclose(np.diag(K), [0.2, 1.0, 1.0])


def test_series_of_one_term_is_bound_as_a_power() -> None:
    X = unit_samples()
    family = [PowerSeries(Linear(), (0.0,) * d + (0.5,)) for d in range(1, 6)]
    bank = bind(list(family), X)
    assert isinstance(bank, WeightedBank)
    np.testing.assert_allclose(bank.matrices(), [k(X) for k in family], rtol=1e-12)


@given(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_series_are_positive_semi_definite(coefficients: list[float], seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(7, 2))
    K = PowerSeries(Linear(), coefficients)(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * max(1.0, np.trace(K))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PowerSeries(Linear(), ()), "coefficients must be a vector"),
        (lambda: PowerSeries(Linear(), (1.0, -0.1)), "finite numbers >= 0"),
        (lambda: PowerSeries(Linear(), (np.inf,)), "finite numbers >= 0"),
        (lambda: PowerSeries(Linear().centered(), (1.0,)), "cannot be part of a power series"),
        (lambda: kernels.rbf_coefficients(3, 0.0), "rbf_coefficients: gamma must be a finite number > 0, got 0.0"),
        (
            lambda: kernels.cauchy_coefficients(-1),
            "cauchy_coefficients: max_degree must be an integer in .*, got -1",
        ),
        (lambda: kernels.polynomial_coefficients(2, -1.0), "constant must be a finite number >= 0"),
        (lambda: kernels.mean_polynomial(-1), "max_degree must be"),
    ],
)
def test_mistakes_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
