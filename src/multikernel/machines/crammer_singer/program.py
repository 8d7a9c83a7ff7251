"""The dual problem of a support vector machine of several classes at once, and what its points prove.

Every class c has a function f_c with an intercept b_c, and every sample i one loss, by its class y and the class that
comes nearest to it,

    J(K) = min 1/2 sum_c |f_c|^2 + sum_i C_i max_c (1[c != y_i] + f_c(x_i) + b_c - f_y(x_i) - b_y).

With coefficients B of shape (n, classes), f_c = sum_i B_ic k(x_i, .), its dual problem is

    J(K) = max_B sum_i B_iy - 1/2 tr B'K B,    B_ic <= 0 for c != y_i,    B_iy <= C_i,    sum_c B_ic = 0,

and sum_i B_ic = 0 for every class where there are intercepts. A row is C_i (e_y - a_i) with a_i in a simplex, so that
the nearest allowed row is a projection on a simplex. The parts -B_ic, c != y, say how much sample i moves from its
class to class c. With the margins m_ic = 1[c != y_i] + f_c + b_c - f_y - b_y the difference of the two values is

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

# Parts of f that are added: with a large C, losses from the last digits count.
_MORE = np.concatenate([[0.0], np.logspace(-13, -3, 21)])


@dataclass(frozen=True, eq=False)
class CrammerSingerProgram:
    """The data of the problem, free of the kernel matrix.

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
    def own(self) -> Array:
        """Bool array (n, classes), the class of each sample."""
        return np.asarray(self.labels[:, None] == np.arange(self.n_classes))

    def some(self, rows: Array) -> CrammerSingerProgram:
        """The problem of these samples."""
        return replace(self, labels=self.labels[rows], upper=self.upper[rows])

    def nearest(self, V: Array) -> tuple[Array, Array]:
        """The rows nearest to those of V that are allowed, and which of C_i e_y - B are above zero.

        With Z_c = V_y - V_c for the classes c != y they are -B_c = max(Z_c - t, 0), B_y the sum of these: t itself
        where t < C_i, else C_i. Of the j classes of largest Z that are above t, t = sum Z / (j + 1) in the first case,
        in which C_i is no part of any sum, and t = (sum Z - C_i) / j in the second.
        """
        Z = np.where(self.own, -np.inf, V[self.own][:, None] - V)
        falling = -np.sort(-Z, axis=1)[:, :-1]
        sums = np.cumsum(falling, axis=1)
        above = sums - self.upper[:, None]
        j = np.arange(1, self.n_classes)
        t = _at_last(sums / (j + 1.0), falling * (j + 1.0) > sums)
        full = t >= self.upper
        t = np.where(full, _at_last(above / j, falling * j > above), t)
        A = np.maximum(Z - t[:, None], 0.0)
        alone = full & ((A > 0.0).sum(axis=1) == 1)  # one other class has all: exactly, for zeros are exact
        A[alone] = np.where(A[alone] > 0.0, self.upper[alone, None], 0.0)
        return self._with_own(-A), np.where(self.own, ~full[:, None], A > 0.0)

    def _with_own(self, B: Array) -> Array:
        """The coefficients whose entries at the samples' own classes make rows sum to zero."""
        B = np.where(self.own, 0.0, B)
        return B - np.where(self.own, B.sum(axis=1, keepdims=True), 0.0)

    def feasible(self, start: Array | None) -> Array:
        """Allowed rows near a start of shape (n, classes), zeros where there is none that can be used."""
        shape = (len(self.labels), self.n_classes)
        if start is None or np.shape(start) != shape or not np.isfinite(start).all():
            return np.zeros(shape)
        B = self._with_own(np.minimum(start, 0.0))
        moved = B[self.own]
        return B * (self.upper / np.maximum(moved, self.upper))[:, None]

    def balanced(self, B: Array) -> Array:
        """Coefficients near B whose classes sum to zero, if there are intercepts.

        T_yc, what samples of class y move to class c, becomes T_yc (1 + p_c - p_y), where p is such that every class
        loses what it receives: a system of the graph Laplacian of T. Factors are kept from falling below zero, which
        takes further steps; in the end all are divided by the largest, so that no sample moves more than it may.
        """
        if not self.intercept:
            return B
        E = self.own.astype(float)
        T = E.T @ np.where(self.own, 0.0, -B)
        ratio = np.ones_like(T)
        for _ in range(MOST_NEWTON_STEPS):
            now = T * ratio
            excess = now.sum(axis=1) - now.sum(axis=0)
            if np.abs(excess).max() <= 4.0 * EPS * now.sum():
                break
            W = now + now.T
            p = np.linalg.lstsq(np.diag(W.sum(axis=1)) - W, excess, rcond=None)[0]
            ratio = ratio * np.maximum(1.0 + p[None, :] - p[:, None], 0.0)
        else:
            return np.zeros_like(B)
        ratio /= max(1.0, float(ratio[T > 0.0].max(initial=0.0)))
        return self._with_own(B * ratio[self.labels])

    def dual(self, B: Array, F: Array) -> float:
        """The dual value at coefficients B with F = K B."""
        return float(B[self.own].sum()) - 0.5 * float(np.vdot(B, F))

    def solution(
        self, B: Array, F: Array, intercept: Array, sizes: Array, tol: float, n_iter: int, history: tuple[float, ...]
    ) -> DualSolution:
        """The solution at feasible coefficients B with F = K B, and intercepts; ``sizes`` are the roots of K_ii.

        Its gap and upper value hold what rounding may hide; that alone does not keep it from having converged.
        """
        value = self.dual(B, F)
        _, found, most = self._best_multiple(B, F, intercept, sizes)
        hidden = most - found + self._hidden(B, intercept, sizes)
        excess = found + hidden
        converged = relative(found, value + found) <= tol or found <= hidden
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

    def published(self, found: DualSolution, F: Array, sizes: Array) -> DualSolution:
        """A solution with F = K B, as the multiple of f and of the intercepts whose value its gap is about."""
        multiple, _, _ = self._best_multiple(found.coef, F, found.intercept, sizes)
        return replace(found, coef=multiple * found.coef, intercept=multiple * found.intercept)

    def _best_multiple(self, B: Array, F: Array, intercept: Array, sizes: Array) -> tuple[float, float, float]:
        """A multiple of f, and by how much its primal value is above the dual one, as computed and at most.

        Where f and the intercepts are multiplied with 1 + e, |f|^2 / 2 rises by (e + e^2 / 2) |f|^2, and a margin m
        becomes 1 - (1 + e) (1 - m). A term C max_c m_c - a'm, a the simplex point of the sample, is wrong by no more
        than the largest error of a margin times the sum of |C e_c - a|, 2 (C - a_c), c a class that may be the nearest
        one. The multiple is that with the least of these bounds: with a large C a little more of f makes the margins of
        samples without a loss negative for certain.
        """
        G = F + intercept
        margins = np.where(self.own, -np.inf, 1.0 + G - G[self.own][:, None])
        moved = np.where(self.own, 0.0, -B)
        missing = np.where(self.own, moved.sum(axis=1, keepdims=True), self.upper[:, None] - moved)  # C - a_c
        gained = (moved * np.where(self.own, 0.0, margins)).sum(axis=1)
        norm = float(np.vdot(B, F))
        reach = np.abs(B).sum(axis=1) @ sizes
        error = EPS * (2.0 * sizes * reach + 2.0 * np.abs(F).max(axis=1) + 2.0 * float(np.abs(intercept).max()) + 1.0)
        found = []
        for more in _MORE:
            m = np.where(self.own, 0.0, 1.0 - (1.0 + more) * (1.0 - margins))
            worst = m.max(axis=1)
            wrong = (1.0 + more) * error
            lost = 2.0 * float(np.where(m >= (worst - 2.0 * wrong)[:, None], missing, 0.0).max(axis=1) @ wrong)
            excess = float((self.upper * worst - gained).sum()) + (more + 0.5 * more**2) * norm
            found.append((1.0 + more, max(excess, 0.0), max(excess, 0.0) + lost))
        return min(found, key=lambda each: each[2])

    def _hidden(self, B: Array, intercept: Array, sizes: Array) -> float:
        """How much rounding may change in the dual value, and what coefficients lack of the balance of the classes."""
        form = sum(float(form_rounding(column, sizes)) for column in B.T)
        if self.intercept:
            imbalance = float(np.abs(B.sum(axis=0)) @ np.abs(intercept))
        else:
            imbalance = 0.0
        return form + imbalance + EPS * float(B[self.own].sum())


def _at_last(values: Array, holds: Array) -> Array:
    """The value of each row at the last place up to which a condition holds, 0 where it holds nowhere."""
    count = holds.sum(axis=1)
    return np.where(count > 0, values[np.arange(len(values)), count - 1], 0.0)
