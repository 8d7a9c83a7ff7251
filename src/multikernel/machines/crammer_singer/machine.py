"""A support vector machine of several classes at once, with one loss for each sample.

J(K) = max_B sum_i B_iy - 1/2 tr B'K B over the coefficients of ``program``: the machine of Crammer and Singer. For two
classes its value is half of that of the machine for two classes with twice the C, and f_1 = -f_0 is half its function.

With intercepts 1'B = 0, so that K and its centred matrix K - r 1' - 1 r' + m, r the means of rows and m that of all,
have the same solutions B, and intercepts that differ by r'B. Where a constant dominates K, as with columns far from
zero and a linear kernel, digits are lost: steps are then made with the centred matrix, and the bounds are those of K.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from multikernel._floats import positive_product
from multikernel._parameters import Count, Positive
from multikernel._typing import Array
from multikernel.banks import DenseGram, Gram
from multikernel.machines.base import DualSolution, Machine, check_gram
from multikernel.machines.crammer_singer.program import CrammerSingerProgram
from multikernel.machines.crammer_singer.proximal import FACTORED, proximal
from multikernel.machines.support.certified import roots


@dataclass(frozen=True, kw_only=True)
class CrammerSingerMachine(Machine):
    """min 1/2 sum_c |f_c|^2 + C sum_i w_i max_c (1[c != y_i] + f_c + b_c - f_y - b_y) at sample i, of class y_i.

    A target has a column for each class, with +1 in that of the sample's class and -1 elsewhere.

    Parameters
    ----------
    C : float > 0, weight of the losses
    fit_intercept : bool, whether there are intercepts, which sum to zero
    tol : float, the relative duality gap to reach
    max_iter : int, how many Newton steps at most

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import DenseGram
    >>> from multikernel.machines import CrammerSingerMachine
    >>> found = CrammerSingerMachine(C=10.0).solve(DenseGram(np.eye(3)), 2.0 * np.eye(3) - 1.0)
    >>> found.coef.round(3), round(found.value, 6), found.converged
    (array([[ 0.667, -0.333, -0.333],
           [-0.333,  0.667, -0.333],
           [-0.333, -0.333,  0.667]]), 1.0, True)

    References
    ----------
    K. Crammer and Y. Singer (2001), On the algorithmic implementation of multiclass kernel-based vector machines,
    JMLR 2.
    """

    nonnegative: ClassVar[bool] = True

    C: Positive = 1.0
    fit_intercept: bool = True
    tol: Positive = 1e-3
    max_iter: Count = 1000

    def with_tolerance(self, tol: float) -> Self:
        return replace(self, tol=tol)

    def in_units(self, kernel: float, target: float) -> tuple[Self, float]:
        return replace(self, C=positive_product(self.C, kernel)), 1.0 / kernel

    def balance(self, target: float) -> float:
        return 1.0 / self.C

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        """Solve for a target of shape (n, classes); ``warm`` has the coefficients of an earlier solution.

        ``warm`` of the solution satisfies the constraints of the dual problem. ``coef`` and ``intercept`` are a
        multiple, from 1 to 1.001, of it and of its intercepts, whose primal value is ``upper``.
        """
        program = CrammerSingerProgram.of(target, self.C, self.fit_intercept, sample_weight)
        check_gram(gram, len(program.labels))
        start = program.feasible(warm)
        sizes = roots(gram.diagonal())
        means = _large_means(gram) if self.fit_intercept else None
        if means is None:
            solution = self._solved(program, gram, start)
            return program.scaled_solution(solution, gram.multiply(solution.coef), sizes)
        centred = gram.fresh()
        centred -= means[:, None]
        centred -= means - means.mean()
        solution = self._solved(program, DenseGram(centred), start)
        intercept = solution.intercept - means @ solution.coef
        intercept -= intercept.mean()
        F = gram.multiply(solution.coef)
        solution = program.solution(
            solution.coef, F, intercept, sizes, self.tol, solution.n_iter, solution.history[:-1]
        )
        return program.scaled_solution(solution, F, sizes)

    def _solved(self, program: CrammerSingerProgram, gram: Gram, start: Array) -> DualSolution:
        """Solve from given coefficients; if these are zero and samples many, from a solution for some samples."""
        n, c = start.shape
        if not start.any() and n * (c - 1) > FACTORED:
            # for a fourth of the samples a factorisation takes 1/64 of the time
            rows = np.sort(np.argsort(program.labels, kind="stable")[::4])
            rough_machine = replace(self, tol=max(self.tol, 1e-2))
            start = start.copy()
            start[rows] = rough_machine._solved(program.of_samples(rows), gram.principal(rows), start[rows]).coef
        return proximal(program, gram, start, self.tol, self.max_iter, roots(gram.diagonal()))


def _large_means(gram: Gram) -> Array | None:
    """The means of the rows of a stored matrix whose mean is more than half of that of its diagonal; else None."""
    if not isinstance(gram, DenseGram):
        return None
    means = np.asarray(gram.K.mean(axis=1, dtype=np.float64))
    if means.mean() > 0.5 * gram.diagonal().mean(dtype=np.float64):
        return means
    return None
