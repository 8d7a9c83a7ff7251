"""The working set: the kernels that currently take part in the interior point method.

Where the domain lets weights be exactly zero (sums, not other norms) most weights are zero at the optimum. The score
b'K_k b of such a kernel is less than the score at which it would get a weight, and half the difference is its reduced
cost. Kernels of a large reduced cost are left out of the steps, but before anything is certified the scores of all
kernels are computed again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.domains import Separable
from multikernel.numerics.interior_point import BarrierPoint
from multikernel.procedures.interior.newton import Products
from multikernel.tuning import WORKING_ALL, WORKING_FIRST

_ENTERING_SCORE = 0.01  # a kernel enters if its score is more than 1 minus this, relative to the largest allowed score


@dataclass(frozen=True, eq=False)
class WorkingSet:
    """Some kernels of a bank.

    Parameters
    ----------
    bank : KernelBank of all kernels
    index : int array, the positions of the kernels in the set
    kernels : KernelBank of the kernels in the set
    sparse : bool, whether the domain lets weights be exactly zero; otherwise no kernel leaves
    left : bool array (m,), the kernels that have left the set before; those that came back stay, so that no set can
        come again and again
    """

    bank: KernelBank
    index: Array
    kernels: KernelBank
    sparse: bool
    left: Array

    @classmethod
    def of(cls, bank: KernelBank, index: Array, sparse: bool) -> WorkingSet:
        """The kernels at these positions, none of which has left before."""
        return cls(bank, index, _stored(bank, index), sparse, np.zeros(len(bank), dtype=bool))

    @classmethod
    def first(cls, bank: KernelBank, domain: Separable, b: Array, start: Array | None) -> WorkingSet:
        """All kernels of a small bank; else those with positive weight in ``start``, or those of the largest scores."""
        m = len(bank)
        sparse = domain.lets_vanish(m)
        if sparse and start is not None and 0 < np.count_nonzero(start) < m:
            return cls.of(bank, np.flatnonzero(start), sparse)
        if not sparse or m <= WORKING_ALL:
            return cls.of(bank, np.arange(m), sparse)
        return cls.of(bank, np.sort(np.argsort(-bank.quad(b), kind="stable")[:WORKING_FIRST]), sparse)

    def products(self, weights: Array, b: Array) -> Products:
        """One pass: the combined matrix, and every K_k b."""
        K = self.kernels.combine(weights)
        Z = self.kernels.apply(b[:, None])[:, :, 0].astype(np.float64, copy=False)
        return Products(K, Z, Z @ b, weights @ Z)

    @property
    def complete(self) -> bool:
        """Whether every kernel takes part."""
        return len(self.index) == len(self.bank)

    def spread(self, values: Array) -> Array:
        """Values of the kernels in the set as an array over all kernels, 0 for those outside."""
        values_of_all = np.zeros(len(self.bank))
        values_of_all[self.index] = values
        return values_of_all

    def scores(self, b: Array, set_scores: Array) -> Array:
        """b'K_k b for every kernel, with ``set_scores`` for those in the set."""
        if self.complete:
            return set_scores
        scores: Array = self.bank.quad(b)
        scores[self.index] = set_scores
        return scores

    def revised(
        self, point: BarrierPoint, scores: Array, largest: float, keep: bool = False
    ) -> tuple[WorkingSet, BarrierPoint]:
        """The set without kernels of a large reduced cost and with those of a large score; and the point on that set.

        Parameters
        ----------
        point : BarrierPoint over the present set
        scores : array, over all kernels
        largest : float, the score that no kernel of weight zero exceeds at the optimum
        keep : bool, whether no kernel leaves
        """
        if not self.sparse:
            return self, point
        cost = np.minimum(2.0 * point.reduced_cost, largest - scores[self.index])  # the two agree as the steps go on
        # A kernel leaves if its reduced cost is more than a tenth of that for a score of zero, and its weight is below
        # 1/1000 of the largest one.
        matters = keep | (cost < 0.1 * largest) | (point.delta > 1e-3 * point.delta.max()) | self.left[self.index]
        excess = scores - (1.0 - _ENTERING_SCORE) * largest
        excess[self.index] = -np.inf
        limit = max(WORKING_FIRST // 2, len(self.index) // 2)
        entering = np.argsort(-excess, kind="stable")[:limit]
        entering = entering[excess[entering] > 0]
        if matters.all() and not len(entering):
            return self, point
        index = np.concatenate([self.index[matters], entering])
        left = self.left.copy()
        left[self.index[~matters]] = True
        cost = 0.5 * np.maximum(largest - scores[entering], _ENTERING_SCORE * largest)
        mu = point.mu
        point = point.on(matters).joined_by(mu / cost, cost)
        if not (len(entering) or self.complete):  # the kernels that stay are in the bank of the set
            return replace(self, index=index, kernels=self.kernels.select(np.flatnonzero(matters)), left=left), point
        order = np.argsort(index)
        index = index[order]
        return replace(self, index=index, kernels=_stored(self.bank, index), left=left), point.on(order)


def _stored(bank: KernelBank, index: Array) -> KernelBank:
    """The kernels at these positions, in the precision of the bank and stored if that fits."""
    if len(index) == len(bank):
        return bank
    return bank.exact(index) if bank.rounding <= 2.0**-53 else bank.select(index)
