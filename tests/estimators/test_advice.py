"""What is said of fits that are likely to predict badly, and that nothing is said of others."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import multikernel as mk
from cases import one_in
from multikernel import PredictionWarning, kernels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=60)
LABELS = (Y > 0).astype(int)


def said(model, X=X, y=Y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [str(each.message) for each in caught if issubclass(each.category, PredictionWarning)]


@pytest.mark.parametrize("model", [mk.L1MKLRegressor(), mk.AverageMKLRegressor(), mk.HKLRegressor()])
def test_features_of_very_different_scale_are_named(model):
    (sentence,) = said(model, X * [1.0, 1e3, 0.01, 1e-2])
    assert "features of very different scale: feature 1 varies by" in sentence
    assert "StandardScaler" in sentence


def test_gaussians_of_one_width_want_features_that_vary_by_one():
    (sentence,) = said(mk.HKLRegressor(), X * 0.03)
    assert "the features vary by about 0.03" in sentence
    assert said(mk.L1MKLRegressor(), X * 1e3)
    assert not said(mk.L1MKLClassifier(), X * 1e3, LABELS)  # its widths follow the features


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_nothing_is_said_of_features_that_vary_alike(shift):
    assert not said(mk.L1MKLRegressor(), X * [0.3, 1.0, 2.0, 5.0] + shift)
    assert not said(mk.HKLRegressor(), X)


def test_nothing_is_said_of_features_where_the_user_gives_kernels_or_scales_do_not_matter():
    unequal = X * [1.0, 1e3, 0.01, 1.0]
    assert not said(mk.L1MKLRegressor(kernels.per_feature(kernels.RBF(0.1))), unequal)
    assert not said(mk.LinearRLS2Regressor(), unequal)


UNEQUAL = {
    "two": [kernels.RBF(0.3).on([0, 1]), 50.0 * kernels.RBF(0.3).on([2, 3])],
    "three": [1e9 * kernels.RBF(0.3), 4e7 * kernels.RBF(1.0), 90 * kernels.RBF(0.1)],
    "most of them large": [kernels.RBF(0.3), 1e3 * kernels.RBF(1.0), 1e3 * kernels.RBF(0.1)],
}
SIZED = [
    name
    for name in mk.__all__
    if name.startswith(
        ("L1", "Lp", "SMKL", "GMKL", "Easy", "Average", "Proportional", "Poly", "Gated", "Local", "OneC")
    )
]


def numbered(name, family):
    model = getattr(mk, name)(family)
    numbers = {"alpha": 1.0, "C": 1.0, "epsilon": 0.01, "smoothing": 1.0, "second": "linear", "cv": 2}
    return model.set_params(**{key: value for key, value in numbers.items() if key in model.get_params(deep=False)})


@pytest.mark.parametrize(("name", "unequal"), one_in(5, product(SIZED, UNEQUAL)))
def test_kernels_of_very_different_size_are_named_with_their_sizes(name, unequal):
    family, y = UNEQUAL[unequal], LABELS if name.endswith("Classifier") else Y
    (sentence,) = said(numbered(name, family), X, y)
    K = [kernel(X, X) for kernel in family]
    sizes = [np.trace(k) / 60 - k.mean() for k in K]
    for k in (np.argmax(sizes), np.argmin(sizes)):
        assert f"{sizes[k]:.2g} for kernel {'group 0: ' * ('Local' in name)}{family[k]!r}" in sentence
    assert "kernel.normalized()" in sentence
    assert not said(numbered(name, [kernel.normalized() for kernel in family]), X, y)


@pytest.mark.parametrize(
    "model",
    [
        mk.RLS2Regressor(UNEQUAL["two"], alpha=0.1),
        mk.AlignmentMKLRegressor(UNEQUAL["two"], alpha=0.1),
        mk.BestKernelRegressor(UNEQUAL["two"], alpha=0.1, random_state=0),
        mk.MultipleKernelRidgeCV(UNEQUAL["two"]),
    ],
)
def test_nothing_is_said_of_sizes_where_they_do_not_matter(model):
    assert not said(model)
    if isinstance(model, mk.RLS2Regressor):
        assert said(model.set_params(scaling="none"))


def test_nothing_is_said_of_kernels_that_differ_in_width_or_by_a_constant():
    far = kernels.Linear().on([0]) + 1e6 * kernels.Linear().on([3])
    Z = np.column_stack([X[:, :3], np.ones(60)])
    assert not said(mk.L1MKLClassifier([kernels.RBF(1e-4), kernels.RBF(1.0)]), X, LABELS)
    assert not said(mk.L1MKLClassifier([far, kernels.Linear().on([1])]), Z, LABELS)  # the constant has no spread


def test_sizes_of_given_matrices_are_looked_at():
    K = np.stack([np.exp(-((X[:, [0]] - X[:, 0]) ** 2)), 1e3 * np.exp(-((X[:, [1]] - X[:, 1]) ** 2))])
    (sentence,) = said(mk.L1MKLClassifier("precomputed"), K, LABELS)
    assert "for kernel kernel 1 and" in sentence


def test_a_predictor_that_came_out_constant_is_told():
    (sentence,) = said(mk.L1MKLRegressor(epsilon=100.0))
    assert "the predictor is constant: at C=" in sentence
    assert "every residual is smaller than epsilon" in sentence
    assert not said(mk.L1MKLRegressor(epsilon=100.0), X, np.full(60, 3.0))


def test_a_fit_that_did_not_converge_is_not_told_to_be_constant_by_its_parameters():
    """With so small an alpha it gives up, and smaller values would be the wrong advice."""
    model = mk.RLS2Regressor(kernels.per_feature(kernels.RBF(0.5)), alpha=1e-60)
    with pytest.warns(ConvergenceWarning, match="raise alpha"):
        model.fit(X, Y)
    assert not model.dual_coef_.any()
    assert not said(model)


@pytest.mark.parametrize("model", [mk.EasyMKLClassifier(), mk.AverageMKLClassifier()])
def test_classes_of_other_lengths_are_said_where_kernels_see_directions_only(model):
    Z = X - X.mean(axis=0)
    far = (np.linalg.norm(Z, axis=1) > 2.0).astype(int)
    (sentence,) = said(model, Z, far)
    assert "the lengths of samples separate class" in sentence
    assert "give kernels.rbf_grid()" in sentence
    assert not said(model, Z, LABELS)
    assert not said(model, Z + 3.0, far)  # directions from elsewhere tell lengths, too
    assert not said(mk.L1MKLClassifier(), Z, far)


@pytest.mark.parametrize("approximation", one_in(2, [None, "nystroem"]))
def test_a_value_far_from_all_others_is_named_where_scales_are_learned(approximation):
    model = mk.LearnedScalesRegressor(approximation=approximation, rank=20)
    far = X.copy()
    far[7, 2] = -3e4
    (sentence,) = said(model, far)
    assert "feature 2 is -3e+04 in row 7, and " in sentence
    far[7, 2] = -100.0
    assert not said(model, far)
    rare = np.column_stack([X, np.arange(60) == 3])  # an indicator of one sample
    assert not said(model, rare.astype(float))


def test_linear_kernels_of_columns_far_from_zero_lose_a_direction_and_this_is_said():
    far, y = X + 10.0, X @ [1.0, 2.0, 0.0, -1.0] + 0.3 * RNG.normal(size=60)
    for own in (kernels.Linear(), kernels.per_feature(kernels.Linear())):
        model = mk.AverageMKLRegressor(own, alpha=0.1)
        (sentence,) = said(model, far[:40], y[:40])
        assert "linear kernels of columns whose means are 1" in sentence
        assert "centre the kernels (kernel.centered())" in sentence
        lost = model.score(far[40:], y[40:])
    model = mk.AverageMKLRegressor(kernels.Linear().centered(), alpha=0.1)
    assert not said(model, far[:40], y[:40])
    assert lost < 0.9 < 0.95 < model.score(far[40:], y[40:])
    search = mk.BankSearchCV(mk.AverageMKLRegressor(kernels.Linear()), {"alpha": [0.1, 1.0]}, cv=3)
    assert "a direction of the columns is lost" in said(search, far, y)[0]
    assert not said(mk.AverageMKLRegressor([kernels.Linear(), kernels.RBF(0.1)]), far, y)  # close to a constant
    assert not said(mk.AverageMKLRegressor(kernels.Linear()), X + 1.0, y)
    assert not said(mk.L1MKLRegressor(kernels.Linear(), C=10.0), far, y)  # whose intercept is free
