"""Regularisation given as "auto": it predicts, is told, and does not depend on units or on the order of samples."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from cases import one_in
from multikernel import bind, kernels
from multikernel.estimators.search import FullFits, Samples, search_folds

FEW = kernels.rbf_grid([0.01, 0.1, 1.0])
CHOOSE = {  # estimators with a parameter that is chosen, small enough to be fitted many times
    "alpha": (
        mk.RLS2Regressor(FEW),
        mk.RLS2Classifier(FEW),
        mk.LinearRLS2Regressor(),
        mk.LinearRLS2Classifier(),
        mk.PolynomialMKLRegressor(),
        mk.PolynomialMKLClassifier(),
        mk.AverageMKLRegressor(FEW),
        mk.AlignmentMKLRegressor(FEW),
        mk.BestKernelRegressor(FEW, random_state=0),
        mk.ProportionalMKLRegressor(FEW, random_state=0),
        mk.GMKLRegressor(FEW),
    ),
    "C": (
        mk.AverageMKLClassifier(FEW),
        mk.AlignmentMKLClassifier(FEW),
        mk.BestKernelClassifier(FEW, random_state=0),
        mk.ProportionalMKLClassifier(FEW, random_state=0),
        mk.L1MKLClassifier(FEW, C="auto"),
        mk.LpMKLClassifier(FEW, C="auto"),
        mk.SMKLClassifier(FEW, C="auto"),
        mk.GMKLClassifier(FEW, C="auto"),
        mk.L1MKLRegressor(FEW),
        mk.GMKLSupportRegressor(FEW),
        mk.SMKLRegressor(FEW),
        mk.LpMKLRegressor(FEW),
        mk.HKLClassifier(FEW, C="auto"),
        mk.HKLRegressor(FEW, C="auto"),
        mk.EasyMKLClassifier(FEW, lam=0.1, learner="svc", C="auto"),
    ),
    "lam": (mk.EasyMKLClassifier(FEW), mk.AverageMKLClassifier(FEW, learner="margin", lam="auto")),
}
ALL = [(model, name) for name, models in CHOOSE.items() for model in models]
RIDGES = [(model, name) for model, name in ALL if name == "alpha" and hasattr(model, "alpha")]


def called(model):
    return None if isinstance(model, str) else type(model).__name__


def named(case):
    return f"{called(case[0])}-{case[1]}" if isinstance(case, tuple) else None


def sample(model, n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, (y > 0).astype(int) if hasattr(model, "predict_proba") or "Classifier" in type(model).__name__ else y


@cache
def chosen(model):
    """The fit with the number that it chooses, for all tests."""
    return clone(model).fit(*sample(model))


@pytest.mark.parametrize("case", one_in(2, ((case,) for case in ALL)), ids=named)
def test_a_fit_with_the_number_that_was_chosen_is_the_same_fit(case):
    model, name = case
    X, y = sample(model)
    found = chosen(model)
    number = getattr(found, f"{name}_")
    assert isinstance(number, float)
    assert getattr(found, name) == "auto"
    rules = {each: getattr(found, f"{each}_") for each in ("epsilon", "penalty") if hasattr(found, f"{each}_")}
    given = clone(model).set_params(**{name: number}, **rules).fit(X, y)
    assert np.array_equal(given.predict(X), found.predict(X))


@pytest.mark.parametrize(("model", "name"), one_in(3, ALL), ids=called)
def test_the_choice_does_not_follow_the_order_of_the_samples(model, name):
    if isinstance(model, mk.ProportionalMKLRegressor | mk.ProportionalMKLClassifier):
        pytest.skip("the folds on which the kernels are tried alone follow the order")
    X, y = sample(model)
    order = np.random.default_rng(1).permutation(len(y))
    one, other = chosen(model), clone(model).fit(X[order], y[order])
    assert getattr(other, f"{name}_") == pytest.approx(getattr(one, f"{name}_"))


@pytest.mark.parametrize("model", one_in(2, (model for model, _ in ALL if "Regressor" in called(model))), ids=called)
def test_the_choice_follows_the_unit_of_the_target(model):
    X, y = sample(model)
    one, other = chosen(model).predict(X), clone(model).fit(X, 1e3 * y).predict(X)
    assert other == pytest.approx(1e3 * one, abs=1e-2 * 1e3 * y.std())


@pytest.mark.parametrize(("case", "factor"), one_in(11, product(ALL, [1e-3, 1e4])), ids=named)
def test_the_choice_follows_the_size_of_the_kernels(case, factor):
    model, _ = case
    if isinstance(model, mk.GMKLClassifier | mk.HKLClassifier | mk.HKLRegressor) or model.kernels is None:
        pytest.skip("weights without a bound, or products, have their own units")
    X, y = sample(model)
    scaled = clone(model).set_params(kernels=[factor * kernel for kernel in FEW])
    one, other = chosen(model), scaled.fit(X, y)
    assert np.mean(np.abs(other.predict(X) - one.predict(X)) > 1e-2 * np.std(y)) < 0.05


def test_defaults_of_two_layers_separate_classes_on_features_as_they_come():
    """With alpha=1 they found 64 % of labels on data like these."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(240, 10))
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 > 0.6).astype(int)
    assert mk.RLS2Classifier().fit(X[:120], y[:120]).score(X[120:], y[120:]) > 0.9
    assert mk.RLS2Classifier(alpha=1.0).fit(X[:120], y[:120]).score(X[120:], y[120:]) < 0.85


@pytest.mark.parametrize(
    "model",
    one_in(
        3,
        [
            mk.AverageMKLRegressor(),
            mk.AlignmentMKLRegressor(),
            mk.GMKLRegressor(),
            mk.RLS2Regressor(FEW),
            mk.LinearRLS2Regressor(),
            mk.L1MKLRegressor(),
            mk.LpMKLRegressor(),
        ],
    ),
    ids=lambda model: type(model).__name__,
)
def test_defaults_of_regressors_explain_diabetes(model):
    """Alpha=1, C=1 and penalty=1 gave R^2 from -3.4 to 0.3; what can be had is 0.5."""
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    A, B, y, z = train_test_split(X, y, test_size=0.5, random_state=0)
    assert model.fit(A[:150], y[:150]).score(B, z) > 0.42


@pytest.mark.parametrize("model", [mk.LinearRLS2Regressor(), mk.L1MKLRegressor(FEW), mk.LinearRLS2Classifier()])
def test_a_choice_takes_few_fits(model, monkeypatch):
    tried, errors = [], FullFits.errors
    monkeypatch.setattr(FullFits, "errors", lambda fold, index: tried.append(index) or errors(fold, index))
    model.fit(*sample(model, 100))
    assert len(set(tried)) <= 6
    assert len(tried) == 3 * len(set(tried))  # a candidate is tried once on each of three folds


def test_more_samples_than_choose_share_the_choice():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = mk.AverageMKLClassifier(kernels.rbf_grid([0.01])).fit(X, y)
    assert model.score(X, y) > 0.97
    assert 0.1 < model.C_ < 1e3


@pytest.mark.parametrize("rare", [2, 3, 7])
def test_a_rare_class_is_in_every_fold(rare):
    n = 1200
    y = np.zeros(n, dtype=int)
    y[np.random.default_rng(1).permutation(n)[:rare]] = 1
    X = np.random.default_rng(0).normal(size=(n, 2))
    whole = Samples(bind([kernels.Linear()], X), y, None)
    folds = [(train.target, test.target) for train, test in search_folds(whole, classes=True)]
    assert len(folds) == min(rare, 3)
    assert all(train.any() and test.sum() == 1 for train, test in folds)
    assert sum(len(test) for _, test in folds) < 500


def test_a_choice_that_no_candidate_could_be_fitted_for_is_said(monkeypatch):
    X, y = sample(mk.RLS2Regressor(), 30)
    monkeypatch.setattr(FullFits, "errors", lambda fold, index: float("inf"))
    with pytest.warns(
        mk.PredictionWarning, match="no candidate for alpha='auto' could be fitted to a part of the samples"
    ):
        mk.RLS2Regressor(FEW).fit(X, y)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_samples_take_the_value_in_the_middle(n):
    X, y = sample(mk.RLS2Regressor(), n)
    assert np.isfinite(mk.AverageMKLRegressor(FEW).fit(X, y).alpha_)
    assert np.isfinite(mk.AverageMKLClassifier(FEW).fit(X, np.arange(n) % 2).C_)


def test_a_search_may_compare_auto_with_numbers():
    X, y = sample(mk.AverageMKLRegressor())
    search = mk.BankSearchCV(mk.AverageMKLRegressor(FEW), {"alpha": ["auto", 1e6]}, cv=3).fit(X, y)
    assert search.best_params_ == {"alpha": "auto"}


def test_other_words_than_auto_are_refused():
    X, y = sample(mk.RLS2Regressor())
    with pytest.raises(ValueError, match="alpha must be a finite number > 0 or 'auto', got 'best'"):
        mk.RLS2Regressor(alpha="best").fit(X, y)
