"""The kernels that take part in the interior point method for the time being.

Where the domain lets weights be exactly zero (sums, not other norms) most kernels end there, and a kernel whose form
v_k = b'K_k b stays below the level cannot come back. Such kernels are left out of the steps; they are not forgotten:
their forms are looked at again before anything is certified.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.domains import Separable
from multikernel.procedures.interior.newton import Products
from multikernel.procedures.interior.point import Point

_ALL = 1000  # kernels that take part together from the beginning
_FIRST = 200  # of more kernels, how many take part first
_FAR = 0.1  # of the limit: a kernel whose slack is larger is left out
_SMALL = 1e-3  # of the largest weight: unless its weight is
_NEAR = 0.01  # of the limit: a kernel this near to it enters
_DIAGONAL = 1 << 24  # diagonal entries looked at together: 128 MB


@dataclass(frozen=True, eq=False)
class WorkingSet:
    """Some kernels of a bank.

    Parameters
    ----------
    bank : all kernels
    index : int array, which of them take part
    work : the bank of these
    sparse : whether the domain lets weights be exactly zero
    """

    bank: KernelBank
    index: Array
    work: KernelBank
    sparse: bool

    @classmethod
    def of(cls, bank: KernelBank, index: Array, sparse: bool) -> WorkingSet:
        """These kernels in double precision; all kernels as the bank holds them."""
        return cls(bank, index, bank if len(index) == len(bank) else bank.exact(index), sparse)

    @classmethod
    def first(cls, bank: KernelBank, domain: Separable, b: Array, start: Array | None) -> WorkingSet:
        """All kernels of a small bank; else those that matter at a neighbour's weights ``start``, or by their forms."""
        m = len(bank)
        sparse = domain.lets_vanish(m)
        if sparse and start is not None and 0 < np.count_nonzero(start) < m:
            return cls.of(bank, np.flatnonzero(start), sparse)
        if not sparse or m <= _ALL:
            return cls.of(bank, np.arange(m), sparse)
        return cls.of(bank, np.sort(np.argsort(-bank.quad(b), kind="stable")[:_FIRST]), sparse)

    def products(self, weights: Array, b: Array) -> Products:
        """One pass: the combined matrix, and every K_k b."""
        K = self.work.combine(weights).dense()
        Z = self.work.apply(b[:, None])[:, :, 0].astype(np.float64, copy=False)
        return Products(K, Z, Z @ b, weights @ Z)

    @property
    def complete(self) -> bool:
        """Whether every kernel takes part."""
        return len(self.index) == len(self.bank)

    def spread(self, values: Array) -> Array:
        """Values of the kernels taking part, over all kernels; the others get 0."""
        whole = np.zeros(len(self.bank))
        whole[self.index] = values
        return whole

    def forms(self, b: Array, v: Array) -> Array:
        """At least b'K_k b for every kernel: v in the working set, elsewhere with what rounding may hide."""
        if self.complete:
            return v
        forms: Array = self.bank.quad(b)
        if self.bank.rounding > 1e-15:
            forms = forms + 2.0 * self.bank.rounding * self._sizes(b)
        forms[self.index] = v
        return forms

    def revised(
        self, point: Point, forms: Array, limit: float, mu: float, keep: bool = False
    ) -> tuple[WorkingSet, Point]:
        """Without the kernels that stay far below the limit of v / 2, with those above it; and the point on these.

        Parameters
        ----------
        point : over the present set
        forms : array, over all kernels
        limit : what v / 2 may not exceed where a weight is zero
        mu : the complementarity of the point
        keep : whether all kernels of this set stay
        """
        if not self.sparse:
            return self, point
        slack = np.minimum(point.slack, limit - 0.5 * forms[self.index])  # the two agree as the steps go on
        matters = keep | (slack < _FAR * limit) | (point.delta > _SMALL * point.delta.max())
        excess = 0.5 * forms - (1.0 - _NEAR) * limit
        excess[self.index] = -np.inf
        most = max(_FIRST // 2, len(self.index) // 2)
        entering = np.argsort(-excess, kind="stable")[:most]
        entering = entering[excess[entering] > 0]
        if matters.all() and not len(entering):
            return self, point
        index = np.concatenate([self.index[matters], entering])
        slack = np.maximum(limit - 0.5 * forms[entering], _NEAR * limit)
        point = point.on(matters).with_kernels(mu / slack, slack)
        if not (len(entering) or self.complete):  # which are stored already
            return replace(self, index=index, work=self.work.select(np.flatnonzero(matters))), point
        order = np.argsort(index)
        return WorkingSet.of(self.bank, index[order], True), point.on(order)

    def _sizes(self, b: Array) -> Array:
        """(sum_i |b_i| sqrt(k(x_i, x_i)))^2 for every kernel, which no quadratic form of |b| exceeds."""
        chunk = max(1, _DIAGONAL // self.bank.shape[0])
        sizes = np.empty(len(self.bank))
        for first in range(0, len(self.bank), chunk):
            part = np.arange(first, min(first + chunk, len(self.bank)))
            diagonal = (self.bank if len(part) == len(self.bank) else self.bank.select(part)).diagonal()
            sizes[part] = (np.sqrt(np.maximum(diagonal, 0.0)) @ np.abs(b)) ** 2
        return sizes
