"""Which rows train and which test. Every way to split says whether it is stratified, and has a seed."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from multikernel.typing import Array

Split = tuple[Array, Array]


def share(y: Array, part: float, seed: int, *, stratified: bool) -> Split:
    """A random part of the rows for training, the others for testing."""
    rows = np.arange(len(y))
    train, test = train_test_split(rows, train_size=part, random_state=seed, stratify=y if stratified else None)
    return train, test


def folds(y: Array, count: int, seed: int, *, stratified: bool, rows: Array | None = None) -> list[Split]:
    """Shuffled folds of these rows, in the numbering of all."""
    rows = np.arange(len(y)) if rows is None else rows
    kind = StratifiedKFold if stratified else KFold
    splitter = kind(count, shuffle=True, random_state=seed)
    return [(rows[train], rows[test]) for train, test in splitter.split(rows, y[rows])]
