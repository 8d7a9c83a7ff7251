"""Strings compared by inexact matches: subsequences with gaps, and substrings with mismatches.

    GappedSubsequences   sum over u of length q of  phi_u(x) phi_u(z),  phi_u(x) = sum over places i_1 < ... < i_q at
                         which x reads u of decay^(i_q - i_1 + 1)                          (Lodhi and others 2002)
    Mismatches           sum over u of length q of  n_u(x) n_u(z),  n_u(x) the substrings of x that differ from u in at
                         most m places                                                     (Leslie and others 2004)

Subsequences are counted by a recursion over prefixes, O(q |x| |z|) steps. Two substrings that differ in d of q places
share a number of neighbours u that depends on d alone,

    sum over i, p, r of  C(q - d, i) (s - 1)^i  d! / (p! r! (d - p - r)!)  (s - 2)^(d - p - r),
    i + d - p <= m,  i + d - r <= m

with s letters: u differs from both at i of the q - d equal places; of the d other places, u agrees at p with the one,
at r with the other, and at d - p - r with neither. So the words u are never listed; the differences of all pairs of
substrings take O(|x| |z|) steps for any q.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb, factorial
from typing import Annotated, Any

import numpy as np

from multikernel._parameters import WHOLE, Power
from multikernel._rules import AnyOf, Nothing, Number, Rule
from multikernel._typing import Array
from multikernel.kernels.of_strings import JoinedStrings, PairKernel, characters


@dataclass(repr=False)
class GappedSubsequences(PairKernel):
    """k(x, z) = the weighted number of common subsequences of one length; gaps are allowed, each place costs decay.

    Samples are strings: a list, an array or a Series of them, or one column of a data frame,
    ``GappedSubsequences(3).on("sequence")``. A string shorter than the length has none, and k = 0 with every string.
    Long strings have many more subsequences: use ``.normalized()``.

    Parameters
    ----------
    length : int >= 1
    decay : float in (0, 1], the factor for each place from the first to the last character of an occurrence

    References
    ----------
    Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins (2002), Text classification using string kernels, JMLR 2.

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.GappedSubsequences(2, decay=0.5)(["cat", "car", "bat"])  # c-a, c-t, a-t: 1/16, 1/64, 1/16
    array([[0.140625, 0.0625  , 0.0625  ],
           [0.0625  , 0.140625, 0.      ],
           [0.0625  , 0.      , 0.140625]])
    """

    length: Power = 3
    decay: Annotated[float, Number(above=0, most=1)] = 0.5

    def _joined(self, strings: list[str]) -> JoinedStrings:
        return characters(strings)

    def _row(self, joined: JoinedStrings, i: int, first: int, out: Array) -> None:
        from multikernel.kernels import _pairs

        _pairs.subsequences(joined.arrays[0], joined.starts, i, first, int(self.length), float(self.decay), out)


@dataclass(frozen=True)
class Letters(Rule):
    """Two or more different characters."""

    words = "a string of two or more different characters, such as 'ACGT'"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) > 1 and len(set(value)) == len(value)


@dataclass(repr=False)
class Mismatches(PairKernel):
    """k(x, z) = the inner product of counts, for each word of one length, of substrings with at most m mismatches.

    Samples are strings: a list, an array or a Series of them, or one column of a data frame. A string shorter than the
    length has no substrings, and k = 0 with every string.

    Parameters
    ----------
    length : int >= 1
    mismatches : int >= 0, m, the most places at which a substring may differ from a word; 0 is the spectrum kernel
    alphabet : str or None, the letters of which words are made; None takes the letters of the training sample.
        Substrings with other letters do not count

    References
    ----------
    Leslie, Eskin, Cohen, Weston and Noble (2004), Mismatch string kernels for discriminative protein classification,
    Bioinformatics 20.

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.Mismatches(2, 1, alphabet="ab")(["ab", "bb"])  # near ab: ab, bb, aa; near bb: bb, ab, ba
    array([[3., 2.],
           [2., 3.]])
    """

    length: Power = 3
    mismatches: Annotated[int, WHOLE] = 1
    alphabet: Annotated[Any, AnyOf((Letters(), Nothing()))] = None

    @property
    def learns(self) -> bool:
        return self.alphabet is None

    def learned(self, X: Any) -> Mismatches:
        """The same kernel with an alphabet; where none is given, with the letters of the samples."""
        if self.alphabet:
            return self
        return self._with_letters(self._strings(X))

    def __call__(self, X: Any, Z: Any = None) -> Array:
        return PairKernel.__call__(self.learned(X if Z is None else Z), X, Z)

    def diagonal(self, X: Any) -> Array:
        return PairKernel.diagonal(self.learned(X), X)

    def _with_letters(self, strings: list[str]) -> Mismatches:
        """The same kernel with the letters of these strings, filled up to two letters where they have fewer."""
        letters = sorted(set("".join(strings)))
        spare = (chr(c) for c in range(97, 200) if chr(c) not in letters)
        while len(letters) < 2:
            letters.append(next(spare))
        return replace(self, alphabet="".join(letters))

    def _joined(self, strings: list[str]) -> JoinedStrings:
        joined = characters(strings)
        letters = np.sort(np.array([ord(letter) for letter in self.alphabet], dtype=np.int64))
        nearest = np.minimum(np.searchsorted(letters, joined.arrays[0]), len(letters) - 1)
        is_letter = letters[nearest] == joined.arrays[0]
        return JoinedStrings(joined.starts, (np.where(is_letter, nearest, -1), self._shared()))

    def _shared(self) -> Array:
        """How many words are near both of two substrings, by the number of places at which these differ."""
        q = int(self.length)
        m = int(self.mismatches)
        s = len(self.alphabet)
        largest_distance = min(2 * min(m, q), q)
        return np.array([float(shared_words(q, m, s, d)) for d in range(largest_distance + 1)])

    def _row(self, joined: JoinedStrings, i: int, first: int, out: Array) -> None:
        from multikernel.kernels import _pairs

        codes, shared = joined.arrays
        _pairs.mismatches(codes, joined.starts, i, first, int(self.length), shared, out)


def shared_words(q: int, m: int, s: int, d: int) -> int:
    """How many words of length q over s letters differ at most at m places from each of two words that differ at d."""
    total = 0
    for changed in range(min(q - d, m) + 1):
        for p in range(d + 1):
            for r in range(d - p + 1):
                if changed + d - min(p, r) <= m:
                    neither = d - p - r
                    ways = factorial(d) // (factorial(p) * factorial(r) * factorial(neither))
                    total += comb(q - d, changed) * (s - 1) ** changed * ways * (s - 2) ** neither
    return total
