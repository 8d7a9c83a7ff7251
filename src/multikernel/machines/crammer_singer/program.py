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

# A little more of f may have a smaller primal value: with a large C, losses from the last digits count.
_MORE = np.concatenate([[0.0], np.logspace(-13, -3, 21)])
_BALANCING_STEPS = 50  # from coefficients near balanced ones two are enough


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
        """The rows nearest to those of V that are allowed, and which of C_i e_y - B are above zero."""
        n = len(V)
        X = np.where(self.own, self.upper[:, None], 0.0) - V
        X = X - X.max(axis=1, keepdims=True)
        falling = -np.sort(-X, axis=1)
        excess = np.cumsum(falling, axis=1) - self.upper[:, None]
        count = (falling * np.arange(1, self.n_classes + 1) > excess).sum(axis=1)
        A = np.maximum(X - (excess[np.arange(n), count - 1] / count)[:, None], 0.0)
        alone = count == 1  # one class has all: exactly, for zeros are exact
        A[alone] = np.where(X[alone] == 0.0, self.upper[alone, None], 0.0)
        return self._with_own(-A), A > 0.0

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
        for _ in range(_BALANCING_STEPS):
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
        G = F + intercept
        margins = np.where(self.own, -np.inf, 1.0 + G - G[self.own][:, None])
        worst = margins.max(axis=1)
        moved = np.where(self.own, 0.0, -B)
        gained = np.where(self.own, 0.0, moved * np.where(self.own, 0.0, margins)).sum(axis=1)
        excess = float((self.upper * np.maximum(worst, 0.0) - gained).sum())
        value = self.dual(B, F)
        excess = max(min(excess + self._change(worst, float(np.vdot(B, F)))), 0.0)
        converged = relative(excess, value + excess) <= tol
        hidden = self._hidden(B, F, intercept, margins, moved, sizes)
        converged = converged or excess <= hidden
        excess += hidden
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

    def _change(self, worst: Array, norm: float) -> Array:
        """What the primal value changes by where f and the intercepts are multiplied with 1 + e, for each e tried.

        The losses are those by the nearest class at e = 0, whose margin has the form 1 - (1 + e) (1 - worst); of
        several classes the nearest one stays it for every e >= 0.
        """
        losses = np.maximum(1.0 - (1.0 + _MORE[:, None]) * (1.0 - worst), 0.0)
        return (_MORE + 0.5 * _MORE**2) * norm + (losses - losses[0]) @ self.upper

    def _hidden(self, B: Array, F: Array, intercept: Array, margins: Array, moved: Array, sizes: Array) -> float:
        """How much rounding may change in the gap by that of the margins, and in the dual value.

        A term of the gap, C max_c m_c - a'm with a the simplex point of the sample, changes by no more than the largest
        change of a margin times the sum of |C e_c - a|, 2 (C - a_c), c a class that may be the nearest one.
        """
        reach = np.abs(B).sum(axis=1) @ sizes
        error = EPS * (2.0 * sizes * reach + 2.0 * np.abs(F).max(axis=1) + 2.0 * float(np.abs(intercept).max()) + 1.0)
        whole = np.where(self.own, 0.0, margins)
        shares = np.where(self.own, self.upper[:, None] - moved.sum(axis=1, keepdims=True), moved)
        near = whole >= whole.max(axis=1, keepdims=True) - 2.0 * error[:, None]
        least = np.where(near, shares, np.inf).min(axis=1)
        lost = 2.0 * float(np.maximum(self.upper - least, 0.0) @ error)
        form = sum(float(form_rounding(column, sizes)) for column in B.T)
        imbalance = float(np.abs(B.sum(axis=0)) @ np.abs(intercept)) if self.intercept else 0.0
        return lost + form + imbalance + EPS * float(B[self.own].sum())
