"""What the optimizers refuse, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF, TiedAndFree
from multikernel.domains import Domain, EntropySimplex, NormBall, Orthant, Simplex
from multikernel.machines import HingeMachine, Machine, RidgeMachine
from multikernel.optimizers import (
    BlockNorm,
    CuttingPlane,
    Interpolated,
    LevelMethod,
    Optimizer,
    ProjectedGradient,
    QuasiNewton,
    ReducedGradient,
    SphereTrustRegion,
    Subgradient,
)
from multikernel.optimizers.needs import need_program
from zoo_problems import OPTIMIZERS, small_problem

Array = Any
POWER, FREE = HadamardPower(2), TiedAndFree(2, free=((0, 1),))

REFUSED: list[tuple[type[Optimizer], Domain, Machine, Combination, str]] = [
    (LevelMethod, NormBall(2.0), HingeMachine(), Linear(), "works on a Simplex, .* a NormBall"),
    (ReducedGradient, EntropySimplex(), HingeMachine(), Linear(), "works on a Simplex, .* an EntropySimplex"),
    (CuttingPlane, Orthant(), HingeMachine(), Linear(), "works on a Simplex, .* an Orthant"),
    (CuttingPlane, Simplex(), HingeMachine(), POWER, r"needs a kernel that is linear.*HadamardPower\(degree=2\)"),
    (LevelMethod, Simplex(), HingeMachine(), POWER, "needs a kernel that is linear in its weights"),
    (Subgradient, Simplex(), HingeMachine(), ProductOfRBF(), "needs a kernel that is linear.*ProductOfRBF"),
    (BlockNorm, NormBall(2.0), HingeMachine(), POWER, "needs a kernel that is linear in its weights"),
    (BlockNorm, Orthant(), HingeMachine(), Linear(), "needs a domain with a block_update.*Orthant"),
    (BlockNorm, NormBall(2.0, center=1.0), HingeMachine(), Linear(), "needs a ball around 0.*NormBall"),
    (Interpolated, NormBall(2.0), RidgeMachine(), POWER, "needs a kernel that is linear in its weights"),
    (Interpolated, NormBall(2.0), HingeMachine(), Linear(), "needs a RidgeMachine.*a HingeMachine"),
    (Interpolated, NormBall(1.0), RidgeMachine(), Linear(), "needs a NormBall with a norm above 1.*norm=1.0"),
    (Interpolated, Orthant(1.0, 1), RidgeMachine(), Linear(), "needs a NormBall with a norm above 1.*Orthant"),
    (SphereTrustRegion, NormBall(3.0), RidgeMachine(), Linear(), "works on the sphere of a NormBall of norm 2"),
    (SphereTrustRegion, NormBall(2.0), HingeMachine(), Linear(), "needs a RidgeMachine.*a HingeMachine"),
    (SphereTrustRegion, NormBall(2.0), RidgeMachine(), FREE, "needs a sum of kernels or a power of it.*TiedAndFree"),
]


@pytest.mark.parametrize(("cls", "domain", "machine", "combination", "said"), REFUSED)
def test_sentence(cls: type[Optimizer], domain: Domain, machine: Machine, combination: Combination, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{cls.__name__} {said}.*; ProjectedGradient and QuasiNewton"):
        cls().minimise(small_problem(domain, machine, combination))


def test_programs_are_those_of_support_vector_machines_with_sums() -> None:
    assert need_program("it", small_problem(Simplex(), HingeMachine(), Linear())) == HingeMachine()
    with pytest.raises(TypeError, match=r"^it needs a machine with a support program .*a RidgeMachine"):
        need_program("it", small_problem(Simplex(), RidgeMachine(), Linear()))
    with pytest.raises(TypeError, match=r"^it needs the plain weighted sum of the kernels.*HadamardPower"):
        need_program("it", small_problem(Simplex(), HingeMachine(), POWER))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_parameters(name: str) -> None:
    optimizer = type(OPTIMIZERS[name])
    with pytest.raises(ValueError, match="tol must be a finite number > 0"):
        optimizer(tol=0.0)
    with pytest.raises(ValueError, match="max_iter must be an integer >= 1"):
        optimizer(max_iter=0)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0])
def test_level(level: float) -> None:
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\)"):
        LevelMethod(level=level)


@pytest.mark.parametrize(
    "optimizer", [ReducedGradient, CuttingPlane, LevelMethod, Subgradient, BlockNorm, ProjectedGradient]
)
def test_a_start_outside_is_brought_in(optimizer: type[Optimizer]) -> None:
    first: list[Array] = []
    problem = small_problem(Simplex(), HingeMachine(), Linear())
    optimizer(max_iter=1).minimise(
        problem, start=np.array([2.0, -1.0, 2.0]), observe=lambda event: first.append(event.theta)
    )
    np.testing.assert_allclose(first[0], [0.5, 0.0, 0.5], atol=1e-3)


@pytest.mark.parametrize("count", [1, 4])
def test_typical_weights_are_one_for_each_parameter(count: int) -> None:
    problem = small_problem(Orthant(), HingeMachine(), Linear())
    with pytest.raises(ValueError, match=rf"typical has shape \({count},\), and the problem has {problem.size} param"):
        QuasiNewton(typical=np.ones(count)).minimise(problem)
