"""What the classifier and the regressor of generalised multiple kernel learning share.

A product of Gaussians is learned on squared distances. They follow from the kernels on the training samples, and on new
samples where the self-values of these are known: for samples, and for rows of a bank of distances; not for rows of a
bank of kernels.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, cast

import numpy as np
from sklearn.utils import check_random_state

from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.banks.distances import DistanceBank
from multikernel.combinations import Combination, HadamardPower, Linear, ProductOfRBF
from multikernel.domains import Domain, NormBall, Orthant
from multikernel.estimators._base import Fitted, KernelEstimator
from multikernel.kernels import (
    KernelFamily,
    Kernels,
    homogeneous_polynomials,
    linear_features,
    polynomials,
    rbf_grid,
)
from multikernel.machines import DualSolution, Machine
from multikernel.optimizers.quasi_newton import QuasiNewton
from multikernel.problem import Problem
from multikernel.procedures import Weights, generalized_mkl
from multikernel.procedures.generalized import central_start


class GeneralizedMKL(KernelEstimator):
    """A combination, a machine, a domain with its penalty: subclasses have the machine."""

    combination: str
    degree: int
    penalty: float
    norm: float
    radius: float | None
    n_init: int
    tol: float
    max_iter: int
    random_state: Any

    @abstractmethod
    def _machine(self) -> Machine:
        """The inner problem."""

    def _combination(self) -> Combination:
        match self.combination:
            case "linear":
                return Linear()
            case "polynomial":
                return HadamardPower(self.degree)
            case "rbf_product":
                return ProductOfRBF()
        raise ValueError(
            f"{type(self).__name__}: combination must be 'linear', 'polynomial' or 'rbf_product', "
            f"got {self.combination!r}"
        )

    def _domain(self) -> Domain:
        if self.radius is not None:
            return NormBall(self.norm, self.radius)
        return Orthant(self.penalty, cast(Literal[1, 2], self.norm))  # which refuses others

    def _check_parameters(self) -> None:
        self._combination()
        self._machine()
        self._domain()
        QuasiNewton(self.tol, self.max_iter)
        if not self.n_init >= 1:
            raise ValueError(f"{type(self).__name__}: n_init must be at least 1, got {self.n_init}")

    def _default_kernels(self) -> KernelFamily:
        if self.combination == "polynomial":
            return homogeneous_polynomials(0, normalize=False) + linear_features()
        if self.combination == "rbf_product":
            return linear_features()
        each = polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 1, 9))
        return Kernels(tuple(kernel.normalized() for kernel in each))

    # -- kernels or distances ------------------------------------------------------------------------------------------

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        bank, y = super()._bind(X, y, **checks)
        if self.combination != "rbf_product" and isinstance(bank, DistanceBank):
            raise ValueError(
                f"{type(self).__name__}: a bank of distances holds no kernel matrices, and combination="
                f"{self.combination!r} needs them; fit on the bank of kernels, or use combination='rbf_product'"
            )
        return (_distances(bank) if self.combination == "rbf_product" else bank), y

    def _decide(self, X: Any) -> Array:
        if self.combination == "rbf_product" and not isinstance(X, DistanceBank):
            if isinstance(X, KernelBank) and X.square:
                return super()._decide(_distances(X))
            if isinstance(X, KernelBank) or self._is_precomputed():
                raise ValueError(
                    f"{type(self).__name__}: kernels between new and training samples do not tell their distances; "
                    "take distances = bank.distances() of a bank of all samples, fit on distances[train, train] and "
                    "predict on distances[test, train]"
                )
        return super()._decide(X)

    def _combined(self, bank: KernelBank, weights: Array) -> Gram:
        return self._combination().gram(bank, weights)

    # -- learning ------------------------------------------------------------------------------------------------------

    def _learn(self, bank: KernelBank, target: Array, warm: Fitted | None) -> tuple[Weights, DualSolution]:
        problem = Problem(bank, self._combination(), self._machine(), self._domain(), target)
        begins = self._starts(problem, warm)
        return generalized_mkl(problem, self.tol, self.max_iter, begins, warm.solution.warm if warm else None)

    def _starts(self, problem: Problem, warm: Fitted | None) -> list[Array]:
        """An earlier model's weights or the central ones, then random multiples of these."""
        # a model without weights tells nothing, and steps of a polynomial do not lead away from it
        first = warm.weights.values if warm is not None and warm.weights.values.any() else central_start(problem)
        if problem.linear or self.n_init == 1:
            return [first]
        rng = check_random_state(self.random_state)
        return [first, *(first * rng.exponential(size=len(first)) for _ in range(self.n_init - 1))]


def _distances(bank: KernelBank) -> KernelBank:
    return bank if isinstance(bank, DistanceBank) else bank.distances()
