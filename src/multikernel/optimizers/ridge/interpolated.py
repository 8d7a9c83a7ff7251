"""The interpolated iteration of Cortes, Mohri and Rostamizadeh (2009, L2 regularization for learning kernels).

    theta = argmax_{d in D} d'q(A) - r(d),        q_k = tr A'K_kA
    A <- (1 - step) A + step A(theta),            A(theta) the ridge machine's solution at theta

The optimum is the fixed point of both lines. With step 1 the iteration may alternate between two points without end. In
a ball of norm p, it follows from the inequality

    W'(K + alpha I)^{-1}W <= diag(q_k / theta_k),        W = [K_1A, ..., K_mA]

that near the optimum an iteration multiplies errors of A by factors between 1 - step (p + 1) / (p - 1) and 1 - step.
With step = 1 - 1/p no factor exceeds 1/p in size, for any alpha, centre and radius, and no other step has a smaller
bound. A squared penalty behaves like p = 2.

The certificate is that of theta with the machine's solution there; the mean A is not a solution for any theta.
"""

from __future__ import annotations

from dataclasses import dataclass

from multikernel._parameters import Part
from multikernel.optimizers.base import Optimizer, Search
from multikernel.optimizers.needs import need_linear, need_ridge, need_smooth_maximiser
from multikernel.optimizers.state import Proposal, State
from multikernel.problem import Problem


@dataclass(frozen=True)
class Interpolated(Optimizer):
    """Interpolated iteration: ridge regression with a sum of kernels, over a NormBall of norm > 1 or a squared penalty.

    For norm 2 some forty machines reduce the gap to rounding.

    Parameters
    ----------
    tol : float > 0, the relative duality gap to reach
    max_iter : int >= 1, how many machines at most are solved
    step : float in (0, 1], the part of the new solution in the mean; 1 - 1/norm by default
    """

    step: Part | None = None

    def check(self, problem: Problem) -> None:
        need_linear(self, problem)
        need_ridge(self, problem)
        need_smooth_maximiser(self, problem)

    def search(self, problem: Problem, state: State) -> Search:
        if self.step is None:
            step = 1.0 - 1.0 / need_smooth_maximiser(self, problem)
        else:
            step = self.step
        mean = state.latest.dual.factor
        while True:
            q = problem.combination.pullback(problem.bank, state.latest.theta, mean)
            state = yield Proposal(problem.domain.maximiser(q))
            mean = (1.0 - step) * mean + step * state.latest.dual.factor
