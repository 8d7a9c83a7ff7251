"""The sums over each fold of a cross-validation, of features that are multiplied with numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from multikernel._typing import Array
from multikernel.statistics import Moments


@dataclass(frozen=True, eq=False)
class FoldSums:
    """What all models trained without a fold, and their errors on it, follow from.

    Parameters
    ----------
    scale : array (q,), what the features are multiplied with
    sizes : int array (m,), how many features each kernel has
    held : the sums over each fold
    fit_intercept : whether the mean of the training targets is taken off first
    """

    scale: Array
    sizes: Array
    held: tuple[Moments, ...]
    fit_intercept: bool

    @cached_property
    def whole(self) -> Moments:
        """The sums over all samples."""
        total = self.held[0]
        for each in self.held[1:]:
            total = total.merge(each)
        return total

    def pairs(self) -> Iterator[tuple[Moments, Moments]]:
        """The sums of each fold and of its training samples, about the mean of these; squares are those of all."""
        for held in self.held:
            count = self.whole.count - held.count
            means = (self.whole.target_sums - held.target_sums) / count * float(self.fit_intercept)
            trained = Moments(
                squares=held.squares,  # not those of the training samples, which are taken off where they are needed
                products=self.whole.products - held.products,
                sums=self.whole.sums - held.sums,
                target_sums=self.whole.target_sums - held.target_sums,
                target_squares=self.whole.target_squares - held.target_squares,
                count=count,
            )
            yield held.about(means), trained.about(means)
