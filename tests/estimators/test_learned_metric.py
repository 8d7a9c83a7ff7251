"""Estimators with a learned metric over the features, and the classes' weights of those with learned scales."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from cases import one_in
from multikernel import LearnedScalesClassifier, LearnedScalesRegressor, bind, kernels, load, save

mpl.use("Agg")
rng = np.random.default_rng(0)
X = rng.normal(size=(220, 4))
ALONG = np.array([0.6, -0.6, 0.5, 0.1]) / np.linalg.norm([0.6, -0.6, 0.5, 0.1])
y = np.sin(2.0 * X @ ALONG) + 0.1 * rng.normal(size=220)
TRAIN, TEST = slice(0, 140), slice(140, None)


@pytest.fixture(scope="module")
def full() -> LearnedScalesRegressor:
    return LearnedScalesRegressor(metric="full", penalty=1.0).fit(X[TRAIN], y[TRAIN])


def test_a_metric_finds_the_direction(full: LearnedScalesRegressor, tmp_path: Any) -> None:
    """Where scales of the features cannot; the learned kernel serves elsewhere, and the model is saved."""
    separate = LearnedScalesRegressor(penalty=1.0).fit(X[TRAIN], y[TRAIN])
    assert full.score(X[TEST], y[TEST]) > 0.85
    assert full.cv_loss_ < 0.5 * separate.cv_loss_
    values, V = np.linalg.eigh(full.metric_)
    assert abs(V[:, -1] @ ALONG) > 0.99
    assert values[0] > 0.0
    np.testing.assert_array_equal(full.scales_, np.diag(full.metric_))
    np.testing.assert_array_equal(full.metric_features_, np.arange(4))
    K = full.kernel_(X[TEST], X[TRAIN])
    np.testing.assert_allclose(K @ full.dual_coef_ + full.intercept_, full.predict(X[TEST]), rtol=1e-7, atol=1e-9)
    save(full, tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.predict(X[TEST]), full.predict(X[TEST]))
    np.testing.assert_array_equal(again.metric_, full.metric_)
    assert again.kernel_ == full.kernel_
    assert len(full.plot_scales().lines[0].get_xdata()) == 4
    full.set_params(metric="diagonal", max_iter=1, tol=10.0).fit(X[:30], y[:30])
    assert not hasattr(full, "metric_")


def test_a_metric_of_a_rank_has_it_in_any_unit() -> None:
    one = LearnedScalesRegressor(metric=1, penalty=1.0).fit(X[TRAIN], y[TRAIN])
    assert np.linalg.matrix_rank(one.metric_) == 1
    assert one.score(X[TEST], y[TEST]) > 0.9
    units = np.array([1e5, 1.0, 1e-5, 1e2])
    other = LearnedScalesRegressor(metric=1, penalty=1.0).fit(units * X[TRAIN] + units, 1e6 * y[TRAIN])
    np.testing.assert_allclose(other.predict(units * X[TEST] + units) / 1e6, one.predict(X[TEST]), atol=1e-5)


def test_metrics_of_several_kernels_targets_and_a_mixed_table() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = np.where(X[:, 3] > 0.0, "up", "down")
    frame.loc[3, "a"] = np.nan
    Y = np.column_stack([y, -y + (X[:, 3] > 0.0)])
    given = [kernels.RBF(), kernels.Matern(nu=2.5)]
    model = LearnedScalesRegressor(given, metric="full", penalty=3.0, max_iter=8, tol=1.0).fit(frame[TRAIN], Y[TRAIN])
    assert model.metric_.shape == (2, 8, 8)  # four numbers, two values and one for others, a missing number
    assert model.scales_.shape == (2, 5)
    np.testing.assert_array_equal(model.metric_features_, [0, 1, 2, 3, 4, 4, 4, 0])
    assert not hasattr(model, "kernel_")
    assert model.score(frame[TEST], Y[TEST]) > 0.8
    far = model.predict(frame[TEST].assign(a=1e200, b=-1e200))
    assert np.isfinite(far).all()
    shared = LearnedScalesRegressor(given, metric=2, shared_scales=True, penalty=3.0, max_iter=3, tol=10.0)
    assert shared.fit(X[TRAIN], y[TRAIN]).metric_.shape == (4, 4)
    K = shared.kernel_(X[TEST], X[TRAIN])
    np.testing.assert_allclose(K @ shared.dual_coef_ + shared.intercept_, shared.predict(X[TEST]), rtol=1e-7)


@pytest.mark.parametrize("metric", one_in(3, ["full", 1, 3, 9]))
def test_a_metric_of_few_constant_or_equal_samples(metric: Any) -> None:
    for samples in (X[:2], X[:3], np.ones((30, 2)), np.repeat(X[:5], 4, axis=0), X[:30, :1]):
        model = LearnedScalesRegressor(metric=metric, tol=100.0, max_iter=2).fit(samples, y[: len(samples)])
        assert np.isfinite(model.predict(samples)).all()
        assert np.isfinite(model.metric_).all()


def test_what_has_no_metric_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="metric='full' needs kernels of squared differences"):
        LearnedScalesRegressor(kernels.Laplacian(), metric="full").fit(X, y)
    with pytest.raises(ValueError, match=r"metric=2 needs .* groups=None"):
        LearnedScalesRegressor(metric=2, groups=[[0, 1]]).fit(X, y)
    with pytest.raises(ValueError, match="metric='full' needs samples"):
        LearnedScalesRegressor(metric="full").fit(bind(kernels.linear_features(), X).distances(), y)
    for bad in ("whole", 0, 1.5, None, True):
        with pytest.raises(ValueError, match="LearnedScalesRegressor: metric must be"):
            LearnedScalesRegressor(metric=bad).fit(X, y)


def test_weights_of_classes_multiply_those_of_samples() -> None:
    """A rare class is found more often where its errors count more."""
    labels = np.where(y > 0.6, "rare", "usual")
    plain, balanced, weighed = (
        LearnedScalesClassifier(penalty=3.0, max_iter=5, tol=1.0, class_weight=weight)
        for weight in (None, "balanced", {"rare": 3.0, "usual": 1.0})
    )
    for model in (plain, balanced):
        model.fit(X[TRAIN], labels[TRAIN])
    rare = labels[TEST] == "rare"
    assert (balanced.predict(X[TEST])[rare] == "rare").mean() > (plain.predict(X[TEST])[rare] == "rare").mean()
    counts = np.where(labels[TRAIN] == "rare", 3.0, 1.0)
    scores = plain.fit(X[TRAIN], labels[TRAIN], sample_weight=counts).decision_function(X[TEST])
    np.testing.assert_array_equal(weighed.fit(X[TRAIN], labels[TRAIN]).decision_function(X[TEST]), scores)
    with pytest.raises(ValueError, match="leave no sample of class usual"):
        LearnedScalesClassifier(class_weight={"rare": 1.0, "usual": 0.0}).fit(X[TRAIN], labels[TRAIN])
