"""The mixtures of dual variables that machines found, and the problem of kernel weights on these.

    min_{d in D} max_{a in A}  g(a) - scale/2 sum_k d_k tr b'K_k b + r(d),    g concave, b linear in a

Whatever variables a_1 .. a_J the machines found, so are their mixtures a(x) = sum_j x_j a_j, x >= 0, sum x = 1, and
g(a(x)) >= sum_j x_j g(a_j). On the mixtures the problem is one of J variables,

    min_{d in D} max_x  scale (c'x - 1/2 sum_k d_k x'S_k x) + r(d),    c_j = g(a_j) / scale,
                                                                       (S_k)_jl = tr b_j'K_k b_l,

which is the problem of a support vector machine for J samples: the interior point method solves it at almost no cost,
and its solution bounds the optimum from below. Machines and this problem by turns are simplicial decomposition (von
Hohenbalken 1977) of the dual problem, with a curved model where cutting planes have a flat one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.banks.packed import PackedBank
from multikernel.banks.precomputed import Precomputed
from multikernel.domains import Separable
from multikernel.machines.support.program import SupportProgram
from multikernel.procedures.interior import Saddle, interior_point


@dataclass(frozen=True, eq=False)
class DualHull:
    """The mixtures of some dual variables.

    Parameters
    ----------
    coefs : array (J, N), the b_j, a matrix as one row
    constants : array (J,), c
    forms : PackedBank of the S_k, shape (J, J)
    """

    coefs: Array
    constants: Array
    forms: PackedBank

    @classmethod
    def empty(cls, m: int, size: int) -> DualHull:
        """No mixtures yet, of m kernels and coefficients of this size."""
        forms = PackedBank(Precomputed(m, 0), np.empty((m, 0)), 0)
        return cls(np.empty((0, size)), np.empty(0), forms)

    def with_point(self, coef: Array, constant: float, products: Array) -> DualHull:
        """The hull with one point more; ``products`` holds its K_k b, shape (m, N)."""
        m = len(products)
        J = len(self.coefs) + 1
        coefs = np.vstack([self.coefs, coef])
        stack = np.hstack([self.forms.stack, products @ coefs.T])
        constants = np.append(self.constants, constant)
        return DualHull(coefs, constants, PackedBank(Precomputed(m, J), stack, J))

    def solved(self, domain: Separable, scale: float, tol: float) -> tuple[Array, Array]:
        """The weights and the mixture, shares x of the points, that solve the problem on the hull."""
        ones = np.ones(len(self.coefs))
        program = SupportProgram(len(ones), ones, self.constants, ones, 0.0 * ones, total=1.0, scale=scale)
        found = interior_point(Saddle(self.forms, program, domain), tol)
        return domain.feasible(np.where(found.active, found.weights, 0.0)), found.a / found.a.sum()


def next_weights(model: Array, best: Array, back: float) -> Array:
    """The weights that the model of the mixtures proposes, a part ``back`` of the way back to the best ones.

    A weight below 1/100 of the largest becomes zero where the model has it at zero: 188 rounds where all stay.
    """
    mixed = (1.0 - back) * model + back * best
    return np.where((model > 0.0) | (mixed > 0.01 * mixed.max()), mixed, 0.0)


def way_back(domain: Separable, m: int) -> float:
    """Where the model sends weights to corners, steps stop short by 3/10 of the way back to the best weights.

    32 fits took 172 rounds, and 217 without.
    """
    if domain.lets_vanish(m):
        return 0.3
    return 0.0
