"""Graphs of kernels, given by the numbers of the parents of each kernel, for hierarchical kernel learning.

Kernels are numbered in the order in which their family lists them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod

import numpy as np

from multikernel._parameters import COUNT, check_each

Parents = tuple[tuple[int, ...], ...]
_LARGEST_GRAPH = 100_000  # nodes: each has a kernel matrix


def chains(lengths: Iterable[int]) -> Parents:
    """Chains side by side: each kernel has the one before it in its chain as its parent.

    With polynomials of rising degree on every feature, a degree can only be selected if all lower degrees of the same
    feature are.

    Parameters
    ----------
    lengths : the number of kernels of each chain

    Raises
    ------
    ValueError : where that is no list of integers >= 1, or the nodes are too many

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.chains([3, 2])
    ((), (0,), (1,), (), (3,))
    """
    parents: list[tuple[int, ...]] = []
    for length in check_each(COUNT, lengths, "chains: lengths"):
        _check_size(len(parents) + int(length), "chains")
        first = len(parents)
        parents += [() if k == first else (k - 1,) for k in range(first, first + int(length))]
    return tuple(parents)


def grid(shape: Iterable[int]) -> Parents:
    """The product of chains: the parents of a node are the nodes one step before it along each axis.

    The last axis runs fastest, as in ``[a * b for a in one for b in other]``.

    Parameters
    ----------
    shape : the number of nodes along each axis

    Raises
    ------
    ValueError : where that is no list of integers >= 1, or the nodes are too many

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.grid([2, 2])
    ((), (0,), (0,), (1, 2))
    """
    sides = [int(side) for side in check_each(COUNT, shape, "grid: shape")]
    _check_size(prod(sides), "grid")
    strides = [int(np.prod(sides[axis + 1 :])) for axis in range(len(sides))]
    nodes = product(*map(range, sides)) if sides else ()
    return tuple(
        tuple(k - stride for stride, coordinate in zip(strides, node, strict=True) if coordinate)
        for k, node in enumerate(nodes)
    )


def _check_size(size: int, name: str) -> None:
    if size > _LARGEST_GRAPH:
        raise ValueError(
            f"{name}: {size} nodes are more kernels than can be learned with; at most {_LARGEST_GRAPH} are"
        )
