"""ANOVA kernels of several degrees, evaluated in one recursion over the features and stored as a packed stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._linalg import inverse_root
from multikernel.banks.dense import PackedBank
from multikernel.banks.lazy import LazyBank
from multikernel.banks.threads import over_rows
from multikernel.kernels.base import Kernel
from multikernel.kernels.facts import Elementary
from multikernel.kernels.interactions import TILE_VALUES, elementary, elementary_diagonals
from multikernel.kernels.samples import dense


def anova_stack(kernels: tuple[Kernel, ...], facts: list[Elementary], X: Any, dtype: Any) -> PackedBank:
    """The bank of ANOVA kernels of one kernel on single features.

    Only lower triangles are found, some rows at a time: beside the stack, memory follows these rows.
    """
    samples, kernel, degree = dense(X), facts[0].kernel, max(fact.degree for fact in facts)
    n = len(samples)
    packed = np.empty((len(facts), n * (n + 1) // 2), dtype=dtype)
    diagonals = elementary_diagonals(kernel, samples, degree)
    inverse = [inverse_root(d) for d in diagonals]

    def fill(rows: slice) -> None:
        values = elementary(kernel, samples[rows], samples[: rows.stop], degree)
        for k, fact in enumerate(facts):
            d, K = fact.degree, values[fact.degree]
            if fact.normalized:
                K = np.clip(K * inverse[d][rows, None] * inverse[d][: rows.stop], -1.0, 1.0)
            for r, i in enumerate(range(rows.start, rows.stop)):
                start = i * (i + 1) // 2
                packed[k, start : start + i] = K[r, :i]
                packed[k, start + i] = diagonals[d][i] > 0 if fact.normalized else diagonals[d][i]

    over_rows(fill, n, max(1, TILE_VALUES // n))
    return PackedBank(LazyBank(kernels, X, X), packed, n)
