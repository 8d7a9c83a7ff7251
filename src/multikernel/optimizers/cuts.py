"""The cutting plane model of J over the simplex { theta >= 0, sum theta = total }.

Every feasible dual point a of an inner problem gives a plane below J, where K is linear in theta:

    J(theta) >= c - q'theta,        q = scores,  c = J_a + q'theta_a

and the model is the largest of them. Its minimum over the simplex, a linear program, bounds the optimum from below.
The bound is recomputed from the program's multipliers, so that no solver's tolerance enters it:

    min_theta max_j c_j - q_j'theta  >=  sum_j x_j c_j - total max_k sum_j x_j q_jk,      x >= 0, sum x = 1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from multikernel._typing import Array
from multikernel.domains import Simplex
from multikernel.duality import dual_value
from multikernel.problem import Evaluation


@dataclass(frozen=True, eq=False)
class Cuts:
    """The planes of a model.

    Parameters
    ----------
    constant : array (j,), c
    slope : array (j, m), the rows are the q
    total : float > 0, of the simplex
    idle : int array (j,), for how many rounds the multipliers of a plane have been zero
    """

    constant: Array
    slope: Array
    total: float
    idle: Array

    @classmethod
    def of(cls, evaluation: Evaluation, total: float) -> Cuts:
        """The model of one plane."""
        q = evaluation.scores
        return cls(np.array([_constant(evaluation)]), q[None], total, np.zeros(1, dtype=int))

    def with_plane(self, evaluation: Evaluation) -> Cuts:
        """The model with a further plane."""
        return Cuts(
            np.append(self.constant, _constant(evaluation)),
            np.vstack([self.slope, evaluation.scores]),
            self.total,
            np.append(self.idle, 0),
        )

    def after_round(self, active: Array, patience: int) -> Cuts:
        """The model without the planes that have been idle for more than ``patience`` rounds.

        ``active``, a boolean array (j,), says which planes have a multiplier in this round.
        """
        idle = np.where(active, 0, self.idle + 1)
        staying = idle <= patience
        return Cuts(self.constant[staying], self.slope[staying], self.total, idle[staying])

    def minimum(self) -> tuple[Array, float, Array]:
        """A minimiser over the simplex, a bound of the minimum from below, and the planes' multipliers.

        ValueError where the linear program could not be solved.
        """
        j, m = self.slope.shape
        unit = max(float(np.abs(self.constant).max()), self.total * float(np.abs(self.slope).max())) or 1.0
        program = linprog(
            np.append(np.zeros(m), 1.0),
            A_ub=np.column_stack([-self.total / unit * self.slope, -np.ones(j)]),
            b_ub=-self.constant / unit,
            A_eq=np.append(np.ones(m), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0.0, None)] * m + [(None, None)],
            method="highs",
        )
        if program.x is None:
            raise ValueError(f"the linear program of the cutting planes could not be solved: {program.message}")
        theta = np.maximum(program.x[:m], 0.0)
        multipliers = np.maximum(-program.ineqlin.marginals, 0.0)
        multipliers /= multipliers.sum()
        return theta * (self.total / theta.sum()), self.bound(multipliers), multipliers

    def bound(self, multipliers: Array) -> float:
        """The bound from multipliers of the planes, with sum 1."""
        return dual_value(float(multipliers @ self.constant), multipliers @ self.slope, Simplex(self.total))


def _constant(evaluation: Evaluation) -> float:
    return evaluation.value + float(evaluation.scores @ evaluation.theta)
