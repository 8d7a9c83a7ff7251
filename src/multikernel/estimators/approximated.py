"""Kernels by few features each, where matrices of all samples would be too large.

An estimator with the parameters ``approximation`` and ``rank`` can be solved on approximate kernels; its certificate is
then that of the approximate problem. "auto" approximates where the forecast of an exact fit (``needed_memory.py``) is
larger than ``_SHARE`` of the memory that is available: forecasts are about as large as peaks that were measured, or
larger (``tests/estimators/test_forecast_memory.py``), and the rest is left to what other programs take meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Annotated, Any, Literal

import numpy as np

from multikernel._memory import available_memory
from multikernel._parameters import COUNT
from multikernel._rules import AnyOf, Number
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel.banks import KernelBank
from multikernel.banks.bind import sketched
from multikernel.banks.factor import FactorBank
from multikernel.banks.low_rank import Approximation, LowRankBank, approximate_bank, approximate_kernels
from multikernel.estimators.needed_memory import bank_cost, bytes_of_fit
from multikernel.estimators.parameters import seed_of
from multikernel.estimators.protocol import Model, Task
from multikernel.kernels import Kernel, KernelFamily
from multikernel.kernels.facts import ExplicitFeatures

ApproximationName = Literal["nystroem", "fourier", "auto"] | None
Rank = Annotated[float, AnyOf((COUNT, Number(above=0, below=1)))]


_SHARE = 0.8  # of the available memory


def bank_of_family(model: Model, family: KernelFamily, X: Any, binder: Callable[..., KernelBank]) -> KernelBank:
    """The bank of a resolved family that has learned, on checked samples; approximate where the model asks for it."""
    n = X.shape[0]
    asked = _asked(model, n, lambda: sketched(family, X), all(map(_has_features, family)))
    if asked is None:
        return binder(family, X, dtype=model._method.binding.precision(model, len(family), n))
    if binder is sketched:
        return _unmade(model, len(family), n)
    return _approximated(model, lambda: approximate_kernels(family, X, asked))


def approximate_given(model: Model, bank: KernelBank, binder: Callable[..., KernelBank]) -> KernelBank:
    """A bank in place of samples; approximate where the model asks for it, and the bank is not yet."""
    asked = _asked(model, bank.shape[0], lambda: bank, bank.n_features is not None)
    if asked is None or isinstance(bank, LowRankBank):
        return bank
    if binder is sketched:
        return _unmade(model, len(bank), bank.shape[0])
    return _approximated(model, lambda: approximate_bank(bank, asked))


def _has_features(kernel: Kernel) -> bool:
    return any(isinstance(fact, ExplicitFeatures) for fact in kernel.facts())


def _asked(model: Model, n: int, exact: Callable[[], KernelBank], known: bool) -> Approximation | None:
    """What to approximate by; None for exact kernels.

    Parameters
    ----------
    model : the estimator
    n : int, samples
    exact : makes a sketch of the bank of exact kernels
    known : bool, whether these are known by features
    """
    method = getattr(model, "approximation", None)
    vars(model).pop("approximation_error_", None)  # of an earlier fit
    if method is None:
        return None
    if method == "auto":
        if known:
            return None
        needed, most = _needed(model, exact()), _SHARE * available_memory()
        if needed <= most:
            return None
        warn_user(
            f"{type(model).__name__}: a fit of exact kernels to {n} samples takes up to {needed / 1e9:.3g} GB, more "
            f"than the {most / 1e9:.3g} GB that approximation='auto' allows it: each kernel is approximated by "
            f"Nystroem's method with rank={model.rank:g}, and approximation_error_ says how closely"
        )
    return Approximation("fourier" if method == "fourier" else "nystroem", model.rank, seed=seed_of(model))


def _needed(model: Model, bank: KernelBank) -> float:
    """The bytes of a fit of exact kernels, of as many problems of all samples as are solved at a time."""
    exact = copy(model)
    exact.approximation = None
    n = bank.shape[0]
    task = Task(np.arange(n), np.ones(n))
    return bytes_of_fit(exact, bank_cost(exact, bank), [task] * max(1, getattr(model, "n_jobs", None) or 1))


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
