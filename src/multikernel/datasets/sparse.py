"""NAME.npz: a CSR matrix as ``data``, ``indices``, ``indptr`` and ``shape``; ``target``, and ``is_test`` if split."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multikernel.datasets.column import Column, decide
from multikernel.datasets.dataset import Content, Task
from multikernel.datasets.source_file import SourceFile

_CSR = ("data", "indices", "indptr", "shape")


def read_npz(file: SourceFile, task: Task | None) -> Content:
    """A sparse matrix with its target; ValueError where the arrays are not what they should be."""
    from scipy.sparse import csr_array  # a list of sets does not need it

    arrays = _arrays(file)
    for name in (*_CSR, "target"):
        if name not in arrays:
            raise ValueError(f"{file}: no array {name!r} among {', '.join(arrays) or 'none'}")
    try:
        n, d = (int(size) for size in arrays["shape"])
        X = csr_array((arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]), shape=(n, d))
        X.check_format()
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: the arrays {', '.join(_CSR)} are no CSR matrix ({error})") from None
    target = _vector(file, arrays, "target", n)
    # The arrays have no rows of text: count from 1 so that an error names the row of the matrix.
    y, task = decide(Column(str(file), "target", [str(value) for value in target.tolist()], range(1, n + 1)), task)
    split = None
    if "is_test" in arrays:
        split = np.where(_vector(file, arrays, "is_test", n).astype(bool), "test", "train")
    return Content(X, y, task, tuple(f"f{j}" for j in range(1, d + 1)), split, n, d)


def _arrays(file: SourceFile) -> dict[str, NDArray[Any]]:
    content = file.read()
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{file}: not a whole npz file ({error})") from None
    except ValueError as error:
        raise ValueError(f"{file}: not an npz file of plain arrays ({error})") from None


def _vector(file: SourceFile, arrays: dict[str, NDArray[Any]], name: str, n: int) -> NDArray[Any]:
    if arrays[name].shape != (n,):
        raise ValueError(f"{file}: array {name!r} has shape {arrays[name].shape}, the matrix has {n} rows")
    return arrays[name]
