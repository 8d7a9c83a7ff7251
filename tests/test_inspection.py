"""How much a model depends on each kernel, and its weights on the sample."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.inspection import permutation_importance
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from multikernel import (
    AverageMKLRegressor,
    EasyMKLClassifier,
    HKLClassifier,
    L1MKLClassifier,
    LinearRLS2Regressor,
    PolynomialMKLClassifier,
    bind,
    kernel_importance,
    kernels,
    weight_stability,
)
from multikernel.banks.packed import PackedBank
from multikernel.diagnostics import effective_number

FEATURES = kernels.per_feature([kernels.RBF(0.3), kernels.RBF(1.0)])
BY_FEATURE = {f"x{j}": [2 * j, 2 * j + 1] for j in range(4)}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X), np.array(["a", "b", "c"])[y]


@pytest.mark.crossed
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_importances_are_those_of_scikit_learn(iris, multiclass, scoring):
    """Where all kernels of a feature are a group, shuffling the feature's column is the same."""
    X, y = iris
    model = EasyMKLClassifier(FEATURES, multiclass=multiclass).fit(X[::2], y[::2])
    order = [list(model.kernel_names_).index(f"RBF(gamma={g}).on({j})") for j in range(4) for g in ("0.3", "1.0")]
    groups = {f"x{j}": order[2 * j : 2 * j + 2] for j in range(4)}
    ours = kernel_importance(model, X[1::2], y[1::2], groups=groups, scoring=scoring, n_repeats=4, random_state=3)
    theirs = permutation_importance(model, X[1::2], y[1::2], scoring=scoring, n_repeats=4, random_state=3)
    np.testing.assert_allclose(ours.importances, theirs.importances, atol=1e-12)
    np.testing.assert_allclose(ours.mean, theirs.importances_mean, atol=1e-12)
    np.testing.assert_allclose(ours.std, theirs.importances_std, atol=1e-12)


@pytest.mark.parametrize("cls", [AverageMKLRegressor, LinearRLS2Regressor])
def test_importances_of_regressors(cls):
    X, y = load_diabetes(return_X_y=True)
    X = scale(X)[:150]
    model = cls(kernels.per_feature(kernels.RBF(0.3))) if cls is AverageMKLRegressor else cls(alpha=0.1)
    model.fit(X[:100], y[:100])
    ours = kernel_importance(model, X[100:], y[100:150], random_state=0)
    theirs = permutation_importance(model, X[100:], y[100:150], random_state=0)
    np.testing.assert_allclose(ours.importances, theirs.importances, atol=1e-9)


def test_misuse_of_importances_is_said(iris):
    X, y = iris
    with pytest.raises(TypeError, match="got SVC"):
        kernel_importance(SVC().fit(X, y), X, y)
    with pytest.raises(ValueError, match="PolynomialMKLClassifier multiplies kernels"):
        kernel_importance(PolynomialMKLClassifier().fit(X, y), X, y)
    model = EasyMKLClassifier(FEATURES).fit(X, y)
    with pytest.raises(ValueError, match="X has 150 samples and y has 149"):
        kernel_importance(model, X, y[1:])
    for group in ([], [8], [-1], [1, 1], [1.0], [True], ["RBF"], "ab", 1, None):
        with pytest.raises(ValueError, match="group 'view' must name kernels"):
            kernel_importance(model, X, y, groups={"view": group})
    for groups in ({}, [[0, 1]], 1):
        with pytest.raises(ValueError, match="kernel_importance: groups must be a dict"):
            kernel_importance(model, X, y, groups=groups)
    by_array = kernel_importance(model, X, y, groups={"view": np.array([0, 1])}, random_state=0)
    by_list = kernel_importance(model, X, y, groups={"view": [0, 1]}, random_state=0)
    np.testing.assert_array_equal(by_array.importances, by_list.importances)
    for repeats in (0, -1, 2.5):
        with pytest.raises(ValueError, match="kernel_importance: n_repeats must be an integer >= 1, got"):
            kernel_importance(model, X, y, n_repeats=repeats)


def test_weights_on_parts_are_those_of_fits_to_them(iris):
    X, y = iris
    model = L1MKLClassifier(FEATURES, tol=1e-6)
    found = weight_stability(model, X, y, n_resamples=3, part=0.6, random_state=1)
    seed = np.random.RandomState(1).randint(np.iinfo(np.int32).max)
    splits = StratifiedShuffleSplit(3, train_size=0.6, random_state=seed).split(X, y)
    for weights, (rows, _) in zip(found.weights, splits, strict=True):
        np.testing.assert_allclose(weights, clone(model).fit(X[rows], y[rows]).weights_, atol=2e-3)
    np.testing.assert_allclose(found.mean, found.weights.mean(axis=0))
    assert ((found.frequency >= 0) & (found.frequency <= 1)).all()
    assert (found.frequency[found.mean > 0.3] == 1).all()
    assert found.problems == ["a", "b", "c"]
    again = weight_stability(model, bind(FEATURES, X), y, n_resamples=3, part=0.6, random_state=1, n_jobs=2)
    np.testing.assert_allclose(again.weights, found.weights, atol=2e-3)


def test_parts_are_not_copied_for_models_that_read_kernels_a_few_times(iris, monkeypatch):
    """A model that reads each kernel a few times reads it where it is."""
    X, y = iris
    monkeypatch.setattr(PackedBank, "principal", lambda *given: pytest.fail("a part was copied"))
    for model in (EasyMKLClassifier(FEATURES, lam=0.1), AverageMKLRegressor(FEATURES, alpha=0.1)):
        target = y if isinstance(model, EasyMKLClassifier) else X[:, 0]
        found = weight_stability(model, X, target, n_resamples=2, random_state=0)
        kind = StratifiedShuffleSplit if isinstance(model, EasyMKLClassifier) else ShuffleSplit
        seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
        splits = kind(2, train_size=0.5, random_state=seed).split(X, y)
        for weights, (rows, _) in zip(found.weights, splits, strict=True):
            rows = np.sort(rows)
            np.testing.assert_allclose(weights, np.atleast_2d(clone(model).fit(X[rows], target[rows]).weights_))


def test_misuse_of_stability_is_said(iris):
    X, y = iris
    with pytest.raises(TypeError, match="got SVC"):
        weight_stability(SVC(), X, y)
    with pytest.raises(ValueError, match="part must be a number in"):
        weight_stability(EasyMKLClassifier(), X, y, part=1.0)
    with pytest.raises(ValueError, match="n_resamples must be an integer"):
        weight_stability(EasyMKLClassifier(), X, y, n_resamples=0)
    with pytest.raises(ValueError, match="selects other products on each part"):
        weight_stability(HKLClassifier(), X[50:], y[50:], n_resamples=6, part=0.2, random_state=0)


def test_frames_and_figures(iris):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = iris
    model = EasyMKLClassifier(FEATURES).fit(X[::2], y[::2])
    importance = kernel_importance(model, X[1::2], y[1::2], groups=BY_FEATURE, random_state=0)
    assert list(importance.frame().index) == ["x0", "x1", "x2", "x3"]
    assert [label.get_text() for label in importance.plot().get_yticklabels()] == ["x0", "x1", "x2", "x3"]
    stability = weight_stability(model, X, y, n_resamples=4, random_state=0)
    assert list(stability.frame()) == ["weight", "deviation", "frequency"]
    assert [text.get_text() for text in stability.plot().get_legend().get_texts()] == ["a", "b", "c"]
    plt.close("all")


def test_the_effective_number_of_kernels():
    assert effective_number(np.ones(7)) == pytest.approx(7.0)
    assert effective_number([0.0, 3.0]) == 1.0
    assert effective_number([1e300, 1e300]) == pytest.approx(2.0)
    for bad in ([0.0, 0.0], [-1.0, 2.0], [np.nan]):
        with pytest.raises(ValueError, match="weights"):
            effective_number(bad)
