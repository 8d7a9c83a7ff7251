"""Smoothed multiple kernel learning (Xu, Jin, Zhu, Lyu and King 2010) by accelerated projected gradient.

    min_a  f_s(a) = -1'a + (s/2) log sum_k exp(q_k / s),    q_k = a'Y K_k Y a,    0 <= a <= C        (Y = diag(y))

is L1-MKL without an intercept, f_0(a) = -1'a + 1/2 max_k q_k, with a smoothed maximum: 0 <= f_s - f_0 <= (s/2) log m.
The published formula has exp(q_k / s - 1), which is lower by s/2, so that it is not an upper bound of f_0. With the
weights

    theta = softmax(q / s),        grad f_s(a) = -1 + Y (sum_k theta_k K_k) Y a

(published with a wrong factor 1/2). Minus the minimum of f_s is the minimum over the simplex of
max_a 1'a - 1/2 a'Y K(theta) Y a + (s/2) sum_k theta_k log theta_k.

The method is FISTA (Beck and Teboulle 2009) with an adaptive step length, and a restart where the momentum leads uphill
(O'Donoghue and Candes 2015). The step that theory guarantees is far shorter (``nesterov`` uses it).

Certificates: a tangent at any z, feasible or not, is below f_s, so f_s* >= f_s(z) + min_u g'(u - z) over the box; at
the returned point z = a the gap of this bound is a'g + sum_i C_i max(0, -g_i). For the unsmoothed problem: primal minus
dual value of L1-MKL at (theta, a), 1/2 theta'q + sum_i C_i max(0, -g_i) - 1'a + 1/2 max_k q_k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._floats import TINY
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import KernelBank
from multikernel.certificate import FINEST_GAP, Certificate, relative
from multikernel.duality import fall_in_box
from multikernel.machines import HingeMachine
from multikernel.machines.base import check_signs
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.base import Weights


@dataclass(frozen=True, eq=False, kw_only=True)
class SmoothedWeights(Weights):
    """Weights theta with ``objective`` f_s and its ``gap``.

    Parameters
    ----------
    a : array (n,), the dual point, feasible
    unsmoothed_gap : float, the duality gap of (theta, a) in L1-MKL without intercept, relative to the primal value
    """

    a: Array
    unsmoothed_gap: float


def smoothed(
    bank: KernelBank,
    target: Array,
    C: float | Array,
    smoothing: float,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    start: Array | None = None,
    observe: Observer = silent,
) -> SmoothedWeights:
    """The weights of smoothed multiple kernel learning.

    Each step costs one pass over the kernels for their scores and one for their sum.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    target : array (n,) of -1 and +1
    C : float > 0 or array (n,), the upper bounds of a
    smoothing : float > 0, s, in units of a'Y K_k Y a
    tol : float, the gap to reach, relative to |f_s|, or to |f_s - (s/2) log m| where this is less
    max_iter : int, steps at most
    start : array (n,), ``a`` of a similar problem; the machine on the mean of the kernels if not given
    observe : called after each step

    Raises
    ------
    ValueError
        For labels other than -1 and +1 or of one class only, for C or smoothing that are not > 0, and for C or a
        ``start`` of another length.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.procedures.smoothed import smoothed
    >>> X = np.array([[0.0, 1.0], [0.2, -1.0], [1.0, 0.9], [1.2, -1.1]])
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> found = smoothed(bind(kernels.per_feature(kernels.RBF(1.0)), X), y, C=10.0, smoothing=1.0)
    >>> found.converged, found.values.round(2)  # the second feature says nothing
    (True, array([0.89, 0.11]))
    """
    problem = SmoothedProblem.of(bank, target, C, smoothing)
    a = problem.first(start)
    state = _State.at(problem, a, problem.scores(a)[0])
    history: list[float] = []
    for step in range(max_iter):
        g = problem.gradient(state.z, state.z_scores)
        state = replace(state, bound=max(state.bound, state.z_value - problem.fall(state.z, g)))
        gap = problem.gap(state.value, state.bound)
        history.append(gap.value)
        observe(Event(step + 1, gap, state.a, state.value, state.value, state.bound))
        if gap.reached(tol) or time_is_up():
            break
        next_state = state.advanced(problem, g)
        if next_state is None:
            break
        state = next_state
    return _result(problem, state, tol, tuple(history))


@dataclass(frozen=True, eq=False)
class _State:
    """The point a, the point z ahead of it at which the gradient is taken, and the scores and values of both."""

    a: Array
    scores: Array
    value: float
    z: Array
    z_scores: Array
    z_value: float
    momentum: float
    curvature: float
    bound: float

    @classmethod
    def at(cls, problem: SmoothedProblem, a: Array, q: Array) -> _State:
        value = problem.value(a, q)
        return cls(a, q, value, a, q, value, 1.0, 0.0, -np.inf)

    def advanced(self, problem: SmoothedProblem, g: Array) -> _State | None:
        """A projected gradient step from z to the next a, and the next z ahead of it.

        Where no step leads down by more than rounding, z is reset to a; None where z is a already.
        """
        step_end = self._step(problem, g)
        if step_end is None:
            if self.z is self.a:
                return None
            return replace(_State.at(problem, self.a, problem.scores(self.a)[0]), bound=self.bound)
        x, scores, difference, curvature = step_end
        step = x - self.a
        if float(g @ step) > 0.0:
            momentum = 1.0
            ahead = 0.0
        else:
            momentum = 0.5 + float(np.sqrt(0.25 + self.momentum**2))
            ahead = (self.momentum - 1.0) / momentum
        # scores are quadratic forms: on the line through a and x they follow from those at a, at x and at x - a
        z_scores = np.maximum(scores + ahead * (scores + difference - self.scores) + ahead**2 * difference, 0.0)
        z = x + ahead * step
        return _State(
            a=x,
            scores=scores,
            value=problem.value(x, scores),
            z=z,
            z_scores=z_scores,
            z_value=problem.value(z, z_scores),
            momentum=momentum,
            curvature=0.8 * curvature,  # so that later steps may be longer
            bound=self.bound,
        )

    def _step(self, problem: SmoothedProblem, g: Array) -> tuple[Array, Array, Array, float] | None:
        """The end x of the longest trial step whose value is below the parabola; and the scores of x and of x - a.

        None where even steps that are so short that z does not change are too long.
        """
        curvature = self.curvature or _curvature_along(problem, self, g)
        rounding = FINEST_GAP * (abs(self.z_value) + float(self.z.sum()) + float(self.z_scores.max()))
        while True:
            x = problem.clip(self.z - g / curvature)
            moved = x - self.z
            scores, difference = problem.scores(x, x - self.a)
            parabola = self.z_value + float(g @ moved) + 0.5 * curvature * float(moved @ moved)
            if problem.value(x, scores) <= parabola + rounding:
                return x, scores, difference, curvature
            if not (np.abs(moved) > 0.0).any():  # also where the gradient is not a number
                return None
            curvature *= 2.0  # the step was too long


def _curvature_along(problem: SmoothedProblem, state: _State, g: Array) -> float:
    """A first estimate of the curvature: g'Y K(theta) Y g / |g|^2, the contribution of K."""
    along = float(problem.weights(state.z_scores) @ problem.scores(g)[0])
    return max(along, FINEST_GAP * float(state.z_scores.max()), TINY) / max(float(g @ g), TINY)


def _result(problem: SmoothedProblem, state: _State, tol: float, history: tuple[float, ...]) -> SmoothedWeights:
    """The result at a with its certificates, which need the gradient at a; steps compute it at z."""
    a = state.a
    q = state.scores
    g = problem.gradient(a, q)
    bound = max(state.bound, state.value - problem.fall(a, g))
    gap = problem.gap(state.value, bound)
    return SmoothedWeights(
        values=problem.weights(q),
        objective=state.value,
        certificate=gap,
        converged=gap.reached(tol),
        n_iter=len(history),
        history=history,
        bound=bound,
        a=a,
        unsmoothed_gap=problem.unsmoothed_gap(a, q, g),
    )


# -- the problem -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SmoothedProblem:
    """f_s over a box.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    y : array (n,) of -1 and +1
    upper : array (n,), C for each sample
    smoothing : float > 0, s
    """

    bank: KernelBank
    y: Array
    upper: Array
    smoothing: float

    @classmethod
    def of(cls, bank: KernelBank, target: Array, C: float | Array, smoothing: float) -> SmoothedProblem:
        """The problem after a check of its parameters; ValueError where they are not valid."""
        check_signs(target)
        if np.ndim(C) and np.shape(C) != np.shape(target):
            raise ValueError(f"C has shape {np.shape(C)} for {len(target)} samples")
        upper = np.broadcast_to(np.asarray(C, dtype=float), (len(target),))
        if not (np.isfinite(upper) & (upper > 0)).all():
            raise ValueError(f"C must be finite and > 0, got {C}")
        Number(above=0, why="without it this is L1-MKL").check(smoothing, "smoothing")
        return cls(bank, np.asarray(target, dtype=float), upper, smoothing)

    def first(self, start: Array | None) -> Array:
        """A start moved into the box; by default that of the paper, the machine on the mean of the kernels."""
        if start is None:
            return self._on_the_mean()
        if np.shape(start) != self.y.shape or not np.isfinite(start).all():
            raise ValueError(f"the start must have a finite number for each of {len(self.y)} samples")
        return self.clip(np.asarray(start, dtype=float))

    def _on_the_mean(self) -> Array:
        m = len(self.bank)
        machine = HingeMachine(C=1.0, fit_intercept=False, tol=1e-2)
        program = machine.program(self.y, self.upper)
        return machine.solve_program(self.bank.combine(np.full(m, 1.0 / m)), program).warm

    def scores(self, *points: Array) -> Array:
        """q at each of these points, in one pass over the kernels: shape (points, m)."""
        return self.bank.quads(np.stack([self.y * a for a in points], axis=1)).T

    def value(self, a: Array, q: Array) -> float:
        """f_s."""
        peak = float(q.max())
        s = self.smoothing
        with np.errstate(under="ignore"):
            return -float(a.sum()) + 0.5 * peak + 0.5 * s * float(np.log(np.exp((q - peak) / s).sum()))

    def weights(self, q: Array) -> Array:
        """theta."""
        with np.errstate(under="ignore"):
            shares = np.exp((q - q.max()) / self.smoothing)
        return shares / shares.sum()

    def gradient(self, a: Array, q: Array) -> Array:
        """-1 + Y K(theta) Y a."""
        return self.y * self.bank.combine(self.weights(q)).multiply(self.y * a) - 1.0

    def clip(self, a: Array) -> Array:
        """The nearest point of the box."""
        return np.clip(a, 0.0, self.upper)

    def fall(self, a: Array, g: Array) -> float:
        """max over the box of g'(a - u)."""
        return fall_in_box(g, a, 0.0, self.upper)

    def gap(self, value: float, bound: float) -> Certificate:
        """The gap relative to |f_s|, or to how far f_s is below its value at a = 0 where this is less.

        That value, (s/2) log m, is a constant of the problem: with a large s it would make every gap small.
        """
        below = abs(value - 0.5 * self.smoothing * float(np.log(len(self.bank))))
        return Certificate("duality gap", relative(value - bound, min(abs(value), below)))

    def unsmoothed_gap(self, a: Array, q: Array, g: Array) -> float:
        """Primal minus dual value of L1-MKL without intercept, relative to the primal."""
        primal = 0.5 * float(self.weights(q) @ q) + float(self.upper @ np.maximum(-g, 0.0))
        dual = float(a.sum()) - 0.5 * float(q.max())
        return max(primal - dual, 0.0) / max(primal, TINY)
