"""The dual problem of several classes by the proximal point method, each of its problems by Newton steps.

From coefficients B_0 and intercepts b_0 the next ones are those of the problem

    min_b max_B  sum_i B_iy - 1/2 tr B'K B - 1'B b - 1/(2 s) |B - B_0|^2 + t/2 |b - b_0|^2,

B in its product of simplices, which for every s and t leads nearer to a solution, the larger s and 1 / t the faster
(Rockafellar 1976).
With functions F = K P of free coefficients P, it is a problem without constraints: the B that answers to F and b is
the allowed one nearest to V = B_0 + s (E - F - b), E with ones at the samples' own classes, and

    max_{P, b}  -1/2 tr P'K P + min_B [tr (F + b - E)'B + |B - B_0|^2 / (2 s)] - t/2 |b - b_0|^2

is concave with gradient K (B - P) and B'1 - t (b - b_0). The projection is linear where the classes that have a share
of a sample stay the same: with an orthonormal basis Q of the moves among these, one sample and a few classes each,
dB = -s Q Q'(dF + db). A Newton step is then a system of as many unknowns as there are such moves, few near a solution
where most samples are at a corner,

    (I + s Q'K Q) x = Q'(K (B - P) + db),        dP = B - P - s Q x,

bordered by the intercepts. Steps are shortened until the value rises enough; then they converge from everywhere, and
quadratically at the end (a semismooth Newton method: Li, Sun and Toh 2018). Where there are too many moves for a
factorisation the system is solved roughly by conjugate gradients: there K is nearly a multiple of the identity, or the
solution is still far away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._floats import SINGULAR, TINY
from multikernel._typing import Array
from multikernel.banks import Gram
from multikernel.certificate import NO_PROGRESS, STALLED
from multikernel.machines.base import DualSolution, out_of_time
from multikernel.machines.crammer_singer.program import CrammerSingerProgram
from multikernel.numerics.cholesky import cholesky, solved
from multikernel.numerics.conjugate_gradients import conjugate_gradients
from multikernel.numerics.line_search import ARMIJO, SHORTEST

FACTORED = 3000  # moves up to which their system is factored: 0.6 s, and 72 MB
# Of the way made: how far a problem may be from solved before the next one is posed. 24 machines with a Gaussian kernel
# took 1404 Newton steps with 0.3, 1050 with 0.1, 862 with 0.03, 830 with 0.01 and 851 with 0.001.
_ROUGH = 0.03
# Of conjugate gradients for one step that cannot be factored. 300 samples of 4 classes with C = 1 took 43 steps with
# 100, and 74 with 50.
_MOST_PRODUCTS = 100
# Newton steps on one problem; one that needs more has too large an s. 400 samples of 4 classes with C = 1e4 took 270
# with 40 and 342 with 200.
_MOST_STEPS = 40


@dataclass(frozen=True, eq=False)
class _Iterate:
    """Free coefficients P with F = K P, intercepts, the answering B with its shares above zero, and the value."""

    P: Array
    F: Array
    intercept: Array
    B: Array
    active: Array
    value: float


@dataclass(frozen=True, eq=False)
class _Step:
    """A Newton step, with K dP and the slope of the value along it."""

    P: Array
    F: Array
    intercept: Array
    slope: float


@dataclass(frozen=True, eq=False)
class ProximalProblem:
    """The problem above at B_0 = ``B``, b_0 = ``intercept``, with s = ``length`` and t = ``damping``."""

    program: CrammerSingerProgram
    gram: Gram
    B: Array
    intercept: Array
    length: float
    damping: float

    def at(self, P: Array, F: Array, intercept: Array) -> _Iterate:
        """The point of these free coefficients, with F = K P."""
        E = self.program.own
        B, active = self.program.nearest(self.B + self.length * (E - F - intercept))
        value = float(np.vdot(F + intercept - E, B)) - 0.5 * float(np.vdot(P, F))
        value += 0.5 / self.length * float(((B - self.B) ** 2).sum())
        value -= 0.5 * self.damping * float(((intercept - self.intercept) ** 2).sum())
        return _Iterate(P, F, intercept, B, active, value)

    # a step that overflows has an infinite value, or NaN, and is refused
    @np.errstate(over="ignore", invalid="ignore")
    def solved(self, start: _Iterate, most: int) -> tuple[_Iterate, int, bool]:
        """A point that nearly solves the problem, how many steps were made, and whether it does."""
        at = self.at(start.P, start.F, start.intercept)
        for count in range(1, most + 1):
            step = self._newton(at)
            if not step.slope > 0.0:
                return at, count, self._nearly(at)
            length = 1.0
            new = self._along(at, step, length)
            while not at.value + ARMIJO * length * step.slope <= new.value < np.inf and length > SHORTEST:
                length *= 0.5
                new = self._along(at, step, length)
            if length <= SHORTEST:  # the value rises by less than rounding
                return at, count, self._nearly(at)
            at = new
            if self._nearly(at) or out_of_time(len(at.B)):  # then the point that was reached is the answer
                return at, count, True
        return at, most, False

    def _along(self, at: _Iterate, step: _Step, length: float) -> _Iterate:
        return self.at(at.P + length * step.P, at.F + length * step.F, at.intercept + length * step.intercept)

    def _nearly(self, at: _Iterate) -> bool:
        """Whether what is left to do is a small part of the way made.

        B is as far from the solution as s |K (B - P)| at most, P being free where K has no values.
        """
        way = _ROUGH * float(np.linalg.norm(at.B - self.B))
        if np.linalg.norm(self._excess(at)) > way:
            return False
        missing = at.B - at.P
        return bool(np.linalg.norm(missing) <= way or self.length * np.linalg.norm(self.gram.multiply(missing)) <= way)

    def _excess(self, at: _Iterate) -> Array:
        """The gradient in the intercepts; zero where there are none."""
        if not self.program.intercept:
            return np.zeros(self.program.n_classes)
        return np.asarray(at.B.sum(axis=0) - self.damping * (at.intercept - self.intercept))

    def _newton(self, at: _Iterate) -> _Step:
        """The Newton step of P and the intercepts; the gradient where rough steps do not lead up."""
        missing = at.B - at.P
        image = self.gram.multiply(missing)
        excess = self._excess(at)
        moves = _Moves.of(at.active)
        X = self._system(moves, np.hstack([moves.read(image), moves.vector]))
        x = X[:, 0]
        change = excess
        if self.program.intercept:
            # the moves are zero in sum, so nothing but the damping holds the mean of the intercepts, or of those of
            # classes without a common move: with a large s it is below the rounding error of the other directions
            curvature = self.length * moves.vector.T @ X[:, 1:]
            size, direction = np.linalg.eigh(0.5 * (curvature + curvature.T))
            along = direction.T @ (excess - self.length * moves.vector.T @ x)
            change = direction @ (along / (np.maximum(size, 0.0) + self.damping))
            x = x + X[:, 1:] @ change
        dP = missing - self.length * moves.spread(x[:, None])
        slope = float(np.vdot(dP, image) + change @ excess)
        if not slope > 0.0:
            dP = missing
            change = excess
            slope = float(np.vdot(missing, image) + excess @ excess)
        return _Step(dP, self.gram.multiply(dP), change, slope)

    def _system(self, moves: _Moves, right: Array) -> Array:
        """X of shape (f, t) with (I + s Q'K Q) X = ``right``; rough where there are many moves."""
        f, t = right.shape
        if not f:
            return right
        unit = np.maximum(np.linalg.norm(right, axis=0), TINY)
        right = right / unit

        def times(X: Array) -> Array:
            return np.asarray(X + self.length * moves.read(self.gram.multiply(moves.spread(X))))

        if f > FACTORED:
            enough = SINGULAR * float(np.sqrt(t))
            return np.asarray(conjugate_gradients(times, right, np.zeros((f, t)), enough, _MOST_PRODUCTS) * unit)
        rows, place = np.unique(moves.sample, return_inverse=True)
        M = self.gram.principal(rows).dense()[np.ix_(place, place)].astype(np.float64)
        M *= self.length * (moves.vector @ moves.vector.T)
        M.flat[:: f + 1] += 1.0
        return np.asarray(solved(cholesky(M.T), right) * unit)


@dataclass(frozen=True, eq=False)
class _Moves:
    """An orthonormal basis of the moves of samples among their classes that have a share, zero in sum.

    Parameters
    ----------
    sample : int array (f,), the sample of each
    vector : array (f, classes)
    n : int, how many samples there are
    """

    sample: Array
    vector: Array
    n: int

    @classmethod
    def of(cls, active: Array) -> _Moves:
        """One less than there are active classes for each sample: Helmert's contrasts of these."""
        n, c = active.shape
        k = np.arange(1, c)
        contrasts = np.tril(np.ones((c - 1, c))) - np.eye(c - 1, c, 1) * k[:, None]
        contrasts /= np.sqrt(k * (k + 1.0))[:, None]
        order = np.argsort(~active, axis=1, kind="stable")
        sample, place = np.nonzero(k < active.sum(axis=1)[:, None])
        vector = np.zeros((len(sample), c))
        np.put_along_axis(vector, order[sample], contrasts[place], axis=1)
        return cls(sample, vector, n)

    def read(self, F: Array) -> Array:
        """Q'F for F of shape (n, classes t), shape (f, t)."""
        f, c = self.vector.shape
        parts = F[self.sample].reshape(f, F.shape[1] // c, c)
        return np.asarray(np.einsum("fc,ftc->ft", self.vector, parts))

    def spread(self, x: Array) -> Array:
        """Q x for x of shape (f, t), shape (n, classes t)."""
        whole = np.zeros((self.n, x.shape[1], self.vector.shape[1]))
        values = x[:, :, None] * self.vector[:, None, :]
        first = np.flatnonzero(np.diff(self.sample, prepend=-1))  # moves are in the order of their samples
        if len(first):
            whole[self.sample[first]] = np.add.reduceat(values, first, axis=0)
        return whole.reshape(self.n, -1)


def proximal(
    program: CrammerSingerProgram, gram: Gram, start: Array, tol: float, max_iter: int, sizes: Array
) -> DualSolution:
    """The solution of a relative duality gap of ``tol``, or the best one where steps, time or rounding end the search.

    Parameters
    ----------
    program : the problem
    gram : square Gram of its samples
    start : array (n, classes), feasible coefficients, but for the balance of the classes
    tol : float > 0
    max_iter : int >= 1, Newton steps at most
    sizes : array (n,), the roots of K_ii
    """
    size = float((sizes * sizes).mean())
    if size > 0.0:
        unit = min(1.0 / size, float(program.upper.mean()))
    else:
        unit = float(program.upper.mean())
    length = 3.0 * unit if start.any() else unit
    F = gram.multiply(start)
    intercept = _fitting_intercepts(program, start, F)
    best = _certified(program, gram, start, intercept, sizes, tol)
    at = _Iterate(start, F, intercept, start, start != 0.0, 0.0)
    taken = 0
    stalled = 0
    while not best.converged and taken < max_iter and stalled < STALLED and not out_of_time(len(start)):
        posed = ProximalProblem(program, gram, start, intercept, length, unit * unit / length)
        at, count, well = posed.solved(at, min(_MOST_STEPS, max_iter - taken))
        taken += count
        if not well:
            length *= 0.1
            stalled += 1
            at = replace(at, P=start, F=gram.multiply(start), intercept=intercept)
            continue
        length *= 3.0 if count < 9 else 1.5
        start = at.B
        intercept = at.intercept - at.intercept.mean()
        at = replace(at, P=start, F=gram.multiply(start), intercept=intercept)
        found = _certified(program, gram, start, intercept, sizes, tol, taken, best.history)
        closer = found.upper - found.value < NO_PROGRESS * (best.upper - best.value) or found.value > best.value
        stalled = 0 if closer else stalled + 1
        best = replace(found if found.gap < best.gap else best, n_iter=taken, history=found.history)
    return replace(best, n_iter=taken)


def _certified(
    program: CrammerSingerProgram,
    gram: Gram,
    B: Array,
    intercept: Array,
    sizes: Array,
    tol: float,
    n_iter: int = 0,
    history: tuple[float, ...] = (),
) -> DualSolution:
    """The solution at the balanced coefficients near B, from a fresh product with K."""
    B = program.balanced(B)
    return program.solution(B, gram.multiply(B), intercept, sizes, tol, n_iter, history)


def _fitting_intercepts(program: CrammerSingerProgram, B: Array, F: Array) -> Array:
    """The intercepts that make the margins of the classes among which a sample is shared as equal as they can be."""
    c = program.n_classes
    if not program.intercept:
        return np.zeros(c)
    shares = np.where(program.own, program.upper[:, None] + np.where(program.own, -B, 0.0), -B)
    moves = _Moves.of(shares > 0.0)
    found = np.linalg.lstsq(
        moves.vector.T @ moves.vector, moves.vector.T @ moves.read(program.own - F)[:, 0], rcond=1e-10
    )[0]
    return np.asarray(found - found.mean())
