"""Kernel ridge regression for many alphas, from one decomposition of the matrix.

A stored matrix is made tridiagonal. Where an alpha is so small beside it that this loses digits, eigenvectors, which
know the null space, and a factorisation of its own take their turn, and the solution that proves most is kept. Other
Grams have few eigenvectors that cost little.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from multikernel._floats import ROUNDING
from multikernel._typing import Array
from multikernel.banks import DenseGram, Gram
from multikernel.machines.ridge.solved import Solved, best, direct, spectral
from multikernel.machines.ridge.spectrum import RidgeSpectrum
from multikernel.machines.ridge.tridiagonal import RidgeTridiagonal


def along(gram: Gram, Y: Array, alphas: Sequence[float]) -> list[Solved]:
    """The solution for every alpha > 0, for targets Y of shape (n, t).

    Raises
    ------
    ValueError : where the matrix is found not to be positive semi-definite
    """
    form = RidgeTridiagonal.of(gram, Y) if isinstance(gram, DenseGram) and len(Y) > 1 else None

    @cache
    def eigenvectors() -> RidgeSpectrum:
        return RidgeSpectrum.of(gram, Y)

    def solved(alpha: float) -> Solved:
        if form is not None:
            found = Solved.at(gram, Y, alpha, form.solve(alpha))
            if found.gap <= ROUNDING:
                return found
        found = spectral(eigenvectors(), gram, Y, alpha)
        return found if found.gap <= ROUNDING else best(found, direct(gram, Y, alpha))

    return [solved(alpha) for alpha in alphas]
