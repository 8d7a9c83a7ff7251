"""What the classifier and the regressor of polynomial kernel learning share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from multikernel._parameters import (
    Count,
    NonNegative,
    NonNegativeVector,
    Part,
    Positive,
    Power,
    Seed,
    Starts,
    Verbosity,
)
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import NONE, BankCost
from multikernel.combinations import Combination, HadamardPower, TiedAndFree
from multikernel.combinations.tied_and_free import Products
from multikernel.domains import Domain, NormBall, Orthant, Product, as_separable
from multikernel.estimators.chosen import Samples, ridges
from multikernel.estimators.parameters import PositiveOrAuto
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.streamed.base import StreamedEstimator
from multikernel.kernels import KernelFamily, homogeneous_polynomials, linear_features
from multikernel.machines import RidgeMachine
from multikernel.observer import Observer
from multikernel.problem import Problem
from multikernel.procedures import solved_in_own_units
from multikernel.procedures.forecast import Cost, ridge, support
from multikernel.procedures.forecast import polynomial as polynomial_cost
from multikernel.procedures.polynomial import polynomial_mkl

_MACHINES = 5.0  # that are factored in turns: of squared losses every sample is a support vector


@dataclass(eq=False, repr=False, kw_only=True)
class PolynomialMKL(StreamedEstimator):
    """A power of a sum of kernels, or a tied and a free part, and the ridge machine."""

    kernels: Any = field(default=None, kw_only=False)
    alpha: PositiveOrAuto = "auto"
    degree: Power = 2
    norm: Annotated[float, Number(least=1)] = 2
    radius: NonNegative = 1.0
    offset: NonNegative | NonNegativeVector = 1.0
    penalty: Positive | None = None
    solver: Literal["auto", "projected_gradient", "interpolated", "trust_region", "branch_and_bound"] = "auto"
    tied: Products | None = None
    free: Products = ()
    free_radius: NonNegative | None = None
    fit_intercept: bool = True
    n_init: Starts = 1
    tol: Part = 1e-4
    max_iter: Count = 1000
    random_state: Seed = None
    verbose: Verbosity = 0

    def _combination(self) -> Combination:
        free = tuple(tuple(product) for product in self.free)
        if self.tied is not None:
            return TiedAndFree(tuple(tuple(product) for product in self.tied), free)
        return TiedAndFree(self.degree, free) if free else HadamardPower(self.degree)

    def _domain(self, size: int) -> Domain:
        """Where so many weights live; those of free products may have a ball of their own."""
        if self.penalty is not None:
            return Orthant(self.penalty, 2)
        m = size - len(self.free)
        if self.free_radius is None or not self.free or m < 1:
            return NormBall(self.norm, self.radius, self.offset)
        first, last = (
            (self.offset, self.offset) if np.ndim(self.offset) == 0 else np.split(np.asarray(self.offset), [m])
        )
        balls = NormBall(self.norm, self.radius, first), NormBall(self.norm, self.free_radius, last)
        return Product(balls, (m, len(self.free)))

    def check_parameters(self) -> None:
        super().check_parameters()
        try:
            self._combination()
        except ValueError as error:
            raise ValueError(f"{type(self).__name__}: {error}") from None
        self._domain(0)
        largest = float(np.max(self.offset))
        lost = self.radius > 0 and largest + self.radius == largest
        if self.degree == 1 and self.penalty is None and lost:
            raise ValueError(
                f"{type(self).__name__}: a radius of {self.radius:g} is lost in the rounding of an offset of "
                f"{largest:g}: give a smaller offset, or a larger radius"
            )

    def _regularises(self) -> tuple[str, ...]:
        return ("alpha",)

    def _candidates(self, name: str, whole: Samples) -> Array:
        """In units of the combined kernel's mean self-value where a search begins."""
        combination = self._combination()
        size = combination.n_parameters(whole.bank)
        start = self._domain(size).start(size)
        with np.errstate(over="ignore"):  # powers beyond the range of numbers are refused where the problem is solved
            mean = float(np.average(combination.gram(whole.bank, start).diagonal(), weights=whole.share))
        return ridges(mean if 0.0 < mean < np.inf else 1.0)

    def _default_kernels(self) -> KernelFamily:
        return homogeneous_polynomials(0, normalize=False) + linear_features()

    def _cost(self, bank: BankCost, task: Task) -> Cost:
        if self.solver not in ("auto", "trust_region") or self.free or self.tied is not None:
            return super()._cost(bank, task)
        ball = as_separable(self._domain(bank.m))
        few = bank.features is not None and 2 * bank.features <= bank.n
        if self.degree == 1 and task.target.ndim == 1 and ball is not None and not few:
            return support(bank, ball, self.tol) + _MACHINES * ridge(replace(bank, sweep=NONE))
        return self.n_init * polynomial_cost(bank, self.degree)

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        machine = RidgeMachine(self.alpha, self.fit_intercept)
        combination = self._combination()
        domain = self._domain(combination.n_parameters(bank))
        problem = Problem(bank, combination, machine, domain, task.target, task.sample_weight)
        start, variables = (warm.weights.values, warm.solution.warm) if warm else (None, None)
        return solved_in_own_units(problem, self._solve, start, variables, observe)

    def _solve(self, problem: Problem, start: Array | None, warm: Array | None, observe: Observer) -> Learned:
        """The problem in its own units."""
        return polynomial_mkl(
            problem,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_init=self.n_init,
            rng=check_random_state(self.random_state),
            start=start,
            observe=observe,
            warm=warm,
        )

    def _check_sums(self) -> None:
        super()._check_sums()
        if self.degree != 1 or self.free:
            raise ValueError(
                f"{type(self).__name__} learns from sums over the rows where kernels are added: use degree=1 and no "
                f"free products, got degree={self.degree}"
            )

    # -- the names and the number of weights, where products have weights of their own --------------------------------

    def bind(self, X: Any, y: Any = None) -> tuple[KernelBank, Array]:
        bank, y = super().bind(X, y)
        size = self._combination().n_parameters(bank)  # which refuses products of kernels that are not there
        if size > len(bank):
            names = self.kernel_names_
            products = [" * ".join(str(names[k]) for k in product) for product in self.free]
            self.kernel_names_ = np.array([*names, *products], dtype=object)
        return bank, y
