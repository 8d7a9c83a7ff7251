"""Data sets by name: from a directory of files, from scikit-learn, or from OpenML. Never a synthetic stand-in."""

from __future__ import annotations

from multikernel.datasets.catalogue import available, load
from multikernel.datasets.column import Column, decide
from multikernel.datasets.dataset import Dataset, Entry, Task
from multikernel.datasets.directory import DataDirectory
from multikernel.datasets.feature import Feature, encode
from multikernel.datasets.skew import deskew

__all__ = [
    "Column",
    "DataDirectory",
    "Dataset",
    "Entry",
    "Feature",
    "Task",
    "available",
    "decide",
    "deskew",
    "encode",
    "load",
]
