"""Storage for the features of all samples: in memory, or on disk if they do not fit into memory.

On disk a temporary file is mapped: passes read it block by block, and the system caches as much as fits. The file has
no name, so it is deleted in any case when the process ends.
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
        with tempfile.TemporaryFile(dir=folder) as file:  # the map remains valid when the file is closed
            if hasattr(os, "posix_fallocate"):  # so that a full disk is reported now, and not during a pass
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
