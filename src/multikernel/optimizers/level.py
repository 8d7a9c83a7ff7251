"""The level method (Lemarechal, Nemirovskii and Nesterov 1995; for kernel weights Xu, Jin, King and Lyu 2009).

    theta' = the point of the simplex nearest to theta at which the cutting plane model is at most the level
    level  = tau upper + (1 - tau) bound

with upper the best value found and bound the minimum of the model, as for cutting planes; the published upper value is
the largest one, which is a slip. A plane is dropped when its multipliers in both programs have been zero for some
rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from multikernel._rules import Number
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.cuts import Cuts
from multikernel.optimizers.nearest import nearest
from multikernel.optimizers.needs import need_linear, need_simplex
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Problem

_IDLE_ROUNDS = 20  # rounds after which a plane without multipliers is dropped


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
            theta, own = nearest(state.latest.theta, cuts, level)
            cuts = cuts.after_round((multipliers > 0) | (own > 0), _IDLE_ROUNDS)
            state = yield Proposal(theta, bound)
            cuts = cuts.with_plane(state.latest)
