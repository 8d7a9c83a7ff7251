"""Every machine by the suite that the package offers, and machines with a fault, which the suite has to find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from multikernel.banks import DenseGram, Gram
from multikernel.machines import DualSolution, HingeMachine, Machine, RidgeMachine
from multikernel.testing.machines import MachineCase, check_machine, labelled_case, numeric_case
from zoo_problems import MACHINES, labels_for, missing, takes_labels

Array = Any
everything = pytest.mark.parametrize("name", MACHINES)


def cases(machine: Machine) -> list[MachineCase]:
    if takes_labels(machine):
        case = labelled_case()
        return [MachineCase(case.K, labels_for(machine, case.target))]
    several = isinstance(machine, RidgeMachine)
    case = numeric_case()
    return [case, MachineCase(case.K, np.column_stack([case.target, case.K[0]]))] if several else [case]


def test_every_machine_is_registered() -> None:
    assert not missing(Machine, MACHINES.values())


@everything
def test_it_is_a_machine(name: str) -> None:
    check_machine(MACHINES[name], cases(MACHINES[name]))


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "an outsider's"])
def test_no_samples_are_refused(name: str) -> None:
    target = cases(MACHINES[name])[0].target[:0]
    with pytest.raises(ValueError, match=r"needs at least one sample|both classes present"):
        MACHINES[name].solve(DenseGram(np.zeros((0, 0))), target)


# -- faults ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Faulty(Machine):
    """A support vector machine with one thing wrong."""

    fault: str
    machine: HingeMachine
    calls: ClassVar[list[int]] = []

    def with_tolerance(self, tol: float) -> Faulty:
        return self if self.fault == "deaf" else replace(self, machine=self.machine.with_tolerance(tol))

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        self.calls.append(len(target))
        if self.fault == "careless" and np.isnan(target).any():
            return replace(self.machine.solve(gram, np.nan_to_num(target, nan=1.0)), coef=target)
        weight = None if self.fault == "unfair" or sample_weight is None else sample_weight
        found = self.machine.solve(gram, target, warm, weight)
        if self.fault == "overwriting" and warm is not None:
            warm[:] = found.warm + 1.0
        if self.fault == "silent" and sample_weight is not None:
            raise ValueError("no")
        changes: dict[str, Any] = {
            "steep": {"factor": 2.0 * found.factor},
            "boastful": {"gap": 0.0, "converged": True, "value": 0.9 * found.value, "upper": 0.9 * found.value},
            "high": {"value": 1.1 * found.value, "upper": 1.1 * found.upper},
            "growing": {name: getattr(found, name) + float(np.trace(gram.dense())) for name in ("value", "upper")},
            "opposite": {"coef": -found.coef, "intercept": -found.intercept},
            "shifted": {"intercept": found.intercept + 1.0},
            "secretive": {"gap": 0.0},
            "fickle": {"coef": found.coef + len(self.calls)},
            "unused start": {"n_iter": found.n_iter + (0 if warm is None else 100)},
        }
        return replace(found, **changes.get(self.fault, {}))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("steep", "tangent is above J|slope"),
        ("boastful", "gap is smaller than the distance|slope|tangent"),
        ("high", "gap is smaller|tangent|slope"),
        ("growing", "tangent|J rises"),
        ("opposite", "no positive multiple of the factor"),
        ("shifted", "opposite predictor"),
        ("secretive", "the reported gap"),
        ("deaf", "with_tolerance"),
        ("fickle", "two solutions"),
        ("overwriting", "writes into the start"),
        ("unused start", "from the solution"),
        ("unfair", "weights are not repetitions"),
        ("silent", "one sentence"),
        ("careless", "NaN leads to a solution"),
    ],
)
def test_the_suite_finds_what_is_wrong(fault: str, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_machine(Faulty(fault, HingeMachine(C=0.7)), [labelled_case()])


@dataclass(frozen=True)
class Doubled(RidgeMachine):
    """Its predictor is twice too large."""

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        found = super().solve(gram, target, warm, sample_weight)
        return replace(found, coef=2.0 * found.coef)


def test_coefficients_of_another_size_are_found() -> None:
    with pytest.raises(AssertionError, match=r"slope .* in the target"):
        check_machine(Doubled(0.3), [numeric_case()])


@dataclass(frozen=True)
class Blind(HingeMachine):
    """It takes NaN in a kernel matrix for zero."""

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        return super().solve(DenseGram(np.nan_to_num(gram.dense())), target, warm, sample_weight)


def test_a_solution_of_what_is_not_finite_is_found() -> None:
    with pytest.raises(AssertionError, match="a kernel matrix with NaN"):
        check_machine(Blind(0.7), [labelled_case()])


def test_the_suite_finds_nothing_wrong_where_nothing_is() -> None:
    check_machine(Faulty("none", HingeMachine(C=0.7)), [labelled_case()])


class WrongUnit(HingeMachine):
    """A machine that does not tell the unit of its coefficients."""

    def in_units(self, kernel: float, target: float) -> tuple[WrongUnit, float]:
        return replace(self, C=self.C * kernel), 1.0


def test_a_wrong_unit_is_found() -> None:
    with pytest.raises(AssertionError, match="is another problem"):
        check_machine(WrongUnit(C=2.0), [labelled_case()])
