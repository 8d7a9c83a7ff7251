"""Products and factorisations by SciPy's own BLAS and LAPACK, without Python's lock: several threads run them at once.

SciPy's wrappers for Python hold the lock while they compute, so that threads with a matrix each wait for each other.
What they wrap is called here by its address, which SciPy publishes for compiled code (``scipy.linalg.cython_lapack``);
calls by ctypes release the lock. Matrices are C-contiguous arrays of doubles: their transposes are what LAPACK knows.
Where SciPy publishes nothing that is understood here, its wrappers compute, with the lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack, lapack

from multikernel._typing import Array

_capsules = ctypes.pythonapi
_NAME = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", _capsules))
_ADDRESS = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _capsules))


def factored(A: Array) -> bool:
    """Put L with A = L L' into the lower triangle of L' (the upper one of A); whether A is positive definite."""
    if _potrf is None:
        return _in_place(A, *lapack.dpotrf(A.T, lower=1, clean=0, overwrite_a=1))
    n, failed = _int(len(A)), _int(0)
    _potrf(b"L", n, _at(A), n, failed)
    return failed.value == 0


def inverted(A: Array) -> bool:
    """Put the inverse in the place of what ``factored`` left, in that triangle only; whether there is one."""
    if _potri is None:
        return _in_place(A, *lapack.dpotri(A.T, lower=1, overwrite_c=1))
    n, failed = _int(len(A)), _int(0)
    _potri(b"L", n, _at(A), n, failed)
    return failed.value == 0


def product(A: Array, B: Array, out: Array | None = None, factor: float = 1.0) -> Array:
    """``out`` + factor A B, in its place, or factor A B in a new array."""
    A, B = np.ascontiguousarray(A, dtype=np.float64), np.ascontiguousarray(B, dtype=np.float64)
    (m, k), n = A.shape, B.shape[1]
    added = out is not None
    out = np.empty((m, n)) if out is None else out
    if not k:
        return out if added else np.zeros((m, n))
    if _gemm is None:
        out[...] = factor * (A @ B) + (out if added else 0.0)
    elif m and n:
        one, beta = ctypes.c_double(factor), ctypes.c_double(float(added))
        _gemm(b"N", b"N", _int(n), _int(m), _int(k), one, _at(B), _int(n), _at(A), _int(k), beta, _at(out), _int(n))
    return out


def _in_place(A: Array, found: Array, failed: int) -> bool:
    """Put what a wrapper found where LAPACK would have; whether it did not fail."""
    if not np.shares_memory(found, A):
        A[...] = found.T
    return bool(failed == 0)


def _int(value: int) -> Any:
    return ctypes.c_int(value)


def _at(A: Array) -> Any:
    return ctypes.c_void_p(A.ctypes.data)


def _routine(module: Any, name: str) -> Callable[..., None] | None:
    """What a module publishes under a name, whose arguments are all addresses; None where integers are of 64 bits."""
    capsule = getattr(module, "__pyx_capi__", {}).get(name)
    signature = b"" if capsule is None else _NAME(capsule)
    if b"int *" not in signature:
        return None
    called = ctypes.CFUNCTYPE(None)(_ADDRESS(capsule, signature))

    def run(*arguments: Any) -> None:
        called(*(each if isinstance(each, bytes | ctypes.c_void_p) else ctypes.byref(each) for each in arguments))

    return run


_potrf, _potri = _routine(cython_lapack, "dpotrf"), _routine(cython_lapack, "dpotri")
_gemm = _routine(cython_blas, "dgemm")
