"""PolynomialMKLRegressor and PolynomialMKLClassifier: predictions by the dense formula, parameters, paths, searches."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import polynomial_reference as slow
from cases import one_in
from multikernel import (
    BankSearchCV,
    PolynomialMKLClassifier,
    PolynomialMKLRegressor,
    bind,
    kernels,
    path,
)
from multikernel.kernels import RBF, Polynomial

Array = Any
RNG = np.random.default_rng(2)
X, NEW = RNG.normal(size=(40, 4)), RNG.normal(size=(7, 4))
Y = X[:, 0] * X[:, 1] + 0.2 * RNG.normal(size=40)
LABELS = np.array(["no", "yes"])[(X[:, 0] * X[:, 1] > 0).astype(int)]
CLASSES = np.digitize(X[:, 0] * X[:, 1], [-0.4, 0.4])
FAMILY = [RBF(0.3), Polynomial(2).normalized(), kernels.Linear().on([0])]
DEFAULT = kernels.homogeneous_polynomials(0, normalize=False) + kernels.linear_features()

MODELS: dict[str, dict[str, Any]] = {
    "default": {},
    "degree 1": {"degree": 1},
    "degree 3, norm 3": {"degree": 3, "norm": 3},
    "norm 1": {"norm": 1, "offset": 0.0},
    "penalty": {"penalty": 0.05},
    "free": {"free": [(0, 1), (2,)]},
    "no intercept": {"fit_intercept": False},
    "no radius": {"radius": 0.0},
}
models = pytest.mark.parametrize("name", MODELS)


def combined(name: str, K: Array, weights: Array) -> Array:
    """K(theta) of a stack, written out."""
    settings = MODELS[name]
    m = len(K)
    total = sum(w * k for w, k in zip(weights[:m], K, strict=True)) ** settings.get("degree", 2)
    for nu, index in zip(weights[m:], settings.get("free", ()), strict=True):
        total = total + nu * np.prod([K[k] for k in index], axis=0)
    return total


@models
@pytest.mark.parametrize("family", [None, FAMILY], ids=["features", "kernels"])
def test_predictions_are_the_dense_formula(name: str, family: Any) -> None:
    model = PolynomialMKLRegressor(family, alpha=0.3, **MODELS[name]).fit(X, Y)
    bank = bind(DEFAULT if family is None else family, X)
    K, K_new = bank.matrices(), bank.cross(NEW).matrices()
    mean = Y.mean() if model.fit_intercept else 0.0
    coef = np.linalg.solve(combined(name, K, model.weights_) + 0.3 * np.eye(40), Y - mean)
    np.testing.assert_allclose(model.dual_coef_, coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        model.predict(NEW), combined(name, K_new, model.weights_) @ coef + mean, rtol=1e-6, atol=1e-8
    )
    penalty = (model.penalty or 0.0) * model.weights_ @ model.weights_
    assert model.objective_ == pytest.approx((Y - mean) @ coef + penalty, rel=1e-8)
    assert model.converged_
    assert model.kernel_names_.shape == model.weights_.shape


@models
def test_samples_banks_and_matrices_give_the_same_model(name: str) -> None:
    settings = MODELS[name] | {"alpha": 0.3}
    bank = bind(FAMILY, np.concatenate([X, NEW]))
    train, new = np.arange(40), np.arange(40, 47)
    model = PolynomialMKLRegressor(FAMILY, **settings).fit(X, Y)
    of_bank = PolynomialMKLRegressor(FAMILY, **settings).fit(bank[train, train], Y)
    given = PolynomialMKLRegressor("precomputed", **settings).fit(bank.matrices()[:, :40, :40], Y)
    want = model.predict(NEW)
    np.testing.assert_allclose(of_bank.predict(bank[new, train]), want, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(of_bank.predict(NEW), want, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(given.predict(bank.matrices()[:, 40:, :40]), want, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(NEW), want)


def test_certificates_say_what_is_known() -> None:
    known = PolynomialMKLRegressor(FAMILY, tol=1e-6).fit(X, Y)
    assert known.duality_gap_ <= 1e-6
    assert not hasattr(known, "stationarity_")
    other = known.set_params(norm=1).fit(X, Y)
    assert other.stationarity_ <= 1e-6
    assert not hasattr(other, "duality_gap_")


def test_weights_are_optimal() -> None:
    from multikernel.domains import NormBall

    model = PolynomialMKLRegressor(FAMILY, alpha=0.3, radius=0.8, offset=0.5, tol=1e-6).fit(X, Y)
    K = bind(FAMILY, X).matrices()
    best = slow.best_of_many(K, Y - Y.mean(), 0.3, 2, NormBall(2.0, 0.8, 0.5), 3)
    assert model.objective_ <= best * (1.0 + 1e-8)


def test_several_targets_share_the_weights() -> None:
    targets = np.column_stack([Y, X[:, 2], np.sin(X[:, 3])])
    model = PolynomialMKLRegressor(kernels.linear_features(), alpha=0.3).fit(X, targets)
    assert model.weights_.shape == (4,)
    assert model.dual_coef_.shape == (3, 40)
    K, K_new = ((Z @ np.diag(model.weights_) @ X.T) ** 2 for Z in (X, NEW))
    coef = np.linalg.solve(K + 0.3 * np.eye(40), targets - targets.mean(axis=0))
    np.testing.assert_allclose(model.predict(NEW), K_new @ coef + targets.mean(axis=0), rtol=1e-6)


def test_sample_weights_repeat_samples() -> None:
    count = np.where(np.arange(40) % 3 == 0, 2, 1)
    weighted = PolynomialMKLRegressor(alpha=0.3, tol=1e-10).fit(X, Y, sample_weight=count)
    repeated = PolynomialMKLRegressor(alpha=0.3, tol=1e-10).fit(np.repeat(X, count, axis=0), np.repeat(Y, count))
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-5)
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), rtol=1e-4, atol=1e-5)


# -- classification ----------------------------------------------------------------------------------------------------


def test_classifier_is_the_regressor_of_the_signs() -> None:
    model = PolynomialMKLClassifier(alpha=0.5).fit(X, LABELS)
    regressor = PolynomialMKLRegressor(alpha=0.5).fit(X, np.where(LABELS == "yes", 1.0, -1.0))
    np.testing.assert_allclose(model.decision_function(NEW), regressor.predict(NEW), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(NEW), np.where(regressor.predict(NEW) >= 0, "yes", "no"))
    assert model.duality_gap_ <= 1e-6


@pytest.mark.parametrize(("multiclass", "problems"), [("ovr", 3), ("ovo", 3)])
def test_every_class_has_weights_of_its_own(multiclass: str, problems: int) -> None:
    model = PolynomialMKLClassifier(alpha=0.1, multiclass=multiclass, n_jobs=2, free=[(0, 1)]).fit(X, CLASSES)
    assert model.weights_.shape == (problems, 6)
    assert model.score(X, CLASSES) > 0.8
    assert model.objective_.shape == (problems,)


# -- features ----------------------------------------------------------------------------------------------------------


def test_sparse_features_are_like_dense_ones() -> None:
    counts = np.maximum(np.random.default_rng(0).poisson(0.3, size=(40, 12)).astype(float), 0.0)
    dense = PolynomialMKLRegressor(alpha=0.3).fit(counts, Y)
    thin = PolynomialMKLRegressor(alpha=0.3).fit(sparse.csr_array(counts), Y)
    np.testing.assert_allclose(thin.weights_, dense.weights_, atol=1e-6)
    np.testing.assert_allclose(thin.predict(sparse.csr_array(counts[:5])), dense.predict(counts[:5]), rtol=1e-5)


@pytest.mark.study
def test_features_are_never_a_stack() -> None:
    n, p = 50, 2000
    wide, y = np.random.default_rng(1).normal(size=(n, p)), np.random.default_rng(2).normal(size=n)
    small = PolynomialMKLRegressor(alpha=10.0).fit(X, Y)  # imports and compilation
    small.predict(NEW)
    tracemalloc.start()
    try:
        PolynomialMKLRegressor(alpha=10.0, tol=1e-3).fit(wide, y).predict(wide[:30])
        assert tracemalloc.get_traced_memory()[1] < 0.5 * 8 * p * n * n  # half of a stack
    finally:
        tracemalloc.stop()


def test_names_of_free_products() -> None:
    model = PolynomialMKLRegressor(kernels.linear_features(), free=((0, 1), (2, 2, 3))).fit(X, Y)
    assert model.weights_.shape == (6,)
    names = [str(name) for name in model.kernel_names_]
    assert names[4] == f"{names[0]} * {names[1]}"
    assert names[5] == f"{names[2]} * {names[2]} * {names[3]}"
    assert len(model.weights_frame()) == 6


def test_free_products_beside_a_sum_of_kernels() -> None:
    """K is linear in all weights, of which there are more than kernels."""
    model = PolynomialMKLRegressor(kernels.linear_features(), degree=1, free=((0, 1),), norm=1).fit(X, Y)
    assert model.weights_.shape == (5,)
    assert model.duality_gap_ <= 1e-4


# -- paths and searches ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "values"),
    one_in(2, [("alpha", [0.01, 100.0]), ("radius", [0.0, 3.0]), ("penalty", [0.01, 1.0])]),
)
def test_path_follows_a_parameter(parameter: str, values: list[float]) -> None:
    found = path(PolynomialMKLRegressor(FAMILY, tol=1e-6), X, Y, parameter, values)
    assert found.converged.all()
    for value, objective in zip(values, found.objective, strict=True):
        alone = PolynomialMKLRegressor(FAMILY, tol=1e-6, **{parameter: value}).fit(X, Y)
        assert objective == pytest.approx(alone.objective_, rel=2e-6)


def test_searches_agree() -> None:
    grid = {"alpha": [0.1, 1.0], "radius": [0.5, 2.0]}
    bank_search = BankSearchCV(PolynomialMKLRegressor(FAMILY), grid, cv=3).fit(X, Y)
    grid_search = GridSearchCV(PolynomialMKLRegressor(FAMILY), grid, cv=3).fit(X, Y)
    np.testing.assert_allclose(
        bank_search.cv_results_["mean_test_score"], grid_search.cv_results_["mean_test_score"], atol=1e-3
    )
    assert bank_search.best_params_ == grid_search.best_params_


# -- parameters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": 0.0}, "alpha must be"),
        ({"degree": 0}, "degree must be an integer in"),
        ({"norm": 0.5}, "norm must be a finite number >= 1"),
        ({"radius": -1.0}, "radius must be"),
        ({"offset": 10**30, "degree": 1}, r"a radius of 1 is lost in the rounding of an offset of 1e\+30"),
        ({"offset": -1.0}, "offset must be a finite number >= 0 or a vector"),
        ({"offset": np.ones(3)}, "centre of the ball has 3 entries for 5 kernels"),
        ({"penalty": 0.0}, "penalty must be"),
        ({"solver": "newton"}, "solver must be 'auto'"),
        ({"solver": "interpolated"}, "solver='interpolated' works for degree 1"),
        ({"norm": 1, "solver": "trust_region"}, "solver='trust_region' works on the sphere"),
        ({"free": ((0, 9),)}, "names kernel 9, and there are 5"),
        ({"tol": 0.0}, r"tol must be a number in \(0, 1\]"),
        ({"n_init": 0}, "n_init must be an integer in"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
    ],
)
def test_parameters_are_checked(changes: dict[str, Any], message: str) -> None:
    for model, y in ((PolynomialMKLRegressor(), Y), (PolynomialMKLClassifier(), LABELS)):
        with pytest.raises(ValueError, match=message):
            model.set_params(**changes).fit(X, y)


@pytest.mark.study
def test_random_starts_are_repeatable() -> None:
    settings: dict[str, Any] = {"degree": 3, "n_init": 4, "random_state": 3}
    first, again = (PolynomialMKLRegressor(FAMILY, **settings).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.weights_, again.weights_)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_powers_of_single_precision_are_double():
    """Values of 1e30 fit into single precision, their squares do not."""
    data = 1e5 * X.astype(np.float32)
    model = PolynomialMKLRegressor(kernels.homogeneous_polynomials(3, normalize=False), alpha=1e60)
    exact = clone(model).fit(data.astype(float), Y)
    np.testing.assert_allclose(model.fit(data, Y).predict(data), exact.predict(data.astype(float)), atol=1e-3)


@pytest.mark.filterwarnings("ignore:PolynomialMKLRegressor. kernels of very different size")
def test_a_kernel_that_is_far_larger_than_the_others_ends_in_a_model():
    model = PolynomialMKLRegressor([RBF(0.3), 1e150 * RBF(1.0), kernels.Linear()], alpha=0.1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    assert np.isfinite(model.predict(NEW)).all()
