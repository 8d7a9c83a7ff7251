"""Kernel weights and a support vector machine on the weighted kernel, learned together, by the way that is fastest.

    min_{d in D}  J(sum_k d_k K_k) + r(d),        J the value of a support vector machine

There are two ways, and a forecast says which takes less time (``forecast``). Machines and the problem of their mixtures
are solved alternately (``support_hull``), which is best for many samples, and the only way where a factorisation is too
large.

The interior point method finds weights and support vectors at once. Of many samples only some take part in it: at first
the support vectors at equal weights and samples that are nearly support vectors. The machine is then solved at the
weights found, on all samples and without the kernels of weight zero. This pair has exact zeros, and it carries the
certificate. Samples that the machine makes support vectors join the next round; there are seldom more than two. Once
all samples take part the interior point itself is the answer, if it proves more than the machine does. Where the
kernels have few features steps cost little: all samples take part from the beginning, however many they are.

A solution of nearly the same problem, as that of the same kernels after rounding, is tried first: the pair as it is,
then with the machine solved at its weights. Where that is not enough, as for a neighbour on a path or for other
samples, it says which samples and which kernels take part: steps on these cost a part of those on all.
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
        names a way that works
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
    """The pair of a solution that is given; with the machine at its weights where it is no solution here.

    Where the time is up it is the answer, whatever its certificate.
    """
    shape = support.saddle.program.upper.shape
    if start is None or start.variables is None or start.variables.shape != shape:
        return None
    pair = support.at(start.weights, start.variables, witness=start.witness)
    if pair.certificate.reached(support.tol) or time_is_up():
        return pair
    # a pair of a gap of 0.05 is nearly a solution: a machine at its weights, if refined, may make one of it
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
    """By rounds of machines where these are tried first, and where they do not suffice by the interior point method."""
    n = support.saddle.program.n
    tol = support.tol
    domain = support.saddle.domain
    n_features = problem.bank.n_features
    few = n_features is not None and few_features(n_features, n)
    all_samples = few and float(n) * float(n_features or 0) ** 2 <= INTERIOR_FEATURES
    history: list[float] = []
    if all_samples:
        most = 0
    elif few and domain.constrained:
        most = max_iter
        if start is None:
            start = _of_some_samples(support)
    else:
        most = _most_rounds(problem, domain, tol, max_iter)
    if most > 0:
        near, history = alternating(support, start, near, most, observe)
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
    """The interior point method on more and more samples, or on all of them from the beginning.

    Where too many take part for its factorisations an optimizer that solves machines continues. ``history`` holds the
    gaps of earlier steps.
    """
    n = support.saddle.program.n
    tol = support.tol
    # the machine's scores differ from the interior point's by the square root of its gap; digits cost a step or two,
    # and rounding leaves 1e-11
    inner = min(max(0.01 * tol**2, 1e-11), 0.05 * tol)
    if all_samples:
        rows = np.arange(n)
        most = n
    else:
        rows = _first_samples(support, start, near)
        most = INTERIOR_SAMPLES
    best = near
    guessed = near is None and len(rows) < n  # whether the samples that take part are a guess
    while len(rows) <= most:
        gap = ROUGH if guessed else inner
        kernels = _first_kernels(support, start, best)
        found = _on_samples(support, rows, gap, max_iter - len(history), kernels, observe)
        history = [*history, *found.history]
        pair = support.of_machine(np.where(found.active, found.weights, 0.0), found.a)
        best = pair.better(best)
        if best.certificate.reached(tol):
            return best.answer(tol, history)
        if len(rows) == n or len(history) >= max_iter or time_is_up():
            return support.at(found.weights, found.a, found.n_iter).better(best).answer(tol, history)
        if found.weights.any():
            start = found.weights
        more = _further_samples(support, rows, pair)
        rows = more if guessed or len(more) > len(rows) else np.arange(n)
        guessed = False
    return _by_machines(problem, tol, max_iter, start, None if near is None else near.dual.warm, observe)


def _by_machines(
    problem: Problem, tol: float, max_iter: int, start: Array | None, variables: Array | None, observe: Observer
) -> tuple[Weights, DualSolution]:
    """By an optimizer that solves a machine in each step."""
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
    """The support vectors at a neighbour's or at equal weights, and about half as many samples that are nearly so."""
    n = support.saddle.program.n
    bank = support.saddle.bank
    if not bank.local or (near is None and n <= ALL_SAMPLES):
        return np.arange(n)
    if near is not None:
        return _near(support, near.dual, near.f, part=0.3)
    if start is not None and start.any():
        weights = start
    else:
        weights = support.saddle.domain.start(len(bank))
    gram = bank.combine(weights)
    rough = replace(support.machine, tol=ROUGH).solve_program(gram, support.saddle.program)
    return _near(support, rough, gram.multiply(rough.coef))


def _of_some_samples(support: SupportSaddle) -> Array:
    """The weights where 1000 samples stand for all of them: losses count by how many each stands for.

    From them 9 rounds of machines were enough, and 13 from equal weights; from 500 samples as few, from 2000 one less.
    """
    program = support.saddle.program
    bank = support.saddle.bank
    rows = np.sort(np.random.default_rng(0).choice(program.n, min(program.n, 1000), replace=False))
    share = program.n / len(rows)
    some = program.restricted(rows)
    some = replace(some, upper=share * some.upper, ridge=some.ridge / share)
    found = interior_point(
        Saddle(precomputed(bank.block(rows, rows).matrices()), some, support.saddle.domain), ROUGH, 40
    )
    if found.weights.any():
        return found.weights
    return support.saddle.domain.start(len(bank))


def _further_samples(support: SupportSaddle, rows: Array, pair: SupportPair) -> Array:
    """The samples that take part already, and the support vectors and near ones of the pair."""
    near = _near(support, pair.dual, pair.f)
    if len(near) < support.saddle.program.n:
        return np.union1d(rows, near)
    return near


def _first_kernels(support: SupportSaddle, start: Array | None, near: SupportPair | None) -> Array | None:
    """Positive for kernels that take part first: those of a neighbour, and some of the largest scores.

    One for 20 samples is added, which costs little beside the samples.
    """
    if near is None or start is None:
        return start
    first = (near.weights > 0.0) | (start > 0.0)
    count = np.count_nonzero(first) + int(0.05 * support.saddle.program.n)
    first[np.argsort(-near.scores, kind="stable")[:count]] = True
    return first.astype(float)


def _near(support: SupportSaddle, dual: DualSolution, f: Array, part: float = 0.5) -> Array:
    """The support vectors, and samples whose losses are nearest to being positive; all samples if these are many.

    The latter are ``part`` as many as the support vectors, and a tenth of the samples, 100 at most.
    """
    program = support.saddle.program
    n = program.n
    margin = (program.linear - program.sign * (f + dual.intercept)[program.sample]).reshape(-1, n).max(axis=0)
    margin[dual.coef != 0] = np.inf
    most = int((1.0 + part) * np.count_nonzero(dual.coef)) + int(0.1 * min(n, ALL_SAMPLES))
    if most > SUPPORT_SHARE * n:  # 0.35 takes as many steps, and 1.0 a fifth more
        return np.arange(n)
    return np.sort(np.argsort(-margin, kind="stable")[:most])


def _on_samples(
    support: SupportSaddle, rows: Array, tol: float, max_iter: int, kernels: Array | None, observe: Observer
) -> InteriorPoint:
    """The interior point method on some samples; the variables of all others are zero."""
    program = support.saddle.program
    if len(rows) == program.n:
        return interior_point(support.saddle, tol, max_iter, kernels, observe)
    few = Saddle(support.saddle.bank.principal(rows), program.restricted(rows), support.saddle.domain)
    found = interior_point(few, tol, max_iter, kernels, observe)
    a = np.zeros(len(program.sign))
    a[program.variables(rows)] = found.a
    return replace(found, a=a)
