"""Certificates hold for the kernels that were given, whatever the precision in which they are stored.

Every gap is computed again from weights and coefficients alone, with dense matrices and formulas of this file's own.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cases import one_in
from multikernel import (
    EasyMKLClassifier,
    GMKLRegressor,
    L1MKLClassifier,
    L1MKLRegressor,
    LpMKLClassifier,
    LpMKLRegressor,
    PolynomialMKLRegressor,
    RLS2Regressor,
    SMKLClassifier,
    bind,
    kernels,
    path,
)
from multikernel.banks.lazy import LazyBank
from multikernel.estimators.support import method

Array = Any
FAMILY = kernels.per_feature([kernels.RBF(0.5), kernels.Polynomial(2)])
GIVEN = ("double", "samples", "matrices")
SLACK = 1e-8  # rounding of sums in double precision, of which the gap is a small difference


@cache
def samples() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    return X, np.sign(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=90))


@pytest.fixture(autouse=True)
def every_stack_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "STACK_TINY", 0)


def data(given: str) -> tuple[Any, Array, Array]:
    """What a model is fitted on, the target, and the kernels that this means."""
    X, y = samples()
    if given == "double":
        return X, y, bind(FAMILY, X).matrices()
    single = X.astype(np.float32)
    K = bind(FAMILY, single.astype(float)).matrices()
    if given == "samples":
        return single, y, K
    rounded = K.astype(np.float32)
    return rounded, y, rounded.astype(float)


def fitted(model: Any, given: str) -> tuple[Any, Array, Array]:
    """The fitted model, the target, and the kernels in double precision."""
    X, y, K = data(given)
    model.set_params(kernels="precomputed" if given == "matrices" else FAMILY)
    return model.fit(X, y), y, K


def products(model: Any, K: Array) -> tuple[Array, Array, Array]:
    """The coefficients b, the function values without intercept, and the scores b'K_k b."""
    b = model.dual_coef_
    Z = K @ b
    return b, model.weights_ @ Z, Z @ b


def hinge(model: Any, K: Array, y: Array, dual_norm: float) -> float:
    """The gap of weights in a ball and coefficients: the best intercept is where a loss has its kink."""
    b, f, v = products(model, K)
    assert abs(b.sum()) <= 1e-9 * np.abs(b).sum()
    assert (y * b >= 0).all()
    assert (y * b <= (1 + 1e-14) * model.C).all()
    upper = 0.5 * b @ f + model.C * min(np.maximum(0.0, 1.0 - y * (f + at)).sum() for at in y - f)
    lower = np.abs(b).sum() - 0.5 * np.linalg.norm(v, dual_norm)
    return (upper - lower) / abs(upper)


def insensitive(model: Any, K: Array, y: Array, dual_norm: float) -> float:
    b, f, v = products(model, K)
    assert abs(b.sum()) <= 1e-9 * np.abs(b).sum()
    assert (np.abs(b) <= (1 + 1e-14) * model.C).all()
    kinks = np.concatenate([y - f - model.epsilon, y - f + model.epsilon])
    losses = min(np.maximum(0.0, np.abs(y - f - at) - model.epsilon).sum() for at in kinks)
    upper = 0.5 * b @ f + model.C * losses
    lower = y @ b - model.epsilon * np.abs(b).sum() - 0.5 * np.linalg.norm(v, dual_norm)
    return (upper - lower) / abs(upper)


SUPPORT = {
    "l1": (L1MKLClassifier(C=1e5), hinge, np.inf),
    "l1 to many digits": (L1MKLClassifier(C=1e4, tol=1e-8), hinge, np.inf),
    "l2": (LpMKLClassifier(C=1e5), hinge, 2),
    "l2 to many digits": (LpMKLClassifier(C=1e4, tol=1e-8), hinge, 2),
    "l64": (LpMKLClassifier(C=1e5, p=64.0), hinge, 64.0 / 63.0),
    "l1 regression": (L1MKLRegressor(C=1e4, epsilon=0.01), insensitive, np.inf),
    "l2 regression": (LpMKLRegressor(C=1e4, epsilon=0.01), insensitive, 2),
}


@pytest.mark.parametrize(("case", "given"), one_in(10, product(SUPPORT, GIVEN)))
def test_gap_of_a_support_vector_machine(case: str, given: str) -> None:
    model, gap, dual_norm = SUPPORT[case]
    model, y, K = fitted(model, given)
    assert model.converged_
    assert gap(model, K, y, dual_norm) <= model.duality_gap_ + SLACK
    assert model.duality_gap_ <= model.tol


@pytest.mark.crossed
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize(
    ("model", "dual_norm"),
    [
        (L1MKLClassifier(C=1e3, tol=1e-3, solver="level"), np.inf),
        (L1MKLClassifier(C=1e3, tol=1e-2, solver="reduced_gradient"), np.inf),
        (LpMKLClassifier(C=1e3, solver="block_norm"), 2),
    ],
    ids=["level", "reduced gradient", "block norm"],
)
def test_gap_of_solvers_by_name(model: Any, dual_norm: float, given: str) -> None:
    """Their best bound may come from another point, so the coefficients of another solver bound the optimum here."""
    model, y, K = fitted(model, given)
    best, *_ = fitted(clone(model).set_params(solver="auto", tol=1e-9), given)
    bound = np.abs(best.dual_coef_).sum() - 0.5 * np.linalg.norm(products(best, K)[2], dual_norm)
    b, f, _ = products(model, K)
    upper = 0.5 * b @ f + model.C * min(np.maximum(0.0, 1.0 - y * (f + at)).sum() for at in y - f)
    assert (upper - bound) / upper <= model.duality_gap_ + SLACK
    assert model.duality_gap_ <= model.tol


@pytest.mark.parametrize("given", GIVEN)
def test_gap_of_the_smoothed_problem(given: str) -> None:
    """P(theta, a) = 1/2 theta'q + losses + s/2 sum theta log theta, D(a) = 1'a - s/2 log sum exp(q / s)."""
    model = SMKLClassifier(C=1e4, smoothing=10.0, kernels="precomputed" if given == "matrices" else FAMILY)
    X, y, K = data(given)
    bank, target = model.bind(X, y)
    found = model.fit_bank(bank, target)[0].weights
    b, theta, s = target * found.variables, found.values, model.smoothing
    Z = K @ b
    q, f = Z @ b, theta @ Z
    entropy = float(np.where(theta > 0, theta * np.log(np.maximum(theta, 1e-300)), 0.0).sum())
    upper = 0.5 * theta @ q + model.C * np.maximum(0.0, 1.0 - target * f).sum() + 0.5 * s * entropy
    lower = found.variables.sum() - 0.5 * s * (q.max() / s + np.log(np.exp((q - q.max()) / s).sum()))
    assert (upper - lower) / abs(upper) <= model.duality_gap_ + SLACK
    assert model.duality_gap_ <= model.tol


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("lam", [0.0, 0.001])
def test_gap_of_easymkl(lam: float, given: str) -> None:
    """g'q - min q - min q over the classes, q = 2 ((1 - lam) Y K Y g + lam g), relative to the value."""
    X, y, K = data(given)
    model = EasyMKLClassifier("precomputed" if given == "matrices" else FAMILY, lam=lam, tol=1e-10)
    bank, target = model.bind(X, y)
    weights = model.fit_bank(bank, target)[0].weights
    g = weights.variables
    q = 2.0 * ((1.0 - lam) * target * (K.sum(axis=0) @ (target * g)) + lam * g)
    value = 0.5 * float(g @ q)
    assert (g @ q - q[target > 0].min() - q[target < 0].min()) / value <= model.duality_gap_ + SLACK
    scores = np.einsum("i,kij,j->k", target * g, K, target * g)
    np.testing.assert_allclose(model.weights_, scores / scores.sum(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("given", GIVEN)
def test_gap_of_two_layers(given: str) -> None:
    model, y, K = fitted(RLS2Regressor(alpha=1e-4, tol=1e-6), given)
    alpha, y = model.alpha, y - y.mean()
    R = model.scaling_[:, None, None] * K
    value = 0.5 * alpha * y @ np.linalg.solve(np.tensordot(model.weights_, R, 1) + alpha * np.eye(len(y)), y)
    c = model.dual_coef_
    bound = 0.5 * alpha * (c @ y) ** 2 / (alpha * c @ c + np.einsum("i,kij,j->k", c, R, c).max())
    assert (value - bound) / value <= model.duality_gap_ + SLACK
    assert model.duality_gap_ <= model.tol


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("model", [PolynomialMKLRegressor(degree=1, norm=4, alpha=1e-4, offset=0.0)], ids=["power"])
def test_gap_of_a_sum_of_kernels_and_the_ridge(model: Any, given: str) -> None:
    """The bound 2 a'y - alpha |a|^2 - |v|_q holds at any a, here at the coefficients, scaled in the best way."""
    model, y, K = fitted(model, given)
    y = y - y.mean()
    value = y @ np.linalg.solve(np.tensordot(model.weights_, K, 1) + model.alpha * np.eye(len(y)), y)
    a = model.dual_coef_
    bound = (a @ y) ** 2 / (model.alpha * a @ a + np.linalg.norm(np.einsum("i,kij,j->k", a, K, a), 4.0 / 3.0))
    assert (value - bound) / value <= model.duality_gap_ + SLACK


def test_objective_of_a_penalised_sum() -> None:
    """Samples in single precision are samples in double precision with fewer digits."""
    model, y, _ = fitted(GMKLRegressor(alpha=1e-3, tol=1e-7), "samples")
    exact = GMKLRegressor(FAMILY, alpha=1e-3, tol=1e-7).fit(data("samples")[0].astype(float), y)
    assert abs(model.objective_ - exact.objective_) <= 2e-7 * exact.objective_


@pytest.mark.parametrize("given", one_in(3, GIVEN))
def test_gap_of_one_versus_rest(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The problems share their passes also where these are evaluated in double precision."""
    passes: list[int] = []
    combined = LazyBank.combine_all
    monkeypatch.setattr(LazyBank, "combine_all", lambda bank, W: passes.append(len(W)) or combined(bank, W))
    X, y, K = data(given)
    labels = np.where(samples()[0][:, 3] > 0.5, 3.0, y)
    model = LpMKLClassifier("precomputed" if given == "matrices" else FAMILY, C=1e4, p=64.0, tol=1e-7)
    model.fit(X, labels)
    assert (max(passes, default=0) == 3) == (given != "matrices")
    for label, weights, coef in zip(model.classes_, model.weights_, model.dual_coef_, strict=True):
        one = SimpleNamespace(weights_=weights, dual_coef_=coef, C=model.C)
        assert hinge(one, K, np.where(labels == label, 1.0, -1.0), 64.0 / 63.0) <= model.duality_gap_ + SLACK
    assert model.duality_gap_ <= model.tol


def test_gap_along_a_path() -> None:
    X, y, K = data("samples")
    found = path(LpMKLClassifier(FAMILY), X, y, "C", [1.0, 1e2, 1e4])
    for model in found.models:
        assert model.converged_
        assert hinge(model, K, y, 2) <= model.duality_gap_ + SLACK


def test_steps_of_both_rounds_are_counted() -> None:
    X, y, _ = data("double")
    model = LpMKLClassifier(FAMILY, C=1e4, tol=1e-9).fit(X, y)
    assert model.n_iter_ >= len(model.history_[0]) > 5
    assert model.history_[0][-1] == model.duality_gap_


@pytest.mark.parametrize("model", [L1MKLClassifier(), SMKLClassifier(), GMKLRegressor(), RLS2Regressor()], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_samples_in_single_precision_whose_powers_leave_its_range(model: Any) -> None:
    """A model that is fitted predicts finite numbers; else the fit says which kernel is the cause."""
    X = (1e6 * np.random.default_rng(0).normal(size=(40, 4))).astype(np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)
    try:
        model.fit(X, y)
    except ValueError as error:
        assert "Polynomial" in str(error)  # noqa: PT017
        return
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(getattr(model, "decision_function", model.predict)(X)).all()
