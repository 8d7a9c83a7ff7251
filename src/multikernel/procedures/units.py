"""Problems in normalised units: kernels of size one and targets of spread one, for which constants are chosen.

Kernels have a unit, and so have numeric targets. In other units, K = kernel K' and y = target y', the problem

    min_{theta in D}  J(K(theta)) + r(theta)

is equivalent to one with another C, alpha or epsilon, and another radius or penalty: K(theta' weight) of the kernels is
``factor`` times K(theta') of the kernels divided by ``kernel``, and

    coefficients  coef a',    function values  coef factor f',    values  coef^2 factor J',    weights  weight theta'

where the machine determines ``coef``. A certificate is relative, and has no unit. Problems are solved in normalised
units, and the answer is returned in the user's units. Where only a penalty bounds the weights, their unit is free, and
is chosen such that the loss and the norm of the predictor have about the same size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from multikernel._floats import ROUNDING, positive_product, size_of
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.domains import NormBall
from multikernel.machines import DualSolution, Machine
from multikernel.observer import Event, Observer, silent
from multikernel.problem import Problem
from multikernel.procedures.base import Start, Weights, with_minimal_weights

Answer = tuple[Weights, DualSolution]
Known = TypeVar("Known", bound=Weights)


@dataclass(frozen=True)
class MachineUnits:
    """A machine in other units, with the conversion of its solutions to those of the user's machine.

    Parameters
    ----------
    machine : the machine for K / factor and target / unit
    factor : float > 0, the unit of the combined kernel
    target : float > 0, the unit of the target
    coef : float > 0, the unit of the coefficients
    """

    machine: Machine
    factor: float
    target: float
    coef: float

    @classmethod
    def of(cls, machine: Machine, factor: float, target: float) -> MachineUnits | None:
        """The machine where kernels and targets are divided by these numbers; None where it has no such form."""
        converted = machine.in_units(factor, target)
        if converted is None:
            return None
        return cls(converted[0], factor, target, converted[1])

    @classmethod
    def own(cls, machine: Machine, kernel: float, target: Array) -> MachineUnits:
        """The machine for kernels of about this size, where no weights change it, in its own units."""
        unit = spread(target) if machine.numeric else 1.0
        return cls.of(machine, max(kernel, machine.balance(unit)), unit) or cls(machine, 1.0, 1.0, 1.0)

    @property
    def function(self) -> float:
        """The unit of the function values."""
        return positive_product(self.coef, self.factor)

    @property
    def value(self) -> float:
        """The unit of J."""
        return positive_product(self.coef, self.coef, self.factor)

    def solution(self, dual: DualSolution) -> DualSolution:
        """A solution in the user's units; a number beyond the range of double precision becomes infinite."""
        with np.errstate(over="ignore"):
            return replace(
                dual,
                coef=self.coef * dual.coef,
                intercept=self.function * dual.intercept,
                value=self.in_user_units(dual.value),
                upper=self.in_user_units(dual.upper),
                factor=self.coef * dual.factor,
                beyond=_times(self.target, dual.beyond),
                warm=self.coef * dual.warm,
            )

    def in_user_units(self, value: float) -> float:
        """A value of J in the user's units."""
        return self.coef * (self.function * float(value))

    def weights(self, weights: Known) -> Known:
        """Weights whose objective and its bound are in the user's units."""
        if weights.objective is None:
            objective = None
        else:
            objective = self.in_user_units(weights.objective)
        bound = None if weights.bound is None else self.in_user_units(weights.bound)
        return replace(weights, objective=objective, bound=bound)


@dataclass(frozen=True)
class RegressionUnits:
    """Units in which squared errors are minimised, with the conversion of results to the user's units.

    Parameters
    ----------
    kernel : float > 0, the unit of the kernels, and so of a ridge
    target : float > 0, the unit of the targets, or an array (t,) of one for each
    """

    kernel: float
    target: Any

    @classmethod
    def of(cls, target: Array) -> RegressionUnits:
        """Targets of spread 1."""
        return cls(1.0, spread(target))

    def squared(self, value: Any) -> Any:
        """Squared errors, a number or an array; it is infinite where the square leaves the range of numbers."""
        with np.errstate(over="ignore"):
            return self.target * (self.target * value)

    def observer(self, observe: Observer) -> Observer:
        """An observer of values in these units, from one of the user's."""
        if observe is silent:
            return silent

        def restated(event: Event) -> None:
            observe(replace(event, value=self.squared(event.value)))

        return restated


@dataclass(frozen=True, eq=False)
class Restated:
    """A problem in its own units.

    Parameters
    ----------
    problem : Problem, to be solved
    weight : float > 0, the unit of the weights
    machine : MachineUnits
    """

    problem: Problem
    weight: float
    machine: MachineUnits

    @classmethod
    def of(cls, problem: Problem) -> Restated:
        """The problem in its own units; unchanged where one of its parts cannot be converted to other units."""
        machine = problem.machine
        domain = problem.domain
        kernel = kernel_size(problem.bank)
        target = spread(problem.target) if machine.numeric else 1.0
        units = problem.combination.in_units(kernel, machine.balance(target), not domain.constrained)
        kernel, weight, factor = units or (1.0, 1.0, 1.0)
        machine_units = MachineUnits.of(machine, factor, target)
        converted_domain = None if machine_units is None else domain.in_units(weight, machine_units.value)
        if machine_units is None or converted_domain is None:
            return cls(problem, 1.0, MachineUnits(machine, 1.0, 1.0, 1.0))
        if kernel == 1.0:
            bank = problem.bank
        else:
            bank = problem.bank.scaled(np.full(len(problem.bank), 1.0 / kernel))
        y = problem.target if target == 1.0 else problem.target / target
        restated = replace(problem, bank=bank, machine=machine_units.machine, domain=converted_domain, target=y)
        return cls(restated, weight, machine_units)

    def start(self, start: Start | None) -> Start | None:
        """A start in the user's units, in those of the problem."""
        if start is None:
            return None
        return Start(
            weights=np.asarray(start.weights, dtype=float) / self.weight,
            variables=_over(start.variables, self.machine.coef),
            witness=_over(start.witness, self.machine.coef),
        )

    def observer(self, observe: Observer) -> Observer:
        """An observer of the steps in the user's units."""
        if observe is silent:
            return silent

        def restated(event: Event) -> None:
            observe(
                replace(
                    event,
                    theta=_times(self.weight, event.theta),
                    value=self.machine.in_user_units(event.value),
                    upper=self.machine.in_user_units(event.upper),
                    bound=self.machine.in_user_units(event.bound),
                )
            )

        return restated

    def answer(self, weights: Weights, dual: DualSolution) -> Answer:
        """The solution in the user's units."""
        weights = self.machine.weights(with_minimal_weights(self.problem, weights))
        weights = replace(
            weights,
            values=self.weight * weights.values,
            variables=_times(self.machine.coef, weights.variables),
            witness=_times(self.machine.coef, weights.witness),
        )
        return weights, self.machine.solution(dual)


def solved_in_own_units(
    problem: Problem,
    solve: Callable[..., Answer],
    start: Start | None = None,
    observe: Observer = silent,
) -> Answer:
    """The answer to a problem, found in its own units and returned in the user's.

    Parameters
    ----------
    problem : Problem
    solve : function of a problem, and by keyword of where to ``start`` (a Start or None) and of an observer
        (``observe``)
    start : Start, the solution of a similar problem
    observe : called after each step

    Raises
    ------
    ValueError : where weights of the domain leave the range of numbers
    """
    restated = Restated.of(problem)
    _check_range(restated)
    answer = solve(restated.problem, start=restated.start(start), observe=restated.observer(observe))
    return restated.answer(*answer)


def _check_range(restated: Restated) -> None:
    """ValueError where weights of a ball make powers of the kernels larger than numbers can be."""
    problem = restated.problem
    ball = problem.domain
    powers = problem.combination.powers(problem.bank)
    if not isinstance(ball, NormBall) or not np.isfinite(powers).all():
        return
    reach = float(ball.offset(problem.size).max()) + ball.radius
    # of matrices that grow by up to 100 decades, products of three are finite
    if reach > 1.0 and powers.max() * math.log10(reach) > 100.0:
        raise ValueError(
            f"weights up to {restated.weight * reach:.3g} make kernels to the power of {powers.max():g} larger than "
            "numbers can be: lower radius or offset, or the degree"
        )


def _times(unit: float, values: Array | None) -> Array | None:
    """Values in the user's units, where there are any."""
    if values is None:
        return None
    return unit * values


def _over(values: Array | None, unit: float) -> Array | None:
    """Values of the user in other units, where there are any."""
    if values is None:
        return None
    return values / unit


def kernel_size(bank: KernelBank) -> float:
    """The mean self-value of the kernels that are not zero; of distances their mean; 1 where all are zero."""
    n = bank.shape[0]
    sizes = bank.traces() / n
    if not sizes.any():
        sizes = bank.quad(np.full(n, 1.0 / n))
    return _usable(float((sizes[sizes > 0] / float(np.count_nonzero(sizes > 0))).sum()))


def spread(target: Array) -> float:
    """The root of the mean square of a target about its mean, or about 0 where it is constant; 1 where it is 0."""
    y = np.asarray(target, dtype=float)
    peak = float(np.abs(y).max(initial=0.0))
    if not 0.0 < peak < np.inf:
        return 1.0
    about_mean = size_of(y / peak - np.mean(y / peak, axis=0))
    if about_mean > ROUNDING:
        return _usable(peak * about_mean)
    return _usable(size_of(y))


def _usable(size: float) -> float:
    if 1e-305 < size < 1e305:
        return size
    return 1.0  # the inverse would have no digits
