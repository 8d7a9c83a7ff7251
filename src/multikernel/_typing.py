"""Types that every room uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
Columns = Sequence[int | str]  # columns of a data set, by position or by name
Index = Any  # what selects samples or kernels: an integer array, a boolean mask or a slice
