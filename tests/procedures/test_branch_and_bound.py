"""Optima of few weights that are not convex: against fine grids of the ball's surface, by formulas of their own."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from cases import one_in
from multikernel import PolynomialMKLClassifier, PolynomialMKLRegressor


def matrices(seed: int, m: int, n: int = 12) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(m, n, 2))
    return factors @ factors.transpose(0, 2, 1), rng.normal(size=n)


def value(K: Any, y: Any, alpha: float) -> float:
    return float(y @ np.linalg.solve(K + alpha * np.eye(len(y)), y))


def surface(m: int, norm: float, steps: int) -> Any:
    """Points of |delta|_norm = 1, delta >= 0: the last entry takes what the others leave."""
    grid = np.linspace(0.0, 1.0, steps) ** (1.0 / norm)
    for first in product(grid, repeat=m - 1):
        rest = 1.0 - sum(d**norm for d in first)
        if rest >= -1e-12:
            yield np.array([*first, max(rest, 0.0) ** (1.0 / norm)])


@pytest.mark.parametrize(
    ("seed", "m", "degree", "norm", "offset"),
    one_in(3, [(1, 2, 2, 1, 0.0), (2, 2, 3, 2, 0.0), (4, 2, 3, 1.5, 0.7), (0, 2, 4, 2, [0.0, 1.0]), (3, 3, 2, 1, 0.3)]),
)
def test_the_optimum_is_global(seed: int, m: int, degree: int, norm: float, offset: Any) -> None:
    K, y = matrices(seed, m)
    model = PolynomialMKLRegressor(
        "precomputed",
        alpha=0.3,
        degree=degree,
        norm=norm,
        offset=offset,
        fit_intercept=False,
        solver="branch_and_bound",
    ).fit(K, y)
    best = min(
        value(np.tensordot(offset + delta, K, 1) ** degree, y, 0.3) for delta in surface(m, norm, 400 if m == 2 else 40)
    )
    assert model.duality_gap_ <= 1e-4
    assert not hasattr(model, "stationarity_")
    assert model.objective_ <= best * (1.0 + 1e-4)
    assert model.objective_ * (1.0 - model.duality_gap_) <= best
    np.testing.assert_allclose(value(np.tensordot(model.weights_, K, 1) ** degree, y, 0.3), model.objective_, rtol=1e-6)


def test_a_worse_local_optimum_is_left() -> None:
    """The descent from equal weights ends in another valley; the proof finds that out."""
    K, y = matrices(105, 2, n=4)
    given: dict[str, Any] = {"alpha": 0.05, "degree": 2, "norm": 1, "offset": 0.0, "fit_intercept": False}
    local = PolynomialMKLRegressor("precomputed", **given).fit(K, y)
    proved = PolynomialMKLRegressor("precomputed", solver="branch_and_bound", **given).fit(K, y)
    best = min(value(np.tensordot(delta, K, 1) ** 2, y, 0.05) for delta in surface(2, 1.0, 400))
    assert local.objective_ > 1.02 * best
    assert proved.objective_ <= best * (1.0 + 1e-4)


def test_listed_products_are_proved_and_too_many_weights_refused() -> None:
    K, y = matrices(5, 2)
    tied = ((0,), (0, 1), (1, 1, 1))
    model = PolynomialMKLRegressor(
        "precomputed", alpha=0.3, tied=tied, offset=0.0, fit_intercept=False, solver="branch_and_bound"
    ).fit(K, y)
    best = min(value(a * K[0] + a * b * K[0] * K[1] + b**3 * K[1] ** 3, y, 0.3) for a, b in surface(2, 2.0, 400))
    assert model.duality_gap_ <= 1e-4
    assert best * (1.0 - 1e-4) <= model.objective_ <= best * (1.0 + 1e-4)
    with pytest.raises(ValueError, match="up to 8 weights"):
        PolynomialMKLRegressor("precomputed", alpha=1.0, norm=1, solver="branch_and_bound").fit(matrices(0, 9)[0], y)


def test_free_products_may_have_a_ball_of_their_own() -> None:
    """Against a grid over both balls; it is convex in (mu^2, nu), so the gap is one of the whole problem."""
    K, y = matrices(6, 2)
    model = PolynomialMKLRegressor(
        "precomputed", alpha=0.3, radius=1.0, free=((0, 1),), free_radius=0.4, offset=0.0, fit_intercept=False, tol=1e-6
    ).fit(K, y)
    mixed = K[0] * K[1]
    best = min(value((a * K[0] + b * K[1]) ** 2 + 0.4 * mixed, y, 0.3) for a, b in surface(2, 2.0, 2000))
    assert model.duality_gap_ <= 1e-6
    assert model.objective_ == pytest.approx(best, rel=1e-5)
    assert model.weights_[2] == pytest.approx(0.4)
    assert np.linalg.norm(model.weights_[:2]) == pytest.approx(1.0)
    labels = PolynomialMKLClassifier("precomputed", alpha=0.3, free=((0, 1),), free_radius=0.4).fit(K, y > 0.0)
    assert labels.duality_gap_ <= 1e-4
