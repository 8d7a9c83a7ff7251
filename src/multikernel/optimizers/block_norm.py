"""Alternation in closed form (Kloft, Brefeld, Sonnenburg and Zien 2011), for balls around 0 of any norm p >= 1.

With the kernels' parts of the predictor held fixed, c_k = |f_k| = d_k |w_k| their norms, the weights that minimise
sum_k c_k^2 / d_k are known: dhat_k proportional to c_k^{2 / (p + 1)}. With the weights held fixed the inner problem
gives the parts. Neither step can raise the value. The steps get short as p approaches 1; then they are stretched,

    d' proportional to d (dhat / d)^stretch,        stretch >= 1,

with a larger exponent after each success, and exponent 1 after a stretched step that raised the value, which is undone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.domains import Domain
from multikernel.optimizers.base import Descent, Search
from multikernel.optimizers.needs import need_block_update, need_linear
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Problem

CENTRAL_SHARE = 1e-3  # share of the central point in a start that has zeros, for a weight of zero would stay zero


@dataclass(frozen=True)
class BlockNorm(Descent):
    """Updates of the weights in closed form; for kernels linear in the weights, over a NormBall around 0 or a Simplex.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach
    max_iter : int >= 1, how many inner problems at most are solved
    """

    def check(self, problem: Problem) -> None:
        need_linear(self, problem)
        need_block_update(self, problem)

    def first(self, problem: Problem, start: Array | None) -> Array:
        theta = super().first(problem, start)
        if (theta > 0).all():
            return theta
        return (1.0 - CENTRAL_SHARE) * theta + CENTRAL_SHARE * problem.start()

    def search(self, problem: Problem, state: State) -> Search:
        domain = need_block_update(self, problem)
        stretch = 1.0
        tried = np.empty(0)
        while True:
            best = state.best
            update = domain.block_update(best.theta * np.sqrt(np.maximum(best.scores, 0.0)))
            if np.array_equal(update, best.theta) or np.array_equal(update, tried):
                return
            state = yield Proposal(_stretched(problem.domain, best.theta, update, stretch))
            if state.best is not best:
                stretch *= 1.5  # further after each success
                continue
            if stretch > 1.0:
                stretch = 1.0
                state = yield Proposal(update)
            tried = update  # where this step gains less than rounding, it would be proposed without end


def _stretched(domain: Domain, d: Array, update: Array, stretch: float) -> Array:
    if stretch == 1.0:
        return update
    ratio = np.divide(update, d, out=np.ones_like(d), where=d > 0)
    factor = np.clip(ratio ** (stretch - 1.0), 0.01, 100.0)  # by which stretching changes a single weight
    # every entry is at least the plain one, so the point is not inside, and the domain scales it back to its boundary
    return domain.feasible(update * (factor / factor.min()))
