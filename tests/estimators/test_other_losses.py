"""An estimator with another machine learns with another loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from multikernel import L1MKLClassifier, bind, kernels
from multikernel.estimators.support.l1 import of_sum_one
from multikernel.estimators.support.method import SupportMKL, classifier_method
from outsiders import Logistic

Array = Any
X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0, 1.0, -1.0)
FAMILY = [kernels.RBF(0.3).on([0, 1]), kernels.RBF(1.0).on([1, 2])]


class LogisticMKL(L1MKLClassifier):
    """L1MKLClassifier with logistic losses, by a machine without a support program."""

    _method = classifier_method(SupportMKL(of_sum_one, lambda model: Logistic(model.C, model.tol)))


def least(K: Array, C: float) -> float:
    """The least of 1/2 |f|^2 + C sum log(1 + exp(-y f)) over functions of this kernel."""
    values, vectors = np.linalg.eigh(K)
    F = vectors * np.sqrt(np.maximum(values, 0.0))  # f = F v, |f| = |v|

    def value(v: Array) -> tuple[float, Array]:
        z = -Y * (F @ v)
        slope = -C * Y / (1.0 + np.exp(-z))
        return 0.5 * v @ v + C * np.logaddexp(0.0, z).sum(), v + F.T @ slope

    return float(minimize(value, np.zeros(len(K)), jac=True, method="BFGS", options={"gtol": 1e-6}).fun)


def test_logistic_losses_have_the_weights_of_least_value() -> None:
    """Against all mixtures of two kernels, 1/50 apart."""
    one, two = bind(FAMILY, X).matrices()
    model = clone(LogisticMKL(FAMILY, C=2.0, tol=1e-6)).fit(X, Y)
    values = [least(d * one + (1.0 - d) * two, 2.0) for d in np.linspace(0.0, 1.0, 51)]
    assert model.converged_
    assert 0.02 < model.weights_[0] < 0.98
    assert abs(np.argmin(values) / 50 - model.weights_[0]) <= 0.02
    assert model.objective_ == pytest.approx(min(values), rel=1e-3)
    assert model.objective_ <= min(values) * (1.0 + 1e-6)
    assert "not known" in str(model.forecast(X, Y))
