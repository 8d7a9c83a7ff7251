"""Kernel weights and a support vector machine alternately: a machine at the weights, weights for all machines so far.

    min_{d in D} max_{a in A}  scale (p'a - 1/2 sum_j rho_j a_j^2 - 1/2 b'(sum_k d_k K_k) b) + r(d),    b = E a

The convex combinations of the variables of all machines so far give a problem with one variable for each machine
(``dual_hull``). Its solution bounds the optimum from below, and the next machine is solved at its weights. A round
takes one sum of the kernels, one machine, started from the last solution and solved to an accuracy that depends on the
gap, and one product of all kernels with a vector. A gap of 1e-4 takes five to fifteen machines for any number of
samples.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.certificate import NO_PROGRESS, STALLED
from multikernel.machines.support.certified import roots
from multikernel.machines.support.coefficients import feasible
from multikernel.observer import Event, Observer
from multikernel.procedures.dual_hull import DualHull, next_weights, return_fraction
from multikernel.procedures.support_pair import SupportPair, SupportSaddle


def alternating(
    support: SupportSaddle, start: Array | None, near: SupportPair | None, max_iter: int, observe: Observer
) -> tuple[SupportPair, list[float]]:
    """The best weights with their machine, and the gap after each round, which may stay above the tolerance.

    Parameters
    ----------
    support : the problem, over a domain whose constraint bounds the weights
    start : array (m,), weights to begin with
    near : a known pair
    max_iter : int >= 1, rounds at most
    observe : called after each round
    """
    saddle = support.saddle
    tol = support.tol
    bank = saddle.bank
    program = saddle.program
    domain = saddle.domain
    back = return_fraction(domain, len(bank))
    hull = DualHull.empty(len(bank), program.n)
    points = np.empty((0, len(program.sign)))
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
        del gram  # the next one takes as much memory, and with many samples there is not enough for both
        products = bank.apply(dual.coef[:, None])[:, :, 0]
        warm = dual.warm
        points = np.vstack([points, warm])
        hull = hull.with_point(program.coef(warm), program.dual(warm, 0.0) / program.scale, products)
        # the problem of the combinations is solved to a small fraction of the remaining gap
        weights_next, x = hull.solved(domain, program.scale, 0.02 * max(min(gap, 1.0), tol))
        mixture = feasible(program, np.clip(x @ points, 0.0, program.upper))
        pair = support.pair(weights, sizes, dual, weights @ products, products @ dual.coef)
        pair = support.proved(pair, mixture, hull.forms.quad(x), sizes)
        best = pair.joined(best)
        gap = best.certificate.value
        history.append(gap)
        observe(Event(len(history), best.certificate, weights, dual.value, dual.upper, best.bound))
        stalled = len(history) > STALLED and gap > NO_PROGRESS * history[-1 - STALLED]
        if best.certificate.reached(tol) or stalled or not dual.converged or time_is_up():
            break
        weights = domain.feasible(next_weights(weights_next, best.weights, back))
    assert best is not None
    return best, history
