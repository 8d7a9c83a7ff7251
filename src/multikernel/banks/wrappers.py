"""Base classes of banks around another bank: members that stay the same, and delegation to the inner bank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from multikernel.banks.base import KernelBank
from multikernel.banks.cost import BankCost


@dataclass(frozen=True, eq=False, repr=False)
class WrapperBank(KernelBank):
    """Another bank in a different form: on the same samples, with as many kernels.

    Parameters
    ----------
    bank : the inner bank
    """

    bank: KernelBank

    @property
    def shape(self) -> tuple[int, int]:
        return self.bank.shape

    def __len__(self) -> int:
        return len(self.bank)

    @property
    def square(self) -> bool:
        return self.bank.square

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.bank.names

    @property
    def rounding(self) -> float:
        return self.bank.rounding

    @property
    def local(self) -> bool:
        return self.bank.local

    def cost(self, memory: float = 0.0, itemsize: int = 8) -> BankCost:
        return self.bank.cost(memory, itemsize)

    def compact(self) -> Self:
        return replace(self, bank=self.bank.compact())

    def unrounded(self) -> KernelBank:
        bank = self.bank.unrounded()
        if bank is self.bank or not self.square:
            return self
        return self._of_unrounded(bank)

    def _of_unrounded(self, bank: KernelBank) -> KernelBank:
        """The same square bank around an inner bank with no entry rounded."""
        return replace(self, bank=bank)


def delegate(name: str, change: Callable[[Any, Any], Any] = lambda wrapper, answer: answer) -> Any:
    """A method that calls the method of this name of the inner bank, and returns ``change(wrapper, answer)``."""

    def method(wrapper: Any, *args: Any, **kwargs: Any) -> Any:
        return change(wrapper, getattr(wrapper.bank, name)(*args, **kwargs))

    method.__name__ = name
    method.__doc__ = getattr(KernelBank, name).__doc__
    return method


def rewrap(wrapper: Any, bank: KernelBank) -> Any:
    """The same wrapper around another bank, for ``delegate``."""
    return replace(wrapper, bank=bank)


@dataclass(frozen=True, eq=False, repr=False)
class SameKernelsBank(WrapperBank):
    """A wrapper that does not change the kernels: every pass is a pass of the inner bank.

    Parameters
    ----------
    bank : the kernels
    """

    @property
    def n_features(self) -> int | None:
        return self.bank.n_features

    @property
    def of_distances(self) -> bool:
        return self.bank.of_distances

    tiles = delegate("tiles")
    matrix = delegate("matrix")
    combine = delegate("combine")
    combine_all = delegate("combine_all")
    total = delegate("total")
    apply = delegate("apply")
    quad = delegate("quad")
    quads = delegate("quads")
    inner = delegate("inner")
    pairs = delegate("pairs")
    pair_forms = delegate("pair_forms")
    hadamard_apply = delegate("hadamard_apply")
    diagonal = delegate("diagonal")
    traces = delegate("traces")
    held_out_self_values = delegate("held_out_self_values")
    rotation = delegate("rotation")
    rotated = delegate("rotated")
    about_mean = delegate("about_mean")
    by_features = delegate("by_features")
