"""Banks seen through a factor for each kernel, or through the cosine of each kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from multikernel._linalg import inverse_root
from multikernel._typing import Array, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.banks.forms import register_form
from multikernel.banks.gram import Gram


@dataclass(frozen=True, eq=False, repr=False)
class WrapperBank(KernelBank):
    """Another bank seen in some way: on the same samples, with as many kernels.

    Parameters
    ----------
    bank : the bank inside
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
        return self if bank is self.bank or not self.square else self._of_unrounded(bank)

    def _of_unrounded(self, bank: KernelBank) -> KernelBank:
        """The same square bank around that of the kernels with no entry rounded."""
        return replace(self, bank=bank)


def asked(name: str, then: Callable[[Any, Any], Any] = lambda wrapper, answer: answer) -> Any:
    """A method that asks the bank inside the same, and makes ``then(wrapper, answer)`` of its answer."""

    def method(wrapper: Any, *args: Any, **named: Any) -> Any:
        return then(wrapper, getattr(wrapper.bank, name)(*args, **named))

    method.__name__, method.__doc__ = name, getattr(KernelBank, name).__doc__
    return method


def around(wrapper: Any, bank: KernelBank) -> Any:
    """The wrapper of the answer, which is a bank."""
    return replace(wrapper, bank=bank)


@dataclass(frozen=True, eq=False, repr=False)
class SameKernelsBank(WrapperBank):
    """A bank with the kernels of another one, which differs in how new samples are given.

    Parameters
    ----------
    bank : the kernels
    """

    @property
    def n_features(self) -> int | None:
        return self.bank.n_features

    def tiles(self, rows: Index) -> Iterator[Array]:
        return self.bank.tiles(rows)

    combine, combine_all, apply = asked("combine"), asked("combine_all"), asked("apply")
    quad, quads, inner = asked("quad"), asked("quads"), asked("inner")
    pairs, pair_forms, hadamard_apply = asked("pairs"), asked("pair_forms"), asked("hadamard_apply")
    diagonal, traces, matrix = asked("diagonal"), asked("traces"), asked("matrix")
    held_out_self_values = asked("held_out_self_values")
    rotation, rotated, about_mean = asked("rotation"), asked("rotated"), asked("about_mean")
    by_features = asked("by_features")


def _times(wrapper: ScaledBank, values: Array) -> Array:
    """s_k times what belongs to kernel k."""
    return wrapper.factors.reshape(-1, *(1,) * (values.ndim - 1)) * values


def _times_both(wrapper: ScaledBank, values: Array) -> Array:
    """s_j s_k times what belongs to the kernels j and k."""
    return wrapper.factors[:, None] * values * wrapper.factors


@dataclass(frozen=True, eq=False, repr=False)
class ScaledBank(WrapperBank):
    """s_k K_k with fixed factors.

    Parameters
    ----------
    bank : the kernels
    factors : array (m,), s
    """

    factors: Array

    @property
    def of_distances(self) -> bool:
        return self.bank.of_distances

    @property
    def n_features(self) -> int | None:
        return self.bank.n_features

    def tiles(self, rows: Index) -> Iterator[Array]:
        return (s * K for s, K in zip(self.factors.tolist(), self.bank.tiles(rows), strict=True))

    def combine(self, weights: Array) -> Gram:
        return self.bank.combine(self.factors * weights)

    def combine_all(self, W: Array) -> list[Gram]:
        return self.bank.combine_all(self.factors * W)

    def by_features(self) -> tuple[Any, Array] | None:
        inside = self.bank.by_features()
        if inside is None or (self.factors < 0).any():
            return None
        return inside[0], inside[1] * np.sqrt(np.repeat(self.factors, inside[0].sizes))

    apply, inner, hadamard_apply = asked("apply", _times), asked("inner", _times), asked("hadamard_apply", _times)
    quad, quads = asked("quad", _times), asked("quads", _times)
    pairs, pair_forms = asked("pairs", _times_both), asked("pair_forms", _times_both)
    diagonal, traces, self_values = asked("diagonal", _times), asked("traces", _times), asked("self_values", _times)
    held_out_self_values = asked("held_out_self_values", _times)
    block, cross, reference = asked("block", around), asked("cross", around), asked("reference", around)
    rotation, rotated = asked("rotation"), asked("rotated", around)
    principal = asked("principal", around)

    def select(self, index: Index) -> ScaledBank:
        return ScaledBank(self.bank.select(index), self.factors[index])

    def exact(self, index: Index = slice(None)) -> ScaledBank:
        return ScaledBank(self.bank.exact(index), self.factors[index])


@dataclass(frozen=True, eq=False, repr=False)
class SelfValuedBank(WrapperBank):
    """A form of each kernel that takes the self-values of the rows and of the columns.

    Parameters
    ----------
    bank : the kernels
    left, right : arrays (m, r) and (m, c), what the form takes of the self-values of the rows and of the columns
    """

    left: Array
    right: Array

    @staticmethod
    @abstractmethod
    def taken(values: Array) -> Array:
        """What the form takes of the self-values."""

    @classmethod
    def of(cls, bank: KernelBank) -> Self:
        """The form of a square bank."""
        values = cls.taken(bank.diagonal())
        return cls(bank, values, values)

    def block(self, rows: Index, columns: Index) -> Self:
        block = self.bank.block(rows, columns)
        if block.square:  # whose self-values are new ones where the bank is centred
            return self.of(block)
        if self.bank.square:
            left = self.taken(self.bank.held_out_self_values(rows, columns))
            return replace(self, bank=block, left=left, right=self.of(self.bank.block(columns, columns)).right)
        return replace(self, bank=block, left=self.left[:, rows], right=self.right[:, columns])

    def select(self, index: Index) -> Self:
        return replace(self, bank=self.bank.select(index), left=self.left[index], right=self.right[index])

    def exact(self, index: Index = slice(None)) -> Self:
        """The self-values are taken anew: those at hand are only as exact as the entries they were taken from."""
        bank = self.bank.exact(index)
        return (
            self.of(bank) if self.square else replace(self, bank=bank, left=self.left[index], right=self.right[index])
        )

    def _of_unrounded(self, bank: KernelBank) -> Self:
        return self.of(bank)

    def principal(self, rows: Array) -> Self:
        return self.of(self.bank.principal(rows))

    def cross(self, X: Any) -> Self:
        return replace(self, bank=self.bank.cross(X), left=self.taken(self.bank.self_values(X)))

    def reference(self, columns: Index = slice(None)) -> Self:
        return replace(self, bank=self.bank.reference(columns), left=self.left[:, :0], right=self.right[:, columns])


@dataclass(frozen=True, eq=False, repr=False)
class NormalizedBank(SelfValuedBank):
    """diag(l_k) K_k diag(r_k), l and r the inverse roots of the self-values of the rows and of the columns.

    A sample with self-value 0 has a row of zeros. Each kernel has factors of its own, so that products and forms are
    made kernel by kernel.
    """

    @staticmethod
    def taken(values: Array) -> Array:
        return inverse_root(np.asarray(values, dtype=np.float64))

    def tiles(self, rows: Index) -> Iterator[Array]:
        for left, right, K in zip(self.left[:, rows], self.right, self.bank.tiles(rows), strict=True):
            cosines = K * left[:, None]
            cosines *= right
            yield np.clip(cosines, -1.0, 1.0, out=cosines)

    def apply(self, C: Array) -> Array:
        products = [bank.apply(r[:, None] * C)[0] for bank, r in zip(self._each, self.right, strict=True)]
        return self.left[:, :, None] * np.stack(products)

    def quads(self, A: Array) -> Array:
        return np.stack([bank.quads(l[:, None] * A)[0] for bank, l in zip(self._each, self.left, strict=True)])

    @property
    def _each(self) -> Iterator[KernelBank]:
        """Banks of a single kernel."""
        return (self.bank.select(slice(k, k + 1)) for k in range(len(self)))

    def diagonal(self) -> Array:
        return (self.left > 0).astype(float)

    def self_values(self, X: Any) -> Array:
        return (self.bank.self_values(X) > 0).astype(float)


register_form("scaled", ScaledBank)
register_form("normalized", NormalizedBank.of)
