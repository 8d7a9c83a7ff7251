"""Ordered trees compared by the fragments that they share.

    k(x, z) = sum over pairs of nodes of C(a, b),     C(a, b) = 0 where the rules of a and b differ, else
    C(a, b) = decay prod over inner children c of (cut + C(a_c, b_c))

The rule of a node is its label with the labels of its children, in order; inner children are those that have children
themselves. With cut = 0 fragments are complete subtrees down to the words (Vishwanathan and Smola 2003), with cut = 1 a
fragment may end at any node (Collins and Duffy 2002); a fragment with s rules counts decay^s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from multikernel._rules import Number, abbreviated
from multikernel._typing import Array
from multikernel.kernels.of_strings import JoinedStrings, PairKernel

_TOKEN = re.compile(r"[()]|[^()\s]+")


@dataclass(repr=False)
class Subtrees(PairKernel):
    """k(x, z) = how many subtrees two ordered trees share; with ``partial``, fragments that may end at any node.

    Samples are strings in brackets, ``"(S (NP Mary) (VP (V saw) (NP John)))"``: a list, an array or a Series of them,
    or one column of a data frame. A bracket begins with the label of its node; words are leaves. A tree without
    brackets has no rule, and k = 0 with every tree. Large trees share many more fragments: use ``.normalized()``.

    Parameters
    ----------
    decay : float in (0, 1], the factor of each rule of a fragment
    partial : bool, whether a fragment may end at any node instead of at leaves only

    References
    ----------
    Vishwanathan and Smola (2003), Fast kernels for string and tree matching, NIPS 15.
    Collins and Duffy (2002), Convolution kernels for natural language, NIPS 14.

    Examples
    --------
    >>> from multikernel import kernels
    >>> trees = ["(S (A x) (B y))", "(S (A x) (B z))"]
    >>> kernels.Subtrees()(trees)  # they share (A x)
    array([[3., 1.],
           [1., 3.]])
    >>> kernels.Subtrees(partial=True)(trees)  # and (S A B), (S (A x) B)
    array([[6., 3.],
           [3., 6.]])
    """

    decay: Annotated[float, Number(above=0, most=1)] = 1.0
    partial: bool = False

    def _joined(self, strings: list[str]) -> JoinedStrings:
        forest = _Forest()
        for text in strings:
            forest.read(text)
        lists = (forest.rules, forest.firsts, forest.children)
        rules, firsts, children = (np.array(numbers, dtype=np.int64) for numbers in lists)
        starts = np.array(forest.starts, dtype=np.int64)
        order = np.lexsort((rules, np.repeat(np.arange(len(strings)), np.diff(starts))))
        return JoinedStrings(starts, (rules, firsts, children, order))

    def _row(self, joined: JoinedStrings, i: int, first: int, out: Array) -> None:
        from multikernel.kernels import _pairs

        cut = 1.0 if self.partial else 0.0
        _pairs.trees(*joined.arrays, joined.starts, i, first, float(self.decay), cut, out)


@dataclass
class _Node:
    """A bracket that is being read."""

    label: str | None = None
    children: list[str] = field(default_factory=list)  # their labels, those of inner children after a bracket
    inner: list[int] = field(default_factory=list)  # the numbers of the inner children


@dataclass
class _Forest:
    """The inner nodes of all trees read so far, children before their parents."""

    starts: list[int] = field(default_factory=lambda: [0])
    rules: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=lambda: [0])
    children: list[int] = field(default_factory=list)
    _number_of_rule: dict[tuple[str, ...], int] = field(default_factory=dict)

    def read(self, text: str) -> None:
        """Add a tree; ValueError where brackets do not match."""
        open_nodes = [_Node("")]
        for token in _TOKEN.findall(text):
            if token == ")":
                if len(open_nodes) == 1:
                    raise ValueError(f"Subtrees: {abbreviated(text, 40)} closes a bracket that is not open")
                self._close(open_nodes.pop(), open_nodes[-1])
            elif open_nodes[-1].label is None and token != "(":
                open_nodes[-1].label = token
            elif token == "(":
                open_nodes[-1].label = open_nodes[-1].label or ""
                open_nodes.append(_Node())
            else:
                open_nodes[-1].children.append(token)
        if len(open_nodes) > 1:
            raise ValueError(f"Subtrees: {abbreviated(text, 40)} leaves {len(open_nodes) - 1} brackets open")
        self.starts.append(len(self.rules))

    def _close(self, node: _Node, parent: _Node) -> None:
        """Add a node that has children; a node without children becomes a leaf of its parent."""
        label = node.label or ""
        if not node.children:
            parent.children.append(label)
            return
        self.rules.append(self._number_of_rule.setdefault((label, *node.children), len(self._number_of_rule)))
        self.children += node.inner
        self.firsts.append(len(self.children))
        parent.children.append("(" + label)
        parent.inner.append(len(self.rules) - 1)
