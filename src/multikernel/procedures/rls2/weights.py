"""Weights of kernels that are scaled first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel._typing import Array
from multikernel.procedures.base import Weights


@dataclass(frozen=True, eq=False)
class ScaledWeights(Weights):
    """Weights of the kernels s_k K_k.

    Parameters
    ----------
    scaling : array (m,), the factors s_k
    scores : array (m,), tr C's_k K_k C at the solution; only kernels of the largest score have a weight
    """

    scaling: Array | None = None
    scores: Array | None = None


def equal_weights(scaling: Array) -> Array:
    """The same weight for every kernel that is not scaled to 0: the answer where no kernel explains anything."""
    used = scaling > 0 if scaling.any() else np.ones(len(scaling), dtype=bool)
    return used / np.count_nonzero(used)
