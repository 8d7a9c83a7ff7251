"""Weights of samples: weight two is a sample that is there twice, weight zero one that is not there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import multikernel as mk
from cases import one_in
from multikernel import kernels

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 3))
Y = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=30)
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [-0.4, 0.4])]
COUNT = RNG.permutation(np.r_[np.zeros(4), np.full(5, 2), np.full(3, 3), np.ones(18)]).astype(int)
ROWS = np.repeat(np.arange(30), COUNT)
FAMILY = kernels.rbf_grid([0.1, 1.0])
EACH = kernels.per_feature(kernels.RBF(0.5))

SHARP = [
    mk.L1MKLClassifier(FAMILY, tol=1e-10),
    mk.L1MKLRegressor(FAMILY, tol=1e-10),
    mk.LpMKLClassifier(FAMILY, tol=1e-10),
    mk.LpMKLRegressor(FAMILY, tol=1e-10),
    mk.SMKLClassifier(FAMILY, tol=1e-10),
    mk.SMKLRegressor(FAMILY, C=1.0, epsilon=0.1, smoothing=0.5, tol=1e-10),
    mk.GMKLSupportRegressor(FAMILY, C=3.0, epsilon=0.1, penalty=0.1, tol=1e-10),
    mk.OneClassMKL(FAMILY, nu=0.3, tol=1e-10),
    mk.HKLClassifier(EACH, C=3.0, tol=1e-8),
    mk.HKLRegressor(EACH, C=3.0, tol=1e-9),
    mk.GMKLClassifier(FAMILY, C=3.0, tol=1e-11),
    mk.GMKLClassifier(kernels.linear_features(), combination="rbf_product", penalty=0.1, tol=1e-6),
    mk.GMKLRegressor(FAMILY, alpha=0.3, penalty=0.1, tol=1e-11),
    mk.GMKLRegressor(combination="polynomial", alpha=0.3, penalty=0.1, tol=1e-7),
    mk.PolynomialMKLClassifier(FAMILY, tol=1e-11),
    mk.PolynomialMKLRegressor(FAMILY, tol=1e-11),
    mk.AverageMKLClassifier(FAMILY, C=1.0, tol=1e-12),
    mk.AlignmentMKLClassifier(FAMILY, C=1.0, tol=1e-12),
    mk.AlignmentMKLClassifier(FAMILY, method="align", C=1.0, tol=1e-12, multiclass="ovo"),
    mk.RLS2Regressor(FAMILY, alpha=0.1, tol=1e-11),
    mk.RLS2Regressor(kernels.linear_features(), alpha=0.01, tol=1e-11),
    mk.RLS2Classifier(FAMILY, alpha=0.1, scaling="fisher", tol=1e-11),
    mk.LinearRLS2Regressor(alpha=0.01),
    mk.LinearRLS2Classifier(alpha=0.01, scaling="fisher"),
    mk.AverageMKLRegressor(FAMILY),
    mk.TwoLayerRegressor(FAMILY, second="polynomial", alpha=0.1, tol=1e-9),
    mk.TwoLayerClassifier(FAMILY, second="gaussian", alpha=0.1, tol=1e-9),
    mk.AlignmentMKLRegressor(FAMILY),
    mk.LocalizedMKLClassifier(FAMILY, random_state=0, tol=1e-10),
    mk.LocalizedMKLRegressor(FAMILY, C=1.0, epsilon=0.1, n_clusters=3, random_state=0, temperature=0.3, tol=1e-10),
]


def target(model: Any) -> Any:
    return LABELS if "Classifier" in type(model).__name__ else Y


def values(model: Any, at: Any) -> Any:
    return model.decision_function(at) if hasattr(model, "decision_function") else model.predict(at)


@pytest.mark.parametrize("model", one_in(2, SHARP), ids=lambda model: type(model).__name__)
def test_a_weight_is_how_often_a_sample_is_there(model: Any) -> None:
    y, new = target(model), X + 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weighted = clone(model).fit(X, y, sample_weight=COUNT)
        repeated = clone(model).fit(X[ROWS], y[ROWS])
    expected, near = values(repeated, new), 1e-6 if hasattr(weighted, "duality_gap_") else 1e-3
    np.testing.assert_allclose(values(weighted, new), expected, atol=near * np.abs(expected).max())
    if np.all(weighted.objective_ != None):  # noqa: E711 - entry by entry; a rule solves no problem of its own
        np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-5)


CLASSIFIERS = [
    *[mk.L1MKLClassifier(FAMILY), mk.SMKLClassifier(FAMILY), mk.GMKLClassifier(FAMILY), mk.HKLClassifier(EACH)],
    *[mk.PolynomialMKLClassifier(FAMILY), mk.AverageMKLClassifier(FAMILY), mk.AlignmentMKLClassifier(FAMILY)],
    *[mk.RLS2Classifier(FAMILY, alpha=0.1), mk.LinearRLS2Classifier(alpha=0.1)],
    mk.BestKernelClassifier(FAMILY, cv=2, random_state=0),
]


@pytest.mark.parametrize("model", one_in(2, CLASSIFIERS), ids=lambda model: type(model).__name__)
def test_a_class_weight_is_a_weight_of_its_samples(model: Any) -> None:
    weight = {"a": 0.5, "b": 1.0, "c": 4.0}
    by_class = clone(model).set_params(class_weight=weight).fit(X, LABELS)
    by_sample = clone(model).fit(X, LABELS, sample_weight=[weight[label] for label in LABELS])
    np.testing.assert_allclose(by_class.decision_function(X), by_sample.decision_function(X), rtol=1e-12)
    assert np.abs(by_class.decision_function(X) - clone(model).fit(X, LABELS).decision_function(X)).max() > 1e-3


@pytest.mark.parametrize("rule", [mk.AverageMKLClassifier, mk.AlignmentMKLClassifier, mk.BestKernelClassifier])
def test_the_margin_between_hulls_takes_no_weights(rule: Any) -> None:
    with pytest.raises(ValueError, match=r"over a distribution on each class; give none, or take .*learner='svc'"):
        rule(FAMILY, learner="margin").fit(X, LABELS, sample_weight=COUNT)


@pytest.mark.parametrize("cls", [mk.AlignmentMKLClassifier, mk.AlignmentMKLRegressor])
def test_weights_count_in_the_alignment(cls: Any) -> None:
    """Against the alignment of dense matrices in which samples occur as often as they count."""
    y = np.where(Y > 0, 1.0, -1.0) if cls is mk.AlignmentMKLClassifier else Y
    found = cls(FAMILY, method="align").fit(X, y, sample_weight=COUNT).weights_
    distances = ((X[ROWS, None] - X[None, ROWS]) ** 2).sum(axis=-1)
    centred = y[ROWS] - y[ROWS].mean()
    J = np.eye(len(ROWS)) - 1.0 / len(ROWS)
    alignments = []
    for gamma in (0.1, 1.0):
        K = J @ np.exp(-gamma * distances) @ J
        alignments.append(centred @ K @ centred / np.linalg.norm(K))
    np.testing.assert_allclose(found, np.array(alignments) / sum(alignments), rtol=1e-8)


@pytest.mark.parametrize("cls", [mk.BestKernelClassifier, mk.BestKernelRegressor])
def test_weights_count_in_the_choice_of_the_best_kernel(cls: Any) -> None:
    """Two halves of the samples, each explained by a feature of its own: the half that counts decides."""
    rng = np.random.default_rng(0)
    A, half = rng.normal(size=(80, 2)), np.arange(80) % 2
    y = np.where(half == 0, A[:, 0], A[:, 1])
    y = y > 0 if cls is mk.BestKernelClassifier else y
    rule = cls(kernels.linear_features(), cv=4, random_state=0)
    for other in (0, 1):
        weight = np.where(half == other, 0.01, 1.0)
        np.testing.assert_array_equal(rule.fit(A, y, sample_weight=weight).weights_, [other, 1 - other])


def test_the_best_kernel_of_a_classifier_is_chosen_on_the_folds_that_are_given() -> None:
    y, few = Y > 0, np.arange(30) < 15
    given = [(np.flatnonzero(few), np.flatnonzero(~few)), (np.flatnonzero(~few), np.flatnonzero(few))]
    rule = mk.BestKernelClassifier(FAMILY, cv=given, tol=1e-10)
    weight = np.where(np.arange(30) % 7 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weight)
    place = np.cumsum(weight).astype(int) - 1
    own = [(place[np.intersect1d(a, kept)], place[np.intersect1d(b, kept)]) for a, b in given]
    without = clone(rule).set_params(cv=own).fit(X[kept], y[kept])
    np.testing.assert_allclose(rule.fit(X, y, sample_weight=weight).decision_function(X), without.decision_function(X))


def test_at_most_nu_of_the_weight_is_outside_the_region() -> None:
    weight = np.where(np.arange(30) < 3, 20.0, 1.0)
    model = mk.OneClassMKL(FAMILY, nu=0.2, tol=1e-8).fit(X, sample_weight=weight)
    outside = model.decision_function(X) < -1e-6
    assert weight[outside].sum() <= 0.2 * weight.sum()
    assert outside.sum() > 0.2 * 30
