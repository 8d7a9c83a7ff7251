"""Compiled passes over Gaussian kernels on subsets of the features; no kernel matrix is stored, no lock is held.

Kernel k is exp(-gammas[k] D), D_c = sum over j in subsets[owner[k]] of Q[j, c] for the pairs of samples c, where Q
holds the squared differences of each feature (-1 in a subset is no feature). A tile of pairs goes through all kernels
of one subset at a time: the distance is formed once, and where a gamma is a small whole multiple of the one before, the
kernel is a power of the one before and needs no exponential.

Sums may be reassociated: the order of a sum changes rounding only, and no stopping test is computed here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FAST = {"reassoc", "contract", "nsz"}
_TILE = 512  # pairs in the first-level cache at a time
_LARGEST_POWER = 8  # beyond it an exponential is as cheap
_LONGEST_CHAIN = 256  # rounding grows with the product of the powers since the last exponential
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # its last 20 bits are zero: multiples are exact
_LN2_LOW = 1.90821492927058770002e-10
_TO_INTEGER = 6755399441055744.0  # 1.5 2^52: a number added to it is rounded to a whole one, in the last bits
_LEAST = -708.0  # exp of it is the smallest normal number, near enough to 0


@njit(nogil=True, cache=True)
def forms(Q, W, subsets, owner, gammas, out, first, last):  # type: ignore[no-untyped-def]
    """out[k, t] += sum_c W[t, c] K_k[c] for the kernels first..last."""
    D, K, spare = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    for begin in range(0, Q.shape[1], _TILE):
        end = min(begin + _TILE, Q.shape[1])
        d, tile = D[: end - begin], K[: end - begin]
        chain = 0
        for k in range(first, last):
            if k == first or owner[k] != owner[k - 1]:
                chain = _distance(Q, subsets[owner[k]], begin, d)
            chain = _gaussian(d, gammas[k], gammas[k - 1], chain, tile, spare)
            for t in range(len(W)):
                out[k, t] += _dot(tile, W[t, begin:end])


@njit(nogil=True, cache=True)
def sums(Q, W, subsets, owner, gammas, out, start):  # type: ignore[no-untyped-def]
    """out[t, start + c] = sum_k W[t, k] K_k[c]."""
    D, K, spare = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    out[:, start : start + Q.shape[1]] = 0.0
    for begin in range(0, Q.shape[1], _TILE):
        end = min(begin + _TILE, Q.shape[1])
        d, tile = D[: end - begin], K[: end - begin]
        chain = 0
        for k in range(len(owner)):
            if k == 0 or owner[k] != owner[k - 1]:
                chain = _distance(Q, subsets[owner[k]], begin, d)
            chain = _gaussian(d, gammas[k], gammas[k - 1], chain, tile, spare)
            for t in range(len(W)):
                _add(W[t, k], tile, out[t, start + begin : start + end])


@njit(nogil=True, cache=True)
def values(Q, subsets, owner, gammas, out, start, first, last):  # type: ignore[no-untyped-def]
    """out[k, start + c] = K_k[c] for the kernels first..last."""
    D, K, spare = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    for begin in range(0, Q.shape[1], _TILE):
        end = min(begin + _TILE, Q.shape[1])
        d, tile = D[: end - begin], K[: end - begin]
        chain = 0
        for k in range(first, last):
            if k == first or owner[k] != owner[k - 1]:
                chain = _distance(Q, subsets[owner[k]], begin, d)
            chain = _gaussian(d, gammas[k], gammas[k - 1], chain, tile, spare)
            entries = out[k, start + begin : start + end]
            for t in range(len(tile)):
                entries[t] = tile[t]


@njit(nogil=True, cache=True)
def differences(X, Z, rows, columns, Q):  # type: ignore[no-untyped-def]
    """Q[j, c] = (X[j, rows[c]] - Z[j, columns[c]])^2, features by rows."""
    for j in range(len(Q)):
        x, z, q = X[j], Z[j], Q[j]
        for c in range(len(rows)):
            difference = x[rows[c]] - z[columns[c]]
            q[c] = difference * difference


@njit(nogil=True, cache=True)
def products(Q, rows, columns, C, subsets, owner, gammas, mirrored, out):  # type: ignore[no-untyped-def]
    """out[k, t, i] += sum over the pairs c with rows[c] = i of K_k[c] C[t, columns[c]]; ``rows`` is sorted.

    Where the pairs are those of a half, ``mirrored``, a pair that is no sample with itself counts in both directions.
    """
    D, K, spare = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    begin = 0
    while begin < len(rows):
        i = rows[begin]
        end = min(begin + _TILE, len(rows))
        while rows[end - 1] != i:
            end -= 1  # the pairs of a tile are neighbours in one row
        d, tile, first = D[: end - begin], K[: end - begin], columns[begin]
        chain = 0
        for k in range(len(owner)):
            if k == 0 or owner[k] != owner[k - 1]:
                chain = _distance(Q, subsets[owner[k]], begin, d)
            chain = _gaussian(d, gammas[k], gammas[k - 1], chain, tile, spare)
            for t in range(len(C)):
                out[k, t, i] += _dot(tile, C[t, first : first + len(tile)])
                if mirrored:
                    others = len(tile) - (columns[end - 1] == i)
                    _add(C[t, i], tile[:others], out[k, t, first : first + others])
        begin = end


@njit(nogil=True, cache=True)
def _distance(Q, features, begin, d):  # type: ignore[no-untyped-def]
    """d = the sum of the features' squared differences; 0: no kernel has been made of it yet."""
    d[:] = 0.0
    for j in features:
        if j >= 0:
            _add(1.0, Q[j, begin : begin + len(d)], d)
    return 0


@njit(nogil=True, cache=True)
def _gaussian(d, gamma, before, chain, K, spare):  # type: ignore[no-untyped-def]
    """K = exp(-gamma d); where ``chain`` > 0, K is exp(-before d) on entry. Returns the chain that led to K."""
    if chain > 0:
        ratio = gamma / before
        power = int(min(max(round(ratio), 0.0), 1e9))
        whole = 1 <= power <= _LARGEST_POWER and abs(ratio - power) <= 1e-14 * power
        if whole and chain * power <= _LONGEST_CHAIN:
            _raise(K, power, spare[: len(K)])
            return chain * power
    _exp(-gamma, d, K, spare[: len(K)])
    return 1


@njit(nogil=True, cache=True, fastmath={"contract", "nsz"})
def _exp(factor, d, E, spare):  # type: ignore[no-untyped-def]
    """E = exp(factor d) for factor d <= 0, to one unit in the last place: 2^k e^r with |r| <= ln 2 / 2.

    Written out so that it becomes vector instructions: e^r by its Taylor polynomial of degree 13, and k from the last
    bits of a sum with a large constant, shifted to where the exponent is.
    """
    bits = spare.view(np.int64)
    for t in range(len(d)):
        x = max(factor * d[t], _LEAST)
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
        bits[t] = (bits[t] << 52) + (1023 << 52)
    for t in range(len(d)):
        E[t] *= spare[t]


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


@njit(nogil=True, cache=True, fastmath=_FAST)
def _add(w, x, total):  # type: ignore[no-untyped-def]
    """total += w x."""
    for t in range(len(total)):
        total[t] += w * x[t]


@njit(nogil=True, cache=True, fastmath=_FAST)
def _dot(x, w):  # type: ignore[no-untyped-def]
    """x'w."""
    total = 0.0
    for t in range(len(x)):
        total += x[t] * w[t]
    return total
