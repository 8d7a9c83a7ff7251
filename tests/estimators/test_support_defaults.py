"""The default kernels of classifiers with support vectors are as good as scikit-learn's machine on rare classes."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import multikernel as mk


@pytest.mark.parametrize("cls", [mk.L1MKLClassifier, mk.LpMKLClassifier, mk.SMKLClassifier])
def test_defaults_find_a_rare_class_as_a_support_vector_machine_does(cls):
    """With weights of the classes; a kernel near the identity would name the frequent class everywhere."""
    X, y = make_classification(500, 10, n_informative=4, weights=[0.95], class_sep=1.5, flip_y=0.01, random_state=3)
    X, train = scale(X), np.arange(500) < 300
    found = [
        balanced_accuracy_score(y[~train], model.fit(X[train], y[train]).predict(X[~train]))
        for model in (cls(class_weight="balanced"), SVC(class_weight="balanced"))
    ]
    assert found[0] > found[1] - 0.05


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_default_widths_take_a_weight_of_two_for_a_sample_given_twice(form):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    y, rows = (X[:, 0] > 0).astype(int), np.repeat(np.arange(40), weight)
    weighted = mk.L1MKLClassifier(tol=1e-10).fit(form(X), y, sample_weight=weight)
    repeated = mk.L1MKLClassifier(tol=1e-10).fit(form(X[rows]), y[rows])
    np.testing.assert_allclose(weighted.decision_function(form(X)), repeated.decision_function(form(X)), atol=1e-9)
