"""What is to be learned: targets, weights of samples, and two sets of folds.

Kernels and ridges are chosen on the first folds. The predictions that candidates are compared by, and blended by, are
those on the second folds, so that a choice which suits its own folds does not show off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._arrays import part_of
from multikernel._folds import FOLDS, UNDECIDED, Resampling
from multikernel._typing import Array
from multikernel.numerics.cholesky import cholesky, solved
from multikernel.procedures.ridge_cv import Folds
from multikernel.procedures.ridge_cv.residuals import HeldOut


@dataclass(frozen=True, eq=False)
class RidgeTask:
    """Targets (n, t), weights (n,) of mean 1 or None, and folds.

    Parameters
    ----------
    Y : array (n, t), of about mean 0 and spread 1; for classes -1 and 1
    weight : array (n,) > 0, or None
    folds, second : Folds, to choose on and to compare on
    """

    Y: Array
    weight: Array | None
    folds: Folds
    second: Folds

    @classmethod
    def of(
        cls,
        Y: Array,
        weight: Array | None,
        labels: Array,
        seed: int,
        resampling: tuple[Resampling, Resampling] = (UNDECIDED, UNDECIDED),
    ) -> RidgeTask:
        """With folds that are given, or drawn by a seed, each with as many samples of a label as the others.

        Parameters
        ----------
        Y, weight : as above
        labels : int array (n,), the classes; zeros for a target of numbers
        seed : int
        resampling : how samples are held out, first and second
        """
        rng = np.random.default_rng(seed)
        first, second = (Folds.held_out(each, labels, FOLDS, rng) for each in resampling)
        return cls(Y, weight, first, second)

    def of_rows(self, rows: Array) -> RidgeTask:
        """The same for some of the samples."""
        weight = part_of(self.weight, rows)
        return replace(
            self,
            Y=self.Y[rows],
            weight=weight,
            folds=self.folds.of_rows(rows),
            second=self.second.of_rows(rows),
        )

    def held_out(self, K: Array, alpha: float, folds: Folds) -> Array | None:
        """Ridge regression's predictions (n, t) of samples held out; None where rounding makes K singular.

        Weights w are those of squares: W^(1/2) K W^(1/2) and W^(1/2) Y have the same ridge, and W^(1/2) is 1.
        """
        if self.weight is None:
            root = np.ones(len(self.Y))
        else:
            root = np.sqrt(self.weight)
        weighted = np.ascontiguousarray((root[:, None] / alpha * K) * root)  # a matrix of the user's may lie by columns
        left = HeldOut(root[:, None] * self.Y, folds, True, root).residuals(weighted)
        if left is None:
            return None
        return self.Y - left.values / root[:, None]

    def error(self, predicted: Array) -> float:
        """The mean squared error, summed over targets."""
        return float(np.average(((self.Y - predicted) ** 2).sum(axis=1), weights=self.weight))

    def solve(self, K: Array, alpha: float) -> tuple[Array, Array]:
        """Coefficients (n, t) and intercepts (t,) of ridge regression on all samples."""
        mean = np.average(self.Y, axis=0, weights=self.weight)
        A = K.copy()
        A.flat[:: len(A) + 1] += alpha / (1.0 if self.weight is None else self.weight)
        return solved(cholesky(A), self.Y - mean), mean
