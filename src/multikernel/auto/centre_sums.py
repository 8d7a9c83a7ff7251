"""Sums over samples by the kernels between them and few centres, which are all that a machine on these needs.

Kernels are made tile by tile, in single precision, and are not kept (``machines/ridge/centres.py`` has the problem).
How long kernels and how long products take is measured on the way, from which the seconds of more samples and of more
centres follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

import numpy as np

from multikernel._arrays import part_of
from multikernel._typing import Array
from multikernel._workers import check_interrupted
from multikernel.auto.samples import PreparedSamples, Similarity
from multikernel.machines.ridge.centres import CentreSums
from multikernel.procedures.centres import TILE
from multikernel.statistics import Moments, Summing

_ROUNDING = float(np.finfo(np.float32).eps) ** 2  # of kernels in single precision, squared


@dataclass(eq=False)
class KernelSums:
    """Sums that grow.

    Parameters
    ----------
    similarity : the kernel
    centres : PreparedSamples
    sums : Summing, of as many features as there are centres
    kernels, products : float, the seconds that kernels and that sums took so far
    rows : int, the samples so far
    """

    similarity: Similarity
    centres: PreparedSamples
    sums: Summing
    kernels: float = 0.0
    products: float = 0.0
    rows: int = 0

    @classmethod
    def none(cls, similarity: Similarity, centres: PreparedSamples, targets: int) -> KernelSums:
        """Over no samples."""
        return cls(similarity, centres, Summing(len(centres), targets))

    def add(self, samples: PreparedSamples, Y: Array, weight: Array | None) -> None:
        """Add further samples, their targets (n, t) and weights."""
        for start in range(0, len(samples), TILE):
            check_interrupted()
            part = np.arange(start, min(start + TILE, len(samples)))
            begin = perf_counter()
            K = self._kernel(samples.of(part))
            middle = perf_counter()
            self.sums.add(K.astype(float), Y[part], part_of(weight, part))
            self.kernels += middle - begin
            self.products += perf_counter() - middle
        self.rows += len(samples)

    @cached_property
    def _kernel(self) -> Callable[[PreparedSamples], Array]:
        return self.similarity.to(self.centres, np.float32)

    @property
    def total(self) -> CentreSums:
        """The sums so far.

        Raises
        ------
        ValueError : where a kernel or a target is not finite
        """
        return centre_sums(self.sums.moments())

    @property
    def speed(self) -> CentreSpeed:
        """What was measured."""
        values = max(1.0, float(self.rows) * len(self.centres))
        return CentreSpeed(self.kernels / values, self.products / values / len(self.centres))


@dataclass(frozen=True)
class CentreSpeed:
    """Seconds of one kernel value, and of one product of two of them in a sum."""

    kernel: float
    product: float

    def seconds(self, rows: float, centres: float) -> float:
        """That a machine on so many centres takes: sums over the rows, and factors of a few ridges.

        A factor has a third of the products of sums over as many rows as there are centres; six are made, with what is
        as large beside them, such as the kernel of the centres.
        """
        return rows * centres * (self.kernel + centres * self.product) + centres**2 * (
            self.kernel + 2.0 * centres * self.product
        )


def centre_sums(moments: Moments) -> CentreSums:
    """Sums of kernels in single precision; ValueError where they are not finite."""
    if not (np.isfinite(moments.squares).all() and np.isfinite(moments.products).all()):
        raise ValueError("ridge regression by centres: kernels and targets must be finite numbers")
    return CentreSums(moments, _ROUNDING)
