"""Support vector machines on features of many samples: passes and small programs find what one program finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel.banks import FactorGram
from multikernel.machines import EpsilonMachine, HingeMachine, OneClassMachine, SquaredHingeMachine, SupportMachine
from multikernel.machines.support import _coordinates, base, factored
from multikernel.machines.support.factored import FactoredProgram
from multikernel.machines.support.many import ManySamples
from multikernel.machines.support.program import SupportProgram

Array = Any
RNG = np.random.default_rng(0)
N = 1500
F = RNG.normal(size=(N, 12)) * np.geomspace(1.0, 0.05, 12)
WEIGHTS = np.array([1.0, 2.0, 0.0, 0.0, 1.0, 0.5, 0.3, 0.0, 1.0, 1.0, 4.0, 1.0])
VALUES = F[:, 0] - 2.0 * F[:, 4] + 0.3 * RNG.normal(size=N)
SIGNS = np.where(VALUES > 0.1, 1.0, -1.0)
CASES = {
    "hinge": (HingeMachine(C=1.0), SIGNS),
    "hinge without intercept": (HingeMachine(C=1.0, fit_intercept=False), SIGNS),
    "large C": (HingeMachine(C=1e3), SIGNS),
    "squared hinge": (SquaredHingeMachine(C=1.0), SIGNS),
    "numbers": (EpsilonMachine(C=1.0, epsilon=0.1), VALUES),
}


@pytest.mark.crossed
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tol", [1e-2, 1e-8])
def test_value_is_that_of_one_program(name: str, tol: float, single: bool) -> None:
    machine, target = CASES[name]
    features = F.astype(np.float32) if single else F
    program, gram = machine.program(target, None), FactorGram(features, WEIGHTS, features)
    found = ManySamples(program, features, WEIGHTS, gram.diagonal(), tol).solve(None, 100_000)
    known = FactoredProgram(program, features.astype(float) * np.sqrt(WEIGHTS), 1e-10).solve(None, 100)
    assert found.converged
    assert found.gap <= 1.1 * tol
    assert found.value <= known.upper * (1.0 + 1e-12)
    assert found.upper >= known.value * (1.0 - 1e-12)
    K = (features.astype(float) * WEIGHTS) @ features.astype(float).T
    losses = program.losses(K @ found.coef + found.intercept).sum()
    primal = program.scale * (0.5 * found.coef @ K @ found.coef + losses)
    assert found.upper >= primal * (1.0 - 1e-10), "the value told is at least the true one"


def test_machines_take_it_where_a_system_would_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, gram = HingeMachine(C=1.0, tol=1e-6), FactorGram(F, WEIGHTS, F)
    known = machine.solve(gram, SIGNS)
    taken: list[SupportMachine] = []
    monkeypatch.setattr(base, "_SYSTEM", 0.0)
    monkeypatch.setattr(ManySamples, "solve", lambda self, *args: taken.append(self) or known)
    machine.solve(gram, SIGNS)
    assert len(taken) == 1
    thin = np.asfortranarray(F)
    machine.solve(FactorGram(thin, WEIGHTS, thin), SIGNS)
    assert len(taken) == 1, "features stored by columns are not read sample by sample"


def test_passes_leave_out_variables_that_stay_at_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, target = CASES["hinge"]
    lengths: list[int] = []
    ascend = _coordinates.ascend

    def counted(*given: Any) -> Any:
        lengths.append(len(given[4]))
        return ascend(*given)

    monkeypatch.setattr(_coordinates, "ascend", counted)
    found = ManySamples(machine.program(target, None), F, WEIGHTS, FactorGram(F, WEIGHTS, F).diagonal(), 1e-2)
    dual = found.solve(None, 1000)
    assert dual.converged
    assert lengths.count(N) < len(lengths) // 2, "few passes are over all variables"
    assert min(lengths) < N // 4


def test_without_a_linear_term_the_band_is_relative_to_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    program = OneClassMachine(nu=0.1).program(np.ones(N), None)
    problem = ManySamples(program, F, WEIGHTS, FactorGram(F, WEIGHTS, F).diagonal(), 1e-6)
    rough = problem._certified(program.feasible(None), 0, ())
    lengths: list[int] = []
    restricted = SupportProgram.restricted
    monkeypatch.setattr(SupportProgram, "restricted", lambda self, r: lengths.append(len(r)) or restricted(self, r))
    for band in (0.05, 0.5, 1e9):
        problem._program(rough, band)
    assert lengths[0] < lengths[1] < lengths[2] == N


def test_programs_of_some_samples_need_no_exact_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Least squares of all variables between their bounds would take longer than all the rest."""
    machine, target = CASES["hinge"]
    made: list[Any] = []
    monkeypatch.setattr(factored, "settled", lambda *given: made.append(given))
    program = machine.program(target, None)
    problem = ManySamples(program, F, WEIGHTS, FactorGram(F, WEIGHTS, F).diagonal(), 1e-6)
    found = problem._by_programs(problem._certified(program.feasible(None), 0, ()), 1000)
    assert found.converged
    assert found.gap <= 1.1e-6
    assert not made
    bounded = (found.warm == 0.0) | (found.warm == program.upper)
    assert bounded.mean() > 0.9, "variables that belong at a bound are there"
