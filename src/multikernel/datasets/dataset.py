"""A loaded data set, and a data set as a line of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Task = Literal["classification", "regression"]
PREFIX = "openml:"  # of the names of sets that are fetched from openml.org
Origin = Literal["scikit-learn", "directory", "openml"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set as it was published: nothing is rescaled, shuffled or made up.

    Parameters
    ----------
    name : str, the name by which it was loaded
    X : array (n, p) or sparse CSR array (n, p), the features, one 0/1 column for each value of a categorical column;
        for a set of texts an object array (n,) of strings
    y : array (n,), floats for regression, the source's integers or strings for classification
    feature_names : tuple of str, one for each column of X, such as ``sex=M`` for a value of a categorical column;
        empty for texts
    task : "classification" or "regression"
    description : str, one paragraph: the source, what the target means, and what there is to know
    split : array (n,) or None, the part of each row where the source has a customary split, usually "train" or "test"
    origin : "scikit-learn", "directory" or "openml", where it was found

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
        if self.X.ndim == 2:
            size = f"{self.X.shape[0]} x {self.X.shape[1]}"
        else:
            size = f"{self.X.shape[0]} texts"
        return f"Dataset({self.name!r}, {size}, {self.task}, from {self.origin})"


@dataclass(frozen=True)
class Entry:
    """A data set that can be loaded, as a line of the catalogue.

    Parameters
    ----------
    name : str, what to give to `load`
    task : "classification" or "regression"
    n : int, rows of the source; `load` returns fewer where rows have an empty cell, and says so
    d : int or None, feature columns of the source before categorical ones are spread out; None for texts
    origin : "scikit-learn", "directory" or "openml"

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
    """The content of the files of one data set, as a reader returns it."""

    X: Any
    y: NDArray[Any]
    task: Task
    feature_names: tuple[str, ...]
    split: NDArray[np.str_] | None
    n: int  # rows of the file, those left out of X included
    d: int | None  # feature columns of the file, None for texts
    remark: str = ""  # which rows were left out, as a sentence of the description
