"""Rational kernels of counts: substrings weighted by an automaton (Cortes, Haffner and Mohri 2004).

    k(x, z) = sum over words u of  A(u)^2 count_u(x) count_u(z),
    A(u) = initial' M_{u_1} M_{u_2} ... M_{u_l} final,

where count_u is the number of occurrences of u in a string, and A(u) the weight that an automaton gives to the word u:
the sum over its paths that read u of the product of the weights along the path. This is the kernel T o T^-1 of the
transducer T that reads a string, writes one of its substrings, and weights it by A. The automaton thus says which
substrings count and how much: all of one length (the spectrum kernel), those of several lengths with different weights,
or those that match a pattern.

Words are not listed: the sum over pairs of equal substrings is taken along the diagonals of the table of both strings,
with products of the forward weights of the states (``_pairs.rational``), in at most O(|x| |z| states^3) steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from multikernel._parameters import FINITE
from multikernel._rules import Rule, Whole
from multikernel._typing import Array
from multikernel.kernels.of_strings import JoinedStrings, PairKernel, characters


@dataclass(frozen=True)
class StateWeights(Rule):
    """A weight for each state."""

    words = "one finite number for each state, such as (1.0, 0.0)"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, tuple | list) and len(value) > 0 and all(map(FINITE.accepts, value))


@dataclass(frozen=True)
class Moves(Rule):
    """The moves of an automaton."""

    words = (
        "a list of moves (state, character, state, weight), the character one letter or '' for any, such as "
        "[(0, 'a', 1, 1.0), (1, '', 0, 0.5)]"
    )

    def accepts(self, value: Any) -> bool:
        return isinstance(value, tuple | list) and all(map(self._move, value))

    def _move(self, move: Any) -> bool:
        if not isinstance(move, tuple | list) or len(move) != 4:
            return False
        start, character, end, weight = move
        letter = isinstance(character, str) and len(character) <= 1
        return letter and Whole(0).accepts(start) and Whole(0).accepts(end) and FINITE.accepts(weight)


@dataclass(repr=False)
class Rational(PairKernel):
    """k(x, z) = the inner product of the counts of all substrings u, each weighted by A(u)^2, A an automaton.

    Samples are strings: a list, an array or a Series of them, or one column of a data frame.

    Parameters
    ----------
    moves : list of (state, character, state, weight), states numbered from 0; the character "" stands for any character
    initial : tuple of float, the weight of beginning in each state
    final : tuple of float, the weight of ending in each state

    Raises
    ------
    ValueError : where a move leads from or to a state that has no initial and final weight

    References
    ----------
    Cortes, Haffner and Mohri (2004), Rational kernels: theory and algorithms, JMLR 5.

    Examples
    --------
    >>> from multikernel import kernels
    >>> pairs = kernels.Rational([(0, "", 1, 1.0), (1, "", 2, 1.0)], initial=(1, 0, 0), final=(0, 0, 1))
    >>> pairs(["banana", "ananas"])  # all substrings of length 2: the spectrum kernel
    array([[9., 8.],
           [8., 9.]])
    >>> runs = kernels.Rational([(0, "a", 0, 0.5)], initial=(1,), final=(1,))  # a, aa, aaa, ...: 1/4, 1/16, 1/64
    >>> runs(["aab", "baa"])
    array([[1.0625, 1.0625],
           [1.0625, 1.0625]])
    """

    moves: Annotated[Any, Moves()]
    initial: Annotated[Any, StateWeights()]
    final: Annotated[Any, StateWeights()]

    def __post_init__(self) -> None:
        super().__post_init__()
        states = len(self.initial)
        if len(self.final) != states:
            raise ValueError(
                f"Rational: initial and final have a weight for each state each, got {states} and {len(self.final)}"
            )
        for move in self.moves:
            if max(move[0], move[2]) >= states:
                raise ValueError(
                    f"Rational: the move {tuple(move)!r} has state {max(move[0], move[2])}, and initial has weights "
                    f"for the states 0 to {states - 1}"
                )

    def _joined(self, strings: list[str]) -> JoinedStrings:
        joined = characters(strings)
        letters = np.array(sorted({ord(move[1]) for move in self.moves if move[1]}), dtype=np.int64)
        [codes] = joined.arrays
        kinds = np.full(len(codes), len(letters))
        if len(letters):
            nearest = np.minimum(np.searchsorted(letters, codes), len(letters) - 1)
            kinds = np.where(letters[nearest] == codes, nearest, len(letters))
        moves = self._tables(letters)
        begin = np.array(self.initial, float)
        end = np.array(self.final, float)
        forward = begin @ moves  # the forward weights of each substring of one character
        outer = forward[:, :, None] * forward[:, None, :]
        return JoinedStrings(joined.starts, (codes, kinds, moves, outer, (forward @ end) ** 2, end))

    def _tables(self, letters: Array) -> Array:
        """The matrix M of each letter that a move names, and last the matrix of all other letters."""
        states = len(self.initial)
        tables = np.zeros((len(letters) + 1, states, states))
        for start, character, end, weight in self.moves:
            symbols = np.searchsorted(letters, ord(character)) if character else slice(None)
            tables[symbols, start, end] += weight
        return tables

    def _row(self, joined: JoinedStrings, i: int, first: int, out: Array) -> None:
        from multikernel.kernels import _pairs

        codes, kinds, *tables = joined.arrays
        _pairs.rational(codes, kinds, joined.starts, i, first, *tables, out)
