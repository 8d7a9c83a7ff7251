"""Smoothed multiple kernel learning: against Clarabel, against its theorem, and with bounds recomputed here."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mkl_reference as mkl
import reference as ref
from cases import one_in
from multikernel import SMKLClassifier, bind, precomputed
from multikernel.kernels import Polynomial
from multikernel.observer import Event
from multikernel.procedures.smoothed import SmoothedProblem, smoothed
from zoo import PROBLEMS

Array = Any
CASES = [(name, C, s) for name in ("random", "duplicated", "zero", "constant") for C in (0.01, 1.0) for s in (0.1, 3.0)]
CASES += [("low-rank", 1.0, 1.0), ("rank-one", 1.0, 1.0), ("random", 100.0, 1.0), ("rank-one", 0.01, 0.1)]
cases = pytest.mark.parametrize(("name", "C", "s"), one_in(3, CASES))


@cache
def solved(name: str, C: float, s: float) -> Any:
    problem = PROBLEMS[name]()
    return smoothed(precomputed(problem.K), problem.y, C, s, tol=1e-8)


@cases
def test_optimum(name: str, C: float, s: float) -> None:
    problem, found = PROBLEMS[name](), solved(name, C, s)
    lower, upper = mkl.smoothed(problem.K, problem.y, C, s)
    assert found.converged
    assert lower - 1e-9 * abs(lower) <= found.objective <= upper + 1e-6 * abs(upper)
    assert found.objective == pytest.approx(mkl.smoothed_value(problem.K, problem.y, C, s), rel=1e-6)


@cases
def test_what_is_claimed_follows_from_the_point_alone(name: str, C: float, s: float) -> None:
    problem, found = PROBLEMS[name](), solved(name, C, s)
    K, y, a = problem.K, problem.y, found.a
    assert ((a >= 0) & (a <= C)).all()
    value, gradient = mkl.smoothed_objective(K, y, s, a)
    assert found.objective == pytest.approx(value, rel=1e-10)
    q = ref.quad(K, y * a)
    softmax = np.exp((q - q.max()) / s) / np.exp((q - q.max()) / s).sum()
    np.testing.assert_allclose(found.values, softmax, atol=1e-9)
    assert found.objective - found.gap * abs(found.objective) <= mkl.smoothed(K, y, C, s)[1] + 1e-10 * abs(value)
    losses = mkl.classification(y, C, intercept=False)
    primal = 0.5 * softmax @ q + C * np.maximum(-gradient, 0.0).sum()
    dual = a.sum() - 0.5 * q.max()
    assert found.unsmoothed_gap == pytest.approx((primal - dual) / primal, rel=1e-6)
    truth = mkl.mkl(K, losses)
    assert dual <= truth.upper * (1.0 + 1e-9)
    assert truth.lower <= primal * (1.0 + 1e-9)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("name", ["random", "low-rank"])
def test_every_gap_is_a_bound(name: str, tol: float) -> None:
    problem = PROBLEMS[name]()
    best = solved(name, 1.0, 1.0).objective
    seen: list[Event] = []
    found = smoothed(precomputed(problem.K), problem.y, 1.0, 1.0, tol=tol, observe=seen.append)
    assert found.converged
    assert found.gap <= tol
    assert len(seen) == found.n_iter == len(found.history)
    for value, gap in ((event.value, event.certificate.value) for event in seen):
        assert value - gap * abs(value) <= best + 1e-9 * abs(best)
        assert best <= value + 1e-7 * abs(best)


def test_stopped_early_it_knows_how_far_it_got() -> None:
    problem = PROBLEMS["rank-one"]()
    found = smoothed(precomputed(problem.K), problem.y, 1.0, 0.1, tol=1e-10, max_iter=5)
    assert not found.converged
    assert found.n_iter == 5
    value = mkl.smoothed_value(problem.K, problem.y, 1.0, 0.1)
    assert found.objective - found.gap * abs(found.objective) <= value + 1e-9 * abs(value)


def test_a_start_at_the_optimum_ends_at_once() -> None:
    problem = PROBLEMS["random"]()
    again = smoothed(precomputed(problem.K), problem.y, 1.0, 0.1, tol=1e-6, start=solved("random", 1.0, 0.1).a)
    assert again.n_iter <= 2


def test_smoothing_goes_from_l1_to_equal_weights() -> None:
    problem = PROBLEMS["random"]()
    bank, m = precomputed(problem.K), len(problem.K)
    l1 = -mkl.l1_value(problem.K, problem.y, 1.0, intercept=False)
    above = []
    for s in (10.0, 1.0, 0.1, 0.01):
        found = smoothed(bank, problem.y, 1.0, s, tol=1e-7, max_iter=50_000)
        above.append(found.objective - l1)
        assert -1e-6 * abs(l1) <= above[-1] <= 0.5 * s * np.log(m) + 1e-6 * abs(l1)
    assert (np.diff(above) < 0).all()
    np.testing.assert_allclose(smoothed(bank, problem.y, 1.0, 1e6).values, 1.0 / m, rtol=1e-3)


def test_duplicates_have_the_same_weight() -> None:
    values = solved("duplicated", 1.0, 0.1).values
    np.testing.assert_allclose(values[[2, 4]], values[0], rtol=1e-9)


def test_bounds_of_samples() -> None:
    problem = PROBLEMS["random"]()
    upper = np.where(problem.y > 0, 0.02, 0.05)
    found = smoothed(precomputed(problem.K), problem.y, upper, 1.0, tol=1e-8)
    assert found.converged
    assert ((found.a >= 0) & (found.a <= upper)).all()
    same = smoothed(precomputed(problem.K), problem.y, np.full(len(upper), 0.05), 1.0, tol=1e-8)
    assert same.objective == pytest.approx(
        smoothed(precomputed(problem.K), problem.y, 0.05, 1.0, tol=1e-8).objective, rel=1e-7
    )
    assert same.objective < found.objective


# -- the problem itself -----------------------------------------------------------------------------------------------


def test_gradient() -> None:
    case = PROBLEMS["low-rank"]()
    problem = SmoothedProblem.of(precomputed(case.K), case.y, 1.0, 0.5)
    a = np.random.default_rng(0).random(len(case.y))
    value, gradient = mkl.smoothed_objective(case.K, case.y, 0.5, a)
    q = problem.scores(a)[0]
    assert problem.value(a, q) == pytest.approx(value)
    np.testing.assert_allclose(problem.gradient(a, q), gradient, atol=1e-10)
    step = 1e-6
    slopes = [
        (mkl.smoothed_objective(case.K, case.y, 0.5, a + e)[0] - mkl.smoothed_objective(case.K, case.y, 0.5, a - e)[0])
        / (2.0 * step)
        for e in step * np.eye(len(a))
    ]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("C", "s", "message"),
    [
        (0.0, 1.0, "C must be finite and > 0"),
        (np.inf, 1.0, "C must be finite and > 0"),
        (1.0, 0.0, "smoothing must be a finite number > 0"),
        (1.0, np.nan, "smoothing must be a finite number > 0"),
    ],
)
def test_parameters(C: float, s: float, message: str) -> None:
    problem = PROBLEMS["random"]()
    with pytest.raises(ValueError, match=message):
        smoothed(precomputed(problem.K), problem.y, C, s)


@pytest.mark.parametrize("start", [np.ones(29), np.full(30, np.nan)])
def test_starts_and_bounds_that_are_not_of_the_samples(start: Array) -> None:
    problem = PROBLEMS["random"]()
    with pytest.raises(ValueError, match="a finite number for each of 30 samples"):
        smoothed(precomputed(problem.K), problem.y, 1.0, 1.0, start=start)
    with pytest.raises(ValueError, match="C has shape"):
        smoothed(precomputed(problem.K), problem.y, np.ones(29), 1.0)


def test_labels() -> None:
    problem = PROBLEMS["random"]()
    with pytest.raises(ValueError, match="both classes present"):
        smoothed(precomputed(problem.K), np.ones(len(problem.y)), 1.0, 1.0)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
@pytest.mark.parametrize("tol", [1e-8, 1e-10, 1e-12])
def test_the_last_machine_stops_where_rounding_keeps_digits_from_it(tol: float) -> None:
    """What is said of convergence is what the gap says, and no steps are spent on digits that are not there."""
    rng, K = np.random.default_rng(8), []
    n = 60
    for _ in range(8):
        F = rng.normal(size=(n, int(rng.integers(1, n)))) * 10.0 ** rng.uniform(-1.0, 1.0)
        K.append(F @ F.T / len(F.T))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SMKLClassifier("precomputed", C=300.0, tol=tol).fit(np.stack(K), y)
    assert model.n_iter_ <= 1100 * n
    assert model.converged_ == (model.duality_gap_ <= tol)


def test_steps_that_rounding_hides_come_to_an_end():
    """Kernel values of 1e14, whose scores cancel along the momentum: no step that moves is seen to lead down."""
    X = 100.0 + np.random.default_rng(231).normal(size=(29, 3))
    y = np.where(np.random.default_rng(7).normal(size=29) > 0, 1.0, -1.0)
    bank = bind([Polynomial(3, gamma=65.9), Polynomial(3, gamma=30.0)], X)
    found = smoothed(bank, y, C=0.2, smoothing=4e-4, tol=1e-10, max_iter=30)
    assert not found.converged
    assert found.certificate.value > 0.0
    assert np.isfinite(found.a).all()


def test_a_large_smoothing_makes_no_point_optimal() -> None:
    """(s/2) log m is a constant of the problem, beside which all that can be gained is small."""
    problem = PROBLEMS["random"]()
    found = smoothed(precomputed(problem.K), problem.y, 1.0, 1e6, start=np.zeros(len(problem.y)))
    assert found.converged
    K = problem.K.mean(axis=0) * np.outer(problem.y, problem.y)
    best = smoothed(precomputed(problem.K), problem.y, 1.0, 1e6, tol=1e-9).a
    gain = best.sum() - 0.5 * best @ K @ best
    assert found.a.sum() - 0.5 * found.a @ K @ found.a == pytest.approx(gain, rel=1e-3)
