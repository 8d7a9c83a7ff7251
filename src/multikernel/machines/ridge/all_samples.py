"""Kernel ridge regression with the kernel of all samples, of which only a triangular factor is in memory.

With n samples of targets y_i and weights s_i, and their kernel matrix K, the function sum_i a_i k(x_i, x) + c of least

    P(A) = sum_i s_i |y_i - c - (K A)_i|^2 + alpha tr A'K A,

c the weighted mean of the targets, or 0, is A = R B, R = diag(s)^(1/2), with

    (G + alpha I) B = R (Y - c),        G = R K R.                                                                 (1)

A Cholesky factor of the left side in single precision takes 2 n^2 bytes (``half_factor.py``) and n^3 / 3 operations, at
twice the speed of double precision. It is the preconditioner of conjugate gradients, whose products with K are computed
tile by tile in double precision, for half of the tiles because of symmetry. That is less work than ridge regression on
n / 2 centres: with 13,500 samples of letter 9.5 s, where 8000 centres took 33 s and were less accurate.

The residual of a point in (1), L = R (Y - c) - (G + alpha I) B, proves that P is at most tr L'G L / alpha above its
minimum (equation (2) of ``centres.py``, with all samples as centres).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._floats import SINGULAR, TINY
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate, relative
from multikernel.machines.ridge.centres import CentresSolution
from multikernel.machines.ridge.half_factor import HalfFactor, space
from multikernel.numerics.conjugate_gradients import preconditioned_steps
from multikernel.tuning import BUFFER_VALUES

Between = Callable[[Array, Array], Array]  # of row numbers (r,) and (c,), the kernel between these samples


@dataclass(frozen=True, eq=False)
class AllSamplesRidge:
    """The problem at the head of this file.

    Parameters
    ----------
    between : the kernel between samples, by their numbers
    rows : int array (n,), the samples that are trained on
    Y : array (n, t), their targets
    weight : array (n,) > 0, or None where all are 1
    fit_intercept : bool
    """

    between: Between
    rows: Array
    Y: Array
    weight: Array | None = None
    fit_intercept: bool = True

    @cached_property
    def constant(self) -> Array:
        """c, shape (t,)."""
        if self.fit_intercept:
            return np.asarray(np.average(self.Y, axis=0, weights=self.weight))
        return np.zeros(self.Y.shape[1])

    @cached_property
    def roots(self) -> Array:
        """The diagonal of R as a column."""
        if self.weight is None:
            return np.ones((len(self.rows), 1))
        return np.sqrt(self.weight)[:, None]

    def tiles(self) -> Iterator[tuple[slice, Array]]:
        """Some rows of G at a time, up to and including the diagonal block: of shape (r, last row)."""
        n = len(self.rows)
        start = 0
        while start < n:
            check_interrupted()
            stop = min(n, start + max(1, min(2048, BUFFER_VALUES // (start + 1024))))
            K = self.between(self.rows[start:stop], self.rows[:stop])
            yield slice(start, stop), self.roots[start:stop] * K * self.roots[:stop, 0]
            start = stop

    def times(self, V: Array) -> Array:
        """G V."""
        image = np.zeros_like(V)
        for rows, G in self.tiles():
            image[rows] += G @ V[: rows.stop]
            image[: rows.start] += G[:, : rows.start].T @ V[rows]
        return image

    def factor(self, alpha: float) -> HalfFactor:
        """The factor of G + alpha I, or with a larger shift of the diagonal.

        Raises
        ------
        ValueError : where the kernel is not positive semi-definite
        """
        n = len(self.rows)
        buffer = space(n)
        shift = alpha
        while (factor := HalfFactor.of_tiles(n, self.tiles(), shift, buffer)) is None:
            shift *= 10.0  # conjugate gradients then take more steps
            if not shift <= self._trace:
                raise ValueError("ridge regression by all samples: their kernel matrix is not positive semi-definite")
        return factor

    @cached_property
    def _trace(self) -> float:
        """The trace of G, or the sum of the weights where this is larger."""
        trace = sum(float(np.trace(G[:, rows])) for rows, G in self.tiles())
        return max(float((self.roots**2).sum()), trace)


def by_all_samples(problem: AllSamplesRidge, alpha: float, tol: float = 1e-3, max_iter: int = 100) -> CentresSolution:
    """The solution to a duality gap of ``tol``, relative to P, or the best one that steps or time allow.

    Parameters
    ----------
    problem : AllSamplesRidge
    alpha : float > 0
    tol : float > 0
    max_iter : int, steps of conjugate gradients at most, each a pass over the tiles

    Raises
    ------
    ValueError : where the kernel is not positive semi-definite
    """
    preconditioner = problem.factor(alpha)
    right = problem.roots * (problem.Y - problem.constant)
    floor = max(SINGULAR * float((right * right).sum()), TINY)
    B = preconditioner.solve(right)
    residual = right - problem.times(B) - alpha * B
    steps_of_gradients = preconditioned_steps(lambda V: problem.times(V) + alpha * V, preconditioner.solve, residual)
    steps = 0
    while True:
        image = right - residual - alpha * B  # G B
        value = float(((right - image) ** 2).sum() + alpha * (B * image).sum())
        excess = float((residual * problem.times(residual)).sum()) / alpha
        gap = Certificate("duality gap", relative(excess, value, floor))
        if gap.reached(tol) or steps >= max_iter or time_is_up():
            return CentresSolution(problem.roots * B, problem.constant, gap, steps, value)
        step = next(steps_of_gradients)
        B = B + step.change
        residual = step.residual
        steps += 1
