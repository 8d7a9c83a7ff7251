"""What an algorithm needs of a problem, said in one sentence where it is missing."""

from __future__ import annotations

from multikernel.combinations import Linear
from multikernel.domains import HasBlockUpdate, Separable, Simplex, as_separable
from multikernel.machines import SupportMachine
from multikernel.problem import Problem


def need_simplex(algorithm: object, problem: Problem) -> float:
    """The simplex's total; TypeError where the domain is none."""
    if not isinstance(problem.domain, Simplex):
        raise TypeError(
            f"{_name(algorithm)} works on a Simplex, and the domain is {_name(problem.domain)}; "
            "ProjectedGradient works on every domain"
        )
    return problem.domain.total


def need_linear(algorithm: object, problem: Problem) -> None:
    """TypeError where K is not linear in theta: bounds that come from tangents do not hold then."""
    if not problem.linear:
        raise TypeError(
            f"{_name(algorithm)} needs a kernel that is linear in its weights, and the combination is "
            f"{_name(problem.combination)}; ProjectedGradient works with every combination"
        )


def need_block_update(algorithm: object, problem: Problem) -> HasBlockUpdate:
    """The domain with its update in closed form; TypeError where it has none, ValueError where it is off centre."""
    domain = problem.domain
    if not isinstance(domain, HasBlockUpdate):
        raise TypeError(
            f"{_name(algorithm)} needs a domain with a block_update (NormBall or Simplex), and the domain is "
            f"{_name(domain)}; ProjectedGradient works on every domain"
        )
    if isinstance(domain, Separable) and domain.offset(problem.size).any():
        raise ValueError(
            f"{_name(algorithm)} needs a ball around 0, and the center of this {_name(domain)} is another one; "
            "ProjectedGradient works with every center"
        )
    return domain


def need_program(algorithm: str, problem: Problem) -> SupportMachine:
    """The machine with its quadratic program; TypeError where it has none, or where K is not linear in theta."""
    if not isinstance(problem.machine, SupportMachine):
        raise TypeError(
            f"{algorithm} needs a machine with a support program (a SupportMachine), and the machine is a "
            f"{_name(problem.machine)}; QuasiNewton works with every machine"
        )
    if not isinstance(problem.combination, Linear):
        raise TypeError(
            f"{algorithm} needs the plain weighted sum of the kernels, and the combination is "
            f"{_name(problem.combination)}; QuasiNewton works with every combination"
        )
    return problem.machine


def need_separable(algorithm: str, problem: Problem) -> Separable:
    """The domain as a sum over the kernels; TypeError where it is none, or a single point."""
    domain = as_separable(problem.domain)
    if domain is None:
        raise TypeError(
            f"{algorithm} needs a domain that is a sum over the kernels and has an inside (Simplex, NormBall with "
            f"radius > 0, Orthant or EntropySimplex), which this {_name(problem.domain)} is not; QuasiNewton works on "
            "every domain"
        )
    return domain


def _name(thing: object) -> str:
    return type(thing).__name__


__all__ = ["need_block_update", "need_linear", "need_program", "need_separable", "need_simplex"]
