"""Products and factorisations by SciPy's own BLAS and LAPACK, without Python's lock: several threads run them at once.

SciPy's wrappers for Python hold the lock while they compute, so that threads that work on separate matrices wait for
each other. Here the wrapped routines are called by their addresses, which SciPy publishes for compiled code
(``scipy.linalg.cython_lapack``); calls by ctypes release the lock. Factorisations take arrays in Fortran order, as
LAPACK does, or blocks of these, and overwrite them; products take arrays of doubles in either order. Where SciPy does
not publish the addresses in the expected form, its wrappers are called, with the lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from scipy.linalg import blas, cython_blas, cython_lapack, lapack

from multikernel._typing import Array

_capsules = ctypes.pythonapi
_CAPSULE_NAME = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", _capsules))
_ADDRESS = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _capsules))


def factored(A: Array, lower: bool) -> bool:
    """Replace one triangle of A by its Cholesky factor; whether there is one. Others call ``cholesky.factorise``.

    Parameters
    ----------
    A : array (n, n) of float64 or float32, Fortran-ordered or a block of such an array
    lower : bool, whether the lower triangle becomes L with A = L L', or the upper one U with A = U'U
    """
    _check("factored", len(A) == A.shape[1], A)
    potrf = _ROUTINES[A.dtype]["potrf"]
    if potrf is None:
        return _in_place(A, *_wrapper(lapack, A, "potrf")(A, lower=lower, clean=0, overwrite_a=1))
    failed = _int(0)
    potrf(_half(lower), _int(len(A)), _at(A), _leading(A), failed)
    return failed.value == 0


def divide(B: Array, L: Array, transposed: bool = True) -> None:
    """Replace B (t, n) by B L'^-1, or by B L^-1, for a lower triangle L; both in Fortran or C order, or blocks of such.

    Only this triangle of L is read.
    """
    _by_triangle("trsm", B, L, transposed)


def multiply(B: Array, L: Array, transposed: bool = True) -> None:
    """Replace B by B L', or by B L: as ``divide``."""
    _by_triangle("trmm", B, L, transposed)


def _by_triangle(name: str, B: Array, L: Array, transposed: bool) -> None:
    if not B.size:
        return
    upper = not _by_columns(L)
    on_right = _by_columns(B)  # else BLAS knows B', and L or its transpose stands before it
    triangle = L.T if upper else L
    target = B if on_right else B.T
    _check("divide" if name == "trsm" else "multiply", L.shape == (B.shape[1],) * 2, target, triangle)
    swapped = transposed ^ upper ^ (not on_right)
    routine = _ROUTINES[B.dtype][name]
    if routine is None:
        wrapper = _wrapper(blas, B, name)
        target[...] = wrapper(1.0, triangle, target, side=on_right, lower=not upper, trans_a=swapped)
    else:
        side = b"R" if on_right else b"L"
        transposition = b"T" if swapped else b"N"
        sizes = _int(target.shape[0]), _int(target.shape[1])
        addresses = _at(triangle), _leading(triangle), _at(target), _leading(target)
        routine(side, _half(not upper), transposition, b"N", *sizes, _number(B, 1.0), *addresses)


def reduce(C: Array, B: Array, lower: bool = True) -> None:
    """Subtract B B' from one triangle of C (n, n), for B (n, k) in Fortran or C order, or a block of such an array."""
    if not B.size:
        return
    by_rows = _by_columns(B)
    operand = B if by_rows else B.T
    _check("reduce", C.shape == (len(B), len(B)), C, operand)
    syrk = _ROUTINES[C.dtype]["syrk"]
    if syrk is None:
        C[...] = _wrapper(blas, C, "syrk")(-1.0, operand, beta=1.0, c=C, trans=not by_rows, lower=lower)
    else:
        sizes = _int(len(C)), _int(B.shape[1])
        transposition = b"N" if by_rows else b"T"
        one = _number(C, 1.0)
        minus = _number(C, -1.0)
        syrk(_half(lower), transposition, *sizes, minus, _at(operand), _leading(operand), one, _at(C), _leading(C))


def inverted(L: Array) -> bool:
    """Replace the lower factor L, of float64, by the lower triangle of (L L')^-1; whether there is one."""
    _check("inverted", len(L) == L.shape[1] and L.dtype == np.float64, L)
    if _potri is None:
        return _in_place(L, *lapack.dpotri(L, lower=1, overwrite_c=1))
    failed = _int(0)
    _potri(b"L", _int(len(L)), _at(L), _leading(L), failed)
    return failed.value == 0


def gemm(A: Array, B: Array, out: Array | None = None, factor: float = 1.0) -> Array:
    """``out`` + factor A B, in its place, or factor A B in a new array.

    Parameters
    ----------
    A, B : array (m, k) and (k, n); in C or Fortran order, or blocks of such arrays, they are read where they are
    out : array (m, n) of float64 in C order, or a block of such an array
    factor : float
    """
    A, transposed, height = _read(A)
    B, mirrored, width = _read(B)
    (m, k), n = A.shape, B.shape[1]
    if len(B) != k:
        raise ValueError(f"gemm: A has {k} columns and B has {len(B)} rows: these numbers have to be equal")
    fits = out is None or (out.shape == (m, n) and out.dtype == np.float64 and (_by_columns(out.T) or not out.size))
    if not fits:
        raise ValueError(f"gemm: out has to be an array of float64 in C order, of shape ({m}, {n})")
    added = out is not None
    if out is None:
        out = np.empty((m, n))
    if not k:
        if added:
            return out
        return np.zeros((m, n))
    if _gemm is None:
        out[...] = factor * (A @ B) + (out if added else 0.0)
    elif m and n:  # of the transposes, which are in Fortran order: out' = B'A'
        one = ctypes.c_double(factor)
        beta = ctypes.c_double(float(added))
        sizes = _int(n), _int(m), _int(k)
        _gemm(mirrored, transposed, *sizes, one, _at(B), width, _at(A), height, beta, _at(out), _leading(out.T))
    return out


def _read(A: Array) -> tuple[Array, bytes, Any]:
    """A, copied where BLAS cannot read it in its place, whether BLAS is to transpose it, and its leading dimension."""
    if A.dtype != np.float64 or not (_by_columns(A) or _by_columns(A.T)):
        A = np.ascontiguousarray(A, dtype=np.float64)
    if _by_columns(A.T):
        return A, b"N", _leading(A.T)
    return A, b"T", _leading(A)


def _check(name: str, fits: bool, *arrays: Array) -> None:
    """ValueError unless the shapes fit, and the arrays have one precision and columns that are contiguous in memory.

    LAPACK gets only addresses: with other arrays it would read and write beyond their memory.
    """
    precision = arrays[0].dtype
    if not (fits and precision in _PREFIX and all(A.dtype == precision and _by_columns(A) for A in arrays)):
        shapes = " and ".join(f"{A.shape} of {A.dtype}" for A in arrays)
        raise ValueError(
            f"{name} takes arrays of one precision, in Fortran order, whose shapes fit together: got {shapes}"
        )


def _by_columns(A: Array) -> bool:
    """Whether A is in Fortran order, or a block of an array that is."""
    contiguous = len(A) <= 1 or A.strides[0] == A.itemsize
    apart = A.strides[1] >= len(A) * A.itemsize and A.strides[1] % A.itemsize == 0
    return contiguous and (A.shape[1] <= 1 or apart)


def _in_place(A: Array, result: Array, failed: int) -> bool:
    """Copy the result of a wrapper to where LAPACK would write it; whether it did not fail."""
    if not np.shares_memory(result, A):
        A[...] = result
    return bool(failed == 0)


def _wrapper(module: Any, A: Array, name: str) -> Callable[..., Any]:
    """SciPy's own wrapper for arrays of this precision."""
    return cast("Callable[..., Any]", getattr(module, _PREFIX[A.dtype] + name))


def _half(lower: bool) -> bytes:
    if lower:
        return b"L"
    return b"U"


def _leading(A: Array) -> Any:
    """The distance of two columns in memory, in entries."""
    return _int(max(1, len(A), A.strides[1] // A.itemsize if A.shape[1] > 1 else 0))


def _number(A: Array, value: float) -> Any:
    """A factor in the precision of A."""
    if A.dtype == np.float32:
        return ctypes.c_float(value)
    return ctypes.c_double(value)


def _int(value: int) -> Any:
    return ctypes.c_int(value)


def _at(A: Array) -> Any:
    return ctypes.c_void_p(A.ctypes.data)


def _routine(module: Any, name: str) -> Callable[..., None] | None:
    """What a module publishes under a name, whose arguments are all addresses; None where integers are of 64 bits."""
    capsule = getattr(module, "__pyx_capi__", {}).get(name)
    signature = b"" if capsule is None else _CAPSULE_NAME(capsule)
    if b"int *" not in signature:
        return None
    called = ctypes.CFUNCTYPE(None)(_ADDRESS(capsule, signature))

    def run(*arguments: Any) -> None:
        called(
            *(
                argument if isinstance(argument, bytes | ctypes.c_void_p) else ctypes.byref(argument)
                for argument in arguments
            )
        )

    return run


_PREFIX = {np.dtype(np.float64): "d", np.dtype(np.float32): "s"}
_PUBLISHED_BY = {"potrf": cython_lapack, "trsm": cython_blas, "trmm": cython_blas, "syrk": cython_blas}
_ROUTINES = {
    precision: {name: _routine(module, prefix + name) for name, module in _PUBLISHED_BY.items()}
    for precision, prefix in _PREFIX.items()
}
_potri = _routine(cython_lapack, "dpotri")
_gemm = _routine(cython_blas, "dgemm")
