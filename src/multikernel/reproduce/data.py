"""The data of the experiments: read once in a process, then scaled and centred, and split into training and test rows.

    interval    each feature to [0, 1]              signed    each feature to [-1, 1]
    standard    mean 0, standard deviation 1        raw       as in the file

A feature that is constant on the rows by which features are scaled is left out. Each function that splits rows has a
seed, and an argument that says whether the split is stratified.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from multikernel import datasets
from multikernel.datasets import Dataset, Entry
from multikernel.typing import Array


@dataclass(frozen=True)
class DataSource:
    """Where data sets are found.

    Parameters
    ----------
    directory : Path or None, as in ``datasets.load``
    """

    directory: Path | None = None

    def load(self, name: str) -> Dataset:
        return _load(name, self.directory)

    def signs(self, name: str) -> tuple[Array, Array]:
        """The features, and labels -1 and +1; +1 is the last of two classes."""
        return np.asarray(self.load(name).X, dtype=float), self.labels(name)

    def labels(self, name: str) -> Array:
        """The labels -1 and +1 without the features, which may be texts."""
        y = self.load(name).y
        return np.where(y == np.unique(y)[-1], 1.0, -1.0)

    def has(self, name: str) -> bool:
        """Whether a data set can be loaded; "" is the name of synthetic samples."""
        return name == "" or name in _available(self.directory)

    def entry(self, name: str) -> Entry:
        """The data set as a line of the catalogue."""
        return _available(self.directory)[name]


@lru_cache(maxsize=4)
def _load(name: str, directory: Path | None) -> Dataset:
    return datasets.load(name, directory)


@lru_cache(maxsize=1)
def _available(directory: Path | None) -> dict[str, Entry]:
    return {entry.name: entry for entry in datasets.available(directory)}


@dataclass(frozen=True)
class FeatureScaling:
    """Scaling and centring.

    Parameters
    ----------
    scaling : "interval", "signed", "standard" or "raw"
    centring : "features", each less its mean; "examples", each row less the mean of its features; or "none"
    rows : "training" or "all", the rows by which features are scaled and centred
    constant : bool, whether a feature that is 1 everywhere is added after scaling
    """

    scaling: Literal["interval", "signed", "standard", "raw"] = "interval"
    centring: Literal["features", "examples", "none"] = "none"
    rows: Literal["training", "all"] = "training"
    constant: bool = False

    def __call__(self, X: Array, train: Array | slice = slice(None)) -> Array:
        """All rows, scaled and centred by the training rows or by all rows."""
        fitting_rows = X if self.rows == "all" else X[train]
        varying = np.ptp(fitting_rows, axis=0) > 0
        X = X[:, varying]
        fitting_rows = fitting_rows[:, varying]
        shift, spread = self._scales(fitting_rows)
        Z = (X - shift) / spread
        if self.centring == "features":
            Z = Z - ((fitting_rows - shift) / spread).mean(axis=0)
        if self.centring == "examples":
            Z = Z - Z.mean(axis=1, keepdims=True)
        if self.constant:
            return np.column_stack([Z, np.ones(len(Z))])
        return Z

    def _scales(self, fitting_rows: Array) -> tuple[Array, Array]:
        low = fitting_rows.min(axis=0)
        width = np.ptp(fitting_rows, axis=0)
        if self.scaling == "raw":
            return np.zeros_like(low), np.ones_like(low)
        if self.scaling == "standard":
            return fitting_rows.mean(axis=0), fitting_rows.std(axis=0)
        if self.scaling == "interval":
            return (low, width)
        return (low + 0.5 * width, 0.5 * width)


Split = tuple[Array, Array]


def random_split(y: Array, fraction: float, seed: int, *, stratified: bool) -> Split:
    """A random part of the rows for training, the others for testing."""
    rows = np.arange(len(y))
    train, test = train_test_split(rows, train_size=fraction, random_state=seed, stratify=y if stratified else None)
    return train, test


def folds(y: Array, count: int, seed: int, *, stratified: bool, rows: Array | None = None) -> list[Split]:
    """Shuffled folds of ``rows``, as indices of all rows."""
    if rows is None:
        rows = np.arange(len(y))
    kind = StratifiedKFold if stratified else KFold
    splitter = kind(count, shuffle=True, random_state=seed)
    return [(rows[train], rows[test]) for train, test in splitter.split(rows, y[rows])]
