"""Nesterov's method for smoothed multiple kernel learning as published (Xu, Jin, Zhu, Lyu and King 2010, Algorithm 2).

    beta^k  = P(a^k - grad_k / L)                           P the projection on the box
    gamma^k = P(a^0 - 1/L sum_{j <= k} (j + 1)/2 grad_j)
    a^{k+1} = tau_k gamma^k + (1 - tau_k) beta^k,           tau_k = 2 / (k + 3)

with the guarantee, a* a minimiser,

    f_s(beta^N) - f_s(a*) <= 2 L |a* - a^0|^2 / ((N + 1) (N + 2)).

Two corrections, without which it does not hold: the centre of gamma is the start a^0 (published: 0, whatever the
start), and

    L = b + n C^2 b^2 / (2 s),    b = max_k of the largest eigenvalue of K_k

(published: half the largest diagonal entry for the first term). L is a worst case, far above the curvature that the
iterates meet: this is here to show the theorem, and ``smoothed`` is the method to use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.procedures.smoothed import SmoothedProblem


@dataclass(frozen=True, eq=False)
class NesterovRun:
    """What the published method did.

    Parameters
    ----------
    start : array (n,), a^0
    a : array (n,), beta^N
    values : array (N + 1,), f_s at beta^0, ..., beta^N
    lipschitz : float, L
    """

    start: Array
    a: Array
    values: Array
    lipschitz: float

    def guarantee(self, minimiser: Array) -> Array:
        """The theorem's bound of values - minimum, for a minimiser of shape (n,)."""
        k = np.arange(len(self.values))
        return 2.0 * self.lipschitz * float(((minimiser - self.start) ** 2).sum()) / ((k + 1.0) * (k + 2.0))


def lipschitz_constant(problem: SmoothedProblem) -> float:
    """L, a bound of the curvature of f_s over the box."""
    n = len(problem.y)
    matrices = (problem.bank.matrix(k) for k in range(len(problem.bank)))
    b = max(float(linalg.eigvalsh(K, subset_by_index=[n - 1, n - 1])[0]) for K in matrices)
    return b + float(problem.upper @ problem.upper) * b**2 / (2.0 * problem.smoothing)


def nesterov_as_published(
    bank: KernelBank, target: Array, C: float | Array, smoothing: float, steps: int, start: Array | None = None
) -> NesterovRun:
    """Run the published method for a number of steps.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    target : array (n,) of -1 and +1
    C : float > 0 or array (n,), the upper bounds of a
    smoothing : float > 0, s
    steps : int >= 1, N + 1
    start : array (n,), a^0; the support vector machine without intercept on the mean kernel if not given

    Raises
    ------
    ValueError
        As ``smoothed`` does, and for fewer steps than one.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from smkl_nesterov import nesterov_as_published
    >>> from multikernel.procedures.smoothed import smoothed
    >>> X, y = np.array([[0.0, 1.0], [0.2, -1.0], [1.0, 0.9], [1.2, -1.1]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> bank = bind(kernels.per_feature(kernels.RBF(1.0)), X)
    >>> run, best = nesterov_as_published(bank, y, 1.0, 1.0, steps=100), smoothed(bank, y, 1.0, 1.0, tol=1e-8)
    >>> bool((run.values - best.objective <= run.guarantee(best.a)).all())
    True
    """
    problem = SmoothedProblem.of(bank, target, C, smoothing)
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    first = problem.first(start)
    L = lipschitz_constant(problem)
    a, q, sums, values = first, problem.scores(first)[0], np.zeros(len(first)), np.empty(steps)
    for k in range(steps):
        g = problem.gradient(a, q)
        sums += 0.5 * (k + 1) * g
        beta, gamma = problem.clip(a - g / L), problem.clip(first - sums / L)
        a = beta + 2.0 / (k + 3.0) * (gamma - beta)
        q_beta, q = problem.scores(beta, a)
        values[k] = problem.value(beta, q_beta)
    return NesterovRun(first, beta, values, L)
