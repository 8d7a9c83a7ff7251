"""Targets that are read some columns at a time: from a file, or from an array in single precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._arrays import foreign, is_sparse
from multikernel._typing import Array
from multikernel.banks.threads import slices
from multikernel.tuning import BUFFER_VALUES


@dataclass(frozen=True, eq=False)
class TargetColumns:
    """Several targets, shape (n, t), whose columns are checked when they are read.

    Parameters
    ----------
    source : an object that returns columns as ``source[:, a:b]``
    name : their name in messages
    """

    source: Any
    name: str = "y"

    @classmethod
    def of(cls, y: Any, name: str = "y") -> TargetColumns | None:
        """The columns of a memory map, of a data set of HDF5 or zarr, or of an array in single precision; else None."""
        shape = getattr(y, "shape", None)
        kind = getattr(getattr(y, "dtype", None), "kind", "")
        if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] < 2 or kind not in tuple("fiub"):
            return None
        if isinstance(y, np.ma.MaskedArray) or is_sparse(y) or hasattr(y, "iloc") or foreign(y):
            return None
        if type(y) is np.ndarray and y.dtype != np.float32:
            return None
        return cls(y, name)

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and targets."""
        return (int(self.source.shape[0]), int(self.source.shape[1]))

    @property
    def ndim(self) -> int:
        """Two axes."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision in which coefficients of these targets are kept."""
        return np.dtype(np.float32 if self.source.dtype == np.float32 else np.float64)

    def in_memory(self) -> Array | TargetColumns:
        """The array whose columns these are, after a check for NaN and infinity; this object itself for a file."""
        if type(self.source) is not np.ndarray:
            return self
        for columns in slices(self.shape[1], max(1, BUFFER_VALUES // len(self))):
            self[:, columns]
        return self.source

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """All columns as one array."""
        return np.asarray(self[:, :], dtype=dtype)

    def __getitem__(self, index: Any) -> Array:
        """Some columns, ``[:, a:b]``, or some samples, in double precision; ValueError for a NaN or an infinity."""
        if not isinstance(index, tuple):
            array = np.asarray(self[:, :])
            return array[index]
        rows, columns = index
        values = np.asarray(self.source[rows, columns], dtype=np.float64)
        finite = np.isfinite(values)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise ValueError(
                f"{self.name} has a NaN or infinity at row {row}, column {column + (columns.start or 0)}: give a value "
                "there, or leave the sample or the target out"
            )
        return values
