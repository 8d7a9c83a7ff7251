"""Kernel ridge regression.

    J(K) = tr Y'(K + alpha S^{-1})^{-1} Y,    Y without its mean where an intercept is fitted

with targets Y of shape (n, t), the coefficients A = (K + alpha S^{-1})^{-1} Y, and S the diagonal matrix of the
samples' weights s, all 1 if not given. It is both

    min_f |f|^2 + sum_it s_i (y_it - f_t(x_i))^2 / alpha    and    max_A 2 <A, Y> - <A, K A> - alpha <A, S^{-1} A>,

Cortes, Mohri and Rostamizadeh (2009), section 2. With K~ = S^{1/2} K S^{1/2} and Y~ = S^{1/2} Y, which need no inverse
of S, A = S^{1/2} A~: a sample of weight zero has no effect, and one of weight two counts as two equal samples. The
bounds that follow from any coefficients are derived in ``solved.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError

from multikernel._floats import ROUNDING, positive_product
from multikernel._parameters import POSITIVE, Positive, check_each
from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.banks import Gram
from multikernel.machines.base import DualSolution, Machine, check_gram, checked_target
from multikernel.machines.ridge.along import along
from multikernel.machines.ridge.centred import CentredTargets
from multikernel.machines.ridge.solved import PROVED_GAP, Solved, best, direct, reduced, spectral
from multikernel.machines.ridge.spectrum import RidgeSpectrum


@dataclass(frozen=True)
class RidgeMachine(Machine):
    """Squared loss with a ridge, for one target of shape (n,) or several (n, t).

    Parameters
    ----------
    alpha : float > 0, added to the diagonal
    fit_intercept : bool, whether the (weighted) mean of the targets is subtracted first, and is the intercept
    reduced : bool, whether values are differences from that of K = 0, tr Y'S Y / alpha: for alphas so large that J
        hardly differs from it
    """

    numeric: ClassVar[bool] = True

    alpha: Positive = 1.0
    fit_intercept: bool = True
    reduced: bool = False

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        """Whether J(K) >= 0: reduced values are at most 0."""
        return not self.reduced

    def in_units(self, kernel: float, target: float) -> tuple[Self, float]:
        inverse = 1.0 / kernel
        return replace(self, alpha=positive_product(self.alpha, inverse)), positive_product(target, inverse)

    def balance(self, target: float) -> float:
        return self.alpha

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        """Solve for real targets of shape (n,) or (n, t); by one factorisation, so ``warm`` is not used.

        Where alpha is so small relative to K that the factorisation fails or loses digits, a decomposition into
        eigenvectors is used instead, if its gap is smaller.

        Raises
        ------
        ValueError : for a target or weights that are not of the samples or not finite, for weights < 0 or all zero, and
            where K is found not to be positive semi-definite
        """
        check_interrupted()
        problem = _UnweightedProblem.of(self, gram, target, sample_weight)
        if self.reduced:
            try:
                coef = problem.gram.solve_shifted(self.alpha, problem.Y)
            except LinAlgError:  # alpha is not large relative to this matrix
                full_value = spectral(RidgeSpectrum.of(problem.gram, problem.Y), problem.gram, problem.Y, self.alpha)
                return problem.solution(full_value.less(float(np.vdot(problem.Y, problem.Y)) / self.alpha))
            return problem.solution(reduced(problem.gram, problem.Y, self.alpha, coef))
        solved = direct(problem.gram, problem.Y, self.alpha)
        if solved.gap > ROUNDING:
            solved = best(
                solved, spectral(RidgeSpectrum.of(problem.gram, problem.Y), problem.gram, problem.Y, self.alpha)
            )
        return problem.solution(solved)

    def solve_along(
        self, gram: Gram, target: Array, alphas: Sequence[float], sample_weight: Array | None = None
    ) -> list[DualSolution]:
        """The solutions for given alphas > 0 in place of the machine's; for many of them from one decomposition."""
        check_each(POSITIVE, alphas, "RidgeMachine.solve_along: alphas")
        if self.reduced or len(alphas) < 5:  # five factorisations take as long as one tridiagonal form
            return [replace(self, alpha=alpha).solve(gram, target, None, sample_weight) for alpha in alphas]
        problem = _UnweightedProblem.of(self, gram, target, sample_weight)
        return [problem.solution(solved) for solved in along(problem.gram, problem.Y, alphas)]


@dataclass(frozen=True, eq=False)
class _UnweightedProblem:
    """The problem without weights and means, with the data to convert its solution to that of the given problem.

    Parameters
    ----------
    gram : K~
    targets : CentredTargets
    Y : array (n, t), Y~ divided by the unit
    unit : float, by which Y~ is divided; not 1 only where squares of its entries would overflow or underflow
    """

    gram: Gram
    targets: CentredTargets
    Y: Array
    unit: float

    @classmethod
    def of(cls, machine: RidgeMachine, gram: Gram, target: Array, s: Array | None) -> _UnweightedProblem:
        y = checked_target(target, several=True)
        check_gram(gram, len(y))
        s = None if s is None else np.asarray(s, dtype=float)
        if s is not None and not (s.shape == (len(y),) and (np.isfinite(s) & (s >= 0)).all() and s.any()):
            raise ValueError(
                f"sample_weight must be a finite number >= 0 for each of {len(y)} samples, and not zero for all; "
                f"got shape {s.shape}"
            )
        targets = CentredTargets.of(y, machine.fit_intercept, s)
        Y = targets.weighted
        peak = float(np.abs(Y).max(initial=0.0))
        # squares of larger ones may overflow
        if peak == 0.0 or 1e-100 < peak < 1e100:
            unit = 1.0
        else:
            unit = peak
        root = targets.root
        return cls(gram if root is None else gram.congruent(root[:, 0]), targets, Y / unit, unit)

    def solution(self, solved: Solved) -> DualSolution:
        """The solution of the given problem."""
        coef, factor = (self.targets.coefficients(self.unit * entry) for entry in (solved.coef, solved.factor))
        proved = solved.gap <= PROVED_GAP
        value, upper = (self.unit * (self.unit * entry) for entry in (solved.value, solved.upper))
        beyond = None if solved.beyond is None else self._unreached(solved.beyond)
        return DualSolution(
            coef,
            self.targets.intercept,
            value,
            upper,
            factor,
            solved.gap,
            proved,
            n_iter=1,
            warm=coef,
            beyond=beyond,
        )

    def _unreached(self, P: Array) -> Array:
        P = self.unit * P
        root = self.targets.root
        if root is not None:
            P = np.divide(P, root, out=np.zeros_like(P), where=root > 0.0)
        return self.targets.shaped(P)
