"""A limited-memory BFGS matrix of the last gradients (Byrd, Nocedal and Schnabel 1994).

    B = size I - W'M^{-1}W,    W = [size S; Y],    M = [[size S S', L], [L', -D]]

of pairs of steps S and changes of the gradient Y, in rows from old to new, with L the part of S Y' below the diagonal,
D its diagonal. The last pair allows sizes from s'y / s's to y'y / s'y. The largest, which is usual, makes short steps,
which remain where the pairs describe a function that is not convex. On convex functions the geometric mean |y| / |s|
took half as many steps, and a third with 403 kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from multikernel._typing import Array

# Pairs that B is made of. With all of them a fit of GMKLSupportRegressor took 66 s for 2.7, and did not converge.
_MODEL_PAIRS = 50

Map = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Curvature:
    """B of pairs of steps and changes of the gradient, arrays (pairs, d), of a function, convex or not."""

    steps: Array
    changes: Array
    convex: bool

    @classmethod
    def none(cls, d: int, convex: bool) -> Curvature:
        return cls(np.empty((0, d)), np.empty((0, d)), convex)

    def with_pair(self, s: Array, y: Array) -> Curvature:
        """The matrix with one pair more if it shows positive curvature; where there are many, without the oldest."""
        # a pair of a smaller cosine shows no curvature
        if not float(s @ y) > 1e-10 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            return self
        steps = self.steps[1 - _MODEL_PAIRS :]
        changes = self.changes[1 - _MODEL_PAIRS :]
        return Curvature(np.vstack([steps, s]), np.vstack([changes, y]), self.convex)

    def reduced(self, u: int) -> Curvature:
        """Of the same function over vectors of a given sum, as one of their coordinates but u, which is left out."""
        steps = self.steps.copy()
        steps[:, u] = 0.0
        return Curvature(steps, self.changes - self.changes[:, [u]], self.convex)

    @cached_property
    def _form(self) -> tuple[float, Array, Array]:
        """size, W and M."""
        S = self.steps
        Y = self.changes
        products = S @ Y.T
        s = S[-1]
        y = Y[-1]
        if self.convex:
            size = float(np.linalg.norm(y) / np.linalg.norm(s))
        else:
            size = float(y @ y / (s @ y))
        L = np.tril(products, -1)
        M = np.block([[size * (S @ S.T), L], [L.T, -np.diag(np.diag(products))]])
        return size, np.vstack([size * S, Y]), M

    def newton(self, slope: Array, free: Array) -> Array:
        """-B^{-1} slope in the free coordinates, a boolean array (d,), the others being kept where they are."""
        size, W, M = self._form
        free_columns = W[:, free]
        step = np.zeros(len(slope))
        inside = np.linalg.lstsq(size * M - free_columns @ free_columns.T, free_columns @ slope[free], rcond=None)[0]
        step[free] = -(slope[free] + inside @ free_columns) / size
        return step

    def step(self, z: Array, slope: Array, project: Map) -> Array:
        """x - z for the model's minimiser x, by spectral projected gradient with exact line searches.

        Where the curvature is so small that a step of the model overflows, the steps before it are returned.
        """
        size, W, M = self._form
        inner = np.linalg.solve(M, W)
        x = z
        length = 1.0 / size
        first: float | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(100):
                step = project(x - length * slope) - x
                change = float(np.linalg.norm(step)) / length
                if first is None:
                    first = change
                descent = float(slope @ step)
                # a thousandth of the model's first projected gradient: with 60 kernels as few machines as the minimiser
                # itself, in half the steps
                if change <= 1e-3 * first or not descent < 0.0:
                    break
                image = size * step - (W @ step) @ inner
                curved = float(step @ image)
                if not np.isfinite(curved):
                    break
                fraction = min(1.0, -descent / curved) if curved > 0.0 else 1.0
                x = x + fraction * step
                slope = slope + fraction * image
                if curved > 0.0:
                    length = float(step @ step) / curved
                else:
                    length = 1.0 / size
        return x - z
