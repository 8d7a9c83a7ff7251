"""Squared distances keep their digits where samples lie far from zero."""

import numpy as np
import pytest

from multikernel.kernels import RBF
from multikernel.kernels.distance import squared_distances


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
def test_samples_far_from_zero(shift, rng):
    """Distances of samples of size one, whose coordinates are numbers of twenty binary digits and a large one."""
    X, Z = (np.round(rng.normal(size=(n, 5)) * 2**20) / 2**20 for n in (20, 30))
    true = ((X[:, None] - Z) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(X + shift, Z + shift), true, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(squared_distances(Z + shift), squared_distances(Z), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(RBF(1.0)(X + shift, Z + shift), np.exp(-true), rtol=1e-11)
