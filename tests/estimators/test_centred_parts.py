"""Centred kernels where a problem is learned on some of the training samples: the predictor knows the same centre.

A support vector machine with an intercept does not feel where the centre is, since its coefficients have sum zero:
its values are those of the kernels as they are.
"""

import numpy as np
import pytest

from multikernel import AverageMKLClassifier, L1MKLRegressor, PolynomialMKLRegressor, kernels

KERNELS = [kernels.RBF(0.3), kernels.Linear()]
CENTRED = [kernel.centered() for kernel in KERNELS]


@pytest.fixture
def X(rng):
    """Samples of which the last third is elsewhere."""
    X = rng.normal(size=(45, 3))
    X[30:] += 2.0
    return X


def test_samples_of_weight_zero(X, rng):
    """They take no part, and do not shift the values of the others."""
    y, weight = X[:, 0] + 0.1 * rng.normal(size=45), np.repeat([1.0, 0.0], [30, 15])
    plain, centred = (L1MKLRegressor(k, C=10.0, tol=1e-8).fit(X, y, sample_weight=weight) for k in (KERNELS, CENTRED))
    np.testing.assert_allclose(centred.predict(X), plain.predict(X), atol=1e-3)


def test_samples_of_weight_zero_in_ridge_regression(X, rng):
    """The values on the training samples are those of the kernel matrix and the coefficients that were learned."""
    y, weight = X[:, 0] + 0.1 * rng.normal(size=45), np.repeat([1.0, 0.0], [30, 15])
    model = PolynomialMKLRegressor(CENTRED, degree=1, alpha=0.1).fit(X, y, sample_weight=weight)
    residual = (y - model.predict(X))[:30]
    np.testing.assert_allclose(residual, 0.1 * model.dual_coef_[:30], atol=1e-9)


def test_pairs_of_classes(X):
    """Each pair is learned on the samples of two classes."""
    y = np.repeat([0, 1, 2], 15)
    y[::4] = (y[::4] + 1) % 3
    plain, centred = (AverageMKLClassifier(k, C=1.0, multiclass="ovo").fit(X, y) for k in (KERNELS, CENTRED))
    np.testing.assert_allclose(centred.decision_function(X), plain.decision_function(X), atol=1e-2)
