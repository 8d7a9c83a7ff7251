"""Test folds: disjoint sets V_1, .., V_F of samples that cover all of them, each held out from the others in turn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._arrays import foreign, host, namespace, taken
from multikernel._folds import Resampling
from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise, solved


@dataclass(frozen=True, eq=False)
class Folds:
    """The fold in which each sample is held out.

    Parameters
    ----------
    labels : integer array (n,), the fold of each sample, 0..count - 1
    count : int, F
    """

    labels: Array
    count: int

    @classmethod
    def of(cls, cv: Any, n: int, y: Array) -> Folds:
        """From the name "loo" (leave one out), a number of folds, a splitter or an iterable of (train, test) pairs.

        Parameters
        ----------
        cv : the name, number, splitter or pairs
        n : int, how many samples
        y : array (n,), passed to a splitter

        Raises
        ------
        ValueError : for another name, and where a sample is not held out exactly once or not trained on otherwise
        """
        if isinstance(cv, str):
            if cv != "loo":
                raise ValueError(f"cv must be a number of folds, a splitter, pairs of rows or 'loo', got {cv!r}")
            return cls(np.arange(n), n)
        labels = np.full(n, -1)
        covered = 0
        count = 0
        from sklearn.model_selection import check_cv  # takes a while to load, and no prediction needs it

        for train, test in check_cv(cv).split(np.empty((n, 1)), y):
            train = np.arange(n)[train]
            test = np.arange(n)[test]
            if len(train) == 0 or not np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n)):
                raise ValueError(
                    f"fold {count} of cv holds out {len(test)} of {n} samples and trains on {len(train)}: each fold "
                    "must train on all samples that it does not hold out, and on at least one"
                )
            labels[test] = count
            covered = covered + len(test)
            count = count + 1
        if covered != n or (labels < 0).any():
            raise ValueError(
                f"the {count} test folds of cv hold out {covered} samples where there are {n}: each sample must be "
                "held out exactly once (KFold and GroupKFold do so; ShuffleSplit and repeated splitters do not)"
            )
        if count < n:
            return cls(labels, count)
        return cls(np.arange(n), n)

    @classmethod
    def held_out(cls, resampling: Resampling, labels: Array, count: int, rng: Any) -> Folds:
        """The folds of a resampling: given by the user, or drawn so that every fold gets its share of each label.

        Parameters
        ----------
        resampling : Resampling
        labels : int array (n,)
        count : int, how many folds where the resampling does not say so
        rng : Generator or RandomState

        Raises
        ------
        ValueError : as ``of``
        """
        if resampling.given is not None:
            return cls.of(resampling.given, len(labels), labels)
        folds = resampling.drawn(labels, count, rng)
        return cls(folds, int(folds.max()) + 1)

    @property
    def single(self) -> bool:
        """Whether each fold is one sample; fold i is then sample i."""
        return self.count == len(self.labels)

    def of_rows(self, rows: Array) -> Folds:
        """The folds of some of the samples, without folds that have none of these."""
        present, labels = np.unique(self.labels[rows], return_inverse=True)
        return Folds(labels, len(present))

    def merged(self, limit: int) -> Folds:
        """At most ``limit`` folds, each a union of some of these; unchanged where there are no more."""
        if self.count <= limit:
            return self
        return Folds(self.labels % limit, limit)

    def tests(self) -> list[Array]:
        """The samples of each fold."""
        return self._tests

    @cached_property
    def _tests(self) -> list[Array]:
        order = np.argsort(self.labels, kind="stable")
        sizes = np.bincount(self.labels, minlength=self.count)
        return np.split(order, np.cumsum(sizes)[:-1])

    def training_means(self, Y: Array, ones: Array) -> Array:
        """The mean of the other samples' targets for each fold: shape (F, t) for Y of shape (n, t)."""
        sums = np.zeros((self.count, Y.shape[1]))
        np.add.at(sums, self.labels, ones[:, None] * Y)
        sizes = np.bincount(self.labels, ones**2, self.count)
        return (sums.sum(axis=0) - sums) / (sizes.sum() - sizes)[:, None]

    def spread(self, V: Array) -> Array:
        """A vector divided by folds: shape (n, F), column f is V on fold f and 0 elsewhere."""
        columns = np.zeros((len(V), self.count))
        columns[np.arange(len(V)), self.labels] = V
        return columns


@dataclass(frozen=True, eq=False)
class Blocks:
    """The diagonal blocks H_VV of a positive definite matrix, factored: their Cholesky factors, or for single samples
    the diagonal."""

    folds: Folds
    factors: tuple[Array, ...]

    @classmethod
    def of(cls, H: Array, folds: Folds) -> Blocks:
        """The factors of the blocks of H; LinAlgError where one is not positive definite in floating point."""
        if folds.single:
            return cls(folds, (_diagonal(H),))
        factors = []
        for V in folds.tests():
            block = _block(H, V)
            if not factorise(block.T):
                raise np.linalg.LinAlgError(f"a block of {len(V)} held-out samples is not positive definite")
            factors.append(block.T)
        return cls(folds, tuple(factors))

    def solve(self, B: Array) -> Array:
        """H_VV^-1 B_V in the rows of each fold, B of shape (n, t)."""
        if self.folds.single:
            return B / self.factors[0][:, None]
        X = np.empty_like(B)
        for V, factor in zip(self.folds.tests(), self.factors, strict=True):
            X[V] = solved(factor, B[V])
        return X


def _diagonal(H: Any) -> Array:
    if foreign(H):
        return np.asarray(host(namespace(H).linalg.diagonal(H)))
    return np.diagonal(H).copy()


def _block(H: Any, V: Array) -> Array:
    """H_VV, as a new NumPy array."""
    if foreign(H):
        return np.array(host(taken(taken(H, V), V, axis=1)), order="C")
    return np.ascontiguousarray(H[np.ix_(V, V)])
