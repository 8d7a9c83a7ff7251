"""Support vector machines: one way to solve the quadratic program that they share.

Steps of pairs (``_pairs``) find which coefficients lie between their bounds; Newton steps on these (``free_newton``)
find their values. Neither knows when the other is better, so they take turns, and pairs go on for about as long as
the next Newton step will take: whichever is right, the other costs no more than as much again.

Certificate: with a fresh gradient, the difference of primal and dual value at the intercept that makes the primal
smallest, relative to the primal.

On a matrix that is not stored the program is solved on some samples, those that matter (``working_samples``).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.machines.base import DualSolution, Machine
from multikernel.machines.support.bounded_newton import candidates, newton_step
from multikernel.machines.support.program import SupportProgram
from multikernel.machines.working_samples import EXCUSED, Seen, first_samples, on_working_samples

_VALUES = 60_000_000  # room for linear systems of 7745 unknowns: 480 MB
_PART = 1e-5  # of half the mean self-value: one-class values below it are known to this accuracy only
_PROGRESS = 0.9  # of the last gap: more is no progress
_STALLED = 5  # rounds without progress until giving up
_ROUGH = 0.1  # a gap at which so much will still change that few Newton steps are worth their time
_JUMP = 0.1  # of the gap: more left by a Newton step says that bounds still change
_PATIENCE = 16  # times as long as the next Newton step, at most, where the last ones were of no use
_TURNS = 30  # until the score is taken afresh
_POLISHED, _FINEST = 1e-6, 1e-14  # gap of a polishing machine, as a part of the problem's gap, and the least one
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, kw_only=True)
class SupportMachine(Machine):
    """A machine whose inner problem is a ``SupportProgram``.

    Parameters
    ----------
    tol : float, the relative duality gap to reach
    max_iter : int, how many steps of pairs and Newton steps at most
    """

    tol: float = 1e-3
    max_iter: int = 10_000_000

    @abstractmethod
    def program(self, target: Array, sample_weight: Array | None = None) -> SupportProgram:
        """The program for a target of shape (n,), with weights of the samples' losses."""

    def solve(
        self, gram: Gram, target: Array, warm: Array | None = None, sample_weight: Array | None = None
    ) -> DualSolution:
        """Solve for a target of shape (n,); ``warm`` holds the program's variables at an earlier solution."""
        return self.solve_program(gram, self.program(target, sample_weight), warm)

    def polishing(self, tol: float) -> Self:
        """The machine for a last solution from a start that is almost one, where digits cost little.

        Its own gap enters the scores of the kernels by its square root, so it is far smaller than ``tol``, the gap that
        the whole problem is to reach.
        """
        return replace(self, tol=max(_POLISHED * tol, _FINEST))

    def solve_program(self, gram: Gram, program: SupportProgram, warm: Array | None = None) -> DualSolution:
        """Solve a program that ``program`` made, from variables of shape (N,); others start it afresh."""
        if not gram.stored and program.total == 0.0:  # a sum that is given may be out of reach of few samples
            return self._on_working_samples(gram, program, warm)
        K = gram.dense()
        K = np.ascontiguousarray(K, dtype=np.float32 if K.dtype == np.float32 else np.float64)
        b = program.sign * program.feasible(warm)
        found, score = self._certified(K, program, b)
        best, stalled, work = found, 0, np.empty(0)
        while not best.converged and found.n_iter < self.max_iter:
            work = work if len(work) else np.empty(min(len(b) ** 2, _VALUES))
            b, made = _ascent(K, program, b, score, self.tol, self.max_iter - found.n_iter, work)
            found, score = self._certified(K, program, b, found.n_iter + made, found.history)
            stalled = 0 if found.gap < _PROGRESS * best.gap else stalled + 1
            best = replace(found if found.gap <= best.gap else best, n_iter=found.n_iter, history=found.history)
            rounding = stalled > 0 and _within_rounding(K, program, found, score)
            if made == 0 or stalled >= (1 if rounding else _STALLED):
                return replace(best, converged=best.converged or rounding)
        return best

    def _on_working_samples(self, gram: Gram, program: SupportProgram, warm: Array | None) -> DualSolution:
        """Samples that take no part are those whose variables are zero and do not want to rise."""
        mean = float(gram.diagonal().mean())
        start = warm if warm is not None and warm.shape == program.upper.shape else None

        def inner(part: Gram, rows: Array, a: Array | None, tol: float, steps: int) -> DualSolution:
            own = None if a is None else a[program.variables(rows)]
            return replace(self, tol=tol, max_iter=steps).solve_program(part, program.restricted(rows), own)

        def look(rows: Array, found: DualSolution) -> Seen:
            a = np.zeros(len(program.sign))
            a[program.variables(rows)] = found.warm
            f = gram.multiply(program.coef(a))
            solution = self._solution(program, a, f, mean)
            outside = np.ones(program.n, dtype=bool)
            outside[rows] = False
            allowed = EXCUSED * self.tol * abs(solution.value) / program.scale
            return Seen(solution, _pull(program, f + found.intercept, outside, allowed))

        first = first_samples(program.sign[: program.n], None if start is None else program.coef(start))
        return on_working_samples(gram, first, start, inner, look, self.tol, self.max_iter)

    def _certified(
        self, K: Array, program: SupportProgram, b: Array, n_iter: int = 0, before: tuple[float, ...] = ()
    ) -> tuple[DualSolution, Array]:
        """The solution and its certificate at the signed variables b, and the score there, all from a fresh product."""
        from multikernel.machines.support import _pairs

        a = program.sign * b
        coef = program.coef(a)
        f, support = np.empty(program.n), np.flatnonzero(coef)
        _pairs.products(K, support, coef[support], f)
        solution = self._solution(program, a, f, float(np.diagonal(K).mean()), n_iter, before)
        return solution, program.sign * program.linear - f[program.sample] - program.ridge * b

    def _solution(
        self,
        program: SupportProgram,
        a: Array,
        f: Array,
        mean: float,
        n_iter: int = 0,
        before: tuple[float, ...] = (),
    ) -> DualSolution:
        """The solution and its certificate at the variables a with values f = K b; ``mean`` is that of K_ii."""
        coef, intercept = program.coef(a), program.best_intercept(f)
        value = program.dual(a, float(coef @ f))
        gap = max(program.gap(a, f, intercept), 0.0)
        relative = gap / max(abs(value + gap), _floor(mean, program), _TINY)
        return DualSolution(
            coef=coef,
            intercept=intercept,
            value=value,
            factor=np.sqrt(0.5 * program.scale) * coef,
            gap=relative,
            converged=relative <= self.tol,
            n_iter=n_iter,
            warm=a,
            history=(*before, relative),
        )


def _ascent(
    K: Array, program: SupportProgram, b: Array, score: Array, tol: float, max_iter: int, work: Array
) -> tuple[Array, int]:
    """Turns of pairs and Newton steps until the gap is likely at most tol, or the score should be taken afresh."""
    from multikernel.machines.support import _pairs

    c, low, high, ridge = program.sign * program.linear, program.low, program.high, program.ridge
    ascend = _pairs.ascend if program.intercept else _pairs.ascend_singly
    every, floor = max(32, len(b) // 32), _floor(float(np.diagonal(K).mean()), program) / program.scale
    steps, patience, before, length = 0, 1, np.inf, len(b)
    for _ in range(_TURNS):
        made, first, gap = ascend(K, c, low, high, ridge, b, score, floor, tol, every, min(length, max_iter - steps))
        steps += made
        if gap <= tol or steps >= max_iter:
            break
        patience = min(2 * patience, _PATIENCE) if first > _JUMP * before else 1
        before = np.inf
        intercept = _pairs.middle(score, b, low, high) if program.intercept else 0.0
        F = candidates(program, b, score, intercept)
        length = patience * _newton_cost(len(F), len(b))
        if _sooner(made, first, gap, tol, length if gap < _ROUGH else 20 * length):
            continue
        proposal = newton_step(K, program, b, score, intercept, F, work, patience)
        if proposal is not None:
            b, score = proposal
            before, steps = gap, steps + 1
        elif made < length:
            break
    return b, steps


def _sooner(made: int, first: float, last: float, tol: float, room: int) -> bool:
    """Whether pairs would be there in fewer steps than there is room for, at the rate of the last ones."""
    return made > 0 and last < first and made * np.log(last / tol) <= room * np.log(first / last)


def _newton_cost(unknowns: int, variables: int) -> int:
    """How many steps of pairs take about as long as a Newton step."""
    nanoseconds = 3e5 + 4.0 * unknowns**2 + unknowns**3 / 30.0 + unknowns * variables
    return int(nanoseconds / (150.0 + variables))


def _floor(mean: float, program: SupportProgram) -> float:
    """A value that is none, where the coefficients' sum is given and K alone says how large the value is."""
    return _PART * 0.5 * program.scale * program.total**2 * mean


def _pull(program: SupportProgram, f: Array, outside: Array, allowed: float) -> Array:
    """How much each sample wants its variables, now zero, to rise: > 0 where this adds more to the gap than allowed.

    The slope at zero where it is not positive; else what the sample adds to the gap, less the largest such part among
    those outside that add, all together, no more than ``allowed``.
    """
    slope = (program.linear - program.sign * f[program.sample]).reshape(-1, program.n)
    loss = program.losses(f).reshape(-1, program.n).sum(axis=0)
    rising = np.flatnonzero(outside & (loss > 0.0))
    smallest = np.sort(loss[rising])
    excused = int(np.searchsorted(np.cumsum(smallest), allowed, side="right"))
    return np.where(loss > 0.0, loss - (smallest[excused - 1] if excused else 0.0), slope.max(axis=0))


def _within_rounding(K: Array, program: SupportProgram, found: DualSolution, score: Array) -> bool:
    """Whether the gap is no larger than what rounding of the values f = K b may add to the losses."""
    f = program.sign * program.linear - score - program.ridge * program.sign * found.warm
    size = np.sqrt(np.maximum(np.diagonal(K), 0.0)).astype(float)
    error = 4.0 * np.finfo(float).eps * float(size @ np.abs(found.coef)) * size[program.sample]
    reach = np.where(np.isfinite(program.upper), program.upper, found.warm)
    return program.gap(found.warm, f[: program.n], found.intercept) <= program.scale * float(reach @ error)


def positive(name: str, value: float) -> None:
    """Refuse what is not a finite number > 0."""
    if not (value > 0 and np.isfinite(value)):
        raise ValueError(f"{name} must be a finite number > 0, got {value}")


def weights_of_samples(weight: Array | None, n: int) -> Array:
    """Weights of the samples' losses, shape (n,); None means 1."""
    if weight is None:
        return np.ones(n)
    weights = np.asarray(weight, dtype=float)
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(f"sample weights must be {n} finite numbers > 0, one for each sample; leave out the others")
    return weights
