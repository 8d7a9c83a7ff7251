"""The published method of smoothed multiple kernel learning: its steps as printed, and its corrected theorem."""

from __future__ import annotations

import numpy as np
import pytest

import mkl_reference as mkl
from multikernel import SMKLClassifier, precomputed
from multikernel.procedures.nesterov import lipschitz, nesterov, printed_lipschitz
from multikernel.procedures.smoothed import SmoothedProblem, smoothed
from zoo import PROBLEMS


@pytest.mark.parametrize(("name", "C", "s"), [("random", 1.0, 1.0), ("low-rank", 0.1, 0.5), ("rank-one", 1.0, 10.0)])
@pytest.mark.parametrize("zero", [True, False])
def test_guarantee(name: str, C: float, s: float, zero: bool) -> None:
    """From the paper's start and from 0."""
    problem = PROBLEMS[name]()
    bank, best = precomputed(problem.K), smoothed(precomputed(problem.K), problem.y, C, s, tol=1e-8)
    start = np.zeros(len(problem.y)) if zero else None
    run = nesterov(bank, problem.y, C, s, 0.0, 500, start, printed=False)
    errors = run.values_of_steps - best.objective
    assert (errors <= run.guarantee(best.a) + 1e-8 * abs(best.objective)).all()
    assert (errors >= -1e-7 * abs(best.objective)).all()
    assert errors[-1] < errors[0]
    assert run.values_of_steps[-1] == pytest.approx(mkl.smoothed_objective(problem.K, problem.y, s, run.a)[0])
    assert run.bound <= best.objective + 1e-8 * abs(best.objective)
    assert run.gap >= 0.0


def test_the_steps_are_the_printed_ones() -> None:
    """Equations 15, 18 and 19 written out, with the printed constant, for twenty steps from a given start."""
    problem = PROBLEMS["random"]()
    K, y, C, s = problem.K, problem.y, 0.7, 2.0
    n = len(y)
    largest = max(np.linalg.eigvalsh(k)[-1] for k in K)
    L = 0.5 * max(np.diag(k).max() for k in K) + n * C**2 * 0.5 * largest**2 / s
    a = start = np.linspace(0.0, C, n)
    gradients = []
    for k in range(20):
        gradients.append(mkl.smoothed_objective(K, y, s, a)[1])
        beta = np.clip(a - gradients[-1] / L, 0.0, C)
        gamma = np.clip(-sum((j + 1) / 2 * g for j, g in enumerate(gradients)) / L, 0.0, C)
        tau = 2 / (k + 3)
        a = tau * gamma + (1 - tau) * beta
    run = nesterov(precomputed(K), y, C, s, 0.0, 20, start)
    assert run.lipschitz == pytest.approx(L)
    assert run.a == pytest.approx(beta)
    assert (run.n_iter, run.converged) == (20, False)


@pytest.mark.parametrize("name", ["random", "rank-one", "constant"])
def test_the_lipschitz_constant_bounds_the_curvature(name: str) -> None:
    case = PROBLEMS[name]()
    problem = SmoothedProblem.of(precomputed(case.K), case.y, 1.0, 0.5)
    L, rng = lipschitz(problem), np.random.default_rng(0)
    for _ in range(50):
        a, b = rng.random((2, len(case.y)))
        ga, gb = (mkl.smoothed_objective(case.K, case.y, 0.5, x)[1] for x in (a, b))
        assert np.linalg.norm(ga - gb) <= L * np.linalg.norm(a - b)


def test_the_printed_constant_does_not_where_smoothing_is_large() -> None:
    """A kernel of ones has diagonal 1 and eigenvalue n; with much smoothing f_s is almost quadratic."""
    y = np.array([1.0, -1.0] * 5)
    problem = SmoothedProblem.of(precomputed(np.ones((1, 10, 10))), y, 1.0, 1e9)
    assert printed_lipschitz(problem) == pytest.approx(0.5, abs=1e-6)
    assert lipschitz(problem) == pytest.approx(10.0, abs=1e-6)


def test_the_classifier_ends_where_the_other_solvers_do() -> None:
    case = PROBLEMS["random"]()
    options = {"C": 0.2, "smoothing": 20.0, "tol": 1e-3, "max_iter": 20_000}
    found = {
        solver: SMKLClassifier("precomputed", solver=solver, **options).fit(precomputed(case.K), case.y)
        for solver in ("auto", "accelerated", "nesterov")
    }
    for model in found.values():
        assert model.converged_
        assert model.objective_ == pytest.approx(found["auto"].objective_, rel=2e-3)
    assert found["nesterov"].n_iter_ > found["accelerated"].n_iter_


@pytest.mark.parametrize("printed", [True, False])
def test_kernels_that_vanish_end_at_the_bounds(printed: bool) -> None:
    y = np.array([-1.0, -1.0, 1.0])
    found = nesterov(precomputed(np.zeros((2, 3, 3))), y, 2.0, 1.0, printed=printed)
    np.testing.assert_array_equal(found.a, 2.0)
    assert found.gap == 0.0


def test_steps() -> None:
    problem = PROBLEMS["random"]()
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        nesterov(precomputed(problem.K), problem.y, 1.0, 1.0, max_iter=0)
