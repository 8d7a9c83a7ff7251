"""Spectrum kernels: strings compared by the substrings of one length that they contain.

    k(x, z) = sum over u of length q of  count_u(x) count_u(z),

where overlapping occurrences count (Leslie, Eskin and Noble, 2002). All strings are counted together: they are
concatenated to one array of characters; a substring is a number whose digits are its characters, replaced by its rank
whenever it would overflow; each distinct number is a column of a matrix F of counts, and K = F_X F_Z'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from multikernel._arrays import as_dense
from multikernel._parameters import POWER, Power
from multikernel._typing import Array
from multikernel.kernels.family import KernelFamily, Kernels
from multikernel.kernels.of_strings import StringKernel, characters
from multikernel.kernels.sequences import GappedSubsequences
from multikernel.tuning import COUNTS_DENSE


@dataclass(repr=False)
class Spectrum(StringKernel):
    """k(x, z) = the inner product of the counts of all substrings of one length.

    Samples are strings: a list, an array or a Series of them, or one column of a data frame,
    ``Spectrum(3).on("sequence")``. A string shorter than the length has no substrings, and k = 0 with every string.

    Parameters
    ----------
    length : int >= 1

    Raises
    ------
    ValueError : where the length is not a whole number >= 1

    References
    ----------
    Leslie, Eskin and Noble (2002), The spectrum kernel: a string kernel for SVM protein classification.

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.Spectrum(2)(["banana", "ananas"])  # an occurs twice in each, na twice in each
    array([[9., 8.],
           [8., 9.]])
    """

    length: Power = 3

    def __call__(self, X: Any, Z: Any = None) -> Array:
        rows = self._strings(X)
        columns = [] if Z is None else self._strings(Z)
        F = counts(rows + columns, int(self.length))
        if F.nnz > COUNTS_DENSE * F.shape[0] * F.shape[1]:
            F = F.toarray()
        F_of_X = F_of_Z = F[: len(rows)]
        if Z is not None:
            F_of_Z = F[len(rows) :]
        return as_dense(F_of_X @ F_of_Z.T)

    def diagonal(self, X: Any) -> Array:
        F = counts(self._strings(X), int(self.length))
        return F.multiply(F).sum(axis=1)


def spectra(max_length: int, normalize: bool = True) -> KernelFamily:
    """The spectrum kernels of substrings of length 1..max_length, from general to specific.

    Parameters
    ----------
    max_length : int >= 1
    normalize : bool, whether every k(x, x) is made 1; for a string shorter than the length it stays 0

    Raises
    ------
    ValueError : where max_length is not a whole number >= 1

    Examples
    --------
    >>> from multikernel import EasyMKLClassifier, kernels
    >>> words = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"]
    >>> model = EasyMKLClassifier(kernels.spectra(3)).fit(words, [0, 0, 0, 1, 1, 1])
    >>> model.predict(["aabb", "ccdd"])
    array([0, 1])
    """
    lengths = range(1, POWER.check(max_length, "spectra: max_length") + 1)
    return Kernels(tuple(Spectrum(q).normalized() if normalize else Spectrum(q) for q in lengths))


def gapped_subsequences(max_length: int, decay: float = 0.5, normalize: bool = True) -> KernelFamily:
    """The gapped subsequence kernels of lengths 1..max_length, from general to specific.

    Parameters
    ----------
    max_length : int >= 1
    decay : float in (0, 1]
    normalize : bool, whether every k(x, x) is made 1; for a string shorter than the length it stays 0

    Examples
    --------
    >>> from multikernel import kernels
    >>> len(kernels.gapped_subsequences(4))
    4
    """
    lengths = range(1, POWER.check(max_length, "gapped_subsequences: max_length") + 1)
    kernels = (GappedSubsequences(q, decay) for q in lengths)
    return Kernels(tuple(kernel.normalized() if normalize else kernel for kernel in kernels))


def counts(strings: list[str], length: int) -> Any:
    """How often each substring of one length occurs in each string: a CSR array, with a column for each substring."""
    joined = characters(strings)
    [codes] = joined.arrays
    lengths = np.diff(joined.starts)
    per_string = np.maximum(lengths - length + 1, 0)
    numbers, bound = _numbers(codes, length)
    remaining = np.repeat(joined.starts[1:], lengths) - np.arange(len(codes))  # characters to the end of the string
    columns, width = _ranks(numbers[remaining[: len(numbers)] >= length], bound)
    ends = np.concatenate([[0], np.cumsum(per_string)])
    F = sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(strings), width))
    F.sum_duplicates()
    return F


def _numbers(codes: Array, length: int) -> tuple[Array, int]:
    """For the substring at every position an integer below a bound, equal for equal substrings; and the bound."""
    digits, size = _ranks(codes, int(codes.max(initial=0)) + 1)
    numbers = digits
    bound = size
    for q in range(1, length):
        if bound * size > 1 << 62:  # numbers are of 63 bits
            numbers, bound = _ranks(numbers, bound)
        numbers = numbers[:-1] * size + digits[q:]
        bound = bound * size
    return numbers, bound


def _ranks(numbers: Array, bound: int) -> tuple[Array, int]:
    """The rank of each number among the distinct ones, and their count; by a table if that is short enough."""
    if not len(numbers) or bound > 16 * len(numbers):
        distinct, ranks = np.unique(numbers, return_inverse=True)
        return ranks, len(distinct)
    occurs = np.zeros(bound, dtype=bool)
    occurs[numbers] = True
    table = np.cumsum(occurs) - 1
    return table[numbers], int(table[-1]) + 1
