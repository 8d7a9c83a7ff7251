"""Arrays of other libraries: torch, cupy and others of the array API standard, on any device.

Arrays that grow with the square of the samples, or with samples times features, stay on the device of the user's
samples; vectors of samples and of kernels, which are small, are NumPy arrays. Kernels, banks, Grams and sums over
samples are therefore written for any array, and their callers do not depend on the library.

    namespace(A)    the functions of A's library        host(A)     A as a NumPy array
    unmasked(A)     NaN in place of masked entries
    like(A, B)      B on A's device, in A's precision   foreign(A)  whether A is of another library
    as_dense(A)     a sparse matrix as an array         is_sparse(A)
    taken(A, rows)  some rows, or columns               part_of(A, rows)    the same, None of None
    is_null(value)  whether an object is a missing value
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._typing import Array

_LIBRARIES = ("torch", "cupy", "array_api_strict")


def foreign(A: Any) -> bool:
    """Whether A is an array of a library other than NumPy that computes by the array API standard."""
    if isinstance(A, np.ndarray):
        return False
    return library(A) is not None and hasattr(A, "shape") and hasattr(A, "ndim")


def is_sparse(A: Any) -> bool:
    """Whether A is a sparse matrix or array, of SciPy or of a library that converts to SciPy."""
    return hasattr(A, "tocsr")


def as_dense(A: Any) -> Any:
    """A sparse matrix as a dense array; other values unchanged."""
    if is_sparse(A):
        return A.toarray()
    return A


def library(A: Any) -> str | None:
    """The name of the library of an array, None for NumPy; no library is imported for this."""
    roots = {kind.__module__.partition(".")[0] for kind in type(A).__mro__}
    return next((name for name in _LIBRARIES if name in sys.modules and name in roots), None)


def namespace(A: Any) -> Any:
    """The functions of the library that A is an array of; NumPy's for anything that is not foreign.

    Raises
    ------
    ImportError : where a foreign array is given, and array-api-compat is not installed
    """
    if not foreign(A):
        return np
    try:
        from array_api_compat import array_namespace
    except ImportError:
        raise ImportError(
            f"arrays of {library(A)} are taken through the package array-api-compat, which is not installed: "
            "pip install multikernel[gpu], or give NumPy arrays"
        ) from None
    return array_namespace(A)


def host(A: Any) -> Any:
    """A foreign array as a NumPy array, in main memory; other values unchanged."""
    if not foreign(A):
        return A
    match library(A):
        case "torch":
            return A.detach().cpu().numpy()
        case "cupy":
            return A.get()
    return np.asarray(A.to_device(namespace(A).__array_namespace_info__().default_device()))


def unmasked(A: Any) -> Any:
    """A masked array with missing values in place of masked entries, NaN or None of objects; others unchanged."""
    if not isinstance(A, np.ma.MaskedArray) or A.dtype.names:
        return A
    if not np.ma.getmaskarray(A).any():
        return np.asarray(A)
    missing: Any = None
    if A.dtype.kind in "mM":
        missing = np.array("NaT", dtype=A.dtype)
    if A.dtype.kind in "fiub":
        A, missing = A.astype(float), np.nan
    elif missing is None:
        A = A.astype(object)
    return np.where(np.ma.getmaskarray(A), missing, A.data)


def is_null(value: Any) -> bool:
    """Whether a value stands for a missing one: NaN, NaT, or the NA of pandas, which does not equal itself."""
    equal = value == value
    if isinstance(equal, bool | np.bool_):
        return not equal
    return equal is value  # a comparison with the NA of pandas is NA itself


def refuse_masked(values: Any, name: str) -> None:
    """ValueError with the first entry that is masked, where none may be missing."""
    if isinstance(values, np.ma.MaskedArray) and not values.dtype.names and np.ma.getmaskarray(values).any():
        if values.ndim:
            row = int(np.argwhere(np.ma.getmaskarray(values))[0, 0])
        else:
            row = 0
        raise ValueError(f"{name} is masked at row {row}: give a value there, or leave the sample out")


def like(A: Any, B: Any) -> Any:
    """B as an array of A's library, on its device and in its precision; with a NumPy A, B as a NumPy array."""
    if not foreign(A):
        return host(B)
    xp = namespace(A)
    if foreign(B) and library(B) == library(A):
        return xp.asarray(B if B.device == A.device else _moved(B, A.device), dtype=A.dtype)
    values = host(B)
    values = np.ascontiguousarray(as_dense(values))
    return xp.asarray(values if values.flags.writeable else values.copy(), dtype=A.dtype, device=A.device)


def _moved(B: Any, device: Any) -> Any:
    from array_api_compat import to_device

    return to_device(B, device)


def places(A: Any, index: Any) -> Any:
    """Positions for ``xp.take``, on the device of A."""
    index = np.asarray(index, dtype=np.int64)
    if not foreign(A):
        return index
    return namespace(A).asarray(index, device=A.device)


def taken(A: Any, index: Any, axis: int = 0) -> Any:
    """Some rows of A, or some columns; slices are not copied."""
    if not foreign(A):
        if axis == 0:
            return A[index]
        return A[:, index]
    if isinstance(index, slice):
        index = slice(*index.indices(A.shape[axis]))  # the standard has no slices beyond the end
        if axis == 0:
            return A[index, ...]
        return A[:, index]
    if isinstance(index, np.ndarray) and index.dtype == bool:
        index = np.flatnonzero(index)
    return namespace(A).take(A, places(A, index), axis=axis)


def part_of(values: Any, index: Any) -> Any:
    """Some entries of an optional array, such as sample weights; None for None."""
    if values is None:
        return None
    return values[index]


def zeros(A: Any, shape: tuple[int, ...]) -> Any:
    """Zeros in double precision, on the device of A."""
    if not foreign(A):
        return np.zeros(shape)
    xp = namespace(A)
    return xp.zeros(shape, dtype=xp.float64, device=A.device)


def in_double(A: Any) -> Any:
    """An array or samples in double precision; A itself where it already is."""
    xp = namespace(A)
    if A.dtype == xp.float64:
        return A
    if xp is np:  # NumPy before 2 has no function of this name
        return A.astype(np.float64)
    return xp.astype(A, xp.float64)


def returned(values: Array, X: Any) -> Any:
    """Values for samples X, as an array of X's library on X's device; labels that are not numeric stay with NumPy."""
    if not foreign(X) or values.dtype.kind not in "fiub":
        return values
    return namespace(X).asarray(np.ascontiguousarray(values), device=X.device)


def checked(X: Any, name: str = "X") -> Any:
    """Foreign samples (n, p) as finite numbers in double precision.

    Raises
    ------
    ValueError : where X is no dense matrix of real numbers, has no rows or columns, or contains NaN or infinity
    """
    xp, torch = namespace(X), library(X) == "torch"
    if torch and X.layout is not sys.modules["torch"].strided:
        raise ValueError(f"{name} is a sparse torch tensor: give a dense one, or a SciPy CSR matrix")
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: {name} has shape {tuple(X.shape)}; reshape your data "
            "either using X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it is a single sample"
        )
    if not xp.isdtype(X.dtype, "real floating") and not xp.isdtype(X.dtype, ("integral", "bool")):
        raise ValueError(f"Complex data not supported: {name} holds numbers of type {X.dtype}; give real ones")
    if 0 in X.shape:
        raise ValueError(f"Found array with 0 {'sample' if X.shape[0] == 0 else 'feature'}(s) in {name}")
    X = in_double(X.detach() if torch else X)
    finite = xp.all(xp.isfinite(X), axis=1)
    if not bool(xp.all(finite)):
        row = int(np.flatnonzero(~host(finite))[0])
        raise ValueError(f"Input {name} contains NaN or infinity, first at row {row}: fill it in, or leave it out")
    return X


@dataclass(frozen=True, eq=False)
class Cholesky:
    """The lower factor L of a foreign positive definite matrix.

    Parameters
    ----------
    L : array (n, n)
    """

    L: Any

    @classmethod
    def of(cls, A: Any, shift: float = 0.0) -> Cholesky:
        """The factor of A + shift I; np.linalg.LinAlgError where this is not positive definite in floating point."""
        xp = namespace(A)
        L = _or_linalg_error(lambda: xp.linalg.cholesky(A + shift * xp.eye(A.shape[0], dtype=A.dtype, device=A.device)))
        if not np.isfinite(host(xp.linalg.diagonal(L))).all():
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        return cls(L)

    def half(self, B: Array) -> Array:
        """L^{-1} B."""
        return host(self._lower(like(self.L, B)))

    def solve(self, B: Array) -> Array:
        """(L L')^{-1} B, for B of shape (n,) or (n, t)."""
        columns = B[:, None] if B.ndim == 1 else B
        solution = host(self._upper(self._lower(like(self.L, columns))))
        if B.ndim == 1:
            return solution[:, 0]
        return solution

    def inverse(self) -> Any:
        """(L L')^{-1}, on the device of L."""
        xp = namespace(self.L)
        if library(self.L) == "torch":
            return sys.modules["torch"].cholesky_inverse(self.L)
        inside = xp.linalg.inv(self.L)
        return xp.matmul(inside.T, inside)

    def _lower(self, B: Any) -> Any:
        linalg = namespace(self.L).linalg
        if library(self.L) == "torch":
            return linalg.solve_triangular(self.L, B, upper=False)
        return linalg.solve(self.L, B)

    def _upper(self, B: Any) -> Any:
        linalg = namespace(self.L).linalg
        if library(self.L) == "torch":
            return linalg.solve_triangular(self.L.T, B, upper=True)
        return linalg.solve(self.L.T, B)


def _or_linalg_error(decompose: Callable[[], Any]) -> Any:
    """The result of a decomposition; the error of any library for a missing one becomes that of NumPy."""
    try:
        return decompose()
    except Exception as error:
        if "LinAlgError" not in type(error).__name__:
            raise
        raise np.linalg.LinAlgError(str(error)) from None
