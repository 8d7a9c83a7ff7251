"""The published method of smoothed multiple kernel learning keeps its corrected theorem."""

from __future__ import annotations

import numpy as np
import pytest

import mkl_reference as mkl
from multikernel import precomputed
from multikernel.procedures.smoothed import SmoothedProblem, smoothed
from smkl_nesterov import lipschitz_constant, nesterov_as_published
from zoo import PROBLEMS


@pytest.mark.parametrize(("name", "C", "s"), [("random", 1.0, 1.0), ("low-rank", 0.1, 0.5), ("rank-one", 1.0, 10.0)])
@pytest.mark.parametrize("zero", [True, False])
def test_guarantee(name: str, C: float, s: float, zero: bool) -> None:
    """From the paper's start and from 0."""
    problem = PROBLEMS[name]()
    bank, best = precomputed(problem.K), smoothed(precomputed(problem.K), problem.y, C, s, tol=1e-8)
    run = nesterov_as_published(bank, problem.y, C, s, 500, np.zeros(len(problem.y)) if zero else None)
    errors = run.values - best.objective
    assert (errors <= run.guarantee(best.a) + 1e-8 * abs(best.objective)).all()
    assert (errors >= -1e-7 * abs(best.objective)).all()
    assert errors[-1] < errors[0]
    assert run.values[-1] == pytest.approx(mkl.smoothed_objective(problem.K, problem.y, s, run.a)[0])


@pytest.mark.parametrize("name", ["random", "rank-one", "constant"])
def test_the_lipschitz_constant_bounds_the_curvature(name: str) -> None:
    case = PROBLEMS[name]()
    problem = SmoothedProblem.of(precomputed(case.K), case.y, 1.0, 0.5)
    L, rng = lipschitz_constant(problem), np.random.default_rng(0)
    for _ in range(50):
        a, b = rng.random((2, len(case.y)))
        ga, gb = (mkl.smoothed_objective(case.K, case.y, 0.5, x)[1] for x in (a, b))
        assert np.linalg.norm(ga - gb) <= L * np.linalg.norm(a - b)


def test_steps() -> None:
    problem = PROBLEMS["random"]()
    with pytest.raises(ValueError, match="steps must be at least 1"):
        nesterov_as_published(precomputed(problem.K), problem.y, 1.0, 1.0, 0)
