"""The data of the experiments: each set is read once in a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from multikernel import datasets
from multikernel.datasets import Dataset, Entry
from multikernel.typing import Array


@dataclass(frozen=True)
class Source:
    """Where data sets are found.

    Parameters
    ----------
    directory : Path or None, as in ``datasets.load``
    """

    directory: Path | None = None

    def load(self, name: str) -> Dataset:
        return _loaded(name, self.directory)

    def signs(self, name: str) -> tuple[Array, Array]:
        """The features, and labels -1 and +1; +1 is the last of two classes."""
        data = self.load(name)
        return np.asarray(data.X, dtype=float), np.where(data.y == np.unique(data.y)[-1], 1.0, -1.0)

    def has(self, name: str) -> bool:
        """Whether a data set is there; "" stands for made-up samples."""
        return name == "" or name in _available(self.directory)

    def entry(self, name: str) -> Entry:
        """The data set as a line of the catalogue."""
        return _available(self.directory)[name]


@lru_cache(maxsize=4)
def _loaded(name: str, directory: Path | None) -> Dataset:
    return datasets.load(name, directory)


@lru_cache(maxsize=1)
def _available(directory: Path | None) -> dict[str, Entry]:
    return {entry.name: entry for entry in datasets.available(directory)}
