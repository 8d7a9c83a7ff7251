"""Requirements of algorithms: each function returns the required part of a problem, or raises an error.

The message of the error names algorithms that do without it.
"""

from __future__ import annotations

import numpy as np

from multikernel.combinations import HadamardPower, HasSecondDerivatives, Linear
from multikernel.domains import HasBlockUpdate, NormBall, Orthant, Product, Separable, Simplex, as_separable
from multikernel.machines import RidgeMachine, SupportMachine
from multikernel.problem import Problem

_ANY_DOMAIN = "ProjectedGradient and QuasiNewton work on every domain"
_ANY_MACHINE = "ProjectedGradient and QuasiNewton work with every machine"
_ANY_COMBINATION = "ProjectedGradient and QuasiNewton work with every combination"


def need_simplex(algorithm: object, problem: Problem) -> float:
    """The simplex's total; TypeError where the domain is none."""
    if isinstance(problem.domain, Simplex):
        return problem.domain.total
    raise TypeError(f"{_name(algorithm)} works on a Simplex, and the domain is {_a(problem.domain)}; {_ANY_DOMAIN}")


def need_block_update(algorithm: object, problem: Problem) -> HasBlockUpdate:
    """The domain with its update in closed form; TypeError where it has none, ValueError where it is off centre."""
    domain = problem.domain
    domains = domain.domains if isinstance(domain, Product) else (domain,)
    if not isinstance(domain, HasBlockUpdate) or not all(isinstance(factor, HasBlockUpdate) for factor in domains):
        raise TypeError(
            f"{_name(algorithm)} needs a domain with a block_update, as a NormBall or a Simplex has, and the domain is "
            f"{_a(domain)}; {_ANY_DOMAIN}"
        )
    if any(isinstance(factor, NormBall) and np.any(factor.center) for factor in domains):
        raise ValueError(
            f"{_name(algorithm)} needs a ball around 0, and the center of this {_name(domain)} is another one; "
            "ProjectedGradient and QuasiNewton work with every center"
        )
    return domain


def need_smooth_maximiser(algorithm: object, problem: Problem) -> float:
    """The domain's norm p > 1, 2 for a squared penalty; TypeError where the best weights for given scores may jump."""
    domain = problem.domain
    if isinstance(domain, NormBall | Orthant) and domain.norm > 1:
        return domain.norm
    raise TypeError(
        f"{_name(algorithm)} needs a NormBall with a norm above 1 or an Orthant with norm 2, where the best weights "
        f"follow the scores without jumps, and the domain is {domain}; {_ANY_DOMAIN}"
    )


def need_sphere(algorithm: object, problem: Problem) -> NormBall:
    """The ball of the 2-norm; TypeError where the domain is another one."""
    domain = problem.domain
    if isinstance(domain, NormBall) and domain.norm == 2:
        return domain
    raise TypeError(
        f"{_name(algorithm)} works on the sphere of a NormBall of norm 2, and the domain is {domain}; {_ANY_DOMAIN}"
    )


def need_linear(algorithm: object, problem: Problem) -> None:
    """TypeError where K is not linear in theta: bounds that come from tangents do not hold then."""
    if not problem.linear:
        raise TypeError(
            f"{_name(algorithm)} needs a kernel that is linear in its weights, and the combination is "
            f"{problem.combination}; {_ANY_COMBINATION}"
        )


def need_power_of_sum(algorithm: object, problem: Problem) -> int:
    """The degree of the power of a sum of kernels; TypeError where the combination is another one."""
    combination = problem.combination
    if isinstance(combination, HadamardPower):
        return combination.degree
    if isinstance(combination, Linear):
        return 1
    raise TypeError(
        f"{_name(algorithm)} needs a sum of kernels or a power of it, Linear or a HadamardPower, and the combination "
        f"is {combination}; {_ANY_COMBINATION}"
    )


def need_second_derivatives(algorithm: object, problem: Problem) -> HasSecondDerivatives:
    """The combination with its second derivatives; TypeError where they are not written out."""
    if isinstance(problem.combination, HasSecondDerivatives):
        return problem.combination
    raise TypeError(
        f"{_name(algorithm)} needs second derivatives, which {problem.combination} does not have; {_ANY_COMBINATION}"
    )


def need_ridge(algorithm: object, problem: Problem) -> RidgeMachine:
    """The ridge machine; TypeError where the machine is another one."""
    if isinstance(problem.machine, RidgeMachine):
        return problem.machine
    raise TypeError(
        f"{_name(algorithm)} needs a RidgeMachine, whose solution has derivatives in closed form, and the machine is "
        f"{_a(problem.machine)}; {_ANY_MACHINE}"
    )


def need_program(algorithm: object, problem: Problem) -> SupportMachine:
    """The machine with its quadratic program; TypeError where it has none, or where K is not the sum of the kernels."""
    if not isinstance(problem.machine, SupportMachine):
        raise TypeError(
            f"{_name(algorithm)} needs a machine with a support program (a SupportMachine), and the machine is "
            f"{_a(problem.machine)}; {_ANY_MACHINE}"
        )
    if not isinstance(problem.combination, Linear):
        raise TypeError(
            f"{_name(algorithm)} needs the plain weighted sum of the kernels, and the combination is "
            f"{problem.combination}; {_ANY_COMBINATION}"
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
    if isinstance(thing, str):
        return thing
    return type(thing).__name__


def _a(thing: object) -> str:
    name = _name(thing)
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
