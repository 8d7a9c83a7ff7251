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
solved by pairwise steps only, unless these become too many. Hard margins of nearly dependent samples can need very many
steps of both kinds; before these, the support vector machine whose bounds are not reached is tried. A matrix of few
features is solved by the machine with squared hinge loss. A matrix that is not stored is used on a working set of
samples (``working_samples``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
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
from multikernel.machines.support.hinge import HingeMachine, SquaredHingeMachine
from multikernel.machines.working_samples import (
    TOLERATED,
    Certified,
    first_samples,
    largest_block,
    on_working_samples,
)

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
        hulls = _Hulls(gram, y, self.lam, self.tol)
        if warm is None or self.lam == 1.0:
            start = balanced(np.ones(len(y)), y)
        else:
            start = balanced(np.maximum(warm, 0.0), y)
        if self.lam == 1.0:
            return hulls.at(start).solution
        if gram.root is not None:
            return self._squared_hinge(hulls, hulls.at(start).solution)
        if not gram.stored:
            return self._on_working_samples(hulls, None if warm is None else start)
        point = hulls.at(start)
        if len(y) <= _SMALL or hulls.ridge >= _EASY * float(gram.diagonal().mean()):
            # a problem that needs more steps is solved by Newton steps, too
            point = self._pairwise(hulls, point, min(20 * len(y), self.max_iter))
        if self._goes_on(point.solution):
            point = self._newton(hulls, point, cold=warm is None)
        if self.lam == 0.0 and self._goes_on(point.solution):
            # some pairwise steps from a good proposal often suffice, and the other machine is slow if hulls intersect
            point = self._pairwise(hulls, point, min(point.solution.n_iter + 20 * len(y), self.max_iter))
            if self._goes_on(point.solution):
                point = self._unbounded(hulls, point)
        if self._goes_on(point.solution):
            point = self._pairwise(hulls, point, self.max_iter)
        return point.solution

    def _goes_on(self, solution: DualSolution) -> bool:
        return not solution.converged and solution.n_iter < self.max_iter and not out_of_time(len(solution.coef))

    def with_tolerance(self, tol: float) -> Self:
        return replace(self, tol=tol)

    def _on_working_samples(self, hulls: _Hulls, start: Array | None) -> DualSolution:
        """Solve without the samples of zero weight whose gradient is above the minimum of their class."""
        y = hulls.y

        def inner(gram_of_rows: Gram, rows: Array, g: Array | None, tol: float, steps: int) -> tuple[Array, int]:
            solution_of_rows = replace(self, tol=tol, max_iter=steps).solve(gram_of_rows, y[rows], part_of(g, rows))
            weights = np.zeros(len(y))
            weights[rows] = solution_of_rows.warm
            return weights, solution_of_rows.n_iter

        def certify(rows: Array, g: Array) -> Certified:
            point = hulls.at(g)
            below = np.empty(len(y))
            for members in (y > 0, y < 0):
                below[members] = point.gradient[rows[members[rows]]].min() - point.gradient[members]
            tolerated = TOLERATED * self.tol * max(-point.solution.value, FLOOR * hulls.spread)
            return Certified(point.solution, below - tolerated)

        size = largest_block(hulls.gram)
        first = first_samples(y, start, size)
        found = on_working_samples(hulls.gram, first, start, inner, certify, self.tol, self.max_iter)
        if size < len(y):  # the support may be larger than a block
            return self._squared_hinge(hulls, found)
        return found

    def _squared_hinge(self, hulls: _Hulls, solution: DualSolution) -> DualSolution:
        """The solution of the support vector machine with squared hinge loss, where this one is not good enough.

        That machine works on features without a row of the matrix, and on block after block of samples. The gap here is
        of first order in the error, and was up to ten times the root of the gap there.
        """
        if not hulls.ridge > 0.0:
            return solution
        a: Array | None = None
        for aim in (self.tol, (0.1 * self.tol) ** 2):
            if not self._goes_on(solution):
                break
            machine = SquaredHingeMachine(C=1.0 / hulls.ridge, tol=aim, max_iter=self.max_iter - solution.n_iter)
            hinge_solution = machine.solve(hulls.gram, hulls.y, a)
            a = hinge_solution.warm
            n_iter = solution.n_iter + hinge_solution.n_iter
            proposal = hulls.at(balanced(a, hulls.y), n_iter, solution.history).solution
            if proposal.value >= solution.value:
                solution = proposal
            else:
                solution = replace(solution, n_iter=n_iter)
        return solution

    def _newton(self, hulls: _Hulls, start: _HullPoint, cold: bool) -> _HullPoint:
        """The proposal of Newton's method, or the start where this is better."""
        scale = float(hulls.gram.diagonal().mean())
        ridge = hulls.ridge
        if not ridge > TINY:
            return start  # the zero matrix, or one in units so small that systems overflow

        def good(g: Array) -> bool:
            return hulls.at(g).solution.converged

        hard = ridge <= SINGULAR * scale
        spread = hulls.spread or scale
        max_steps = self.max_iter - start.solution.n_iter
        far = hard and start.solution.gap >= 1.0  # the solution of a larger ridge, which proves nothing about this one
        support = None if cold or far else start.solution.warm > 0
        g, steps = newton(hulls.gram, hulls.y, ridge, scale, spread, support, hard, good, max_steps)
        proposal = hulls.at(g, start.solution.n_iter + steps, start.solution.history)
        if proposal.solution.value >= start.solution.value:
            return proposal
        return _HullPoint(replace(start.solution, n_iter=start.solution.n_iter + steps), start.gradient)

    def _unbounded(self, hulls: _Hulls, start: _HullPoint) -> _HullPoint:
        """The proposal of a support vector machine whose bounds are not reached, or the start if its gap is smaller.

        Scaled to sum 1 on each class, the solution of min_a a'YKYa / 2 - sum(a), a >= 0, y'a = 0 is that of the hard
        margin, and its sum is 2 / Q for each class. So no variable exceeds 2 divided by a lower bound of Q, which the
        certificate of the start is.
        """
        zero = self.tol * FLOOR * hulls.spread
        if not zero > len(hulls.y) * TINY:
            return start  # all samples are equal, or sums of bounds overflow
        before = start.solution
        bound = 2.0 / max(-before.upper, zero)
        machine = HingeMachine(bound, tol=self.tol, max_iter=self.max_iter - before.n_iter)
        solution = machine.solve(hulls.gram, hulls.y, before.warm * (2.0 / max(-before.value, zero)))
        steps = before.n_iter + solution.n_iter
        proposal = hulls.at(balanced(solution.warm, hulls.y), steps, before.history)
        if proposal.solution.gap <= before.gap:  # the values may be equal but for rounding
            return proposal
        return _HullPoint(replace(before, n_iter=steps), start.gradient)

    def _pairwise(self, hulls: _Hulls, point: _HullPoint, max_iter: int) -> _HullPoint:
        """Solve by pairwise steps, in rounds, since rounding errors accumulate in a gradient updated in every step."""
        from multikernel.machines.margin import _pairwise

        y = hulls.y
        K = hulls.gram.dense()
        zero = self.tol * FLOOR * hulls.spread  # a smaller squared distance is within the tolerance of 0
        if self.lam > 0:
            ridge = self.lam
        else:
            ridge = SINGULAR * float(np.diagonal(K).mean())
        for _ in range(5):  # each from a fresh gradient
            g = point.solution.warm.copy()
            gradient = point.gradient.copy()
            remaining_steps = max_iter - point.solution.n_iter
            piece = max(1, PIECE // len(y))
            steps = 0
            while True:
                check_interrupted()
                requested = min(piece, remaining_steps - steps)
                steps_of_piece = _pairwise.descend(K, y, 1.0 - self.lam, ridge, g, gradient, zero, self.tol, requested)
                steps += steps_of_piece
                if steps_of_piece < requested or steps == remaining_steps or out_of_time(len(y)):
                    break
            point = hulls.at(balanced(g, y), point.solution.n_iter + steps, point.solution.history)
            if point.solution.converged or steps in (0, remaining_steps) or out_of_time(len(y)):
                break
        return point


@dataclass(frozen=True, eq=False)
class _HullPoint:
    """A solution, and the gradient q there."""

    solution: DualSolution
    gradient: Array


@dataclass(frozen=True, eq=False)
class _Hulls:
    """The problem for one matrix: its values, gradients and certificates."""

    gram: Gram
    y: Array
    lam: float
    tol: float

    @property
    def ridge(self) -> float:
        """The ridge that is added to the matrix in the problem with squared hinge losses.

        It is small instead of 0 at lam = 0 or in extreme units, because without it the minimiser need not be unique.
        """
        return max(self.lam / (1.0 - self.lam), SINGULAR * float(self.gram.diagonal().mean()))

    @cached_property
    def spread(self) -> float:
        """The mean squared distance of the samples from their centre at lam = 0, where gaps refer to it; else 0."""
        if self.lam > 0.0:
            return 0.0
        n = self.gram.shape[0]
        return max(float(self.gram.diagonal().mean() - self.gram.multiply(np.full(n, 1.0 / n)).mean()), 0.0)

    def at(self, g: Array, n_iter: int = 0, before: tuple[float, ...] = ()) -> _HullPoint:
        """The solution at g with its certificate, from a fresh gradient."""
        y = self.y
        Kyg = self.gram.multiply_sparse(y * g).astype(float)
        q = 2.0 * ((1.0 - self.lam) * y * Kyg + self.lam * g)
        value = 0.5 * float(g @ q)
        excess = float(g @ q) - float(q[y > 0].min()) - float(q[y < 0].min())
        excess = min(excess, abs(value))  # no squared distance is below 0; a negative value is rounding
        if self.lam == 1.0:
            excess = 0.0  # the class means are the solution
        gap = relative(excess, value, FLOOR * self.spread)
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
        return _HullPoint(solution, q)
