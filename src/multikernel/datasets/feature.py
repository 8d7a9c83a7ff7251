"""Columns as features: a column of numbers as it is, a column of words as one 0/1 column for each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from multikernel.datasets.column import Column


@dataclass(frozen=True)
class Feature:
    """How a column of a training file becomes columns of numbers.

    Parameters
    ----------
    name : str, the name of the column
    levels : tuple of str or None, the categories in the order of their 0/1 columns; None for a column of numbers
    """

    name: str
    levels: tuple[str, ...] | None

    @classmethod
    def learn(cls, column: Column) -> Self:
        """A feature of numbers where the cells are numbers, otherwise of the categories that occur, sorted."""
        return cls(column.name, tuple(sorted(set(column.cells))) if column.numbers is None else None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns of numbers."""
        if self.levels is None:
            return (self.name,)
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, column: Column) -> NDArray[np.float64]:
        """The numbers of a column, shape (n, 1) or (n, categories); ValueError for a word or a category not learned."""
        if self.levels is None:
            if column.numbers is None:
                raise column.error(column.first_word, "is not a number, and the column was numeric in training")
            return column.numbers[:, None]
        position = {level: k for k, level in enumerate(self.levels)}
        codes = [position.get(cell, -1) for cell in column.cells]
        if -1 in codes:
            levels = ", ".join(self.levels)
            raise column.error(codes.index(-1), f"was not among the categories in training ({levels})")
        return indicators(np.array(codes), len(position))


def encode(features: Sequence[Feature], columns: Sequence[Column]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The matrix of all columns, each encoded by its entry of ``features``, and the names of the matrix's columns."""
    blocks = [feature.encode(column) for feature, column in zip(features, columns, strict=True)]
    return np.hstack(blocks), tuple(name for feature in features for name in feature.names)


def indicators(codes: NDArray[np.intp], n_levels: int) -> NDArray[np.float64]:
    """A matrix whose row i is 1 in column ``codes[i]`` and 0 elsewhere."""
    block = np.zeros((len(codes), n_levels))
    block[np.arange(len(codes)), codes] = 1.0
    return block
