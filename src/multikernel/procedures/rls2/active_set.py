"""Least squares with the square of a 1-norm, exactly: the signs of the solution are found one at a time.

    min_b  1/2 b'P b - h'b + alpha/2 |b|_1^2

For given signs s of the variables that are not zero b solves (P + alpha s s') b = h. A variable enters with the sign of
its slope where that exceeds alpha |b|_1, and leaves where its sign would turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise, solved

EQUAL = 1e-11  # slopes that exceed alpha |b|_1 by less than this part of it are equal to it


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The problem: P positive semi-definite of shape (p, p), h of shape (p,), alpha > 0."""

    P: Array
    h: Array
    alpha: float

    def solve(self, b: Array) -> Array:
        """The solution, from b on: signs that are right are kept."""
        b, signs = self._settled(b, np.sign(b))
        refused = np.zeros(len(b), dtype=bool)  # variables that left as soon as they entered: rounding let them in
        for _ in range(10 * len(b) + 100):  # rounding may let variables enter and leave alternately
            slopes = self.h - self.P @ b
            sizes = np.where((b == 0) & ~refused, np.abs(slopes), 0.0)
            j = int(sizes.argmax()) if len(b) else 0
            if not len(b) or sizes[j] <= (1.0 + EQUAL) * self.alpha * float(np.abs(b).sum()):
                break
            signs[j] = np.sign(slopes[j])
            b, signs = self._settled(b, signs)
            refused = refused | (np.arange(len(b)) == j) if b[j] == 0 else np.zeros(len(b), dtype=bool)
        return b

    def _settled(self, b: Array, signs: Array) -> tuple[Array, Array]:
        """The best b with these signs, without the variables that would need the other sign."""
        b, signs = b.copy(), signs.copy()
        while signs.any():
            S = np.flatnonzero(signs)
            x = self._system(S, signs[S])
            if x is None:
                leaving = S[np.abs(b[S]).argmin()]
            else:
                wrong = x * signs[S] <= 0
                if not wrong.any():
                    b[S] = x
                    break
                ratios = np.full(len(S), np.inf)
                ratios[wrong] = b[S][wrong] / (b[S][wrong] - x[wrong])
                first = int(np.nanargmin(np.where(np.isnan(ratios), 0.0, ratios)))
                leaving = S[first]
                b[S] += float(np.nan_to_num(ratios[first])) * (x - b[S])
            b[leaving] = signs[leaving] = 0.0
        return b, signs

    def _system(self, S: Array, signs: Array) -> Array | None:
        """x with (P_SS + alpha signs signs') x = h_S; None where the variables depend on each other."""
        M = self.P[np.ix_(S, S)] + self.alpha * np.outer(signs, signs)
        lengths = np.sqrt(M.diagonal())
        L = np.asfortranarray(M / np.outer(lengths, lengths))
        if not factorise(L):
            return None
        return solved(L, self.h[S] / lengths) / lengths
