"""Directions from which searches for weights begin: equal weights or equal traces, with ridges a decade apart."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array

# of the mean diagonal of the kernel relative to the ridge, among which the error usually has its minima; a survey goes
# on beyond them where the last decade had less error
DECADES = range(6)


def directions(means: Array) -> list[Array]:
    """Equal weights and equal traces of the kernels that are not zero; one of them where they are the same.

    Both have a sum of kernels whose mean diagonal is 1.

    Parameters
    ----------
    means : array (m,), the mean of the diagonal of each kernel
    """
    nonzero = means > 0
    if not nonzero.any():
        return []
    equal_weights = np.where(nonzero, 1.0 / means.sum(), 0.0)
    traces = equal_traces(means)
    alike = np.allclose(equal_weights[nonzero], traces[nonzero])
    if alike:
        return [traces]
    return [equal_weights, traces]


def equal_traces(means: Array) -> Array:
    """Weights of kernels with these mean diagonals, each an equal part of a kernel whose mean diagonal is 1."""
    nonzero = means > 0
    return np.divide(1.0, means * nonzero.sum(), out=np.zeros(len(means)), where=nonzero)
