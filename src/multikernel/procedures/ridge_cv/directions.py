"""Where searches for weights begin: equal weights or equal traces of all kernels, with ridges a decade apart."""

from __future__ import annotations

import numpy as np

from multikernel._typing import Array

# of the mean diagonal of the kernel relative to the ridge, among which the error has its minima; more where they lead
# further
DECADES = range(6)


def directions(means: Array) -> list[Array]:
    """Equal weights and equal traces of the kernels that are not zero; one of them where they are the same.

    Both have a sum of kernels whose mean diagonal is 1.

    Parameters
    ----------
    means : array (m,), the mean of the diagonal of each kernel
    """
    used = means > 0
    if not used.any():
        return []
    equal_weights = np.where(used, 1.0 / means.sum(), 0.0)
    traces = equal_traces(means)
    alike = np.allclose(equal_weights[used], traces[used])
    if alike:
        return [traces]
    return [equal_weights, traces]


def equal_traces(means: Array) -> Array:
    """Weights of kernels with these mean diagonals, each an equal part of a kernel whose mean diagonal is 1."""
    used = means > 0
    return np.divide(1.0, means * used.sum(), out=np.zeros(len(means)), where=used)
