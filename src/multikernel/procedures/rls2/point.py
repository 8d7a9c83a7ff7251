"""Ridge regression at given weights of RLS2, and the bound of the optimum that it gives.

In units of alpha / 2 the value is that of the ridge machine, J = tr Y'(R + alpha I)^{-1} Y. For any coefficients C,
with the scores v_k = tr C'R_k C and the best multiple of C,

    (tr C'Y)^2 / (alpha |C|^2 + max_k v_k)

is at most the optimum. If C solves the system, then tr C'Y = J = alpha |C|^2 + tr C'R C, and the bound is
J - J e / (J + e) with e = max_k v_k - tr C'R C; the machine's gap is that of C itself. The gap is relative to the
smaller of J and |Y|^2 / alpha - J, the part that the kernels explain. Where alpha is large, values are returned less
|Y|^2 / alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from multikernel._floats import ROUNDING
from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import Gram, KernelBank
from multikernel.certificate import relative
from multikernel.duality import lost_by_multiple
from multikernel.machines import DualSolution
from multikernel.machines.ridge.half_factor import HalfFactor
from multikernel.machines.ridge.half_factor import space as half_factor_space
from multikernel.machines.ridge.solved import Solved, reduced, spectral
from multikernel.machines.ridge.spectrum import RidgeSpectrum
from multikernel.numerics.cholesky import factorise, solved
from multikernel.numerics.conjugate_gradients import conjugate_gradients, preconditioned_steps
from multikernel.tuning import RLS2_FEATURES_FROM, RLS2_HALF_FROM

Whiten = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Ridge:
    """The problem at any weights: Y of shape (n, t), alpha > 0, and whether values are less |Y|^2 / alpha."""

    Y: Array
    alpha: float
    large: bool = False

    @property
    def empty(self) -> float:
        """|Y|^2 / alpha, the value without a kernel."""
        return float(np.vdot(self.Y, self.Y)) / self.alpha

    def space(self, tol: float = 0.0) -> Array:
        """A buffer for the factor of a solution, (n, n) in Fortran order.

        For many samples, and unless ``tol`` is very small, one for a triangle in single precision, which suffices for a
        gap of ``tol``.
        """
        n = len(self.Y)
        if n >= RLS2_HALF_FROM and tol >= 1e-5:  # for a smaller gap, steps with this factor are not accurate enough
            return half_factor_space(n)
        return np.empty((n, n), order="F")

    def at(self, bank: KernelBank, d: Array, buffer: Array) -> RidgePoint:
        """The solution at the weights d of all kernels of the bank; ``buffer``, from ``space``, is overwritten.

        It is found by the Cholesky factor L of R + alpha I, or by the spectrum of R where this factor is inaccurate.
        """
        gram = bank.combine(d)
        factored = self._in_features(gram)
        if factored is None and buffer.dtype == np.float32:
            factored = self._roughly_factored(gram, buffer)
            buffer = np.empty((0, 0))
        if factored is None:
            factored = self._factored(gram, buffer if buffer.size else np.empty(gram.shape, order="F"))
        if factored is None:
            factored = self._decomposed(gram)
        solved, whiten = factored
        if self.large:
            solved = reduced(gram, self.Y, self.alpha, solved.factor)
        return RidgePoint(self, solved, float(np.vdot(solved.factor, gram.multiply(solved.factor))), whiten)

    def near(self, bank: KernelBank, d: Array, C: Array, residual: float) -> RidgePoint:
        """The solution by conjugate gradients from C on, to |(R + alpha I)C - Y| <= residual; it has no factor.

        There are at most ten times as many products as samples; in exact arithmetic one for each sample would suffice.
        """
        gram = bank.combine(d)
        C = conjugate_gradients(lambda B: gram.multiply(B) + self.alpha * B, self.Y, C, residual, 10 * len(C))
        if self.large:
            solution = reduced(gram, self.Y, self.alpha, C)
        else:
            solution = Solved.at(gram, self.Y, self.alpha, C)
        return RidgePoint(self, solution, float(np.vdot(solution.factor, gram.multiply(solution.factor))), _no_factor)

    def _factored(self, gram: Gram, buffer: Array) -> tuple[Solved, Whiten] | None:
        """The solution and M -> L^{-1} M; None where it is not accurate."""
        factor = gram.factored(self.alpha, buffer)
        if factor is None:
            return None
        solved = Solved.at(gram, self.Y, self.alpha, factor.solve(self.Y))
        if solved.gap > ROUNDING:
            return None
        return (solved, factor.half)

    def _roughly_factored(self, gram: Gram, buffer: Array) -> tuple[Solved, Whiten] | None:
        """The solution with a factor in single precision, made accurate by conjugate gradients."""
        factor = HalfFactor.of(gram.dense(), self.alpha, buffer)
        if factor is None:
            return None

        def times(V: Array) -> Array:
            return np.asarray(gram.multiply(V) + self.alpha * V)

        C = factor.solve(self.Y)
        forms = np.maximum((self.Y * C).sum(axis=0), 0.0)
        accurate = 0.5 * np.sqrt(ROUNDING * self.alpha * forms)  # norms of residuals
        residual = self.Y - times(C)
        steps = preconditioned_steps(times, factor.solve, residual)
        for _ in range(30):
            if (np.linalg.norm(residual, axis=0) <= accurate).all():
                break
            step = next(steps)
            C = C + step.change
            residual = step.residual
        solved = Solved.at(gram, self.Y, self.alpha, C)
        if solved.gap > ROUNDING:
            return None
        return (solved, factor.half)

    def _in_features(self, gram: Gram) -> tuple[Solved, Whiten] | None:
        """The solution from features, if there are fewer than samples; None if not, or where it is not accurate.

        With R = G G' and B = alpha I + G'G the inverse is (I - G B^{-1} G') / alpha, and with b = B^{-1} G'x

            x'(R + alpha I)^{-1} x = |(x - G b, alpha^{1/2} b)|^2 / alpha.
        """
        G = gram.thin() if len(self.Y) > RLS2_FEATURES_FROM else None
        if G is None:
            return None
        B = G.square()
        B.flat[:: len(B) + 1] += self.alpha
        if not factorise(B):
            return None

        def inside(M: Array) -> Array:
            return solved(B, G.inner(M))

        solution = Solved.at(gram, self.Y, self.alpha, (self.Y - G.outer(inside(self.Y))) / self.alpha)
        if solution.gap > ROUNDING:
            return None

        def whiten(M: Array) -> Array:
            b = inside(M)
            return np.vstack([(M - G.outer(b)) / np.sqrt(self.alpha), b])

        return solution, whiten

    def _decomposed(self, gram: Gram) -> tuple[Solved, Whiten]:
        """The solution and M -> (R + alpha I)^{-1/2} M."""
        spectrum = RidgeSpectrum.of(gram, self.Y)
        U = spectrum.vectors
        roots = np.sqrt(spectrum.values + self.alpha)[:, None]

        def whiten(M: Array) -> Array:
            inside = product(U.T, M)
            if U.shape[1] == len(U):
                beyond = 0.0
            else:
                beyond = (M - product(U, inside)) / np.sqrt(self.alpha)
            return product(U, inside / roots) + beyond

        return spectral(spectrum, gram, self.Y, self.alpha), whiten


def _no_factor(M: Array) -> Array:
    raise ValueError("coefficients by conjugate gradients have no factor")


@dataclass(frozen=True, eq=False)
class RidgePoint:
    """The solution at some weights.

    Parameters
    ----------
    ridge : Ridge
    solved : coefficients and their values
    form : float, tr C'R C
    whitened : M -> W M with W'W = (R + alpha I)^{-1}, W with at least n rows; M in Fortran order is overwritten
    """

    ridge: Ridge
    solved: Solved
    form: float
    whitened: Whiten

    @property
    def C(self) -> Array:
        """The dual coefficients, shape (n, t)."""
        return self.solved.factor

    @property
    def value(self) -> float:
        """An upper bound of the value at these weights."""
        return self.solved.upper

    def products(self, bank: KernelBank) -> tuple[Array, Array]:
        """R_k C as columns, targets one below the other, shape (t n, kernels); and the scores tr C'R_k C."""
        products = np.ascontiguousarray(bank.apply(self.C).transpose(0, 2, 1))
        W = products.reshape(len(products), -1).T
        return W, self.C.T.ravel() @ W

    def gap(self, largest: float) -> float:
        """The duality gap, relative to the part of the value that weights can change, for this largest score."""
        if self.ridge.large:
            explained = -self.solved.value
        else:
            explained = self.ridge.empty - self.solved.value
        return relative(self._excess(largest), max(min(self._full_value, explained), 0.0))

    def bound(self, largest: float) -> float:
        """A lower bound of the optimum, for this largest score of all kernels."""
        return self.solved.upper - self._excess(largest)

    @property
    def _full_value(self) -> float:
        """J, also where values are returned less |Y|^2 / alpha."""
        return self.solved.value + (self.ridge.empty if self.ridge.large else 0.0)

    def _excess(self, largest: float) -> float:
        return self.solved.upper - self.solved.value + lost_by_multiple(self._full_value, largest - self.form)

    def solution(self) -> DualSolution:
        """The point as a solution of the ridge machine."""
        solved = self.solved
        C = solved.factor
        return DualSolution(
            solved.coef, np.zeros(C.shape[1]), solved.value, solved.upper, C, solved.gap, True, 0, warm=C
        )
