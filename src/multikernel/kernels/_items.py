"""Compiled kernels of sets of items: strings are split into items, items become numbers, common items are counted.

The characters of all strings are code points in one array; those of set i are from starts[i] to starts[i + 1].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._typing import Array

# the characters that ``str.strip`` removes
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
_BLANKS += "\u2028\u2029\u202f\u205f\u3000"
BLANK: Array = np.zeros(0x3001, dtype=np.bool_)
BLANK[[ord(character) for character in _BLANKS]] = True


@njit(nogil=True, cache=True)
def cut(codes, starts, separator, blank):  # type: ignore[no-untyped-def]
    """The begin and end of each item, and for each set the number of its first item, then the number of all items.

    Separators, or blanks where the separator is empty, divide a string into items, from left to right. Blanks around an
    item do not belong to it, and a stretch of blanks only is no item.
    """
    n = len(starts) - 1
    width = len(separator)
    bounds = np.empty((len(codes) // 2 + n, 2), dtype=np.int64)  # an item and its separator have a character each
    set_starts = np.zeros(n + 1, dtype=np.int64)
    count = 0
    for i in range(n):
        begin, end = -1, -1  # of this item without blanks around it, up to the current position
        position = starts[i]
        while position <= starts[i + 1]:
            at_end = position == starts[i + 1]
            is_blank = not at_end and codes[position] < len(blank) and blank[codes[position]]
            at_separator = at_end or (width == 0 and is_blank)
            if not at_separator and 0 < width <= starts[i + 1] - position:
                at_separator = True
                for s in range(width):
                    if codes[position + s] != separator[s]:
                        at_separator = False
                        break
            if at_separator:
                if begin >= 0:
                    bounds[count, 0], bounds[count, 1] = begin, end
                    count += 1
                begin = -1
                position += max(width, 1)
                continue
            if not is_blank:
                begin = position if begin < 0 else begin
                end = position + 1
            position += 1
        set_starts[i + 1] = count
    return bounds[:count], set_starts


@njit(nogil=True, cache=True)
def numbered(codes, bounds, set_starts):  # type: ignore[no-untyped-def]
    """The items of each set as numbers, without repetitions; the bounds of the sets among them; how many items differ.

    Equal items have equal numbers, found by a hash table with open addressing that is at most half full.
    """
    size = 16
    while size < 2 * len(bounds):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    first = np.empty(len(bounds), dtype=np.int64)  # the first occurrence of each item, and the latest set that has it
    last = np.empty(len(bounds), dtype=np.int64)
    items = np.empty(len(bounds), dtype=np.int64)
    ends = np.zeros(len(set_starts), dtype=np.int64)
    n_items, count = 0, 0
    for i in range(len(set_starts) - 1):
        for t in range(set_starts[i], set_starts[i + 1]):
            begin = bounds[t, 0]
            length = bounds[t, 1] - bounds[t, 0]
            hashed = np.uint64(14695981039346656037)  # Fowler, Noll and Vo
            for c in range(length):
                hashed = (hashed ^ np.uint64(codes[begin + c])) * np.uint64(1099511628211)
            slot = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(size - 1))
            while table[slot] >= 0:
                other = first[table[slot]]
                same = bounds[other, 1] - bounds[other, 0] == length
                for c in range(length if same else 0):
                    if codes[begin + c] != codes[bounds[other, 0] + c]:
                        same = False
                        break
                if same:
                    break
                slot = (slot + 1) & (size - 1)
            item = table[slot]
            if item < 0:
                item, table[slot] = n_items, n_items
                first[item] = t
                last[item] = -1
                n_items += 1
            if last[item] != i:
                last[item], items[count] = i, item
                count += 1
        ends[i + 1] = count
    return items[:count], ends, n_items


@njit(nogil=True, cache=True)
def shared(items, starts, n_items, first, K):  # type: ignore[no-untyped-def]
    """K[i, j - first] becomes the number of items that sets i and j share, for the sets j from ``first`` on.

    ``holders`` lists for each item the sets that have it, in order. With ``first`` = 0, where both samples are the
    same, one triangle is counted and copied.
    """
    n = len(K)
    ends = np.zeros(n_items + 1, dtype=np.int64)
    for item in items:
        ends[item + 1] += 1
    ends = np.cumsum(ends)
    holders = np.empty(len(items), dtype=np.int64)
    filled = ends[:-1].copy()
    for j in range(len(starts) - 1):
        for item in items[starts[j] : starts[j + 1]]:
            holders[filled[item]] = j
            filled[item] += 1
    for i in range(n):
        for item in items[starts[i] : starts[i + 1]]:
            for h in range(ends[item + 1] - 1, ends[item] - 1, -1):
                j = holders[h]
                if j < first or (first == 0 and j < i):
                    break
                K[i, j - first] += 1.0
    if first == 0:
        for i in range(n):
            for j in range(i):
                K[i, j] = K[j, i]
