"""Graphs of kernels by the numbers of their parents, for hierarchical kernel learning.

They go with families in the order in which these list their kernels.
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
    """Chains side by side: the kernels of each follow one another.

    With polynomials of rising degree on every feature a degree can only be selected where all lower ones of its feature
    are.

    Parameters
    ----------
    lengths : how many kernels each chain has

    Raises
    ------
    ValueError : where that is no list of integers >= 1, or the nodes are too many

    Examples
    --------
    >>> from multikernel import kernels
    >>> kernels.chains([3, 2])
    ((), (0,), (1,), (), (3,))
    """
    found: list[tuple[int, ...]] = []
    for length in check_each(COUNT, lengths, "chains: lengths"):
        _check_size(len(found) + int(length), "chains")
        first = len(found)
        found += [() if k == first else (k - 1,) for k in range(first, first + int(length))]
    return tuple(found)


def grid(shape: Iterable[int]) -> Parents:
    """The product of chains: a node is below those that are one step less far along one of the axes.

    The last axis runs fastest, as in ``[a * b for a in one for b in other]``.

    Parameters
    ----------
    shape : how many nodes there are along each axis

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
    steps = [int(np.prod(sides[axis + 1 :])) for axis in range(len(sides))]
    places = product(*map(range, sides)) if sides else ()
    return tuple(
        tuple(k - step for step, along in zip(steps, place, strict=True) if along) for k, place in enumerate(places)
    )


def _check_size(size: int, name: str) -> None:
    if size > _LARGEST_GRAPH:
        raise ValueError(
            f"{name}: {size} nodes are more kernels than can be learned with; at most {_LARGEST_GRAPH} are"
        )
