"""``multikernel.report``: the page of the command line, written from Python."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import multikernel


@pytest.fixture(scope="module")
def classifier():
    X, y = load_iris(return_X_y=True)
    return multikernel.EasyMKLClassifier().fit(X[::2], y[::2])


def test_a_page_with_a_test(classifier, tmp_path):
    X, y = load_iris(return_X_y=True)
    multikernel.report(classifier, X[1::2], y[1::2], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "EasyMKLClassifier" in page
    assert f"{classifier.score(X[1::2], y[1::2]):.3f}" in page
    assert "Certificate" in page


def test_a_page_of_numbers_and_one_without_samples(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = multikernel.AverageMKLRegressor(alpha=1.0).fit(X[:100], y[:100])
    multikernel.report(model, X[100:150], y[100:150], tmp_path / "numbers.html")
    assert "Predicted against true" in (tmp_path / "numbers.html").read_text()
    multikernel.report(model, None, None, tmp_path / "alone.html")
    assert "Predicted against true" not in (tmp_path / "alone.html").read_text()


def test_a_page_with_what_each_source_is_worth(tmp_path):
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=(30, 2)), "b": rng.normal(size=(30, 2))}
    y = X["a"][:, 0] + X["b"][:, 1]
    model = multikernel.AverageMKLRegressor(multikernel.kernels.Linear(), alpha=0.1)
    worth = multikernel.source_values(model, X, y, permutations=1, random_state=0)
    multikernel.report(model.fit(X, y), X, y, tmp_path / "page.html", sources=worth)
    page = (tmp_path / "page.html").read_text()
    assert "What is each source worth?" in page
    assert "Do they repeat or complete each other?" in page


def test_what_cannot_be_tested_is_refused(classifier, tmp_path):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="X and y are given together"):
        multikernel.report(classifier, X, None, tmp_path / "page.html")
    with pytest.raises(ValueError, match="one value for each sample"):
        multikernel.report(classifier, X, np.column_stack([y, y]), tmp_path / "page.html")
    with pytest.raises(ValueError, match="y holds 7, a class that training did not have"):
        multikernel.report(classifier, X, np.where(y == 0, 7, y), tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
