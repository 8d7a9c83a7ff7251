"""Compiled passes over trees: leaves of samples, numbers of trees in which two samples share a leaf, and sums."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def leaves(X, feature, threshold, left, right, number, out):  # type: ignore[no-untyped-def]
    """out[i, t] = the number of the leaf of tree t that sample i falls into; a node without a feature is a leaf."""
    for i in range(X.shape[0]):
        for t in range(feature.shape[0]):
            node = 0
            while feature[t, node] >= 0:
                if X[i, feature[t, node]] <= threshold[t, node]:
                    node = left[t, node]
                else:
                    node = right[t, node]
            out[i, t] = number[t, node]


@njit(nogil=True, cache=True)
def agreement(A, B, out):  # type: ignore[no-untyped-def]
    """out[i, l] = the number of trees t with A[i, t] = B[t, l]."""
    count = np.empty(B.shape[1], np.uint16)
    for i in range(A.shape[0]):
        count[:] = 0
        for t in range(A.shape[1]):
            leaf = A[i, t]
            for c in range(B.shape[1]):
                count[c] += leaf == B[t, c]
        out[i] = count


@njit(nogil=True, cache=True)
def summed(A, values, out):  # type: ignore[no-untyped-def]
    """out[i] += sum_t values[t, A[i, t]], for values of shape (trees, leaves, k)."""
    for i in range(A.shape[0]):
        for t in range(A.shape[1]):
            for k in range(out.shape[1]):
                out[i, k] += values[t, A[i, t], k]
