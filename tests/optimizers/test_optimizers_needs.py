"""What the optimizers refuse, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multikernel import precomputed
from multikernel.combinations import Combination, HadamardPower, Linear
from multikernel.domains import Domain, EntropySimplex, NormBall, Orthant, Simplex
from multikernel.machines import HingeMachine
from multikernel.optimizers import (
    BlockNorm,
    CuttingPlane,
    LevelMethod,
    Optimizer,
    ProjectedGradient,
    ReducedGradient,
    Subgradient,
)
from multikernel.problem import Problem
from zoo import PROBLEMS

Array = Any
OPTIMIZERS = (ReducedGradient, CuttingPlane, LevelMethod, Subgradient, BlockNorm, ProjectedGradient)


def problem(domain: Domain, combination: Combination | None = None) -> Problem:
    case = PROBLEMS["random"]()
    return Problem(precomputed(case.K), combination or Linear(), HingeMachine(), domain, case.y)


@pytest.mark.parametrize("optimizer", [ReducedGradient(), CuttingPlane(), LevelMethod()])
@pytest.mark.parametrize("domain", [NormBall(2.0), EntropySimplex(), Orthant()])
def test_methods_of_the_simplex_refuse_other_domains(optimizer: Optimizer, domain: Domain) -> None:
    with pytest.raises(TypeError, match=f"{type(optimizer).__name__} works on a Simplex.*{type(domain).__name__}"):
        optimizer.minimise(problem(domain))


@pytest.mark.parametrize("optimizer", [CuttingPlane(), LevelMethod(), Subgradient(), BlockNorm()])
def test_methods_with_bounds_refuse_kernels_that_are_not_linear(optimizer: Optimizer) -> None:
    with pytest.raises(TypeError, match=f"{type(optimizer).__name__} needs a kernel that is linear.*HadamardPower"):
        optimizer.minimise(problem(Simplex(), HadamardPower(2)))


@pytest.mark.parametrize("domain", [EntropySimplex(), Orthant()])
def test_block_norm_refuses_domains_without_its_update(domain: Domain) -> None:
    with pytest.raises(TypeError, match=f"BlockNorm needs a domain with a block_update.*{type(domain).__name__}"):
        BlockNorm().minimise(problem(domain))


def test_block_norm_refuses_a_ball_off_centre() -> None:
    with pytest.raises(ValueError, match=r"BlockNorm needs a ball around 0.*NormBall"):
        BlockNorm().minimise(problem(NormBall(2.0, center=1.0)))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_parameters(optimizer: type[Optimizer]) -> None:
    with pytest.raises(ValueError, match="tol must be > 0"):
        optimizer(tol=0.0)
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        optimizer(max_iter=0)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0])
def test_level(level: float) -> None:
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        LevelMethod(level=level)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_start_of_another_length(optimizer: type[Optimizer]) -> None:
    with pytest.raises(ValueError, match=r"start has shape \(3,\), the problem has 4 parameters"):
        optimizer().minimise(problem(Simplex()), start=np.ones(3))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_start_outside_is_brought_in(optimizer: type[Optimizer]) -> None:
    first: list[Array] = []
    optimizer(max_iter=1).minimise(
        problem(Simplex()), start=np.array([2.0, -1.0, 2.0, 1.0]), observe=lambda event: first.append(event.theta)
    )
    np.testing.assert_allclose(first[0], [0.4, 0.0, 0.4, 0.2], atol=1e-3)
