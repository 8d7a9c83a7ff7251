"""Cutting planes, or semi-infinite linear programming (Sonnenburg, Raetsch, Schaefer and Schoelkopf 2006).

    theta' = argmin over the simplex of max_j c_j - q_j'theta

A linear program and an inner problem are solved alternately. The next point is a corner of the model, perhaps far from
the last one, so that many kernels need many planes; the level method keeps points near one another.
"""

from __future__ import annotations

from dataclasses import dataclass

from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.cuts import Cuts
from multikernel.optimizers.needs import need_linear, need_simplex
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Problem


@dataclass(frozen=True)
class CuttingPlane(Optimizer):
    """Each point is the minimiser of the cutting plane model; for kernels linear in the weights, over a Simplex.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach
    max_iter : int >= 1, how many inner problems at most are solved
    """

    def check(self, problem: Problem) -> None:
        need_linear(self, problem)
        need_simplex(self, problem)

    def search(self, problem: Problem, state: State) -> Search:
        cuts = Cuts.of(state.latest, need_simplex(self, problem))
        while True:
            theta, bound, _ = cuts.minimum()
            state = yield Proposal(theta, bound)
            cuts = cuts.with_plane(state.latest)
