"""Samples that a user adds or takes off, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._arrays import host
from multikernel._row_labels import check_rows
from multikernel.statistics import Moments
from multikernel.streams import Chunk
from multikernel.streams.survey import taken

_ROUNDING = 1e-9  # of sums: less below zero is rounding


def given(X: Any, y: Any, sample_weight: Any) -> Chunk:
    """Samples that a user gives, as rows."""
    check_rows(("X", X), ("y", y), ("sample_weight", sample_weight))
    X = X if hasattr(X, "shape") else np.asarray(X)
    X = X.reshape(-1, 1) if getattr(X, "ndim", 2) == 1 else X
    n = int(X.shape[0])
    if y is None:
        raise ValueError("partial_fit and forget take a target y for every sample, got None")
    y = np.asarray(host(y))
    if len(y) != n:
        raise ValueError(f"partial_fit: {n} samples and {len(y)} targets")
    weight = None if sample_weight is None else np.asarray(host(sample_weight), dtype=float)
    if weight is not None and weight.shape != (n,):
        raise ValueError(f"partial_fit: sample_weight must be {n} numbers >= 0, got shape {weight.shape}")
    chunk = Chunk(X, y, weight)
    chunk.check_target()
    return chunk


def sampled(chunk: Chunk, count: int) -> Chunk:
    """Some of the rows, where they are many."""
    if len(chunk) <= count:
        return chunk
    return taken(chunk, np.sort(np.random.default_rng(0).choice(len(chunk), count, replace=False)))


def beyond(left: Moments, before: Moments) -> bool:
    """Whether more was taken off than there was: a sum of squares is below zero."""
    pairs = ((left.target_squares, before.target_squares), (left.squares.diagonal(), before.squares.diagonal()))
    return any(bool((now < -_ROUNDING * was.max(initial=0.0)).any()) for now, was in pairs)
