"""Published conditions for convexity against their definitions: Kronecker products, and many directions and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polynomial_reference as slow
from multikernel.diagnostics import convexity, curvature_bounds, proposition_4
from multikernel.domains import NormBall

Array = Any


def matrices(seed: int, m: int, n: int = 6) -> Array:
    features = np.random.default_rng(seed).normal(size=(m, n, 3))
    return features @ features.transpose(0, 2, 1)


@pytest.mark.parametrize("seed", range(3))
def test_proposition_4_is_the_product_of_the_kronecker_matrices(seed: int) -> None:
    """All matrices written out, with rows ij and columns kl; E has a one where k = j and l = i."""
    rng = np.random.default_rng(seed)
    K, n = matrices(seed, 3), 6
    y, theta, u = rng.normal(size=n), rng.random(3), rng.normal(size=3)
    S, S_u = np.tensordot(theta, K, 1), np.tensordot(u, K, 1)
    V = np.linalg.inv(S * S + 0.7 * np.eye(n))
    a = V @ y
    M = np.outer(a, a).reshape(-1, 1) * np.kron(S_u, S_u)
    N = 4.0 * V.reshape(1, -1) * np.kron(S, S)
    E = np.eye(n * n).reshape(n, n, n, n).transpose(0, 1, 3, 2).reshape(n * n, n * n)
    want = float((M * (N - E)).sum())
    assert proposition_4(K, y, theta, u, 0.7) == pytest.approx(want, rel=1e-9)


def test_proposition_4_is_half_the_curvature() -> None:
    K = matrices(0, 3)
    y, theta, u = np.arange(6.0) - 2.0, np.array([0.5, 1.0, 0.2]), np.array([1.0, -0.4, 0.3])
    values = [slow.value(K, y, 0.3, 2, theta + t * u) for t in (-1e-3, 0.0, 1e-3)]
    assert 2.0 * proposition_4(K, y, theta, u, 0.3) == pytest.approx(
        (values[0] - 2 * values[1] + values[2]) / 1e-6, rel=1e-4
    )


@pytest.mark.parametrize("ball", [NormBall(2.0, 1.0, 1.0), NormBall(2.0, 0.5, 0.0), NormBall(1.0, 2.0, 0.3)])
def test_no_direction_and_no_weights_exceed_the_constants(ball: NormBall) -> None:
    rng = np.random.default_rng(1)
    K = matrices(1, 3)
    found = curvature_bounds(K, ball)
    u = rng.normal(size=(3000, 3))
    theta = np.array([ball.project(ball.start(3) + step) for step in rng.normal(size=(3000, 3))])
    S_u, S = np.tensordot(u / np.linalg.norm(u, axis=1)[:, None], K, 1), np.tensordot(theta, K, 1)
    spectra = np.linalg.eigvalsh(S_u * S_u)
    least = spectra.min()
    attained = {
        "B": spectra.max(),
        "C": np.linalg.norm(S * S_u, 2, axis=(1, 2)).max() ** 2,
        "E": np.linalg.eigvalsh(S * S).max(),
    }
    for name, value in attained.items():
        low, high = getattr(found, name)
        assert value <= high * (1.0 + 1e-9)
        assert low <= high
        if name != "C":
            assert value <= low * (1.0 + 1e-6)  # the ascent has found the largest here
            assert value >= 0.98 * low
    assert least < 0.5 * np.linalg.eigvalsh(K[0] * K[0])[-1]
    assert found.vacuous
    assert "vacuous" in str(found)


def test_of_two_kernels_some_direction_has_a_self_value_of_zero() -> None:
    K = matrices(2, 2)
    u = np.array([K[1][0, 0], -K[0][0, 0]])
    S_u = np.tensordot(u / np.linalg.norm(u), K, 1)
    assert np.linalg.eigvalsh(S_u * S_u)[0] <= 1e-12
    assert curvature_bounds(K).D == 0.0


def test_the_proposition_holds_for_one_kernel() -> None:
    """And is weaker than what is known along the ray, at every weight of the ball."""
    K = np.diag([0.5, 1.0, 1.2])
    y = np.array([1.0, 2.0, -3.0])
    ball = NormBall(2.0, 0.2, 1.0)
    found = curvature_bounds([K], ball)
    assert not found.vacuous
    np.testing.assert_allclose([found.D, found.H], [0.25, 1.0 / (0.8 * 0.25) ** 2])
    assert found.C[0] == pytest.approx((1.2 * 1.44) ** 2)
    for theta in (0.8, 1.0, 1.2):
        below, above = convexity([K], y, 2, 1.0, NormBall(2.0, 0.0, theta), False, 0).ray
        assert found.concave_above >= above
        assert found.convex_below <= below
        assert proposition_4([K], y, [theta], [1.0], found.concave_above) <= 0.0


@pytest.mark.parametrize(
    ("theta", "u", "said"),
    [
        ([1.0], [1.0, 0.0], "2 finite numbers"),
        ([1.0, np.nan], [1.0, 0.0], "2 finite numbers"),
        ([-1.0, 1.0], [1.0, 0.0], "must not be negative"),
        (["a", "b"], [1.0, 0.0], "holds strings"),
    ],
)
def test_weights_that_do_not_fit_are_refused(theta: list[float], u: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        proposition_4(matrices(0, 2), np.ones(6), theta, u)


@pytest.mark.parametrize("alpha", [1e-4, 1e-8, 1e-12])
def test_what_the_kernels_cannot_explain_adds_nothing(alpha: float) -> None:
    """With K = 11' the value along theta = 1 is (1'y)^2 / (3 (3 theta^2 + alpha)), whose second derivative is known."""
    exact = 6.0**2 / 3.0 * (8 * 9.0 / (3.0 + alpha) ** 3 - 2 * 3.0 / (3.0 + alpha) ** 2)
    K = [np.ones((3, 3))]
    y = [1.0, 2.0, 3.0]
    assert 2.0 * proposition_4(K, y, [1.0], [1.0], alpha) == pytest.approx(exact, rel=1e-9)
    found = convexity(K, y, 2, alpha, NormBall(2.0, 0.0, 1.0), False, 0)
    assert found.smallest[0] == pytest.approx(exact, rel=1e-9)


def test_too_small_an_alpha_is_refused() -> None:
    """The message says which one is not."""
    for unit in (1e-3, 1.0, 1e6):
        K = [unit * np.ones((3, 3))]
        with pytest.raises(ValueError, match="is too small") as refusal:
            proposition_4(K, [1.0, 2.0, 3.0], [1.0], [1.0], 1e-40 * unit**2)
        enough = float(str(refusal.value).rsplit(maxsplit=1)[1])
        assert proposition_4(K, [1.0, 2.0, 3.0], [1.0], [1.0], enough) * unit**2 == pytest.approx(12.0)


def test_of_a_singular_kernel_no_alpha_is_large() -> None:
    x = np.arange(1.0, 5.0)
    assert curvature_bounds([1e3 * np.outer(x, x)]).vacuous
