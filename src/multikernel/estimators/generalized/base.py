"""What the classifier and the regressor of generalised multiple kernel learning share.

A product of Gaussians, or another profile with scales inside, is learned on squared distances. They follow from the
kernels on the training samples, and on new samples where the self-values of these are known: for samples, and for rows
of a bank of distances; not for rows of a bank of kernels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, cast

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
from multikernel._rules import Choice, Number, shown
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.cost import BankCost
from multikernel.banks.views import BankRows
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF, ScaledProfile
from multikernel.domains import Domain, NormBall, Orthant, as_separable
from multikernel.estimators.approximated import ApproximateEstimator
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.kernels import (
    DistanceKernel,
    KernelFamily,
    Kernels,
    Matern,
    homogeneous_polynomials,
    linear_features,
    polynomials,
    rbf_grid,
)
from multikernel.machines import Machine
from multikernel.observer import Observer
from multikernel.problem import Problem
from multikernel.procedures import generalized_mkl, solved_in_own_units
from multikernel.procedures.forecast import Cost, hinge, quasi_newton, support
from multikernel.procedures.generalized import central_start

_PENALTIES = Choice((1, 2), why="where no radius is given")


@dataclass(eq=False, repr=False, kw_only=True)
class GeneralizedMKL(ApproximateEstimator):
    """A combination, a machine, a domain with its penalty: subclasses have the machine."""

    kernels: Any = field(default=None, kw_only=False)
    combination: Literal["linear", "polynomial", "rbf_product", "profile"] = "linear"
    profile: Any = None
    degree: Power = 2
    penalty: Positive = 1.0
    norm: Annotated[float, Number(least=1)] = 1
    radius: NonNegative | None = None
    offset: NonNegative | NonNegativeVector = 0.0
    n_init: Starts = 1
    tol: Part = 1e-4
    max_iter: Count = 1000
    random_state: Seed = None
    verbose: Verbosity = 0

    @abstractmethod
    def _machine(self) -> Machine:
        """The inner problem."""

    def _combination(self) -> Combination:
        match self.combination:
            case "linear":
                return Linear()
            case "polynomial":
                return HadamardPower(self.degree)
            case "profile":
                return ScaledProfile(self._profile())
        return ProductOfRBF()

    def _profile(self) -> DistanceKernel:
        return Matern(nu=1.5) if self.profile is None else deepcopy(self.profile)

    @property
    def _on_distances(self) -> bool:
        """Whether the weights are scales of distances."""
        return self.combination in ("rbf_product", "profile")

    def _domain(self) -> Domain:
        if self.radius is not None:
            return NormBall(self.norm, self.radius, self.offset)
        return Orthant(self.penalty, cast(Literal[1, 2], self.norm))

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.approximation is not None and self._on_distances:
            raise ValueError(
                f"{type(self).__name__}: combination={self.combination!r} is learned on distances, which have no "
                "features: approximation takes combination='linear' or 'polynomial'"
            )
        if not (self.profile is None or isinstance(self.profile, DistanceKernel)):
            raise ValueError(
                f"{type(self).__name__}: profile must be None or a kernel of a distance, RBF() or Laplacian() say, got "
                f"{shown(self.profile)}"
            )
        if self.radius is None:
            _PENALTIES.check(self.norm, f"{type(self).__name__}: norm")
            if np.any(self.offset):
                raise ValueError(
                    f"{type(self).__name__}: offset is the centre of a ball, and there is none: give a radius, or "
                    "leave the offset at 0"
                )

    def _default_kernels(self) -> KernelFamily:
        if self.combination == "polynomial":
            return homogeneous_polynomials(0, normalize=False) + linear_features()
        if self._on_distances:
            return linear_features()
        each = polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))
        return Kernels(tuple(kernel.normalized() for kernel in each))

    # -- kernels or distances ------------------------------------------------------------------------------------------

    def bind(self, X: Any, y: Any = None) -> tuple[KernelBank, Array]:
        bank, y = super().bind(X, y)
        if bank.of_distances and not self._on_distances:
            raise ValueError(
                f"{type(self).__name__}: a bank of distances holds no kernel matrices, and combination="
                f"{self.combination!r} needs them; fit on the bank of kernels, or use combination='rbf_product'"
            )
        return (_distances(bank) if self._on_distances else bank), y

    def _bound(self, X: Any) -> KernelBank:
        if self.combination != "profile" or self.kernels is not None:
            return super()._bound(X)
        self.kernel_names_ = np.array(self._family().resolve(self._features(X)).names, dtype=object)
        return ColumnDistancesBank.of(X, self._profile().degree)

    def banks(self, X: Any, width: int = 1) -> Iterator[KernelBank]:
        if self._on_distances and not (isinstance(X, KernelBank) and X.of_distances):
            if isinstance(X, BankRows):
                X = X if X.bank.of_distances else BankRows(_distances(X.bank), X.rows)
            elif isinstance(X, KernelBank) and X.square:
                X = _distances(X)
            elif self._is_given(X):
                raise ValueError(
                    f"{type(self).__name__}: kernels between new and training samples do not tell their distances; "
                    "take distances = bank.distances() of a bank of all samples, fit on distances[train, train] and "
                    "predict on distances[test, train]"
                )
        return super().banks(X, width)

    def _against(self, Z: Any) -> KernelBank:
        bank = super()._against(Z)
        return _distances(bank) if self._on_distances else bank

    def _cost(self, bank: BankCost, task: Task) -> Cost:
        domain = as_separable(self._domain())
        if self.combination == "linear" and domain is not None and task.target.ndim == 1:
            return support(bank, domain, self.tol)
        whole = replace(bank, features=None)  # products of kernels have no few features
        return self.n_init * quasi_newton(whole, hinge(whole))

    # -- learning ------------------------------------------------------------------------------------------------------

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        problem = Problem(bank, self._combination(), self._machine(), self._domain(), task.target, task.sample_weight)
        start, variables = (warm.weights.values, warm.solution.warm) if warm else (None, None)
        return solved_in_own_units(problem, self._solve, start, variables, observe)

    def _solve(self, problem: Problem, start: Array | None, warm: Array | None, observe: Observer) -> Learned:
        """The problem in its own units."""
        return generalized_mkl(problem, self.tol, self.max_iter, self._starts(problem, start), warm, observe)

    def _starts(self, problem: Problem, known: Array | None) -> list[Array]:
        """An earlier model's weights or the central ones, then random multiples of these."""
        # a model without weights tells nothing, and steps of a polynomial do not lead away from it
        first = known if known is not None and known.any() else central_start(problem)
        if problem.linear or self.n_init == 1:
            return [first]
        rng = check_random_state(self.random_state)
        return [first, *(first * rng.exponential(size=len(first)) for _ in range(self.n_init - 1))]


def _distances(bank: KernelBank) -> KernelBank:
    return bank if bank.of_distances else bank.distances()
