"""Gates on the features: the problem as it is stated, its gradient by finite differences, and what models tell."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold

import support_reference
from multikernel import GatedMKLClassifier, GatedMKLRegressor, bind, kernels, load, save
from multikernel.machines import RidgeMachine, SquaredHingeMachine
from multikernel.procedures import gating
from multikernel.procedures.gating import Gated
from multikernel.selection import BankSearchCV

RNG = np.random.default_rng(2)
X = RNG.normal(size=(40, 3)) * [1.0, 3.0, 0.5] + [0.0, 5.0, 0.0]
SWITCHED = np.where(X[:, 0] > 0.0, X[:, 1] - 5.0, 4.0 * X[:, 2])
LABELS = SWITCHED > 0.0
FAMILY = [kernels.RBF(0.3).on([1]), kernels.Linear().on([2]), kernels.Polynomial(2)]
OPENED = {"softmax": lambda h: softmax(h, axis=1), "sigmoid": expit}


def gates_of(model: Any, samples: Any) -> Any:
    features = (samples - X.mean(axis=0)) / X.std(axis=0)
    weights = model.predictor_.combination.gates
    return OPENED[model.gates](features @ weights.slopes[0].T + weights.levels[0])


def gated_sum(e: Any, K: Any) -> Any:
    return np.einsum("ik,kij,jk->ij", e, K, e)


@pytest.mark.parametrize("kind", ["softmax", "sigmoid"])
@pytest.mark.parametrize("machine", [RidgeMachine(0.3, False), SquaredHingeMachine(3.0, tol=1e-12)])
def test_the_gradient_is_that_of_finite_differences(machine: Any, kind: str) -> None:
    features = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(X))])
    y = np.where(LABELS, 1.0, -1.0)
    problem = Gated(bind(FAMILY, X).matrices(), features, machine, y, None, kind, 0.1)
    x, step = RNG.normal(size=12), 1e-5
    _, gradient = problem.value(x)
    for j in range(12):
        up, down = (problem.value(x + s * step * np.eye(12)[j])[0] for s in (1.0, -1.0))
        assert (up - down) / (2.0 * step) == pytest.approx(gradient[j], rel=2e-5, abs=1e-5 * np.abs(gradient).max())


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
@pytest.mark.parametrize("kind", ["softmax", "sigmoid"])
def test_a_regressor_s_objective_is_that_of_its_gates(kind: str) -> None:
    model = GatedMKLRegressor(FAMILY, gates=kind, alpha=0.5, ridge=0.2, tol=1e-6).fit(X, SWITCHED)
    bank, y = bind(FAMILY, X), SWITCHED - SWITCHED.mean()
    K = gated_sum(gates_of(model, X), bank.matrices())
    size, unit = bank.traces().mean() / len(X), SWITCHED.std()
    gates = model.predictor_.combination.gates
    ridge = 0.2 * unit**2 / size * ((gates.slopes**2).sum() + (gates.levels**2).sum())
    value = y @ np.linalg.solve(K + 0.5 * np.eye(len(y)), y) + ridge
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    assert model.stationarity_ <= 1e-6
    np.testing.assert_allclose(model.kernel_matrix(X), K, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), K @ model.dual_coef_ + SWITCHED.mean(), atol=1e-8)
    new = X[:7] + 0.1
    np.testing.assert_allclose(model.gating(new), gates_of(model, new), atol=1e-12)
    np.testing.assert_allclose(model.contributions(new).sum(axis=1) + model.intercept_, model.predict(new), atol=1e-9)
    equal = gated_sum(OPENED[kind](np.zeros((len(X), 3))), bank.matrices())
    assert value < y @ np.linalg.solve(equal + 0.5 * np.eye(len(y)), y)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_a_classifier_s_machine_is_that_of_a_conic_solver() -> None:
    model = GatedMKLClassifier(FAMILY, C=3.0, tol=1e-6).fit(X, LABELS)
    bank = bind(FAMILY, X)
    K = gated_sum(gates_of(model, X), bank.matrices())
    gates = model.predictor_.combination.gates
    ridge = 0.1 * len(X) / bank.traces().mean() * ((gates.slopes**2).sum() + (gates.levels**2).sum())
    judged = support_reference.squared_hinge(3.0, True).conic(K, np.where(LABELS, 1.0, -1.0))
    assert model.objective_ == pytest.approx(judged + ridge, rel=1e-5)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_classes_have_gates_of_their_own_and_a_model_is_saved(tmp_path: Path) -> None:
    y = np.digitize(SWITCHED, [-1.0, 1.0])
    model = GatedMKLClassifier(FAMILY, probability="platt", tol=0.1).fit(X, y)
    assert model.weights_.shape == (3, 3)
    assert model.gating(X).shape == (40, 3, 3)
    np.testing.assert_allclose(model.gating(X).mean(axis=0).T, model.weights_, atol=1e-9)
    total = model.contributions(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-9)
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict_proba(X), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_without_time_for_the_gates_there_is_the_machine_with_equal_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gating, "time_is_up", lambda: True)
    with pytest.warns(ConvergenceWarning, match="stationarity"):
        model = GatedMKLRegressor(FAMILY, alpha=0.5).fit(X, SWITCHED)
    assert not model.converged_
    assert model.stationarity_ == np.inf
    np.testing.assert_allclose(model.gating(X), 1.0 / 3.0)
    bank, y = bind(FAMILY, X), SWITCHED - SWITCHED.mean()
    K = bank.matrices().sum(axis=0) / 9.0
    expected = K @ np.linalg.solve(K + 0.5 * np.eye(len(y)), y) + SWITCHED.mean()
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-8)


@pytest.mark.filterwarnings("ignore:GatedMKLRegressor")
def test_new_samples_may_be_sparse() -> None:
    model = GatedMKLRegressor(FAMILY, alpha=1.0, max_iter=5).fit(X, SWITCHED)
    np.testing.assert_allclose(model.predict(csr_array(X[:5])), model.predict(X[:5]), rtol=1e-10)
    np.testing.assert_allclose(model.gating(csr_array(X[:5])), model.gating(X[:5]), rtol=1e-10)


def test_gates_need_numeric_features() -> None:
    for given in (bind(FAMILY, X), {"one": X, "other": X}):
        with pytest.raises(ValueError, match="gates are functions of numeric features"):
            GatedMKLRegressor(alpha=1.0).fit(given, SWITCHED)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_a_search_scores_folds_as_scikit_learn_does() -> None:
    cv = KFold(3, shuffle=True, random_state=0)
    grid = {"C": [0.1, 1.0]}
    model = GatedMKLClassifier(FAMILY, max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        own = BankSearchCV(model, grid, cv=cv).fit(X, LABELS).cv_results_["mean_test_score"]
        theirs = GridSearchCV(model, grid, cv=cv).fit(X, LABELS).cv_results_["mean_test_score"]
    assert own == pytest.approx(
        theirs, abs=0.06
    )  # gates look at features that are standardised on all rows, not a fold
