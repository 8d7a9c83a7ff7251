"""How samples are held out: what users give as ``cv`` and ``groups``.

Samples of one group, for example the measurements of one patient, have more in common than their features. A fold
therefore holds out whole groups: a model predicts patients of its training better than new ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from multikernel._arrays import host, is_null, part_of, unmasked
from multikernel._typing import Array

Fold = tuple[Array, Array]  # training and test rows
FOLDS = 5  # the default number of folds, as in scikit-learn for cv=None


@dataclass(frozen=True, eq=False)
class Resampling:
    """How samples are held out.

    Parameters
    ----------
    count : int or None, the number of folds; None for the caller's default
    groups : int array (n,), the group of each sample; None without groups
    given : tuple of training and test rows, of a splitter or a list; None where folds are drawn
    """

    count: int | None = None
    groups: Array | None = None
    given: tuple[Fold, ...] | None = None

    @classmethod
    def of(cls, owner: str, cv: Any, groups: Any, y: Array) -> Resampling:
        """The resampling of a valid parameter ``cv`` of an estimator and the groups of its fit.

        Parameters
        ----------
        owner : str, the name in errors
        cv : None, a number of folds, "loo", a splitter or an iterable of (train, test)
        groups : values of shape (n,), or None
        y : array (n,) or (n, t), the target for splitters

        Raises
        ------
        ValueError : for groups that are not n values, for a single group, for a splitter that needs groups where there
            are none or that splits one, and for folds without training or test samples
        """
        numbers = numbered(owner, groups, len(y))
        if numbers is not None and not numbers.any():
            raise ValueError(
                f"{owner}: groups has one value only, {np.asarray(host(groups))[0]!s}, and a fold holds out whole "
                "groups: give two groups or more, or leave groups out"
            )
        if cv is None or isinstance(cv, Integral):
            return cls(None if cv is None else int(cv), numbers)
        if isinstance(cv, str):  # each sample, or each group, is a fold
            return cls(len(y), numbers)
        return cls(None, numbers, tuple(_checked_folds(owner, cv, y, numbers)))

    @property
    def decided(self) -> bool:
        """Whether the user determines more of the folds than their number."""
        return self.groups is not None or self.given is not None

    def among(self, rows: Array) -> Resampling:
        """The resampling of some of the samples, which are then numbered by their positions in ``rows``."""
        if not self.decided:
            return self
        groups = part_of(self.groups, rows)
        if self.given is None:
            return replace(self, groups=groups)
        position = np.full(
            1 + max(int(r.max(initial=0)) for r in (rows, *(r for fold in self.given for r in fold))), -1
        )
        position[rows] = np.arange(len(rows))
        kept_folds = [
            tuple(fold_rows[fold_rows >= 0] for fold_rows in (position[train], position[test]))
            for train, test in self.given
        ]
        return replace(
            self, groups=groups, given=tuple((train, test) for train, test in kept_folds if len(train) and len(test))
        )

    def drawn(self, labels: Array, count: int, rng: Any) -> Array:
        """The fold of each sample, drawn so that all folds have equal shares of every label.

        Parameters
        ----------
        labels : int array (n,)
        count : int, the number of folds where the user gave none
        rng : Generator or RandomState
        """
        return dealt(labels, self.count or count, rng, self.groups)

    def folds(self, labels: Array, count: int, rng: Any) -> list[Fold]:
        """Training and test rows, as given or drawn; parameters as for ``drawn``."""
        if self.given is not None:
            return list(self.given)
        return pairs_of(self.drawn(labels, count, rng))


UNDECIDED = Resampling()  # the caller's default folds


def pairs_of(fold: Array) -> list[Fold]:
    """Training and test rows, from the fold of each sample; samples of fold -1 are always trained on."""
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(int(fold.max()) + 1)]


def dealt(labels: Array, count: int, rng: Any, groups: Array | None = None) -> Array:
    """The fold of each sample: whole groups are divided so that all folds have about the same share of each label.

    Parameters
    ----------
    labels : int array (n,)
    count : int, the number of folds; fewer where there are fewer groups
    rng : Generator or RandomState, for the order of equal groups
    groups : int array (n,); None where each sample is a group

    Returns
    -------
    int array (n,), 0 to the number of folds - 1
    """
    n = len(labels)
    if groups is None:
        mixed = rng.permutation(n)
        folds = np.empty(n, dtype=int)
        if count >= n:
            return np.arange(n)
        folds[mixed[np.argsort(labels[mixed], kind="stable")]] = np.arange(n) % count
        return folds
    unique, group_of_sample = np.unique(groups, return_inverse=True)
    if count >= len(unique):
        if len(unique) == n:
            return np.arange(n)
        return group_of_sample
    share = np.zeros((len(unique), int(labels.max()) + 1))
    np.add.at(share, (group_of_sample, labels), 1.0)
    share /= np.maximum(share.sum(axis=0), 1.0)
    mixed = rng.permutation(len(unique))
    chosen = np.empty(len(unique), dtype=int)
    full = np.zeros((count, share.shape[1]))
    for g in mixed[np.argsort(-share[mixed].sum(axis=1), kind="stable")]:  # the largest group first
        fold = np.lexsort((full.sum(axis=1), full @ share[g]))[0]  # where its labels are rarest
        full[fold] += share[g]
        chosen[g] = fold
    return chosen[group_of_sample]


def in_first_folds(labels: Array, share: float) -> Array:
    """Whether each sample is in one of the first folds, which together contain at least this share, but never all.

    With a single fold, no sample is.

    Parameters
    ----------
    labels : int array (n,), the fold of each sample
    share : float in (0, 1)
    """
    folds, counts = np.unique(labels, return_counts=True)
    if len(folds) < 2:
        return np.zeros(len(labels), dtype=bool)
    last = int(np.searchsorted(np.cumsum(counts), share * len(labels)))
    return np.asarray(labels <= folds[min(last, len(folds) - 2)])


def in_proportion(labels: Array, count: int, seed: int) -> Array:
    """``count`` of the samples, in order, with each class in proportion.

    Parameters
    ----------
    labels : int array (n,), the classes
    count : int; all samples where there are no more
    seed : int
    """
    n = len(labels)
    if count >= n:
        return np.arange(n)
    mixed = np.random.default_rng(seed).permutation(n)
    ordered = mixed[np.argsort(labels[mixed], kind="stable")]
    return np.sort(ordered[np.unique(np.linspace(0, n - 1, count).round().astype(int))])


def complete(folds: Sequence[Fold], labels: Array) -> list[Fold]:
    """The folds whose training rows contain samples of every label."""
    count = len(np.unique(labels))
    return [fold for fold in folds if len(np.unique(labels[fold[0]])) == count]


def numbered(owner: str, groups: Any, n: int) -> Array | None:
    """Groups of n samples as numbers from 0 on; None without groups.

    Parameters
    ----------
    owner : str, the name in errors
    groups : values of shape (n,), or None
    n : int

    Raises
    ------
    ValueError : for another shape, a missing value, and values that cannot be compared
    """
    if groups is None:
        return None
    values = np.asarray(host(unmasked(groups)))
    if values.shape != (n,):
        raise ValueError(
            f"{owner}: groups must hold one value for each of {n} samples, an array of shape ({n},); got shape "
            f"{values.shape}"
        )
    if values.dtype.kind == "O":
        missing = np.array([value is None or is_null(value) for value in values], dtype=bool)
    else:
        if values.dtype.kind in "mM":
            missing = np.isnat(values)
        else:
            missing = values != values
    if missing.any():
        raise ValueError(
            f"{owner}: groups has a missing value at row {int(missing.argmax())}: name its group, or leave the sample "
            "out"
        )
    try:
        return np.unique(values, return_inverse=True)[1].reshape(n)
    except TypeError:
        raise ValueError(
            f"{owner}: groups holds values of several types: give numbers alone, or strings alone"
        ) from None


def rows_of(owner: str, number: int, fold: Any, n: int) -> Fold:
    """The training and test rows of a fold of a user, which may be numbers or masks of all samples.

    Parameters
    ----------
    owner : str, the name in errors
    number : int, the number of the fold
    fold : pair of training and test rows
    n : int, the number of samples

    Raises
    ------
    ValueError : where it is no such pair
    """
    try:
        train, test = (np.arange(n)[np.asarray(rows, dtype=None if len(rows) else int)] for rows in fold)
    except (IndexError, ValueError, TypeError):
        train = test = None
    if train is None or train.ndim != 1 or test.ndim != 1:
        raise ValueError(
            f"{owner}: fold {number} of cv must be a pair of training and test rows, numbers from 0 to {n - 1} or "
            f"masks of {n} entries"
        )
    return train, test


def _checked_folds(owner: str, cv: Any, y: Array, groups: Array | None) -> Iterator[Fold]:
    """The folds of a splitter, or of an iterable, checked."""
    n, count = len(y), 0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored")  # the resulting folds are checked below
        try:
            folds = list(cv.split(np.empty((n, 1)), y, groups) if hasattr(cv, "split") else cv)
        except ValueError as error:
            if groups is None and "groups" in str(error):
                raise ValueError(f"{owner}: cv={cv!r} needs the group of each sample: fit(X, y, groups=...)") from None
            raise
    for count, fold in enumerate(folds, 1):
        train, test = rows_of(owner, count - 1, fold, n)
        if not (len(train) and len(test)):
            raise ValueError(
                f"{owner}: fold {count - 1} of cv has {len(train)} training and {len(test)} test samples: each fold "
                "needs some of both"
            )
        if groups is not None and len(both := np.intersect1d(groups[train], groups[test])):
            row = int(np.flatnonzero(groups == both[0])[0])
            raise ValueError(
                f"{owner}: fold {count - 1} of cv trains and tests on samples of one group, that of row {row}: give a "
                "splitter that keeps groups whole, such as GroupKFold(), or leave groups out"
            )
        yield train, test
    if not count:
        raise ValueError(
            f"{owner}: cv gives no folds: give a number of folds, a splitter, or pairs of training and test rows"
        )
