"""Kernel ridge regression.

    J(K) = tr Y'(K + alpha S^{-1})^{-1} Y,    Y without its mean where an intercept is fitted

with targets Y of shape (n, t), the coefficients A = (K + alpha S^{-1})^{-1} Y, and S the diagonal matrix of the
samples' weights s, all 1 if not given. It is both

    min_f |f|^2 + sum_it s_i (y_it - f_t(x_i))^2 / alpha    and    max_A 2 <A, Y> - <A, K A> - alpha <A, S^{-1} A>,

Cortes, Mohri and Rostamizadeh (2009), section 2. With K~ = S^{1/2} K S^{1/2} and Y~ = S^{1/2} Y, which have no inverse
in them, A = S^{1/2} A~: weight zero is a sample that is not there, weight two one that is there twice. The difference
of the two values at any A~ is |R|^2 / alpha with R = Y~ - K~ A~ - alpha A~, free of cancellation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError

from multikernel._floats import positive_product
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.banks import Gram
from multikernel.certificate import relative
from multikernel.machines.base import DualSolution, Machine, check_gram, checked_target
from multikernel.machines.ridge.spectrum import RidgeSpectrum

ACCURATE = 1e-14  # a larger gap after a factorisation comes of rounding: the shift is too small beside the matrix
MANY = 12  # factorisations take as long as one decomposition into eigenvectors
_ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class RidgeMachine(Machine):
    """Squared loss with a ridge, for one target of shape (n,) or several (n, t).

    Parameters
    ----------
    alpha : float > 0, what is added to the diagonal
    fit_intercept : bool, whether the (weighted) mean of the targets is taken off first and is the intercept
    """

    numeric: ClassVar[bool] = True

    alpha: float = 1.0
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        if not (self.alpha > 0 and np.isfinite(self.alpha)):
            raise ValueError(f"alpha must be a finite number > 0, got {self.alpha}")

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
        eigenvectors takes its place, and the gap is that of a matrix which differs from K by rounding only.

        Raises
        ------
        ValueError : for a target or weights that are not of the samples or not finite, for weights < 0 or all zero, and
            where K is found not to be positive semi-definite
        """
        check_interrupted()
        posed = _Posed.of(self, gram, target, sample_weight)
        try:
            coef = posed.gram.solve_shifted(self.alpha, posed.Y)
        except LinAlgError:
            return self._along(posed, [self.alpha])[0]
        value, upper, gap = certified(posed.Y, posed.gram.multiply(coef), coef, self.alpha)
        return posed.solution(coef, value, upper, gap) if gap <= ACCURATE else self._along(posed, [self.alpha])[0]

    def solve_along(
        self, gram: Gram, target: Array, alphas: Sequence[float], sample_weight: Array | None = None
    ) -> list[DualSolution]:
        """The solutions for other alphas > 0 than the machine's own; for many of them from one decomposition."""
        if len(alphas) < MANY:
            return [replace(self, alpha=alpha).solve(gram, target, None, sample_weight) for alpha in alphas]
        return self._along(_Posed.of(self, gram, target, sample_weight), alphas)

    def _along(self, posed: _Posed, alphas: Sequence[float]) -> list[DualSolution]:
        spectrum = RidgeSpectrum.of(posed.gram, posed.Y)
        found = [(spectrum.coef(alpha), spectrum.value(alpha)) for alpha in alphas]
        return [posed.solution(A, value, (1.0 + _ROUNDING) * value, _ROUNDING) for A, value in found]


def certified(Y: Array, KA: Array, A: Array, alpha: float) -> tuple[float, float, float]:
    """2 <A, Y> - <A, K A> - alpha <A, A>, the primal value, and the gap relative to it; infinite for no solution."""
    with np.errstate(all="ignore"):  # coefficients that are NaN or infinite have an infinite gap
        residual = Y - KA - alpha * A
        excess = (residual * residual).sum() / alpha
        value = (A * (Y + residual)).sum()
    if value + excess < 0.0:  # no value is negative: the matrix has a negative eigenvalue
        return float(value), np.inf, np.inf
    return float(value), float(value + excess), relative(excess, value + excess)


@dataclass(frozen=True, eq=False)
class _Posed:
    """The problem without weights and without mean, and how its solution becomes that of the problem given.

    Parameters
    ----------
    gram : K~
    Y : array (n, t), Y~
    root : array (n, 1), S^{1/2}; None without weights
    mean : array (t,), the intercepts
    single : bool, whether the target had no second axis
    """

    gram: Gram
    Y: Array
    root: Array | None
    mean: Array
    single: bool

    @classmethod
    def of(cls, machine: RidgeMachine, gram: Gram, target: Array, s: Array | None) -> _Posed:
        y = checked_target(target, several=True)
        check_gram(gram, len(y))
        Y = as_columns(y)
        s = None if s is None else np.asarray(s, dtype=float)
        if s is not None and not (s.shape == (len(Y),) and (np.isfinite(s) & (s >= 0)).all() and s.any()):
            raise ValueError(
                f"sample_weight must be a finite number >= 0 for each of {len(Y)} samples, and not zero for all; "
                f"got shape {s.shape}"
            )
        mean = np.average(Y, axis=0, weights=s) if machine.fit_intercept else np.zeros(Y.shape[1])
        if s is None:
            return cls(gram, Y - mean, None, mean, y.ndim == 1)
        root = np.sqrt(s)
        return cls(gram.congruent(root), root[:, None] * (Y - mean), root[:, None], mean, y.ndim == 1)

    def solution(self, coef: Array, value: float, upper: float, gap: float) -> DualSolution:
        """The solution of the problem as it was given."""
        A = coef if self.root is None else self.root * coef
        A = A[:, 0] if self.single else A
        intercept: Any = float(self.mean[0]) if self.single else self.mean
        return DualSolution(A, intercept, value, upper, factor=A, gap=gap, converged=True, n_iter=1, warm=A)
