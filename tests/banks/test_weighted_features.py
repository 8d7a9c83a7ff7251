"""Products that read columns with a weight only are those with the dense matrix."""

import numpy as np
import pytest

from multikernel.banks import factor_gram, weighted_features
from multikernel.banks.factor_gram import FactorGram
from multikernel.banks.weighted_features import WeightedFeatures

RNG = np.random.default_rng(0)
F = RNG.normal(size=(70, 11))
B = np.where(RNG.random(70) < 0.5, RNG.normal(size=70), 0.0)
WEIGHTS = {
    "blocks": np.array([0.0, 1.0, 2.0, 0.0, 0.0, 0.3, 0.0, 1.0, 1.0, 1.0, 5.0]),
    "all": RNG.random(11) + 0.1,
    "none": np.zeros(11),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_they_are_products_with_the_matrix(dtype, name, threads, monkeypatch):
    monkeypatch.setattr(weighted_features, "PIECE_VALUES", 100)  # a few rows at a time
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    w, single = WEIGHTS[name], F.astype(dtype)
    own, exact = WeightedFeatures(single, w), single.astype(float)
    K = (exact * w) @ exact.T
    np.testing.assert_allclose(own.multiply(B), K @ B, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(own.sums(B), np.where(w > 0.0, exact.T @ B, 0.0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(own.diagonal(), K.diagonal(), rtol=1e-12, atol=1e-14)
    monkeypatch.setattr(factor_gram, "LARGE_VALUES", 0)
    np.testing.assert_allclose(FactorGram(single, w, single).diagonal(), K.diagonal(), rtol=1e-12, atol=1e-14)


def test_of_no_sample_there_is_no_product():
    own = WeightedFeatures(F[:0], WEIGHTS["all"])
    assert own.multiply(B[:0]).shape == own.diagonal().shape == (0,)
    np.testing.assert_array_equal(own.sums(B[:0]), np.zeros(11))
