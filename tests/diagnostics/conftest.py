"""Kernel matrices that several tests measure."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from multikernel import kernels
from multikernel._typing import Array


@pytest.fixture(scope="session")
def cancer() -> tuple[Array, Array]:
    """Breast cancer data with standardised columns, and labels -1, +1."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), 2.0 * y - 1.0


@pytest.fixture(scope="session")
def zoo(cancer: tuple[Array, Array]) -> dict[str, Array]:
    """Kernel matrices by name: random, degenerate and real."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    real = cancer[0][:100]
    return {
        "linear": X @ X.T,
        "linear far away": (X + 100.0) @ (X + 100.0).T,
        "gaussian": kernels.RBF(0.3)(X),
        "narrow gaussian": kernels.RBF(30.0)(X),
        "duplicates": np.kron(np.ones((2, 2)), kernels.RBF(0.3)(X[:20])),
        "identity": np.eye(20),
        "unequal scales": np.diag(np.arange(1.0, 21.0)),
        "real linear": real @ real.T,
        "real gaussian": kernels.RBF(0.02)(real),
        "real cubic": kernels.HomogeneousPolynomial(3).normalized()(real),
    }
