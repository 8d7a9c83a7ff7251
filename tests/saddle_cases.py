"""Kernels, machines and domains that the tests of support vector machines with learned weights run over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import reference as ref
import saddle_reference as saddle
from multikernel import KernelBank, precomputed
from multikernel.combinations import Linear
from multikernel.domains import Domain, EntropySimplex, NormBall, Orthant, Separable, Simplex
from multikernel.machines import (
    DualSolution,
    EpsilonMachine,
    HingeMachine,
    OneClassMachine,
    SquaredHingeMachine,
    SupportMachine,
    SupportProgram,
)
from multikernel.problem import Problem
from multikernel.procedures import Weights, support_mkl

Array = Any
SIZE = 20  # samples
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


# -- kernels and targets -----------------------------------------------------------------------------------------------


@cache
def samples() -> tuple[Array, Array, Array, Array]:
    """Samples (n, 3), labels of a noisy linear rule, labels 3 against the rest, and numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SIZE, 3))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=SIZE) > 0, 1.0, -1.0)
    few = np.where(np.arange(SIZE) < 3, 1.0, -1.0)
    return X, y, few, X[:, 1] - 0.5 * X[:, 0] ** 2 + 0.2 * rng.normal(size=SIZE)


@cache
def stacks() -> dict[str, Array]:
    """Stacks (m, n, n)."""
    rng = np.random.default_rng(1)
    n = SIZE

    def wishart(rank: int) -> Array:
        A = rng.normal(size=(n, rank))
        return A @ A.T / rank

    def stack(*matrices: Array) -> Array:
        return np.array(matrices)

    D = ((samples()[0][:, None] - samples()[0][None]) ** 2).sum(axis=-1)
    some = {
        "random": stack(wishart(n), wishart(3), wishart(2 * n), wishart(6)),
        "gaussian": stack(*(np.exp(-gamma * D) for gamma in (1e-3, 0.1, 1.0, 100.0))),
        "duplicated": stack(wishart(n), wishart(4), wishart(4))[[0, 1, 0, 2, 1, 1]],
        "zero": stack(wishart(n), np.zeros((n, n)), wishart(4)),
        "only-zero": np.zeros((3, n, n)),
        "constant": stack(np.ones((n, n)), wishart(n), wishart(3)),
        "only-constant": np.ones((2, n, n)),
        "rank-one": stack(*(np.outer(x, x) for x in rng.normal(size=(6, n)))),
        "badly-scaled": stack(1e4 * wishart(n), wishart(5), 1e-4 * wishart(n), 1e2 * wishart(3), 1e-2 * wishart(2)),
        "single": stack(wishart(n)),
    }
    return some | {"mixed": np.concatenate([some[name] for name in ("random", "zero", "rank-one", "badly-scaled")])}


@cache
def bank(name: str) -> KernelBank:
    return precomputed(stacks()[name])


# -- machines ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MachineCase:
    """A machine, what it solves, its target and the weights of the samples' losses."""

    machine: SupportMachine
    truth: saddle.Machine
    target: Array
    sample_weight: Array | None = None

    @property
    def program(self) -> SupportProgram:
        return self.machine.program(self.target, self.sample_weight)


def machines(C: float, tol: float = 1e-6) -> dict[str, MachineCase]:
    _, y, few, t = samples()
    nu, flat = min(C + 0.1, 1.0), np.full(SIZE, 2.7)
    own = np.random.default_rng(2).uniform(0.1, 3.0, size=SIZE)
    costs = np.where(few < 0, 0.3, 4.0)
    return {
        "hinge": MachineCase(HingeMachine(C, tol=tol), saddle.hinge(y, C), y),
        "hinge-through-origin": MachineCase(HingeMachine(C, False, tol=tol), saddle.hinge(y, C, False), y),
        "hinge-unbalanced": MachineCase(HingeMachine(C, tol=tol), saddle.hinge(few, C), few),
        "hinge-class-weights": MachineCase(HingeMachine(C, tol=tol), saddle.hinge(few, C * costs), few, costs),
        "hinge-sample-weights": MachineCase(HingeMachine(C, tol=tol), saddle.hinge(y, C * own), y, own),
        "squared": MachineCase(SquaredHingeMachine(C, tol=tol), saddle.squared_hinge(y, C), y),
        "squared-through-origin": MachineCase(
            SquaredHingeMachine(C, False, tol=tol), saddle.squared_hinge(y, C, False), y
        ),
        "epsilon": MachineCase(EpsilonMachine(C, 0.1, tol=tol), saddle.epsilon(t, C, 0.1), t),
        "epsilon-through-origin": MachineCase(
            EpsilonMachine(C, 0.1, False, tol=tol), saddle.epsilon(t, C, 0.1, False), t
        ),
        "absolute": MachineCase(EpsilonMachine(C, 0.0, tol=tol), saddle.epsilon(t, C, 0.0), t),
        "constant-target": MachineCase(EpsilonMachine(C, 0.0, tol=tol), saddle.epsilon(flat, C, 0.0), flat),
        "wide-tube": MachineCase(EpsilonMachine(C, 9.0, tol=tol), saddle.epsilon(t, C, 9.0), t),
        "one-class": MachineCase(OneClassMachine(nu, tol=tol), saddle.one_class(SIZE, nu), np.zeros(SIZE)),
    }


MACHINES = list(machines(1.0))


# -- domains -----------------------------------------------------------------------------------------------------------


def domains(m: int) -> dict[str, tuple[Separable, saddle.Domain]]:
    center = np.arange(m) / m
    return {
        "simplex": (Simplex(), saddle.simplex()),
        "ball-1": (NormBall(1.0), saddle.ball(1.0)),
        "ball-1.1": (NormBall(1.1), saddle.ball(1.1)),
        "ball-1.5": (NormBall(1.5), saddle.ball(1.5)),
        "ball-2": (NormBall(2.0), saddle.ball(2.0)),
        "ball-4": (NormBall(4.0), saddle.ball(4.0)),
        "ball-1-center": (NormBall(1.0, 0.7, center), saddle.ball(1.0, 0.7, center)),
        "ball-1.5-center": (NormBall(1.5, 1.3, center), saddle.ball(1.5, 1.3, center)),
        "ball-2-ones": (NormBall(2.0, 0.7, 1.0), saddle.ball(2.0, 0.7, 1.0)),
        "orthant-1": (Orthant(0.7, 1), saddle.orthant(0.7, 1)),
        "orthant-1-strong": (Orthant(30.0, 1), saddle.orthant(30.0, 1)),
        "orthant-2": (Orthant(0.7, 2), saddle.orthant(0.7, 2)),
        "entropy": (EntropySimplex(0.5), saddle.entropy(0.5)),
        "entropy-weak": (EntropySimplex(0.01), saddle.entropy(0.01)),
        "entropy-strong": (EntropySimplex(100.0), saddle.entropy(100.0)),
    }


DOMAINS = list(domains(1))


def meaningful(machine: str, domain: str) -> bool:
    """Without losses to pay, one-class machines want no weights, or infinite ones, where only a slope holds them."""
    return not (machine == "one-class" and domain.startswith("orthant-1"))


# -- solutions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solved:
    """What was found, and the bounds of the optimum that follow from it, recomputed."""

    weights: Weights
    coef: Array
    intercept: float
    lower: float
    upper: float
    floor: float  # a value that is none
    rounding: float  # of a value

    @property
    def distance(self) -> float:
        """How far the two bounds are apart, as a part of the value."""
        return max(self.upper - self.lower - self.rounding, 0.0) / max(abs(self.upper), self.floor, 1e-300)

    def encloses(self, lower: float, upper: float, accuracy: float = 0.0) -> bool:
        """Whether other bounds of the same optimum can be right, too."""
        slack = self.rounding + accuracy * max(abs(self.upper), abs(lower), self.floor)
        return self.lower <= upper + slack and lower <= self.upper + slack


def learned(
    bank: KernelBank, machine: SupportMachine, domain: Domain, target: Array, sample_weight: Any = None, **options: Any
) -> tuple[Weights, DualSolution]:
    """Weights and machine, to the gap that is the machine's own."""
    return support_mkl(Problem(bank, Linear(), machine, domain, target, sample_weight), machine.tol, **options)


def solve(stack: str, machine: MachineCase, domain: tuple[Domain, saddle.Domain], **options: Any) -> Solved:
    K = stacks()[stack]
    found, dual = learned(bank(stack), machine.machine, domain[0], machine.target, machine.sample_weight, **options)
    floor = machine.truth.floor(ref.combine(K, domain[0].start(len(K))))
    return judged(K, machine.truth, domain[1], found, dual, floor)


def judged(
    K: Array, truth: saddle.Machine, domain: saddle.Domain, found: Weights, dual: DualSolution, floor: float = 0.0
) -> Solved:
    """Weights and coefficients, checked to be feasible, with the bounds that they give."""
    assert truth.violation(dual.coef) <= 1e-12
    assert domain.violation(found.values) <= 1e-12
    return Solved(
        weights=found,
        coef=dual.coef,
        intercept=dual.intercept,
        lower=truth.dual(K, domain, dual.coef),
        upper=truth.primal(K, domain, found.values, dual.coef, dual.intercept),
        floor=floor,
        rounding=truth.rounding(ref.combine(K, found.values), dual.coef),
    )
