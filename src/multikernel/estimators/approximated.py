"""Estimators that can take kernels by few features each, where matrices of all samples would be too large.

"auto" does so where the exact way would hold more than ``_BUDGET`` bytes, or half of the memory that is available:
``_MATRICES`` n x n matrices at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from multikernel._memory import available_memory
from multikernel._parameters import COUNT
from multikernel._rules import AnyOf, Number
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.factor import FactorBank
from multikernel.banks.low_rank import Approximation, LowRankBank, approximate_bank, approximate_kernels
from multikernel.estimators.base import KernelEstimator
from multikernel.kernels import KernelFamily
from multikernel.kernels.facts import ExplicitFeatures

Rank = Annotated[float, AnyOf((COUNT, Number(above=0, below=1)))]
_LARGE = 1 << 30  # bytes of features from which on they are in single precision
_UNKNOWN = 256  # features of a kernel where an error is given
_MATRICES = 4  # of all samples in double precision that an exact fit holds at a time
_BUDGET = 4 << 30  # bytes that these may take


@dataclass(eq=False, repr=False, kw_only=True)
class ApproximateEstimator(KernelEstimator):
    """An estimator whose problem can be solved on approximate kernels; their certificate is that of this problem."""

    approximation: Literal["nystroem", "fourier", "auto"] | None = None
    rank: Rank = 256
    _shapes_bank: ClassVar[tuple[str, ...]] = ("kernels", "approximation", "rank")

    def _bank_of(self, family: KernelFamily, X: Any) -> KernelBank:
        linear = all(any(isinstance(fact, ExplicitFeatures) for fact in kernel.facts()) for kernel in family)
        asked = None if self.approximation is None else self._asked(X.shape[0], known=linear)
        if asked is None:
            return super()._bank_of(family, X)
        if self._sketches:
            return self._unmade(len(family), X.shape[0])
        return self._told(lambda: approximate_kernels(family, X, asked))

    def _given(self, X: Any) -> KernelBank:
        bank = super()._given(X)
        known = bank.n_features is not None
        asked = None if self.approximation is None else self._asked(bank.shape[0], known)
        if asked is None or isinstance(bank, LowRankBank):
            return bank
        if self._sketches:
            return self._unmade(len(bank), bank.shape[0])
        return self._told(lambda: approximate_bank(bank, asked))

    def _unmade(self, m: int, n: int) -> FactorBank:
        """A bank of as many features as m approximate kernels of n samples will have, where that is known."""
        q = m * min(n, int(self.rank) if self.rank >= 1 else _UNKNOWN)
        F = np.broadcast_to(1.0, (n, q))  # a single 1 seen as an array
        return FactorBank(F, F, np.full(m, q // m), np.arange(q))

    def _bank_cost(self, bank: KernelBank) -> BankCost:
        """The features are held, and how long it takes to make them is not known beforehand."""
        cost = super()._bank_cost(bank)
        if self.approximation is None or cost.features is None:
            return cost
        single = 8.0 * cost.n * cost.features > _LARGE
        return replace(cost, made=None, held=(4.0 if single else 8.0) * cost.n * cost.features)

    def _asked(self, n: int, known: bool) -> Approximation | None:
        """What to approximate by; None for exact kernels. ``known`` is whether these are known by features."""
        for name in {"approximation_error_"} & set(vars(self)):  # of an earlier fit
            delattr(self, name)
        method = self.approximation
        if method == "auto":
            needed, most = 8.0 * _MATRICES * n * n, min(_BUDGET, 0.5 * available_memory())
            if known or needed <= most:
                return None
            warn_user(
                f"{type(self).__name__}: exact kernels of {n} samples take {needed / 1e9:.3g} GB at a time, more than "
                f"the {most / 1e9:.3g} GB that approximation='auto' allows them: each kernel is approximated by "
                f"Nystroem's method with rank={self.rank:g}, and approximation_error_ tells how closely"
            )
        if method is None:
            return None
        seed = check_random_state(getattr(self, "random_state", None) or 0).randint(np.iinfo(np.int32).max)
        return Approximation("fourier" if method == "fourier" else "nystroem", self.rank, seed=int(seed))

    def _told(self, approximate: Callable[[], tuple[LowRankBank, Array]]) -> KernelBank:
        """The bank; its error is left for the user."""
        try:
            bank, self.approximation_error_ = approximate()
        except ValueError as error:
            raise ValueError(f"{type(self).__name__}: {error}") from None
        return bank
