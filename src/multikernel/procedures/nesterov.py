"""Nesterov's method for smoothed multiple kernel learning as published (Xu, Jin, Zhu, Lyu and King 2010, Algorithm 2).

    beta^k  = P(a^k - grad_k / L)                                          (15)    P the projection on the box
    gamma^k = P(c - 1/L sum_{j <= k} (j + 1)/2 grad_j)                     (18)
    a^{k+1} = tau_k gamma^k + (1 - tau_k) beta^k,  tau_k = 2 / (k + 3)     (19)

of the problem of ``smoothed``, from the machine on the mean of the kernels. It returns beta^N. As printed, c = 0 and

    L = 1/2 max_ki (K_k)_ii + n C^2 b^2 / (2 s),        b = max_k of the largest eigenvalue of K_k.

The theorem, f_s(beta^N) - f_s(a*) <= 2 L |a* - c|^2 / ((N + 1) (N + 2)) for a minimiser a*, holds for c = a^0 and for

    L = b + n C^2 b^2 / (2 s),

a bound of the curvature of f_s, which the printed L is not; ``diagnostics.smoothing_bounds`` computes both. They are
worst cases, far above the actual curvature at the iterates: this method is included because of the theorem, and for
comparisons; ``smoothed`` takes a hundredth of the steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel._workers import time_is_up
from multikernel.banks import KernelBank
from multikernel.certificate import Certificate
from multikernel.diagnostics.smoothing import largest_eigenvalue
from multikernel.observer import Event, Observer, silent
from multikernel.procedures.smoothed import SmoothedProblem, SmoothedWeights


@dataclass(frozen=True, eq=False, kw_only=True)
class NesterovWeights(SmoothedWeights):
    """Weights theta at a = beta^N.

    Parameters
    ----------
    values_of_steps : array (N + 1,), f_s at beta^0, ..., beta^N
    centre : array (n,), c
    lipschitz : float, L
    """

    values_of_steps: Array
    centre: Array
    lipschitz: float

    def guarantee(self, minimiser: Array) -> Array:
        """The theorem's bound of ``values_of_steps`` less their minimum, for a minimiser of shape (n,)."""
        k = np.arange(len(self.values_of_steps))
        return 2.0 * self.lipschitz * float(((minimiser - self.centre) ** 2).sum()) / ((k + 1.0) * (k + 2.0))


def nesterov(
    bank: KernelBank,
    target: Array,
    C: float | Array,
    smoothing: float,
    tol: float = 1e-2,
    max_iter: int = 500,
    warm: Array | None = None,
    observe: Observer = silent,
    *,
    printed: bool = True,
) -> NesterovWeights:
    """The weights of smoothed multiple kernel learning by the published method.

    Each step costs one pass over the kernels for the scores of two points and one for their sum.

    Parameters
    ----------
    bank : KernelBank of shape (n, n)
    target : array (n,) of -1 and +1
    C : float > 0 or array (n,), the upper bounds of a
    smoothing : float > 0, s
    tol : float, the duality gap at which it stops, relative to |f_s|, or to |f_s - (s/2) log m| where this is less
    max_iter : int >= 1, N + 1; the paper has 500
    warm : array (n,), a^0; the machine without intercept on the mean kernel if not given
    observe : called after each step
    printed : bool, whether c and L are as printed; else those for which the theorem holds

    Raises
    ------
    ValueError
        As ``smoothed`` does, and for ``max_iter`` < 1.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> from multikernel.procedures.nesterov import nesterov
    >>> from multikernel.procedures.smoothed import smoothed
    >>> X, y = np.array([[0.0, 1.0], [0.2, -1.0], [1.0, 0.9], [1.2, -1.1]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> bank = bind(kernels.per_feature(kernels.RBF(1.0)), X)
    >>> run, best = nesterov(bank, y, 1.0, 1.0, tol=0.0, printed=False), smoothed(bank, y, 1.0, 1.0, tol=1e-8)
    >>> bool((run.values_of_steps - best.objective <= run.guarantee(best.a)).all())
    True
    """
    problem = SmoothedProblem.of(bank, target, C, smoothing)
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter}")
    a = problem.first(warm)
    L = printed_lipschitz(problem) if printed else lipschitz(problem)
    centre = np.zeros_like(a) if printed else a
    q = problem.scores(a)[0]
    sums = np.zeros_like(a)
    bound = -np.inf
    values: list[float] = []
    gaps: list[float] = []
    for k in range(max_iter):
        g = problem.gradient(a, q)
        bound = max(bound, problem.value(a, q) - problem.fall(a, g))
        sums += 0.5 * (k + 1) * g
        with np.errstate(divide="ignore"):  # L is 0 where all kernels are: such a step ends at the bounds
            beta = problem.clip(a - g / L)
            gamma = problem.clip(centre - sums / L)
        a = beta + 2.0 / (k + 3.0) * (gamma - beta)
        q_beta, q = problem.scores(beta, a)
        values.append(problem.value(beta, q_beta))
        gaps.append(problem.gap(values[-1], bound).value)
        observe(Event(k + 1, Certificate("duality gap", gaps[-1]), beta, values[-1], values[-1], bound))
        if gaps[-1] <= tol or time_is_up():
            break
    g = problem.gradient(beta, q_beta)
    bound = max(bound, values[-1] - problem.fall(beta, g))
    certificate = problem.gap(values[-1], bound)
    return NesterovWeights(
        values=problem.weights(q_beta),
        objective=values[-1],
        certificate=certificate,
        converged=certificate.reached(tol),
        n_iter=len(gaps),
        history=tuple(gaps),
        bound=bound,
        a=beta,
        unsmoothed_gap=problem.unsmoothed_gap(beta, q_beta, g),
        values_of_steps=np.array(values),
        centre=centre,
        lipschitz=L,
    )


def lipschitz(problem: SmoothedProblem) -> float:
    """A bound of the curvature of f_s over the box."""
    b = largest_eigenvalue(problem.bank)
    return b + _of_scores(problem, b)


def printed_lipschitz(problem: SmoothedProblem) -> float:
    """The printed constant: half the largest diagonal entry in place of the largest eigenvalue."""
    return 0.5 * float(problem.bank.diagonal().max()) + _of_scores(problem, largest_eigenvalue(problem.bank))


def _of_scores(problem: SmoothedProblem, b: float) -> float:
    return float(problem.upper @ problem.upper) * b**2 / (2.0 * problem.smoothing)
