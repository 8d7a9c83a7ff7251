"""Kernels on each column of a mixed table, whatever it holds: the columns as numbers, one after the other.

Numbers and dates are standardised, categories are columns of zeros and ones (for_columns.py says how). A text is left
out: words are many columns, and a kernel on each text is what ``for_columns`` has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from multikernel._rules import Choice
from multikernel.kernels.base import Kernel
from multikernel.kernels.dot import Linear
from multikernel.kernels.encoding import Encoded
from multikernel.kernels.families import polynomials, rbf_grid
from multikernel.kernels.family import KernelFamily, Kernels
from multikernel.kernels.for_columns import beside_each_other
from multikernel.tables.columns import TYPES, Declared, typed

_BASIS = Choice(("rls2", "linear"))


def for_each_column(
    X: Any, basis: Literal["rls2", "linear"] = "rls2", types: Mapping[str, Declared] | None = None
) -> KernelFamily:
    """The same kernels on every single column of a mixed table.

    Parameters
    ----------
    X : data frame, array or sequence of strings; kernels learn means, deviations and categories from what they are
        fitted on
    basis : "rls2", the 13 kernels (1 + x'z)^n for n = 1, 2, 3 and exp(-gamma |x - z|^2) for ten gammas from 1e-3 to
        1e3 of Dinuzzo (RLS2, section 5.2), on each column and on all together, 13 (p + 1) for p columns; or "linear",
        x'z on each column: with ``RLS2Regressor`` a sparse linear model
    types : dict from names of columns to "number", "date" or "category", where their cells do not show it

    Returns
    -------
    KernelFamily, its kernels named after their columns

    Raises
    ------
    ValueError : where no column distinguishes samples, or all that do are texts

    Examples
    --------
    >>> import pandas as pd
    >>> from multikernel import kernels
    >>> frame = pd.DataFrame({"age": [31.0, None, 45.0, 22.0], "sex": ["f", "m", "f", None]})
    >>> len(kernels.for_each_column(frame))
    39
    >>> kernels.for_each_column(frame, "linear").names
    ('age', 'sex')
    """
    _BASIS.check(basis, "for_each_column: basis")
    if types is not None:
        TYPES.check(types, "for_each_column: types")
    columns = [column for column, _ in typed(X, types) if column.used and column.type != "text"]
    if not columns:
        raise ValueError(
            "for_each_column: X has no column of numbers, categories or dates with two different values; use "
            "kernels.for_columns for texts"
        )
    if basis == "linear":
        linear = [(column.name, Encoded(Linear(), beside_each_other([column]))) for column in columns]
        return Kernels(tuple(kernel for _, kernel in linear), tuple(name for name, _ in linear))
    thirteen = polynomials((1, 2, 3)) + rbf_grid(np.logspace(-3, 3, 10))
    pairs: list[tuple[str, Kernel]] = []
    for name, own in [*((column.name, [column]) for column in columns), ("all columns", columns)]:
        encoding = beside_each_other(own)
        pairs += [(f"{name}: {kernel!r}", Encoded(kernel, encoding)) for kernel in thirteen]
    return Kernels(tuple(kernel for _, kernel in pairs), tuple(name for name, _ in pairs))
