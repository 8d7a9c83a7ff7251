"""The minimum enclosing ball of the samples in feature space.

    R^2 = max_a  a'diag(K) - a'Ka    over the simplex

Only distances between samples count, so K is centred first. Then R^2 is at least a quarter of the largest self-value,
and a relative precision can be reached however far from the origin the samples lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multikernel._floats import ROUNDING
from multikernel._parameters import COUNT, POSITIVE
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.diagnostics import _input


@dataclass(frozen=True, eq=False)
class MEB:
    """A minimum enclosing ball; ``float(ball)`` is its radius.

    Parameters
    ----------
    squared_radius : float, a'diag(K) - a'Ka, at most the true squared radius
    weights : array (n,), a on the simplex; the centre is sum_i a_i phi(x_i)
    gap : float >= 0; squared_radius + gap = max_i (K_ii - 2 (Ka)_i) + a'Ka is the squared radius of the smallest ball
        around this centre that holds all samples, which is at least the true squared radius
    average_bound : float, mean(diag K) - mean(K), the value at equal weights, at most the true squared radius
    """

    squared_radius: float
    weights: Array
    gap: float
    average_bound: float

    @property
    def radius(self) -> float:
        """The square root of ``squared_radius``."""
        return float(np.sqrt(self.squared_radius))

    def __float__(self) -> float:
        return self.radius


def meb_radius(K: Any, tol: float = 1e-8, max_iter: int = 1_000_000) -> MEB:
    """The smallest ball in feature space that holds all samples; a ConvergenceWarning where its gap is above ``tol``.

    Parameters
    ----------
    K : array-like (n, n), a kernel matrix
    tol : float > 0, the gap to reach, relative to the squared radius
    max_iter : int, the largest number of pairwise steps

    Raises
    ------
    ValueError : where K is not symmetric positive semi-definite, or tol is not positive

    References
    ----------
    Shawe-Taylor and Cristianini (2004), Kernel methods for pattern analysis, section 7.1. Donini and Aiolli (2017),
    section 3.1.3, call the squared radius the radius.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.diagnostics import meb_radius
    >>> x = np.array([[-3.0], [0.0], [1.0]])
    >>> ball = meb_radius(x @ x.T)
    >>> round(float(ball), 6), ball.weights.round(6).tolist()
    (2.0, [0.5, 0.0, 0.5])
    """
    POSITIVE.check(tol, "meb_radius: tol")
    COUNT.check(max_iter, "meb_radius: max_iter")
    matrix = _input.positive(K)
    scale = float(np.diagonal(matrix).max())
    C = _input.centered(matrix / scale) if scale > 0 else np.zeros_like(matrix)
    n = len(C)
    average = scale * max(float(np.diagonal(C).mean()), 0.0)
    if np.diagonal(C).max() <= ROUNDING * n:
        return MEB(0.0, np.full(n, 1.0 / n), scale * max(float(np.diagonal(C).max()), 0.0), average)
    a, value, gap = _solve(C, tol, max_iter)
    if gap > tol * value:
        warn_user(
            f"the enclosing ball has a relative gap of {gap / value:.2g} after {max_iter} steps, not {tol:.2g}",
            ConvergenceWarning,
        )
    return MEB(scale * value, a, scale * gap, average)


def _solve(C: Array, tol: float, max_iter: int) -> tuple[Array, float, float]:
    """Weights, their value and its gap for a centred matrix.

    With the distances D_ij = C_ii + C_jj - 2 C_ij, a'diag(C) - a'Ca is a'Da / 2 over the simplex: the problem of the
    margin machine for the matrix -D / 2 and one class.
    """
    from multikernel.machines.margin import _pairwise

    d = np.diagonal(C)
    M = C - 0.5 * (d[:, None] + d)
    first = int(d.argmax())
    a = np.zeros(len(C))
    a[[first, int(M[first].argmin())]] = 0.5  # the farthest sample from the mean, and the farthest from that one
    # The compiled solver updates its gradient, which collects rounding; each round starts from an exact one.
    for _ in range(3):
        _pairwise.descend(M, np.ones(len(C)), 1.0, 0.0, a, 2.0 * (M @ a), 0.0, tol, max_iter)
        a /= a.sum()
        Ma = M @ a
        value = -float(a @ Ma)
        gap = max(-2.0 * float(Ma.min()) - 2.0 * value, 0.0)
        if gap <= tol * value:
            break
    return a, value, gap
