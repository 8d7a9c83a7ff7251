"""Ridge regression at given weights of RLS2, and the bound of the optimum that it gives.

In units of alpha / 2 the value is the ridge machine's, J = tr Y'(R + alpha I)^{-1} Y. For any coefficients C, with the
scores v_k = tr C'R_k C and C scaled at best,

    (tr C'Y)^2 / (alpha |C|^2 + max_k v_k)

is at most the optimum. At C that solve the system, tr C'Y = J = alpha |C|^2 + tr C'R C, that is J - J e / (J + e) with
e = max_k v_k - tr C'R C; the gap of C itself is the machine's. It is relative to the smaller of J and
|Y|^2 / alpha - J, which is what kernels explain. Where alpha is large, values are returned less |Y|^2 / alpha.
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
        """Where a solution keeps its factor, (n, n) in Fortran order.

        Of many samples one half in single precision, with which weights reach a gap of ``tol`` unless that is very
        small.
        """
        n = len(self.Y)
        if n >= RLS2_HALF_FROM and tol >= 1e-5:  # for a smaller gap the steps of half a factor are not good enough
            return half_factor_space(n)
        return np.empty((n, n), order="F")

    def at(self, bank: KernelBank, d: Array, work: Array) -> RidgePoint:
        """The solution at the weights d of all kernels of the bank; ``work``, from ``space``, is written to.

        By the Cholesky factor L of R + alpha I; by the spectrum of R where rounding spoils the factor.
        """
        gram = bank.combine(d)
        factored = self._in_features(gram)
        if factored is None and work.dtype == np.float32:
            factored = self._roughly_factored(gram, work)
            work = np.empty((0, 0))
        if factored is None:
            factored = self._factored(gram, work if work.size else np.empty(gram.shape, order="F"))
        if factored is None:
            factored = self._decomposed(gram)
        solved, whiten = factored
        if self.large:
            solved = reduced(gram, self.Y, self.alpha, solved.factor)
        return RidgePoint(self, solved, float(np.vdot(solved.factor, gram.multiply(solved.factor))), whiten)

    def near(self, bank: KernelBank, d: Array, C: Array, residual: float) -> RidgePoint:
        """The same by conjugate gradients from C on, to |(R + alpha I)C - Y| <= residual; it has no factor.

        Ten times as many products as samples at most: in exact arithmetic they end after as many as there are samples.
        """
        gram = bank.combine(d)
        C = conjugate_gradients(lambda B: gram.multiply(B) + self.alpha * B, self.Y, C, residual, 10 * len(C))
        if self.large:
            found = reduced(gram, self.Y, self.alpha, C)
        else:
            found = Solved.at(gram, self.Y, self.alpha, C)
        return RidgePoint(self, found, float(np.vdot(found.factor, gram.multiply(found.factor))), _no_factor)

    def _factored(self, gram: Gram, work: Array) -> tuple[Solved, Whiten] | None:
        """The solution and M -> L^{-1} M; None where it is not accurate."""
        factor = gram.factored(self.alpha, work)
        if factor is None:
            return None
        solved = Solved.at(gram, self.Y, self.alpha, factor.solve(self.Y))
        if solved.gap > ROUNDING:
            return None
        return (solved, factor.half)

    def _roughly_factored(self, gram: Gram, work: Array) -> tuple[Solved, Whiten] | None:
        """The same with a factor in single precision: conjugate gradients make its solution accurate."""
        factor = HalfFactor.of(gram.dense(), self.alpha, work)
        if factor is None:
            return None

        def times(V: Array) -> Array:
            return np.asarray(gram.multiply(V) + self.alpha * V)

        C = factor.solve(self.Y)
        forms = np.maximum((self.Y * C).sum(axis=0), 0.0)
        accurate = 0.5 * np.sqrt(ROUNDING * self.alpha * forms)  # norms of residuals
        left = self.Y - times(C)
        further = preconditioned_steps(times, factor.solve, left)
        for _ in range(30):
            if (np.linalg.norm(left, axis=0) <= accurate).all():
                break
            step = next(further)
            C = C + step.change
            left = step.left
        solved = Solved.at(gram, self.Y, self.alpha, C)
        if solved.gap > ROUNDING:
            return None
        return (solved, factor.half)

    def _in_features(self, gram: Gram) -> tuple[Solved, Whiten] | None:
        """The solution from features that are fewer than the samples; None where they are not, or it is not accurate.

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
    whitened : M -> W M with W'W = (R + alpha I)^{-1}, of as many rows or more; M in Fortran order is written over
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
        """At least the value at these weights."""
        return self.solved.upper

    def products(self, bank: KernelBank) -> tuple[Array, Array]:
        """R_k C as columns, targets one below the other, shape (t n, kernels); and the scores tr C'R_k C."""
        products = np.ascontiguousarray(bank.apply(self.C).transpose(0, 2, 1))
        W = products.reshape(len(products), -1).T
        return W, self.C.T.ravel() @ W

    def gap(self, largest: float) -> float:
        """How far the value may be above the optimum, relative to what weights can change, for this largest score."""
        if self.ridge.large:
            explained = -self.solved.value
        else:
            explained = self.ridge.empty - self.solved.value
        return relative(self._excess(largest), max(min(self._whole, explained), 0.0))

    def bound(self, largest: float) -> float:
        """A value that the optimum is not below, for this largest score of all kernels."""
        return self.solved.upper - self._excess(largest)

    @property
    def _whole(self) -> float:
        """J, also where values are returned less |Y|^2 / alpha."""
        return self.solved.value + (self.ridge.empty if self.ridge.large else 0.0)

    def _excess(self, largest: float) -> float:
        return self.solved.upper - self.solved.value + lost_by_multiple(self._whole, largest - self.form)

    def solution(self) -> DualSolution:
        """As a solution of the ridge machine."""
        found = self.solved
        C = found.factor
        return DualSolution(found.coef, np.zeros(C.shape[1]), found.value, found.upper, C, found.gap, True, 0, warm=C)
