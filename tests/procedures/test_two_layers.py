"""Kernel machines with two layers: derivatives, the group Lasso as the linear case, and the estimator's parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import multikernel as mk
from cases import one_in
from multikernel import bind, kernels
from multikernel._workers import limited
from multikernel.procedures.two_layers import SecondLayer, two_layers
from multikernel.procedures.two_layers.first_layer import _Outputs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.1 * RNG.normal(size=120)
FAMILY = [kernels.RBF(0.5).on([0]), kernels.RBF(0.5).on([1]), kernels.Linear().on([2])]
BANK, CENTRED = bind(FAMILY, X[:60]), Y[:60] - Y[:60].mean()
SECOND = [SecondLayer("linear"), SecondLayer("polynomial", 3), SecondLayer("gaussian")]


@pytest.mark.parametrize("second", SECOND, ids=lambda second: second.kind)
def test_value_and_derivative(second: SecondLayer) -> None:
    """F by its definition: both layers as coefficients, with their norms."""
    problem, alpha, beta = _Outputs.of(BANK, CENTRED, second, 0.3, 0.2), 0.3, 0.2
    b = problem.start(np.random.default_rng(1))
    value, gradient = problem.value(b)
    A, Z, K = problem.first(b), problem.outputs(b), BANK.matrices()
    np.testing.assert_allclose(np.einsum("kij,jk->ik", K, A), Z, atol=1e-6)
    G = np.array([[second(z[None], w[None])[0, 0] for w in Z] for z in Z])
    c = np.linalg.solve(G + alpha * np.eye(60), CENTRED)
    norms = np.einsum("ik,kij,jk->", A, K, A)
    known = ((CENTRED - G @ c) ** 2).sum() + alpha * c @ G @ c + beta * norms
    assert value == pytest.approx(known, rel=1e-6)  # directions that rounding hides are left out
    step = 1e-6 * RNG.normal(size=len(b))
    numeric = (problem.value(b + step)[0] - problem.value(b - step)[0]) / 2.0
    assert gradient @ step == pytest.approx(numeric, rel=1e-5)


@pytest.mark.parametrize("second", one_in(2, SECOND), ids=lambda second: second.kind)
def test_kernels_that_time_did_not_suffice_for_count_in_the_stationarity(second: SecondLayer) -> None:
    """Where the time is up one kernel takes part: the gradient in every function, by differences of its outputs."""
    alpha, beta, K = 0.3, 0.2, BANK.matrices()
    with limited(1e-9):
        weights, _ = two_layers(BANK, CENTRED, second, alpha, beta)
    assert (weights.values > 0.0).tolist() == [True, False, False]
    Z, step = weights.outputs, 1e-5

    def fit(Z: Any) -> float:
        G = np.array([second(z[None], Z)[0] for z in Z])
        return float(alpha * CENTRED @ np.linalg.solve(G + alpha * np.eye(60), CENTRED))

    slope = np.zeros_like(Z)
    for place in np.ndindex(Z.shape):
        moved = np.zeros_like(Z)
        moved[place] = step
        slope[place] = (fit(Z + moved) - fit(Z - moved)) / (2.0 * step)
    gradient = slope + 2.0 * beta * weights.first
    squared = np.einsum("ik,kij,jk->", gradient, K, gradient)
    value = fit(Z) + beta * np.einsum("ik,kij,jk->", weights.first, K, weights.first)
    assert weights.certificate is not None
    assert weights.certificate.value == pytest.approx(squared / (4.0 * beta) / value, rel=1e-4)
    assert not weights.converged


def test_a_linear_second_layer_reaches_the_group_lasso() -> None:
    """A dual point of that convex problem bounds every pair of layers."""
    alpha, beta = 0.3, 0.2
    weights, dual = two_layers(BANK, CENTRED, SECOND[0], alpha, beta, tol=1e-8)
    residual = CENTRED - SECOND[0](weights.outputs, weights.outputs) @ dual.coef
    longest = max(np.sqrt(residual @ K @ residual) for K in BANK.matrices())
    u = 2.0 * residual * min(1.0, np.sqrt(alpha * beta) / longest)
    bound = float(CENTRED @ u - 0.25 * u @ u)
    assert weights.objective is not None
    assert bound <= weights.objective <= bound * (1.0 + 1e-4)


@pytest.mark.parametrize("second", ["gaussian", "polynomial"])
def test_a_product_of_functions_is_learned(second: Any) -> None:
    known = {"gaussian": 0.6, "polynomial": 0.8}[second]
    model = mk.TwoLayerRegressor(FAMILY, second=second, alpha=0.1, beta=0.03).fit(X[:60], 3.0 * Y[:60] + 1.0)
    average = mk.RLS2Regressor(FAMILY).fit(X[:60], Y[:60])
    assert model.score(X[60:], 3.0 * Y[60:] + 1.0) > known > 0.3 > average.score(X[60:], Y[60:])
    assert model.weights_[2] < 0.2
    assert model.stationarity_ <= 1e-3
    Z, K = model.first_layer(X), model.kernel(X[60:], X[:60])
    layer = SecondLayer(second)
    np.testing.assert_allclose(K, layer(Z[60:], Z[:60]))
    np.testing.assert_allclose(K @ model.dual_coef_ + model.intercept_, model.predict(X[60:]))
    S, G = layer(Z[:60], Z[:60]), 0.1 * np.eye(60)
    assert model.degrees_of_freedom_ == pytest.approx(np.trace(np.linalg.solve(S + G, S)), rel=1e-6)
    deviation = model.predict(X[60:], return_std=True)[1]
    rest = 1.0 - ((K @ np.linalg.inv(S + G)) * K).sum(axis=1) if second == "gaussian" else None
    if rest is not None:
        assert (deviation**2 >= model.kernel_scale_ * (0.1 + rest) * (1.0 - 1e-9)).all()
    with pytest.raises(ValueError, match="no sum of what kernels add"):
        model.contributions(X)


def test_the_second_layer_is_chosen_by_held_out_error() -> None:
    """A product asks for another layer than the linear one, a sum does not."""
    product, total = np.sin(X[:, 0]) * X[:, 1], X[:, 0] ** 2 + X[:, 1] + 0.3 * RNG.normal(size=120)
    family = [kernels.RBF(0.3).on([j]) for j in range(2)]
    model = mk.TwoLayerRegressor(family, alpha=0.01).fit(X[:60], product[:60])
    assert model.second_ != "linear"
    assert model.score(X[60:], product[60:]) > 0.8
    model.fit(X[:60], total[:60])
    assert (model.second_, model.alpha_) == ("linear", 0.01)


def test_a_classifier_has_two_layers_for_each_class(tmp_path: Any) -> None:
    """Each problem is that of the regressor on labels -1 and +1."""
    y = np.digitize(Y, [-0.3, 0.3])
    model = mk.TwoLayerClassifier(FAMILY, second="gaussian", alpha=0.1, probability="platt").fit(X[:60], y[:60])
    assert model.first_layer(X[:5]).shape == (5, 3, 3)
    assert model.degrees_of_freedom_.shape == (3,)
    one = mk.TwoLayerRegressor(FAMILY, second="gaussian", alpha=0.1).fit(X[:60], np.where(y[:60] == 1, 1.0, -1.0))
    np.testing.assert_allclose(model.decision_function(X)[:, 1], one.predict(X), atol=1e-6)
    np.testing.assert_allclose(model.first_layer(X)[:, :, 1], one.first_layer(X), atol=1e-6)
    kernels_of = [each.second for each in model.predictor_.functions]
    Z = model.first_layer(X[:9])
    expected = np.mean([k(Z[:, :, p], Z[:, :, p]) for p, k in enumerate(kernels_of)], axis=0)
    np.testing.assert_allclose(model.kernel(X[:9]), expected)
    mk.save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "model.mk").predict_proba(X), model.predict_proba(X))
    assert (tmp_path / "model.mk").stat().st_size < 100_000


@pytest.mark.parametrize("scaling", ["trace", "none"])
def test_both_layers_of_rls2(scaling: Any) -> None:
    """The published theorem: f2(z) = sum_k (s_k d_k)^(1/2) z_k, and |f1|^2 = c'K c."""
    model = mk.RLS2Regressor(FAMILY, alpha=0.01, scaling=scaling).fit(X[:60], Y[:60])
    Z, root = model.first_layer(X), np.sqrt(model.weights_ * model.scaling_)
    np.testing.assert_allclose(Z @ root + model.intercept_, model.predict(X))
    np.testing.assert_allclose(model.kernel(X[60:], X[:60]), (Z[60:] * model.scaling_) @ Z[:60].T)
    sparse = mk.LinearRLS2Regressor(alpha=0.1).fit(X, Y)
    used = sparse.weights_ > 0
    told = sparse.first_layer(X)
    assert (told[:, ~used] == 0.0).all()
    np.testing.assert_allclose(told @ np.sqrt(sparse.weights_ * sparse.scaling_) + sparse.intercept_, sparse.predict(X))
    classes = mk.RLS2Classifier(FAMILY, alpha=0.01).fit(X, np.digitize(Y, [-0.3, 0.3]))
    assert classes.first_layer(X[:5]).shape == (5, 3, 3)
    assert classes.kernel(X[:5], X[:4]).shape == (5, 4, 3)


def test_several_targets_share_the_first_layer() -> None:
    """F by its definition and by finite differences; a target and its negative are predicted alike."""
    T, second = np.column_stack([CENTRED, X[:60, 0] - X[:60, 0].mean()]), SecondLayer("polynomial")
    weight = RNG.uniform(0.5, 2.0, 60)
    problem = _Outputs.of(BANK, T, second, 0.3, 0.2, weight)
    b = problem.start(np.random.default_rng(1))
    value, gradient = problem.value(b)
    Z = problem.outputs(b)
    G = second(Z, Z)
    c = np.linalg.solve(G + np.diag(0.3 / weight), T)
    known = (weight[:, None] * (T - G @ c) ** 2).sum() + 0.3 * np.vdot(c, G @ c) + 0.2 * b @ b
    assert value == pytest.approx(known, rel=1e-8)
    step = 1e-6 * RNG.normal(size=len(b))
    slope = (problem.value(b + step)[0] - problem.value(b - step)[0]) / 2.0
    assert slope == pytest.approx(gradient @ step, rel=1e-5)
    model = mk.TwoLayerRegressor(FAMILY, second="gaussian", alpha=0.1)
    both, one = clone(model).fit(X[:60], np.column_stack([Y[:60], -Y[:60]])), clone(model).fit(X[:60], Y[:60])
    assert both.predict(X).shape == (120, 2)
    np.testing.assert_allclose(both.predict(X)[:, 0], -both.predict(X)[:, 1], atol=1e-8)
    mixed = clone(model).fit(X[:60], np.column_stack([Y[:60], X[:60, 2]]))
    np.testing.assert_allclose(
        mixed.kernel(X[60:], X[:60]) @ mixed.dual_coef_.T + mixed.intercept_, mixed.predict(X[60:])
    )
    assert mixed.predict(X[60:], return_std=True)[1].shape == (60, 2)
    assert one.predict(X).shape == (120,)


@pytest.mark.parametrize("second", ["linear", "polynomial", "gaussian"])
def test_a_constant_kernel_does_not_blow_up_the_start(second: Any) -> None:
    """Its outputs differ by rounding alone, which is no spread to divide by."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    family = [kernels.HomogeneousPolynomial(0), kernels.RBF(1.0)]
    y = 1.0 + X[:, 0]
    model = mk.TwoLayerRegressor(family, second=second, alpha=0.1, beta=0.01, fit_intercept=False).fit(X, y)
    assert model.stationarity_ <= 1e-3
    assert np.abs(model.first_layer(X)).max() < 100.0
