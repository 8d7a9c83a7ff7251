"""Where the features of all samples are kept: in memory, or on disk where memory has no room for them.

A temporary file is mapped: passes read it block by block, and the system keeps of it what fits. It has no name, so that
nothing of it is left behind, whatever ends the process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

import numpy as np

from multikernel._memory import fits
from multikernel._typing import Array


def space(n: int, q: int, dtype: Any) -> Array:
    """An array (n, q) to be filled.

    Raises
    ------
    MemoryError : where neither memory nor the folder of temporary files has room for it
    """
    dtype = np.dtype(dtype)
    needed = n * q * dtype.itemsize
    if fits(needed):
        return np.empty((n, q), dtype=dtype)
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    try:
        if needed > free:
            raise OSError
        with tempfile.TemporaryFile(dir=folder) as file:  # the map outlives what opened it
            if hasattr(os, "posix_fallocate"):  # a full disk is reported now, and not in the middle of a pass
                os.posix_fallocate(file.fileno(), 0, needed)
            else:
                file.truncate(needed)
            return np.asarray(np.memmap(file, dtype=dtype, mode="r+", shape=(n, q)))
    except OSError:
        raise MemoryError(
            f"features of {n} samples, {q} in all, take {needed / 1e9:.3g} GB: more than half of the memory, and there "
            f"are {free / 1e9:.3g} GB free in {folder}: ask for a lower rank, for fewer kernels, or set TMPDIR to a "
            "larger disk"
        ) from None
