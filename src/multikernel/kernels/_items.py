"""Compiled kernels of sets of items: their strings are read, items become numbers, common ones are counted.

All characters stand one after the other in one array, as code points; set i is from starts[i] to starts[i + 1].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from multikernel._typing import Array

# what ``str.strip`` takes away
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
_BLANKS += "\u2028\u2029\u202f\u205f\u3000"
BLANK: Array = np.zeros(0x3001, dtype=np.bool_)
BLANK[[ord(each) for each in _BLANKS]] = True


@njit(nogil=True, cache=True)
def cut(codes, starts, separator, blank):  # type: ignore[no-untyped-def]
    """Where each item begins and ends, and where the items of each set begin and those of the last end.

    Items stand between separators, from left to right, or between blanks where the separator is empty; blanks around
    an item are no part of it, and what has no other character is no item.
    """
    n = len(starts) - 1
    width = len(separator)
    bounds = np.empty((len(codes) // 2 + n, 2), dtype=np.int64)  # an item and its separator have a character each
    sets = np.zeros(n + 1, dtype=np.int64)
    count = 0
    for i in range(n):
        begin, end = -1, -1  # of the characters of this item that are not blank, as far as they are read
        at = starts[i]
        while at <= starts[i + 1]:
            over = at == starts[i + 1]
            is_blank = not over and codes[at] < len(blank) and blank[codes[at]]
            apart = over or (width == 0 and is_blank)
            if not apart and 0 < width <= starts[i + 1] - at:
                apart = True
                for s in range(width):
                    if codes[at + s] != separator[s]:
                        apart = False
                        break
            if apart:
                if begin >= 0:
                    bounds[count, 0], bounds[count, 1] = begin, end
                    count += 1
                begin = -1
                at += max(width, 1)
                continue
            if not is_blank:
                begin = at if begin < 0 else begin
                end = at + 1
            at += 1
        sets[i + 1] = count
    return bounds[:count], sets


@njit(nogil=True, cache=True)
def numbered(codes, bounds, sets):  # type: ignore[no-untyped-def]
    """The items of all sets by number, each once a set; where each set begins and the last ends; how many items.

    A table of hashes, at most half full, has the number of each item at the first free place from its hash on.
    """
    size = 16
    while size < 2 * len(bounds):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    first = np.empty(len(bounds), dtype=np.int64)  # where an item is met first, and the last set that it is in
    last = np.empty(len(bounds), dtype=np.int64)
    items = np.empty(len(bounds), dtype=np.int64)
    ends = np.zeros(len(sets), dtype=np.int64)
    known, count = 0, 0
    for i in range(len(sets) - 1):
        for t in range(sets[i], sets[i + 1]):
            begin = bounds[t, 0]
            length = bounds[t, 1] - bounds[t, 0]
            mixed = np.uint64(14695981039346656037)  # Fowler, Noll and Vo
            for c in range(length):
                mixed = (mixed ^ np.uint64(codes[begin + c])) * np.uint64(1099511628211)
            place = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(size - 1))
            while table[place] >= 0:
                other = first[table[place]]
                same = bounds[other, 1] - bounds[other, 0] == length
                for c in range(length if same else 0):
                    if codes[begin + c] != codes[bounds[other, 0] + c]:
                        same = False
                        break
                if same:
                    break
                place = (place + 1) & (size - 1)
            item = table[place]
            if item < 0:
                item, table[place] = known, known
                first[item] = t
                last[item] = -1
                known += 1
            if last[item] != i:
                last[item], items[count] = i, item
                count += 1
        ends[i + 1] = count
    return items[:count], ends, known


@njit(nogil=True, cache=True)
def shared(items, starts, known, first, K):  # type: ignore[no-untyped-def]
    """K[i, j - first] becomes the number of items that sets i and j share, for the sets j from ``first`` on.

    The sets of each item stand in their order; without other sets (``first`` = 0) one triangle is counted and copied.
    """
    n = len(K)
    ends = np.zeros(known + 1, dtype=np.int64)
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
