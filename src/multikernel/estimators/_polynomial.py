"""What the classifier and the regressor of polynomial kernel learning share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.combinations import Combination, HadamardPower
from multikernel.combinations.tied_and_free import TiedAndFree
from multikernel.domains import Domain, NormBall, Orthant
from multikernel.estimators._base import Fitted, KernelEstimator
from multikernel.kernels import KernelFamily, homogeneous_polynomials, linear_features
from multikernel.machines import DualSolution, RidgeMachine
from multikernel.problem import Problem
from multikernel.procedures import Weights
from multikernel.procedures.polynomial import SOLVERS, polynomial_mkl


class PolynomialMKL(KernelEstimator):
    """A power of a sum of kernels, or a tied and a free part, and the ridge machine."""

    alpha: float
    degree: int
    norm: float
    radius: float
    offset: Any
    penalty: float | None
    solver: str
    free: Any
    fit_intercept: bool
    n_init: int
    tol: float
    max_iter: int
    random_state: Any

    def _combination(self) -> Combination:
        free = tuple(tuple(product) for product in self.free)
        return TiedAndFree(self.degree, free) if free else HadamardPower(self.degree)

    def _domain(self) -> Domain:
        if self.penalty is not None:
            return Orthant(self.penalty, 2)
        return NormBall(self.norm, self.radius, self.offset)

    def _check_parameters(self) -> None:
        name = type(self).__name__
        self._combination()
        self._domain()
        RidgeMachine(self.alpha, self.fit_intercept)
        if self.solver not in SOLVERS:
            raise ValueError(f"{name}: solver must be one of {', '.join(SOLVERS)}, got {self.solver!r}")
        for parameter in ("tol", "n_init", "max_iter"):
            least, value = (0.0 if parameter == "tol" else 1), getattr(self, parameter)
            if not (value > 0 and value >= least):
                raise ValueError(f"{name}: {parameter} must be {'> 0' if least == 0 else 'at least 1'}, got {value}")

    def _default_kernels(self) -> KernelFamily:
        return homogeneous_polynomials(0, normalize=False) + linear_features()

    def _solve_problem(
        self, bank: KernelBank, target: Array, warm: Fitted | None, sample_weight: Array | None
    ) -> tuple[Weights, DualSolution]:
        machine = RidgeMachine(self.alpha, self.fit_intercept, sample_weight)
        return polynomial_mkl(
            Problem(bank, self._combination(), machine, self._domain(), target),
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_init=self.n_init,
            rng=check_random_state(self.random_state),
            start=None if warm is None else warm.weights.values,
        )

    def _combined(self, bank: KernelBank, weights: Array) -> Gram:
        return self._combination().gram(bank, weights)

    # -- the names and the number of weights, where products have weights of their own --------------------------------

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        bank, y = super()._bind(X, y, **checks)
        size = self._combination().n_parameters(bank)  # which refuses products of kernels that are not there
        if size > len(bank):
            names = self.kernel_names_
            products = [" * ".join(str(names[k]) for k in product) for product in self.free]
            self.kernel_names_ = np.array([*names, *products], dtype=object)
        return bank, y

    @property
    def _n_kernels(self) -> int:
        return super()._n_kernels - len(self.free)
