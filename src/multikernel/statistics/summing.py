"""Sums over samples that arrive in many chunks: added in place, so that only the sums themselves take memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import blas

from multikernel._arrays import foreign
from multikernel._linalg import as_columns, mirror, product, squared
from multikernel._typing import Array
from multikernel.statistics.moments import Moments
from multikernel.tuning import SUMS_STRIPS

Shared = Callable[[Callable[[slice], Any], int, int], Any]  # takes work on a slice, the number of rows, rows per slice


@dataclass(eq=False)
class Summing:
    """Sums to which samples are added; ``moments`` returns those over all samples so far.

    Parameters
    ----------
    q, t : int, how many features and targets
    """

    q: int
    t: int
    squares: Array = field(init=False)  # the lower triangle
    products: Array = field(init=False)
    sums: Array = field(init=False)
    target_sums: Array = field(init=False)
    target_squares: Array = field(init=False)
    count: float = 0.0

    def __post_init__(self) -> None:
        self.squares = np.zeros((self.q, self.q), order="F")
        self.products = np.zeros((self.q, self.t))
        self.sums = np.zeros(self.q)
        self.target_sums = np.zeros(self.t)
        self.target_squares = np.zeros(self.t)

    @classmethod
    def of(cls, moments: Moments) -> Summing:
        """Sums that continue from given ones, whose arrays are written to."""
        summing = cls.__new__(cls)
        q, t = moments.products.shape
        vars(summing).update(vars(moments), q=q, t=t)
        summing.squares = np.asfortranarray(moments.squares)
        return summing

    def add(self, F: Array, Y: Array, weight: Array | None = None, shared: Shared | None = None) -> None:
        """Add samples: features (n, q), targets (n, t) and weights (n,) >= 0.

        ``shared`` distributes strips of the sums among threads; BLAS should then use one thread.
        """
        Y = as_columns(Y)
        s = np.ones(F.shape[0]) if weight is None else weight
        if foreign(F):
            self.squares += squared(F, weight=weight)
        else:
            root = np.ascontiguousarray(F if weight is None else np.sqrt(s)[:, None] * F, dtype=np.float64)
            self._add_squares(root, shared)
        weighted = s[:, None] * Y
        self.products += product(F.T, weighted)
        self.sums += product(F.T, s)
        self.target_sums += weighted.sum(axis=0)
        self.target_squares += (weighted * Y).sum(axis=0)
        self.count += float(s.sum())

    def _add_squares(self, root: Array, shared: Shared | None) -> None:
        if shared is None:
            self.squares = blas.dsyrk(1.0, root.T, beta=1.0, c=self.squares, lower=1, overwrite_c=1)
            return
        by_rows = self.squares.T  # only its upper triangle is needed

        def strip(rows: slice) -> None:
            by_rows[rows, rows.start :] += root[:, rows].T @ root[:, rows.start :]

        shared(strip, self.q, -(-self.q // SUMS_STRIPS))

    def moments(self) -> Moments:
        """The sums as Moments that share their memory."""
        mirror(self.squares)
        return Moments(self.squares, self.products, self.sums, self.target_sums, self.target_squares, float(self.count))
