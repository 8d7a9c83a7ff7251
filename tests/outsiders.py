"""A machine, a combination, a domain and an optimizer as users write them, by the recipes in CONTRIBUTING."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit

from multikernel.banks import DenseGram, Gram, KernelBank
from multikernel.combinations import Combination
from multikernel.domains import Domain
from multikernel.machines import DualSolution, Machine
from multikernel.optimizers import Optimizer
from multikernel.optimizers.base import Search
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Problem

Array = Any


@dataclass(frozen=True)
class Logistic(Machine):
    """min 1/2 |f|^2 + C sum log(1 + exp(-y f)) = max over 0 < a < C of the entropies less 1/2 a'Y K Y a."""

    C: float = 1.0
    tol: float = 1e-3

    def with_tolerance(self, tol: float) -> Self:
        return type(self)(self.C, tol)

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        n = gram.shape[0]
        if sample_weight is not None:
            raise ValueError("the logistic machine takes no weights of samples, leave them out")
        if target.shape != (n,) or gram.shape != (n, n) or not np.isin(target, (-1.0, 1.0)).all():
            raise ValueError("the logistic machine needs a label -1 or +1 for each sample of a square matrix")
        K, y = gram.dense(), target
        b = np.zeros(n) if warm is None else y * warm
        gaps: list[float] = []
        while len(gaps) < 100:
            p = expit(-y * (K @ b))
            a = np.clip(self.C * p, 1e-12 * self.C, (1.0 - 1e-12) * self.C)
            f = K @ (y * a)
            entropies = self.C * np.log(self.C) - a * np.log(a) - (self.C - a) * np.log(self.C - a)
            value = float(entropies.sum() - 0.5 * (y * a) @ f)
            primal = 0.5 * float((y * a) @ f) + self.C * float(np.logaddexp(0.0, -y * f).sum())
            upper = max(primal, value)
            gaps.append((upper - value) / upper)
            if gaps[-1] <= self.tol:
                break
            curvature = self.C * p * (1.0 - p) + 1e-12
            b = np.linalg.solve(K + np.diag(1.0 / curvature), K @ b + y * self.C * p / curvature)
        converged = gaps[-1] <= self.tol
        factor = np.sqrt(0.5) * y * a
        return DualSolution(y * a, 0.0, value, upper, factor, gaps[-1], converged, len(gaps), a, tuple(gaps))


@dataclass(frozen=True)
class ExponentialOfSum(Combination):
    """K(theta) = exp(sum_k theta_k K_k), entry by entry; large sums are cut before they overflow."""

    def gram(self, bank: KernelBank, theta: Array) -> DenseGram:
        return DenseGram(np.exp(np.minimum(bank.combine(theta).dense(), 50.0)))

    def pullback(self, bank: KernelBank, theta: Array, A: Array) -> Array:
        A = A.reshape(len(A), -1)
        return bank.inner(A @ A.T * self.gram(bank, theta).dense())


@dataclass(frozen=True)
class Box(Domain):
    """0 <= d <= top, which is no sum of constraints that the interior point method knows."""

    top: float = 1.0

    def project(self, z: Array) -> Array:
        return np.clip(z, 0.0, self.top)

    def maximiser(self, q: Array) -> Array:
        return np.where(q > 0.0, self.top, 0.0)


@dataclass(frozen=True)
class FrankWolfe(Optimizer):
    """Steps towards the best weights for the present scores, of length 2 / (t + 2)."""

    def check(self, problem: Problem) -> None:
        if not problem.domain.constrained:
            raise TypeError(
                f"FrankWolfe needs a bounded domain, and the domain is {problem.domain}; QuasiNewton works on all"
            )

    def search(self, problem: Problem, state: State) -> Search:
        t = 0
        while True:
            t += 1
            at = state.latest
            state = yield Proposal(at.theta + 2.0 / (t + 2.0) * (problem.domain.maximiser(at.scores) - at.theta))
