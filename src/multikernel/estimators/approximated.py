"""Kernels by few features each, where matrices of all samples would be too large.

An estimator with the parameters ``approximation`` and ``rank`` can be solved on approximate kernels; its certificate is
then that of the approximate problem. "auto" approximates where the exact way would hold more than ``_BUDGET`` bytes, or
half of the memory that is available: ``_MATRICES`` n x n matrices at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from multikernel._memory import available_memory
from multikernel._parameters import COUNT
from multikernel._rules import AnyOf, Number
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.banks import KernelBank
from multikernel.banks.base import MEMORY
from multikernel.banks.bind import sketched
from multikernel.banks.cost import BankCost
from multikernel.banks.factor import FactorBank
from multikernel.banks.low_rank import Approximation, LowRankBank, approximate_bank, approximate_kernels
from multikernel.estimators.protocol import Model
from multikernel.kernels import Kernel, KernelFamily
from multikernel.kernels.facts import ExplicitFeatures

ApproximationName = Literal["nystroem", "fourier", "auto"] | None
Rank = Annotated[float, AnyOf((COUNT, Number(above=0, below=1)))]


_MATRICES = 4  # of all samples in double precision that an exact fit holds at a time
_BUDGET = 4 << 30  # bytes that these may take


def bank_of_family(model: Model, family: KernelFamily, X: Any, binder: Callable[..., KernelBank]) -> KernelBank:
    """The bank of a resolved family that has learned, on checked samples; approximate where the model asks for it."""
    n = X.shape[0]
    asked = _asked(model, n, lambda: all(map(_has_features, family)))
    if asked is None:
        return binder(family, X, dtype=model._method.binding.precision(model, len(family), n))
    if binder is sketched:
        return _unmade(model, len(family), n)
    return _approximated(model, lambda: approximate_kernels(family, X, asked))


def approximate_given(model: Model, bank: KernelBank, binder: Callable[..., KernelBank]) -> KernelBank:
    """A bank in place of samples; approximate where the model asks for it, and the bank is not yet."""
    asked = _asked(model, bank.shape[0], lambda: bank.n_features is not None)
    if asked is None or isinstance(bank, LowRankBank):
        return bank
    if binder is sketched:
        return _unmade(model, len(bank), bank.shape[0])
    return _approximated(model, lambda: approximate_bank(bank, asked))


def bank_cost(model: Model, bank: KernelBank) -> BankCost:
    """What a bank takes; where it is a sketch, once it is made.

    Of an approximate bank the features are held, and how long it takes to make them is not known beforehand.
    """
    m, n = len(bank), bank.shape[0]
    cost = bank.cost(MEMORY, np.dtype(model._method.binding.precision(model, m, n) or float).itemsize)
    if getattr(model, "approximation", None) is None or cost.features is None:
        return cost
    single = 8.0 * cost.n * cost.features > 1 << 30  # bytes
    return replace(cost, made=None, held=(4.0 if single else 8.0) * cost.n * cost.features)


def _has_features(kernel: Kernel) -> bool:
    return any(isinstance(fact, ExplicitFeatures) for fact in kernel.facts())


def _asked(model: Model, n: int, known: Callable[[], bool]) -> Approximation | None:
    """What to approximate by; None for exact kernels. ``known`` says whether these are known by features."""
    method = getattr(model, "approximation", None)
    vars(model).pop("approximation_error_", None)  # of an earlier fit
    if method is None:
        return None
    if method == "auto":
        needed, most = 8.0 * _MATRICES * n * n, min(_BUDGET, 0.5 * available_memory())
        if needed <= most or known():
            return None
        warn_user(
            f"{type(model).__name__}: exact kernels of {n} samples take {needed / 1e9:.3g} GB at a time, more than "
            f"the {most / 1e9:.3g} GB that approximation='auto' allows them: each kernel is approximated by "
            f"Nystroem's method with rank={model.rank:g}, and approximation_error_ says how closely"
        )
    seed = check_random_state(getattr(model, "random_state", None) or 0).randint(np.iinfo(np.int32).max)
    return Approximation("fourier" if method == "fourier" else "nystroem", model.rank, seed=int(seed))


def _unmade(model: Model, m: int, n: int) -> FactorBank:
    """A bank of as many features as m approximate kernels of n samples will have: 256 each for a given accuracy."""
    q = m * min(n, int(model.rank) if model.rank >= 1 else 256)
    F = np.broadcast_to(1.0, (n, q))  # a single 1 seen as an array
    return FactorBank(F, F, np.full(m, q // m), np.arange(q))


def _approximated(model: Model, approximate: Callable[[], tuple[LowRankBank, Array]]) -> KernelBank:
    """The bank; its error is left on the model."""
    try:
        bank, model.approximation_error_ = approximate()
    except ValueError as error:
        raise ValueError(f"{type(model).__name__}: {error}") from None
    return bank
