"""Probabilities of classifiers: their values, what they cost, and what they leave behind."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import scale

import multikernel
from cases import one_in
from multikernel import (
    AverageMKLClassifier,
    BankSearchCV,
    BestKernelClassifier,
    EasyMKLClassifier,
    L1MKLClassifier,
    LearnedScalesClassifier,
    RLS2Classifier,
    bind,
    kernels,
)
from multikernel._folds import FOLDS
from multikernel.estimators.calibration import Isotonic, Sigmoid, stratified
from multikernel.estimators.multiclass import probabilities
from zoo_estimators import numbered

CLASSIFIERS = [name for name in multikernel.__all__ if name.endswith("Classifier") and "MultiKernel" not in name]
FEW = kernels.rbf_grid([0.03, 0.3])
SEARCHING = ("EasyMKLClassifier", "L1MKLClassifier")  # which choose a number, each in its way, before they calibrate


def three_classes(n=60):
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)[:n]
    return scale(X)[rows], np.array(["a", "b", "c"])[y[rows]]


def overlapping(n=200, seed=0):
    """Two classes whose true probabilities are known."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    true = expit(2.0 * X[:, 0] - X[:, 1])
    return X, (rng.random(n) < true).astype(int), true


@pytest.mark.parametrize(("kind", "name"), one_in(5, product(["platt", "isotonic"], CLASSIFIERS)))
def test_every_classifier_tells_probabilities(name, kind):
    model, (X, y) = getattr(multikernel, name)(probability=kind), three_classes()
    if name not in ("LearnedScalesClassifier", "LinearRLS2Classifier"):
        model.set_params(kernels=FEW)
    if name in ("BestKernelClassifier", "ProportionalMKLClassifier"):
        model.set_params(cv=2)
    if name == "TwoLayerClassifier":
        model.set_params(second="linear")
    if kind == "isotonic" or name not in SEARCHING:
        model = numbered(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.fit(X[:45], y[:45])
    P = model.predict_proba(X[45:])
    assert P.shape == (15, 3)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    assert (model.classes_[P.argmax(axis=1)] == y[45:]).mean() > 0.7
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X[45:])), P, atol=1e-12)
    np.testing.assert_array_equal(clone(model).fit(X[:45], y[:45]).predict_proba(X[45:]), P)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_without_probability_there_is_no_predict_proba(name):
    model = getattr(multikernel, name)()
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba([])
    assert "probability='platt'" in str(caught.value.__cause__)


def test_a_model_fitted_without_probability_has_to_be_fitted_again():
    X, y = three_classes()
    model = EasyMKLClassifier(FEW).fit(X, y).set_params(probability="platt")
    with pytest.raises(NotFittedError):
        model.predict_proba(X)


def test_an_unknown_kind_is_refused():
    X, y = three_classes()
    with pytest.raises(ValueError, match="probability must be"):
        EasyMKLClassifier(FEW, probability=True).fit(X, y)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_sigmoid_minimises_the_regularised_likelihood(weighted):
    """Against a general minimiser of Platt's loss, written out."""
    rng = np.random.default_rng(3)
    values, weight = rng.normal(size=80) * 50.0, rng.uniform(0.2, 3.0, 80) if weighted else np.ones(80)
    positive = rng.random(80) < expit(0.1 * values - 1.0)
    above, below = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))

    def loss(theta):
        p = np.clip(expit(theta[0] * values + theta[1]), 1e-300, 1 - 1e-16)
        return -weight @ (target * np.log(p) + (1 - target) * np.log(1 - p))

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000})
    found = Sigmoid.of(values, positive, weight)
    np.testing.assert_allclose([found.slope, found.offset], best.x, rtol=1e-5)


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        (np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1])),  # apart
        (np.zeros(5), np.array([0, 1, 1, 1, 1])),  # values that say nothing
        (np.array([1.0, 2.0, 3.0]), np.array([1, 1, 1])),  # one class
        (np.empty(0), np.empty(0)),
        (np.array([-1e300, 1e300]), np.array([0, 1])),
    ],
)
def test_the_sigmoid_of_degenerate_values_is_finite(values, positive):
    found = Sigmoid.of(values, positive > 0, np.ones(len(values)))
    assert np.isfinite([found.slope, found.offset]).all()
    p = found(values)
    assert ((p > 0) & (p < 1)).all()
    if len(np.unique(values)) == 1:  # then it is the mean of the targets (n+ + 1) / (n+ + 2) and 1 / (n- + 2)
        np.testing.assert_allclose(p, (4 * 5 / 6 + 1 / 3) / 5, rtol=1e-6)


def test_the_isotonic_function_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=50), rng.uniform(1, 2, 50)
    positive = rng.random(50) < expit(values)
    known = IsotonicRegression(out_of_bounds="clip").fit(values, positive, weight)
    new = np.linspace(-5, 5, 200)
    np.testing.assert_allclose(Isotonic.of(values, positive, weight)(new), known.predict(new), atol=1e-15)


def test_folds_hold_out_as_many_of_each_class_and_nobody_who_is_needed():
    labels, weight = np.array([0] * 9 + [1] * 6 + [2] + [3] * 2), np.ones(18)
    weight[0] = 0.0
    folds = stratified(labels, weight)
    assert folds[0] == -1  # counts for nothing
    assert folds[15] == -1  # the only one of its class
    for label, least in ((0, 1), (1, 1), (3, 0)):
        counts = np.bincount(folds[(labels == label) & (folds >= 0)], minlength=FOLDS)
        assert counts.max() - counts.min() <= 1
        assert counts.min() >= least
    assert len(np.unique(folds[16:])) == 2  # each is learned from where the other one is held out


def test_pairs_are_coupled_by_the_least_squares_of_wu_lin_and_weng():
    """Probabilities of consistent pairs are found again; others minimise the sum of squares over the simplex."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=20)
    first, second = np.triu_indices(4, 1)
    pairs = p[:, first] / (p[:, first] + p[:, second])
    np.testing.assert_allclose(probabilities(pairs, 4, "ovo"), p, atol=1e-9)
    r = rng.uniform(0.05, 0.95, size=6)
    found = probabilities(r[None, :], 4, "ovo")[0]

    def loss(q):
        return sum(((1 - r[k]) * q[i] - r[k] * q[j]) ** 2 for k, (i, j) in enumerate(zip(first, second, strict=True)))

    best = minimize(
        loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints={"type": "eq", "fun": lambda q: q.sum() - 1}
    )
    assert loss(found) <= best.fun + 1e-9
    np.testing.assert_allclose(found, best.x, atol=1e-3)


def test_classes_against_the_rest_that_all_are_impossible_are_equally_likely():
    np.testing.assert_allclose(
        probabilities(np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.5]]), 3, "ovr"), [[1 / 3] * 3, [0.5, 0, 0.5]]
    )


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_values_are_those_of_models_that_have_not_seen_the_sample(multiclass):
    """The sigmoid of each problem, from models fitted by themselves on the samples of the other folds."""
    X, y = three_classes()
    model = RLS2Classifier(FEW, alpha=0.1, multiclass=multiclass, tol=1e-9, probability="platt").fit(X, y)
    folds = stratified(np.unique(y, return_inverse=True)[1], np.ones(len(y)))
    values = np.empty((len(y), 3))
    for fold in range(FOLDS):
        other = clone(model).set_params(probability=None).fit(X[folds != fold], y[folds != fold])
        values[folds == fold] = other._values(X[folds == fold])
    pairs = [("a", "b"), ("a", "c"), ("b", "c")] if multiclass == "ovo" else [(c, None) for c in "abc"]
    for own, (label, against), found in zip(values.T, pairs, model.calibrators_, strict=True):
        rows = np.isin(y, [label, against]) if against else np.ones(len(y), dtype=bool)
        wanted = Sigmoid.of(own[rows], y[rows] == label, np.ones(rows.sum()))
        np.testing.assert_allclose([found.slope, found.offset], [wanted.slope, wanted.offset], rtol=0.05)


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_probabilities_come_near_the_true_ones(kind):
    X, y, _ = overlapping(400)
    new, _, true = overlapping(1000, seed=1)
    P = L1MKLClassifier([kernels.Linear(), kernels.RBF(0.1)], probability=kind).fit(X, y).predict_proba(new)[:, 1]
    assert np.abs(P - true).mean() < (0.07 if kind == "platt" else 0.09)


def test_the_brier_score_is_no_worse_than_that_of_models_calibrated_one_by_one():
    X, y = load_breast_cancer(return_X_y=True)
    X, model = scale(X), L1MKLClassifier(FEW, C=10)
    ours = clone(model).set_params(probability="platt").fit(X[::2], y[::2]).predict_proba(X[1::2])[:, 1]
    theirs = CalibratedClassifierCV(model, cv=5).fit(X[::2], y[::2]).predict_proba(X[1::2])[:, 1]
    assert brier_score_loss(y[1::2], ours) < 1.1 * brier_score_loss(y[1::2], theirs)


def test_weights_of_samples_count_in_the_calibration():
    """A sample of weight 2 is like two of them; one of weight 0 is not there."""
    X, y, _ = overlapping(120)
    weight = np.r_[np.zeros(20), np.full(100, 2.0)]
    model = AverageMKLClassifier(FEW, probability="platt")
    weighted = clone(model).fit(X, y, weight)
    folds = stratified(y, weight)
    assert (folds[:20] == -1).all()
    values = weighted.decision_function(X)
    assert 0.2 < np.abs(weighted.predict_proba(X)[:, 1] - y).mean() < 0.5
    assert np.ptp(values) > 0
    twice = Sigmoid.of(np.repeat(values, 2), np.repeat(y > 0, 2), np.ones(240))
    once = Sigmoid.of(values, y > 0, np.full(120, 2.0))
    np.testing.assert_allclose([once.slope, once.offset], [twice.slope, twice.offset], rtol=1e-9)


@pytest.mark.parametrize("y", [["a"] * 20 + ["b"] * 20 + ["c"], ["a"] * 40 + ["b"], ["a"] * 39 + ["b"] * 2])
def test_classes_of_one_or_two_samples(y):
    X = np.random.default_rng(0).normal(size=(41, 3))
    for kind in ("platt", "isotonic"):
        P = AverageMKLClassifier(FEW, probability=kind).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)


def test_folds_given_for_the_whole_sample_are_those_of_the_training_samples():
    X, y = three_classes()
    cv = [(np.flatnonzero(np.arange(60) % 3 != f), np.flatnonzero(np.arange(60) % 3 == f)) for f in range(3)]
    for model in (BestKernelClassifier(FEW, cv=cv), LearnedScalesClassifier(cv=cv)):
        assert model.set_params(probability="platt").fit(X, y).predict_proba(X).shape == (60, 3)


def test_models_of_shuffled_folds_start_from_that_of_all_samples(monkeypatch):
    X, y, _ = overlapping(40)
    starts, fit_bank = [], L1MKLClassifier.fit_bank

    def watched(self, bank, target, earlier=(), *given, **named):
        starts.extend(earlier)
        return fit_bank(self, bank, target, earlier, *given, **named)

    monkeypatch.setattr(L1MKLClassifier, "fit_bank", watched)
    L1MKLClassifier(FEW, probability="platt", cv=ShuffleSplit(2, random_state=0)).fit(X, y)
    assert len(starts) == 2
    for start in starts:
        np.testing.assert_array_equal(start.rows, np.arange(36))


def test_saved_and_loaded_with_the_model(tmp_path):
    X, y = load_wine(return_X_y=True)
    for kind in ("platt", "isotonic"):
        model = EasyMKLClassifier(FEW, probability=kind, multiclass="ovo").fit(scale(X), y)
        multikernel.save(model, tmp_path / "model.mk")
        again = multikernel.load(tmp_path / "model.mk")
        np.testing.assert_array_equal(again.predict_proba(scale(X)), model.predict_proba(scale(X)))


def test_banks_and_precomputed_matrices_give_the_same_probabilities():
    X, y = three_classes()
    model = EasyMKLClassifier(FEW, probability="platt")
    P = clone(model).fit(X[:45], y[:45]).predict_proba(X[45:])
    bank = bind(FEW, X)
    some, others = np.arange(45), np.arange(45, 60)
    on_bank = clone(model).fit(bank[some, some], y[:45]).predict_proba(bank[others, some])
    np.testing.assert_allclose(on_bank, P, atol=1e-3)  # models of folds stop early
    K = bank.matrices()
    given = clone(model).set_params(kernels="precomputed").fit(K[:, :45, :45], y[:45]).predict_proba(K[:, 45:, :45])
    np.testing.assert_allclose(given, on_bank, atol=1e-9)


def test_centred_kernels_are_centred_for_each_fold():
    X, y = three_classes()
    centred = [kernel.centered() for kernel in FEW]
    P = EasyMKLClassifier(centred, probability="platt").fit(X, y).predict_proba(X)
    assert (np.array(["a", "b", "c"])[P.argmax(axis=1)] == y).mean() > 0.8


def test_a_search_scores_by_probabilities():
    X, y = three_classes()
    grid = {"lam": [0.01, 0.5]}
    search = BankSearchCV(EasyMKLClassifier(FEW, probability="platt"), grid, cv=3, scoring="neg_log_loss").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict_proba(X).shape == (60, 3)
    assert not hasattr(BankSearchCV(EasyMKLClassifier(FEW), grid), "predict_proba")
