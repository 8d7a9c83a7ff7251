"""Data sets by name: from a directory of files, from scikit-learn, or from OpenML. Never a synthetic stand-in."""

from __future__ import annotations

from multikernel.datasets.catalogue import available, load
from multikernel.datasets.dataset import Dataset, Entry
from multikernel.datasets.skew import deskew

__all__ = ["Dataset", "Entry", "available", "deskew", "load"]
