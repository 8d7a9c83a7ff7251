"""What is to be learned: targets, weights of samples, and two sets of folds.

Kernels and ridges are chosen on the first folds. The predictions that candidates are compared by, and blended by, are
those on the second folds, because errors on the folds that a kernel was chosen on are too low.
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
        """A task whose folds are given, or drawn with a seed so that each has as many samples of a label as the others.

        Parameters
        ----------
        Y, weight : as above
        labels : int array (n,), the classes; zeros for a target of numbers
        seed : int
        resampling : how the first and the second folds hold out samples
        """
        rng = np.random.default_rng(seed)
        first, second = (Folds.held_out(held_out, labels, FOLDS, rng) for held_out in resampling)
        return cls(Y, weight, first, second)

    def of_rows(self, rows: Array) -> RidgeTask:
        """The same task for some of the samples."""
        weight = part_of(self.weight, rows)
        return replace(
            self,
            Y=self.Y[rows],
            weight=weight,
            folds=self.folds.of_rows(rows),
            second=self.second.of_rows(rows),
        )

    def held_out(self, K: Array, alpha: float, folds: Folds) -> Array | None:
        """Predictions (n, t) of held-out samples by ridge regression; None where rounding makes K singular.

        Weights multiply squared errors. With W their diagonal matrix, the weighted problem is an unweighted one with
        the same ridge: its kernel matrix is W^(1/2) K W^(1/2), its targets are W^(1/2) Y, and its constant function is
        the vector of the square roots of the weights.
        """
        if self.weight is None:
            root = np.ones(len(self.Y))
        else:
            root = np.sqrt(self.weight)
        weighted = np.ascontiguousarray((root[:, None] / alpha * K) * root)  # a user's matrix may be stored by columns
        residuals = HeldOut(root[:, None] * self.Y, folds, True, root).residuals(weighted)
        if residuals is None:
            return None
        return self.Y - residuals.values / root[:, None]

    def error(self, predicted: Array) -> float:
        """The mean squared error, summed over targets."""
        return float(np.average(((self.Y - predicted) ** 2).sum(axis=1), weights=self.weight))

    def solve(self, K: Array, alpha: float) -> tuple[Array, Array]:
        """Coefficients (n, t) and intercepts (t,) of ridge regression on all samples."""
        mean = np.average(self.Y, axis=0, weights=self.weight)
        A = K.copy()
        A.flat[:: len(A) + 1] += alpha / (1.0 if self.weight is None else self.weight)
        return solved(cholesky(A), self.Y - mean), mean
