"""Kernel weights and a support vector machine alternately: a machine at the weights, weights for all machines so far.

    min_{d in D} max_{a in A}  scale (p'a - 1/2 sum_j rho_j a_j^2 - 1/2 b'(sum_k d_k K_k) b) + r(d),    b = E a

The mixtures of the variables of all machines so far give a problem of as many variables (``dual_hull``). Its solution
bounds the optimum from below, and at its weights the next machine is solved. A round is one sum of the kernels, one
machine from the last solution, as accurate as the gap is worth, and one product of all kernels: a gap of 1e-4 takes
five to fifteen machines, whatever the number of samples.
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
from multikernel.procedures.dual_hull import DualHull, next_weights, way_back
from multikernel.procedures.support_pair import SupportPair, SupportSaddle


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
    back = way_back(domain, len(bank))
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
        del gram  # the next one takes as much memory, which many samples do not have twice
        products = bank.apply(dual.coef[:, None])[:, :, 0]
        warm = dual.warm
        points = np.vstack([points, warm])
        hull = hull.with_point(program.coef(warm), program.dual(warm, 0.0) / program.scale, products)
        # the mixtures are solved to a small part of the gap that is left
        weights_next, x = hull.solved(domain, program.scale, 0.02 * max(min(gap, 1.0), tol))
        mixture = feasible(program, np.clip(x @ points, 0.0, program.upper))
        found = support.pair(weights, sizes, dual, weights @ products, products @ dual.coef)
        found = support.proved(found, mixture, hull.forms.quad(x), sizes)
        best = found.joined(best)
        gap = best.certificate.value
        history.append(gap)
        observe(Event(len(history), best.certificate, weights, dual.value, dual.upper, best.bound))
        stalled = len(history) > STALLED and gap > NO_PROGRESS * history[-1 - STALLED]
        if best.certificate.reached(tol) or stalled or not dual.converged or time_is_up():
            break
        weights = domain.feasible(next_weights(weights_next, best.weights, back))
    assert best is not None
    return best, history
