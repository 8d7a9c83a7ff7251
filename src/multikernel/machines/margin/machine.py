"""The largest margin between two hulls: the quadratic problem of EasyMKL and of KOMD.

    Q(K) = min_g (1 - lam) g'Y K Y g + lam |g|^2,    g >= 0,    sum of g over each class = 1        (Y = diag(y))

the squared distance of two points, one in the convex hull of each class, with a ridge that shrinks the hulls towards
the class means. lam = 0: the hull distance (hard margin); lam = 1: the class means, in closed form. Aiolli and Donini
(2015), EasyMKL, section 3; Donini and Aiolli (2017), section 3.1.

Certificate: with the gradient q = 2 ((1 - lam) Y K Y g + lam g), convexity bounds the excess of g by
gap = g'q - min_{y=+1} q - min_{y=-1} q, and Q itself is a bound, too, as no distance is below 0. The smaller of the two
is reported relative to Q. At lam = 0, where Q can be 0 because the hulls intersect, it is relative to 1e-5 of the mean
squared distance of the samples from their centre, if this is larger.

There are two methods. Newton steps on the support (``newton``) propose a solution: up to scale the problem is the
support vector machine with squared hinge loss. Pairwise steps (``_pairwise``) start from this proposal: they confirm it
at once, or improve it without any assumption on the support. Small problems, and problems with a large ridge, are
solved by pairwise steps only, unless these become too many. A matrix of few features is solved by the machine with
squared hinge loss. A matrix that is not stored is used on a working set of samples (``working_samples``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from multikernel._arrays import part_of
from multikernel._floats import SINGULAR, TINY
from multikernel._parameters import Count, Positive, WithinOne
from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.banks import Gram
from multikernel.certificate import relative
from multikernel.machines.base import PIECE, DualSolution, Machine, check_gram, check_signs, checked_target, out_of_time
from multikernel.machines.margin.newton import balanced, newton
from multikernel.machines.support.certified import FLOOR
from multikernel.machines.support.hinge import SquaredHingeMachine
from multikernel.machines.working_samples import TOLERATED, Certified, first_samples, on_working_samples
from multikernel.numerics.line_search import MOST_NEWTON_STEPS

_SMALL = 800  # samples up to which pairwise steps alone are faster than linear systems
# Fraction of the mean self-value: with a larger ridge pairwise steps are faster for any number of samples. With 1000,
# 2000 and 4000 samples they took a tenth to nine tenths of the time with ridges of 1 and 1/9, and up to three times as
# long with 1/99 and less.
_EASY = 0.1


@dataclass(frozen=True)
class MarginMachine(Machine):
    """min_g (1 - lam) g'YKYg + lam |g|^2 over a probability vector on each class; J(K) is minus this minimum.

    Parameters
    ----------
    lam : float in [0, 1]
    tol : float, the relative duality gap to reach
    max_iter : int, how many steps at most
    """

    lam: WithinOne = 0.1
    tol: Positive = 1e-6
    max_iter: Count = 1_000_000

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        """Solve for labels -1, +1; weights of samples are refused.

        ``warm`` is the vector g of another solution; one of another shape is not used.
        """
        if sample_weight is not None:
            raise ValueError(
                "the margin between two hulls has no weights of samples: its problem is over a distribution on each "
                "class; give none, or take a support vector machine (learner='svc')"
            )
        y = checked_target(target)
        check_gram(gram, len(y))
        check_signs(y)
        if warm is not None and np.shape(warm) != y.shape:
            warm = None
        means = balanced(np.ones(len(y)), y)
        if self.lam == 1.0:
            return self._solution(gram, y, means)
        if gram.root is not None:
            return self._on_features(gram, y, warm)
        if not gram.stored:
            return self._on_working_samples(gram, y, warm)
        solution = self._solution(gram, y, means if warm is None else balanced(np.maximum(warm, 0.0), y))
        if len(y) <= _SMALL or self._ridge(gram) >= _EASY * float(gram.diagonal().mean()):
            # a problem that needs more steps is solved by Newton steps, too
            solution = self._pairwise(gram, y, solution, min(20 * len(y), self.max_iter))
        if self._goes_on(solution):
            solution = self._newton(gram, y, solution, cold=warm is None)
        if self._goes_on(solution):
            solution = self._pairwise(gram, y, solution, self.max_iter)
        return solution

    def _goes_on(self, solution: DualSolution) -> bool:
        return not solution.converged and solution.n_iter < self.max_iter and not out_of_time(len(solution.coef))

    def with_tolerance(self, tol: float) -> Self:
        return replace(self, tol=tol)

    def _on_working_samples(self, gram: Gram, y: Array, warm: Array | None) -> DualSolution:
        """Solve without the samples of zero weight whose gradient is above the minimum of their class."""
        spread = self._spread(gram)

        def inner(gram_of_rows: Gram, rows: Array, g: Array | None, tol: float, steps: int) -> tuple[Array, int]:
            solution_of_rows = replace(self, tol=tol, max_iter=steps).solve(gram_of_rows, y[rows], part_of(g, rows))
            weights = np.zeros(len(y))
            weights[rows] = solution_of_rows.warm
            return weights, solution_of_rows.n_iter

        def certify(rows: Array, g: Array) -> Certified:
            solution, q = self._certified(gram, y, g, spread)
            below = np.empty(len(y))
            for members in (y > 0, y < 0):
                below[members] = q[rows[members[rows]]].min() - q[members]
            return Certified(solution, below - TOLERATED * self.tol * max(-solution.value, FLOOR * spread))

        start = None if warm is None else balanced(np.maximum(warm, 0.0), y)
        return on_working_samples(gram, first_samples(y, start), start, inner, certify, self.tol, self.max_iter)

    def _on_features(self, gram: Gram, y: Array, warm: Array | None) -> DualSolution:
        """Solve the support vector machine with squared hinge loss instead, which needs no row of the matrix."""
        ridge = self._ridge(gram)
        start = self._solution(gram, y, balanced(np.ones(len(y)) if warm is None else np.maximum(warm, 0.0), y))
        if start.converged or not ridge > 0.0:
            return start
        machine = SquaredHingeMachine(C=1.0 / ridge, tol=self.tol, max_iter=self.max_iter)
        hinge_solution = machine.solve(gram, y)
        proposal = self._solution(gram, y, balanced(hinge_solution.warm, y), hinge_solution.n_iter)
        if proposal.value >= start.value:
            return proposal
        return start

    def _ridge(self, gram: Gram) -> float:
        """The ridge that is added to the matrix in the problem with squared hinge losses.

        It is small instead of 0 at lam = 0 or in extreme units, because without it the minimiser need not be unique.
        """
        return max(self.lam / (1.0 - self.lam), SINGULAR * float(gram.diagonal().mean()))

    def _newton(self, gram: Gram, y: Array, start: DualSolution, cold: bool) -> DualSolution:
        """The proposal of Newton's method, or the start where this is better."""
        scale = float(gram.diagonal().mean())
        ridge = self._ridge(gram)
        if not ridge > TINY:
            return start  # the zero matrix, or one in units so small that systems overflow

        def good(g: Array) -> bool:
            return self._solution(gram, y, g).converged

        hard = ridge <= SINGULAR * scale
        max_steps = min(MOST_NEWTON_STEPS, self.max_iter - start.n_iter)
        g, steps = newton(gram, y, ridge, scale, None if cold else start.warm > 0, hard, good, max_steps)
        proposal = self._solution(gram, y, g, start.n_iter + steps, start.history)
        if proposal.value >= start.value:
            return proposal
        return start

    def _pairwise(self, gram: Gram, y: Array, start: DualSolution, max_iter: int) -> DualSolution:
        """Solve by pairwise steps, in rounds, since rounding errors accumulate in a gradient updated in every step."""
        from multikernel.machines.margin import _pairwise

        K = gram.dense()
        s = 1.0 - self.lam
        zero = self.tol * FLOOR * self._spread(gram)  # a smaller squared distance is within the tolerance of 0
        if self.lam > 0:
            ridge = self.lam
        else:
            ridge = SINGULAR * float(np.diagonal(K).mean())
        solution = start
        for _ in range(5):  # each from a fresh gradient
            g = solution.warm.copy()
            q = 2.0 * (s * y * gram.multiply(y * g) + self.lam * g)
            remaining_steps = max_iter - solution.n_iter
            piece = max(1, PIECE // len(y))
            steps = 0
            while True:
                check_interrupted()
                requested = min(piece, remaining_steps - steps)
                steps_of_piece = _pairwise.descend(K, y, s, ridge, g, q, zero, self.tol, requested)
                steps += steps_of_piece
                if steps_of_piece < requested or steps == remaining_steps or out_of_time(len(y)):
                    break
            solution = self._solution(gram, y, balanced(g, y), solution.n_iter + steps, solution.history)
            if solution.converged or steps == 0 or steps == remaining_steps or out_of_time(len(y)):
                break
        return solution

    def _spread(self, gram: Gram) -> float:
        """The mean squared distance of the samples from their centre at lam = 0, where gaps refer to it; else 0."""
        if self.lam > 0.0:
            return 0.0
        n = gram.shape[0]
        return max(float(gram.diagonal().mean() - gram.multiply(np.full(n, 1.0 / n)).mean()), 0.0)

    def _solution(
        self, gram: Gram, y: Array, g: Array, n_iter: int = 0, before: tuple[float, ...] = ()
    ) -> DualSolution:
        return self._certified(gram, y, g, self._spread(gram), n_iter, before)[0]

    def _certified(
        self, gram: Gram, y: Array, g: Array, spread: float, n_iter: int = 0, before: tuple[float, ...] = ()
    ) -> tuple[DualSolution, Array]:
        """The solution at g with its certificate, from a fresh gradient, and this gradient."""
        Kyg = gram.multiply(y * g).astype(float)
        q = 2.0 * ((1.0 - self.lam) * y * Kyg + self.lam * g)
        value = 0.5 * float(g @ q)
        excess = float(g @ q) - float(q[y > 0].min()) - float(q[y < 0].min())
        excess = min(excess, abs(value))  # no squared distance is below 0; a negative value is rounding
        if self.lam == 1.0:
            excess = 0.0  # the class means are the solution
        gap = relative(excess, value, FLOOR * spread)
        coef = y * g
        solution = DualSolution(
            coef=coef,
            intercept=-0.5 * float(g @ Kyg),
            value=-value,
            upper=excess - value,
            factor=np.sqrt(1.0 - self.lam) * coef,
            gap=gap,
            converged=gap <= self.tol,
            n_iter=n_iter,
            warm=g,
            history=(*before, gap),
        )
        return solution, q
