"""Clusters in the feature space of a kernel: what must not change them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel.procedures.kernel_k_means import kernel_k_means

FEATURES = np.random.default_rng(0).integers(-7, 8, size=(30, 2))
WEIGHT = np.random.default_rng(1).exponential(size=30)


def clusters(K: Any, weight: Any = WEIGHT) -> Any:
    return kernel_k_means(K, 3, np.random.default_rng(2), weight=weight)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_units_of_kernels_and_of_weights(unit: float) -> None:
    K = (FEATURES @ FEATURES.T).astype(float)
    expected = clusters(K)
    np.testing.assert_array_equal(clusters(unit * K), expected)
    np.testing.assert_array_equal(clusters(K, 1e7 * unit * WEIGHT), expected)


def test_small_integers_do_not_wrap_around() -> None:
    K = FEATURES @ FEATURES.T
    np.testing.assert_array_equal(clusters(K.astype(np.int8)), clusters(K))
