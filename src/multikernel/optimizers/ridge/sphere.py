"""Riemannian trust region on the sphere that bounds a ball of the 2-norm (Li, Venturi and Xu, appendix A.3, corrected).

    min F(theta),    x = theta - center,    |x| = radius

F falls as weights grow, so the optimum over the ball is on its boundary and has x >= 0. With P = I - xx' / radius^2 the
gradient and the second derivatives on the sphere are

    P g,        v -> P H v - (x'g / radius^2) v        for v with x'v = 0,

the last term being the curvature of the sphere, which is >= 0 and makes F more convex than it is in the ball. A step
minimises the quadratic model of F within a reach; its end is brought back to the sphere and folded,

    theta' = center + radius |x + v| / |x + v|        (|.| entry by entry in the numerator)

which raises no value, since K grows with every |x_k|: so weights never get negative. Reach and acceptance follow the
ratio of what F falls to what the model promised; once that is less than rounding leaves of F, the gradient decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from multikernel._typing import Array
from multikernel.domains import NormBall
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.needs import need_power_of_sum, need_ridge, need_sphere
from multikernel.optimizers.ridge.curvature import Map, hessian, hessian_product
from multikernel.optimizers.ridge.trust_region import descend_in_ball, minimise_in_ball
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Evaluation, Problem

_INSIDE = 0.5  # of their mean is added to the x_k of a start with weights of zero: these may have no gradient
_EXACT = 1000  # parameters up to which the second derivatives are a matrix
_EXACT_CUBES = 100  # the same from degree 3 on, where every entry of the matrix is a pass over pairs of samples
_FLAT = 1e-10  # of the gradient: what is left of it on the sphere
_ROUNDING = 1e-13  # of the value: falls below this are not seen
_ACCEPTED, _POOR, _GOOD = 0.1, 0.25, 0.75  # parts of what the model promised


@dataclass(frozen=True)
class SphereTrustRegion(Optimizer):
    """Trust region Newton steps on a sphere: ridge regression with a sum of kernels or a power of it, 2-norm NormBall.

    Some six machines bring the gap, or the stationarity, to 1e-12.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach, or the relative stationarity where K is not linear
    max_iter : int >= 1, how many machines at most are solved

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import HadamardPower
    >>> from multikernel.domains import NormBall
    >>> from multikernel.machines import RidgeMachine
    >>> from multikernel.optimizers.ridge.sphere import SphereTrustRegion
    >>> from multikernel.problem import Problem
    >>> X, y = np.array([[0.0, 1.0], [0.2, -1.0], [1.0, 0.9], [1.2, -1.1]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> bank = bind(kernels.per_feature(kernels.RBF(1.0)), X)
    >>> problem = Problem(bank, HadamardPower(2), RidgeMachine(alpha=0.1), NormBall(2.0, center=1.0), y)
    >>> found = SphereTrustRegion(tol=1e-12).minimise(problem)
    >>> found.converged, found.theta.round(2)
    (True, array([1.95, 1.31]))
    """

    def check(self, problem: Problem) -> None:
        need_sphere(self, problem)
        need_ridge(self, problem)
        need_power_of_sum(self, problem)

    def first(self, problem: Problem, start: Array | None) -> Array:
        """The start folded, and moved to the sphere along its own direction."""
        ball = need_sphere(self, problem)
        theta = super().first(problem, start)
        x = np.abs(theta - ball.offset(problem.size))
        if not x.any():
            return problem.start()
        return _brought_back(ball, x if (theta > 0).all() else x + _INSIDE * x.mean())

    def search(self, problem: Problem, state: State) -> Search:
        ball = need_sphere(self, problem)
        if ball.radius == 0.0:
            return
        reach, longest = 0.25 * ball.radius, 0.5 * np.pi * ball.radius
        at, local = state.latest, _Local.of(problem, ball, state.latest)
        while np.linalg.norm(local.slope) > _FLAT * np.linalg.norm(at.gradient):
            step = local.step(reach)
            promised, size = local.fall(step), float(np.linalg.norm(step))
            theta = _brought_back(ball, local.x + step)
            if not promised > 0.0 or np.array_equal(theta, at.theta):
                return
            state = yield Proposal(theta)
            found = state.latest
            if promised <= _ROUNDING * abs(at.value) + (at.upper - at.value) + (found.upper - found.value):
                if not np.linalg.norm(_slope(ball, found)) < 0.5 * np.linalg.norm(local.slope):
                    return
                ratio = 1.0
            else:
                ratio = (at.value - found.value) / promised
            if ratio < _POOR:
                reach = 0.25 * size
            elif ratio > _GOOD and size > 0.99 * reach:
                reach = min(2.0 * reach, longest)
            if ratio > _ACCEPTED:
                at, local = found, _Local.of(problem, ball, found)


@dataclass(frozen=True, eq=False)
class _Local:
    """F on the sphere around a point, to second order.

    Parameters
    ----------
    x : array (d,), theta - center
    slope : array (d,), the gradient on the sphere
    bend : v -> the second derivatives on the sphere, times v
    step : reach -> the step to the model's lowest point within it, or near it
    """

    x: Array
    slope: Array
    bend: Map
    step: Callable[[float], Array]

    @classmethod
    def of(cls, problem: Problem, ball: NormBall, at: Evaluation) -> _Local:
        x, slope = _x(ball, at), _slope(ball, at)
        unit, curved = x / np.linalg.norm(x), -float(x @ at.gradient) / ball.radius**2
        if problem.size <= (_EXACT if need_power_of_sum("SphereTrustRegion", problem) <= 2 else _EXACT_CUBES):
            R = _without(_without(hessian(problem, at), unit).T, unit)
            R.flat[:: len(R) + 1] += curved
            return cls(x, slope, partial(np.matmul, R), partial(minimise_in_ball, R, slope))
        product = hessian_product(problem, at)

        def bend(v: Array) -> Array:
            return _without(product(_without(v, unit)), unit) + curved * v

        return cls(x, slope, bend, partial(descend_in_ball, bend, slope))

    def fall(self, step: Array) -> float:
        """What the model falls along a step."""
        return -float(self.slope @ step + 0.5 * (step @ self.bend(step)))


def _x(ball: NormBall, at: Evaluation) -> Array:
    return at.theta - ball.offset(len(at.theta))


def _slope(ball: NormBall, at: Evaluation) -> Array:
    """The gradient without its part along x."""
    x = _x(ball, at)
    return _without(at.gradient, x / np.linalg.norm(x))


def _without(V: Array, unit: Array) -> Array:
    """A vector, or every column of a matrix, without its part along a unit vector."""
    return V - np.multiply.outer(unit, unit @ V)


def _brought_back(ball: NormBall, x: Array) -> Array:
    """The point of the sphere in the direction of |x| from the centre."""
    x = np.abs(x)
    return ball.offset(len(x)) + (ball.radius / np.linalg.norm(x)) * x
