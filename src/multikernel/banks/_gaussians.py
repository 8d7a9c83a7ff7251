"""Compiled passes over Gaussian kernels on subsets of the features; no kernel matrix is stored, no lock is held.

Kernel k is exp(-gammas[k] D), D_c = sum over j in subsets[owner[k]] of Q[j, c] for the pairs of samples c, where Q
holds the squared differences of each feature (-1 in a subset is no feature). X and Z hold the samples of rows and
columns, feature by feature; pairs are numbered row by row, in the lower ``half`` where X is Z, and a pass begins with
the pair (row, column). On each tile of pairs, all kernels of one subset are evaluated in turn: the distance is computed
once, and where a gamma is a small whole multiple of the previous one, the kernel is a power of the previous kernel and
needs no exponential.

Kernels are evaluated in the precision of the array ``kind``, double or single; distances and sums are always in double
precision.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

from multikernel._floats import REORDERED, ROUNDING
from multikernel.banks.profiles import LONGEST_CHAIN, LONGEST_CHAIN_SINGLE
from multikernel.tuning import POWER_FAST, ROW_TILE

_LOG2_E = float(np.log2(np.e))
# ln 2 in two parts, as in fdlibm's e_exp.c
_LN2_HIGH = 6.93147180369123816490e-01  # its last 20 bits are zero: multiples are exact
_LN2_LOW = 1.90821492927058770002e-10
_TO_INTEGER = 6755399441055744.0  # 1.5 2^52: a number added to it is rounded to a whole one, in the last bits
# The same in single precision.
_SINGLE_LOG2_E = np.float32(_LOG2_E)
_SINGLE_TO_INTEGER = np.float32(12582912.0)  # 1.5 2^23
_SINGLE_SMALLEST_EXPONENT = np.float32(-87.0)
_SINGLE_LN2_HIGH = np.float32(0.693359375)
_SINGLE_LN2_LOW = np.float32(-2.12194440e-4)
# 1 / k! of Taylor's polynomial
_C0 = np.float32(1.0)
_C2 = np.float32(1 / 2)
_C3 = np.float32(1 / 6)
_C4 = np.float32(1 / 24)
_C5 = np.float32(1 / 120)
_C6 = np.float32(1 / 720)
_C7 = np.float32(1 / 5040)


@njit(nogil=True, cache=True)
def forms(X, Z, half, row, column, W, subsets, owner, gammas, kind, out):  # type: ignore[no-untyped-def]
    """out[k, t] += sum_c W[t, c] K_k[c], for as many pairs as W has."""
    Q, D, K, spare, needed = _space(X, subsets, kind)
    for begin in range(0, W.shape[1], ROW_TILE):
        size = min(ROW_TILE, W.shape[1] - begin)
        row, column = _differences(X, Z, half, row, column, needed, Q[:, :size])
        d = D[:size]
        tile = K[:size]
        chain = 0
        for k in range(len(owner)):
            if k == 0 or owner[k] != owner[k - 1]:
                chain = _distance(Q, subsets[owner[k]], d)
            chain = _gaussian(d, gammas[k], gammas[k - 1], chain, tile, spare)
            for t in range(len(W)):
                out[k, t] += _dot(tile, W[t, begin : begin + size])


@njit(nogil=True, cache=True)
def sums(X, Z, half, row, column, W, subsets, owner, gammas, kind, out):  # type: ignore[no-untyped-def]
    """out[t, c] = sum_k W[t, k] K_k[c], for as many pairs as out has."""
    Q, D, K, spare, needed = _space(X, subsets, kind)
    out[:] = 0.0
    for begin in range(0, out.shape[1], ROW_TILE):
        size = min(ROW_TILE, out.shape[1] - begin)
        row, column = _differences(X, Z, half, row, column, needed, Q[:, :size])
        d = D[:size]
        tile = K[:size]
        chain = 0
        for k in range(len(owner)):
            if k == 0 or owner[k] != owner[k - 1]:
                chain = _distance(Q, subsets[owner[k]], d)
            chain = _gaussian(d, gammas[k], gammas[k - 1], chain, tile, spare)
            for t in range(len(W)):
                _add(W[t, k], tile, out[t, begin : begin + size])


@njit(nogil=True, cache=True)
def values(X, Z, half, row, column, subsets, owner, gammas, first, count, out):  # type: ignore[no-untyped-def]
    """out[k, first + c] = K_k[c], in the precision of out, for this number of pairs."""
    Q, D, K, spare, needed = _space(X, subsets, out[0])
    for begin in range(0, count, ROW_TILE):
        size = min(ROW_TILE, count - begin)
        row, column = _differences(X, Z, half, row, column, needed, Q[:, :size])
        d = D[:size]
        tile = K[:size]
        chain = 0
        for k in range(len(owner)):
            if k == 0 or owner[k] != owner[k - 1]:
                chain = _distance(Q, subsets[owner[k]], d)
            chain = _gaussian(d, gammas[k], gammas[k - 1], chain, tile, spare)
            _copy(tile, out[k, first + begin : first + begin + size])


@njit(nogil=True, cache=True)
def products(X, Z, half, row, column, count, C, subsets, owner, gammas, kind, out):  # type: ignore[no-untyped-def]
    """out[k, t, i - row] += sum over the pairs (i, j) of K_k[i, j] C[t, j], for this number of pairs.

    In a half, a pair of two different samples counts in both directions; ``row`` is 0 then.
    """
    Q, D, K, spare, needed = _space(X, subsets, kind)
    first = 0 if half else row
    while count > 0:
        i, j = row, column
        # the pairs of a tile are neighbours in one row
        size = min(ROW_TILE, count, (i + 1 if half else Z.shape[1]) - j)
        row, column = _differences(X, Z, half, row, column, needed, Q[:, :size])
        d = D[:size]
        tile = K[:size]
        chain = 0
        off_diagonal = min(size, i - j)  # without the pair of the sample with itself
        for k in range(len(owner)):
            if k == 0 or owner[k] != owner[k - 1]:
                chain = _distance(Q, subsets[owner[k]], d)
            chain = _gaussian(d, gammas[k], gammas[k - 1], chain, tile, spare)
            for t in range(len(C)):
                out[k, t, i - first] += _dot(tile, C[t, j : j + size])
                if half:
                    _add(C[t, i], tile[:off_diagonal], out[k, t, j : j + off_diagonal])
        count -= size


@njit(nogil=True, cache=True)
def _space(X, subsets, kind):  # type: ignore[no-untyped-def]
    """Tiles of differences, of distances, of a kernel and a spare one; and the features needed."""
    is_needed = np.zeros(len(X), np.bool_)
    for features in subsets:
        for j in features:
            if j >= 0:
                is_needed[j] = True
    tiles = np.empty((2, ROW_TILE), kind.dtype)
    return np.empty((len(X), ROW_TILE)), np.empty(ROW_TILE), tiles[0], tiles[1], np.flatnonzero(is_needed)


@njit(nogil=True, cache=True)
def _differences(X, Z, half, row, column, needed, Q):  # type: ignore[no-untyped-def]
    """Squared differences of the needed features for the pairs from (row, column) on; the pair after them."""
    done = 0
    while done < Q.shape[1]:
        length = row + 1 if half else Z.shape[1]
        size = min(Q.shape[1] - done, length - column)
        for j in needed:
            x, z, q = X[j, row], Z[j, column : column + size], Q[j, done : done + size]
            for c in range(size):
                difference = x - z[c]
                q[c] = difference * difference
        done += size
        column += size
        if column == length:
            row = row + 1
            column = 0
    return row, column


@njit(nogil=True, cache=True)
def _distance(Q, features, d):  # type: ignore[no-untyped-def]
    """d = the sum of the features' squared differences; returns 0, since no kernel has been evaluated on d yet."""
    first = True
    for j in features:
        if j >= 0 and first:
            _copy(Q[j], d)
            first = False
        elif j >= 0:
            _add(1.0, Q[j, : len(d)], d)
    if first:
        d[:] = 0.0
    return 0


@njit(nogil=True, cache=True)
def _gaussian(d, gamma, previous_gamma, chain, K, spare):  # type: ignore[no-untyped-def]
    """K = exp(-gamma d); where ``chain`` > 0, K is exp(-previous_gamma d) on entry. Returns K's chain."""
    if chain > 0:
        ratio = gamma / previous_gamma
        power = int(min(max(round(ratio), 0.0), 1e9))
        is_multiple = 1 <= power <= POWER_FAST and abs(ratio - power) <= ROUNDING * power
        longest = LONGEST_CHAIN if K.itemsize == 8 else LONGEST_CHAIN_SINGLE
        if is_multiple and chain * power <= longest:
            _raise(K, power, spare[: len(K)])
            return chain * power
    _exp(-gamma, d, K, spare[: len(K)])  # type: ignore[no-untyped-call]
    return 1


def _exp(factor, d, E, spare):  # type: ignore[no-untyped-def]
    """E = exp(factor d) for factor d <= 0, to one unit in the last place of E's precision: 2^k e^r, |r| <= ln 2 / 2.

    Written out so that it becomes vector instructions: k from the last bits of a sum with a large constant, shifted to
    where the exponent is and added to that of e^r, which is a normal number for every k that occurs.
    """


@overload(_exp, jit_options={"nogil": True, "fastmath": {"contract", "nsz"}})
def _exp_of_precision(factor, d, E, spare):  # type: ignore[no-untyped-def]
    if E.dtype == types.float32:
        return _in_single
    return _in_double


def _in_double(factor, d, E, spare):  # type: ignore[no-untyped-def]
    """e^r by its Taylor polynomial of degree 13."""
    bits, exponents = spare.view(np.int64), E.view(np.int64)
    for t in range(len(d)):
        x = max(factor * d[t], -708.0)  # exp of it is the smallest normal number, near enough to 0
        shifted = x * _LOG2_E + _TO_INTEGER
        k = shifted - _TO_INTEGER
        r = (x - k * _LN2_HIGH) - k * _LN2_LOW
        p = 1.6059043836821613e-10
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 1.984126984126984e-04
        p = p * r + 1.388888888888889e-03
        p = p * r + 8.333333333333333e-03
        p = p * r + 4.1666666666666664e-02
        p = p * r + 1.6666666666666666e-01
        p = p * r + 0.5
        p = p * r + 1.0
        E[t] = p * r + 1.0
        spare[t] = shifted
    for t in range(len(d)):
        exponents[t] += bits[t] << 52


def _in_single(factor, d, E, spare):  # type: ignore[no-untyped-def]
    """e^r by its Taylor polynomial of degree 7."""
    bits, exponents = spare.view(np.int32), E.view(np.int32)
    for t in range(len(d)):
        x = max(np.float32(factor * d[t]), _SINGLE_SMALLEST_EXPONENT)
        shifted = x * _SINGLE_LOG2_E + _SINGLE_TO_INTEGER
        k = shifted - _SINGLE_TO_INTEGER
        r = (x - k * _SINGLE_LN2_HIGH) - k * _SINGLE_LN2_LOW
        p = _C7
        p = p * r + _C6
        p = p * r + _C5
        p = p * r + _C4
        p = p * r + _C3
        p = p * r + _C2
        p = p * r + _C0
        E[t] = p * r + _C0
        spare[t] = shifted
    for t in range(len(d)):
        exponents[t] += bits[t] << np.int32(23)


@njit(nogil=True, cache=True)
def _raise(K, power, base):  # type: ignore[no-untyped-def]
    """K = K^power in place."""
    if power == 2:
        for t in range(len(K)):
            K[t] *= K[t]
        return
    for t in range(len(K)):
        base[t] = K[t]
    for _ in range(power - 1):
        for t in range(len(K)):
            K[t] *= base[t]


@njit(nogil=True, cache=True)
def _copy(x, out):  # type: ignore[no-untyped-def]
    """out = x: an assignment of slices takes seconds to compile, for arrays that overlap."""
    for t in range(len(out)):
        out[t] = x[t]


@njit(nogil=True, cache=True, fastmath=REORDERED)
def _add(w, x, total):  # type: ignore[no-untyped-def]
    """total += w x."""
    for t in range(len(total)):
        total[t] += w * x[t]


@njit(nogil=True, cache=True, fastmath=REORDERED)
def _dot(x, w):  # type: ignore[no-untyped-def]
    """x'w."""
    total = 0.0
    for t in range(len(x)):
        total += x[t] * w[t]
    return total
