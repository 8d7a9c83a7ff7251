"""The global optimum of few weights where the problem is not convex: branch and bound.

In nu = theta^p (``hidden_convexity``) the value F is convex; a point x > 0 and the machine's solution there give

    F(nu) >= F(x) - c'(nu - x^p),      c_k = q_k / (p_k x_k^(p_k - 1)),

a plane below F everywhere. Only the ball sum_k h_k(nu_k) <= 1 is not convex in nu, h_k = ((nu_k^(1/p_k) - o_k) / r)^s
with its norm s. On a box of weights every h_k is above a line with the slope of its secant: with these lines in place
of the h_k, and all planes in place of F, the least value is that of a linear program, and a bound for the box. Its
solution, moved into the ball, is the point of the next plane. The errors of lines and planes are of the order of the
square of the box's size, so that few boxes are needed; the one with the lowest bound is halved until the lowest bound
is near the best value.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from scipy.optimize import linprog

from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.certificate import Certificate
from multikernel.domains import NormBall
from multikernel.observer import Event, Observer
from multikernel.optimizers import Result
from multikernel.problem import Evaluation, Problem

_FROM_ZERO = 1e-4  # of the radius: the least weight of a point at which a plane touches F
_PLANES = 80  # in a linear program at most: those that are highest at the centre of its box


def branch_and_bound(problem: Problem, result: Result, tol: float, max_iter: int, observe: Observer) -> Result:
    """A result with a global bound, and with a better point if there is one.

    Parameters
    ----------
    problem : Problem over a NormBall with a radius > 0, whose combination states its ``powers``
    result : of an optimizer
    tol : float, the relative gap to reach
    max_iter : int, machines at most
    observe : called after each machine
    """
    ball = problem.domain
    assert isinstance(ball, NormBall)
    search = _Planes(problem, ball, problem.combination.powers(problem.bank), result.evaluation)
    search.touch(search._on_surface(result.theta))
    number = count()
    low = ball.offset(problem.size)
    boxes: list[tuple[float, int, Array, Array]] = [(-np.inf, next(number), low, low + ball.radius)]
    history = list(result.history)
    while True:
        check_interrupted()
        if boxes:
            bound = min(boxes[0][0], search.best.value)
        else:
            bound = search.best.value
        certificate = Certificate.gap(search.best.upper, bound)
        history.append(certificate.value)
        observe(Event(len(history), certificate, search.best.theta, search.best.value, search.best.upper, bound))
        if certificate.reached(tol) or search.machines >= max_iter or time_is_up() or not boxes:
            break
        _, _, lower, upper = heapq.heappop(boxes)
        for half in _halves(lower, upper):
            below = search.bound(*half)
            if below < search.best.value:
                heapq.heappush(boxes, (below, next(number), *half))
    return replace(
        result,
        theta=search.best.theta,
        evaluation=search.best,
        certificate=certificate,
        bound=bound,
        converged=certificate.reached(tol),
        n_iter=result.n_iter + search.machines,
        history=tuple(history),
    )


def _halves(lower: Array, upper: Array) -> list[tuple[Array, Array]]:
    """The box, cut across its longest side."""
    k = int(np.argmax(upper - lower))
    middle = 0.5 * (lower[k] + upper[k])
    first = upper.copy()
    second = lower.copy()
    first[k] = second[k] = middle
    return [(lower, first), (second, upper)]


@dataclass(eq=False)
class _Planes:
    """The planes found so far, and the best point."""

    problem: Problem
    ball: NormBall
    powers: Array
    best: Evaluation
    planes: list[Array] = field(default_factory=list)  # (F(x) + c'x^p, -c)
    machines: int = 0
    warm: Array | None = None

    def touch(self, theta: Array) -> None:
        """Add a plane that touches F at these weights of the ball, or near them where one of them is zero."""
        x = theta
        bare = (self.powers > 1.0) & (theta < _FROM_ZERO * self.ball.radius)
        if bare.any():
            self._evaluated(theta)
            x = self._on_surface(np.where(bare, _FROM_ZERO * self.ball.radius, theta))
        evaluation = self._evaluated(x)
        c = np.maximum(evaluation.scores, 0.0) / (self.powers * x ** (self.powers - 1.0))
        self.planes.append(np.concatenate([[evaluation.value + float(c @ x**self.powers)], -c]))

    def _evaluated(self, theta: Array) -> Evaluation:
        """Evaluate the problem at weights of the ball, and keep the best point."""
        evaluation = self.problem.evaluate(theta, self.warm)
        self.machines = self.machines + 1
        self.warm = evaluation.dual.warm
        if evaluation.upper < self.best.upper:
            self.best = evaluation
        return evaluation

    def bound(self, lower: Array, upper: Array) -> float:
        """A lower bound of F in the part of the ball within a box; infinite where this part is empty."""
        offset = self.ball.offset(len(lower))
        inner = (lower - offset) / self.ball.radius
        if float((inner**self.ball.norm).sum()) > 1.0 + 1e-12:
            return np.inf
        solved = self._program(lower, upper)
        if solved is None:
            return np.inf
        below, nu = solved
        if below < self.best.value:
            self.touch(self._on_surface(np.clip(nu, lower**self.powers, upper**self.powers) ** (1.0 / self.powers)))
            again = self._program(lower, upper)
            below = np.inf if again is None else max(below, again[0])
        return below

    def _on_surface(self, theta: Array) -> Array:
        """The weights on the surface of the ball, on the ray from its centre."""
        offset = self.ball.offset(len(theta))
        delta = np.maximum(theta - offset, 0.0) / self.ball.radius
        size = float((delta**self.ball.norm).sum()) ** (1.0 / self.ball.norm)
        if size > 0.0:
            return offset + self.ball.radius * delta / size
        return self.ball.start(len(theta))

    def _program(self, lower: Array, upper: Array) -> tuple[float, Array] | None:
        """The least value of the planes over the box and the half space; None where these do not intersect."""
        ends = lower**self.powers, upper**self.powers
        slope, level = self._lines(lower, upper)
        planes = np.array(self.planes)
        if len(planes) > _PLANES:
            heights = planes[:, 0] + planes[:, 1:] @ (0.5 * (ends[0] + ends[1]))
            planes = planes[np.argsort(-heights, kind="stable")[:_PLANES]]
        unit = ends[1] - ends[0]
        unit = np.where(unit > 0.0, unit, 1.0)  # variables from 0 to 1, t relative to the best value
        size = max(abs(self.best.value), 1e-300)
        rows = np.column_stack([planes[:, 1:] * unit / size, -np.ones(len(planes))])
        right = -(planes[:, 0] + planes[:, 1:] @ ends[0]) / size
        rows = np.vstack([rows, np.append(slope * unit, 0.0)])
        right = np.append(right, 1.0 - level - float(slope @ ends[0]))
        limits: list[Any] = [*((0.0, float(b)) for b in (ends[1] - ends[0]) / unit), (None, None)]
        solution: Any = linprog(np.append(np.zeros(len(lower)), 1.0), rows, right, bounds=limits, method="highs")
        if solution.status == 2:
            return None
        if solution.status != 0:
            return -np.inf, ends[1]
        duals = np.maximum(-solution.ineqlin.marginals, 0.0)
        return size * _proved(duals, rows, right, (ends[1] - ends[0]) / unit), ends[0] + unit * solution.x[:-1]

    def _lines(self, lower: Array, upper: Array) -> tuple[Array, float]:
        """Slopes of lines below the h_k on a box, and the sum of their levels."""
        low = self._h(lower)
        high = self._h(upper)
        a = lower**self.powers
        b = upper**self.powers
        slope = (high - low) / np.where(b > a, b - a, 1.0)
        low_theta = lower.copy()
        high_theta = upper.copy()
        # 60 halvings are more than the bits of double precision
        for _ in range(60):  # h - slope nu is least at an end, or where it stops falling in its convex part
            middle = 0.5 * (low_theta + high_theta)
            falls = self._falls(middle, slope)
            low_theta = np.where(falls, middle, low_theta)
            high_theta = np.where(falls, high_theta, middle)
        candidates = [low - slope * a, high - slope * b]
        candidates += [self._h(point) - slope * point**self.powers for point in (low_theta, high_theta)]
        level = np.min(candidates, axis=0)
        return slope, float(level.sum()) - 1e-12

    def _h(self, theta: Array) -> Array:
        delta = np.maximum(theta - self.ball.offset(len(theta)), 0.0) / self.ball.radius
        return np.asarray(delta**self.ball.norm)

    def _falls(self, theta: Array, slope: Array) -> Array:
        """Whether h - slope nu falls at these weights, which are in the convex part of h."""
        offset = self.ball.offset(len(theta))
        s = self.ball.norm
        p = self.powers
        delta = np.maximum(theta - offset, 0.0) / self.ball.radius
        with np.errstate(divide="ignore", invalid="ignore"):
            h1 = s * delta ** (s - 1.0) / (self.ball.radius * p * theta ** (p - 1.0))
        convex = (s - 1.0) * theta >= (p - 1.0) * (theta - offset)
        return np.asarray(convex & (h1 < slope))


def _proved(duals: Array, rows: Array, right: Array, top: Array) -> float:
    """The bound that multipliers prove, independent of the solver's accuracy: their sum over the planes is scaled to 1.

    min t over rows (z, t) <= right, 0 <= z <= top is at least -right'y + sum_k top_k min(0, (rows'y)_k).
    """
    total = float(duals[:-1].sum())
    if not total > 0.0:
        return -np.inf
    y = duals / total
    return float(-(right @ y) + (top * np.minimum(rows[:, :-1].T @ y, 0.0)).sum())
