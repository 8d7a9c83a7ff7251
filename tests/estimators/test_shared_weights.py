"""Classes that share the kernel weights are the targets of one regression on their labels."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import multikernel as mk
from multikernel import kernels

IRIS, SPECIES = load_iris(return_X_y=True)
X, NEW = IRIS[::3], IRIS[1::3]
Y, NAMES = SPECIES[::3], np.array(["setosa", "versicolor", "virginica"])
SIGNS = np.where(Y[:, None] == np.arange(3), 1.0, -1.0)
FAMILY = [kernels.RBF(0.1), kernels.RBF(1.0), kernels.Linear().on([2, 3])]
PAIRS = {
    "rls2": (mk.RLS2Classifier, mk.RLS2Regressor, {"alpha": 1e-3}),
    "polynomial": (mk.PolynomialMKLClassifier, mk.PolynomialMKLRegressor, {"alpha": 0.1, "degree": 1}),
    "product": (mk.PolynomialMKLClassifier, mk.PolynomialMKLRegressor, {"alpha": 0.1}),
}


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_the_regression_of_the_labels(name):
    classifier, regressor, numbers = PAIRS[name]
    weight = np.linspace(0.0, 2.0, len(Y))
    model = classifier(FAMILY, multiclass="shared", **numbers).fit(X, NAMES[Y], weight)
    other = regressor(FAMILY, **numbers).fit(X, SIGNS, weight)
    assert model.weights_.shape == (3,)
    assert model.dual_coef_.shape == (3, len(Y))
    np.testing.assert_allclose(model.weights_, other.weights_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(NEW), other.predict(NEW), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(NEW), NAMES[other.predict(NEW).argmax(axis=1)])
    parts = model.contributions(NEW)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.decision_function(NEW), atol=1e-9)


def test_two_classes_are_one_problem():
    one, other = (
        mk.RLS2Classifier(FAMILY, alpha=1e-3, multiclass=m).fit(X, NAMES[Y.clip(0, 1)]) for m in ("ovr", "shared")
    )
    np.testing.assert_array_equal(one.weights_, other.weights_)
    np.testing.assert_array_equal(one.decision_function(NEW), other.decision_function(NEW))


def test_what_is_told_of_it(tmp_path):
    model = mk.RLS2Classifier(FAMILY, multiclass="shared", probability="platt", class_weight="balanced")
    model.fit(X, NAMES[Y])
    assert model.alpha_ > 0
    assert model.score(NEW, NAMES[SPECIES[1::3]]) > 0.9
    np.testing.assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)
    assert list(model.weights_frame().columns) == ["weight"]
    assert model.problem_names() == ["all classes"]
    assert np.shape(model.degrees_of_freedom_) == (3,)
    assert mk.path(model, X, NAMES[Y], "alpha", [1e-3, 1e-2]).weights.shape == (2, 3)
    mk.save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "model.mk").predict_proba(NEW), model.predict_proba(NEW))


def test_a_scaling_of_two_classes_is_refused():
    with pytest.raises(ValueError, match="use multiclass='ovr', or scaling='trace'"):
        mk.RLS2Classifier(FAMILY, multiclass="shared", scaling="fisher").fit(X, Y)
