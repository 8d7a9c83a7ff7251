"""Kernel weights and a support vector machine alternately: a machine at the weights, weights for all machines so far.

    min_{d in D} max_{a in A}  scale (p'a - 1/2 sum_j rho_j a_j^2 - 1/2 b'(sum_k d_k K_k) b) + r(d),    b = E a

Whatever variables a_1 .. a_J the machines found, so are their mixtures a(x) = sum_j x_j a_j, x >= 0, sum x = 1. On
these the problem is one of J variables,

    min_{d in D} max_x  scale (c'x - 1/2 sum_k d_k x'S_k x) + r(d),    c_j = p'a_j - 1/2 sum rho a_j^2,
                                                                       (S_k)_jl = b_j'K_k b_l,

which is the problem itself for J samples: the interior point method solves it at almost no cost. Its mixture bounds the
optimum from below, and at its weights the next machine is solved. A round is one sum of the kernels, one machine from
the last solution, as accurate as the gap is worth, and one product of all kernels. This is simplicial decomposition
(von Hohenbalken 1977) of the dual problem with a curved model, where cutting planes have a flat one: a gap of 1e-4
takes five to fifteen machines, whatever the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.banks.packed import PackedBank
from multikernel.banks.precomputed import Precomputed
from multikernel.certificate import NO_PROGRESS
from multikernel.domains import Separable
from multikernel.machines.support.certified import roots
from multikernel.machines.support.coefficients import feasible
from multikernel.machines.support.program import SupportProgram
from multikernel.observer import Event, Observer
from multikernel.procedures.interior import Saddle, interior_point
from multikernel.procedures.support_pair import SupportPair, SupportSaddle

_STALLED_ROUNDS = 10  # rounds without progress until giving up


@dataclass(frozen=True, eq=False)
class DualHull:
    """The mixtures of some variables of a support program.

    Parameters
    ----------
    points : array (J, N), the a_j
    coefs : array (J, n), the b_j
    constants : array (J,), c
    forms : PackedBank of the S_k, shape (J, J)
    """

    points: Array
    coefs: Array
    constants: Array
    forms: PackedBank

    @classmethod
    def empty(cls, m: int, program: SupportProgram) -> DualHull:
        """No mixtures yet."""
        forms = PackedBank(Precomputed(m, 0), np.empty((m, 0)), 0)
        return cls(np.empty((0, len(program.sign))), np.empty((0, program.n)), np.empty(0), forms)

    def with_point(self, program: SupportProgram, a: Array, products: Array) -> DualHull:
        """The hull with one point more; ``products`` holds its K_k b, shape (m, n)."""
        m = len(products)
        J = len(self.points) + 1
        coefs = np.vstack([self.coefs, program.coef(a)])
        stack = np.hstack([self.forms.stack, products @ coefs.T])
        constants = np.append(self.constants, program.dual(a, 0.0) / program.scale)
        return DualHull(np.vstack([self.points, a]), coefs, constants, PackedBank(Precomputed(m, J), stack, J))

    def solved(self, domain: Separable, scale: float, tol: float) -> tuple[Array, Array]:
        """The weights and the mixture, shares x of the points, that solve the problem on the hull."""
        ones = np.ones(len(self.points))
        program = SupportProgram(len(ones), ones, self.constants, ones, 0.0 * ones, total=1.0, scale=scale)
        found = interior_point(Saddle(self.forms, program, domain), tol)
        return domain.feasible(np.where(found.active, found.weights, 0.0)), found.a / found.a.sum()


def alternating(
    support: SupportSaddle, start: Array | None, near: SupportPair | None, max_iter: int, observe: Observer
) -> tuple[SupportPair, list[float]]:
    """The best weights with their machine, and the gap after each round; it may stay above the one asked for.

    Parameters
    ----------
    support : the problem, over a domain whose constraint bounds the weights
    start : array (m,), weights to begin with
    near : a pair at hand
    max_iter : int >= 1, rounds at most
    observe : called after each round
    """
    saddle = support.saddle
    tol = support.tol
    bank = saddle.bank
    program = saddle.program
    domain = saddle.domain
    # Where the model sends weights to corners, steps stop short by 3/10 of the way back to the best weights: 32 fits
    # took 172 rounds, and 217 without.
    back = 0.3 if domain.lets_vanish(len(bank)) else 0.0
    hull = DualHull.empty(len(bank), program)
    best = near
    history = list[float]()
    weights = domain.start(len(bank)) if start is None else domain.feasible(start)
    warm = None if near is None else near.dual.warm
    gap = 1.0
    while len(history) < max_iter:
        inner = min(0.05 * max(gap, tol), 1e-2)  # the gap of the machine
        gram = bank.combine(weights)
        dual = replace(support.machine, tol=inner).solve_program(gram, program, warm)
        sizes = roots(gram.diagonal())
        del gram  # the next one takes as much memory, which many samples do not have twice
        products = bank.apply(dual.coef[:, None])[:, :, 0]
        warm = dual.warm
        hull = hull.with_point(program, warm, products)
        # the mixtures are solved to a small part of the gap that is left
        weights_next, x = hull.solved(domain, program.scale, 0.02 * max(min(gap, 1.0), tol))
        mixture = feasible(program, np.clip(x @ hull.points, 0.0, program.upper))
        found = support.pair(weights, sizes, dual, weights @ products, products @ dual.coef)
        found = support.proved(found, mixture, hull.forms.quad(x), sizes)
        best = found.joined(best)
        gap = best.certificate.value
        history.append(gap)
        observe(Event(len(history), best.certificate, weights, dual.value, dual.upper, best.bound))
        stalled = len(history) > _STALLED_ROUNDS and gap > NO_PROGRESS * history[-1 - _STALLED_ROUNDS]
        if best.certificate.reached(tol) or stalled or not dual.converged:
            break
        # A weight below 1/100 of the largest becomes zero where the model has it at zero: 188 rounds where all stay.
        mixed = (1.0 - back) * weights_next + back * best.weights
        weights = domain.feasible(np.where((weights_next > 0.0) | (mixed > 0.01 * mixed.max()), mixed, 0.0))
    assert best is not None
    return best, history
