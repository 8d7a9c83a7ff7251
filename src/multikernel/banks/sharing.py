"""Which kernels share a matrix that they are made of: powers of one kernel, functions of one distance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import OfDistance
from multikernel.kernels.facts import PowerOf


def matrix_of(fact: OfDistance | PowerOf) -> Any:
    """What the matrix is of that a kernel is made of: a distance on some columns, or a kernel."""
    match fact:
        case OfDistance(kernel, columns):
            return kernel.distance, columns
        case PowerOf(base, _):
            return base


def sharing(kernels: Iterable[Kernel]) -> list[dict[int, Any]]:
    """Groups of kernels that are made of one matrix, by position, with the facts that say so."""
    facts: dict[int, Any] = {}
    for k, kernel in enumerate(kernels):
        fact = next((fact for fact in kernel.facts() if isinstance(fact, OfDistance | PowerOf)), None)
        if fact is not None:
            facts[k] = fact
    return [{k: facts[k] for k in members} for _, members in grouped((k, matrix_of(f)) for k, f in facts.items())]


def grouped(values: Iterable[tuple[int, Any]]) -> list[tuple[Any, list[int]]]:
    """Numbers with equal values: each value once, in order, with the numbers that have it.

    Values are compared as such, for some hide what they have learned where they are written. Equal values are written
    alike, which spares comparing each with all others.
    """
    groups: list[tuple[Any, list[int]]] = []
    alike: dict[str, list[tuple[Any, list[int]]]] = {}
    for number, value in values:
        known = alike.setdefault(repr(value), [])
        group = next((group for group in known if group[0] == value), None)
        if group is None:
            group = (value, [])
            known.append(group)
            groups.append(group)
        group[1].append(number)
    return groups
