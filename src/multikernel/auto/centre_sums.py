"""Sums over samples by the kernels between them and few centres, which are all that a machine on these needs.

Kernels are computed tile by tile, in single precision, and are not stored (``machines/ridge/centres.py`` has the
problem). The seconds of kernels and of products are measured meanwhile; from them follow the seconds of a machine on
more samples or more centres.
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
    """Sums over samples, to which further samples can be added.

    Parameters
    ----------
    similarity : the kernel
    centres : PreparedSamples
    sums : Summing, of as many features as there are centres
    kernels, products : float, the seconds that kernels and sums took so far
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
            tile_rows = np.arange(start, min(start + TILE, len(samples)))
            begin = perf_counter()
            K = self._kernel(samples.of(tile_rows))
            middle = perf_counter()
            self.sums.add(K.astype(float), Y[tile_rows], part_of(weight, tile_rows))
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
        """The measured seconds of a kernel value and of a product."""
        values = max(1.0, float(self.rows) * len(self.centres))
        return CentreSpeed(self.kernels / values, self.products / values / len(self.centres))


@dataclass(frozen=True)
class CentreSpeed:
    """Seconds of one kernel value, and of one product of two of them in a sum."""

    kernel: float
    product: float

    def seconds(self, rows: float, centres: float) -> float:
        """The seconds of a machine on so many centres: sums over the rows, and factors of a few ridges.

        A factor takes a third of the products that sums over as many rows as centres take. Six factors, and work of
        their size, count as two such sums; the kernel of the centres is added.
        """
        return rows * centres * (self.kernel + centres * self.product) + centres**2 * (
            self.kernel + 2.0 * centres * self.product
        )


def centre_sums(moments: Moments) -> CentreSums:
    """Sums of kernels in single precision; ValueError where they are not finite."""
    if not (np.isfinite(moments.squares).all() and np.isfinite(moments.products).all()):
        raise ValueError("ridge regression by centres: kernels and targets must be finite numbers")
    return CentreSums(moments, _ROUNDING)
