"""Support vector regression with smoothed and with generalised kernel weights, beside a conic solver."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import reference as ref
from multikernel import GMKLSupportRegressor, SMKLRegressor, bind, kernels

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3))
Y = 1000.0 + 5.0 * np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=24)
FAMILY = [kernels.RBF(0.5), kernels.RBF(2.0), kernels.Linear()]
K = bind(FAMILY, X).matrices()
C, EPSILON, SMOOTHING = 3.0, 0.5, 2.0


def largest(of_scores: Any, constraints: Any = lambda q: []) -> float:
    """max_b y'b - epsilon |b|_1 - of_scores(b'K_k b / 2), |b| <= C, sum b = 0, by Clarabel."""
    b = cp.Variable(len(Y))
    q = [0.5 * cp.sum_squares(ref.root(each) @ b) for each in K]
    centred = Y - Y.mean()  # as sum b = 0 the mean is of no matter, but for the solver's digits
    inside = [cp.abs(b) <= C, cp.sum(b) == 0.0, *constraints(q)]
    return ref.conic(cp.Problem(cp.Maximize(centred @ b - EPSILON * cp.norm1(b) - of_scores(q)), inside))


def test_smoothed_weights_are_optimal() -> None:
    model = SMKLRegressor(FAMILY, C=C, epsilon=EPSILON, smoothing=SMOOTHING, tol=1e-8).fit(X, Y)
    s = SMOOTHING
    best = largest(lambda q: 0.5 * s * cp.log_sum_exp(cp.hstack(q) * 2.0 / s))
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.duality_gap_ <= 1e-8
    scores = np.einsum("i,kij,j->k", model.dual_coef_, K, model.dual_coef_)
    softmax = np.exp((scores - scores.max()) / s)
    np.testing.assert_allclose(model.weights_, softmax / softmax.sum(), rtol=1e-3)


@pytest.mark.parametrize(
    ("where", "of_scores", "constraints"),
    [
        ({"penalty": 3.0}, lambda q: 0.0, lambda q: [each <= 3.0 for each in q]),
        ({"penalty": 3.0, "norm": 2}, lambda q: sum(cp.square(each) / 12.0 for each in q), lambda q: []),
        (
            {"radius": 0.7, "norm": 1.5, "offset": 0.2},
            lambda q: 0.2 * sum(q) + 0.7 * cp.pnorm(cp.hstack(q), 3),
            lambda q: [],
        ),
    ],
    ids=["penalty 1", "penalty 2", "ball around an offset"],
)
def test_a_sum_of_kernels_is_optimal(where: dict[str, Any], of_scores: Any, constraints: Any) -> None:
    model = GMKLSupportRegressor(FAMILY, C=C, epsilon=EPSILON, tol=1e-8, **where).fit(X, Y)
    best = largest(of_scores, constraints)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.duality_gap_ <= 1e-8


@pytest.mark.parametrize("combination", ["polynomial", "rbf_product", "profile"])
def test_other_combinations_are_stationary(combination: str) -> None:
    """No weight can be moved to a smaller value of the problem, each value by a machine of its own."""
    given: dict[str, Any] = {"combination": combination, "C": C, "epsilon": EPSILON}
    model = GMKLSupportRegressor(penalty=1.0, tol=1e-7, **given).fit(X, Y)
    assert model.stationarity_ <= 1e-7

    def value(theta: Any) -> float:
        fixed = GMKLSupportRegressor(radius=0.0, offset=theta, tol=1e-9, **given).fit(X, Y)
        return float(fixed.objective_) + float(theta.sum())

    assert value(model.weights_) == pytest.approx(model.objective_, rel=1e-6)
    for k in range(len(model.weights_)):
        for step in (-1e-2, 1e-2):
            moved = model.weights_.copy()
            moved[k] = max(moved[k] + step, 0.0)
            assert value(moved) >= model.objective_ * (1.0 - 1e-7)


def test_wild_targets_move_it_less_than_squared_losses() -> None:
    from multikernel import GMKLRegressor

    wild = Y.copy()
    wild[::8] += 500.0
    calm = np.arange(24) % 8 != 0
    tube = GMKLSupportRegressor(FAMILY, C=1.0, epsilon=0.1, penalty=1.0).fit(X, wild)
    squares = GMKLRegressor(FAMILY, alpha=1.0).fit(X, wild)
    errors = [np.abs(model.predict(X) - Y)[calm].mean() for model in (tube, squares)]
    assert errors[0] < 0.1 * errors[1]


@pytest.mark.study
def test_parameters_by_rule_follow_the_target() -> None:
    one, thousand = (SMKLRegressor(FAMILY, C="auto").fit(X, size * Y) for size in (1.0, 1000.0))
    assert thousand.smoothing_ == pytest.approx(1e6 * one.smoothing_)
    np.testing.assert_allclose(thousand.weights_, one.weights_, rtol=1e-6)
    tube = GMKLSupportRegressor(FAMILY).fit(X, Y)
    sizes = K[:, np.arange(24), np.arange(24)].mean()
    assert (tube.epsilon_, tube.penalty_) == pytest.approx((0.1 * Y.std(), Y.var() * sizes))
