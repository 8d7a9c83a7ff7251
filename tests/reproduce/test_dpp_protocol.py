"""The protocol of the studies of dot-product polynomials: weights, scores, and the models it stands for."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from multikernel import AverageMKLClassifier, EasyMKLClassifier, kernels
from multikernel.banks import precomputed
from multikernel.reproduce.data import folds
from multikernel.reproduce.dpp import protocol

Array = Any


@pytest.fixture(scope="module")
def data() -> tuple[Array, Array, Array, Array]:
    X, labels = load_breast_cancer(return_X_y=True)
    X, y = X[:150], np.where(labels[:150] == 1, 1.0, -1.0)
    train, test = folds(y, 3, 0, stratified=True)[0]
    return protocol.SCALINGS["stated"](X, train), y, train, test


def test_fixed_weights_are_those_of_the_kernels_they_are_named_after() -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    X /= np.linalg.norm(X, axis=1)[:, None]
    cosines, weights = X @ X.T, protocol.fixed_weights(20)
    for name, expected in {
        "K_D": cosines**20,
        "K_sum": sum(cosines**s for s in range(21)) / 21,
        "K_D,c 0.5": ((cosines + 0.5) / 1.5) ** 20,
        "K_RBF 0.25": kernels.RBF(0.25)(X),
        "K_RBF 2": kernels.RBF(2.0)(X),
    }.items():
        np.testing.assert_allclose(protocol.powers(X, 20).combine(weights[name]).dense(), expected, atol=1e-7)
    assert all(math.isclose(w.sum(), 1.0) for w in weights.values())


def test_area_under_the_curve_with_ties() -> None:
    rng = np.random.default_rng(1)
    y, values = rng.choice([-1.0, 1.0], size=60), rng.integers(5, size=60).astype(float)
    assert protocol.area_under_curve(y, values) == pytest.approx(roc_auc_score(y, values))


def test_scores_along_lam_are_those_of_the_estimators(data: tuple[Array, Array, Array, Array]) -> None:
    X, y, train, test = data
    lams, family = (0.9, 0.3), kernels.homogeneous_polynomials(5)
    bank = protocol.powers(X, 5)
    learned = protocol.along_lam(bank, y, train, test, lams, protocol.OUTER)
    even = protocol.along_lam(
        bank.combine(protocol.fixed_weights(5)["K_sum"]).dense(), y, train, test, lams, protocol.OUTER
    )
    for run, estimator in ((learned, EasyMKLClassifier), (even, AverageMKLClassifier)):
        options = {"learner": "margin"} if estimator is AverageMKLClassifier else {}
        models = [estimator(family, lam=lam, **options).fit(X[train], y[train]) for lam in lams]
        expected = [roc_auc_score(y[test], model.decision_function(X[test])) for model in models]
        np.testing.assert_allclose(run.areas, expected, atol=1e-3)
    model = EasyMKLClassifier(family, lam=0.3).fit(X[train], y[train])
    np.testing.assert_allclose(learned.weights, model.weights_, atol=1e-5)


def test_a_nested_run_takes_a_lam_of_the_grid_and_tests_on_the_test_fold(
    data: tuple[Array, Array, Array, Array],
) -> None:
    X, y, train, test = data
    bank = protocol.powers(X, 3)
    found = protocol.nested_area(bank, y, (train, test), 3, 0)
    assert found["lam"] in protocol.LAMS
    assert found["certificate"] <= 1e-6
    again = protocol.along_lam(bank, y, train, test, (found["lam"],), protocol.OUTER)
    assert found["auc"] == pytest.approx(again.areas[0])


def test_hulls_that_meet_order_no_samples(data: tuple[Array, Array, Array, Array]) -> None:
    """At lam = 0 their weight vector is zero, so that all samples are ties; a larger lam keeps the hulls apart."""
    X, y, train, test = data
    matrix = protocol.powers(X, 5).combine(protocol.fixed_weights(5)["K_sum"]).dense()
    both = np.concatenate([train, train[:1]])
    twice = np.arange(len(y) + 1)
    twice[-1] = train[0]  # the first training sample once more, with the other label
    labels = np.append(y, -y[train[0]])
    both[-1] = len(y)
    matrix = matrix[np.ix_(twice, twice)]
    bank = precomputed(np.stack([matrix]))
    for kernel, tol in ((matrix, protocol.INNER), (matrix, protocol.OUTER), (bank, protocol.OUTER)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # EasyMKL says that the hulls meet
            apart, meeting = (protocol.along_lam(kernel, labels, rows, test, (0.3, 0.0), tol) for rows in (train, both))
        assert meeting.areas[1] == 0.5
        assert min(meeting.areas[0], *apart.areas) > 0.9
