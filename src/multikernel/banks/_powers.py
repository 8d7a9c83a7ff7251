"""Compiled passes over the powers of one matrix. Tiles of a row stay in the first-level cache; no lock is held."""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._floats import REORDERED
from multikernel.tuning import ROW_TILE


@njit(nogil=True, cache=True, fastmath=REORDERED)
def horner(B, coef, out, first, last):  # type: ignore[no-untyped-def]
    """out[i, j] = sum_d coef[d] B[i, j]^d for the rows first..last; four degrees for each pass over a tile."""
    top = len(coef) - 1
    for i in range(first, last):
        for j in range(0, B.shape[1], ROW_TILE):
            b, s = B[i, j : j + ROW_TILE], out[i, j : j + ROW_TILE]
            s[:] = coef[top]
            d = top
            while d >= 4:
                c1, c2, c3, c4 = coef[d - 1], coef[d - 2], coef[d - 3], coef[d - 4]
                for t in range(len(b)):
                    s[t] = (((s[t] * b[t] + c1) * b[t] + c2) * b[t] + c3) * b[t] + c4
                d -= 4
            while d >= 1:
                c1 = coef[d - 1]
                for t in range(len(b)):
                    s[t] = s[t] * b[t] + c1
                d -= 1


@njit(nogil=True, cache=True)
def cosines(B, row_scales, column_scales):  # type: ignore[no-untyped-def]
    """B[i, j] = B[i, j] (row_scales[i] column_scales[j]) in [-1, 1]; in this order symmetry stays exact."""
    one = B.dtype.type(1.0)
    for i in range(B.shape[0]):
        row, scale = B[i], row_scales[i]
        for j in range(len(row)):
            row[j] = min(max(row[j] * (scale * column_scales[j]), -one), one)


@njit(nogil=True, cache=True, fastmath=REORDERED)
def outer_forms(B, L, R, symmetric, top, first, last):  # type: ignore[no-untyped-def]
    """For d = 0..top: sum_ij (L R')_ij B_ij^d over the rows first..last.

    With ``symmetric``, where B and L R' are symmetric, only j >= i is read, and off-diagonal terms count twice.
    """
    forms = np.zeros(top + 1)
    p = np.empty(ROW_TILE)
    for i in range(first, last):
        for j in range(i if symmetric else 0, B.shape[1], ROW_TILE):
            b = B[i, j : j + ROW_TILE]
            w = p[: len(b)]
            w[:] = 0.0
            for q in range(L.shape[1]):
                factor = L[i, q]
                if factor != 0.0:
                    for t in range(len(b)):
                        w[t] += factor * R[j + t, q]
            if symmetric:
                start = 1 if j == i else 0
                for t in range(start, len(b)):
                    w[t] *= 2.0
            _add_powers(w, b, top, forms)
    return forms


@njit(nogil=True, cache=True, fastmath=REORDERED)
def matrix_forms(B, M, top, first, last):  # type: ignore[no-untyped-def]
    """For d = 0..top: sum_ij M_ij B_ij^d over the rows first..last."""
    forms = np.zeros(top + 1)
    p = np.empty(ROW_TILE)
    for i in range(first, last):
        for j in range(0, B.shape[1], ROW_TILE):
            b = B[i, j : j + ROW_TILE]
            w = p[: len(b)]
            for t in range(len(b)):
                w[t] = M[i, j + t]
            _add_powers(w, b, top, forms)
    return forms


@njit(nogil=True, cache=True, fastmath=REORDERED)
def _add_powers(w, b, top, forms):  # type: ignore[no-untyped-def]
    """forms[d] += sum_t w_t b_t^d; w is overwritten. Each pass adds two degrees."""
    d = 0
    while d + 1 <= top:
        even, odd = 0.0, 0.0
        for t in range(len(b)):
            even += w[t]
            product = w[t] * b[t]
            odd += product
            w[t] = product * b[t]
        forms[d] += even
        forms[d + 1] += odd
        d += 2
    if d == top:
        last = 0.0
        for t in range(len(b)):
            last += w[t]
        forms[d] += last
