"""Memberships of samples in groups, which local kernels need also for new samples.

    nearest centre      h_j = 1 for the group whose centre in feature space is nearest, or with a temperature T
                        h_j proportional to exp(-|phi(x) - c_j|^2 / T),  c_j = sum_i s_ij phi(x_i),  sum_i s_ij = 1
    softmax gates       h_j proportional to exp(v_j'x + u_j)
    sigmoid gates       h_j = 1 / (1 + exp(-v_j'x - u_j))

The kernel between x and the training samples gives |phi(x) - c_j|^2 up to k(x, x), which is the same for all groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit, softmax

from multikernel._arrays import is_sparse
from multikernel._typing import Array
from multikernel.banks.base import KernelBank


class Memberships(ABC):
    """A rule for the memberships of samples in groups."""

    @abstractmethod
    def of(self, X: Any) -> Array:
        """The memberships h >= 0 of new samples, shape (len(X), groups)."""


@dataclass(frozen=True, eq=False)
class NearestCentre(Memberships):
    """Groups around centres in the feature space of a sum of kernels.

    Parameters
    ----------
    bank : KernelBank with the training samples as columns
    weights : array (m,), the weights of the sum
    shares : array (n, groups), s
    norms : array (groups,), |c_j|^2
    temperature : float >= 0; 0 makes every sample a member of one group
    """

    bank: KernelBank
    weights: Array
    shares: Array
    norms: Array
    temperature: float

    def of(self, X: Any) -> Array:
        return self.near(self.bank.cross(X))

    def near(self, bank: KernelBank) -> Array:
        """The memberships of the rows of a bank whose columns are the training samples."""
        inner = bank.combine(self.weights).multiply(np.ascontiguousarray(self.shares))
        return from_distances(self.norms - 2.0 * np.asarray(inner), self.temperature)


@dataclass(frozen=True, eq=False)
class OfFunction(Memberships):
    """Memberships by a function of the samples, or by the ``predict_proba`` or ``predict`` of a fitted clustering.

    Parameters
    ----------
    rule : the function or the clustering
    groups : int
    """

    rule: Any
    groups: int

    def of(self, X: Any) -> Array:
        array: Any = X if isinstance(X, np.ndarray) or is_sparse(X) else None
        if array is None:
            raise ValueError("memberships by a function or a clustering are known of samples in arrays only")
        return as_memberships(evaluated(self.rule, array), array.shape[0], self.groups)


@dataclass(frozen=True, eq=False)
class Gates(Memberships):
    """Gates, which are functions of the features, for several problems.

    Parameters
    ----------
    kind : "softmax" or "sigmoid"
    slopes : array (problems, gates, p), v
    levels : array (problems, gates), u
    """

    kind: Literal["softmax", "sigmoid"]
    slopes: Array
    levels: Array

    def of(self, X: Any) -> Array:
        """The gates of all problems, one problem after the other, shape (len(X), problems gates)."""
        heights = np.einsum("ij,pkj->ipk", np.asarray(X, dtype=float), self.slopes) + self.levels
        return opened(heights, self.kind).reshape(len(heights), -1)


def opened(heights: Array, kind: str) -> Array:
    """The values of gates from their linear functions, where the last axis runs over the gates."""
    return np.asarray(softmax(heights, axis=-1) if kind == "softmax" else expit(heights))


def evaluated(rule: Any, X: Any) -> Array:
    """The values of a function or a clustering for samples."""
    for name in ("predict_proba", "predict"):
        if hasattr(rule, name):
            return np.asarray(getattr(rule, name)(X))
    return np.asarray(rule(X))


def from_distances(squares: Array, temperature: float) -> Array:
    """Memberships from squared distances (r, groups), which may differ by a constant in each row."""
    if temperature > 0.0:
        return np.asarray(softmax(-squares / temperature, axis=1))
    return np.eye(squares.shape[1])[np.argmin(squares, axis=1)]


def as_memberships(memberships: Any, n: int, groups: int | None = None) -> Array:
    """Labels 0, 1, .. of n samples, or memberships (n, groups), as memberships; ValueError for other values."""
    h = np.asarray(memberships)
    if h.shape[:1] != (n,) or h.ndim > 2 or h.size == 0 or h.dtype.kind not in "biuf":
        raise ValueError(
            f"memberships: {n} samples need as many whole numbers 0, 1, .. or rows, got shape {h.shape} of {h.dtype}"
        )
    if h.ndim == 1:
        labels = h.astype(int)
        largest = int(labels.max(initial=0))
        count = groups or min(largest + 1, n)
        if (labels != h).any() or labels.min(initial=0) < 0 or largest >= count:
            raise ValueError(
                f"memberships: the groups have to be the numbers 0 to {count - 1}, got numbers from {h.min():g} to "
                f"{h.max():g}"
            )
        h = np.eye(count)[labels]
    if groups is not None and h.shape[1] != groups:
        raise ValueError(f"memberships: {groups} groups were known in training, got {h.shape[1]}")
    h = h.astype(float)
    if not np.isfinite(h).all() or (h < 0.0).any():
        raise ValueError("memberships: they have to be finite and not negative")
    if groups is None and not h.any():
        raise ValueError("memberships: every sample belongs to no group, as all of them are zero")
    return h
