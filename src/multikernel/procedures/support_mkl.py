"""Kernel weights and a support vector machine on the weighted kernel, learned together, by the faster of two methods.

    min_{d in D}  J(sum_k d_k K_k) + r(d),        J the value of a support vector machine

A forecast of their times chooses the method (``forecast``). In the first, machines and the problem of their convex
combinations are solved alternately (``support_hull``): this is best for many samples, and the only method where a
factorisation is too large.

The second, the interior point method, finds weights and support vectors at once. With many samples it is applied to
some of them: at first to the support vectors at equal weights and to samples that are nearly support vectors. The
machine is then solved at the resulting weights, on all samples and without the kernels of weight zero. This pair has
exact zeros and gets a certificate. New support vectors of the machine are added in the next round; there are seldom
more than two rounds. Once all samples are included, the interior point itself is the answer if its gap is smaller than
that of the machine. Where the kernels have few features steps are cheap, and all samples are included from the start.

The solution of a similar problem, such as that of the same kernels after rounding, is tried first: the pair itself,
then the pair with the machine solved at its weights. Where neither suffices, as for the neighbour on a path or for
other samples, the pair determines the samples and kernels of the first steps, which cost a fraction of steps on all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import precomputed
from multikernel.banks.factor_gram import few_features
from multikernel.banks.threads import one_blas_thread
from multikernel.certificate import ROUGH
from multikernel.domains import Domain, NormBall, Separable, Simplex
from multikernel.machines import DualSolution
from multikernel.observer import Observer, silent
from multikernel.optimizers import BlockNorm, LevelMethod, Optimizer, ProjectedGradient
from multikernel.problem import Problem
from multikernel.procedures.base import Start, Weights, outcome
from multikernel.procedures.forecast import interior_steps, machine_rounds
from multikernel.procedures.interior import InteriorPoint, Saddle, interior_point
from multikernel.procedures.support_hull import alternating
from multikernel.procedures.support_pair import SupportPair, SupportSaddle
from multikernel.tuning import (
    ALL_SAMPLES,
    INTERIOR_FEATURES,
    INTERIOR_SAMPLES,
    ROUNDS_PRODUCTS,
    ROUNDS_TRIED,
    SUPPORT_SHARE,
)


def support_mkl(
    problem: Problem,
    tol: float = 1e-3,
    max_iter: int = 200,
    start: Start | None = None,
    observe: Observer = silent,
) -> tuple[Weights, DualSolution]:
    """The weights with their certificate, and the machine's solution at them.

    Parameters
    ----------
    problem : Problem of a sum of kernels and a SupportMachine, over a separable domain
    tol : float > 0, the relative duality gap to reach
    max_iter : int, Newton steps at most
    start : Start, the solution of a similar problem
    observe : called after each step

    Raises
    ------
    TypeError : for a machine without a support program, and for a combination or a domain of another kind; the message
        names a function that accepts these
    """
    support = SupportSaddle.of(problem, tol)
    problem.domain.check(len(problem.bank))
    with one_blas_thread(problem.bank.shape[0]):
        near = _near_solution(support, start)
        if near is not None and (near.certificate.reached(tol) or time_is_up()):
            return near.answer(tol, [])
        weights = None if start is None else start.weights
        few = near is not None and support.saddle.domain.lets_vanish(len(problem.bank))  # kernels take part in steps
        # an optimizer reaches a gap of 0.05 from a neighbour's weights with fewer passes, if all kernels take part
        if tol >= 0.05 and start is not None and start.weights.any() and not few:
            variables = start.variables if near is None else near.dual.warm
            return _by_machines(problem, tol, max_iter, weights, variables, observe)
        return _solved(problem, support, max_iter, weights, near, observe)


def _near_solution(support: SupportSaddle, start: Start | None) -> SupportPair | None:
    """The pair of a given solution, with the machine solved at its weights if the pair is not a solution here.

    If time is up, the pair is returned whatever its certificate.
    """
    shape = support.saddle.program.upper.shape
    if start is None or start.variables is None or start.variables.shape != shape:
        return None
    pair = support.at(start.weights, start.variables, witness=start.witness)
    if pair.certificate.reached(support.tol) or time_is_up():
        return pair
    # a pair with a gap of 0.05 is nearly a solution: it may become one with a refined machine at its weights
    rough = None if pair.certificate.reached(0.05) else ROUGH
    return support.of_machine(pair.weights, pair.dual.warm, rough).better(pair)


def _solved(
    problem: Problem,
    support: SupportSaddle,
    max_iter: int,
    start: Array | None,
    near: SupportPair | None,
    observe: Observer,
) -> tuple[Weights, DualSolution]:
    """Solve by rounds of machines where these are tried first, else or afterwards by the interior point method."""
    n = support.saddle.program.n
    tol = support.tol
    domain = support.saddle.domain
    n_features = problem.bank.n_features
    few = n_features is not None and few_features(n_features, n)
    all_samples = few and float(n) * float(n_features or 0) ** 2 <= INTERIOR_FEATURES
    history: list[float] = []
    if all_samples:
        max_rounds = 0
    elif few and domain.constrained:
        max_rounds = max_iter
        if start is None:
            start = _of_some_samples(support)
    else:
        max_rounds = _most_rounds(problem, domain, tol, max_iter)
    if max_rounds > 0:
        near, history = alternating(support, start, near, max_rounds, observe)
        if near.certificate.reached(tol) or len(history) >= max_iter or time_is_up():
            return near.answer(tol, history)
        start = near.weights
    return _by_interior_points(problem, support, max_iter, start, near, history, all_samples, observe)


def _by_interior_points(
    problem: Problem,
    support: SupportSaddle,
    max_iter: int,
    start: Array | None,
    near: SupportPair | None,
    history: list[float],
    all_samples: bool,
    observe: Observer,
) -> tuple[Weights, DualSolution]:
    """The interior point method on an increasing number of samples, or on all of them from the start.

    If there are too many for its factorisations, an optimizer that solves machines continues. ``history`` has the gaps
    of earlier steps.
    """
    n = support.saddle.program.n
    tol = support.tol
    # the machine's scores differ from the interior point's by the square root of its gap; a smaller gap costs a step or
    # two, and rounding limits it to 1e-11
    inner = min(max(0.01 * tol**2, 1e-11), 0.05 * tol)
    if all_samples:
        rows = np.arange(n)
        max_samples = n
    else:
        rows = _first_samples(support, start, near)
        max_samples = INTERIOR_SAMPLES
    best = near
    guessed = near is None and len(rows) < n  # whether the samples are a first guess
    while len(rows) <= max_samples:
        gap = ROUGH if guessed else inner
        kernels = _first_kernels(support, start, best)
        point = _on_samples(support, rows, gap, max_iter - len(history), kernels, observe)
        history = [*history, *point.history]
        pair = support.of_machine(np.where(point.active, point.weights, 0.0), point.a)
        best = pair.better(best)
        if best.certificate.reached(tol):
            return best.answer(tol, history)
        if len(rows) == n or len(history) >= max_iter or time_is_up():
            return support.at(point.weights, point.a, point.n_iter).better(best).answer(tol, history)
        if point.weights.any():
            start = point.weights
        larger = _further_samples(support, rows, pair)
        rows = larger if guessed or len(larger) > len(rows) else np.arange(n)
        guessed = False
    return _by_machines(problem, tol, max_iter, start, None if near is None else near.dual.warm, observe)


def _by_machines(
    problem: Problem, tol: float, max_iter: int, start: Array | None, variables: Array | None, observe: Observer
) -> tuple[Weights, DualSolution]:
    """Solve by an optimizer that solves a machine in each step."""
    optimizer = _optimizer(problem.domain)(tol=tol, max_iter=max_iter)
    return outcome(optimizer.minimise(problem, start, variables, observe))


def _most_rounds(problem: Problem, domain: Separable, tol: float, max_iter: int) -> int:
    """How many rounds of machines to try before the interior point method; 0 where the latter takes less time."""
    n = problem.bank.shape[0]
    if not domain.constrained or n * len(problem.bank) > ROUNDS_PRODUCTS:
        return 0
    cost = problem.bank.cost()
    rounds = machine_rounds(cost, domain, tol)
    interior = interior_steps(cost)
    if n > INTERIOR_SAMPLES:
        return max_iter
    if rounds.seconds < interior.seconds:
        return min(max_iter, int(ROUNDS_TRIED * interior.seconds / rounds.each.seconds))
    return 0


def _optimizer(domain: Domain) -> type[Optimizer]:
    """The optimizer over machines that needs the fewest of them."""
    if isinstance(domain, Simplex):
        return LevelMethod
    around_zero = isinstance(domain, NormBall) and not np.any(domain.center)
    if around_zero:
        return BlockNorm
    return ProjectedGradient


# -- the samples that take part ----------------------------------------------------------------------------------------


def _first_samples(support: SupportSaddle, start: Array | None, near: SupportPair | None) -> Array:
    """The support vectors at known or at equal weights, and about half as many samples that nearly are."""
    n = support.saddle.program.n
    bank = support.saddle.bank
    if not bank.local or (near is None and n <= ALL_SAMPLES):
        return np.arange(n)
    if near is not None:
        return _near(support, near.dual, near.f, ratio=0.3)
    if start is not None and start.any():
        weights = start
    else:
        weights = support.saddle.domain.start(len(bank))
    gram = bank.combine(weights)
    rough = replace(support.machine, tol=ROUGH).solve_program(gram, support.saddle.program)
    return _near(support, rough, gram.multiply(rough.coef))


def _of_some_samples(support: SupportSaddle) -> Array:
    """The weights for 1000 samples, whose losses are multiplied so that they represent all samples.

    From these weights 9 rounds of machines sufficed, from equal weights 13; with 500 samples 9 too, with 2000 one less.
    """
    program = support.saddle.program
    bank = support.saddle.bank
    rows = np.sort(np.random.default_rng(0).choice(program.n, min(program.n, 1000), replace=False))
    share = program.n / len(rows)
    weighted = program.restricted(rows)
    weighted = replace(weighted, upper=share * weighted.upper, ridge=weighted.ridge / share)
    point = interior_point(
        Saddle(precomputed(bank.block(rows, rows).matrices()), weighted, support.saddle.domain), ROUGH, 40
    )
    if point.weights.any():
        return point.weights
    return support.saddle.domain.start(len(bank))


def _further_samples(support: SupportSaddle, rows: Array, pair: SupportPair) -> Array:
    """The given samples, and the support vectors and near ones of the pair."""
    near = _near(support, pair.dual, pair.f)
    if len(near) < support.saddle.program.n:
        return np.union1d(rows, near)
    return near


def _first_kernels(support: SupportSaddle, start: Array | None, near: SupportPair | None) -> Array | None:
    """An array that is positive for the kernels of the first steps: those with a weight, and some with large scores.

    One kernel for every 20 samples is added, which costs little compared with the samples.
    """
    if near is None or start is None:
        return start
    first = (near.weights > 0.0) | (start > 0.0)
    count = np.count_nonzero(first) + int(0.05 * support.saddle.program.n)
    first[np.argsort(-near.scores, kind="stable")[:count]] = True
    return first.astype(float)


def _near(support: SupportSaddle, dual: DualSolution, f: Array, ratio: float = 0.5) -> Array:
    """The support vectors, and samples whose losses are nearest to being positive; all samples if these are many.

    The latter are ``ratio`` times as many as the support vectors, plus a tenth of the samples (a limited number).
    """
    program = support.saddle.program
    n = program.n
    margin = (program.linear - program.sign * (f + dual.intercept)[program.sample]).reshape(-1, n).max(axis=0)
    margin[dual.coef != 0] = np.inf
    count = int((1.0 + ratio) * np.count_nonzero(dual.coef)) + int(0.1 * min(n, ALL_SAMPLES))
    if count > SUPPORT_SHARE * n:  # 0.35 takes as many steps, and 1.0 a fifth more
        return np.arange(n)
    return np.sort(np.argsort(-margin, kind="stable")[:count])


def _on_samples(
    support: SupportSaddle, rows: Array, tol: float, max_iter: int, kernels: Array | None, observe: Observer
) -> InteriorPoint:
    """The interior point method on some samples; the variables of all others are zero."""
    program = support.saddle.program
    if len(rows) == program.n:
        return interior_point(support.saddle, tol, max_iter, kernels, observe)
    saddle = Saddle(support.saddle.bank.principal(rows), program.restricted(rows), support.saddle.domain)
    point = interior_point(saddle, tol, max_iter, kernels, observe)
    a = np.zeros(len(program.sign))
    a[program.variables(rows)] = point.a
    return replace(point, a=a)
