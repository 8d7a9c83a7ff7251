"""The smoothed problem of multiple kernel learning (Xu, Jin, Zhu, Lyu and King 2010).

    min_a  f_s(a) = -1'a + (s/2) log sum_k exp(q_k / s),    q_k = a'Y K_k Y a,    0 <= a <= C        (Y = diag(y))

is L1-MKL without an intercept, f_0(a) = -1'a + 1/2 max_k q_k, with its maximum smoothed: 0 <= f_s - f_0 <= (s/2) log m.
The published formula has exp(q_k / s - 1), which is lower by s/2 and no upper bound of f_0. With the weights

    theta = softmax(q / s),        grad f_s(a) = -1 + Y (sum_k theta_k K_k) Y a

(published with a factor 1/2 that does not belong there). Minus the minimum is the minimum over the simplex of
max_a 1'a - 1/2 a'Y K(theta) Y a + (s/2) sum_k theta_k log theta_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._floats import TINY
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.duality import fall_in_box
from multikernel.machines import HingeMachine
from multikernel.machines.base import check_signs


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
        """The problem after a look at its parameters; ValueError where they make no sense."""
        check_signs(target)
        upper = np.broadcast_to(np.asarray(C, dtype=float), (len(target),))
        if not (np.isfinite(upper) & (upper > 0)).all():
            raise ValueError(f"C must be finite and > 0, got {C}")
        Number(above=0, why="without it this is L1-MKL").check(smoothing, "smoothing")
        return cls(bank, np.asarray(target, dtype=float), upper, smoothing)

    def first(self, given: Array | None) -> Array:
        """A start brought into the box; that of the paper if none is given, the machine on the mean of the kernels."""
        if given is None:
            return self._on_the_mean()
        if np.shape(given) != self.y.shape:
            raise ValueError(f"the start has shape {np.shape(given)} for {len(self.y)} samples")
        return self.clip(np.asarray(given, dtype=float))

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

    def unsmoothed_gap(self, a: Array, q: Array, g: Array) -> float:
        """Primal minus dual value of L1-MKL without intercept, relative to the primal."""
        primal = 0.5 * float(self.weights(q) @ q) + float(self.upper @ np.maximum(-g, 0.0))
        dual = float(a.sum()) - 0.5 * float(q.max())
        return max(primal - dual, 0.0) / max(primal, TINY)
