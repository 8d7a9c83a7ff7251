"""The problem of kernel weights and support vectors together, and the bound that any feasible pair gives.

    min_{d in D} max_a  scale (p'a - 1/2 sum_j rho_j a_j^2 - 1/2 b'(sum_k d_k K_k) b) + r(d)

The order may be changed; with h the support of the domain and the scores v_k = b'K_k b, every feasible a bounds the
optimum from below by scale (p'a - 1/2 sum_j rho_j a_j^2) - h(scale/2 v).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.domains import Separable
from multikernel.duality import dual_value
from multikernel.machines.support.certified import floor_at
from multikernel.machines.support.program import SupportProgram


@dataclass(frozen=True, eq=False)
class Saddle:
    """The problem: kernels, support program, domain."""

    bank: KernelBank
    program: SupportProgram
    domain: Separable

    def weights(self, delta: Array) -> Array:
        """offset + delta."""
        return self.domain.offset(len(delta)) + delta

    def largest_score(self, multiplier: float) -> float:
        """The score that no kernel of weight zero exceeds at the optimum; its reduced cost is half the difference."""
        zero = np.zeros(1)
        domain = self.domain
        slope = 0.0
        if domain.constrained:
            slope = multiplier * float(domain.constraint(zero)[1][0])
        return 2.0 * (slope + float(domain.separable_penalty(zero)[1][0]) / self.program.scale)

    def bound(self, a: Array, scores: Array) -> float:
        """A lower bound of the optimum by a feasible a and the scores of all kernels.

        Where the domain's support is infinite, a multiple of a with a finite one is used, if it is feasible.
        """
        q = 0.5 * self.program.scale * scores
        fraction = self.domain.finite_part(q)
        if fraction < 1.0 and self.program.total != 0.0:
            return -np.inf
        return dual_value(self.program.dual(np.sqrt(fraction) * a, 0.0), fraction * q, self.domain)

    @cached_property
    def floor(self) -> float:
        """A value that counts as zero, as in the machine: with a fixed sum of coefficients the optimum may be zero."""
        program = self.program
        m = len(self.bank)
        if program.total == 0.0:
            return 0.0
        size = float(self.domain.start(m) @ self.bank.traces()) / program.n
        return floor_at(program, size)
