"""Kernels by few features each, where matrices of all samples would be too large.

An estimator with the parameters ``approximation`` and ``rank`` can be solved on approximate kernels; its certificate is
then that of the approximate problem. "auto" approximates where the forecast of an exact fit (``needed_memory.py``) is
larger than ``_SHARE`` of the memory that is available: forecasts are at least about as large as measured peaks
(``tests/estimators/test_forecast_memory.py``), and the remaining memory is reserved for other programs.
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
    """The bank of a resolved family on checked samples; its kernels are approximated where the model asks for it.

    The kernels of the family have learned what they take from the samples (``KernelFamily.learned``).
    """
    n = X.shape[0]
    approximation = _approximation_for(model, n, lambda: sketched(family, X), all(map(_has_features, family)))
    if approximation is None:
        return binder(family, X, dtype=model._method.binding.precision(model, len(family), n))
    if binder is sketched:
        return _sketch_of_approximation(model, len(family), n)
    return _approximated(model, lambda: approximate_kernels(family, X, approximation))


def approximate_given(model: Model, bank: KernelBank, binder: Callable[..., KernelBank]) -> KernelBank:
    """The bank that was passed in place of samples; its kernels are approximated where the model asks for it."""
    approximation = _approximation_for(model, bank.shape[0], lambda: bank, bank.n_features is not None)
    if approximation is None or isinstance(bank, LowRankBank):
        return bank
    if binder is sketched:
        return _sketch_of_approximation(model, len(bank), bank.shape[0])
    return _approximated(model, lambda: approximate_bank(bank, approximation))


def _has_features(kernel: Kernel) -> bool:
    return any(isinstance(fact, ExplicitFeatures) for fact in kernel.facts())


def _approximation_for(
    model: Model, n: int, exact: Callable[[], KernelBank], has_features: bool
) -> Approximation | None:
    """The approximation of the kernels; None for exact kernels.

    Parameters
    ----------
    model : the estimator
    n : int, samples
    exact : makes a sketch of the bank of exact kernels
    has_features : bool, whether the exact kernels are computed from explicit features
    """
    method = getattr(model, "approximation", None)
    vars(model).pop("approximation_error_", None)  # of an earlier fit
    if method is None:
        return None
    if method == "auto":
        if has_features:
            return None
        needed, limit = _needed(model, exact()), _SHARE * available_memory()
        if needed <= limit:
            return None
        warn_user(
            f"{type(model).__name__}: a fit of exact kernels to {n} samples takes up to {needed / 1e9:.3g} GB, more "
            f"than the {limit / 1e9:.3g} GB that approximation='auto' allows it: each kernel is approximated by "
            f"Nystroem's method with rank={model.rank:g}, and approximation_error_ says how closely"
        )
    return Approximation("fourier" if method == "fourier" else "nystroem", model.rank, seed=seed_of(model))


def _needed(model: Model, bank: KernelBank) -> float:
    """The bytes of a fit of exact kernels, with as many problems of all samples as are solved at the same time."""
    exact = copy(model)
    exact.approximation = None
    n = bank.shape[0]
    task = Task(np.arange(n), np.ones(n))
    return bytes_of_fit(exact, bank_cost(exact, bank), [task] * max(1, getattr(model, "n_jobs", None) or 1))


def _sketch_of_approximation(model: Model, m: int, n: int) -> FactorBank:
    """A bank for forecasts, with as many features as m approximate kernels of n samples will have.

    Where ``rank`` is an accuracy, the number of features is not known beforehand: 256 for each kernel are assumed.
    """
    q = m * min(n, int(model.rank) if model.rank >= 1 else 256)
    F = np.broadcast_to(1.0, (n, q))  # a single 1 seen as an array
    return FactorBank(F, F, np.full(m, q // m), np.arange(q))


def _approximated(model: Model, approximate: Callable[[], tuple[LowRankBank, Array]]) -> KernelBank:
    """The approximate bank; sets ``approximation_error_`` of the model."""
    try:
        bank, model.approximation_error_ = approximate()
    except ValueError as error:
        raise ValueError(f"{type(model).__name__}: {error}") from None
    return bank
