"""The blend is the optimum of its problem, and probabilities mean what they say."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from multikernel import MultiKernelClassifier, MultiKernelRegressor
from multikernel.auto.choice import blend_classes, blend_numbers


def test_weights_for_numbers_are_those_of_a_generic_solver():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    F = np.stack([y + s * rng.normal(size=50) for s in (0.3, 0.5, 2.0)])
    found = blend_numbers(F[:, :, None], y[:, None], None).weights

    def value(w):
        return np.mean((y - w @ F) ** 2) + 10 * 3 / 50 * np.mean((y - F[0]) ** 2) * np.sum((w - 1 / 3) ** 2)

    sum_of_one = {"type": "eq", "fun": lambda w: w.sum() - 1.0}
    options = {"ftol": 1e-14}
    other = minimize(value, np.full(3, 1 / 3), bounds=[(0, 1)] * 3, constraints=sum_of_one, options=options).x
    assert np.allclose(found, other, atol=1e-5)


def test_a_sample_of_twice_the_weight_counts_as_two():
    rng = np.random.default_rng(1)
    F, labels = rng.normal(size=(2, 40, 2)), np.arange(40) % 2
    F[0, labels == 1, 1] += 1.0
    weight, rows = np.where(np.arange(40) < 10, 2.0, 1.0), np.r_[np.arange(40), np.arange(10)]
    weighted = blend_classes(F, labels, weight)
    repeated = blend_classes(F[:, rows], labels[rows], None)
    assert np.allclose(weighted.weights, repeated.weights, atol=1e-4)
    assert np.allclose(weighted.bias, repeated.bias, atol=1e-4)


def test_of_several_sources_the_unit_of_a_candidate_does_not_matter():
    rng = np.random.default_rng(3)
    labels = np.arange(60) % 3
    F = np.stack([np.eye(3)[labels] + noise * rng.normal(size=(60, 3)) for noise in (0.5, 0.8, 3.0)])
    units = np.array([1.0, 1e-6, 1e6])
    one = blend_classes(F, labels, None, several=True)
    other = blend_classes(units[:, None, None] * F, labels, None, several=True)
    assert np.allclose(units * other.weights, one.weights, rtol=1e-4)
    assert np.isclose(one.objective, other.objective, rtol=1e-6)
    assert 0.0 <= other.gap < 1e-4
    assert not np.isclose(blend_classes(F / 10, labels, None).objective, blend_classes(F, labels, None).objective)


def test_a_candidate_that_says_nothing_has_no_unit():
    labels = np.arange(30) % 2
    scores = np.eye(2)[labels] + np.random.default_rng(4).normal(size=(30, 2))
    blend = blend_classes(np.stack([scores, np.zeros((30, 2))]), labels, None, several=True)
    assert np.isfinite(blend.weights).all()
    assert blend.weights[0] > 0.0


def test_scores_of_two_classes_become_the_probabilities_that_made_the_labels():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=20_000)
    labels = (rng.random(20_000) < expit(3.0 * scores + 1.0)).astype(int)
    F = np.stack([-scores, scores], axis=1)[None] / 2.0
    blend = blend_classes(F, labels, None)
    slope, shift = blend.weights[0], blend.bias[1] - blend.bias[0]
    assert abs(slope - 3.0) < 0.1
    assert abs(shift - 1.0) < 0.1


def test_probabilities_of_new_samples_are_calibrated():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :10]
    model = MultiKernelClassifier(random_state=0).fit(X[:150], y[:150])
    assert log_loss(y[150:], model.predict_proba(X[150:])) < 0.25
    assert np.array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


def test_a_rare_class_is_found_where_classes_are_balanced():
    rng = np.random.default_rng(3)
    y = (np.arange(120) % 12 == 0).astype(int)
    X = rng.normal(size=(120, 2)) + 1.2 * y[:, None]
    plain = MultiKernelClassifier(random_state=0).fit(X, y)
    balanced = MultiKernelClassifier(class_weight="balanced", random_state=0).fit(X, y)
    assert balanced.predict(X)[y == 1].mean() > plain.predict(X)[y == 1].mean()


def test_classes_that_a_sample_of_the_rows_lacks_keep_their_weights():
    model = MultiKernelClassifier(class_weight={"a": 1.0, "b": 2.0, "rare": 5.0})
    _, weight = model._goal(np.array(["a", "b"]), None, 2, classes=np.array(["a", "b", "rare"]))
    assert weight.tolist() == [1.0, 2.0]
    assert model._columns_of_target()(np.array(["rare", "a"]))[1].tolist() == [5.0, 1.0]


def test_samples_of_little_weight_say_little():
    X = np.tile(np.linspace(0.0, 1.0, 40), 2)[:, None]
    y = np.repeat([1.0, -1.0], 40) * X[:, 0]
    weight = np.repeat([1.0, 1e-3], 40)
    model = MultiKernelRegressor(random_state=0).fit(X, y, sample_weight=weight)
    assert np.abs(model.predict(X[:40]) - y[:40]).mean() < 0.1
