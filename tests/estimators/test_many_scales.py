"""Scales learned on many samples through few of them, and ridge regression on centres with these."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold

from cases import one_in
from multikernel import (
    LearnedScalesClassifier,
    LearnedScalesRegressor,
    PredictionWarning,
    bind,
    kernels,
    load,
    save,
    streams,
)
from multikernel.estimators.scales import method
from multikernel.procedures import centres
from multikernel.procedures.learned_scales import many_samples, trained


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Few samples are many, so that tests are fast."""
    monkeypatch.setattr(many_samples, "ALL_SAMPLES", 200)
    monkeypatch.setattr(centres, "REFINED", 500)
    monkeypatch.setattr(centres, "LANDMARKS", 60)
    monkeypatch.setattr(method, "MANY", 400)


def regression(n=900, seed=0):
    return make_friedman1(n, 8, noise=0.5, random_state=seed)


def regressor(**parameters):
    return LearnedScalesRegressor(**({"approximation": "nystroem", "rank": 120, "penalty": 3.0} | parameters))


def classifier(**parameters):
    return LearnedScalesClassifier(**({"approximation": "nystroem", "rank": 120} | parameters))


def classes(n, count):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    value = np.sin(2.0 * X[:, 0]) + X[:, 1]
    return X, np.array(["low", "middle", "high"])[np.digitize(value, [0.0] if count == 2 else [-0.5, 0.5])]


def solution(model, X, Y, weight=None):
    """Ridge regression on the centres with the model's scales and ridge, by least squares of the stacked system."""
    s = np.ones(len(X)) if weight is None else weight
    Y = Y.reshape(len(X), -1)
    mean = np.average(Y, axis=0, weights=s) if model.fit_intercept else np.zeros(Y.shape[1])
    Z = X[model.centres_]
    C, K = model.kernel_(X, Z), model.kernel_(Z, Z)
    values, V = np.linalg.eigh(0.5 * (K + K.T))
    half = np.sqrt(model.alpha_ * np.maximum(values, 0.0))[:, None] * V.T
    left = np.vstack([np.sqrt(s)[:, None] * C, half])
    right = np.vstack([np.sqrt(s)[:, None] * (Y - mean), np.zeros((len(K), Y.shape[1]))])
    coef = np.linalg.lstsq(left, right, rcond=1e-13)[0]
    return lambda new: model.kernel_(new, Z) @ coef + mean


@pytest.mark.crossed
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [kernels.Matern(), kernels.Laplacian()], ids=repr)
def test_the_answer_is_the_ridge_regression_on_its_centres(kernel, weighted):
    X, y = regression(1400)
    weight = np.random.default_rng(0).uniform(0.0, 2.0, 900) if weighted else None
    model = regressor(kernels=kernel, fit_intercept=not weighted).fit(X[:900], y[:900], sample_weight=weight)
    assert model.score(X[900:], y[900:]) > 0.93
    expected = solution(model, X[:900], y[:900], weight)(X[900:])[:, 0]
    np.testing.assert_allclose(model.predict(X[900:]), expected, atol=0.01 * y.std())
    assert model.certificate_.kind == "duality gap"
    assert model.duality_gap_ <= 1e-3
    assert model.converged_
    assert len(model.centres_) == 120
    assert not np.delete(model.dual_coef_, model.centres_).any()
    assert model.relative_scales_[:5].mean() > 10.0 * model.relative_scales_[5:].mean()
    assert model.landmark_stationarity_ < 0.5


def test_the_duality_gap_bounds_the_distance_from_the_optimum():
    X, y = regression()
    model = regressor().fit(X, y)
    values = np.linalg.norm(y - solution(model, X, y)(X)[:, 0]) ** 2
    own = np.linalg.norm(y - model.predict(X)) ** 2
    assert abs(own - values) <= 0.02 * values


def test_the_error_of_the_kernel_matrix_is_estimated():
    X, y = regression()
    model = regressor(rank=60, kernels=kernels.Laplacian()).fit(X, y)
    Z = X[model.centres_]
    K, C = model.kernel_(X, X), model.kernel_(X, Z)
    true = np.linalg.norm(K - C @ np.linalg.solve(model.kernel_(Z, Z), C.T)) / np.linalg.norm(K)
    assert model.approximation_error_.shape == (1,)
    assert model.approximation_error_[0] == pytest.approx(true, rel=0.2)


def test_a_rank_below_one_is_the_error_that_is_allowed(monkeypatch):
    X, y = regression()
    monkeypatch.setattr(trained, "_LEAST_CENTRES", 10)
    loose, close = (regressor(rank=error, kernels=kernels.Laplacian()).fit(X, y) for error in (0.2, 0.05))
    assert loose.approximation_error_[0] <= 0.2
    assert close.approximation_error_[0] <= 0.05
    assert len(loose.centres_) < len(close.centres_) <= 900
    monkeypatch.setattr(trained.forecast, "centres_within", lambda numbers: 40)
    with pytest.warns(PredictionWarning, match="more centres than the memory holds: 40 are used"):
        regressor(rank=0.001, kernels=kernels.Laplacian()).fit(X, y)


@pytest.mark.study
def test_more_samples_are_never_worse():
    X, y = make_friedman1(6000, 10, noise=1.0, random_state=0)
    scores = [regressor(rank=300).fit(X[:n], y[:n]).score(X[4000:], y[4000:]) for n in (500, 1000, 2000, 4000)]
    assert (np.diff(scores) > -0.005).all()
    assert scores[-1] > scores[0] + 0.005


@pytest.mark.parametrize("count", one_in(2, [2, 3]))
def test_a_classifier(count, tmp_path):
    X, y = classes(1200, count)
    model = classifier(class_weight="balanced").fit(X[:800], y[:800])
    assert model.score(X[800:], y[800:]) > 0.9
    assert model.decision_function(X[800:]).shape == ((400,) if count == 2 else (400, 3))
    save(model, tmp_path / "model.mk")
    assert np.array_equal(load(tmp_path / "model.mk").decision_function(X), model.decision_function(X))
    again = clone(model).fit(X[:800], y[:800])
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("count", one_in(2, [3, 2]))
def test_logistic_losses_have_probabilities_of_their_own(count, tmp_path, monkeypatch):
    X, y = classes(1400, count)
    monkeypatch.setattr(trained, "GAP", 1e-7)
    model = classifier(loss="logistic", class_weight={"middle": 2.0}).fit(X[:900], y[:900])
    assert model.score(X[900:], y[900:]) > 0.93
    said = model.predict_proba(X[900:])
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
    assert -np.log(said[np.arange(500), np.searchsorted(model.classes_, y[900:])]).mean() < 0.25
    # the derivative of the weighted losses in the coefficients is alpha K a
    Z = X[model.centres_]
    C, K = model.kernel_(X[:900], Z), model.kernel_(Z, Z)
    signs = np.where(y[:900, None] == model.classes_, 1.0, -1.0)[:, 1 if count == 2 else 0 :]
    weight = np.where(y[:900] == "middle", 2.0, 1.0)[:, None]
    values = model.decision_function(X[:900]).reshape(900, -1)
    slope = C.T @ (weight * signs / (1.0 + np.exp(signs * values)))
    coef = np.atleast_2d(model.dual_coef_)[:, model.centres_].T
    assert np.linalg.norm(slope - model.alpha_ * K @ coef) < 0.02 * np.linalg.norm(slope)
    assert 0.0 < model.cv_loss_ < 0.5 * model.cv_loss_constant_
    assert model.duality_gap_ <= 1e-7
    save(model, tmp_path / "model.mk")
    assert np.array_equal(load(tmp_path / "model.mk").predict_proba(X), model.predict_proba(X))
    monkeypatch.setattr(trained, "available_memory", lambda: 0.0)  # the kernel is made anew in every pass
    again = clone(model).fit(X[:900], y[:900])
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-4)


def test_what_logistic_losses_cannot_have():
    X, y = classes(450, 2)
    with pytest.raises(ValueError, match="on the kernels of centres"):
        classifier(loss="logistic", approximation=None).fit(X, y)
    with pytest.raises(ValueError, match="need no calibration"):
        classifier(loss="logistic", probability="platt").fit(X, y)
    with pytest.raises(ValueError, match="passes over the rows a hundred times"):
        classifier(loss="logistic").fit(streams.arrays(X, y))
    few = classifier(loss="logistic", approximation="auto").fit(X[:300], y[:300])
    assert few.predict_proba(X).shape == (450, 2)
    assert not hasattr(classifier(), "predict_proba")


@pytest.mark.study
def test_probabilities_are_calibrated_on_held_out_samples():
    X, y = classes(1000, 2)
    model = classifier(probability="platt", rank=60).fit(X[:600], y[:600])
    said = model.predict_proba(X[600:])
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
    assert np.mean(said.max(axis=1)) == pytest.approx(model.score(X[600:], y[600:]), abs=0.06)


def test_several_targets_share_the_scales():
    X, y = regression(700)
    model = regressor().fit(X, np.column_stack([y, 1e6 * X[:, 5]]))
    assert model.dual_coef_.shape == (2, 700)
    expected = solution(model, X, np.column_stack([y, 1e6 * X[:, 5]]))(X)
    np.testing.assert_allclose(model.predict(X) / [1.0, 1e6], expected / [1.0, 1e6], atol=0.2)


@pytest.mark.study
def test_other_units_give_the_same_predictions():
    X, y = regression(700)
    model = regressor().fit(X, y)
    factors = 2.0 ** np.arange(-20.0, 20.0, 5.0)
    other = regressor().fit(factors * X, 2.0**300 * y)
    np.testing.assert_allclose(other.predict(factors * X) / 2.0**300, model.predict(X), rtol=1e-6)
    far = regressor().fit(1e-3 * X + 1e5, y)  # rounding decides which of many equally good scales are found
    assert far.cv_loss_ == pytest.approx(model.cv_loss_, rel=0.3)


def test_strings_missing_cells_and_outliers():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 900)
    X = pd.DataFrame({"a": rng.normal(size=900), "b": rng.normal(size=900), "colour": colour, "same": 1.0})
    X.loc[::7, "a"] = np.nan
    X.loc[3, "b"] = 1e4
    y = np.where(colour == "red", X["b"].clip(-9, 9), -X["b"].clip(-9, 9)) + 0.1 * rng.normal(size=900)
    with pytest.warns(PredictionWarning, match="is 1e.04 in row 3"):
        model = regressor(rank=200).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.9
    assert model.relative_scales_[3] == 0.0
    assert np.isfinite(model.predict(X)).all()


def test_a_metric_through_landmarks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6))
    along = np.array([1.0, -1.0, 0.5, 0.0, 0.0, 0.0]) / 1.5
    y = np.sin(2.0 * X @ along) + 0.1 * rng.normal(size=1200)
    for metric in ("full", 1):
        model = regressor(metric=metric, rank=200).fit(X[:800], y[:800])
        assert model.score(X[800:], y[800:]) > 0.93
        first = np.linalg.eigh(model.metric_)[1][:, -1]
        assert abs(first @ along) > 0.99
        np.testing.assert_allclose(
            model.predict(X[:20]), model.kernel_(X[:20], X[:800]) @ model.dual_coef_ + model.intercept_, rtol=1e-8
        )


def test_groups_are_held_out_whole_and_samples_of_no_weight_take_no_part(monkeypatch):
    X, y = regression(600)
    parts = []
    of = centres.Parted.of
    monkeypatch.setattr(many_samples.Parted, "of", lambda *given: parts.append(of(*given)) or parts[-1])
    groups = np.repeat(np.arange(60), 10)
    regressor().fit(X, y, groups=groups)
    out = np.append(parts[0].compared, parts[0].rest)
    assert not set(groups[parts[0].learning]) & set(groups[out])
    assert regressor(cv=GroupKFold(2)).fit(X, y, groups=groups).score(X, y) > 0.9
    weight = np.repeat([1.0, 0.0], 300)
    model = regressor().fit(X, np.where(weight > 0, y, 1e5), sample_weight=weight)
    assert model.score(X, y) > 0.85
    assert model.centres_.max() < 300


def test_auto_has_all_samples_as_long_as_they_are_few():
    X, y = regression(500)
    few = regressor(approximation="auto").fit(X[:400], y[:400])
    assert few.certificate_.kind == "stationarity"
    assert not hasattr(few, "centres_")
    assert few.predict(X[400:], return_std=True)[1].shape == (100,)
    many = few.fit(X, y)
    assert many.certificate_.kind == "duality gap"
    two = regressor(approximation="auto", kernels=[kernels.RBF(), kernels.Matern()]).fit(X, y)
    assert two.certificate_.kind == "stationarity"


def test_what_is_refused():
    X, y = regression(500)
    with pytest.raises(ValueError, match="one kernel, got 2 kernels: give one of them"):
        regressor(kernels=[kernels.RBF(), kernels.Matern()]).fit(X, y)
    distances = bind(kernels.per_feature(kernels.RBF(1.0)), X).distances()
    with pytest.raises(ValueError, match="a bank of distances has none: give samples"):
        regressor().fit(distances, y)
    assert regressor(approximation="auto").fit(distances, y).certificate_.kind == "stationarity"
    model = regressor().fit(X, y)
    with pytest.raises(ValueError, match="fit one with approximation=None"):
        model.predict(X, return_std=True)
    with pytest.raises(ValueError, match="fit one with approximation=None"):
        _ = model.degrees_of_freedom_
    assert not hasattr(model, "degrees_of_freedom_")
    with pytest.raises(ValueError, match="approximation"):
        regressor(approximation="fourier").fit(X, y)
    with pytest.raises(ValueError, match="rank"):
        regressor(rank=0).fit(X, y)


def test_a_limit_of_time_takes_fewer_centres_and_says_so():
    X, y = regression(900)
    with pytest.warns(ConvergenceWarning, match="time_budget"):
        model = regressor(time_budget=1e-6, rank=800).fit(X, y)
    assert len(model.centres_) == 100
    assert np.isfinite(model.predict(X)).all()


def test_a_descent_that_max_iter_ends_says_so():
    X, y = regression(600)
    with pytest.warns(ConvergenceWarning, match="ended by max_iter=1"):
        regressor(max_iter=1, penalty=1.0).fit(X, y)


def test_a_fit_that_memory_does_not_allow_is_refused(monkeypatch):
    X = np.zeros((30_000, 3))
    monkeypatch.setattr("multikernel._memory.available_memory", lambda *_: 2e9)
    with pytest.raises(MemoryError, match="approximation='nystroem'"):
        regressor(approximation=None).fit(X, X[:, 0])
    told = regressor(rank=2000).forecast(X, X[:, 0])
    assert told.fits
    assert not regressor(rank=20_000).forecast(X, X[:, 0]).fits


def test_constant_targets_and_features():
    X, y = regression(500)
    far = regressor().fit(X, y + 1e9)
    assert far.score(X, y + 1e9) == pytest.approx(regressor().fit(X, y).score(X, y), abs=0.01)
    assert np.allclose(regressor().fit(X, np.full(500, 3.0)).predict(X), 3.0)
    for metric in ("diagonal", "full", 1):
        model = regressor(metric=metric).fit(np.ones((500, 2)), y)
        np.testing.assert_allclose(model.predict(np.ones((3, 2))), y.mean(), rtol=1e-3)


def test_rows_that_are_the_same_and_weights_of_any_size():
    X, y = regression(400)
    same = regressor().fit(np.tile(X[:3], (100, 1)), np.tile(y[:3], 100))
    np.testing.assert_allclose(same.predict(X[:3]), y[:3], rtol=1e-3)
    assert len(same.centres_) == 3
    one, other = (regressor().fit(X, y, sample_weight=np.full(400, w)) for w in (1.0, 2.0**500))
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-6)
    assert other.alpha_ == pytest.approx(2.0**500 * one.alpha_)


@pytest.mark.parametrize("weighted", one_in(2, [False, True]))
def test_with_every_sample_a_centre_the_kernel_of_all_is_solved_for(weighted, monkeypatch):
    X, y = regression(700)
    X[600:], y[600:] = X[:100], y[:100]  # samples that are the same
    weight = np.random.default_rng(0).integers(0, 3, 700).astype(float) if weighted else np.ones(700)
    model = regressor(rank=700, metric="full" if weighted else "diagonal")
    model.fit(X, y, sample_weight=weight if weighted else None)
    rows = np.flatnonzero(weight)
    mean = np.average(y, weights=weight)
    K = model.kernel_(X[rows], X[rows])
    coef = np.linalg.solve(K + np.diag(model.alpha_ / weight[rows]), y[rows] - mean)
    np.testing.assert_allclose(model.predict(X), model.kernel_(X, X[rows]) @ coef + mean, atol=0.02 * y.std())
    assert model.duality_gap_ <= 1e-3
    assert np.array_equal(model.centres_, rows)
    assert model.approximation_error_[0] == 0.0
    assert model.cv_loss_ < 0.1 * model.cv_loss_constant_
    monkeypatch.setattr("multikernel._memory.available_memory", lambda *_: 4e9)
    assert regressor(rank=40_000).forecast(np.zeros((40_000, 3)), np.zeros(40_000)).fits
    assert not regressor(rank=60_000).forecast(np.zeros((60_000, 3)), np.zeros(60_000)).fits


@pytest.mark.study
def test_several_targets_and_classes_with_every_sample_a_centre():
    X, y = classes(500, 3)
    assert classifier(rank=400).fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.85
    Y = np.stack([X[:, 0], X[:, 1] ** 2], axis=1)
    assert regressor(rank=1000).fit(X[:400], Y[:400]).score(X[400:], Y[400:]) > 0.9
