"""Models without an intercept, balls around an offset, and the hull vector of EasyMKL, by formulas of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import multikernel as mk
from multikernel import kernels

Array = Any
RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 1.0 + 0.2 * RNG.normal(size=40)
SIGNS = np.where(Y > 0.7, 1.0, -1.0)
GAMMAS = (0.1, 0.5, 2.0)
FAMILY = kernels.rbf_grid(GAMMAS)
DISTANCES = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
STACK = np.stack([np.exp(-gamma * DISTANCES) for gamma in GAMMAS])


def scores(b: Array) -> Array:
    return np.einsum("i,kij,j->k", b, STACK, b)


def values(model: Any) -> Array:
    """The function without its intercept, at the training samples."""
    return np.tensordot(model.weights_, STACK, 1) @ model.dual_coef_


# -- no intercept ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "reduced_gradient"])
def test_sparse_weights_without_an_intercept(solver: str) -> None:
    model = mk.L1MKLClassifier(FAMILY, C=2.0, fit_intercept=False, solver=solver, tol=1e-5).fit(X, SIGNS)
    a, f = SIGNS * model.dual_coef_, values(model)
    assert model.intercept_ == 0.0
    assert a.min() >= 0.0
    assert a.max() <= 2.0 * (1.0 + 1e-12)
    assert abs(model.dual_coef_.sum()) > 1e-3
    primal = 0.5 * model.dual_coef_ @ f + 2.0 * np.maximum(0.0, 1.0 - SIGNS * f).sum()
    bound = a.sum() - 0.5 * scores(model.dual_coef_).max()
    assert -1e-9 * primal <= primal - bound <= 1.01e-5 * primal


def test_weights_in_a_ball_without_an_intercept() -> None:
    model = mk.LpMKLClassifier(FAMILY, p=2.0, C=2.0, fit_intercept=False, tol=1e-6).fit(X, SIGNS)
    a, f = SIGNS * model.dual_coef_, values(model)
    primal = 0.5 * model.dual_coef_ @ f + 2.0 * np.maximum(0.0, 1.0 - SIGNS * f).sum()
    assert model.intercept_ == 0.0
    assert primal - (a.sum() - 0.5 * np.linalg.norm(scores(model.dual_coef_))) <= 1.01e-6 * primal


@pytest.mark.parametrize(("cls", "norm"), [(mk.L1MKLRegressor, np.inf), (mk.LpMKLRegressor, 2.0)])
def test_regression_without_an_intercept(cls: Any, norm: float) -> None:
    model = cls(FAMILY, C=3.0, epsilon=0.1, fit_intercept=False, tol=1e-6).fit(X, Y)
    b, f = model.dual_coef_, values(model)
    primal = 0.5 * b @ f + 3.0 * np.maximum(0.0, np.abs(Y - f) - 0.1).sum()
    bound = Y @ b - 0.1 * np.abs(b).sum() - 0.5 * np.linalg.norm(scores(b), norm)
    assert model.intercept_ == 0.0
    assert abs(b.sum()) > 1e-3
    assert primal - bound <= 1.01e-6 * primal
    np.testing.assert_allclose(model.predict(X), f, rtol=1e-10)


@pytest.mark.parametrize("solver", ["auto", "accelerated"])
def test_the_last_machine_of_smoothed_learning_without_an_intercept(solver: str) -> None:
    own = mk.SMKLClassifier(FAMILY, C=2.0, solver=solver)
    model = own.set_params(fit_intercept=False).fit(X, SIGNS)
    f = values(model)
    primal = 0.5 * model.dual_coef_ @ f + 2.0 * np.maximum(0.0, 1.0 - SIGNS * f).sum()
    assert model.intercept_ == 0.0
    assert primal - ((SIGNS * model.dual_coef_).sum() - 0.5 * model.dual_coef_ @ f) <= 1e-8 * primal
    weights = model.weights_
    np.testing.assert_allclose(own.set_params(fit_intercept=True).fit(X, SIGNS).weights_, weights, rtol=1e-10)
    assert own.intercept_ != 0.0


# -- a ball around an offset -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.7, [0.1, 0.0, 2.0]])
@pytest.mark.parametrize("norm", [1, 2, 3.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_sum_of_kernels_in_a_ball_around_an_offset(offset: Any, norm: float, fit_intercept: bool) -> None:
    center, dual = np.broadcast_to(offset, 3), np.inf if norm == 1 else norm / (norm - 1.0)
    given = {"norm": norm, "radius": 0.5, "offset": offset, "tol": 1e-6, "fit_intercept": fit_intercept}
    model = mk.GMKLClassifier(FAMILY, C=2.0, **given).fit(X, SIGNS)
    a, f = SIGNS * model.dual_coef_, values(model)
    v = scores(model.dual_coef_)
    loss = np.maximum(0.0, 1.0 - SIGNS * (f + model.intercept_))
    upper = model.dual_coef_ @ f + 2.0 * loss @ loss
    bound = 2.0 * a.sum() - a @ a / 2.0 - center @ v - 0.5 * np.linalg.norm(v, dual)
    assert np.linalg.norm(model.weights_ - center, norm) <= 0.5 * (1.0 + 1e-9)
    assert (model.weights_ >= center - 1e-6).all()
    assert upper - bound <= 1.01e-6 * upper
    assert model.objective_ == pytest.approx(upper, rel=2e-6)

    model = mk.GMKLRegressor(FAMILY, alpha=0.5, **given).fit(X, Y)
    y, b = Y - Y.mean() * fit_intercept, model.dual_coef_
    K = np.tensordot(model.weights_, STACK, 1)
    upper, v = float(y @ np.linalg.solve(K + 0.5 * np.eye(40), y)), scores(b)
    bound = 2.0 * y @ b - 0.5 * b @ b - center @ v - 0.5 * np.linalg.norm(v, dual)
    assert np.linalg.norm(model.weights_ - center, norm) <= 0.5 * (1.0 + 1e-9)
    assert upper - bound <= 1.01e-6 * upper


def test_a_power_in_a_ball_around_an_offset_is_polynomial_learning() -> None:
    ball = {"degree": 2, "norm": 2, "radius": 0.8, "offset": 0.5, "alpha": 0.5}
    stationary = mk.GMKLRegressor(FAMILY, combination="polynomial", tol=1e-8, **ball).fit(X, Y)
    certified = mk.PolynomialMKLRegressor(FAMILY, tol=1e-9, **ball).fit(X, Y)
    assert stationary.objective_ == pytest.approx(certified.objective_, rel=1e-7)
    np.testing.assert_allclose(stationary.weights_, certified.weights_, atol=1e-3)


@pytest.mark.parametrize("combination", ["linear", "polynomial", "rbf_product"])
def test_without_a_radius_the_weights_are_the_offset(combination: str) -> None:
    offset = np.array([0.2, 0.0, 0.4])
    for cls, y in ((mk.GMKLClassifier, SIGNS), (mk.GMKLRegressor, Y)):
        model = cls(kernels.linear_features(), combination=combination, radius=0.0, offset=offset).fit(X, y)
        np.testing.assert_allclose(model.weights_, offset, rtol=1e-12)
        assert model.converged_


def test_offsets_that_fit_no_ball_are_told() -> None:
    with pytest.raises(ValueError, match="offset is the centre of a ball, and there is none: give a radius"):
        mk.GMKLClassifier(FAMILY, offset=1.0).fit(X, SIGNS)
    with pytest.raises(ValueError, match="the centre of the ball has 2 entries for 3 kernels"):
        mk.GMKLRegressor(FAMILY, radius=1.0, offset=[1.0, 2.0]).fit(X, Y)
    with pytest.raises(ValueError, match="offset must be"):
        mk.GMKLRegressor(FAMILY, radius=1.0, offset=-1.0).fit(X, Y)


# -- the hull vector ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["margin", "svc"])
def test_easymkl_tells_its_hull_vector(learner: str) -> None:
    model = mk.EasyMKLClassifier(FAMILY, lam=0.3, learner=learner, tol=1e-9).fit(X, SIGNS)
    g = model.hull_vector_
    assert g.min() >= 0.0
    for sign in (-1.0, 1.0):
        assert g[sign == SIGNS].sum() == pytest.approx(1.0)
    v = scores(SIGNS * g)
    np.testing.assert_allclose(model.weights_, v / v.sum(), rtol=1e-10)
    assert model.objective_ == pytest.approx(0.7 * v.sum() + 0.3 * g @ g, rel=1e-10)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_every_problem_has_a_hull_vector(multiclass: str) -> None:
    labels = np.digitize(Y, [0.4, 1.3, 2.0])
    model = mk.EasyMKLClassifier(FAMILY, multiclass=multiclass).fit(X, labels)
    assert model.hull_vector_.shape == model.dual_coef_.shape
    np.testing.assert_allclose(model.hull_vector_.sum(axis=1), 2.0)
    assert ((model.hull_vector_ == 0) | (model.hull_vector_ > 0)).all()
    if multiclass == "ovo":
        assert not model.hull_vector_[0, labels > 1].any()
