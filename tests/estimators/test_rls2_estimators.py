"""RLS2 estimators: what is fitted is what was promised, on samples, banks, paths, searches and disk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris

import multikernel
import reference as ref
from multikernel import BankSearchCV, RLS2Classifier, RLS2Regressor, bind, kernels, path

Array = Any
RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 3))
NEW = RNG.normal(size=(15, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=60) + 4.0
LABELS = np.where(np.median(Y) < Y, "high", "low")
FAMILY = kernels.rls2_basis()
BANK = bind(FAMILY, X)
K, NEW_K = BANK.matrices(), BANK.cross(NEW).matrices()
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS, SPECIES = IRIS[::2], SPECIES[::2]


def predicted(K: Array, d: Array, s: Array, coef: Array, intercept: Any) -> Array:
    """sum_k d_k s_k K_k coef + intercept."""
    return ref.combine(K, d * s) @ coef.T + intercept


def test_regressor():
    model = RLS2Regressor(alpha=1e-2).fit(X, Y)
    assert model.weights_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.scaling_, 1.0 / ref.traces(K))
    R = ref.combine(K, model.weights_ * model.scaling_)
    y = Y - Y.mean()
    assert model.objective_ == pytest.approx(0.5 * 1e-2 * y @ np.linalg.solve(R + 1e-2 * np.eye(60), y))
    assert 0 <= model.duality_gap_ <= 1e-4
    expected = predicted(NEW_K, model.weights_, model.scaling_, model.dual_coef_, Y.mean())
    np.testing.assert_allclose(model.predict(NEW), expected)
    np.testing.assert_allclose(model.predict(BANK.cross(NEW)), expected)


def test_several_targets_share_the_weights():
    targets = np.column_stack([Y, X[:, 2] ** 2])
    model = RLS2Regressor(alpha=1e-2, tol=1e-6).fit(X, targets)
    assert model.weights_.shape == model.scaling_.shape == (len(BANK),)
    assert model.dual_coef_.shape == (2, 60)
    expected = predicted(NEW_K, model.weights_, model.scaling_, model.dual_coef_, targets.mean(axis=0))
    np.testing.assert_allclose(model.predict(NEW), expected)
    one = RLS2Regressor(alpha=1e-2, tol=1e-6).fit(X, Y)
    twice = RLS2Regressor(alpha=1e-2, tol=1e-6).fit(X, np.column_stack([Y, Y]))
    assert twice.objective_ == pytest.approx(2.0 * one.objective_, rel=1e-5)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("scaling", ["trace", "fisher", "none"])
def test_classifier(multiclass, scaling):
    """Scores of every problem by the formula, with scaling factors of its own."""
    model = RLS2Classifier(alpha=1e-2, scaling=scaling, multiclass=multiclass).fit(IRIS, SPECIES)
    assert model.weights_.shape == model.scaling_.shape == (3, 13 * 5)
    matrices = bind(FAMILY, IRIS).matrices()
    values = np.column_stack(
        [
            predicted(matrices, *each)
            for each in zip(model.weights_, model.scaling_, model.dual_coef_, model.intercept_, strict=True)
        ]
    )
    np.testing.assert_allclose(model.predictor_.at(lambda: model.banks(IRIS)), values, atol=1e-9)
    assert model.score(IRIS, SPECIES) > 0.9
    assert model.duality_gap_ <= 1e-4


def test_transductive_scaling():
    model = RLS2Regressor(alpha=1e-2, scaling="transductive").fit(X, Y, unlabeled=NEW)
    whole = bind(FAMILY, np.concatenate([X, NEW]))
    np.testing.assert_allclose(model.scaling_, 1.0 / whole.traces())
    beside = RLS2Regressor(alpha=1e-2, scaling="transductive").fit(BANK, Y, unlabeled=BANK.self_values(NEW))
    np.testing.assert_allclose(beside.scaling_, model.scaling_)
    by_hand = RLS2Regressor("precomputed", alpha=1e-2, scaling="none").fit(BANK.scaled(1.0 / whole.traces()), Y)
    assert by_hand.objective_ == pytest.approx(model.objective_)
    np.testing.assert_allclose(by_hand.predict(BANK.cross(NEW).scaled(1.0 / whole.traces())), model.predict(NEW))


def test_centred_kernels():
    """Centring in feature space is the kernels' own; the scaling then divides by the variance."""
    centred = [kernel.centered() for kernel in (kernels.RBF(0.5), kernels.Polynomial(2), kernels.Linear())]
    model = RLS2Regressor(centred, alpha=1e-2).fit(X, Y)
    raw = bind([kernels.RBF(0.5), kernels.Polynomial(2), kernels.Linear()], X).matrices()
    np.testing.assert_allclose(model.scaling_, [1.0 / (np.trace(k) - k.sum() / 60) for k in raw])


def test_duplicated_kernels_change_nothing():
    few = [kernels.RBF(0.3), kernels.Polynomial(2), kernels.Linear()]
    once = RLS2Regressor(few, alpha=1e-2, tol=1e-9).fit(X, Y)
    again = RLS2Regressor([*few, *few, few[0]], alpha=1e-2, tol=1e-9).fit(X, Y)
    assert again.objective_ == pytest.approx(once.objective_, rel=1e-8)
    np.testing.assert_allclose(again.predict(NEW), once.predict(NEW), rtol=1e-4)


def test_path_is_warm_and_the_same_as_fits():
    alphas = np.logspace(2, -4, 9)
    found = path(RLS2Regressor(tol=1e-8), X, Y, "alpha", alphas, validation=(NEW, np.zeros(15)))
    cold = [RLS2Regressor(alpha=alpha, tol=1e-8).fit(X, Y) for alpha in alphas]
    np.testing.assert_allclose(found.objective, [model.objective_ for model in cold], rtol=1e-7)
    np.testing.assert_allclose(found.predict(NEW), [model.predict(NEW) for model in cold], atol=1e-3)
    assert found.n_iter.sum() < sum(model.n_iter_ for model in cold)
    assert (found.duality_gap <= 1e-8).all()


def test_one_standard_error():
    alphas = [10.0, 1.0, 0.1, 0.01, 0.001]
    searches = [
        BankSearchCV(RLS2Regressor(), {"alpha": alphas}, cv=5, one_standard_error=rule).fit(X, Y)
        for rule in (False, True)
    ]
    scores = np.array([[s.cv_results_[f"split{f}_test_score"] for f in range(5)] for s in searches])[1]
    best = scores.mean(axis=0).argmax()
    error = scores[:, best].std(ddof=1) / np.sqrt(5)
    within = [a for a, mean in zip(alphas, scores.mean(axis=0), strict=True) if mean >= scores[:, best].mean() - error]
    assert searches[0].best_params_["alpha"] == alphas[best]
    assert searches[1].best_params_["alpha"] == max(within)


def test_a_path_of_classifiers():
    found = path(RLS2Classifier(), IRIS, SPECIES, "alpha", [1.0, 0.1, 0.01])
    assert found.score(IRIS, SPECIES)[-1] > 0.9
    np.testing.assert_array_equal(found.predict(IRIS)[1], found.models[1].predict(IRIS))


def test_on_disk(tmp_path):
    model = RLS2Classifier(alpha=1e-2, scaling="fisher").fit(X, LABELS)
    multikernel.save(model, tmp_path / "model.mk")
    again = multikernel.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_array_equal(again.scaling_, model.scaling_)


def test_centred_kernels_are_fishers_discriminant_with_the_largest_ratio():
    """Kim, Magnani and Boyd (2006): the ratio by explicit features, maximised by SciPy over three weights."""
    rng = np.random.default_rng(0)
    signs = np.where(np.arange(40) < 13, 1, -1)
    F = [rng.normal(size=(40, 3)) + shift * (signs > 0)[:, None] * rng.random(3) for shift in (1.0, 0.5, 0.0)]
    K = np.stack([(f - f.mean(axis=0)) @ (f - f.mean(axis=0)).T for f in F])
    alpha, q = 2.0, 13 * 27 / 40

    def ratio(d):
        Z = np.hstack([np.sqrt(max(w, 0.0)) * f for w, f in zip(d, F, strict=True)])
        classes = [Z[signs > 0], Z[signs < 0]]
        scatter = sum((c - c.mean(axis=0)).T @ (c - c.mean(axis=0)) for c in classes)
        between = classes[0].mean(axis=0) - classes[1].mean(axis=0)
        return between @ np.linalg.solve(scatter + alpha * np.eye(9), between)

    model = RLS2Classifier("precomputed", alpha=alpha, scaling="none", tol=1e-9).fit(K, signs)
    best = minimize(
        lambda d: -ratio(d),
        np.full(3, 1.0 / 3.0),
        bounds=[(0.0, 1.0)] * 3,
        constraints={"type": "eq", "fun": lambda d: d.sum() - 1.0},
        options={"ftol": 1e-12},
    )
    assert ratio(model.weights_) == pytest.approx(-best.fun, rel=1e-6)
    np.testing.assert_allclose(model.weights_, best.x, atol=1e-3)
    assert model.objective_ == pytest.approx(2.0 * q / (1.0 + q * ratio(model.weights_)), rel=1e-8)


def test_paper_mode_tells_the_true_gap():
    paper = RLS2Regressor(alpha=1e-5, mode="paper").fit(X, Y)
    best = RLS2Regressor(alpha=1e-5).fit(X, Y)
    assert paper.duality_gap_ > 1e-2
    assert paper.objective_ * (1.0 - paper.duality_gap_) <= best.objective_ * (1 + 1e-9)


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"scaling": "fisher"}, "scaling"),
        ({"mode": "fast"}, "mode"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"scaling": "transductive"}, "unlabeled"),
    ],
)
def test_refuses(parameters, word):
    with pytest.raises(ValueError, match=word):
        RLS2Regressor(**parameters).fit(X, Y)


def test_refuses_further_inputs_that_have_no_use():
    with pytest.raises(ValueError, match="transductive"):
        RLS2Regressor().fit(X, Y, unlabeled=NEW)
    with pytest.raises(ValueError, match="self-values"):
        RLS2Regressor(scaling="transductive").fit(BANK, Y, unlabeled=NEW)
    with pytest.raises(ValueError, match="scale the bank"):
        path(RLS2Regressor(scaling="transductive"), X, Y, "alpha", [1.0])
    with pytest.raises(ValueError, match="multiclass"):
        RLS2Classifier(multiclass="all").fit(X, LABELS)
