"""The printed algorithm of two-layer least squares along a path, with its linear systems solved by conjugate gradients.

    c = (R(d) + alpha I)^{-1} y             by conjugate gradients, from the last c, to a residual of DELTA |y|
    d = argmin over the simplex of |V d - u|^2,     V = [R_1 c, ..., R_m c],  u = y - alpha c / 2

until |(R(d) + alpha I) c - y| <= DELTA |y|; the next alpha starts from the last d and c. The paper has this test, says
that it uses conjugate gradients, and starts from the last d. It does not say how accurately they solve a system, nor
where they start: both are as here because the published iterations are so reproduced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from multikernel.banks import Gram, KernelBank
from multikernel.numerics.conjugate_gradients import conjugate_gradients
from multikernel.procedures import nearest_point
from multikernel.typing import Array

DELTA = 1e-2
_MOST = 100  # updates of d for one alpha, at most


@dataclass(frozen=True, eq=False)
class Step:
    """The result of the algorithm for one alpha.

    Parameters
    ----------
    weights : array (m,), d
    coef : array (n,), c
    n_iter : int, the number of updates of d
    """

    weights: Array
    coef: Array
    n_iter: int


def path(bank: KernelBank, y: Array, alphas: Sequence[float]) -> Iterator[Step]:
    """A step for each alpha, from the largest to the smallest; the target is not centred, and there is no intercept."""
    size = float(np.linalg.norm(y))
    d = np.zeros(len(bank))
    d[np.argmax(bank.quad(y))] = 1.0
    c = y / alphas[0]
    for alpha in alphas:
        n_iter = 0
        converged = False
        while not converged and n_iter < _MOST:
            n_iter += 1
            c = _solve(bank.combine(d), alpha, y, c, DELTA * size)
            V = bank.apply(c[:, None])[..., 0].T
            d = nearest_point(V - (y - 0.5 * alpha * c)[:, None], d)
            converged = bool(np.linalg.norm(V @ d + alpha * c - y) <= DELTA * size)
        yield Step(d, c, n_iter)


def _solve(gram: Gram, alpha: float, y: Array, c: Array, residual: float) -> Array:
    return conjugate_gradients(lambda p: gram.multiply(p) + alpha * p, y, c, residual, 1000 * len(y))
