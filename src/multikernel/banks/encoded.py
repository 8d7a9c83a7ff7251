"""A bank on encoded samples: new ones are encoded by what the encodings learned from the training sample.

All kernels see one matrix, the encodings side by side; each of them is restricted to the columns of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from multikernel._typing import Array, Columns
from multikernel.banks.wrappers import SameKernelsBank, around, asked
from multikernel.kernels.encoding import Encoding, beside
from multikernel.tables.table import as_samples

Parts = tuple[tuple[Encoding, Columns | None], ...]


@dataclass(frozen=True, eq=False, repr=False)
class EncodedBank(SameKernelsBank):
    """Kernels of encoded samples.

    Parameters
    ----------
    bank : the kernels of the numbers
    parts : the encodings, which have learned, each with its columns of the samples (None: all of them)
    """

    parts: Parts

    block, select, reference = asked("block", around), asked("select", around), asked("reference", around)
    principal, exact = asked("principal", around), asked("exact", around)

    def cross(self, X: Any) -> Self:
        return replace(self, bank=self.bank.cross(encoded(self.parts, X)))

    def self_values(self, X: Any) -> Array:
        return self.bank.self_values(encoded(self.parts, X))


def encoded(parts: Parts, X: Any) -> Any:
    """Samples, in the encodings side by side: numbers in double precision, whatever that of the samples is."""
    X = as_samples(X)
    each = [encoding(X if columns is None else X[:, list(columns)]) for encoding, columns in parts]
    return beside(each).astype(np.float64, copy=False)
