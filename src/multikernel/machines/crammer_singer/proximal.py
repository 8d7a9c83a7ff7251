"""The dual problem of several classes by the proximal point method, each of its problems by Newton steps.

From coefficients B_0 and intercepts b_0 the next ones are those of the problem

    min_b max_B  sum_i B_iy - 1/2 tr B'K B - 1'B b - 1/(2 s) |B - B_0|^2 + t/2 |b - b_0|^2,

B in its product of simplices. Its solution is nearer to a solution of the original problem for every s and t, and the
larger s and 1 / t, the faster is the convergence (Rockafellar 1976).
In terms of functions F = K P with free coefficients P, it is a problem without constraints: the maximising B for F and
b is the feasible one nearest to V = B_0 + s (E - F - b), E with ones at the samples' own classes, and

    max_{P, b}  -1/2 tr P'K P + min_B [tr (F + b - E)'B + |B - B_0|^2 / (2 s)] - t/2 |b - b_0|^2

is concave with gradient K (B - P) and B'1 - t (b - b_0). The projection is linear as long as the classes with a
positive share of a sample stay the same: with an orthonormal basis Q of the moves among these classes, each of one
sample, dB = -s Q Q'(dF + db). A Newton step is then a system with one unknown for each basis vector; there are few near
a solution, where most samples are at a corner of their simplex,

    (I + s Q'K Q) x = Q'(K (B - P) + db),        dP = B - P - s Q x,

bordered by the intercepts. Steps are shortened until the value rises enough; they converge from every start, and
quadratically at the end (a semismooth Newton method: Li, Sun and Toh 2018). Where there are too many moves for a
factorisation the system is solved approximately by conjugate gradients: then K is nearly a multiple of the identity, or
the solution is still far away.
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
# Accuracy to which a proximal problem is solved, relative to the distance from its B_0. 24 machines with a Gaussian
# kernel took 1404 Newton steps with 0.3, 1050 with 0.1, 862 with 0.03, 830 with 0.01 and 851 with 0.001.
_ROUGH = 0.03
# Products of conjugate gradients at most, for a step whose system is not factored. 300 samples of 4 classes with C = 1
# took 43 steps with 100, and 74 with 50.
_MOST_PRODUCTS = 100
# Newton steps on one problem at most; if it needs more, its s is too large. 400 samples of 4 classes with C = 1e4 took
# 270 steps with 40 and 342 with 200.
_MOST_STEPS = 40


@dataclass(frozen=True, eq=False)
class _Iterate:
    """Free coefficients P with F = K P, intercepts, the maximising B with its positive shares, and the value."""

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
        E = self.program.own_class
        B, active = self.program.nearest(self.B + self.length * (E - F - intercept))
        value = float(np.vdot(F + intercept - E, B)) - 0.5 * float(np.vdot(P, F))
        value += 0.5 / self.length * float(((B - self.B) ** 2).sum())
        value -= 0.5 * self.damping * float(((intercept - self.intercept) ** 2).sum())
        return _Iterate(P, F, intercept, B, active, value)

    # the value of a step that overflows is infinite or NaN, and the step is rejected
    @np.errstate(over="ignore", invalid="ignore")
    def solved(self, start: _Iterate, max_steps: int) -> tuple[_Iterate, int, bool]:
        """A point, the number of steps to it, and whether it solves the problem nearly."""
        iterate = self.at(start.P, start.F, start.intercept)
        for count in range(1, max_steps + 1):
            step = self._newton(iterate)
            if not step.slope > 0.0:
                return iterate, count, self._nearly(iterate)
            length = 1.0
            trial = self._along(iterate, step, length)
            while not iterate.value + ARMIJO * length * step.slope <= trial.value < np.inf and length > SHORTEST:
                length *= 0.5
                trial = self._along(iterate, step, length)
            if length <= SHORTEST:  # the value rises by less than rounding
                return iterate, count, self._nearly(iterate)
            iterate = trial
            if self._nearly(iterate) or out_of_time(len(iterate.B)):  # without time, this point is the result
                return iterate, count, True
        return iterate, max_steps, False

    def _along(self, iterate: _Iterate, step: _Step, length: float) -> _Iterate:
        return self.at(
            iterate.P + length * step.P, iterate.F + length * step.F, iterate.intercept + length * step.intercept
        )

    def _nearly(self, iterate: _Iterate) -> bool:
        """Whether the remaining distance to the solution is a small fraction of that from B_0.

        The distance of B from the solution is at most s |K (B - P)|; P is arbitrary in the null space of K.
        """
        way = _ROUGH * float(np.linalg.norm(iterate.B - self.B))
        if np.linalg.norm(self._excess(iterate)) > way:
            return False
        missing = iterate.B - iterate.P
        return bool(np.linalg.norm(missing) <= way or self.length * np.linalg.norm(self.gram.multiply(missing)) <= way)

    def _excess(self, iterate: _Iterate) -> Array:
        """The gradient in the intercepts; zero where there are none."""
        if not self.program.intercept:
            return np.zeros(self.program.n_classes)
        return np.asarray(iterate.B.sum(axis=0) - self.damping * (iterate.intercept - self.intercept))

    def _newton(self, iterate: _Iterate) -> _Step:
        """The Newton step of P and the intercepts; the gradient where an approximate step does not lead up."""
        missing = iterate.B - iterate.P
        image = self.gram.multiply(missing)
        excess = self._excess(iterate)
        moves = _Moves.of(iterate.active)
        X = self._system(moves, np.hstack([moves.read(image), moves.vector]))
        x = X[:, 0]
        change = excess
        if self.program.intercept:
            # moves sum to zero, so that only the damping determines the mean of the intercepts, also of a group of
            # classes without moves to others: with a large s it is smaller than rounding errors of other directions
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
        """X of shape (f, t) with (I + s Q'K Q) X = ``right``; approximate where there are many moves."""
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
        rows, position = np.unique(moves.sample, return_inverse=True)
        M = self.gram.principal(rows).dense()[np.ix_(position, position)].astype(np.float64)
        M *= self.length * (moves.vector @ moves.vector.T)
        M.flat[:: f + 1] += 1.0
        return np.asarray(solved(cholesky(M.T), right) * unit)


@dataclass(frozen=True, eq=False)
class _Moves:
    """An orthonormal basis of the moves of samples among their classes of positive share; each move sums to zero.

    Parameters
    ----------
    sample : int array (f,), the sample of each basis vector
    vector : array (f, classes)
    n : int, how many samples there are
    """

    sample: Array
    vector: Array
    n: int

    @classmethod
    def of(cls, active: Array) -> _Moves:
        """Helmert's contrasts of the active classes of each sample, one fewer than there are such classes."""
        n, c = active.shape
        k = np.arange(1, c)
        contrasts = np.tril(np.ones((c - 1, c))) - np.eye(c - 1, c, 1) * k[:, None]
        contrasts /= np.sqrt(k * (k + 1.0))[:, None]
        order = np.argsort(~active, axis=1, kind="stable")
        sample, contrast = np.nonzero(k < active.sum(axis=1)[:, None])
        vector = np.zeros((len(sample), c))
        np.put_along_axis(vector, order[sample], contrasts[contrast], axis=1)
        return cls(sample, vector, n)

    def read(self, F: Array) -> Array:
        """Q'F for F of shape (n, classes t), shape (f, t)."""
        f, c = self.vector.shape
        columns = F[self.sample].reshape(f, F.shape[1] // c, c)
        return np.asarray(np.einsum("fc,ftc->ft", self.vector, columns))

    def spread(self, x: Array) -> Array:
        """Q x for x of shape (f, t), shape (n, classes t)."""
        result = np.zeros((self.n, x.shape[1], self.vector.shape[1]))
        values = x[:, :, None] * self.vector[:, None, :]
        first = np.flatnonzero(np.diff(self.sample, prepend=-1))  # moves are in the order of their samples
        if len(first):
            result[self.sample[first]] = np.add.reduceat(values, first, axis=0)
        return result.reshape(self.n, -1)


def proximal(
    program: CrammerSingerProgram, gram: Gram, start: Array, tol: float, max_iter: int, sizes: Array
) -> DualSolution:
    """The solution of a relative duality gap of ``tol``, or the best one where steps, time or rounding end the search.

    Parameters
    ----------
    program : the problem
    gram : square Gram of its samples
    start : array (n, classes), coefficients that are feasible, except that classes need not sum to zero
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
    iterate = _Iterate(start, F, intercept, start, start != 0.0, 0.0)
    taken = 0
    stalled = 0
    while not best.converged and taken < max_iter and stalled < STALLED and not out_of_time(len(start)):
        problem = ProximalProblem(program, gram, start, intercept, length, unit * unit / length)
        iterate, count, well = problem.solved(iterate, min(_MOST_STEPS, max_iter - taken))
        taken += count
        if not well:
            length *= 0.1
            stalled += 1
            iterate = replace(iterate, P=start, F=gram.multiply(start), intercept=intercept)
            continue
        length *= 3.0 if count < 9 else 1.5
        start = iterate.B
        intercept = iterate.intercept - iterate.intercept.mean()
        iterate = replace(iterate, P=start, F=gram.multiply(start), intercept=intercept)
        certified = _certified(program, gram, start, intercept, sizes, tol, taken, best.history)
        closer = (
            certified.upper - certified.value < NO_PROGRESS * (best.upper - best.value) or certified.value > best.value
        )
        stalled = 0 if closer else stalled + 1
        best = replace(certified if certified.gap < best.gap else best, n_iter=taken, history=certified.history)
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
    """The intercepts, by least squares, for which margins of the classes that share a sample are equal."""
    c = program.n_classes
    if not program.intercept:
        return np.zeros(c)
    shares = np.where(program.own_class, program.upper[:, None] + np.where(program.own_class, -B, 0.0), -B)
    moves = _Moves.of(shares > 0.0)
    intercepts = np.linalg.lstsq(
        moves.vector.T @ moves.vector, moves.vector.T @ moves.read(program.own_class - F)[:, 0], rcond=1e-10
    )[0]
    return np.asarray(intercepts - intercepts.mean())
