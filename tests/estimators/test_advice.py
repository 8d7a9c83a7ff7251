"""What is said of fits that are likely to predict badly, and that nothing is said of others."""

import warnings

import numpy as np
import pytest

import multikernel as mk
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
    assert said(mk.L1MKLClassifier(), X * 1e3, LABELS)


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_nothing_is_said_of_features_that_vary_alike(shift):
    assert not said(mk.L1MKLRegressor(), X * [0.3, 1.0, 2.0, 5.0] + shift)
    assert not said(mk.HKLRegressor(), X)


def test_nothing_is_said_of_features_where_the_user_gives_kernels_or_scales_do_not_matter():
    unequal = X * [1.0, 1e3, 0.01, 1.0]
    assert not said(mk.L1MKLRegressor(kernels.per_feature(kernels.RBF(0.1))), unequal)
    assert not said(mk.LinearRLS2Regressor(), unequal)


def test_the_largest_of_unequal_kernels_with_all_the_weight_is_named():
    family = [kernels.RBF(0.3), kernels.RBF(1.0), 1e6 * kernels.RBF(0.1)]
    (sentence,) = said(mk.L1MKLClassifier(family), X, LABELS)
    assert "kernels of very different size: all the weight is on kernel" in sentence
    assert "normalise" in sentence
    assert not said(mk.L1MKLClassifier([each.normalized() for each in family]), X, LABELS)


def test_a_predictor_that_came_out_constant_is_told():
    (sentence,) = said(mk.L1MKLRegressor(epsilon=100.0))
    assert "the predictor is constant: at C=" in sentence
    assert "every residual is smaller than epsilon" in sentence
    assert not said(mk.L1MKLRegressor(epsilon=100.0), X, np.full(60, 3.0))


@pytest.mark.parametrize("model", [mk.EasyMKLClassifier(), mk.AverageMKLClassifier()])
def test_classes_of_other_lengths_are_said_where_kernels_see_directions_only(model):
    Z = X - X.mean(axis=0)
    far = (np.linalg.norm(Z, axis=1) > 2.0).astype(int)
    (sentence,) = said(model, Z, far)
    assert "the lengths of samples tell class" in sentence
    assert "give kernels.rbf_grid()" in sentence
    assert not said(model, Z, LABELS)
    assert not said(model, Z + 3.0, far)  # directions from elsewhere tell lengths, too
    assert not said(mk.L1MKLClassifier(), Z, far)
