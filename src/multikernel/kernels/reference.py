"""Training samples that a kernel refers to, and the positions of other samples among them.

Objects are recognised by their identity, strings and rows of numbers by their values.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from multikernel._arrays import is_sparse
from multikernel._typing import Array
from multikernel.tables.objects import Objects
from multikernel.tables.table import Table


@dataclass(frozen=True, eq=False)
class Reference:
    """Training samples, among which samples can be looked up.

    Parameters
    ----------
    samples : Objects, a table with one column of strings, an array or a CSR matrix
    """

    samples: Any

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and unpickled references hold other objects, so they compute their keys again."""
        return Reference, (self.samples,)

    def places(self, X: Any) -> Array | None:
        """The positions of samples among those of training, shape (len(X),); None where one is not among them."""
        if X is self.samples:
            return np.arange(X.shape[0])
        if type(X) is not type(self.samples):
            return None
        positions = [self._position_of_key.get(key, -1) for key in _keys(X)]
        if -1 in positions:
            return None
        return np.array(positions, dtype=int)

    @cached_property
    def _position_of_key(self) -> dict[Hashable, int]:
        return {key: position for position, key in enumerate(_keys(self.samples))}


def _keys(X: Any) -> list[Hashable]:
    """For each sample the key by which it is recognised."""
    if isinstance(X, Objects):
        return [value if isinstance(value, str) else id(value) for value in X.values]
    if isinstance(X, Table):
        return list(map(tuple, X.texts.tolist()))
    rows = X.astype(np.float64, copy=False)
    if is_sparse(rows):
        rows = rows.tocsr()
        pairs = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in pairs]
    return [row.tobytes() for row in np.ascontiguousarray(rows)]
