"""The lowest point of a quadratic function in a ball, by optimality conditions that are sufficient for any signs."""

import numpy as np
import pytest

from multikernel.numerics.definite import negative_eigenvalue
from multikernel.numerics.trust_region import descend_in_ball, minimise_in_ball

N = 6


def matrix(values, rng):
    Q = np.linalg.qr(rng.normal(size=(N, N)))[0]
    return (Q * values) @ Q.T, Q


@pytest.mark.parametrize(
    "values",
    [np.arange(1.0, 7.0), np.arange(-3.0, 3.0), -np.ones(N), np.zeros(N), np.array([-1.0, -1.0, 0.0, 1.0, 2.0, 1e6])],
    ids=["definite", "indefinite", "negative", "zero", "repeated"],
)
@pytest.mark.parametrize("radius", [1e-3, 0.5, 1e3])
@pytest.mark.parametrize("hard", [False, True])
def test_the_minimum_meets_the_conditions(values, radius, hard, rng):
    """(H + t I) z = -g with t >= 0, H + t I positive semi-definite, and t = 0 or |z| = radius."""
    H, Q = matrix(values, rng)
    H = 0.5 * (H + H.T)
    g = rng.normal(size=N)
    if hard:  # no slope along the eigenvectors of the least eigenvalue
        g = Q[:, -1]
    z = minimise_in_ball(H, g, radius)
    size = float(np.abs(values).max() * np.linalg.norm(z) + np.linalg.norm(g))
    assert np.linalg.norm(z) <= radius * (1.0 + 1e-9)
    slope = H @ z + g
    t = max(-float(slope @ z) / float(z @ z), 0.0)
    np.testing.assert_allclose(slope + t * z, 0.0, atol=1e-7 * size)
    assert t + values.min() >= -1e-7 * max(np.abs(values).max(), size / radius)
    if np.linalg.norm(z) < radius * (1.0 - 1e-6):
        assert t <= 1e-7 * max(np.abs(values).max(), size / radius)


@pytest.mark.parametrize("values", [np.arange(1.0, 7.0), np.arange(-3.0, 3.0)], ids=["definite", "indefinite"])
@pytest.mark.parametrize("radius", [1e-3, 0.5, 1e3])
def test_products_alone_lead_as_low_as_the_steepest_step(values, radius, rng):
    H, _ = matrix(values, rng)
    g = rng.normal(size=N)

    def lowest(z):
        return g @ z + 0.5 * z @ H @ z

    z = descend_in_ball(lambda v: H @ v, g, radius)
    assert np.linalg.norm(z) <= radius * (1.0 + 1e-12)
    steepest = min(lowest(-length * g) for length in np.linspace(0.0, radius / np.linalg.norm(g), 1001))
    assert lowest(z) <= steepest + 1e-12 * abs(steepest)
    assert lowest(z) >= lowest(minimise_in_ball(H, g, radius)) - 1e-9 * abs(steepest)
    assert not descend_in_ball(lambda v: H @ v, np.zeros(N), radius).any()


@pytest.mark.parametrize(("least", "dtype"), [(-1e-3, float), (-1e-12, float), (1.0, float), (-1e-7, np.float32)])
def test_an_eigenvalue_below_zero_is_found_beyond_rounding(least, dtype, rng):
    """Rounding of single precision, 1e-5 of the trace, may hide the last one."""
    H, _ = matrix(np.array([least, 1.0, 1.0, 2.0, 2.0, 3.0]), rng)
    found = negative_eigenvalue(H.astype(dtype))
    assert (found is None) if least > -1e-6 else (found == pytest.approx(least, rel=1e-9))
