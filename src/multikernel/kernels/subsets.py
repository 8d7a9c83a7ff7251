"""Gaussian kernels of many widths on many subsets of the features: a family whose kernels are never listed.

    k(x, z) = exp(-gamma sum over j in s of (x_j - z_j)^2)    for every subset s and every gamma

Kernel number i G + g has subset i and gamma g, of G gammas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

from multikernel._parameters import COUNT, POSITIVE, check_each
from multikernel._typing import Columns
from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import RBF
from multikernel.kernels.family import KernelFamily, Names
from multikernel.kernels.features import Features


@dataclass(repr=False)
class RBFSubsets(KernelFamily):
    """Every gamma on every subset of the features.

    Parameters
    ----------
    subsets : the columns of each subset, or a number q: all subsets of one to q features
    gammas : numbers > 0
    labels : the names of the features, for the names of the kernels once the columns are given by position
    """

    subsets: int | tuple[tuple[int | str, ...], ...]
    gammas: tuple[float, ...]
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.subsets, int) and (not self.subsets or not all(self.subsets)):
            raise ValueError("rbf_subsets needs at least one subset, and at least one column in each")
        if not self.gammas:
            raise ValueError("rbf_subsets needs at least one gamma, got none")

    def resolve(self, features: Features) -> RBFSubsets:
        features.check_numbers(self)
        if isinstance(self.subsets, int):
            sizes = range(1, min(self.subsets, features.n) + 1)
            subsets = tuple(chain.from_iterable(combinations(range(features.n), size) for size in sizes))
            return RBFSubsets(subsets, self.gammas, features.names)
        subsets = tuple(features.different(columns, self) for columns in self.subsets)
        return RBFSubsets(subsets, self.gammas, features.names)

    def __len__(self) -> int:
        return len(self._explicit()) * len(self.gammas)

    def __iter__(self) -> Iterator[Kernel]:
        return (RBF(gamma).on(subset) for subset in self._explicit() for gamma in self.gammas)

    @property
    def names(self) -> Sequence[str]:
        self._explicit()
        return Names(self)

    def name(self, k: int) -> str:
        subset, gamma = divmod(k, len(self.gammas))
        columns = self._explicit()[subset]
        labels = [self.labels[c] if self.labels and isinstance(c, int) else c for c in columns]
        return repr(RBF(self.gammas[gamma]).on(labels))

    def _explicit(self) -> tuple[tuple[int | str, ...], ...]:
        if isinstance(self.subsets, int):
            raise self._unresolved()
        return self.subsets

    def __repr__(self) -> str:
        if isinstance(self.subsets, int):
            subsets = str(self.subsets)
        else:
            subsets = f"<{len(self.subsets)} subsets>"
        return f"RBFSubsets({subsets}, <{len(self.gammas)} gammas>)"


def rbf_subsets(subsets: int | Sequence[Columns], gammas: Sequence[float]) -> KernelFamily:
    """Gaussian kernels exp(-gamma |x_s - z_s|^2), every gamma on every subset s of the features.

    The family can have a million kernels, as neither the kernels nor their matrices are ever listed. Passes are fastest
    where the gammas rise and each is a small whole multiple of the one before.

    Parameters
    ----------
    subsets : the columns of each subset, by index or by data-frame name, one or several; or a number q, for all subsets
        of one to q features
    gammas : numbers > 0

    Raises
    ------
    ValueError : where there is no subset or no gamma, a subset is empty, or a gamma is not a finite number > 0; when
        the kernels are bound to samples, where these lack a column, or a column is given twice

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import bind, kernels
    >>> X = np.random.default_rng(0).normal(size=(50, 60))
    >>> bank = bind(kernels.rbf_subsets(3, 2.0 ** np.arange(-10, 4)), X)
    >>> len(bank)
    504700
    """
    widths = tuple(float(gamma) for gamma in check_each(POSITIVE, gammas, "rbf_subsets: gammas"))
    if isinstance(subsets, Iterable) and not isinstance(subsets, str):
        return RBFSubsets(tuple(map(_as_tuple, subsets)), widths)
    return RBFSubsets(int(COUNT.check(subsets, "rbf_subsets: subsets")), widths)


def _as_tuple(columns: Any) -> tuple[int | str, ...]:
    """The columns of a subset, which may be a single one; a name is not taken apart into its letters."""
    if isinstance(columns, Iterable) and not isinstance(columns, str):
        return tuple(columns)
    return (columns,)
