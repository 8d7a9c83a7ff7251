"""Second derivatives of the value in the weights against differences, and the cases in which all is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polynomial_reference as slow
from multikernel import bind, kernels, precomputed
from multikernel.diagnostics import Convexity, convexity
from multikernel.domains import NormBall
from multikernel.kernels import RBF, Polynomial

Array = Any
X = np.random.default_rng(0).normal(size=(15, 3))
Y = X[:, 0] * X[:, 1] + 0.1 * X[:, 2]
BANK = bind([RBF(0.3), Polynomial(2).normalized(), kernels.Linear().on([0])], X)


def spectrum(K: Array, y: Array, alpha: float, degree: int, theta: Array, step: float = 1e-3) -> Array:
    """Of the second differences of the value."""

    def f(t: Array) -> float:
        return slow.value(K, y, alpha, degree, t)

    E = step * np.eye(len(theta))
    H = [[f(theta + a + b) - f(theta + a - b) - f(theta - a + b) + f(theta - a - b) for a in E] for b in E]
    return np.linalg.eigvalsh(np.array(H) / (4.0 * step**2))


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_eigenvalues_are_those_of_the_differences(degree: int, fit_intercept: bool) -> None:
    found = convexity(BANK, Y, degree, 0.5, fit_intercept=fit_intercept, n_samples=4, random_state=0)
    y = Y - Y.mean() * fit_intercept
    for theta, low, high in zip(found.points, found.smallest, found.largest, strict=True):
        want = spectrum(BANK.matrices(), y, 0.5, degree, theta)
        size = np.abs(want).max()
        assert low == pytest.approx(want[0], abs=1e-4 * size)
        assert high == pytest.approx(want[-1], abs=1e-4 * size)


def test_degree_one_is_convex() -> None:
    found = convexity(BANK, Y, 1, 0.5, NormBall(1.0), random_state=0)
    assert found.convex.all()
    assert found.hidden
    assert not found.limit.any()
    assert found.ray == (np.inf, np.inf)
    assert "convex at 21 of 21 points" in str(found)
    assert "flat" in str(found)


@pytest.mark.parametrize("degree", [2, 3])
def test_large_alpha_has_the_limit(degree: int) -> None:
    found = convexity(BANK, Y, degree, 1e7, n_samples=0)
    np.testing.assert_allclose(found.smallest[0] * 1e14, found.limit[0], rtol=1e-3)
    np.testing.assert_allclose(found.largest[0] * 1e14, found.limit[-1], rtol=1e-3, atol=1e-4 * abs(found.limit[0]))


def test_limit_of_the_published_counterexample_is_a_saddle() -> None:
    """x1 = (1, 1), x2 = (1, -1), y = (1, -1), degree 2: eigenvalues -8 and 8 over alpha^2."""
    x = np.array([[1.0, 1.0], [1.0, -1.0]])
    stack = np.einsum("ik,jk->kij", x, x)
    found = convexity(list(stack), [1.0, -1.0], 2, 1e6, n_samples=0)
    np.testing.assert_allclose(found.limit, [-8.0, 8.0], atol=1e-12)
    assert not found.convex.any()
    assert not found.concave.any()
    assert "a saddle" in str(found)


def test_small_alpha_is_not_convex_either() -> None:
    """K1 = I, K2 = 11', y = (1, 1): 2 / ((m1 + m2)^2 + m2^2 + alpha) at (1, 0.2)."""
    ball = NormBall(2.0, 1e-9, np.array([1.0, 0.2]))
    found = convexity(precomputed(np.stack([np.eye(2), np.ones((2, 2))])), [1.0, 1.0], 2, 1e-9, ball, False, 0)
    assert found.smallest[0] < 0.0


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_one_kernel_changes_sign_at_the_ends_of_the_ray(degree: int) -> None:
    alone = BANK.select([0])
    low, high = convexity(alone, Y, degree, n_samples=0).ray
    assert 0.0 < low < high
    assert convexity(alone, Y, degree, 0.99 * low, n_samples=0).convex.all()
    assert convexity(alone, Y, degree, 1.01 * high, n_samples=0).concave.all()


def test_identity_is_as_calculated() -> None:
    """y'y / (theta^d + alpha) at theta = 2: convex iff 2^d >= (d - 1) alpha / (d + 1)."""
    for degree in (2, 3):
        edge = 2.0**degree * (degree + 1.0) / (degree - 1.0)
        np.testing.assert_allclose(convexity([np.eye(15)], Y, degree, n_samples=0).ray, edge)


def test_points_are_of_the_ball() -> None:
    ball = NormBall(1.5, 0.7, np.array([0.0, 1.0, 2.0]))
    found = convexity(BANK, Y, 2, 1.0, ball, n_samples=30, random_state=1)
    assert all(ball.contains(theta) for theta in found.points)
    assert not found.hidden
    again = convexity(BANK, Y, 2, 1.0, ball, n_samples=30, random_state=1)
    np.testing.assert_array_equal(found.points, again.points)


def test_str_is_a_table() -> None:
    text = str(convexity(BANK, Y, n_samples=3, random_state=0))
    rows = [line.split("  ")[0] for line in text.splitlines()]
    assert rows == ["degree", "in theta^degree", "in theta", "eigenvalues", "large alpha", "along the ray"]


def test_zero_kernels_are_flat() -> None:
    found = convexity([np.zeros((15, 15))], Y, n_samples=0)
    assert isinstance(found, Convexity)
    assert found.smallest[0] == 0.0
    assert found.ray == (np.inf, 0.0)


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="alpha must be"):
        convexity(BANK, Y, alpha=0.0)
    with pytest.raises(ValueError, match="degree must be an integer in"):
        convexity(BANK, Y, degree=0)
    with pytest.raises(ValueError, match="y must have one value for each of the 15 samples"):
        convexity(BANK, Y[:3])
    with pytest.raises(ValueError, match="n_samples must be an integer in"):
        convexity(BANK, Y, n_samples=-1)
    with pytest.raises(ValueError, match="centre of the ball has 2 entries"):
        convexity(BANK, Y, domain=NormBall(2.0, 1.0, np.ones(2)))
    with pytest.raises(ValueError, match="bank must be square"):
        convexity(BANK.cross(X[:3]), Y)


def test_powers_of_small_kernels_are_no_zeros() -> None:
    """Kernels are of any size: what is in the null space of a power is seen where its largest entry is near 1."""
    X = np.random.default_rng(1).normal(size=(60, 2))
    K = RBF(0.5)(X, X)
    y = np.sin(X[:, 0])
    found = convexity([K], y, 150, 1.0, NormBall(2.0, 0.0, 1.0), n_samples=0)
    other = convexity([1e-3 * K], y, 150, 1.0, NormBall(2.0, 0.0, 1e3), n_samples=0)
    assert found.smallest[0] > 1.0
    assert other.smallest[0] == pytest.approx(found.smallest[0] * 1e-6, rel=1e-6)


def test_an_intercept_is_yes_or_no() -> None:
    with pytest.raises(ValueError, match="fit_intercept"):
        convexity(BANK, Y, fit_intercept="no")
