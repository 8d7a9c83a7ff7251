"""Kernel ridge regression.

    J(K) = tr Y'(K + alpha S^{-1})^{-1} Y,    Y without its mean where an intercept is fitted

with targets Y of shape (n, t), the coefficients A = (K + alpha S^{-1})^{-1} Y, and S the diagonal matrix of the
samples' weights s, all 1 if not given. It is both

    min_f |f|^2 + sum_it s_i (y_it - f_t(x_i))^2 / alpha    and    max_A 2 <A, Y> - <A, K A> - alpha <A, S^{-1} A>,

Cortes, Mohri and Rostamizadeh (2009), section 2. With K~ = S^{1/2} K S^{1/2} and Y~ = S^{1/2} Y, which have no inverse
in them, A = S^{1/2} A~: weight zero is a sample that is not there, weight two one that is there twice. What any
coefficients prove is derived in ``solved.py``.
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
    alpha : float > 0, what is added to the diagonal
    fit_intercept : bool, whether the (weighted) mean of the targets is taken off first and is the intercept
    reduced : bool, whether values are differences from that of K = 0, tr Y'S Y / alpha: for alphas so large that J
        hardly differs from it
    """

    numeric: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    alpha: Positive = 1.0
    fit_intercept: bool = True
    reduced: bool = False

    def in_units(self, kernel: float, target: float) -> tuple[Self, float]:
        inverse = 1.0 / kernel
        return replace(self, alpha=positive_product(self.alpha, inverse)), positive_product(target, inverse)

    def balance(self, target: float) -> float:
        return self.alpha

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        """Solve for real targets of shape (n,) or (n, t); by one factorisation, so ``warm`` is not used.

        Where alpha is so small beside K that the factorisation fails or loses the digits, a decomposition into
        eigenvectors takes its place if it proves more.

        Raises
        ------
        ValueError : for a target or weights that are not of the samples or not finite, for weights < 0 or all zero, and
            where K is found not to be positive semi-definite
        """
        check_interrupted()
        posed = _Posed.of(self, gram, target, sample_weight)
        if self.reduced:
            try:
                near = posed.gram.solve_shifted(self.alpha, posed.Y)
            except LinAlgError:  # alpha is large beside other matrices, and not beside this one
                whole = spectral(RidgeSpectrum.of(posed.gram, posed.Y), posed.gram, posed.Y, self.alpha)
                return posed.solution(whole.less(float(np.vdot(posed.Y, posed.Y)) / self.alpha))
            return posed.solution(reduced(posed.gram, posed.Y, self.alpha, near))
        found = direct(posed.gram, posed.Y, self.alpha)
        if found.gap > ROUNDING:
            found = best(found, spectral(RidgeSpectrum.of(posed.gram, posed.Y), posed.gram, posed.Y, self.alpha))
        return posed.solution(found)

    def solve_along(
        self, gram: Gram, target: Array, alphas: Sequence[float], sample_weight: Array | None = None
    ) -> list[DualSolution]:
        """The solutions for other alphas > 0 than the machine's own; for many of them from one decomposition."""
        check_each(POSITIVE, alphas, "RidgeMachine.solve_along: alphas")
        if self.reduced or len(alphas) < 5:  # five factorisations take as long as one tridiagonal form
            return [replace(self, alpha=alpha).solve(gram, target, None, sample_weight) for alpha in alphas]
        posed = _Posed.of(self, gram, target, sample_weight)
        return [posed.solution(found) for found in along(posed.gram, posed.Y, alphas)]


@dataclass(frozen=True, eq=False)
class _Posed:
    """The problem without weights and without mean, and how its solution becomes that of the problem given.

    Parameters
    ----------
    gram : K~
    targets : CentredTargets
    Y : array (n, t), Y~ divided by the unit
    unit : float, what Y~ is divided by, where the squares of its entries would be no numbers
    """

    gram: Gram
    targets: CentredTargets
    Y: Array
    unit: float

    @classmethod
    def of(cls, machine: RidgeMachine, gram: Gram, target: Array, s: Array | None) -> _Posed:
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

    def solution(self, found: Solved) -> DualSolution:
        """The solution of the problem as it was given."""
        coef, factor = (self.targets.coefficients(self.unit * each) for each in (found.coef, found.factor))
        proved = found.gap <= PROVED_GAP
        value, upper = (self.unit * (self.unit * each) for each in (found.value, found.upper))
        beyond = None if found.beyond is None else self._unreached(found.beyond)
        return DualSolution(
            coef,
            self.targets.intercept,
            value,
            upper,
            factor,
            found.gap,
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
