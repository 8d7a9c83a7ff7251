"""Samples that are sets, of any size: of items, or of vectors.

    Items        k(x, z) = |x and z|, the number of common items, or their share of all items of both
    VectorSets   k(x, z) = 1 / (|x| |z|) sum over a in x, b in z of kernel(a, b): the inner product of the means in the
                 feature space of a kernel of vectors (Gaertner, Flach, Kowalczyk and Smola 2002)

A set is written as a string, so that it can be a cell of any table: items with a separator between them, or vectors
with spaces between numbers and semicolons between vectors, as ``"1.5 2; 0 -1"``. ``written`` makes such strings of
arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np

from multikernel._rules import AnyOf, Nothing, Rule
from multikernel._typing import Array
from multikernel.kernels.algebra import refuse_centred
from multikernel.kernels.base import Inner
from multikernel.kernels.features import Features
from multikernel.kernels.of_strings import StringKernel, characters
from multikernel.tuning import BUFFER_VALUES


@dataclass(frozen=True)
class Separator(Rule):
    """The rule for a separator of items."""

    words = "a string that is not empty, such as ','"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value != ""


@dataclass(repr=False)
class Items(StringKernel):
    """k(x, z) = the number of items that two sets share.

    Samples are strings, ``"bread, milk"``: a list, an array or a Series of them, or one column of a data frame. An item
    that occurs twice counts once, spaces around an item do not count, and an empty string is an empty set, with
    k = 0.

    Parameters
    ----------
    separator : str or None, the string between items; None is any white space
    measure : "common", the number of common items, or "jaccard", their share of the items of either

    Examples
    --------
    >>> from multikernel import kernels
    >>> baskets = ["bread, milk", "milk, eggs, bread", "tea"]
    >>> kernels.Items(",")(baskets)
    array([[2., 2., 0.],
           [2., 3., 0.],
           [0., 0., 1.]])
    """

    separator: Annotated[Any, AnyOf((Separator(), Nothing()))] = None
    measure: Literal["common", "jaccard"] = "common"

    def __call__(self, X: Any, Z: Any = None) -> Array:
        from multikernel.kernels import _items

        rows = self._strings(X)
        n = len(rows)
        first = 0  # the number of the first set of Z, which is X where Z is None
        n_columns = n
        if Z is not None:
            columns_of_Z = self._strings(Z)
            rows = rows + columns_of_Z
            first = n
            n_columns = len(columns_of_Z)
        items, starts, n_items = self._members(rows)
        common = np.zeros((n, n_columns))
        _items.shared(items, starts, n_items, first, common)
        if self.measure == "common":
            return common
        sizes = np.diff(starts)
        union = sizes[:n, None] + sizes[first : first + n_columns] - common
        return np.divide(common, union, out=np.zeros_like(common), where=union > 0)

    def diagonal(self, X: Any) -> Array:
        sizes = np.diff(self._members(self._strings(X))[1]).astype(float)
        if self.measure == "common":
            return sizes
        return (sizes > 0).astype(float)

    def _members(self, strings: list[str]) -> tuple[Array, Array, int]:
        """The items of each set as numbers; the bounds of the sets among them; how many items differ."""
        from multikernel.kernels import _items

        texts = characters(strings)
        separator = characters([self.separator or ""])
        bounds, set_starts = _items.cut(texts.arrays[0], texts.starts, separator.arrays[0], _items.BLANK)
        items, starts, n_items = _items.numbered(texts.arrays[0], bounds, set_starts)
        return items, starts, int(n_items)


@dataclass(repr=False)
class VectorSets(StringKernel):
    """k(x, z) = the mean of a kernel of vectors over all pairs of a vector in x and a vector in z.

    Samples are strings, ``"1.5 2; 0 -1"`` for the vectors (1.5, 2) and (0, -1), which ``kernels.written`` makes of
    arrays: a list, an array or a Series of them, or one column of a data frame. All vectors have the same length. An
    empty string is an empty set, with k = 0.

    Parameters
    ----------
    kernel : Kernel of vectors, such as RBF(1.0); a width that is learned is learned from all vectors of the
        training sample

    Raises
    ------
    ValueError : where the kernel of vectors is centred

    References
    ----------
    Gaertner, Flach, Kowalczyk and Smola (2002), Multi-instance kernels, ICML 19.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import kernels
    >>> bags = kernels.written([np.array([[0.0], [1.0]]), np.array([[1.0]])])
    >>> bags.tolist()
    ['0.0; 1.0', '1.0']
    >>> kernels.VectorSets(kernels.Linear())(bags)  # of the means
    array([[0.25, 0.5 ],
           [0.5 , 1.  ]])
    """

    kernel: Inner

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_centred((self.kernel,), "kernel of sets")

    @property
    def learns(self) -> bool:
        return self.kernel.learns

    def learned(self, X: Any) -> VectorSets:
        if not self.learns:
            return self
        vectors, _ = self._vectors(self._strings(X))
        if not len(vectors):
            raise ValueError(f"{self!r}: the training sample has no vector to learn from")
        return replace(self, kernel=self.kernel.resolve(Features.of(vectors)).learned(vectors))

    def __call__(self, X: Any, Z: Any = None) -> Array:
        rows = self._strings(X)
        if Z is None:
            learned = self.learned(X)
            vectors, ends = self._vectors(rows)
        else:
            columns = self._strings(Z)
            learned = self.learned(Z)
            vectors, ends = self._vectors(rows + columns)
        cut = int(ends[len(rows)])
        vectors_of_X = vectors[:cut]
        ends_of_X = ends[: len(rows) + 1]
        if Z is None:
            return learned._means(vectors_of_X, ends_of_X, vectors_of_X, ends_of_X)
        return learned._means(vectors_of_X, ends_of_X, vectors[cut:], ends[len(rows) :] - cut)

    def diagonal(self, X: Any) -> Array:
        strings = self._strings(X)
        learned = self.learned(X)
        vectors, ends = self._vectors(strings)
        values = np.zeros(len(strings))
        for i, (start, end) in enumerate(pairwise(ends)):
            if end > start:
                values[i] = learned.kernel(vectors[start:end]).mean()
        return values

    def _means(self, A: Array, of_a: Array, B: Array, of_b: Array) -> Array:
        """The means of kernel(A, B) over blocks of two sets, evaluated for some sets of A at a time."""
        K = np.zeros((len(of_a) - 1, len(of_b) - 1))
        filled_b = np.flatnonzero(np.diff(of_b))
        step = max(1, BUFFER_VALUES // max(len(B), 1))
        i = 0
        while i < len(K) and len(filled_b):
            last = max(i + 1, int(np.searchsorted(of_a, of_a[i] + step, side="right")) - 1)
            if of_a[last] > of_a[i]:
                block = np.asarray(self.kernel(A[of_a[i] : of_a[last]], B), dtype=float)
                filled_a = i + np.flatnonzero(np.diff(of_a[i : last + 1]))
                sums = np.add.reduceat(block, of_b[filled_b], axis=1)
                K[np.ix_(filled_a, filled_b)] = np.add.reduceat(sums, of_a[filled_a] - of_a[i], axis=0)
            i = last
        sizes_a = np.maximum(np.diff(of_a), 1)
        sizes_b = np.maximum(np.diff(of_b), 1)
        return np.asarray(K / sizes_a[:, None] / sizes_b)

    def _vectors(self, strings: list[str]) -> tuple[Array, Array]:
        """The vectors of all sets as rows, and the bounds of the sets among them."""
        lines: list[str] = []
        counts = np.zeros(len(strings), dtype=np.int64)
        for i, text in enumerate(strings):
            set_lines = [line for line in text.split(";") if line.strip()]
            counts[i] = len(set_lines)
            lines += set_lines
        ends = np.concatenate([[0], np.cumsum(counts)])
        if not lines:
            return np.zeros((0, 1)), ends
        cells = [line.split() for line in lines]
        width = len(cells[0])
        differing = next((k for k, row in enumerate(cells) if len(row) != width), None)
        if differing is not None:
            raise ValueError(
                f"VectorSets: the vectors have {width} numbers, and {lines[differing].strip()!r} has another count"
            )
        try:
            vectors = np.array(cells, dtype=float)
        except ValueError:
            raise ValueError(
                "VectorSets: a set of vectors is written as numbers with spaces and semicolons, '1.5 2; 0 -1', and "
                f"{_first_odd(lines)!r} is not"
            ) from None
        if not np.isfinite(vectors).all():
            raise ValueError("VectorSets: the vectors have numbers that are NaN or infinite")
        return vectors, ends


def written(sets: Iterable[Any]) -> Array:
    """Sets of vectors as strings, one for each set, for ``VectorSets``; numbers are written to their last digit.

    Parameters
    ----------
    sets : arrays (number of vectors, p), one for each sample; the numbers of vectors may differ

    Raises
    ------
    ValueError : where a set is not such an array

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.written([[[1.0, 2.0]], [[0.5, 0.0], [3.0, 4.0]]]).tolist()
    ['1.0 2.0', '0.5 0.0; 3.0 4.0']
    """
    texts = []
    for k, vectors in enumerate(sets):
        array = np.asarray(vectors, dtype=float)
        if array.size and array.ndim != 2:
            raise ValueError(f"written: set {k} must be an array (number of vectors, p), got shape {array.shape}")
        rows = array.tolist() if array.size else []
        texts.append("; ".join(" ".join(map(repr, row)) for row in rows))
    return np.array(texts, dtype=object)


def _first_odd(lines: list[str]) -> str:
    """The first line that is not only numbers."""
    for line in lines:
        try:
            [float(cell) for cell in line.split()]
        except ValueError:
            return line.strip()
    return lines[0]
