"""What a loaded data set and a line of the catalogue hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Task = Literal["classification", "regression"]
Origin = Literal["scikit-learn", "directory", "openml"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set as it was published: nothing is rescaled, shuffled or made up.

    Parameters
    ----------
    name : str
        The name it was asked for by.
    X : ndarray of shape (n, p), sparse CSR array of shape (n, p), or ndarray of shape (n,)
        The features; a categorical column has become one 0/1 column per value. Text sets hold
        an object array of strings instead.
    y : ndarray of shape (n,)
        Floats for regression; the source's integers or strings for classification.
    feature_names : tuple of str
        One per column of X, ``sex=M`` for a value of a categorical column; empty for texts.
    task : {"classification", "regression"}
    description : str
        One paragraph: the source, what the target means, and what there is to know.
    split : ndarray of shape (n,) or None
        The part each row belongs to ("train", "test") where the source has a customary split.
    origin : {"scikit-learn", "directory", "openml"}

    Examples
    --------
    >>> from multikernel.datasets import load
    >>> data = load("breast_cancer")
    >>> data
    Dataset('breast_cancer', 569 x 30, classification, from scikit-learn)
    >>> data.feature_names[0]
    'mean radius'
    """

    name: str
    X: Any  # Any: users index it, and a union of array kinds would need a cast at every use
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    task: Task
    description: str
    split: NDArray[np.str_] | None
    origin: Origin

    def __repr__(self) -> str:
        size = f"{self.X.shape[0]} x {self.X.shape[1]}" if self.X.ndim == 2 else f"{self.X.shape[0]} texts"
        return f"Dataset({self.name!r}, {size}, {self.task}, from {self.origin})"


@dataclass(frozen=True)
class Entry:
    """A data set that can be loaded, as a line of the catalogue.

    Parameters
    ----------
    name : str
        What to give to `load`.
    task : {"classification", "regression"}
    n : int
        Rows of the source; `load` returns fewer where rows have an empty cell, and says so.
    d : int or None
        Feature columns of the source, before categorical ones are spread out; None for texts.
    origin : {"scikit-learn", "directory", "openml"}

    Examples
    --------
    >>> from multikernel.datasets import available
    >>> next(e for e in available() if e.name == "breast_cancer")
    Entry(name='breast_cancer', task='classification', n=569, d=30, origin='scikit-learn')
    """

    name: str
    task: Task
    n: int
    d: int | None
    origin: Origin


@dataclass(frozen=True, eq=False)
class Content:
    """What a reader makes of the files of one data set."""

    X: Any
    y: NDArray[Any]
    task: Task
    feature_names: tuple[str, ...]
    split: NDArray[np.str_] | None
    n: int  # rows of the file, also those left out of X
    d: int | None  # feature columns of the file, None for texts
    remark: str = ""  # what was left out
