"""The level method (Lemarechal, Nemirovskii and Nesterov 1995; for kernel weights Xu, Jin, King and Lyu 2009).

    theta' = the point of the simplex nearest to theta at which the cutting plane model is at most the level
    level  = tau upper + (1 - tau) bound

with upper the best value so far and bound the minimum of the model, as for cutting planes; the published upper value is
the largest one, which is a misprint. A plane is dropped when its multipliers in both programs have been zero for some
rounds.

The point of the level set nearest to a given z,

    min 1/2 |x - z|^2    over the simplex,    q_j'x >= b_j = c_j - level for every plane

is found by the dual in the planes' multipliers u >= 0, a concave function of few variables with quadratic pieces:

    phi(u) = 1/2 |x - z|^2 + u'(b - Q x),    x = x(u) = projection of z + Q'u on the simplex,    phi' = b - Q x

Newton steps are taken on the multipliers that are free, with a ridge that grows where a step does not lead up
(Levenberg). The point is on the simplex, however accurate the multipliers are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.linalg import lapack

from multikernel._floats import SINGULAR, TINY
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel.domains import Simplex
from multikernel.numerics.line_search import ARMIJO, MOST_NEWTON_STEPS
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.cuts import Cuts
from multikernel.optimizers.needs import need_linear, need_simplex
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Problem


@dataclass(frozen=True)
class LevelMethod(Optimizer):
    """Projection onto a level set of the cutting plane model; for kernels linear in the weights, over a Simplex.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach
    max_iter : int >= 1, how many inner problems at most are solved
    level : float in (0, 1), tau; nearer to 1 for shorter steps. It was published with 0.9; on a problem of 24 kernels
        0.5 took about half as many inner problems, for C from 0.1 to 100

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.combinations import Linear
    >>> from multikernel.domains import Simplex
    >>> from multikernel.machines import HingeMachine
    >>> from multikernel.optimizers import LevelMethod
    >>> from multikernel.problem import Problem
    >>> X, y = np.array([[0.0, 1.0], [0.2, -1.0], [1.0, 0.9], [1.2, -1.1]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> bank = bind(kernels.per_feature(kernels.RBF(1.0)), X)
    >>> found = LevelMethod(tol=1e-4).minimise(Problem(bank, Linear(), HingeMachine(C=10.0), Simplex(), y))
    >>> found.converged, found.theta.round(2)
    (True, array([0.92, 0.08]))
    """

    level: Annotated[float, Number(above=0, below=1)] = 0.5

    def check(self, problem: Problem) -> None:
        need_linear(self, problem)
        need_simplex(self, problem)

    def search(self, problem: Problem, state: State) -> Search:
        cuts = Cuts.of(state.latest, need_simplex(self, problem))
        while True:
            _, bound, multipliers = cuts.minimum()
            bound = max(bound, state.bound)
            level = self.level * state.best.upper + (1.0 - self.level) * bound
            theta, level_multipliers = nearest(state.latest.theta, cuts, level)
            # a plane without a multiplier in 20 rounds is dropped
            cuts = cuts.after_round((multipliers > 0) | (level_multipliers > 0), 20)
            state = yield Proposal(theta, bound)
            cuts = cuts.with_plane(state.latest)


# -- the nearest point of a level set ----------------------------------------------------------------------------------

_RIDGE_FACTOR = 10.0  # by which the ridge shrinks after a step that leads up, and grows after one that does not


def nearest(z: Array, cuts: Cuts, level: float) -> tuple[Array, Array]:
    """The point and the planes' multipliers, which are zero for planes that are below the level at the point."""
    # a constant added to all entries of a slope changes the plane by the same number everywhere on the simplex
    Q = cuts.slope - cuts.slope.mean(axis=1, keepdims=True)
    b = cuts.constant - level - cuts.total * cuts.slope.mean(axis=1)
    size = np.sqrt((Q**2).sum(axis=1))
    tilted = size > 0
    u = np.zeros(len(b))
    Q = Q[tilted] / size[tilted, None]
    b = b[tilted] / size[tilted]
    x, u[tilted] = _ascend(z, Q, b, Simplex(cuts.total))
    return x, u


def _ascend(z: Array, Q: Array, b: Array, simplex: Simplex) -> tuple[Array, Array]:
    u = np.zeros(len(b))
    x = z
    ridge = 1e-6  # the slopes of the planes being of size one
    value, slope = _phi(z, x, u, Q, b)
    # by this much planes may exceed the level at the end, relative to the largest excess at z
    accuracy = 1e-9 * max(float(slope.max(initial=0.0)), TINY)
    for _ in range(MOST_NEWTON_STEPS):
        free = (u > 0) | (slope > 0)
        if float(np.where(u > 0, np.abs(slope), slope).max(initial=0.0)) <= accuracy:
            break
        next_u = np.maximum(u + _newton(Q[free], slope, free, x > 0, ridge), 0.0)
        next_x = simplex.project(z + next_u @ Q)
        higher, next_slope = _phi(z, next_x, next_u, Q, b)
        if higher >= value + ARMIJO * float(slope @ (next_u - u)) and (next_u != u).any():
            u = next_u
            x = next_x
            value = higher
            slope = next_slope
            ridge = max(ridge / _RIDGE_FACTOR, SINGULAR)
        elif ridge > 1e12:  # so short a step is below rounding
            break
        else:
            ridge *= _RIDGE_FACTOR
    return x, u


def _phi(z: Array, x: Array, u: Array, Q: Array, b: Array) -> tuple[float, Array]:
    slope: Array = b - Q @ x
    return 0.5 * float((x - z) @ (x - z)) + float(u @ slope), slope


def _newton(Q: Array, slope: Array, free: Array, support: Array, ridge: float) -> Array:
    """The step of the free multipliers; the curvature is that of the simplex's face in which x lies."""
    S = Q[:, support]
    S = S - S.mean(axis=1, keepdims=True)
    H = S @ S.T
    H.flat[:: len(H) + 1] += ridge
    step = np.zeros(len(free))
    _, step[free], _ = lapack.dposv(H, slope[free])  # definite: the ridge is far above rounding
    return step
