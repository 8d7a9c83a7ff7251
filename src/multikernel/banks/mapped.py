"""A bank whose new samples are converted before its kernels take them.

The kernels are those of an inner bank. A ``SampleMap`` converts new samples to samples of that bank (encodes them with
what was learned in training, or takes one of several views), and may hold further data of the samples, such as features
beside the kernels. A block of the bank, or a selection of its kernels, has the corresponding part of the map.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from multikernel._floats import ROUNDING
from multikernel._typing import Array, Columns, Index
from multikernel.banks.base import KernelBank
from multikernel.banks.wrappers import SameKernelsBank
from multikernel.kernels.encoding import Encoding, beside
from multikernel.kernels.samples import dense
from multikernel.tables.cells import check_same_columns, is_frame
from multikernel.tables.table import as_samples


class SampleMap(ABC):
    """Converts new samples for a bank, and may hold data of its samples beside their kernels."""

    @abstractmethod
    def cross(self, bank: KernelBank, X: Any) -> KernelBank:
        """The bank of new samples, as a user gives them, against the columns of ``bank``."""

    @abstractmethod
    def self_values(self, bank: KernelBank, X: Any) -> Array:
        """k_k(x, x) of new samples: shape (m, len(X))."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the kernels where the map has them; else None."""
        return None

    def block(self, rows: Index, columns: Index) -> Self:
        """The map of a bank of some of the rows and columns."""
        return self

    def select(self, index: Index) -> Self:
        """The map of a bank of some of the kernels."""
        return self


@dataclass(frozen=True, eq=False, repr=False)
class MappedBank(SameKernelsBank):
    """The kernels of another bank, whose new samples go through a map.

    Parameters
    ----------
    bank : the kernels
    samples : the map of its new samples
    """

    samples: SampleMap

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.samples.names or self.bank.names

    def block(self, rows: Index, columns: Index) -> MappedBank:
        return MappedBank(self.bank.block(rows, columns), self.samples.block(rows, columns))

    def principal(self, rows: Array) -> MappedBank:
        return MappedBank(self.bank.principal(rows), self.samples.block(rows, rows))

    def reference(self, columns: Index = slice(None)) -> MappedBank:
        return MappedBank(self.bank.reference(columns), self.samples.block(slice(0), columns))

    def select(self, index: Index) -> MappedBank:
        return MappedBank(self.bank.select(index), self.samples.select(index))

    def exact(self, index: Index = slice(None)) -> MappedBank:
        return MappedBank(self.bank.exact(index), self.samples.select(index))

    def cross(self, X: Any) -> KernelBank:
        return self.samples.cross(self.bank, X)

    def self_values(self, X: Any) -> Array:
        return self.samples.self_values(self.bank, X)


Parts = tuple[tuple[Encoding, Columns | None], ...]


@dataclass(frozen=True, eq=False)
class EncodedSamples(SampleMap):
    """Encodes new samples: all kernels take one matrix with several encodings side by side.

    Parameters
    ----------
    parts : pairs of an encoding that has learned and the columns of samples that it takes (None: all of them)
    """

    parts: Parts

    def cross(self, bank: KernelBank, X: Any) -> MappedBank:
        return MappedBank(bank.cross(encoded(self.parts, X)), self)

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        return bank.self_values(encoded(self.parts, X))


def encoded(parts: Parts, X: Any) -> Any:
    """Samples in all encodings side by side, in double precision."""
    X = as_samples(X)
    blocks = [encoding(X if columns is None else X[:, list(columns)]) for encoding, columns in parts]
    return beside(blocks).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class NamedColumns(SampleMap):
    """Takes data frames only with the columns of the training frame, and other samples as they are.

    Parameters
    ----------
    columns : tuple of str, the names of the columns in training
    """

    columns: tuple[str, ...]

    def cross(self, bank: KernelBank, X: Any) -> MappedBank:
        return MappedBank(bank.cross(self._samples(X)), self)

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        return bank.self_values(self._samples(X))

    def _samples(self, X: Any) -> Any:
        check_same_columns(X, self.columns)
        return as_samples(X) if is_frame(X) else X


@dataclass(frozen=True, eq=False)
class FeaturedSamples(SampleMap):
    """Samples that have standardised features beside their kernels.

    Parameters
    ----------
    rows, columns : arrays (r, p) and (c, p), the features minus the center, divided by the scale
    center, scale : arrays (p,)
    """

    rows: Array
    columns: Array
    center: Array
    scale: Array

    @classmethod
    def of(cls, X: Array) -> FeaturedSamples:
        """The map for the samples of a square bank, from their features."""
        center = X.mean(axis=0)
        scale = X.std(axis=0)
        scale = np.where(scale > ROUNDING * np.abs(X).max(axis=0, initial=0.0), scale, 1.0)
        features = (X - center) / scale
        return cls(features, features, center, scale)

    def features(self, X: Any) -> Array:
        """The features of new samples."""
        return (np.asarray(dense(X), dtype=float) - self.center) / self.scale

    def block(self, rows: Index, columns: Index) -> FeaturedSamples:
        return replace(self, rows=self.rows[rows], columns=self.columns[columns])

    def cross(self, bank: KernelBank, X: Any) -> MappedBank:
        return MappedBank(bank.cross(X), replace(self, rows=self.features(X)))

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        return bank.self_values(X)
