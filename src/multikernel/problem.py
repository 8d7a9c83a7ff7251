"""The outer problem of kernel learning, and its certificate.

    min_{theta in D}  J(K(theta)) + r(theta),        J(K) = max_a L(a, K)

The combination defines K(theta), the machine solves the inner problem, and the domain is the set D with its penalty r.
J is decreasing in K with dJ/dK = -A A', A the factor of the inner solution, so with the scores

    q = d/dtheta tr A'K(theta)A,        d/dtheta (J + r) = -q + r'(theta)

and, h(q) = max_{theta in D} theta'q - r(theta) being the domain's support function, where K is linear in theta

    max_a min_theta  >=  J + theta'q - h(q)      at any feasible a, which bounds the optimum from below.

Elsewhere the same difference h(q) - (theta'q - r(theta)) >= 0 is zero exactly at the stationary points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.certificate import Certificate
from multikernel.combinations import Combination, HadamardPower, Linear
from multikernel.domains import Domain
from multikernel.duality import dual_value
from multikernel.machines import DualSolution, Machine


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The problem at one theta.

    Parameters
    ----------
    theta : array (d,)
    value : float, J(K(theta)) + r(theta) by the inner solution, at most the true value
    upper : float, at least the true value at theta
    bound : float, at most the optimum of the problem; -inf where K is not linear in theta
    stationarity : float >= 0, h(q) - (theta'q - r(theta))
    scores : array (d,), q
    gradient : array (d,)
    dual : the inner solution
    """

    theta: Array
    value: float
    upper: float
    bound: float
    stationarity: float
    scores: Array
    gradient: Array
    dual: DualSolution

    @property
    def certificate(self) -> Certificate:
        """The duality gap where a bound is known, otherwise the stationarity, to which the inner gap is added."""
        if np.isfinite(self.bound):
            return Certificate.gap(self.upper, self.bound)
        return Certificate.stationarity(self.stationarity + self.upper - self.value, self.upper)


@dataclass(frozen=True, eq=False)
class Problem:
    """min over theta in the domain of J(K(theta)) + r(theta).

    Parameters
    ----------
    bank : the kernels on the training set; certificates hold for the matrices that it stores. Estimators pass
        ``bank.unrounded()`` where matrices are stored in single precision, so that they hold for the kernels themselves
    combination : the kernel of each theta; a power of degree 1 becomes the sum
    machine : the inner problem
    domain : the set of theta, with its penalty
    target : array (n,) or (n, t), in the form that the machine takes
    sample_weight : array (n,), the factor of each sample's loss; 1 if not given

    Raises
    ------
    TypeError : where an argument has another type, such as the name of a domain in place of a Domain
    ValueError : for a bank of distances where kernels are combined, and the reverse
    """

    bank: KernelBank
    combination: Combination
    machine: Machine
    domain: Domain
    target: Array
    sample_weight: Array | None = None

    def __post_init__(self) -> None:
        _check_part("bank", self.bank, KernelBank, "bind(kernels, X)")
        _check_part("combination", self.combination, Combination, "Linear()")
        _check_part("machine", self.machine, Machine, "HingeMachine(C=1.0)")
        _check_part("domain", self.domain, Domain, "Simplex()")
        if self.combination == HadamardPower(1):
            object.__setattr__(self, "combination", Linear())
        self.combination.check(self.bank)

    @property
    def linear(self) -> bool:
        """Whether K is linear in theta."""
        return self.combination.linear

    @property
    def size(self) -> int:
        """The number of parameters, the length of theta."""
        return self.combination.n_parameters(self.bank)

    def start(self) -> Array:
        """The domain's central point."""
        return self.domain.start(self.size)

    def feasible(self, start: Array) -> Array:
        """A user's start, moved into the domain; ValueError for another length or for NaN."""
        theta = np.asarray(start, dtype=float)
        if theta.shape != (self.size,):
            raise ValueError(f"start has shape {theta.shape}, the problem has {self.size} parameters")
        if not np.isfinite(theta).all():
            first = int(np.flatnonzero(~np.isfinite(theta))[0])
            raise ValueError(f"start has {theta[first]} at position {first}: a start needs finite numbers")
        return self.domain.feasible(theta)

    def minimal(self, theta: Array) -> Array:
        """theta with the least possible parameters of kernels that are zero, which do not change K."""
        idle = self.combination.idle(self.bank)
        if idle.any() and not idle.all():
            return self.domain.minimal(theta, idle)
        return theta

    def evaluate(self, theta: Array, warm: Any = None, machine: Machine | None = None) -> Evaluation:
        """Solve the inner problem at theta.

        Parameters
        ----------
        theta : array (d,), feasible
        warm : ``warm`` of an earlier solution, from which to start
        machine : the problem's machine with another tolerance; by default ``self.machine``

        Raises
        ------
        ValueError : for a target or weights of samples that the machine cannot take
        """
        gram = self.combination.gram(self.bank, theta)
        dual = (machine or self.machine).solve(gram, self.target, warm, self.sample_weight)
        q = self.combination.pullback(self.bank, theta, dual.factor)
        penalty = self.domain.penalty(theta)
        inner = float(theta @ q)
        support = self.domain.support(q)
        # J >= 0, so any fraction of a plane below J is also below J: a fraction is used whose support is finite
        finite_factor = self.domain.finite_part(q) if self.machine.nonnegative else 1.0
        plane = dual_value(finite_factor * (dual.value + inner), finite_factor * q, self.domain)
        return Evaluation(
            theta=theta,
            value=dual.value + penalty,
            upper=dual.upper + penalty,
            bound=plane if self.linear else -np.inf,
            stationarity=max(support - (inner - penalty), 0.0),
            scores=q,
            gradient=self.domain.penalty_gradient(theta) - q,
            dual=dual,
        )


def _check_part(name: str, component: object, kind: type, example: str) -> None:
    """TypeError where a component of the problem has another type."""
    if not isinstance(component, kind):
        raise TypeError(f"Problem: {name} must be a {kind.__name__} such as {example}, got {abbreviated(component)}")
