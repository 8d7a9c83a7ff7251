"""Finds kernels that are computed from the same matrix: powers of one kernel, functions of one distance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance
from multikernel.kernels.facts import PowerOf


def matrix_of(fact: OfDistance | PowerOf) -> Any:
    """The key of the matrix from which a kernel is computed: a distance on some columns, or a kernel."""
    match fact:
        case OfDistance(kernel, columns):
            return kernel.distance, columns
        case PowerOf(base, _):
            return base


def sharing(kernels: Iterable[Kernel]) -> list[dict[int, Any]]:
    """Groups of kernels that are computed from the same matrix: dicts from positions of kernels to their facts."""
    facts: dict[int, Any] = {}
    for k, kernel in enumerate(kernels):
        fact = next((fact for fact in kernel.facts() if isinstance(fact, OfDistance | PowerOf)), None)
        if fact is not None:
            facts[k] = fact
    return [{k: facts[k] for k in members} for _, members in grouped((k, matrix_of(f)) for k, f in facts.items())]


def grouped(values: Iterable[tuple[int, Any]]) -> list[tuple[Any, list[int]]]:
    """Numbers grouped by equal values: each value once, in order, with the numbers that have it.

    Values are only compared if their representations are equal, which saves comparing all pairs. They are compared at
    all since some representations omit what was learned.
    """
    groups: list[tuple[Any, list[int]]] = []
    groups_by_repr: dict[str, list[tuple[Any, list[int]]]] = {}
    for number, value in values:
        candidates = groups_by_repr.setdefault(repr(value), [])
        group = next((group for group in candidates if group[0] == value), None)
        if group is None:
            group = (value, [])
            candidates.append(group)
            groups.append(group)
        group[1].append(number)
    return groups
