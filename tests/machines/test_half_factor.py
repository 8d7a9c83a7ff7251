"""One half of a Cholesky factor in single precision, beside the whole one in double."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel.machines.ridge.half_factor import HalfFactor, space

TOL = 2e-5


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 50, 51])
def test_half_of_a_factor_solves_and_whitens_as_the_whole_one(n: int) -> None:
    rng = np.random.default_rng(n)
    G, b = rng.normal(size=(n, n)), rng.normal(size=n)
    K = G @ G.T / n
    L = np.linalg.cholesky(K + 0.5 * np.eye(n))
    factor = HalfFactor.of(K, 0.5, space(n))
    assert factor is not None
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(L @ L.T, b), atol=TOL)
    np.testing.assert_allclose(factor.half(G), np.linalg.solve(L, G), atol=TOL)
    assert factor.values.nbytes == 2 * n * (n + 1)


@pytest.mark.parametrize("entry", [-1.0, np.nan], ids=["indefinite", "NaN"])
def test_what_has_no_factor_in_single_precision_is_told(entry: float) -> None:
    K = np.eye(4)
    K[2, 2] = entry
    factor = HalfFactor.of(K, 1e-3, space(4))
    assert factor is None or not np.isfinite(factor.solve(np.ones(4))).all()
