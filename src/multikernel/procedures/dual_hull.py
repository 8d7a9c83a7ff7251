"""Convex combinations ("mixtures") of the dual variables of machines, and the problem of kernel weights on these.

    min_{d in D} max_{a in A}  g(a) - scale/2 sum_k d_k tr b'K_k b + r(d),    g concave, b linear in a

If a_1 .. a_J are the variables of J machines, then their mixtures a(x) = sum_j x_j a_j, x >= 0, sum x = 1, are
feasible, too, and g(a(x)) >= sum_j x_j g(a_j). Restricted to mixtures the problem has J variables,

    min_{d in D} max_x  scale (c'x - 1/2 sum_k d_k x'S_k x) + r(d),    c_j = g(a_j) / scale,
                                                                       (S_k)_jl = tr b_j'K_k b_l,

which is the problem of a support vector machine for J samples: the interior point method solves it at almost no cost,
and its solution bounds the optimum from below. To solve machines and this problem alternately is simplicial
decomposition (von Hohenbalken 1977) of the dual problem, with a quadratic model instead of the linear one of cutting
planes.
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
        """The hull with another point; ``products`` are its K_k b, shape (m, N)."""
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
        point = interior_point(Saddle(self.forms, program, domain), tol)
        return domain.feasible(np.where(point.active, point.weights, 0.0)), point.a / point.a.sum()


def next_weights(model: Array, best: Array, return_fraction: float) -> Array:
    """The weights of the model, moved by ``return_fraction`` of the difference towards the best ones.

    A weight below 1/100 of the largest is set to zero if it is zero in the model: otherwise the 32 fits of
    ``return_fraction`` took 188 rounds.
    """
    mixed = (1.0 - return_fraction) * model + return_fraction * best
    return np.where((model > 0.0) | (mixed > 0.01 * mixed.max()), mixed, 0.0)


def return_fraction(domain: Separable, m: int) -> float:
    """The fraction of a step to the model's weights that is undone: 0.3 where these may be corners of the domain.

    32 fits took 172 rounds, and 217 without this.
    """
    if domain.lets_vanish(m):
        return 0.3
    return 0.0
