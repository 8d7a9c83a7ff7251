"""Samples that a user adds or takes off, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel._arrays import host
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.numerics.cholesky import factorise
from multikernel.sources.rows import aligned
from multikernel.statistics import Moments
from multikernel.streams import Chunk
from multikernel.streams.survey import taken


def given(X: Any, y: Any, sample_weight: Any) -> Chunk:
    """Samples that a user gives, as rows; ValueError where they are no rows, or targets or weights do not fit them."""
    if isinstance(X, Mapping):
        raise ValueError(
            "partial_fit and forget take an array, a data frame or strings with a row for each sample, got a dict"
        )
    y, sample_weight = aligned(X, y=y, sample_weight=sample_weight)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if not X.shape:
        raise ValueError(f"partial_fit and forget take a row for each sample, got {abbreviated(X)}")
    if getattr(X, "ndim", 2) == 1:
        X = X.reshape(-1, 1)
    n = int(X.shape[0])
    if y is None:
        raise ValueError("partial_fit and forget take a target y for every sample, got None")
    y = np.asarray(host(y))
    if not y.shape:
        raise ValueError(f"partial_fit and forget take a target y for every sample, got {abbreviated(y)}")
    if len(y) != n:
        raise ValueError(f"partial_fit: {n} samples and {len(y)} targets")
    weight = None
    if sample_weight is not None:
        weight = np.asarray(host(sample_weight), dtype=float)
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
    """Whether more was taken off than there was: no samples have the sums that are left.

    Sums of products over samples, with 1 and a target beside the features, are a matrix without negative eigenvalues.
    Where it has none, what was taken off may still be no part of what was given: sums do not show that.
    """
    return any(_indefinite(_products(left, t), _products(before, t)) for t in range(len(left.target_sums)))


def _indefinite(left: Array, before: Array) -> bool:
    """Whether a matrix has a negative eigenvalue, beyond the rounding of the one that it is a part of.

    Of sums over chunks, each rounded, 1e-9 is that.
    """
    unit = np.sqrt(np.maximum(before.diagonal(), 0.0))
    unit = np.where(unit > 0.0, unit, 1.0)
    scaled = np.asfortranarray(left / unit / unit[:, None])
    scaled[np.diag_indices_from(scaled)] += 1e-9 * len(scaled)
    return not factorise(scaled)


def _products(sums: Moments, target: int) -> Array:
    """The sums of products of 1, a target and the features with each other."""
    one, y = sums.target_sums[target], sums.target_squares[target]
    beside = np.column_stack([sums.sums, sums.products[:, target]])
    return np.block([[np.array([[sums.count, one], [one, y]]), beside.T], [beside, sums.squares]])
