"""The dual problem of a support vector machine of several classes at once, and the bounds that its points give.

Every class c has a function f_c with an intercept b_c, and every sample i one loss, which compares its class y with the
strongest other class,

    J(K) = min 1/2 sum_c |f_c|^2 + sum_i C_i max_c (1[c != y_i] + f_c(x_i) + b_c - f_y(x_i) - b_y).

With coefficients B of shape (n, classes), f_c = sum_i B_ic k(x_i, .), its dual problem is

    J(K) = max_B sum_i B_iy - 1/2 tr B'K B,    B_ic <= 0 for c != y_i,    B_iy <= C_i,    sum_c B_ic = 0,

and sum_i B_ic = 0 for every class where there are intercepts. A row is C_i (e_y - a_i) with a_i in a simplex, so that
the nearest feasible row is a projection onto a simplex. The amount -B_ic, c != y, is called what sample i moves from
its class to class c. With the margins m_ic = 1[c != y_i] + f_c + b_c - f_y - b_y the difference of the two values is

    sum_i C_i max_c m_ic + sum_{c != y} B_ic m_ic,

whose terms are not negative.

K. Crammer and Y. Singer (2001), On the algorithmic implementation of multiclass kernel-based vector machines, JMLR 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from multikernel._floats import EPS
from multikernel._typing import Array
from multikernel.certificate import relative
from multikernel.duality import form_rounding
from multikernel.machines.base import DualSolution, checked_target
from multikernel.machines.support.base import weights_of_samples
from multikernel.numerics.line_search import MOST_NEWTON_STEPS

# Fractions of f that are added: with a large C, losses because of the last digits matter.
_EXTRA = np.concatenate([[0.0], np.logspace(-13, -3, 21)])


@dataclass(frozen=True, eq=False)
class CrammerSingerProgram:
    """The data of the problem without the kernel matrix.

    Parameters
    ----------
    labels : int array (n,), the class of each sample
    upper : array (n,), C_i > 0
    n_classes : int >= 2
    intercept : bool, whether there are intercepts, and coefficients of a class sum to zero
    """

    labels: Array
    upper: Array
    n_classes: int
    intercept: bool = True

    @classmethod
    def of(cls, target: Array, C: float, intercept: bool, sample_weight: Array | None) -> CrammerSingerProgram:
        """The problem for a target with a column for each class, +1 in that of the sample's class and -1 elsewhere.

        Raises
        ------
        ValueError : for another target, and for weights that are not finite and > 0
        """
        Y = checked_target(target, several=True)
        if Y.ndim != 2 or Y.shape[1] < 2 or not (np.isin(Y, (-1.0, 1.0)).all() and ((Y > 0).sum(axis=1) == 1).all()):
            raise ValueError(
                "a machine of several classes needs a target with a column for each class, two at least, with one +1 "
                "in each row, in the column of its class, and -1 elsewhere"
            )
        return cls(Y.argmax(axis=1), C * weights_of_samples(sample_weight, len(Y)), Y.shape[1], intercept)

    @cached_property
    def own_class(self) -> Array:
        """Bool array (n, classes), the class of each sample."""
        return np.asarray(self.labels[:, None] == np.arange(self.n_classes))

    def of_samples(self, rows: Array) -> CrammerSingerProgram:
        """The problem of these samples."""
        return replace(self, labels=self.labels[rows], upper=self.upper[rows])

    def nearest(self, V: Array) -> tuple[Array, Array]:
        """The feasible rows nearest to those of V, and which entries of C_i e_y - B are positive.

        With Z_c = V_y - V_c for the classes c != y the rows are -B_c = max(Z_c - t, 0), and B_y is their sum: t itself
        where t < C_i, else C_i. Let the j classes of largest Z be those above t; then t = sum Z / (j + 1) in the first
        case, in which C_i does not occur, and t = (sum Z - C_i) / j in the second.
        """
        Z = np.where(self.own_class, -np.inf, V[self.own_class][:, None] - V)
        falling = -np.sort(-Z, axis=1)[:, :-1]
        sums = np.cumsum(falling, axis=1)
        above = sums - self.upper[:, None]
        j = np.arange(1, self.n_classes)
        t = _at_last(sums / (j + 1.0), falling * (j + 1.0) > sums)
        full = t >= self.upper
        t = np.where(full, _at_last(above / j, falling * j > above), t)
        A = np.maximum(Z - t[:, None], 0.0)
        alone = full & ((A > 0.0).sum(axis=1) == 1)  # one other class has all of C_i: set exactly, as zeros are exact
        A[alone] = np.where(A[alone] > 0.0, self.upper[alone, None], 0.0)
        return self._with_own_class(-A), np.where(self.own_class, ~full[:, None], A > 0.0)

    def _with_own_class(self, B: Array) -> Array:
        """The coefficients with entries at the samples' own classes for which rows sum to zero."""
        B = np.where(self.own_class, 0.0, B)
        return B - np.where(self.own_class, B.sum(axis=1, keepdims=True), 0.0)

    def feasible(self, start: Array | None) -> Array:
        """Feasible rows near a start of shape (n, classes); zeros where it is None or not usable."""
        shape = (len(self.labels), self.n_classes)
        if start is None or np.shape(start) != shape or not np.isfinite(start).all():
            return np.zeros(shape)
        B = self._with_own_class(np.minimum(start, 0.0))
        moved = B[self.own_class]
        return B * (self.upper / np.maximum(moved, self.upper))[:, None]

    def balanced(self, B: Array) -> Array:
        """Coefficients near B whose classes sum to zero, if there are intercepts.

        T_yc, what samples of class y move to class c, becomes T_yc (1 + p_c - p_y), where p is such that every class
        loses as much as it receives: p solves a system with the graph Laplacian of T. Negative factors are set to zero,
        which makes more steps necessary; in the end all are divided by the largest one, so that rows stay feasible.
        """
        if not self.intercept:
            return B
        E = self.own_class.astype(float)
        T = E.T @ np.where(self.own_class, 0.0, -B)
        ratio = np.ones_like(T)
        for _ in range(MOST_NEWTON_STEPS):
            moves = T * ratio
            excess = moves.sum(axis=1) - moves.sum(axis=0)
            if np.abs(excess).max() <= 4.0 * EPS * moves.sum():
                break
            W = moves + moves.T
            p = np.linalg.lstsq(np.diag(W.sum(axis=1)) - W, excess, rcond=None)[0]
            ratio = ratio * np.maximum(1.0 + p[None, :] - p[:, None], 0.0)
        else:
            return np.zeros_like(B)
        ratio /= max(1.0, float(ratio[T > 0.0].max(initial=0.0)))
        return self._with_own_class(B * ratio[self.labels])

    def dual(self, B: Array, F: Array) -> float:
        """The dual value at coefficients B with F = K B."""
        return float(B[self.own_class].sum()) - 0.5 * float(np.vdot(B, F))

    def solution(
        self, B: Array, F: Array, intercept: Array, sizes: Array, tol: float, n_iter: int, history: tuple[float, ...]
    ) -> DualSolution:
        """The solution at feasible coefficients B with F = K B, and intercepts; ``sizes`` are the roots of K_ii.

        Its gap and upper value include bounds of rounding errors, which are ignored in the test of convergence.
        """
        value = self.dual(B, F)
        _, excess_computed, excess_at_most = self._best_multiple(B, F, intercept, sizes)
        hidden = excess_at_most - excess_computed + self._hidden(B, intercept, sizes)
        excess = excess_computed + hidden
        converged = relative(excess_computed, value + excess_computed) <= tol or excess_computed <= hidden
        gap = relative(excess, value + excess)
        return DualSolution(
            coef=B,
            intercept=intercept,
            value=value,
            upper=value + excess,
            factor=np.sqrt(0.5) * B,
            gap=gap,
            converged=converged,
            n_iter=n_iter,
            warm=B,
            history=(*history, gap),
        )

    def scaled_solution(self, solution: DualSolution, F: Array, sizes: Array) -> DualSolution:
        """A solution with F = K B, scaled to the multiple of f and intercepts to which its gap refers."""
        multiple, _, _ = self._best_multiple(solution.coef, F, solution.intercept, sizes)
        return replace(solution, coef=multiple * solution.coef, intercept=multiple * solution.intercept)

    def _best_multiple(self, B: Array, F: Array, intercept: Array, sizes: Array) -> tuple[float, float, float]:
        """A multiple of f, and the difference of its primal value and the dual one: as computed, and an upper bound.

        Where f and the intercepts are multiplied by 1 + e, |f|^2 / 2 rises by (e + e^2 / 2) |f|^2, and a margin m
        becomes 1 - (1 + e) (1 - m). The error of a term C max_c m_c - a'm, a the simplex point of the sample, is at
        most the largest error of a margin times the sum of |C e_c - a|, 2 (C - a_c), for a class c that may have the
        largest margin. The multiple with the smallest upper bound is chosen: with a large C, a slightly larger f makes
        the margins of samples without a loss negative beyond rounding.
        """
        G = F + intercept
        margins = np.where(self.own_class, -np.inf, 1.0 + G - G[self.own_class][:, None])
        moved = np.where(self.own_class, 0.0, -B)
        missing = np.where(self.own_class, moved.sum(axis=1, keepdims=True), self.upper[:, None] - moved)  # C - a_c
        gained = (moved * np.where(self.own_class, 0.0, margins)).sum(axis=1)
        norm = float(np.vdot(B, F))
        reach = np.abs(B).sum(axis=1) @ sizes
        error = EPS * (2.0 * sizes * reach + 2.0 * np.abs(F).max(axis=1) + 2.0 * float(np.abs(intercept).max()) + 1.0)
        multiples = []
        for extra in _EXTRA:
            m = np.where(self.own_class, 0.0, 1.0 - (1.0 + extra) * (1.0 - margins))
            worst = m.max(axis=1)
            wrong = (1.0 + extra) * error
            lost = 2.0 * float(np.where(m >= (worst - 2.0 * wrong)[:, None], missing, 0.0).max(axis=1) @ wrong)
            excess = float((self.upper * worst - gained).sum()) + (extra + 0.5 * extra**2) * norm
            multiples.append((1.0 + extra, max(excess, 0.0), max(excess, 0.0) + lost))
        return min(multiples, key=lambda candidate: candidate[2])

    def _hidden(self, B: Array, intercept: Array, sizes: Array) -> float:
        """A bound of the error of the dual value by rounding, and by sums of classes that are not exactly zero."""
        rounding = sum(float(form_rounding(column, sizes)) for column in B.T)
        if self.intercept:
            imbalance = float(np.abs(B.sum(axis=0)) @ np.abs(intercept))
        else:
            imbalance = 0.0
        return rounding + imbalance + EPS * float(B[self.own_class].sum())


def _at_last(values: Array, holds: Array) -> Array:
    """The value of each row at the last place up to which a condition holds, 0 where it holds nowhere."""
    count = holds.sum(axis=1)
    return np.where(count > 0, values[np.arange(len(values)), count - 1], 0.0)
